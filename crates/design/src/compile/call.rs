//! `f(e, …)`: built-in functions, defines, views.

use syntax::tree::{self, Name};
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::expr::boolean;
use super::family;
use super::frame::{Entry, Frame, Mode};
use super::path::{Found, error_expr};
use crate::model::*;
use crate::suggest;

/// How often `define`s may be put in place within one expression.
const MAX_EXPANSIONS: u32 = 2_000;

const FUNCTIONS: [&str; 10] =
    ["min", "max", "size", "split", "stored", "slice", "hash", "verified", "included", "next"];

impl Compiler {
    pub(super) fn call(
        &mut self,
        frame: &mut Frame,
        function: &Name,
        args: &[tree::Expr],
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        match function.text.as_str() {
            "min" | "max" => self.extreme(frame, function, args, expected, span),
            "size" => {
                let Some([collection]) = self.arity(function, args) else {
                    return error_expr(span);
                };
                let collection = self.expr(frame, collection, None);
                match &collection.ty {
                    Type::Set { .. } | Type::List { .. } | Type::Map { .. } => {
                        Expr { kind: ExprKind::Size(Box::new(collection)), ty: Type::Int, span }
                    }
                    Type::Error => error_expr(span),
                    other => {
                        let ty = self.type_name(other);
                        self.report(
                            Diagnostic::error(
                                "E0305",
                                collection.span,
                                format!("`{ty}` holds no elements"),
                            )
                            .help("a set, a list and a map have a size; `count(…)` counts records"),
                        );
                        error_expr(span)
                    }
                }
            }
            "stored" => {
                let Some([digest]) = self.arity(function, args) else {
                    return error_expr(span);
                };
                let digest = self.expr(frame, digest, None);
                match digest.ty.required() {
                    Type::Digest(_) => boolean(ExprKind::Stored(Box::new(digest)), span),
                    Type::Error => error_expr(span),
                    other => {
                        let ty = self.type_name(other);
                        self.report(
                            Diagnostic::error(
                                "E0301",
                                digest.span,
                                format!("expected the digest of a blob, found `{ty}`"),
                            )
                            .help("declare the content: `blob Content`, and the attribute as `Content`"),
                        );
                        error_expr(span)
                    }
                }
            }
            "split" => self.split(frame, function, args, span),
            "slice" => self.slice(frame, function, args, span),
            "hash" => self.hash(frame, function, args, span),
            "verified" => self.verified(frame, function, args, span),
            "included" => self.included(frame, function, args, span),
            "next" => self.next_of(frame, function, args, span),
            name => {
                if let Some(&define) = self.names.defines.get(name) {
                    return self.put_in_place(frame, define, function, args, span);
                }
                if let Some(&view) = self.names.views.get(name) {
                    return self.view_call(frame, view, function, args, span);
                }
                if let Some(&subject) = self.names.subjects.get(name) {
                    return self.keyed(frame, subject, function, args, span);
                }
                self.unknown_function(frame, function);
                error_expr(span)
            }
        }
    }

    fn unknown_function(&mut self, frame: &Frame, function: &Name) {
        if function.text == "sign" {
            return self.signing_is_an_effect(function);
        }
        if family::families().iter().any(|f| f.name == function.text) {
            let message = format!("`{}` stands alone as a whole goal", function.text);
            self.report(
                Diagnostic::error("E0611", function.span, message)
                    .help(format!("`invariant name: {}(…)`", function.text)),
            );
            return;
        }
        let words: Vec<String> = FUNCTIONS
            .iter()
            .map(|word| (*word).to_string())
            .chain(self.names.defines.keys().cloned())
            .chain(family::families().iter().map(|f| f.name.to_string()))
            .chain(["count".into(), "sum".into()])
            .collect();
        let _ = frame;
        let mut problem =
            Diagnostic::error("E0209", function.span, format!("no function `{}`", function.text));
        problem = match suggest::did_you_mean(&function.text, words.iter().map(String::as_str)) {
            Some(hint) => problem.help(hint),
            None => problem.help(
                "there are `min`, `max`, `size`, `split`, `stored`, `slice`, `hash`, `verified`, \
                 `included`, `next`, `count`, `sum`, and what you `define`",
            ),
        };
        self.report_missing(&function.text, problem);
    }

    pub(super) fn arity<'t, const N: usize>(
        &mut self,
        function: &Name,
        args: &'t [tree::Expr],
    ) -> Option<&'t [tree::Expr; N]> {
        let found = args.len();
        match args.try_into() {
            Ok(args) => Some(args),
            Err(_) => {
                let example = match function.text.as_str() {
                    "size" => "size(StageState.dependencies)",
                    "stored" => "stored(UploadState.content)",
                    "verified" => "verified(signature, by KeyState.public_key, over hash(order))",
                    "split" => "split(total, 12, month, 2)",
                    "next" => "next(JobState.plan, JobState.due)",
                    "included" => "included(hash(entry), in LogState.root, by proof)",
                    _ => "slice(Changes, from, 100)",
                };
                self.report(
                    Diagnostic::error(
                        "E0304",
                        function.span,
                        format!("`{}` takes {N}, not {found}", function.text),
                    )
                    .help(format!("for example `{example}`")),
                );
                None
            }
        }
    }

    fn extreme(
        &mut self,
        frame: &mut Frame,
        function: &Name,
        args: &[tree::Expr],
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        if args.len() < 2 {
            self.report(
                Diagnostic::error(
                    "E0304",
                    function.span,
                    format!("`{}` takes two or more", function.text),
                )
                .help("for example `min(capacity, tokens + 1)`"),
            );
            return error_expr(span);
        }
        let mut values: Vec<Expr> = Vec::new();
        let mut wanted = expected.cloned();
        for arg in args {
            let value = self.expr(frame, arg, wanted.as_ref());
            if value.ty == Type::Error {
                return error_expr(span);
            }
            if !value.ty.is_ordered() {
                let ty = self.type_name(&value.ty);
                self.report(
                    Diagnostic::error("E0302", value.span, format!("`{ty}` has no order"))
                        .help("`int`, `decimal`, `time` and `duration` are ordered"),
                );
                return error_expr(span);
            }
            if let Some(first) = values.first() {
                let want = first.ty.required().clone();
                if self.demand(value.clone(), &want).is_none() {
                    return error_expr(span);
                }
            }
            wanted = Some(value.ty.required().clone());
            values.push(value);
        }
        let ty = values[0].ty.required().clone();
        let kind =
            if function.text == "min" { ExprKind::Min(values) } else { ExprKind::Max(values) };
        Expr { kind, ty, span }
    }

    /// `slice(log, from, limit)`: entries of a log, as the result of a read.
    fn slice(
        &mut self,
        frame: &mut Frame,
        function: &Name,
        args: &[tree::Expr],
        span: Span,
    ) -> Expr {
        let Some([log, from, limit]) = self.arity(function, args) else {
            return error_expr(span);
        };
        if frame.mode != Mode::Read {
            self.report(
                Diagnostic::error("E0405", span, "entries of a log are read by a `read` only")
                    .help("a guard sees the log's `start` and `end`"),
            );
            return error_expr(span);
        }
        let found = self.path(frame, log, None);
        let Found::State { base, subject, state } = found else {
            if !matches!(found, Found::Nothing) {
                self.report(
                    Diagnostic::error("E0417", log.span, "the first of `slice` is a log")
                        .help("for example `slice(Changes, from, 100)`"),
                );
            }
            return error_expr(span);
        };
        let owner = &self.design.subjects[subject.index()];
        if !matches!(owner.states[state.index()].kind, StateKind::Log { .. }) {
            let name = owner.states[state.index()].name.clone();
            self.report(
                Diagnostic::error("E0417", log.span, format!("`{name}` is not a log"))
                    .help("a truth is read by its name alone"),
            );
            return error_expr(span);
        }
        let fields = owner.states[state.index()]
            .attributes
            .iter()
            .map(|attr| {
                let attr = &owner.attributes[attr.index()];
                (attr.name.clone(), attr.ty.clone())
            })
            .collect();
        let from = self.expr(frame, from, Some(&Type::Int));
        let from = self.demand(from, &Type::Int);
        let limit = self.expr(frame, limit, Some(&Type::Int));
        let limit = self.demand(limit, &Type::Int);
        let (Some(from), Some(limit)) = (from, limit) else {
            return error_expr(span);
        };
        Expr {
            kind: ExprKind::LogSlice {
                base: Box::new(base),
                log: state,
                from: Box::new(from),
                limit: Box::new(limit),
            },
            ty: Type::List { of: Box::new(Type::Record(fields)), max: u32::MAX },
            span,
        }
    }

    /// A `define`: its body, with the parameters bound.
    pub(super) fn put_in_place(
        &mut self,
        frame: &mut Frame,
        define: usize,
        function: &Name,
        args: &[tree::Expr],
        span: Span,
    ) -> Expr {
        let item = self.defines[define].clone();
        self.known.refer(function, item.name.span);
        if self.is_endless(define) || frame.endless {
            // what is made of it is no better
            self.now_endless(define, &frame.expanding);
            return error_expr(span);
        }
        let circle = frame.expanding.contains(&define);
        if circle || frame.expansions >= MAX_EXPANSIONS {
            let message = if circle {
                format!("`{}` never comes to an end", function.text)
            } else {
                format!("with every `define` in place, `{}` is too large", function.text)
            };
            self.report(
                Diagnostic::error("E0212", function.span, message)
                    .also(item.name.span, "defined here")
                    .help("a `define` is put in place of its name, so it cannot contain itself"),
            );
            frame.endless = true;
            self.now_endless(define, &frame.expanding);
            return error_expr(span);
        }
        if args.len() != item.params.len() {
            self.report(
                Diagnostic::error(
                    "E0304",
                    function.span,
                    format!("`{}` takes {}, not {}", function.text, item.params.len(), args.len()),
                )
                .also(item.name.span, "defined here")
                .help("give a value for each of its parameters"),
            );
            return error_expr(span);
        }
        let mut bound = Vec::new();
        for (param, arg) in item.params.iter().zip(args) {
            let ty = self.type_of(&param.ty, &param.name.text);
            let value = self.expr(frame, arg, Some(&ty));
            let Some(value) = self.demand(value, &ty) else {
                return error_expr(span);
            };
            bound.push((param.name.text.clone(), ty, value));
        }
        let depth = frame.scope.len();
        frame.scope.push(Entry::Wall);
        let locals: Vec<(LocalId, Expr)> =
            bound.into_iter().map(|(name, ty, value)| (frame.bind(&name, ty), value)).collect();
        frame.expanding.push(define);
        frame.expansions += 1;
        // the body was recorded when it was looked at by itself
        let off = self.known.pause();
        let body = self.expr(frame, &item.body, None);
        self.known.resume(off);
        frame.expanding.pop();
        frame.scope.truncate(depth);
        locals.into_iter().rev().fold(body, |body, (local, value)| {
            let ty = body.ty.clone();
            Expr {
                kind: ExprKind::Let { local, value: Box::new(value), body: Box::new(body) },
                ty,
                span,
            }
        })
    }

    /// Each `define` is compiled once on its own, so that its mistakes are reported where they
    /// are, used or not.
    pub(super) fn check_defines(&mut self) {
        for at in 0..self.defines.len() {
            let item = self.defines[at].clone();
            let mut frame = Frame::new(Mode::Guard, None);
            frame.expanding.push(at);
            let mut params: Vec<(String, Type)> = Vec::new();
            for (place, param) in item.params.iter().enumerate() {
                let known = item.params[..place].iter();
                let earlier = known.rev().find(|known| known.name.text == param.name.text);
                self.free("parameter", &param.name, earlier.map(|known| known.span));
                let ty = self.type_of(&param.ty, &param.name.text);
                self.bind(&mut frame, &param.name, ty.clone());
                params.push((param.name.text.clone(), ty));
            }
            frame.mode = Mode::Measured;
            let body = self.expr(&mut frame, &item.body, None);
            self.design.defines.push(Define {
                name: item.name.text.clone(),
                params,
                ty: body.ty,
                span: item.name.span,
            });
        }
    }

    pub(super) fn view_call(
        &mut self,
        frame: &mut Frame,
        view: ViewId,
        function: &Name,
        args: &[tree::Expr],
        span: Span,
    ) -> Expr {
        let declared = self.design.views[view.index()].span;
        self.known.refer(function, declared);
        if !matches!(frame.mode, Mode::Read | Mode::Goal) {
            self.report(
                Diagnostic::error("E0401", span, format!("`{}` is a view", function.text))
                    .label("guards, effects and invariants read truth only")
                    .also(declared, "derived here; it may lag behind the truth")
                    .help("keep what is decided upon as truth, and read that"),
            );
            return error_expr(span);
        }
        let params: Vec<Type> =
            self.design.views[view.index()].params.iter().map(|param| param.ty.clone()).collect();
        if params.len() != args.len() {
            self.report(
                Diagnostic::error(
                    "E0304",
                    function.span,
                    format!("`{}` takes {}, not {}", function.text, params.len(), args.len()),
                )
                .also(declared, "defined here")
                .help("give a value for each of its parameters"),
            );
            return error_expr(span);
        }
        let mut values = Vec::new();
        for (ty, arg) in params.iter().zip(args) {
            let value = self.expr(frame, arg, Some(ty));
            match self.demand(value, ty) {
                Some(value) => values.push(value),
                None => return error_expr(span),
            }
        }
        if frame.mode == Mode::Read && !self.is_own_view(frame, view, span) {
            return error_expr(span);
        }
        if frame.mode == Mode::Goal {
            return self.caught_up(frame, view, values, span);
        }
        Expr { kind: ExprKind::View { view, args: values }, ty: Type::Rows(view), span }
    }
}
