//! Steps, repairs, effects and reads: heads first, then guards and bodies.

use syntax::tree::{self, Item, ItemKind, OperationBody};
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::frame::{Frame, Mode};
use super::view_parts::PAGE_PARAMS;
use crate::model::*;
use crate::suggest;

/// The server keeps the time of each of so many calls, for each caller.
const RATE_COUNT_MAX: u32 = 1_000;

impl Compiler {
    /// Who offers which operation with which parameters; bodies may refer to any of them.
    pub(super) fn operation_heads(&mut self, items: &[Item]) {
        for item in items {
            let ItemKind::Operation(written) = &item.kind else {
                continue;
            };
            let earlier = self.names.operations.get(&written.name.text);
            let earlier = earlier.map(|id| self.design.operations[id.index()].head);
            if !self.free("operation", &written.name, earlier) {
                continue;
            }
            let hears = self.hears(&written.kind);
            let actor = match hears {
                Some(_) => self.names.actors[tree::EVENT_ACTOR],
                None => self.actor_named(&written.actor),
            };
            let id = OperationId::of(self.design.operations.len());
            self.operation_names.push(written.name.span);
            self.names.operations.insert(written.name.text.clone(), id);
            let (mut params, mut locals) = self.params(&written.params);
            if let OperationBody::Read { paged: Some(paged), .. } = &written.body {
                self.page_params(*paged, &mut params, &mut locals);
            }
            if !matches!(written.kind, tree::OperationKind::Effect) {
                self.digests_are_made_here(&params);
            }
            let kind = match &written.kind {
                tree::OperationKind::Step { keyed } => OperationKind::Step { keyed: *keyed },
                tree::OperationKind::Event { .. } => OperationKind::Step { keyed: false },
                tree::OperationKind::Repair { after, every, batch } => OperationKind::Repair {
                    after: after.as_ref().and_then(|e| self.duration_setting(e)),
                    every: every.as_ref().and_then(|e| self.duration_setting(e)),
                    batch: batch.as_ref().and_then(|e| self.number_setting(e)),
                },
                tree::OperationKind::Effect => OperationKind::Effect(Box::new(Effect {
                    method: String::new(),
                    url: String::new(),
                    key: Vec::new(),
                    body: Vec::new(),
                    sign: None,
                    on_ok: Answer::default(),
                    on_refused: Answer::default(),
                    on_unknown: Answer::default(),
                })),
                tree::OperationKind::Read => {
                    OperationKind::Read { result: super::path::error_expr(written.head) }
                }
            };
            let rate = written.rate.as_ref().and_then(|rate| self.rate(rate));
            self.design.operations.push(Operation {
                kind,
                rate,
                hears,
                each: None,
                actor,
                name: written.name.text.clone(),
                params,
                locals,
                guard: Vec::new(),
                body: Vec::new(),
                memory: Vec::new(),
                span: item.span,
                head: written.head,
            });
        }
        self.infer_memory_subjects(items);
    }

    fn rate(&mut self, written: &tree::Rate) -> Option<Rate> {
        let (count, per) =
            (self.number_setting(&written.count), self.duration_setting(&written.per));
        let rate = Rate { count: count?, per: per? };
        if rate.count > RATE_COUNT_MAX {
            let message = format!("a limit counts at most {RATE_COUNT_MAX} calls");
            let help = "take a shorter time with fewer calls: `limit 100 per 1s per me`";
            self.report(Diagnostic::error("E0301", written.count.span, message).help(help));
            return None;
        }
        if rate.per <= 0 {
            let message = "a limit counts the calls of some time";
            let help = "for example `limit 5 per 1m per me`";
            self.report(Diagnostic::error("E0301", written.per.span, message).help(help));
            return None;
        }
        Some(rate)
    }

    pub(super) fn params(&mut self, written: &[tree::Param]) -> (Vec<Param>, Vec<Local>) {
        let mut params: Vec<Param> = Vec::new();
        let mut locals = Vec::new();
        for param in written {
            let earlier =
                params.iter().find(|known| known.name == param.name.text).map(|known| known.span);
            if !self.free("parameter", &param.name, earlier) {
                continue;
            }
            let taken = match &param.ty.kind {
                tree::TypeKind::AnyOf(view, args) => Some(self.taken(view, args, param, &params)),
                _ => None,
            };
            let (ty, range) = match &taken {
                Some((ty, _)) => (ty.clone(), None),
                None => self.ranged_type(&param.ty, &param.name.text),
            };
            if param.new && !matches!(ty, Type::Ref(_) | Type::Error) {
                let name = self.type_name(&ty);
                self.report(
                    Diagnostic::error(
                        "E0208",
                        param.ty.span,
                        format!("`new` makes a record of a subject, and `{name}` is none"),
                    )
                    .help("leave `new` out, or name a subject"),
                );
            }
            let default = param.default.as_ref().and_then(|default| self.constant(default, &ty));
            let generated = param.generated.as_ref();
            let generated = match taken {
                Some((_, next)) => next.map(Generated::Next),
                None => generated.and_then(|written| self.generated(written, param, &ty)),
            };
            if let (Some(value), Some(written)) = (&default, &param.default) {
                self.within(value, &ty, range, written.span);
            }
            self.known.has_type(param.name.span, &ty);
            let local = LocalId::of(locals.len());
            locals.push(Local { name: param.name.text.clone(), ty: ty.clone() });
            params.push(Param {
                name: param.name.text.clone(),
                new: param.new && matches!(ty, Type::Ref(_)),
                ty,
                range,
                default,
                from_caller: param.from_caller.is_some(),
                generated,
                local,
                span: param.span,
            });
        }
        (params, locals)
    }

    /// Subjects that some step makes are there only once they were made.
    pub(super) fn find_made_subjects(&mut self, items: &[Item]) {
        for operation in &self.design.operations {
            for param in &operation.params {
                if let (true, Type::Ref(subject)) = (param.new, &param.ty) {
                    self.made.insert(*subject);
                }
            }
        }
        for item in items {
            let ItemKind::Operation(written) = &item.kind else {
                continue;
            };
            match &written.body {
                OperationBody::Statements(block) => self.made_in(block),
                OperationBody::Effect(effect) => {
                    for answer in &effect.answers {
                        self.made_in(&answer.body);
                    }
                }
                _ => {}
            }
        }
        for (at, subject) in self.design.subjects.iter_mut().enumerate() {
            subject.implicit = !self.made.contains(&SubjectId::of(at));
        }
    }

    fn made_in(&mut self, block: &tree::Block) {
        for statement in &block.statements {
            match &statement.kind {
                tree::StmtKind::New { subject, .. } => {
                    if let Some(id) = self.names.subjects.get(&subject.text) {
                        self.made.insert(*id);
                    }
                }
                tree::StmtKind::For { body, .. } => self.made_in(body),
                tree::StmtKind::If { then, otherwise, .. } => {
                    self.made_in(then);
                    if let Some(otherwise) = otherwise {
                        self.made_in(otherwise);
                    }
                }
                _ => {}
            }
        }
    }

    pub(super) fn operations(&mut self, items: &[Item]) {
        for item in items {
            let ItemKind::Operation(written) = &item.kind else {
                continue;
            };
            let Some(&id) = self.names.operations.get(&written.name.text) else {
                continue;
            };
            if self.design.operations[id.index()].head == written.head {
                self.operation(id, written);
            }
        }
    }

    fn operation(&mut self, id: OperationId, written: &tree::OperationItem) {
        let known = &self.design.operations[id.index()];
        // repairs and answers of effects act for the engine: nobody calls
        let caller = match known.kind {
            OperationKind::Step { .. } | OperationKind::Read { .. } => Some(known.actor),
            _ => None,
        };
        let mut frame = Frame::new(Mode::Guard, caller);
        let params = known.params.clone();
        let paged = matches!(written.body, OperationBody::Read { paged: Some(_), .. });
        // where a page begins and ends is nobody's to ask: no name reaches that
        let given = params.len() - if paged { PAGE_PARAMS.len() } else { 0 };
        frame.bind_params(&params[..given]);
        for param in &params[given..] {
            frame.slot(&param.name, param.ty.clone());
        }
        let guard = self.guard(&mut frame, &written.guard);
        self.no_implicit_name(id, &guard);
        let body = match &written.body {
            OperationBody::Statements(block) => {
                frame.mode = Mode::Effect;
                self.block(&mut frame, block)
            }
            OperationBody::Effect(effect) => {
                let effect = self.effect(&mut frame, effect, written.head, &params);
                self.design.operations[id.index()].kind = OperationKind::Effect(Box::new(effect));
                Vec::new()
            }
            OperationBody::Read { result, paged, memory } => {
                frame.mode = Mode::Read;
                let mut result = self.expr(&mut frame, result, None);
                if let Some(paged) = paged {
                    let (from, size) = (&params[given], &params[given + 1]);
                    let page = [size, from].map(|it| frame.local(it.local, *paged));
                    self.in_pages(&mut result, page, *paged);
                }
                if result.ty == Type::Null {
                    self.report(
                        Diagnostic::error(
                            "E0301",
                            result.span,
                            "a read that answers `null` says nothing",
                        )
                        .help("answer with a state or one of its values"),
                    );
                }
                self.design.operations[id.index()].kind = OperationKind::Read { result };
                frame.mode = Mode::Effect;
                let body = self.block(&mut frame, memory);
                self.reads_change_nothing(&body);
                body
            }
            OperationBody::Missing => Vec::new(),
        };
        let operation = &mut self.design.operations[id.index()];
        operation.guard = guard;
        operation.body = body;
        operation.locals = frame.locals;
        operation.memory = frame.memory;
        self.add_found_each(id);
    }

    fn reads_change_nothing(&mut self, body: &[Stmt]) {
        // what an unknown actor would remember may have the name of an attribute
        if self.diagnostics.iter().any(|known| known.code == "E0205") {
            return;
        }
        for statement in body {
            let memory = matches!(
                statement.kind,
                StmtKind::Assign { target: Target::Memory(_), .. } | StmtKind::Let { .. }
            );
            if !memory {
                self.report(
                    Diagnostic::error("E0413", statement.span, "a `read` changes nothing")
                        .help("make it a `step`; a read may only hand memory to its actor"),
                );
            }
        }
    }

    pub(super) fn guard(&mut self, frame: &mut Frame, clauses: &[tree::Clause]) -> Vec<Clause> {
        let mut guard: Vec<Clause> = Vec::new();
        for (at, clause) in clauses.iter().enumerate() {
            let name = match &clause.name {
                Some(name) => name.text.clone(),
                None if clauses.len() == 1 => "guard".into(),
                None => format!("guard{}", at + 1),
            };
            let span = clause.name.as_ref().map_or(clause.span, |name| name.span);
            if matches!(name.as_str(), "exists" | "fresh" | "range") {
                self.report(
                    Diagnostic::error(
                        "E0213",
                        span,
                        format!("`{name}` is the name of a clause that every step has"),
                    )
                    .help("choose another name for this one"),
                );
            }
            if let Some(earlier) = guard.iter().find(|known| known.name == name) {
                let earlier = earlier.span;
                self.report(
                    Diagnostic::error("E0202", span, format!("two clauses are called `{name}`"))
                        .also(earlier, "the first one")
                        .help("rename one of them: a refusal names the clause that failed"),
                );
            }
            let body = self.condition(frame, &clause.body);
            guard.push(Clause { name, body, span: clause.span });
        }
        guard
    }

    /// A step of an actor that is apart from another may be refused by `apart`, and one that takes by `none_left`.
    fn no_implicit_name(&mut self, id: OperationId, guard: &[Clause]) {
        let operation = &self.design.operations[id.index()];
        if operation.takes().is_some() {
            for clause in guard.iter().filter(|clause| clause.name == NONE_LEFT) {
                let message = format!("`{NONE_LEFT}` is the refusal of every step that takes");
                self.report(
                    Diagnostic::error("E0213", clause.span, message)
                        .help("choose another name for this one"),
                );
            }
        }
        let operation = &self.design.operations[id.index()];
        let actor = &self.design.actors[operation.actor.index()];
        if !matches!(operation.kind, OperationKind::Step { .. }) || actor.apart.is_empty() {
            return;
        }
        let name = actor.name.clone();
        for clause in guard.iter().filter(|clause| clause.name == "apart") {
            self.report(
                Diagnostic::error(
                    "E0213",
                    clause.span,
                    format!("`apart` is the name of a clause that every step of `{name}` has"),
                )
                .help("choose another name for this one"),
            );
        }
    }

    pub(super) fn operation_named(&mut self, name: &tree::Name) -> Option<OperationId> {
        if let Some(id) = self.names.operations.get(&name.text) {
            self.known.refer(name, self.operation_names[id.index()]);
            return Some(*id);
        }
        let words: Vec<String> =
            self.design.operations.iter().map(|operation| operation.name.clone()).collect();
        self.no_operation(name.span, &name.text, &words);
        None
    }

    pub(super) fn no_operation(&mut self, span: Span, name: &str, words: &[String]) {
        let mut problem = Diagnostic::error("E0207", span, format!("no operation `{name}`"));
        problem = match suggest::did_you_mean(name, words.iter().map(String::as_str)) {
            Some(hint) => problem.help(hint),
            None => problem.help(format!("there are {}", suggest::list(words))),
        };
        self.report_missing(name, problem);
    }
}
