//! What is asked of a value: is it there, which element has it, what are its elements.

use super::Compiler;
use super::expr::boolean;
use super::frame::Frame;
use super::path::{Found, error_expr};
use crate::model::*;
use syntax::tree::{self};
use syntax::{Diagnostic, Span};

impl Compiler {
    pub(super) fn presence(
        &mut self,
        frame: &mut Frame,
        of: &tree::Expr,
        present: bool,
        span: Span,
    ) -> Expr {
        if let tree::ExprKind::Old(inner) = &of.kind {
            let path =
                tree::Expr { kind: tree::ExprKind::Presence { of: inner.clone(), present }, span };
            return self.old(frame, &path, span);
        }
        let found = match self.path(frame, of, None) {
            Found::Nothing => return error_expr(span),
            Found::World(_) => {
                self.report(
                    Diagnostic::error("E0301", span, "what the world did is a set of calls")
                        .help("count them: `count(world.effect) > 0`"),
                );
                return error_expr(span);
            }
            Found::State { base, subject, state } => {
                let known = &self.design.subjects[subject.index()].states[state.index()];
                let cached = known.attributes.first().copied();
                if !matches!(known.kind, StateKind::Cache { .. }) {
                    let message = format!("`{}` is there whenever its record is", known.name);
                    self.report(
                        Diagnostic::error("E0301", span, message)
                            .help("ask for the record itself, or for one of its optional values"),
                    );
                    return error_expr(span);
                }
                if let Some(attr) = cached
                    && !self.may_read(frame, subject, attr, span)
                {
                    return error_expr(span);
                }
                ExprKind::Exists { base: Box::new(base), cache: Some(state) }
            }
            Found::Value(value) if !self.may_read_value(frame, &value) => return error_expr(span),
            Found::Value(value) => match &value.ty {
                Type::Error => return error_expr(span),
                Type::Optional(_) | Type::Null => {
                    let is_null = ExprKind::IsNull(Box::new(value));
                    return if present {
                        boolean(ExprKind::Not(Box::new(boolean(is_null, span))), span)
                    } else {
                        boolean(is_null, span)
                    };
                }
                Type::Ref(_) => ExprKind::Exists { base: Box::new(value), cache: None },
                Type::Digest(_) => ExprKind::Stored(Box::new(value)),
                other => {
                    let ty = self.type_name(other);
                    let problem = Diagnostic::error(
                        "E0301",
                        span,
                        format!("a `{ty}` that is not optional is always present"),
                    )
                    .help("`present` asks of a `T?`, of a record, or of a blob's digest");
                    self.report_never_null(&value, problem);
                    return error_expr(span);
                }
            },
        };
        let there = boolean(found, span);
        if present { there } else { boolean(ExprKind::Not(Box::new(there)), span) }
    }

    pub(super) fn index(
        &mut self,
        frame: &mut Frame,
        base: &tree::Expr,
        index: &tree::Expr,
        span: Span,
    ) -> Expr {
        if let Some(found) = self.remembered_of(frame, base, index, span) {
            return found;
        }
        let base = self.expr(frame, base, None);
        let (wanted, ty) = match &base.ty {
            Type::List { of, .. } if matches!(**of, Type::Struct(_)) => {
                self.report(
                    Diagnostic::error("E0305", span, "a record of a list has no number")
                        .help("go through them: `any line in lines: line.qty > 1`"),
                );
                return error_expr(span);
            }
            Type::List { of, .. } => (Type::Int, (**of).clone()),
            Type::Map { key, value, .. } => ((**key).clone(), (**value).clone()),
            Type::Error => return error_expr(span),
            other => {
                let ty = self.type_name(other);
                self.report(
                    Diagnostic::error(
                        "E0305",
                        base.span,
                        format!("`{ty}` has no elements by index"),
                    )
                    .help("a list has them by number, a map by key"),
                );
                return error_expr(span);
            }
        };
        let index = self.expr(frame, index, Some(&wanted));
        let Some(index) = self.demand(index, &wanted) else {
            return error_expr(span);
        };
        Expr {
            kind: ExprKind::Index { base: Box::new(base), index: Box::new(index) },
            ty: Type::Optional(Box::new(ty)),
            span,
        }
    }

    pub(super) fn collection(
        &mut self,
        frame: &mut Frame,
        items: &[tree::Expr],
        expected: Option<&Type>,
        set: bool,
        span: Span,
    ) -> Expr {
        let element = match expected {
            Some(Type::Set { of, .. } | Type::List { of, .. }) => Some((**of).clone()),
            _ => None,
        };
        let mut wanted = element;
        let mut values = Vec::new();
        for item in items {
            let value = self.expr(frame, item, wanted.as_ref());
            match &wanted {
                None => wanted = Some(value.ty.clone()),
                Some(ty) => {
                    if self.demand(value.clone(), &ty.clone()).is_none() {
                        continue;
                    }
                }
            }
            values.push(value);
        }
        let of = Box::new(wanted.unwrap_or(Type::Null));
        let max = values.len() as u32;
        let (kind, ty) = match (set, expected) {
            (true, Some(Type::Map { .. })) if values.is_empty() => (
                ExprKind::Literal(Const::Map(Vec::new())),
                expected.cloned().unwrap_or(Type::Error),
            ),
            (true, Some(Type::List { .. })) if values.is_empty() => {
                (ExprKind::List(values), Type::List { of, max })
            }
            (true, _) => (ExprKind::Set(values), Type::Set { of, max }),
            (false, _) => (ExprKind::List(values), Type::List { of, max }),
        };
        Expr { kind, ty, span }
    }
}
