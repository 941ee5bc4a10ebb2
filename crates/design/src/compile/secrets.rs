//! Secrets: where one may stand, what may be done with it, and what the server chooses.

use syntax::tree::{self, ExprKind as T};
use syntax::{Diagnostic, Span};

use super::Compiler;
use crate::model::visit::{
    bodies, children, each, each_statement, message_targets, statement_exprs,
};
use crate::model::*;
use crate::suggest;

/// Fewer digits are guessed by anybody who has a minute, and more are not typed.
const CODE_DIGITS: std::ops::RangeInclusive<u32> = 4..=64;

impl Compiler {
    /// `new id`, `new key`, `new code(6)`
    pub(super) fn generated(
        &mut self,
        written: &tree::Generated,
        param: &tree::Param,
        ty: &Type,
    ) -> Option<Generated> {
        if written.kind.text.is_empty() || *ty == Type::Error {
            return None; // reported already
        }
        let wrong = |span: Span, message: String| Diagnostic::error("E0321", span, message);
        let generated = match (written.kind.text.as_str(), &written.size) {
            ("id", None) => Generated::Id,
            ("key", None) => Generated::Key,
            ("code", Some(size)) => {
                let digits = match &size.kind {
                    T::Int(digits) => digits.parse().ok().filter(|n| CODE_DIGITS.contains(n)),
                    _ => None,
                };
                let Some(digits) = digits else {
                    let (low, high) = CODE_DIGITS.into_inner();
                    let message = format!("a code has {low} to {high} digits");
                    self.report(wrong(size.span, message).help("for example `new code(6)`"));
                    return None;
                };
                Generated::Code(digits)
            }
            ("code", None) => {
                let message = "how many digits has the code?".to_string();
                self.report(wrong(written.span, message).help("for example `new code(6)`"));
                return None;
            }
            ("id" | "key", Some(size)) => {
                let message = format!("`new {}` has one length", written.kind.text);
                self.report(wrong(size.span, message).help("leave the brackets out"));
                return None;
            }
            (other, _) => {
                let hint = suggest::did_you_mean(other, ["id", "key", "code"]);
                let help = hint.unwrap_or_else(|| {
                    "the server chooses `new id`, `new key` or `new code(6)`".into()
                });
                self.report(wrong(written.span, format!("no value `new {other}`")).help(help));
                return None;
            }
        };
        let (fits, help) = match (&generated, ty) {
            (Generated::Id, Type::Text) if !param.new => (true, ""),
            (Generated::Id, Type::Ref(subject)) if param.new => {
                let keys = &self.design.subjects[subject.index()].keys;
                let one_text = matches!(keys.as_slice(), [Key { ty: Type::Text, .. }]);
                (one_text, "a record whose key is one `text` can have a `new id`")
            }
            (Generated::Id, _) => (false, "`new id` is a `text`, or the key of a `new` record"),
            (Generated::Key | Generated::Code(_), Type::Secret) => (true, ""),
            (Generated::Key | Generated::Code(_), _) => (false, "declare it as `secret`"),
            (Generated::Next(_), _) => (true, ""), // no `new …` is that
        };
        if !fits {
            let name = self.type_name(ty);
            let text = self.text(written.span);
            let message = format!("`{text}` is no value of `{name}`");
            self.report(wrong(written.span, message).help(help));
            return None;
        }
        Some(generated)
    }

    pub(super) fn secret_out_of_place(&mut self, span: Span, what: &str) {
        self.report(Diagnostic::error("E0320", span, format!("{what} could not be kept")).help(
            "a `secret` is an attribute of truth, or a parameter of a step or a read; for \
                 several of them make a child subject",
        ));
    }

    /// A secret is compared with what a caller gives, or stored: whatever else is done with it tells it.
    pub(super) fn secrets_are_kept(&mut self) {
        let design = std::mem::replace(&mut self.design, super::empty_design());
        self.secret_types(&design);
        self.generated_places(&design);
        let mut told: Vec<(Span, &str)> = Vec::new();
        for operation in &design.operations {
            let params = operation.params.len();
            let mut finder = Finder { params, goal: false, told: &mut told };
            finder.operation(operation);
        }
        let mut finder = Finder { params: 0, goal: true, told: &mut told };
        design.goals().for_each(|goal| finder.value(&goal.body, false));
        finder.goal = false;
        for view in &design.views {
            view_exprs(view, &mut |value| finder.value(value, false));
        }
        for subject in &design.subjects {
            for counter in &subject.counters {
                let parts = counter.filter.iter().chain(&counter.value);
                parts.for_each(|value| finder.value(value, false));
            }
            for visible in subject.states.iter().flat_map(|state| &state.visible) {
                visible.condition.iter().for_each(|value| finder.value(value, false));
            }
        }
        told.sort_by_key(|(span, _)| (span.start, span.end));
        told.dedup_by_key(|(span, _)| *span);
        for (span, help) in told {
            let text = self.text(span);
            self.report(
                Diagnostic::error("E0440", span, format!("`{text}` would tell a secret"))
                    .help(help),
            );
        }
        self.compared_and_visible(&design);
        self.design = design;
    }

    fn secret_types(&mut self, design: &Design) {
        for memory in design.actors.iter().flat_map(|actor| &actor.memory) {
            if memory.ty.is_secret() {
                self.secret_out_of_place(memory.span, "a secret that a caller remembers");
            }
        }
        for subject in &design.subjects {
            for attribute in subject.attributes.iter().filter(|it| it.ty.is_secret()) {
                let what = match subject.states[attribute.state.index()].kind {
                    StateKind::Truth => continue,
                    StateKind::Log { .. } => "a secret in a log",
                    StateKind::Cache { .. } => "a secret in a cache",
                    StateKind::Ephemeral { .. } => "a secret in soft state",
                };
                self.secret_out_of_place(attribute.span, what);
            }
        }
        for operation in &design.operations {
            let what = match &operation.kind {
                OperationKind::Step { .. } | OperationKind::Read { .. } => continue,
                OperationKind::Repair { .. } => "a secret that nobody gives",
                OperationKind::Effect(effect) => {
                    let answers = [&effect.on_ok, &effect.on_refused, &effect.on_unknown];
                    for local in answers.iter().filter_map(|answer| answer.param) {
                        if operation.locals[local.index()].ty.is_secret() {
                            self.secret_out_of_place(operation.head, "a secret of the world");
                        }
                    }
                    "a secret that is sent"
                }
            };
            for param in operation.params.iter().filter(|param| param.ty.is_secret()) {
                self.secret_out_of_place(param.span, what);
            }
        }
        for view in &design.views {
            let found_by = "a secret that rows are found by";
            for param in view.params.iter().filter(|param| param.ty.is_secret()) {
                self.secret_out_of_place(param.span, found_by);
            }
            let attributes = &design.subjects[view.subject.index()].attributes;
            // an attribute that is not known was reported, and may be of no subject
            let looked_up = view.looked_up().iter().filter_map(|attr| attributes.get(attr.index()));
            if looked_up.into_iter().any(|attribute| attribute.ty.is_secret()) {
                self.secret_out_of_place(view.span, found_by);
            }
        }
    }

    /// The server chooses for whoever calls: nobody calls a repair, an effect or what a message calls.
    fn generated_places(&mut self, design: &Design) {
        let targets = message_targets(design);
        let called = |at: usize| {
            matches!(design.operations[at].kind, OperationKind::Step { .. }) && !targets[at]
        };
        let uncalled = (0..design.operations.len()).filter(|at| !called(*at));
        let of_operations = uncalled.flat_map(|at| &design.operations[at].params);
        let of_views = design.views.iter().flat_map(|view| &view.params);
        for param in of_operations.chain(of_views).filter(|param| is_made(param)) {
            let message = format!("nobody chooses `{}`", param.name);
            self.report(
                Diagnostic::error("E0321", param.span, message)
                    .help("the server chooses for a step that callers call"),
            );
        }
        // what is remembered is bound to its record before the call, when nobody knows the id; what is remembered of
        // something that is not there was reported, and is bound to anything
        let known = !self.diagnostics.iter().any(Diagnostic::is_error);
        for operation in design.operations.iter().filter(|_| known) {
            for local in operation.memory.iter().filter_map(|used| used.of) {
                let param = operation.params.get(local.index());
                if let Some(param) = param.filter(|param| is_made(param)) {
                    let message = format!("nothing is remembered yet of `{}`", param.name);
                    self.report(
                        Diagnostic::error("E0321", param.span, message)
                            .help("hand it out in another step, once the record is there"),
                    );
                }
            }
        }
        let sent = design.operations.iter().zip(&targets);
        let sent = sent.filter(|(operation, sent)| **sent || operation.hears.is_some());
        for param in sent.flat_map(|(operation, _)| &operation.params) {
            if param.ty.is_secret() && param.generated.is_none() {
                self.secret_out_of_place(param.span, "a secret that is sent");
            }
        }
    }

    /// A refusal shows what it looked at, so a caller who compares is told what with.
    fn compared_and_visible(&mut self, design: &Design) {
        let targets = message_targets(design);
        for (at, operation) in design.operations.iter().enumerate() {
            let called =
                matches!(operation.kind, OperationKind::Step { .. } | OperationKind::Read { .. });
            let world = design.actors.get(operation.actor.index()).is_some_and(|it| it.is_world);
            if !called || world || targets[at] || self.has_error_in(operation.span) {
                continue;
            }
            let mut found = Vec::new();
            for clause in &operation.guard {
                each(&clause.body, &mut |part| found.extend(compared(design, operation, part)));
            }
            for (span, subject, attr) in found {
                let subject = &design.subjects[subject.index()];
                let attribute = &subject.attributes[attr.index()];
                let state = &subject.states[attribute.state.index()];
                let message = format!(
                    "`{}.{}` is compared with what a caller gives, and every caller sees it",
                    state.name, attribute.name
                );
                let actor = &design.actors[operation.actor.index()].name;
                self.report(
                    Diagnostic::warning("W0440", span, message)
                        .label("a refusal shows its value")
                        .also(attribute.span, "nothing says who sees it")
                        .help("if nobody is to know it, declare it as `secret`")
                        .help(format!("if it is no secret, say who sees it: `visible to {actor}`")),
                );
            }
        }
    }
}

/// Does the server make up its value? What is taken from a view is judged where it is taken.
fn is_made(param: &Param) -> bool {
    param.generated.as_ref().is_some_and(|generated| generated.next().is_none())
}

/// A text of truth that everybody sees, compared with a parameter.
fn compared(
    design: &Design,
    operation: &Operation,
    part: &Expr,
) -> Option<(Span, SubjectId, AttrId)> {
    // who is refused by `!=` has given the value
    let ExprKind::Compare { op: CompareOp::Equal, left, right } = &part.kind else {
        return None;
    };
    let is_param = |side: &Expr| matches!(side.kind, ExprKind::Local(id) if id.index() < operation.params.len());
    let stored = match (is_param(left), is_param(right)) {
        (true, false) => right,
        (false, true) => left,
        _ => return None,
    };
    let ExprKind::Attr { base, attr } = &stored.kind else { return None };
    let subject = base.ty.subject()?;
    let held = &design.subjects[subject.index()];
    let attribute = held.attributes.get(attr.index())?;
    let state = &held.states[attribute.state.index()];
    let text = matches!(attribute.ty.required(), Type::Text | Type::Bytes);
    (text && state.kind == StateKind::Truth && state.visible.is_empty())
        .then_some((part.span, subject, *attr))
}

const COMPARED: &str = "compare it with a parameter that is a `secret`: `DoorState.pin = pin`";
const TOLD: &str = "a secret is compared with a parameter, or stored with `:=`; nothing else";

/// Looks for whatever is made of a secret.
struct Finder<'t> {
    /// so many locals are what the caller gives
    params: usize,
    /// the checker looks at it, and no server does
    goal: bool,
    told: &'t mut Vec<(Span, &'static str)>,
}

impl Finder<'_> {
    fn operation(&mut self, operation: &Operation) {
        operation.guard.iter().for_each(|clause| self.value(&clause.body, false));
        for body in bodies(operation) {
            each_statement(body, &mut |statement| self.statement(statement));
        }
        match &operation.kind {
            OperationKind::Read { result } => self.value(result, false),
            OperationKind::Effect(effect) => {
                let fields = effect.body.iter().map(|(_, value)| value);
                let signed = effect.sign.iter().flat_map(|sign| [&sign.digest, &sign.key]);
                let all = effect.key.iter().chain(fields).chain(signed);
                all.for_each(|value| self.value(value, false));
            }
            OperationKind::Step { .. } | OperationKind::Repair { .. } => {}
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Assign { target: Target::Attr { base, .. }, value, .. } => {
                self.value(base, false);
                self.value(value, as_it_is(value));
            }
            StmtKind::Let { value, .. } => self.value(value, as_it_is(value)),
            StmtKind::New { keys, fields, .. } => {
                keys.iter().for_each(|key| self.value(key, false));
                fields.iter().for_each(|(_, value)| self.value(value, as_it_is(value)));
            }
            _ => statement_exprs(statement, &mut |value| self.value(value, false)),
        }
    }

    /// `kept`: it stands where a secret may.
    fn value(&mut self, value: &Expr, kept: bool) {
        if value.ty.is_secret() && !kept && !matches!(value.kind, ExprKind::Literal(_)) {
            self.told.push((value.span, TOLD));
            return;
        }
        match &value.kind {
            ExprKind::Compare { left, right, .. }
                if left.ty.is_secret() || right.ty.is_secret() =>
            {
                let given = |side: &Expr| matches!(side.kind, ExprKind::Local(id) if id.index() < self.params);
                if !self.goal && !given(left) && !given(right) {
                    self.told.push((value.span, COMPARED));
                    return;
                }
                self.value(left, as_it_is(left));
                self.value(right, as_it_is(right));
            }
            ExprKind::IsNull(inner) => self.value(inner, as_it_is(inner)),
            _ => children(value, &mut |child| {
                // what stands in `old(…)` stands where that stands
                let kept = kept && matches!(value.kind, ExprKind::Old(_));
                self.value(child, kept);
            }),
        }
    }
}

/// Nothing is made of it.
fn as_it_is(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Local(_) | ExprKind::Attr { .. } | ExprKind::Literal(_) => true,
        ExprKind::Old(inner) => as_it_is(inner),
        _ => false,
    }
}

fn view_exprs<'v>(view: &'v View, visit: &mut dyn FnMut(&'v Expr)) {
    let grouped = view.group.iter().map(|(_, value)| value);
    let shown = view.with.iter().map(|column| &column.value);
    let all = view.filter.iter().chain(grouped).chain(shown).chain(view.values());
    all.for_each(visit);
}
