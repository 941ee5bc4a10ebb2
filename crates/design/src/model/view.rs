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
    pub locals: Vec<Local>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum ViewForm {
    Count,
    Sum {
        value: Expr,
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
    Near {
        on: AttrId,
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
