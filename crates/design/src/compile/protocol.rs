//! Protocols: paths through the operations.

use syntax::Diagnostic;
use syntax::tree::{self, Item, ItemKind};

use super::Compiler;
use super::frame::{Frame, Mode};
use crate::model::visit::same;
use crate::model::*;
use crate::suggest;

const OUTCOMES: [&str; 11] = [
    "done",
    "retry",
    "requeue",
    "reclaim",
    "rollback",
    "republish",
    "rebalance",
    "refresh",
    "replay",
    "accepted",
    "repaired",
];

impl Compiler {
    pub(super) fn protocols(&mut self, items: &[Item]) {
        for item in items {
            let ItemKind::Protocol(written) = &item.kind else {
                continue;
            };
            let earlier = self
                .design
                .protocols
                .iter()
                .find(|known| known.name == written.name.text)
                .map(|known| known.span);
            if !self.free("protocol", &written.name, earlier) {
                continue;
            }
            let paths = written.paths.iter().map(|path| self.protocol_path(path)).collect();
            self.design.protocols.push(Protocol {
                name: written.name.text.clone(),
                paths,
                span: written.name.span,
            });
        }
    }

    fn protocol_path(&mut self, written: &tree::Path) -> Path {
        let steps = written.steps.iter().filter_map(|step| self.path_step(step)).collect();
        let outcome = written.outcome.as_ref().map(|outcome| {
            if !OUTCOMES.contains(&outcome.text.as_str()) {
                let mut problem = Diagnostic::error(
                    "E0603",
                    outcome.span,
                    format!("`{}` is not an outcome", outcome.text),
                );
                problem = match suggest::did_you_mean(&outcome.text, OUTCOMES) {
                    Some(hint) => problem.help(hint),
                    None => problem.help(format!("the outcomes are {}", OUTCOMES.join(", "))),
                };
                self.report(problem);
            }
            outcome.text.clone()
        });
        let branches = written.branches.iter().map(|branch| self.protocol_path(branch)).collect();
        Path { steps, outcome, branches, span: written.span }
    }

    fn path_step(&mut self, written: &tree::PathStep) -> Option<PathStep> {
        let Some(&id) = self.names.operations.get(&written.operation.text) else {
            let words: Vec<String> =
                self.design.operations.iter().map(|operation| operation.name.clone()).collect();
            let mut problem = Diagnostic::error(
                "E0601",
                written.operation.span,
                format!("no operation `{}`", written.operation.text),
            );
            problem = match suggest::did_you_mean(
                &written.operation.text,
                words.iter().map(String::as_str),
            ) {
                Some(hint) => problem.help(hint),
                None => problem.help(format!(
                    "write it: `step {}[{}(…) {{ … }}] {{ … }}`",
                    written.actor.text, written.operation.text
                )),
            };
            self.report_missing(&written.operation.text, problem);
            return None;
        };
        self.known.refer(&written.operation, self.operation_names[id.index()]);
        let operation = &self.design.operations[id.index()];
        if let Some(actor) = self.names.actors.get(&written.actor.text) {
            self.known.refer(&written.actor, self.design.actors[actor.index()].span);
        }
        let owner = self.design.actors[operation.actor.index()].name.clone();
        if owner != written.actor.text && !self.is_invented(operation.actor) {
            let head = operation.head;
            self.report(
                Diagnostic::error(
                    "E0601",
                    written.actor.span,
                    format!(
                        "`{}` is an operation of `{owner}`, not of `{}`",
                        written.operation.text, written.actor.text
                    ),
                )
                .also(head, "declared here")
                .help(format!("`{owner}[{}]`", written.operation.text)),
            );
        }
        if !written.guard.is_empty() {
            self.restated(id, &written.guard);
        }
        let refused =
            written.refused.as_ref().and_then(|clause| self.clause_of(id, clause, "E0602"));
        Some(PathStep { operation: id, refused, span: written.span })
    }

    /// A guard in a protocol says again what the step says.
    fn restated(&mut self, id: OperationId, clauses: &[tree::Clause]) {
        let operation = self.design.operations[id.index()].clone();
        let mut frame = Frame::new(Mode::Guard, Some(operation.actor));
        frame.bind_params(&operation.params);
        frame.memory = operation.memory.clone();
        let said = self.diagnostics.len();
        let parts = self.guard(&mut frame, clauses);
        if self.diagnostics.len() > said {
            return;
        }
        let mut known: Vec<&Expr> = Vec::new();
        for clause in &operation.guard {
            conjuncts(&clause.body, &mut known);
        }
        for part in &parts {
            let mut pieces = Vec::new();
            conjuncts(&part.body, &mut pieces);
            for piece in pieces {
                if !known.iter().any(|clause| same(clause, piece)) {
                    self.report(
                        Diagnostic::error(
                            "E0608",
                            piece.span,
                            format!("the guard of `{}` does not say this", operation.name),
                        )
                        .also(operation.head, "what it says is here")
                        .help("leave the guard out of the protocol, or write it as it is there"),
                    );
                }
            }
        }
    }

    /// A clause of an operation by its name, the implicit ones included.
    pub(super) fn clause_of(
        &mut self,
        id: OperationId,
        clause: &tree::Name,
        code: &'static str,
    ) -> Option<ClauseRef> {
        let operation = &self.design.operations[id.index()];
        if let Some(at) = operation.guard.iter().position(|known| known.name == clause.text) {
            self.known.refer(clause, operation.guard[at].span);
            return Some(ClauseRef::Named(at as u32));
        }
        match clause.text.as_str() {
            "exists" if self.design.has_exists(operation) => return Some(ClauseRef::Exists),
            "fresh" if operation.params.iter().any(|param| param.new) => {
                return Some(ClauseRef::Fresh);
            }
            // what it takes is not known, and was reported
            "exists" | "fresh" if operation.params.iter().any(|param| param.ty == Type::Error) => {
                return None;
            }
            _ => {}
        }
        let words: Vec<String> = operation.guard.iter().map(|c| c.name.clone()).collect();
        let head = operation.head;
        let mut problem = Diagnostic::error(
            code,
            clause.span,
            format!("`{}` has no clause `{}`", operation.name, clause.text),
        )
        .also(head, "its guard is here");
        problem = match suggest::did_you_mean(&clause.text, words.iter().map(String::as_str)) {
            Some(hint) => problem.help(hint),
            None if words.is_empty() => problem.help("it has no guard"),
            None => problem.help(format!("its clauses are {}", suggest::list(&words))),
        };
        self.report(problem);
        None
    }
}

fn conjuncts<'e>(value: &'e Expr, parts: &mut Vec<&'e Expr>) {
    match &value.kind {
        ExprKind::And(inner) => inner.iter().for_each(|part| conjuncts(part, parts)),
        _ => parts.push(value),
    }
}
