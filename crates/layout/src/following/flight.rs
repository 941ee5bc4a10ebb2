//! Calls that are on their way: entries of the outbox, and messages.

use design::model::*;

use super::{Following, Rule, Site};

/// What becomes of an open entry of an operation.
#[derive(Clone, PartialEq, Debug)]
pub enum Entry {
    /// the operation is gone
    Gone,
    /// it has another key, or is of another kind
    Unlike,
    /// for each parameter of the new operation
    Follows(Vec<ParamSource>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParamSource {
    Carried { old: usize, rule: Rule },
    Default,
    Null,
    Missing,
}

impl Following<'_> {
    /// Operations of the old design that have entries: effects, steps that messages call, and handlers of events.
    pub fn waits(&self) -> Vec<bool> {
        let mut waits = visit::message_targets(self.old);
        for (at, operation) in self.old.operations.iter().enumerate() {
            waits[at] |=
                operation.hears.is_some() || matches!(operation.kind, OperationKind::Effect(_));
        }
        waits
    }

    pub fn entry(&self, old: OperationId) -> Entry {
        let Some(new) = self.operation(old) else { return Entry::Gone };
        let (was, is) = (&self.old.operations[old.index()], &self.new.operations[new.index()]);
        let alike = match (&was.kind, &is.kind) {
            (OperationKind::Effect(before), OperationKind::Effect(after)) => {
                before.key.len() == after.key.len()
                    && before.key.iter().zip(&after.key).all(|(a, b)| {
                        self.rule(&a.ty, &b.ty, Site::Elsewhere) == Rule::Same
                            && self.same_key_value(old, a, b, (&was.locals[..], &is.locals[..]))
                    })
            }
            (OperationKind::Step { .. }, OperationKind::Step { .. }) => {
                was.each.is_some() == is.each.is_some()
            }
            _ => false,
        };
        if !alike {
            return Entry::Unlike;
        }
        let sources = is.params.iter().enumerate().map(|(at, param)| {
            match self.params[old.index()].iter().position(|held| *held == Some(at)) {
                Some(kept) => {
                    let before = &was.params[kept];
                    let rule = self.rule_within(
                        (&before.ty, before.range),
                        (&param.ty, param.range),
                        Site::Param(old, kept),
                    );
                    ParamSource::Carried { old: kept, rule }
                }
                None if param.default.is_some() => ParamSource::Default,
                None if param.ty.is_optional() => ParamSource::Null,
                None => ParamSource::Missing,
            }
        });
        Entry::Follows(sources.collect())
    }

    /// A parameter that has another name is the same part of a key.
    fn same_key_value(
        &self,
        old: OperationId,
        was: &Expr,
        is: &Expr,
        locals: (&[Local], &[Local]),
    ) -> bool {
        if let (ExprKind::Local(a), ExprKind::Local(b)) = (&was.kind, &is.kind)
            && let Some(held) = self.params[old.index()].get(a.index())
        {
            return *held == Some(b.index());
        }
        self.same_expression(was, is, locals)
    }
}
