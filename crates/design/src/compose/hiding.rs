//! What is not taken over from an archetype: its header, hidden operations, goals that are left out, and whatever
//! speaks of them.

use syntax::tree::{
    ExprKind, FailureItem, FailureProof, FailureProofKind, Item, ItemKind, Name, OperationBody,
    OperationKind, Path, Stmt, StmtKind, UseChangeKind, UseItem, WithoutKind, WithoutTarget,
};
use syntax::{Diagnostic, Span};

use super::flat::{Edit, Flat};
use super::{Composer, Part};

impl Composer<'_> {
    /// Takes away what is not taken over.
    pub(super) fn left_out(
        &mut self,
        items: &[Item],
        part: &mut Part,
        flat: &Flat,
        used: &UseItem,
    ) -> Vec<Edit> {
        let hidden = part.used.hidden.clone();
        let hides = |name: &Name| hidden.contains(&name.text);
        let goals: Vec<String> = part.used.left_out.iter().map(|left| left.goal.clone()).collect();
        let mut gone = Vec::new();
        for item in items {
            match &item.kind {
                ItemKind::Archetype { .. }
                | ItemKind::Design { .. }
                | ItemKind::Header { .. }
                | ItemKind::Test(_)
                | ItemKind::Check(_) => gone.push(item.span),
                ItemKind::Operation(operation) if hides(&operation.name) => {
                    gone.push(item.span);
                    let effect = matches!(operation.kind, OperationKind::Effect);
                    let repair = matches!(operation.kind, OperationKind::Repair { .. });
                    self.relied_on(items, &operation.name, (effect, repair), &goals, flat, used);
                }
                ItemKind::Protocol(protocol) => {
                    let lost: Vec<&Path> =
                        protocol.paths.iter().filter(|path| walks(path, &hidden)).collect();
                    if !lost.is_empty() && lost.len() == protocol.paths.len() {
                        gone.push(item.span);
                        continue;
                    }
                    gone.extend(lost.iter().map(|path| path.span));
                    for path in protocol.paths.iter().filter(|path| !walks(path, &hidden)) {
                        branches(path, &hidden, &flat.text(), &mut gone);
                    }
                }
                ItemKind::Failure(failure) => proofs(failure, item, &hidden, &goals, &mut gone),
                ItemKind::Defence(defence) if hides(&defence.operation) => gone.push(item.span),
                ItemKind::Hotspot(hotspot) => match &hotspot.on.kind {
                    ExprKind::Name(name) if hides(name) => gone.push(item.span),
                    _ => {}
                },
                ItemKind::Invariant { name, .. }
                | ItemKind::Recovers { name, .. }
                | ItemKind::LeadsTo { name, .. } => {
                    if goals.contains(&name.text) {
                        gone.push(item.span);
                    } else {
                        part.goals.push(name.text.clone());
                    }
                }
                _ => {}
            }
        }
        let nothing = |span: Span| Edit { range: span.start..span.end, with: Flat::default() };
        gone.into_iter().map(nothing).collect()
    }

    /// May this operation be hidden?
    fn relied_on(
        &mut self,
        items: &[Item],
        name: &Name,
        (effect, repair): (bool, bool),
        goals: &[String],
        flat: &Flat,
        used: &UseItem,
    ) {
        let line = used.changes.iter().find_map(|change| match &change.kind {
            UseChangeKind::Hide { operation } if operation.text == name.text => Some(change.span),
            _ => None,
        });
        let line = line.unwrap_or(used.archetype.span);
        let mut places: Vec<(Span, String, &str)> = Vec::new();
        for item in items {
            match &item.kind {
                ItemKind::Operation(operation) => {
                    let mut found = None;
                    sends(&operation.body, &name.text, &mut found);
                    if let Some(span) = found {
                        let what = format!("`{}` sends to it", operation.name.text);
                        let help = if effect {
                            "replace or hide what sends to it first"
                        } else {
                            "replace the operation that sends to it"
                        };
                        places.push((span, what, help));
                    }
                }
                ItemKind::LeadsTo { name: goal, by, .. } if !goals.contains(&goal.text) => {
                    if let Some(step) = by.iter().find(|step| step.text == name.text) {
                        let what = format!("`{}` is kept by it", goal.text);
                        places.push((step.span, what, "leave the goal out, with a reason"));
                    }
                }
                ItemKind::Failure(failure) if repair => {
                    for proof in &failure.proofs {
                        let FailureProofKind::Without { targets, breaks, .. } = &proof.kind else {
                            continue;
                        };
                        let relies = targets.iter().any(|target| {
                            matches!(&target.kind, WithoutKind::Repair { name: held } if held.text == name.text)
                        });
                        if relies && !goals.contains(&breaks.text) {
                            let what = format!("without it `{}` breaks", breaks.text);
                            places.push((
                                proof.span,
                                what,
                                "replace it, or leave the goal out with a reason",
                            ));
                        }
                    }
                }
                _ => {}
            }
        }
        if let Some((span, what, help)) = places.into_iter().next() {
            self.diagnostics.push(
                Diagnostic::error("E0809", line, format!("`{}` cannot be hidden", name.text))
                    .also(flat.origin(span), what)
                    .help(help),
            );
        }
    }
}

fn walks(path: &Path, hidden: &[String]) -> bool {
    path.steps.iter().any(|step| hidden.contains(&step.operation.text))
}

/// Branches through hidden steps, each with the arrow before it.
fn branches(path: &Path, hidden: &[String], text: &str, gone: &mut Vec<Span>) {
    for branch in &path.branches {
        if walks(branch, hidden) {
            let before = &text[..branch.span.start as usize];
            let arrow = before.rfind("|->").map_or(branch.span.start, |at| at as u32);
            gone.push(Span::new(branch.span.file, arrow, branch.span.end));
        } else {
            branches(branch, hidden, text, gone);
        }
    }
}

fn proofs(
    failure: &FailureItem,
    item: &Item,
    hidden: &[String],
    goals: &[String],
    gone: &mut Vec<Span>,
) {
    let lost = |proof: &&FailureProof| match &proof.kind {
        FailureProofKind::Without { targets, breaks, .. } => {
            goals.contains(&breaks.text)
                || targets.iter().any(|it| hidden.contains(operation_of(it)))
        }
        _ => false,
    };
    let all: Vec<&FailureProof> = failure.proofs.iter().filter(lost).collect();
    if !all.is_empty() && all.len() == failure.proofs.len() {
        gone.push(item.span);
    } else {
        gone.extend(all.iter().map(|proof| proof.span));
    }
}

fn operation_of(target: &WithoutTarget) -> &String {
    match &target.kind {
        WithoutKind::Clause { operation, .. }
        | WithoutKind::Assignment { operation, .. }
        | WithoutKind::Outbox { operation }
        | WithoutKind::Key { operation }
        | WithoutKind::Keyed { operation }
        | WithoutKind::AtLeast { operation }
        | WithoutKind::Repair { name: operation } => &operation.text,
    }
}

fn sends(body: &OperationBody, to: &str, found: &mut Option<Span>) {
    match body {
        OperationBody::Statements(block) | OperationBody::Read { memory: block, .. } => {
            sends_in(&block.statements, to, found);
        }
        OperationBody::Effect(effect) => {
            effect.answers.iter().for_each(|it| sends_in(&it.body.statements, to, found));
        }
        OperationBody::Missing => {}
    }
}

fn sends_in(statements: &[Stmt], to: &str, found: &mut Option<Span>) {
    for statement in statements {
        match &statement.kind {
            StmtKind::Send { operation, .. } if operation.text == to => {
                found.get_or_insert(statement.span);
            }
            StmtKind::For { body, .. } => sends_in(&body.statements, to, found),
            StmtKind::If { then, otherwise, .. } => {
                sends_in(&then.statements, to, found);
                otherwise.iter().for_each(|block| sends_in(&block.statements, to, found));
            }
            _ => {}
        }
    }
}
