//! Failures: what each protection prevents.

use syntax::tree::{self, FailureProofKind, Item, ItemKind, WithoutKind};
use syntax::{Diagnostic, Span};

use super::frame::{Frame, Mode};
use super::literal::fold;
use super::{Compiler, analyse};
use crate::model::visit::{each_statement, same};
use crate::model::*;
use crate::suggest;

impl Compiler {
    pub(super) fn failures(&mut self, items: &[Item]) {
        for item in items {
            let ItemKind::Failure(written) = &item.kind else {
                continue;
            };
            let title = &written.title;
            if let Some(earlier) =
                self.design.failures.iter().find(|known| known.title == title.value)
            {
                let span = earlier.span;
                self.report(
                    Diagnostic::error(
                        "E0202",
                        title.span,
                        format!("the failure \"{}\" is named twice", title.value),
                    )
                    .also(span, "first named here")
                    .help("one failure may have several proofs in one pair of braces"),
                );
                continue;
            }
            if written.proofs.is_empty() {
                self.report(
                    Diagnostic::error("E0612", title.span, "nothing is said of this failure")
                        .help("for example `{ without step.clause breaks invariant }`"),
                );
            }
            let proofs =
                written.proofs.iter().filter_map(|proof| self.proof(proof, items)).collect();
            self.design.failures.push(Failure {
                title: title.value.clone(),
                proofs,
                span: title.span,
            });
        }
    }

    fn proof(&mut self, written: &tree::FailureProof, items: &[Item]) -> Option<FailureProof> {
        let span = written.span;
        match &written.kind {
            FailureProofKind::Without { targets, breaks, in_depth } => {
                let protections: Vec<Protection> =
                    targets.iter().filter_map(|target| self.protection(target)).collect();
                let goal = self.goal_named(breaks)?;
                if protections.len() != targets.len() {
                    return None;
                }
                Some(FailureProof::Without { protections, breaks: goal, in_depth: *in_depth, span })
            }
            FailureProofKind::Compiler { code, items: snippet } => {
                if !self.nested {
                    self.must_not_compile(code, snippet, items);
                }
                Some(FailureProof::Compiler { code: code.text.clone(), span })
            }
            FailureProofKind::Measured { value, above } => {
                let mut frame = Frame::new(Mode::Measured, None);
                let value = self.expr(&mut frame, value, None);
                let above = self.expr(&mut frame, above, Some(&value.ty));
                let limit = fold(&above);
                if !matches!(value.ty, Type::Error)
                    && self.demand(above.clone(), value.ty.required()).is_none()
                {
                    return None;
                }
                if value.ty != Type::Error && !value.ty.is_ordered() {
                    let ty = self.type_name(&value.ty);
                    self.report(
                        Diagnostic::error("E0302", value.span, format!("`{ty}` is not a quantity"))
                            .help("measure a number or a duration"),
                    );
                    return None;
                }
                let Some(limit) = limit else {
                    if above.ty != Type::Error {
                        self.report(
                            Diagnostic::error("E0310", above.span, "the limit is a constant")
                                .help("for example `above 1000` or `above 30s`"),
                        );
                    }
                    return None;
                };
                Some(FailureProof::Measured { value, locals: frame.locals, above: limit, span })
            }
            FailureProofKind::Error => None,
        }
    }

    pub(super) fn goal_named(&mut self, name: &tree::Name) -> Option<Goal> {
        if let Some(declared) = self.names.goals.get(&name.text) {
            self.known.refer(name, *declared);
        }
        let at = |goals: &[Invariant]| goals.iter().position(|goal| goal.name == name.text);
        if let Some(at) = at(&self.design.invariants) {
            return Some(Goal::Invariant(at as u32));
        }
        if let Some(at) = at(&self.design.recoveries) {
            return Some(Goal::Recovery(at as u32));
        }
        if let Some(at) = self.design.leads.iter().position(|held| held.goal.name == name.text) {
            return Some(Goal::LeadsTo(at as u32));
        }
        if self.names.goals.contains_key(&name.text) {
            return None; // it had an error of its own
        }
        let words: Vec<String> = self.names.goals.keys().cloned().collect();
        let mut problem =
            Diagnostic::error("E0605", name.span, format!("no goal is called `{}`", name.text));
        problem = match suggest::did_you_mean(&name.text, words.iter().map(String::as_str)) {
            Some(hint) => problem.help(hint),
            None => {
                let mut words = words;
                words.sort();
                problem.help(format!("there are {}", suggest::list(&words)))
            }
        };
        self.report_missing(&name.text, problem);
        None
    }

    fn protection(&mut self, written: &tree::WithoutTarget) -> Option<Protection> {
        match &written.kind {
            WithoutKind::Clause { operation, clause } => {
                let id = self.operation_named(operation)?;
                let clause = self.clause_of(id, clause, "E0604")?;
                Some(Protection::Clause { operation: id, clause })
            }
            WithoutKind::Repair { name } => {
                let id = self.operation_named(name)?;
                if !matches!(self.design.operations[id.index()].kind, OperationKind::Repair { .. })
                {
                    self.wrong_protection(name.span, &name.text, "a repair");
                    return None;
                }
                Some(Protection::Repair { operation: id })
            }
            WithoutKind::Assignment { operation, target } => {
                let id = self.operation_named(operation)?;
                let statements = self.assignments(id, target);
                if statements.is_empty() {
                    if self.is_broken(&operation.text) {
                        return None;
                    }
                    let text = self.text(target.span);
                    self.report(
                        Diagnostic::error(
                            "E0606",
                            target.span,
                            format!("`{}` does not assign `{text}`", operation.text),
                        )
                        .help("write the target as it stands in the step"),
                    );
                    return None;
                }
                Some(Protection::Assignment { operation: id, statements })
            }
            WithoutKind::Outbox { operation } => {
                let id = self.operation_named(operation)?;
                let mut sends = false;
                let operations = &self.design.operations;
                each_statement(&operations[id.index()].body, &mut |statement| {
                    if let StmtKind::Send { operation, .. } = &statement.kind {
                        let to = &operations[operation.index()];
                        sends |= matches!(to.kind, OperationKind::Effect(_)) || to.each.is_some();
                    }
                });
                if !sends {
                    self.wrong_protection(
                        operation.span,
                        &operation.text,
                        "a step that sends an effect",
                    );
                    return None;
                }
                Some(Protection::Outbox { operation: id })
            }
            WithoutKind::Key { operation } => {
                let id = self.operation_named(operation)?;
                if !matches!(self.design.operations[id.index()].kind, OperationKind::Effect(_)) {
                    self.wrong_protection(operation.span, &operation.text, "an effect");
                    return None;
                }
                Some(Protection::Key { operation: id })
            }
            WithoutKind::AtLeast { operation } => {
                let id = self.operation_named(operation)?;
                if !matches!(self.design.operations[id.index()].kind, OperationKind::Read { .. }) {
                    self.wrong_protection(operation.span, &operation.text, "a read");
                    return None;
                }
                Some(Protection::AtLeast { operation: id })
            }
            WithoutKind::Keyed { operation } => {
                let id = self.operation_named(operation)?;
                let kind = &self.design.operations[id.index()].kind;
                if !matches!(kind, OperationKind::Step { keyed: true }) {
                    self.wrong_protection(operation.span, &operation.text, "a `keyed` step");
                    return None;
                }
                Some(Protection::Keyed { operation: id })
            }
        }
    }

    /// Has the operation an error inside, so that what it does is not known in full?
    fn is_broken(&self, name: &str) -> bool {
        let known = self.names.operations.get(name);
        known.is_some_and(|id| {
            let operation = &self.design.operations[id.index()];
            self.has_error_in(operation.span)
                || operation.params.iter().any(|param| param.ty == Type::Error)
        })
    }

    fn wrong_protection(&mut self, span: Span, name: &str, wanted: &str) {
        if self.is_broken(name) {
            return;
        }
        self.report(Diagnostic::error("E0606", span, format!("`{name}` is not {wanted}")).help(
            "what can be taken away: `step.clause`, `repair NAME`, `assignment step.target`, \
                 `outbox of STEP`, `key of EFFECT`, `at_least of READ`, `keyed of STEP`",
        ));
    }

    /// The statements of an operation that assign this target.
    fn assignments(&mut self, id: OperationId, target: &tree::Expr) -> Vec<StmtId> {
        let operation = self.design.operations[id.index()].clone();
        let mut frame = Frame::new(Mode::Effect, Some(operation.actor));
        frame.bind_params(&operation.params);
        frame.memory = operation.memory.clone();
        let wanted = self.expr(&mut frame, target, None);
        let mut found = Vec::new();
        each_statement(&operation.body, &mut |statement| {
            let StmtKind::Assign { target, .. } = &statement.kind else {
                return;
            };
            let hit = match (target, &wanted.kind) {
                (
                    Target::Attr { base, attr },
                    ExprKind::Attr { base: wanted, attr: wanted_attr },
                ) => attr == wanted_attr && same(base, wanted),
                (Target::Memory(used), ExprKind::Memory(wanted)) => used == wanted,
                _ => false,
            };
            if hit {
                found.push(statement.id);
            }
        });
        found
    }

    /// The snippet, added to the design, must give this very error.
    fn must_not_compile(&mut self, code: &tree::Name, snippet: &[Item], items: &[Item]) {
        let mut all: Vec<Item> = items.to_vec();
        all.extend(snippet.iter().cloned());
        let outcome = analyse(&all, self.sources.clone(), super::Reading::Nested);
        let inside = |span: Span| {
            snippet.iter().any(|item| {
                item.span.file == span.file
                    && item.span.start <= span.start
                    && span.end <= item.span.end
            })
        };
        let errors = outcome.diagnostics.iter().filter(|problem| problem.is_error());
        let (problems, elsewhere): (Vec<&Diagnostic>, Vec<&Diagnostic>) =
            errors.partition(|problem| inside(problem.primary.span));
        if problems.iter().any(|problem| problem.code == code.text) {
            return;
        }
        // what the design lacks is told where it is missed; what the snippet would give without that is not known
        if !elsewhere.is_empty() {
            return;
        }
        let mut problem = Diagnostic::error(
            "E0607",
            code.span,
            match problems.first() {
                None => format!("this compiles, so `{}` does not prevent it", code.text),
                Some(other) => {
                    format!("this fails with `{}`, not with `{}`", other.code, code.text)
                }
            },
        );
        if let Some(other) = problems.first() {
            problem = problem.also(other.primary.span, other.message.clone());
        }
        self.report(problem.help("`steadfast error CODE` says what each code stands for"));
    }
}
