//! What the arguments of an operation must be, and which of their records are looked at.

use design::model::{
    Expr, ExprKind, LocalId, Operation, OperationId, Param, Range, Span, SubjectId, Type, visit,
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

/// Where the words of an argument refer to records whose keys have ranges.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyRule {
    pub field: Field,
    pub subject: SubjectId,
    /// the first of them, within the field
    pub first: u32,
    /// from one to the next; 0: there is one
    pub stride: u32,
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
    pub range: Option<Range>,
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
    Within(Range),
    Set,
    List,
    /// records of so many fields, whose values have rules of their own
    Structs(u32),
    Map,
}

/// What the words of one field must be, in each of the records of an argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnRule {
    pub param: u32,
    /// of the argument
    pub place: Field,
    pub stride: u32,
    pub field: u32,
    pub check: Check,
    pub required: bool,
}

impl ColumnRule {
    /// The words of the field, record by record. The argument's length fits it.
    pub fn words<'w>(&self, params: &'w [Word]) -> impl Iterator<Item = (u32, Word)> + use<'w> {
        let words = &params[self.place.range()];
        let length = usize::try_from(words[0]).unwrap_or(0);
        let column = words[1..].iter().skip(self.field as usize).step_by(self.stride as usize);
        (0..).zip(column.copied().take(length))
    }
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
                range: param.range,
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
        let rule = |(index, param): (usize, &Param)| ValueRule {
            param: index as u32,
            field: fields[index],
            check: param.range.map_or_else(|| self.check_of(&param.ty), Check::Within),
            required: !param.ty.is_optional(),
        };
        let idle = |rule: &ValueRule| !rule.required && matches!(rule.check, Check::Any);
        operation.params.iter().enumerate().map(rule).filter(|rule| !idle(rule)).collect()
    }

    /// The same for the fields of arguments that are lists of records.
    pub(super) fn columns(&self, id: OperationId, operation: &Operation) -> Vec<ColumnRule> {
        let mut rules = Vec::new();
        for (index, param) in operation.params.iter().enumerate() {
            let fields = param.ty.fields().unwrap_or(&[]);
            for (at, field) in fields.iter().enumerate() {
                rules.push(ColumnRule {
                    param: index as u32,
                    place: self.params[id.index()].fields[index],
                    stride: fields.len() as u32,
                    field: at as u32,
                    check: field.range.map_or_else(|| self.check_of(&field.ty), Check::Within),
                    required: !field.ty.is_optional(),
                });
            }
        }
        rules
    }

    /// Arguments that refer to records whose keys have ranges.
    pub(super) fn key_values(&self, id: OperationId, operation: &Operation) -> Vec<KeyRule> {
        let mut rules = Vec::new();
        for (index, param) in operation.params.iter().enumerate() {
            let field = self.params[id.index()].fields[index];
            let mut add = |ty: &Type, first: u32, stride: u32| {
                if let Some(subject) = ty.subject().filter(|id| self.design.has_key_ranges(*id)) {
                    rules.push(KeyRule { field, subject, first, stride });
                }
            };
            match param.ty.required() {
                Type::List { of, .. } | Type::Set { of, .. } => match &**of {
                    Type::Struct(fields) => {
                        for (at, held) in fields.iter().enumerate() {
                            add(&held.ty, 1 + at as u32, fields.len() as u32);
                        }
                    }
                    of => add(of, 1, 1),
                },
                Type::Map { key, value, .. } => {
                    add(key, 1, 2);
                    add(value, 2, 2);
                }
                ty => add(ty, 0, 0),
            }
        }
        rules
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
            Type::List { of, .. } => match &**of {
                Type::Struct(fields) => Check::Structs(fields.len() as u32),
                _ => Check::List,
            },
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
