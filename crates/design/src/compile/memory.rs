//! What an actor remembers, used in one of its operations.

use syntax::Diagnostic;
use syntax::tree::Name;

use super::Compiler;
use super::frame::{Frame, Mode};
use super::path::Found;
use crate::model::*;

impl Compiler {
    /// A field of the acting actor's memory: `my_epoch`, or `victim.my_epoch` with `of`.
    pub(super) fn memory(
        &mut self,
        frame: &mut Frame,
        name: &Name,
        of: Option<LocalId>,
    ) -> Option<Found> {
        let used = self.memory_use(frame, name, of, false)?;
        let Some(used) = used else {
            return Some(Found::Nothing);
        };
        let memory = &frame.memory[used.index()];
        let field = &self.design.actors[memory.actor.index()].memory[memory.field.index()];
        Some(Found::Value(Expr {
            kind: ExprKind::Memory(used),
            ty: field.ty.clone(),
            span: name.span,
        }))
    }

    /// None: no such field. Some(None): there is one, but it cannot be used here (reported).
    pub(super) fn memory_use(
        &mut self,
        frame: &mut Frame,
        name: &Name,
        of: Option<LocalId>,
        write: bool,
    ) -> Option<Option<MemoryUseId>> {
        let Some(actor) = frame.actor else {
            let acts = matches!(frame.mode, Mode::Guard | Mode::Effect | Mode::Call);
            if of.is_none() && acts && !self.is_param_attribute(frame, name) {
                return self.anybody_remembers(name).then(|| {
                    let problem = Diagnostic::error(
                        "E0505",
                        name.span,
                        format!("nobody calls here, so nobody remembers `{}`", name.text),
                    )
                    .help("repairs and effects read truth; fence with what is stored");
                    self.report_missing(&name.text, problem);
                    None
                });
            }
            return None;
        };
        let root = self.root_actor(actor);
        let Some(field) = self.names.memory_of(root, &name.text) else {
            return self.foreign_memory(frame, actor, name, of);
        };
        if self.is_of_nothing(root, field) {
            return Some(None);
        }
        let memory = self.design.actors[root.index()].memory[field.index()].clone();
        let of = match (of, memory.of) {
            (Some(local), Some(subject)) => {
                let ty = &frame.locals[local.index()].ty;
                if ty.subject() != Some(subject) {
                    return None;
                }
                Some(local)
            }
            (Some(_), None) => return None,
            (None, None) => None,
            (None, Some(subject)) => {
                let fitting: Vec<LocalId> = frame
                    .params
                    .iter()
                    .filter(|(_, known)| *known == subject)
                    .map(|(local, _)| *local)
                    .collect();
                match fitting.as_slice() {
                    [one] => Some(*one),
                    [] if self.something_is_missing() => return Some(None),
                    [] => {
                        let subject = &self.design.subjects[subject.index()].name;
                        let message = format!(
                            "`{}` is remembered of a `{subject}`, and this has none",
                            name.text
                        );
                        let help = format!("take one as a parameter: `r: {subject}`");
                        let problem = Diagnostic::error("E0502", name.span, message).help(help);
                        self.report_missing(&name.text, problem);
                        return Some(None);
                    }
                    several => {
                        let choices: Vec<String> = several
                            .iter()
                            .map(|id| format!("{}.{}", frame.locals[id.index()].name, name.text))
                            .collect();
                        self.ambiguous(name.span, &name.text, &choices);
                        return Some(None);
                    }
                }
            }
        };
        self.known.refer(name, memory.span);
        let known = frame.memory.iter().position(|used| used.field == field && used.of == of);
        let at = known.unwrap_or_else(|| {
            frame.memory.push(MemoryUse { actor: root, field, of, read: false, written: false });
            frame.memory.len() - 1
        });
        if write {
            frame.memory[at].written = true;
        } else {
            frame.memory[at].read = true;
        }
        Some(Some(MemoryUseId::of(at)))
    }

    fn anybody_remembers(&self, name: &Name) -> bool {
        self.names.memory.contains_key(&name.text)
    }

    /// Is an attribute of that name in reach, so that this is meant?
    fn is_param_attribute(&self, frame: &Frame, name: &Name) -> bool {
        frame
            .params
            .iter()
            .any(|(_, subject)| !self.names.attribute(*subject, &name.text).is_empty())
    }

    fn foreign_memory(
        &mut self,
        frame: &mut Frame,
        actor: ActorId,
        name: &Name,
        of: Option<LocalId>,
    ) -> Option<Option<MemoryUseId>> {
        let (owner, _) = *self.names.memory.get(&name.text)?.first()?;
        let owner = &self.design.actors[owner.index()];
        if of.is_some() || self.is_param_attribute(frame, name) {
            return None; // an attribute of that name is meant
        }
        if self.is_invented(actor) {
            return Some(None);
        }
        let (owner, span) = (owner.name.clone(), owner.span);
        let actor = self.design.actors[actor.index()].name.clone();
        let problem = Diagnostic::error(
            "E0501",
            name.span,
            format!("`{}` is remembered by `{owner}`, not by `{actor}`", name.text),
        )
        .also(span, "remembered here")
        .help(format!("let it go on from there: `actor {actor} continues {owner}`"));
        self.report_missing(&format!("{actor}.{}", name.text), problem);
        Some(None)
    }

    /// A memory that does not say which subject it belongs to: the one whose record its value is
    /// taken from, found when it is first assigned.
    pub(super) fn infer_memory_subjects(&mut self, items: &[syntax::tree::Item]) {
        use syntax::tree::{ItemKind, OperationBody};
        for item in items {
            let ItemKind::Operation(operation) = &item.kind else {
                continue;
            };
            let Some(&actor) = self.names.actors.get(&operation.actor.text) else {
                continue;
            };
            let Some(&id) = self.names.operations.get(&operation.name.text) else {
                continue;
            };
            let body = match &operation.body {
                OperationBody::Statements(block) => block,
                OperationBody::Read { memory, .. } => memory,
                _ => continue,
            };
            let root = self.root_actor(actor);
            let params: Vec<(String, SubjectId)> = self.design.operations[id.index()]
                .params
                .iter()
                .filter_map(|param| Some((param.name.clone(), param.ty.subject()?)))
                .collect();
            self.infer_in_block(body, root, &params);
        }
    }

    fn infer_in_block(
        &mut self,
        block: &syntax::tree::Block,
        root: ActorId,
        params: &[(String, SubjectId)],
    ) {
        use syntax::tree::{ExprKind, StmtKind};
        for statement in &block.statements {
            match &statement.kind {
                StmtKind::Assign { target, value, .. } => {
                    let ExprKind::Name(name) = &target.kind else {
                        continue;
                    };
                    let Some(field) = self.names.memory_of(root, &name.text).filter(|field| {
                        let memory = &self.design.actors[root.index()].memory;
                        memory[field.index()].of.is_none() && !self.is_of_nothing(root, *field)
                    }) else {
                        continue;
                    };
                    let from = first_word(value)
                        .and_then(|word| {
                            params
                                .iter()
                                .find(|(name, subject)| {
                                    *name == word
                                        || self.names.state(*subject, &word).is_some()
                                        || !self.names.attribute(*subject, &word).is_empty()
                                })
                                .map(|(_, subject)| *subject)
                        })
                        .or(match params {
                            [(_, only)] => Some(*only),
                            _ => None,
                        });
                    self.design.actors[root.index()].memory[field.index()].of = from;
                }
                StmtKind::If { then, otherwise, .. } => {
                    self.infer_in_block(then, root, params);
                    if let Some(otherwise) = otherwise {
                        self.infer_in_block(otherwise, root, params);
                    }
                }
                StmtKind::For { body, .. } => self.infer_in_block(body, root, params),
                _ => {}
            }
        }
    }
}

/// `OwnerEpoch` of `OwnerEpoch.current + 1`.
fn first_word(value: &syntax::tree::Expr) -> Option<String> {
    use syntax::tree::ExprKind;
    match &value.kind {
        ExprKind::Name(name) => Some(name.text.clone()),
        ExprKind::Field { base, .. } | ExprKind::Index { base, .. } => first_word(base),
        ExprKind::Binary { left, right, .. } => first_word(left).or_else(|| first_word(right)),
        ExprKind::If { then, .. } => first_word(then),
        _ => None,
    }
}
