//! Failures: what prevents each, what sets it right, and what would break.

use design::model::*;
use serde::Serialize;

use super::protocols::clause_name;
use crate::derive::Derivation;
use crate::spell::{Scope, constant};

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Failure {
    pub title: String,
    pub prevention: Vec<String>,
    pub repair: Vec<String>,
    /// the invariants that would not hold without the prevention
    pub breaks: Vec<String>,
}

pub fn of(design: &Design, operations: &[Derivation]) -> Vec<Failure> {
    design.failures.iter().map(|failure| one(design, operations, failure)).collect()
}

fn one(design: &Design, operations: &[Derivation], failure: &design::model::Failure) -> Failure {
    let mut found = Failure {
        title: failure.title.clone(),
        prevention: Vec::new(),
        repair: Vec::new(),
        breaks: Vec::new(),
    };
    for proof in &failure.proofs {
        match proof {
            FailureProof::Without { protections, breaks, in_depth, .. } => {
                for protection in protections {
                    let mut text = prevention(design, protection);
                    if *in_depth {
                        text.push_str("; in depth, another protection covers it too");
                    }
                    found.prevention.push(text);
                    found.repair.extend(repair(design, operations, protection));
                }
                found.breaks.push(design.goal(*breaks).name.clone());
            }
            FailureProof::Compiler { code, .. } => {
                found
                    .prevention
                    .push(format!("it cannot be written: the compiler refuses it with {code}"));
            }
            FailureProof::Measured { value, locals, above, .. } => {
                let text = Scope::plain(design, locals).text(value);
                let limit = constant(design, above);
                found.prevention.push(format!("measured: `{text}` above {limit} raises it"));
            }
        }
    }
    found.repair.sort();
    found.repair.dedup();
    if found.repair.is_empty() {
        found.repair.push(
            "none is needed: what is refused changes nothing, and the caller reads and tries again"
                .into(),
        );
    }
    found
}

fn name(design: &Design, operation: OperationId) -> String {
    let operation = &design.operations[operation.index()];
    format!("{}[{}]", design.actors[operation.actor.index()].name, operation.name)
}

fn prevention(design: &Design, protection: &Protection) -> String {
    match protection {
        Protection::Clause { operation, clause } => {
            let op = &design.operations[operation.index()];
            let name = name(design, *operation);
            match clause {
                ClauseRef::Named(index) => {
                    let clause = &op.guard[*index as usize];
                    let text = Scope::of(design, op).text(&clause.body);
                    format!("guard: `{name}` happens only if `{}` ({text})", clause.name)
                }
                ClauseRef::Fresh => format!("`{name}` makes a record only where there is none"),
                ClauseRef::Exists => {
                    format!("`{name}` acts only where the records that it needs are there")
                }
            }
        }
        Protection::Repair { operation } => {
            format!(
                "repair: `{}` runs by itself whenever its guard holds",
                name(design, *operation)
            )
        }
        Protection::Assignment { operation, .. } => {
            format!("`{}` writes it in the same commit", name(design, *operation))
        }
        Protection::Outbox { operation } => {
            format!(
                "transactional outbox: what `{}` sends is stored in its own commit",
                name(design, *operation)
            )
        }
        Protection::Key { operation } => {
            let op = &design.operations[operation.index()];
            let OperationKind::Effect(effect) = &op.kind else { return String::new() };
            let scope = Scope::of(design, op);
            let key: Vec<String> = effect.key.iter().map(|part| scope.text(part)).collect();
            format!(
                "one key for each `{}` ({}): the other side decides a key at most once",
                name(design, *operation),
                key.join(", ")
            )
        }
        Protection::AtLeast { operation } => {
            format!(
                "`{}` is answered from no older state than the caller has seen",
                name(design, *operation)
            )
        }
        Protection::Keyed { operation } => {
            format!(
                "idempotency key: every call of `{}` has one, and a retry under it gets the first answer",
                name(design, *operation)
            )
        }
    }
}

fn repair(design: &Design, operations: &[Derivation], protection: &Protection) -> Vec<String> {
    let mut found = Vec::new();
    let id = match protection {
        Protection::Clause { operation, .. }
        | Protection::Repair { operation }
        | Protection::Assignment { operation, .. }
        | Protection::Outbox { operation }
        | Protection::Key { operation }
        | Protection::AtLeast { operation }
        | Protection::Keyed { operation } => *operation,
    };
    let name = name(design, id);
    match protection {
        Protection::Repair { .. } => {
            let one = operations.iter().find(|d| d.name == name);
            found.push(format!("`{name}`: {}", one.map_or("", |d| &d.phrase)));
        }
        Protection::Outbox { .. } => {
            found.push("the outbox delivers what is open, again and again".into())
        }
        Protection::Key { .. } => found.push("the same key asks again for what was decided".into()),
        Protection::Keyed { .. } => {
            found.push("whoever has heard no answer asks again under the same key".into());
        }
        _ => {}
    }
    let derived =
        operations.iter().filter(|d| d.name == name || d.name.starts_with(&format!("{name} on ")));
    for one in derived {
        for by in &one.restored_by {
            let phrase =
                operations.iter().find(|d| d.name == *by).map_or("", |d| d.phrase.as_str());
            found.push(format!("`{by}`: {phrase}"));
        }
    }
    if let Protection::Clause { operation, clause } = protection {
        let op = &design.operations[operation.index()];
        for (refused, outcome) in refusals(design, *operation) {
            if refused == *clause {
                let clause = clause_name(op, refused);
                found.push(format!("refused by `{clause}`, the protocol goes on with: {outcome}"));
            }
        }
    }
    found
}

/// The refusals of an operation in the protocols, and what follows.
fn refusals(design: &Design, operation: OperationId) -> Vec<(ClauseRef, String)> {
    fn walk(path: &Path, operation: OperationId, found: &mut Vec<(ClauseRef, String)>) {
        for step in path.steps.iter().filter(|step| step.operation == operation) {
            if let (Some(refused), Some(outcome)) = (step.refused, &path.outcome) {
                found.push((refused, outcome.clone()));
            }
        }
        path.branches.iter().for_each(|branch| walk(branch, operation, found));
    }
    let mut found = Vec::new();
    design
        .protocols
        .iter()
        .flat_map(|p| &p.paths)
        .for_each(|path| walk(path, operation, &mut found));
    found
}
