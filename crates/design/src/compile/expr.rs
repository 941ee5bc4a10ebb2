//! Expressions: what each form means and which type it has.

use syntax::tree::{self, BinaryOp};
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::frame::{Frame, Mode};
use super::path::{error_expr, record};
use crate::model::*;

/// With every `define` in place, no deeper than what may be written.
const MAX_DEPTH: usize = syntax::MAX_DEPTH;

impl Compiler {
    /// `expected` helps where the form alone does not say enough: constants of an enumeration,
    /// whole numbers that are decimals, empty collections. The result may still not fit it.
    pub(super) fn expr(
        &mut self,
        frame: &mut Frame,
        written: &tree::Expr,
        expected: Option<&Type>,
    ) -> Expr {
        if frame.depth >= MAX_DEPTH {
            if !std::mem::replace(&mut frame.endless, true) {
                if let Some(innermost) = frame.expanding.last() {
                    self.now_endless(*innermost, &frame.expanding);
                }
                self.report(
                    Diagnostic::error(
                        "E0212",
                        written.span,
                        "with every `define` in place this is too deep",
                    )
                    .help("a `define` is put in place of its name; use fewer within one another"),
                );
            }
            return error_expr(written.span);
        }
        frame.depth += 1;
        let value = self.expr_inside(frame, written, expected);
        frame.depth -= 1;
        self.known.has_type(written.span, &value.ty);
        value
    }

    fn expr_inside(
        &mut self,
        frame: &mut Frame,
        written: &tree::Expr,
        expected: Option<&Type>,
    ) -> Expr {
        use tree::ExprKind as T;
        let span = written.span;
        let literal = |constant, ty| Expr { kind: ExprKind::Literal(constant), ty, span };
        match &written.kind {
            T::Null => literal(Const::Null, Type::Null),
            T::Bool(value) => literal(Const::Bool(*value), Type::Bool),
            T::Text(value) if expected.map(Type::required) == Some(&Type::Schedule) => {
                match self.schedule(value, span) {
                    Some(value) => literal(Const::Text(value), Type::Schedule),
                    None => error_expr(span),
                }
            }
            T::Text(value) => literal(Const::Text(value.clone()), Type::Text),
            T::Int(digits) => {
                if let Some(wanted @ (Type::Decimal | Type::Money(_))) =
                    expected.map(Type::required)
                {
                    return match self.decimal(digits, span) {
                        Some(value) => literal(Const::Decimal(value), wanted.clone()),
                        None => error_expr(span),
                    };
                }
                match self.int(digits, span) {
                    Some(value) => literal(Const::Int(value), Type::Int),
                    None => error_expr(span),
                }
            }
            T::Decimal(digits) => match self.decimal(digits, span) {
                Some(value) => {
                    let wanted = expected.map(Type::required).filter(|ty| ty.is_decimal());
                    literal(Const::Decimal(value), wanted.cloned().unwrap_or(Type::Decimal))
                }
                None => error_expr(span),
            },
            T::Duration { number, unit } => match self.duration(number, *unit, span) {
                Some(value) => literal(Const::Duration(value), Type::Duration),
                None => error_expr(span),
            },
            T::Now => self.now(frame, span),
            T::Me => self.me(frame, span),
            T::Name(_) | T::Field { .. } => {
                let value = self.path_value(frame, written, expected);
                if self.may_read_value(frame, &value) { value } else { error_expr(span) }
            }
            T::Index { base, index } => self.index(frame, base, index, span),
            T::Call { function, args } => self.call(frame, function, args, expected, span),
            T::Old(inner) => self.old(frame, inner, span),
            T::Not(inner) => {
                let inner = self.condition(frame, inner);
                boolean(ExprKind::Not(Box::new(inner)), span)
            }
            T::Negate(inner) => {
                let inner = self.expr(frame, inner, expected);
                if !matches!(
                    inner.ty.required(),
                    Type::Int | Type::Decimal | Type::Money(_) | Type::Duration | Type::Error
                ) {
                    let ty = self.type_name(&inner.ty);
                    self.report(
                        Diagnostic::error(
                            "E0303",
                            inner.span,
                            format!("`-` does not apply to `{ty}`"),
                        )
                        .help("an `int`, a `decimal` and a `duration` have a negative"),
                    );
                    return error_expr(span);
                }
                let ty = inner.ty.required().clone();
                Expr { kind: ExprKind::Negate(Box::new(inner)), ty, span }
            }
            T::And(parts) => {
                let parts = parts.iter().map(|part| self.condition(frame, part));
                boolean(ExprKind::And(parts.collect()), span)
            }
            T::Or(parts) => {
                let parts = parts.iter().map(|part| self.condition(frame, part));
                boolean(ExprKind::Or(parts.collect()), span)
            }
            T::Binary { op, left, right } => match op {
                BinaryOp::Implies => {
                    let left = Box::new(self.condition(frame, left));
                    let right = Box::new(self.condition(frame, right));
                    boolean(ExprKind::Implies(left, right), span)
                }
                BinaryOp::LeadsTo => self.arrow(frame, left, right, span),
                BinaryOp::In => self.membership(frame, left, right, span),
                BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide => {
                    self.arithmetic(frame, *op, left, right, expected, span)
                }
                _ => self.compare(frame, *op, left, right, span),
            },
            T::Round { of, mode, digits } => self.rounded(frame, of, mode, digits, span),
            T::Presence { of, present } => self.presence(frame, of, *present, span),
            T::If { condition, then, otherwise } => {
                let condition = Box::new(self.condition(frame, condition));
                let then = self.expr(frame, then, expected);
                let wanted =
                    if then.ty == Type::Null { expected.cloned() } else { Some(then.ty.clone()) };
                let otherwise = self.expr(frame, otherwise, wanted.as_ref());
                let ty = self.join(&then, &otherwise);
                Expr {
                    kind: ExprKind::If {
                        condition,
                        then: Box::new(then),
                        otherwise: Box::new(otherwise),
                    },
                    ty,
                    span,
                }
            }
            T::Let { name, value, body } => {
                let value = self.expr(frame, value, None);
                self.not_reserved(name);
                let depth = frame.scope.len();
                let local = self.bind(frame, name, value.ty.clone());
                let body = self.expr(frame, body, expected);
                frame.scope.truncate(depth);
                let ty = body.ty.clone();
                Expr {
                    kind: ExprKind::Let { local, value: Box::new(value), body: Box::new(body) },
                    ty,
                    span,
                }
            }
            T::Quantifier { .. } | T::Aggregate { .. } => self.aggregate(frame, written),
            T::Set(items) => self.collection(frame, items, expected, true, span),
            T::List(items) => self.collection(frame, items, expected, false, span),
            T::Record(fields) if fields.is_empty() => {
                // `{}`: an empty collection where one is expected
                self.collection(frame, &[], expected, true, span)
            }
            T::Record(fields) => {
                if let Some(Type::Struct(wanted)) = expected {
                    return self.struct_value(frame, fields, wanted, span);
                }
                if !matches!(frame.mode, Mode::Read | Mode::Call) {
                    self.report(
                        Diagnostic::error("E0301", span, "a record is not a value here")
                            .help("assign a whole state with `State := { … }`"),
                    );
                    return error_expr(span);
                }
                let fields = self.record_fields(frame, fields);
                record(fields, span)
            }
            T::Error => error_expr(span),
        }
    }

    /// `{ a: e, b }` in an event, a body or a result.
    pub(super) fn record_fields(
        &mut self,
        frame: &mut Frame,
        fields: &[tree::FieldValue],
    ) -> Vec<(String, Expr)> {
        let mut known: Vec<(String, Expr)> = Vec::new();
        for field in fields {
            if known.iter().any(|(name, _)| *name == field.name.text) {
                self.report(
                    Diagnostic::error(
                        "E0202",
                        field.name.span,
                        format!("the field `{}` is given twice", field.name.text),
                    )
                    .help("leave one of them out"),
                );
                continue;
            }
            let value = match &field.value {
                Some(value) => self.expr(frame, value, None),
                None => {
                    let name = tree::Expr {
                        kind: tree::ExprKind::Name(field.name.clone()),
                        span: field.name.span,
                    };
                    self.expr(frame, &name, None)
                }
            };
            let value = self.not_a_struct(value);
            known.push((field.name.text.clone(), value));
        }
        known
    }

    fn now(&mut self, frame: &Frame, span: Span) -> Expr {
        let problem = match frame.mode {
            Mode::Constant => Some("a default cannot depend on the time"),
            Mode::View => Some("the rows of a view cannot depend on the time"),
            Mode::Counter => {
                self.not_countable(span, "`now`");
                return error_expr(span);
            }
            _ => None,
        };
        if let Some(problem) = problem {
            self.report(
                Diagnostic::error("E0414", span, problem).help(
                    "let a `repair` change the truth when the time has come, and look at that",
                ),
            );
            return error_expr(span);
        }
        Expr { kind: ExprKind::Now, ty: Type::Time, span }
    }

    fn me(&mut self, frame: &Frame, span: Span) -> Expr {
        let nobody = frame.mode != Mode::Visible && frame.actor.is_none() && !frame.of_caller;
        if nobody {
            let help = match frame.mode {
                Mode::View => "say whose rows they are: `view Mine of user = …`",
                _ => {
                    "repairs, effects and goals act for the engine; compare with a stored \
                     principal instead"
                }
            };
            self.report(
                Diagnostic::error("E0504", span, "nobody calls here, so there is no `me`")
                    .help(help),
            );
            return error_expr(span);
        }
        Expr { kind: ExprKind::Me, ty: Type::Actor, span }
    }

    pub(super) fn old(&mut self, frame: &mut Frame, inner: &tree::Expr, span: Span) -> Expr {
        if frame.mode != Mode::Invariant {
            let (message, help) = match frame.mode {
                Mode::Goal => (
                    "a `recovers` is about a state, so it has no `old`",
                    "make it an `invariant`, which is about every transition",
                ),
                Mode::LeadsTo => (
                    "a `leads_to` is about states, so it has no `old`",
                    "make it an `invariant`, which is about every transition",
                ),
                _ => (
                    "`old` is for invariants",
                    "a guard already reads the truth as it was before the step",
                ),
            };
            self.report(Diagnostic::error("E0410", span, message).help(help));
            return error_expr(span);
        }
        if frame.in_old {
            self.report(
                Diagnostic::error("E0410", span, "`old` within `old` says no more")
                    .help("one `old` around the whole is enough"),
            );
            return self.expr(frame, inner, None);
        }
        frame.uses_old = true;
        frame.in_old = true;
        let inner = self.expr(frame, inner, None);
        frame.in_old = false;
        let ty = match &inner.ty {
            Type::Bool => Type::Bool,
            optional @ Type::Optional(_) => optional.clone(),
            Type::Error => Type::Error,
            other => Type::Optional(Box::new(other.clone())),
        };
        Expr { kind: ExprKind::Old(Box::new(inner)), ty, span }
    }

    /// An expression that must be true or false.
    pub(super) fn condition(&mut self, frame: &mut Frame, written: &tree::Expr) -> Expr {
        let value = self.expr(frame, written, Some(&Type::Bool));
        if matches!(value.ty.required(), Type::Bool | Type::Error) {
            return value;
        }
        let ty = self.type_name(&value.ty);
        let text = self.text(value.span);
        let mut problem = Diagnostic::error(
            "E0301",
            value.span,
            format!("a condition is true or false, and `{text}` is `{ty}`"),
        );
        problem = match value.ty {
            Type::Optional(_) | Type::Ref(_) => problem.help(format!("`{text} present`, perhaps?")),
            _ => problem.help("compare it with something"),
        };
        match &written.kind {
            // what is defined as no condition is none wherever it is asked
            tree::ExprKind::Call { function, .. } => {
                self.report_missing(&format!("{} holds", function.text), problem);
            }
            _ => self.report(problem),
        }
        error_expr(written.span)
    }

    /// The value, if it fits; otherwise says why not.
    pub(super) fn demand(&mut self, value: Expr, want: &Type) -> Option<Expr> {
        if value.ty == Type::Error || *want == Type::Error {
            return None;
        }
        if self.fits(&value.ty, want) && (value.ty != Type::Null || want.is_optional()) {
            if let (
                Type::Set { max: have, .. } | Type::List { max: have, .. },
                Type::Set { max: most, .. } | Type::List { max: most, .. },
            ) = (&value.ty, want)
                && have > most
                && matches!(value.kind, ExprKind::Set(_) | ExprKind::List(_))
            {
                let message = format!("{have} elements, and at most {most} fit");
                self.report(
                    Diagnostic::error("E0309", value.span, message)
                        .help("raise the bound of the collection, or leave some out"),
                );
                return None;
            }
            return Some(value);
        }
        let (have, wanted) = (self.type_name(&value.ty), self.type_name(want));
        let mut problem =
            Diagnostic::error("E0301", value.span, format!("expected `{wanted}`, found `{have}`"));
        if value.ty == Type::Null {
            problem = problem.help(format!("an optional one is written `{wanted}?`"));
        } else if matches!((&value.ty, want.required()), (Type::Int, Type::Duration | Type::Time)) {
            problem = problem.help("a duration has a unit: `30s`, `10m`; a time is `now + 30s`");
        } else if matches!((&value.ty, want.required()), (Type::Text, Type::Enum(_))) {
            problem = problem.help("a constant is written without quotes");
        } else if matches!((&value.ty, want.required()), (Type::Text, Type::Schedule)) {
            problem = problem
                .help("a schedule is a literal, or comes from a parameter: `plan: schedule`");
        } else if matches!((value.ty.required(), want.required()), (Type::Duration, Type::Time)) {
            problem = problem.help("a time is `now` plus or minus a duration");
        } else {
            problem = problem.help(format!("a value of type `{wanted}` belongs here"));
        }
        self.report(problem);
        None
    }

    /// The type of two branches.
    fn join(&mut self, a: &Expr, b: &Expr) -> Type {
        match (&a.ty, &b.ty) {
            (Type::Error, other) | (other, Type::Error) => other.clone(),
            (Type::Null, Type::Null) => Type::Null,
            (Type::Null, other) | (other, Type::Null) => match other {
                optional @ Type::Optional(_) => optional.clone(),
                other => Type::Optional(Box::new(other.clone())),
            },
            (x, y) if self.fits(x, y) => {
                if x.is_optional() {
                    x.clone()
                } else {
                    y.clone()
                }
            }
            (x, y) => {
                let (x, y) = (self.type_name(x), self.type_name(y));
                self.report(
                    Diagnostic::error(
                        "E0301",
                        b.span,
                        format!("one branch is `{x}`, the other `{y}`"),
                    )
                    .also(a.span, format!("this is `{x}`"))
                    .help("both branches have one type"),
                );
                Type::Error
            }
        }
    }
}

pub(super) fn boolean(kind: ExprKind, span: Span) -> Expr {
    Expr { kind, ty: Type::Bool, span }
}
