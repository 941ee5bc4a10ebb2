//! What the arguments of an operation must be, and which of their records are looked at.

use design::model::{
    Expr, ExprKind, LocalId, Operation, OperationId, Span, SubjectId, Type, visit,
};

use super::lower::Lower;
use crate::layout::width_of;
use crate::{Field, Word};

/// What the words of an argument must be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueRule {
    pub param: u32,
    pub field: Field,
    pub check: Check,
    pub required: bool,
}

/// A parameter whose record, or whose record's parent, is looked at: is it there?
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub param: u32,
    pub offset: u32,
    /// of the record that is looked at
    pub subject: SubjectId,
    pub wanted: Wanted,
}

/// In the order in which they are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wanted {
    /// `exists`: the record that the parameter refers to
    Present,
    /// `exists`: the parent of the record of this subject that a `new` parameter makes
    Parent { of: SubjectId },
    /// `fresh`
    Absent,
}

#[derive(Debug)]
pub(crate) struct ParamRule {
    pub name: String,
    pub ty: Type,
    /// what it refers to
    pub subject: Option<SubjectId>,
    pub new: bool,
    pub default: Option<Vec<Word>>,
    pub span: Span,
    /// does the guard look at its words?
    pub in_guard: bool,
}

/// What the words of an argument may be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Check {
    Any,
    /// 0 up to this, without it
    Below(Word),
    Set,
    List,
    Map,
}

impl Lower<'_> {
    pub(super) fn param_rules(&mut self, operation: &Operation) -> Vec<ParamRule> {
        let mut rules = Vec::new();
        for param in &operation.params {
            let subject = param.ty.subject();
            let width = width_of(&param.ty);
            rules.push(ParamRule {
                name: param.name.clone(),
                ty: param.ty.clone(),
                subject,
                new: param.new,
                default: param.default.as_ref().map(|value| self.texts.sized(value, width)),
                span: param.span,
                in_guard: operation.guard.iter().any(|clause| mentions(&clause.body, param.local)),
            });
        }
        rules
    }

    pub(super) fn values(&self, id: OperationId, operation: &Operation) -> Vec<ValueRule> {
        let fields = &self.params[id.index()].fields;
        let rule = |(index, param): (usize, &design::model::Param)| ValueRule {
            param: index as u32,
            field: fields[index],
            check: self.check_of(&param.ty),
            required: !param.ty.is_optional(),
        };
        let idle = |rule: &ValueRule| !rule.required && matches!(rule.check, Check::Any);
        operation.params.iter().enumerate().map(rule).filter(|rule| !idle(rule)).collect()
    }

    pub(super) fn looks(
        &self,
        id: OperationId,
        operation: &Operation,
        (exists, fresh): (bool, bool),
    ) -> Vec<Look> {
        let mut looks = Vec::new();
        for (index, param) in operation.params.iter().enumerate() {
            let Some(subject) = param.ty.subject() else { continue };
            let offset = self.params[id.index()].fields[index].offset;
            let mut look = |subject, wanted| {
                looks.push(Look { param: index as u32, offset, subject, wanted });
            };
            let declared = &self.design.subjects[subject.index()];
            if param.new {
                if let Some(parent) = self.design.explicit_parent(subject)
                    && exists
                {
                    look(parent, Wanted::Parent { of: subject });
                }
                if fresh {
                    look(subject, Wanted::Absent);
                }
            } else if !declared.implicit {
                look(subject, Wanted::Present);
            }
        }
        looks.sort_by_key(|look| match look.wanted {
            Wanted::Present => 0,
            Wanted::Parent { .. } => 1,
            Wanted::Absent => 2,
        });
        looks
    }

    fn check_of(&self, ty: &Type) -> Check {
        match ty.required() {
            Type::Bool => Check::Below(2),
            Type::Enum(id) => {
                let constants = self.design.enumerations.get(id.index());
                Check::Below(constants.map_or(0, |list| list.constants.len() as Word))
            }
            Type::Set { .. } => Check::Set,
            Type::List { .. } => Check::List,
            Type::Map { .. } => Check::Map,
            _ => Check::Any,
        }
    }
}

fn mentions(expr: &Expr, local: LocalId) -> bool {
    let mut found = false;
    visit::each(expr, &mut |part| {
        found = found || matches!(part.kind, ExprKind::Local(other) if other == local);
    });
    found
}
