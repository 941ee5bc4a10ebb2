//! Tests: who calls what with which values, and what is to come of it.

use syntax::tree::{self, Item, ItemKind, Name, TestLineKind as Written, TestWord};
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::frame::{Entry, Frame, Mode};
use crate::analysis::DefinitionKind;
use crate::model::*;
use crate::suggest;

/// What is known in a test so far.
pub(super) struct Known {
    pub names: Vec<TestName>,
    /// who acts, and as whom
    principals: Vec<(u32, ActorId)>,
    scope: Span,
}

impl Known {
    pub fn find(&self, name: &str) -> Option<u32> {
        self.names.iter().position(|known| known.name == name).map(|at| at as u32)
    }
}

impl Compiler {
    pub(super) fn tests(&mut self, items: &[Item]) {
        let sound = !self.diagnostics.iter().any(Diagnostic::is_error);
        let said = self.diagnostics.len();
        for item in items {
            let ItemKind::Test(written) = &item.kind else { continue };
            let title = Name { text: written.title.value.clone(), span: written.title.span };
            let earlier = self.tests.iter().find(|known| known.title == title.text);
            if let Some(earlier) = earlier.map(|known| known.span) {
                let message = format!("two tests are called `{}`", title.text);
                self.report(
                    Diagnostic::error("E1101", title.span, message)
                        .also(earlier, "the first one is here")
                        .help("give one of them another name"),
                );
                continue;
            }
            let mut known = Known { names: Vec::new(), principals: Vec::new(), scope: item.span };
            let mut lines = Vec::new();
            for line in &written.lines {
                if let Some(kind) = self.test_line(&mut known, &line.kind) {
                    lines.push(TestLine { kind, span: line.span });
                }
            }
            let (title, span) = (title.text, written.title.span);
            self.tests.push(Test { title, names: known.names, lines, span });
        }
        if !sound {
            // what a design lacks, its tests lack, too: that is said once
            self.diagnostics.truncate(said);
        }
    }

    fn test_line(&mut self, known: &mut Known, written: &Written) -> Option<TestLineKind> {
        match written {
            Written::Call { actor, principal, call, key, outcome } => {
                let called = self.test_call(known, (actor, principal), call, key.as_ref(), outcome);
                called.map(|call| TestLineKind::Call(Box::new(call)))
            }
            Written::After(duration) => {
                let ms = self.duration_setting(duration)?;
                Some(TestLineKind::After(ms))
            }
            Written::Expect(condition) => self.test_expect(known, condition),
            Written::Crash { actor, principal } => {
                let actor = self.test_actor(actor)?;
                let principal = self.test_principal(known, principal, actor);
                Some(TestLineKind::Crash { actor, principal })
            }
            Written::Answer { call, answer } => {
                let wanted = |kind: &OperationKind| matches!(kind, OperationKind::Effect(_));
                let effect = self.test_target(&call.name, "an effect", &wanted)?;
                let args = self.test_sent(known, effect, call)?;
                let answer = self.test_answer(known, effect, answer, call.name.span)?;
                Some(TestLineKind::Answer { effect, args, answer })
            }
            Written::Deliver { call, twice } => {
                let wanted = |kind: &OperationKind| matches!(kind, OperationKind::Step { .. });
                let operation = self.test_target(&call.name, "a step", &wanted)?;
                let args = self.test_sent(known, operation, call)?;
                Some(TestLineKind::Deliver { operation, args, twice: *twice })
            }
            Written::Lose(call) => {
                let wanted = |kind: &OperationKind| matches!(kind, OperationKind::Step { .. });
                let operation = self.test_target(&call.name, "a step", &wanted)?;
                let args = self.test_sent(known, operation, call)?;
                Some(TestLineKind::Lose { operation, args })
            }
            Written::View { call, gives } => {
                let Some(&view) = self.names.views.get(&call.name.text) else {
                    self.test_no_view(&call.name);
                    return None;
                };
                self.known.refer(&call.name, self.design.views[view.index()].span);
                let params = self.design.views[view.index()].params.clone();
                let args = self.test_args(known, &call.name, &params, &call.args, true)?.0;
                let gives = self.view_gives(known, view, gives)?;
                Some(TestLineKind::View { view, args, gives })
            }
            Written::Error => None,
        }
    }

    fn test_no_view(&mut self, name: &Name) {
        let words: Vec<String> = self.design.views.iter().map(|view| view.name.clone()).collect();
        let message = format!("no view is called `{}`", name.text);
        let mut problem = Diagnostic::error("E1101", name.span, message);
        problem = match suggest::did_you_mean(&name.text, words.iter().map(String::as_str)) {
            Some(hint) => problem.help(hint),
            None if self.names.operations.contains_key(&name.text) => problem
                .help(format!("who calls stands before it: `ACTOR PRINCIPAL: {}(…)`", name.text)),
            None if words.is_empty() => problem.help("the design has no views"),
            None => problem.help(format!("there are {}", suggest::list(&words))),
        };
        self.report_missing(&name.text, problem);
    }

    fn test_actor(&mut self, actor: &Name) -> Option<ActorId> {
        if let Some(&id) = self.names.actors.get(&actor.text) {
            self.known.refer(actor, self.design.actors[id.index()].span);
            return Some(id);
        }
        let words: Vec<String> = self.design.actors.iter().map(|it| it.name.clone()).collect();
        let message = format!("no actor is called `{}`", actor.text);
        let mut problem = Diagnostic::error("E1101", actor.span, message);
        problem = match suggest::did_you_mean(&actor.text, words.iter().map(String::as_str)) {
            Some(hint) => problem.help(hint),
            None => problem.help(format!("there are {}", suggest::list(&words))),
        };
        self.report_missing(&actor.text, problem);
        None
    }

    /// Who acts is known by this name from here on.
    fn test_principal(&mut self, known: &mut Known, word: &TestWord, actor: ActorId) -> String {
        let text = word.text().to_string();
        if let TestWord::Word(name) = word {
            let at = self.test_name(known, name, &Type::Actor, false);
            if !known.principals.contains(&(at, actor)) {
                known.principals.push((at, actor));
            }
        }
        text
    }

    /// A word that stands for something: known, or known from here on.
    pub(super) fn test_name(
        &mut self,
        known: &mut Known,
        name: &Name,
        ty: &Type,
        chosen: bool,
    ) -> u32 {
        if let Some(at) = known.find(&name.text) {
            self.known.refer(name, known.names[at as usize].span);
            return at;
        }
        self.known.define(name, DefinitionKind::Local, known.scope);
        self.known.has_type(name.span, ty);
        let (text, ty) = (name.text.clone(), ty.required().clone());
        known.names.push(TestName { name: text, ty, chosen, span: name.span });
        known.names.len() as u32 - 1
    }

    fn test_call(
        &mut self,
        known: &mut Known,
        (actor, principal): (&Name, &TestWord),
        call: &tree::TestCall,
        key: Option<&TestWord>,
        outcome: &tree::TestOutcome,
    ) -> Option<TestCall> {
        let actor_id = self.test_actor(actor);
        if let Some(actor) = actor_id {
            self.test_principal(known, principal, actor);
        }
        let wanted = |kind: &OperationKind| {
            matches!(kind, OperationKind::Step { .. } | OperationKind::Read { .. })
        };
        let id = self.test_target(&call.name, "a step or a read", &wanted)?;
        let actor_id = actor_id?;
        let operation = self.design.operations[id.index()].clone();
        if !self.acts_as(actor_id, operation.actor) {
            let owner = &self.design.actors[operation.actor.index()].name;
            let message = format!(
                "`{}` is an operation of `{owner}`, not of `{}`",
                operation.name, actor.text
            );
            self.report(
                Diagnostic::error("E1101", actor.span, message)
                    .also(operation.head, "declared here")
                    .help(format!("write `{owner} {}: …`", principal.text())),
            );
            return None;
        }
        let (args, chosen) =
            self.test_args(known, &call.name, &operation.params, &call.args, true)?;
        let outcome = self.test_outcome(known, id, outcome, call.name.span)?;
        let repeated = matches!(outcome, TestOutcome::Again | TestOutcome::Mismatch);
        if repeated && key.is_none() {
            let message = "what is repeated has an idempotency key";
            self.report(
                Diagnostic::error("E1105", call.span, message)
                    .help("write the key before the outcome: `… key k1 again`"),
            );
            return None;
        }
        Some(TestCall {
            actor: operation.actor,
            principal: principal.text().to_string(),
            operation: id,
            args,
            chosen,
            key: key.map(|key| key.text().to_string()),
            outcome,
        })
    }

    /// May this actor do what that one may? Whoever continues another does what that one does.
    fn acts_as(&self, actor: ActorId, owner: ActorId) -> bool {
        let mut at = Some(actor);
        while let Some(id) = at {
            if id == owner {
                return true;
            }
            at = self.design.actors[id.index()].continues;
        }
        false
    }

    /// An operation of this kind.
    fn test_target(
        &mut self,
        name: &Name,
        what: &str,
        wanted: &dyn Fn(&OperationKind) -> bool,
    ) -> Option<OperationId> {
        let Some(&id) = self.names.operations.get(&name.text) else {
            let fitting = self.design.operations.iter().filter(|it| wanted(&it.kind));
            let words: Vec<String> = fitting.map(|it| it.name.clone()).collect();
            let message = format!("no operation is called `{}`", name.text);
            let mut problem = Diagnostic::error("E1101", name.span, message);
            problem = match suggest::did_you_mean(&name.text, words.iter().map(String::as_str)) {
                Some(hint) => problem.help(hint),
                None if words.is_empty() => problem.help(format!("the design has not {what}")),
                None => problem.help(format!("there are {}", suggest::list(&words))),
            };
            self.report_missing(&name.text, problem);
            return None;
        };
        self.known.refer(name, self.operation_names[id.index()]);
        let operation = &self.design.operations[id.index()];
        if wanted(&operation.kind) {
            return Some(id);
        }
        let (is, help) = match &operation.kind {
            OperationKind::Repair { .. } => (
                "a repair",
                "a repair runs by itself when it is due: write `after 10m`".to_string(),
            ),
            OperationKind::Effect(_) => {
                ("an effect", format!("say what the world answers: `answer {}(…) ok`", name.text))
            }
            OperationKind::Step { .. } => {
                ("a step", format!("say who calls it: `ACTOR PRINCIPAL: {}(…) ok`", name.text))
            }
            OperationKind::Read { .. } => {
                ("a read", format!("say who calls it: `ACTOR PRINCIPAL: {}(…) gives …`", name.text))
            }
        };
        let message = format!("`{}` is {is}, and {what} is expected here", name.text);
        let head = operation.head;
        self.report(
            Diagnostic::error("E1101", name.span, message).also(head, "declared here").help(help),
        );
        None
    }

    /// The arguments of something that was sent.
    fn test_sent(
        &mut self,
        known: &mut Known,
        id: OperationId,
        call: &tree::TestCall,
    ) -> Option<TestArgs> {
        let params = self.design.operations[id.index()].params.clone();
        let args = self.test_args(known, &call.name, &params, &call.args, false)?.0;
        Some(args)
    }

    /// Each parameter once; what has a default may be left out, and what the server chooses is told by name. Unless it
    /// is `whole`, anything may be left out.
    fn test_args(
        &mut self,
        known: &mut Known,
        callee: &Name,
        params: &[Param],
        written: &[tree::TestArg],
        whole: bool,
    ) -> Option<(TestArgs, TestArgs)> {
        let given = |param: &&Param| param.generated.is_none();
        let mut next = 0;
        let (mut args, mut chosen): (TestArgs, TestArgs) = Default::default();
        let mut sound = true;
        for arg in written {
            let at = match &arg.name {
                Some(name) => params.iter().position(|param| param.name == name.text),
                None => {
                    while params.get(next).is_some_and(|param| !given(&param)) {
                        next += 1;
                    }
                    next += 1;
                    (next <= params.len()).then(|| next - 1)
                }
            };
            let Some(at) = at else {
                self.test_no_param(callee, params, arg);
                sound = false;
                continue;
            };
            let param = &params[at];
            if let Some(name) = &arg.name {
                self.known.refer(name, param.span);
            }
            let at = at as u32;
            if args.iter().chain(&chosen).any(|(taken, _)| *taken == at) {
                let message = format!("`{}` is given twice", param.name);
                self.report(
                    Diagnostic::error("E1102", arg.span, message).help("leave one of them out"),
                );
                sound = false;
                continue;
            }
            let value = match (&param.generated, &arg.value.kind) {
                (Some(_), tree::ExprKind::Name(name)) => {
                    let at = self.test_name(known, name, &param.ty, true);
                    Some(TestValue::Name(at))
                }
                _ => self.test_value(known, &arg.value, &param.ty),
            };
            match value {
                Some(value) if param.generated.is_some() => chosen.push((at, value)),
                Some(value) => args.push((at, value)),
                None => sound = false,
            }
        }
        let lacks = |at: usize, param: &Param| {
            given(&param)
                && param.default.is_none()
                && !param.ty.is_optional()
                && !args.iter().any(|(taken, _)| *taken as usize == at)
        };
        let lacking = params.iter().enumerate().filter(|(at, param)| lacks(*at, param));
        let lacking: Vec<String> = lacking.map(|(_, param)| param.name.clone()).collect();
        if sound && whole && !lacking.is_empty() {
            let message = format!("`{}` also takes {}", callee.text, suggest::list(&lacking));
            let names: Vec<&str> =
                params.iter().filter(given).map(|param| param.name.as_str()).collect();
            self.report(Diagnostic::error("E1102", callee.span, message).help(format!(
                "it takes `{}({})`",
                callee.text,
                names.join(", ")
            )));
            return None;
        }
        sound.then_some((args, chosen))
    }

    fn test_no_param(&mut self, callee: &Name, params: &[Param], arg: &tree::TestArg) {
        let names: Vec<&str> = params.iter().map(|param| param.name.as_str()).collect();
        let takes = format!("it takes `{}({})`", callee.text, names.join(", "));
        let (span, message, help) = match &arg.name {
            Some(name) => {
                let hint = suggest::did_you_mean(&name.text, names.iter().copied());
                let message = format!("`{}` has no parameter `{}`", callee.text, name.text);
                (name.span, message, hint.unwrap_or(takes))
            }
            None => (arg.span, format!("one argument too many for `{}`", callee.text), takes),
        };
        self.report(Diagnostic::error("E1102", span, message).help(help));
    }

    fn test_outcome(
        &mut self,
        known: &mut Known,
        id: OperationId,
        written: &tree::TestOutcome,
        at: Span,
    ) -> Option<TestOutcome> {
        Some(match written {
            tree::TestOutcome::Ok => TestOutcome::Ok,
            tree::TestOutcome::Again => TestOutcome::Again,
            tree::TestOutcome::Mismatch => TestOutcome::Mismatch,
            tree::TestOutcome::Unanswered => TestOutcome::Unanswered,
            tree::TestOutcome::Refused(clause) => {
                let (first, reason) = match clause.text.split_once('.') {
                    Some((first, reason)) => (first, Some(reason)),
                    None => (clause.text.as_str(), None),
                };
                let is_reason = |text: &str| REASONS.contains(&text);
                let by_itself = is_reason(first) && reason.is_none();
                if !by_itself {
                    let first = Name { text: first.to_string(), span: clause.span };
                    self.clause_of(id, &first, "E1104")?;
                }
                if let Some(reason) = reason.filter(|reason| !is_reason(reason)) {
                    let message = format!("`{reason}` is not why a clause cannot be told");
                    let help = format!("it is one of {}", REASONS.join(", "));
                    self.report(Diagnostic::error("E1104", clause.span, message).help(help));
                    return None;
                }
                TestOutcome::Refused(clause.text.clone())
            }
            tree::TestOutcome::Gives(value) => {
                let operation = &self.design.operations[id.index()];
                let OperationKind::Read { result } = &operation.kind else {
                    let message = format!("`{}` is a step, and gives nothing", operation.name);
                    let head = operation.head;
                    self.report(
                        Diagnostic::error("E1105", at, message).also(head, "declared here").help(
                            "write `ok`; what the server chose is told by its parameter: \
                             `open(session: s1) ok`",
                        ),
                    );
                    return None;
                };
                let ty = result.ty.clone();
                TestOutcome::Gives(self.test_given(known, value, &ty)?)
            }
            tree::TestOutcome::Error => return None,
        })
    }

    fn test_answer(
        &mut self,
        known: &mut Known,
        id: OperationId,
        written: &tree::TestAnswer,
        at: Span,
    ) -> Option<TestAnswer> {
        let operation = &self.design.operations[id.index()];
        let OperationKind::Effect(effect) = &operation.kind else { return None };
        let answered = effect.on_ok.param.map(|local| operation.locals[local.index()].ty.clone());
        Some(match (written, answered) {
            (tree::TestAnswer::Ok(None), None) => TestAnswer::Ok(TestValue::Const(Const::Null)),
            (tree::TestAnswer::Ok(None), Some(ty)) if ty.is_optional() => {
                TestAnswer::Ok(TestValue::Const(Const::Null))
            }
            (tree::TestAnswer::Ok(None), Some(ty)) => {
                let ty = self.type_name(&ty);
                let message = format!("the answer carries a `{ty}`");
                self.report(
                    Diagnostic::error("E1105", at, message)
                        .help("write it behind `ok`: `ok VALUE`"),
                );
                return None;
            }
            (tree::TestAnswer::Ok(Some(value)), Some(ty)) => {
                TestAnswer::Ok(self.test_value(known, value, &ty)?)
            }
            (tree::TestAnswer::Ok(Some(value)), None) => {
                let message = "`on ok` of this effect takes no answer";
                self.report(
                    Diagnostic::error("E1105", value.span, message)
                        .help("write `ok` alone, or let the design take it: `on ok(answer: …)`"),
                );
                return None;
            }
            (tree::TestAnswer::Refused, _) => TestAnswer::Refused,
            (tree::TestAnswer::Unknown, _) => TestAnswer::Unknown,
            (tree::TestAnswer::Nothing, _) => TestAnswer::Nothing,
            (tree::TestAnswer::Error, _) => return None,
        })
    }

    /// `expect CONDITION`: what an invariant may say of one state.
    fn test_expect(&mut self, known: &mut Known, written: &tree::Expr) -> Option<TestLineKind> {
        let mut frame = Frame::new(Mode::Invariant, None);
        for name in &known.names {
            let id = frame.bind(&name.name, name.ty.clone());
            frame.declared.push((id, name.span));
        }
        for (at, actor) in &known.principals {
            let (id, actor) = (LocalId::of(*at as usize), self.root_of(*actor));
            frame.scope.push(Entry::Principal { id, actor });
        }
        let body = self.condition(&mut frame, written);
        if body.ty == Type::Error {
            return None;
        }
        let mut queued = false;
        visit::each(&body, &mut |part| {
            if let ExprKind::Quantifier { domain, .. } | ExprKind::Aggregate { domain, .. } =
                &part.kind
            {
                queued |= matches!(**domain, Domain::Messages(_) | Domain::Outbox(_));
            }
        });
        let problem = match (frame.uses_old, queued) {
            (true, _) => Some((
                "`old` has no meaning in a test: one state is looked at",
                "write `expect` before the call as well as behind it",
            )),
            (_, true) => Some((
                "what is on its way is not looked at in a test",
                "say what becomes of it: `answer EFFECT(…) ok`, `deliver STEP(…)`",
            )),
            _ => None,
        };
        if let Some((message, help)) = problem {
            self.report(Diagnostic::error("E1105", written.span, message).help(help));
            return None;
        }
        let known = known.names.len() as u32;
        Some(TestLineKind::Expect(Box::new(Expectation { body, locals: frame.locals, known })))
    }

    fn root_of(&self, actor: ActorId) -> ActorId {
        let mut at = actor;
        while let Some(before) = self.design.actors[at.index()].continues {
            at = before;
        }
        at
    }
}

/// Refusals that are no clause of a guard.
const REASONS: [&str; 14] = [
    "no_such_record",
    "deleted",
    "already_exists",
    "no_parent",
    "empty_key",
    "has_children",
    "nothing",
    "null_value",
    "overflow",
    "division_by_zero",
    "collection_full",
    "out_of_range",
    "range",
    NONE_LEFT,
];
