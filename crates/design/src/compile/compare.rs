//! `=`, `<`, `in` and their kin.

use syntax::tree::{self, BinaryOp};
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::expr::boolean;
use super::frame::Frame;
use super::path::error_expr;
use crate::model::*;

impl Compiler {
    pub(super) fn compare(
        &mut self,
        frame: &mut Frame,
        op: BinaryOp,
        left: &tree::Expr,
        right: &tree::Expr,
        span: Span,
    ) -> Expr {
        let (left, right) = self.sides(frame, left, right);
        let op = match op {
            BinaryOp::Equal => CompareOp::Equal,
            BinaryOp::NotEqual => CompareOp::NotEqual,
            BinaryOp::Less => CompareOp::Less,
            BinaryOp::LessEqual => CompareOp::LessEqual,
            BinaryOp::Greater => CompareOp::Greater,
            _ => CompareOp::GreaterEqual,
        };
        let equality = matches!(op, CompareOp::Equal | CompareOp::NotEqual);
        if left.ty == Type::Error || right.ty == Type::Error {
            return boolean(ExprKind::Error, span);
        }
        if left.ty == Type::Null || right.ty == Type::Null {
            return self.compare_with_null(op, left, right, span);
        }
        if !self.fits(&left.ty, &right.ty) {
            let (a, b) = (self.type_name(&left.ty), self.type_name(&right.ty));
            let mut problem =
                Diagnostic::error("E0301", span, format!("`{a}` cannot be compared with `{b}`"))
                    .also(left.span, format!("this is `{a}`"))
                    .also(right.span, format!("this is `{b}`"));
            match (left.ty.required(), right.ty.required()) {
                (Type::Time, Type::Duration) | (Type::Duration, Type::Time) => {
                    problem = problem.help("add the duration to a time: `now - ttl`");
                }
                (Type::Ref(_), Type::Text) | (Type::Text, Type::Ref(_)) => {
                    problem = problem.help("compare a part of the record's key: `r.key`");
                }
                (Type::Enum(_), Type::Text) | (Type::Text, Type::Enum(_)) => {
                    problem = problem.help("a constant is written without quotes");
                }
                _ => problem = problem.help("both sides have one type"),
            }
            self.report(problem);
            return boolean(ExprKind::Error, span);
        }
        if self.compares_evidence(&left.ty, span) {
            return boolean(ExprKind::Error, span);
        }
        if !equality && !left.ty.is_ordered() {
            let ty = self.type_name(&left.ty);
            self.report(Diagnostic::error("E0302", span, format!("`{ty}` has no order")).help(
                "`=` and `!=` tell them apart; `int`, `decimal`, `time` and `duration` are ordered",
            ));
            return boolean(ExprKind::Error, span);
        }
        if matches!(left.ty, Type::Record(_) | Type::Rows(_) | Type::Struct(_)) {
            self.report(
                Diagnostic::error("E0302", span, "records are compared field by field")
                    .help("compare one value of each"),
            );
            return boolean(ExprKind::Error, span);
        }
        boolean(ExprKind::Compare { op, left: Box::new(left), right: Box::new(right) }, span)
    }

    fn compare_with_null(&mut self, op: CompareOp, left: Expr, right: Expr, span: Span) -> Expr {
        let value = if left.ty == Type::Null { right } else { left };
        if !matches!(op, CompareOp::Equal | CompareOp::NotEqual) {
            self.report(
                Diagnostic::error("E0302", span, "`null` has no order")
                    .help("a comparison with a missing value is false; ask `= null` first"),
            );
            return boolean(ExprKind::Error, span);
        }
        if !value.ty.is_optional() {
            let (text, ty) = (self.text(value.span), self.type_name(&value.ty));
            let problem =
                Diagnostic::error("E0301", span, format!("`{text}` is `{ty}` and never null"))
                    .help(format!("declare it as `{ty}?` if it may be missing"));
            self.report_never_null(&value, problem);
            return boolean(ExprKind::Error, span);
        }
        let is_null = boolean(ExprKind::IsNull(Box::new(value)), span);
        match op {
            CompareOp::Equal => is_null,
            _ => boolean(ExprKind::Not(Box::new(is_null)), span),
        }
    }

    /// Both sides, each helping the other with its type.
    pub(super) fn sides(
        &mut self,
        frame: &mut Frame,
        left: &tree::Expr,
        right: &tree::Expr,
    ) -> (Expr, Expr) {
        if self.needs_help(frame, left) && !self.needs_help(frame, right) {
            let right = self.expr(frame, right, None);
            if right.ty == Type::Error {
                return (error_expr(left.span), right);
            }
            let ty = right.ty.clone();
            let left = self.expr(frame, left, known(&ty));
            (left, right)
        } else {
            let left = self.expr(frame, left, None);
            if left.ty == Type::Error && self.needs_help(frame, right) {
                return (left, error_expr(right.span));
            }
            let ty = left.ty.clone();
            let right = self.expr(frame, right, known(&ty));
            (left, right)
        }
    }

    /// A bare word that is no variable is a constant, whose enumeration the other side tells; a
    /// whole number may be a decimal.
    fn needs_help(&mut self, frame: &mut Frame, written: &tree::Expr) -> bool {
        match &written.kind {
            tree::ExprKind::Name(name) => {
                // only asked, not used: whatever is wrong is said when it is used
                let said = self.diagnostics.len();
                let found = self.variable(frame, name).is_some();
                self.take_back(said);
                !found
            }
            tree::ExprKind::Int(_) | tree::ExprKind::Null | tree::ExprKind::Set(_) => true,
            _ => false,
        }
    }

    pub(super) fn membership(
        &mut self,
        frame: &mut Frame,
        item: &tree::Expr,
        collection: &tree::Expr,
        span: Span,
    ) -> Expr {
        let constant = self.needs_help(frame, item);
        let help = (constant && !self.needs_help(frame, collection)).then(|| {
            let said = self.diagnostics.len();
            let ty = self.expr(frame, collection, None).ty;
            self.take_back(said);
            match ty {
                Type::Set { of, .. } | Type::List { of, .. } => *of,
                Type::Map { key, .. } => *key,
                _ => Type::Error,
            }
        });
        let item = self.expr(frame, item, help.as_ref().and_then(known));
        if item.ty == Type::Error && self.needs_help(frame, collection) {
            return boolean(ExprKind::Error, span);
        }
        let wanted = Type::Set { of: Box::new(item.ty.required().clone()), max: u32::MAX };
        let expected = (item.ty != Type::Error).then_some(&wanted);
        let collection = self.expr(frame, collection, expected);
        let element = match &collection.ty {
            Type::Set { of, .. } | Type::List { of, .. } => (**of).clone(),
            Type::Map { key, .. } => (**key).clone(),
            Type::Error => return boolean(ExprKind::Error, span),
            other => {
                let ty = self.type_name(other);
                self.report(
                    Diagnostic::error(
                        "E0305",
                        collection.span,
                        format!("`{ty}` holds no elements"),
                    )
                    .help("`in` asks of a set, a list or a map: `status in {A, B}`"),
                );
                return boolean(ExprKind::Error, span);
            }
        };
        if item.ty == Type::Error {
            return error_expr(span);
        }
        if matches!(element, Type::Struct(_)) {
            self.report(
                Diagnostic::error("E0302", span, "records are compared field by field")
                    .help("ask for one: `any line in lines: line.sku = sku`"),
            );
            return boolean(ExprKind::Error, span);
        }
        if element != Type::Null && !self.fits(&item.ty, &element) {
            let (a, b) = (self.type_name(&item.ty), self.type_name(&element));
            self.report(
                Diagnostic::error(
                    "E0301",
                    span,
                    format!("a `{a}` is never among elements of type `{b}`"),
                )
                .help("both sides of `in` have one type"),
            );
            return boolean(ExprKind::Error, span);
        }
        boolean(ExprKind::In { item: Box::new(item), collection: Box::new(collection) }, span)
    }
}

fn known(ty: &Type) -> Option<&Type> {
    (!matches!(ty, Type::Error | Type::Null)).then_some(ty)
}
