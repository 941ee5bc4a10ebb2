//! Derived answers.

use serde::{Deserialize, Serialize};
use syntax::Span;

use super::*;

/// Rows are the records of `subject` for which `filter` holds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct View {
    pub name: String,
    /// locals 1, 2, …; local 0 is the row
    pub params: Vec<Param>,
    pub subject: SubjectId,
    pub filter: Option<Expr>,
    /// A parameter that has the name of an attribute or key part of the row: only rows where the
    /// two are equal. One for each such parameter: (parameter, value of the row).
    pub group: Vec<(LocalId, Expr)>,
    pub form: ViewForm,
    /// what rows show of records that they refer to
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<Column>,
    /// whoever asks: only the rows that belong to it
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Caller>,
    pub locals: Vec<Local>,
    pub span: Span,
}

/// `file.path`: attributes from reference to reference, from the row on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Column {
    /// as it is written
    pub name: String,
    pub value: Expr,
}

/// `of user … where owner = me`: the principal is one more parameter, which nobody gives.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Caller {
    pub actor: ActorId,
    /// stands in `group`, once for each `attribute = me`
    pub me: LocalId,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum ViewForm {
    Count,
    Sum {
        value: Expr,
    },
    /// the greatest or the least; null where there is no row
    Extreme {
        greatest: bool,
        value: Expr,
    },
    /// the exact average, rounded once; null where there is no row
    Average {
        value: Expr,
        rounding: Rounding,
    },
    List {
        order: Vec<OrderKey>,
        limit: Option<u32>,
    },
    Rank {
        by: OrderKey,
        top: Option<u32>,
    },
    Search {
        on: Vec<AttrId>,
    },
    /// rows by their distance from a point that is asked for, the nearest first
    Near {
        on: AttrId,
        /// the parameter that says from where; none in a text of an older version, which is not served
        #[serde(default)]
        from: Option<LocalId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        within_m: Option<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first: Option<u32>,
    },
    /// how many rows (or the sum of `value`) fall into each stretch of `every` milliseconds
    Window {
        value: Option<Expr>,
        by: Expr,
        every: i64,
        keep: Option<u32>,
    },
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OrderKey {
    pub value: Expr,
    pub descending: bool,
}

impl ViewForm {
    /// Does the parameter say what is looked for, rather than which rows there are?
    pub fn is_asked(&self, param: LocalId) -> bool {
        matches!(self, ViewForm::Near { from: Some(from), .. } if *from == param)
    }
}

impl View {
    /// Rows in an order, rather than one answer made of them.
    pub fn has_rows(&self) -> bool {
        matches!(self.form, ViewForm::List { .. } | ViewForm::Rank { .. } | ViewForm::Near { .. })
    }

    /// The attributes of a row that its form looks at by themselves.
    pub fn looked_up(&self) -> &[AttrId] {
        match &self.form {
            ViewForm::Search { on } => on,
            ViewForm::Near { on, .. } => std::slice::from_ref(on),
            _ => &[],
        }
    }

    /// The expressions that its form evaluates on a row.
    pub fn values(&self) -> Vec<&Expr> {
        match &self.form {
            ViewForm::Count | ViewForm::Search { .. } | ViewForm::Near { .. } => Vec::new(),
            ViewForm::Sum { value }
            | ViewForm::Extreme { value, .. }
            | ViewForm::Average { value, .. } => vec![value],
            ViewForm::List { order, .. } => order.iter().map(|key| &key.value).collect(),
            ViewForm::Rank { by, .. } => vec![&by.value],
            ViewForm::Window { value, by, .. } => value.iter().chain([by]).collect(),
        }
    }

    /// Subjects whose records are shown beside the rows that refer to them.
    pub fn joined(&self) -> Vec<SubjectId> {
        let mut found = Vec::new();
        for column in &self.with {
            visit::each(&column.value, &mut |part| {
                if let ExprKind::Attr { base, .. } = &part.kind
                    && !matches!(base.kind, ExprKind::Local(_))
                {
                    found.extend(base.ty.subject());
                }
            });
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}
