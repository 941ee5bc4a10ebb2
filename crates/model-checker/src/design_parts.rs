//! The operations, goals and protections of a design, each by its number or its name.

use design::model::{Design, Goal, OperationId, Protection};

use crate::witness::clause_name;

/// The operations of a design, with their numbers.
pub(crate) fn operations(
    design: &Design,
) -> impl Iterator<Item = (OperationId, &design::model::Operation)> {
    design.operations.iter().enumerate().map(|(at, held)| (OperationId::of(at), held))
}

/// The goals of a design, in the order written.
pub(crate) fn goals(design: &Design, recovery: bool) -> Vec<Goal> {
    let some = |count: usize| if recovery { count as u32 } else { 0 };
    let invariants = (0..design.invariants.len() as u32).map(Goal::Invariant);
    let recoveries = (0..some(design.recoveries.len())).map(Goal::Recovery);
    let leads = (0..some(design.leads.len())).map(Goal::LeadsTo);
    invariants.chain(recoveries).chain(leads).collect()
}

/// `claim.free`, `repair reclaim`, …
pub(crate) fn protection_name(design: &Design, protection: &Protection) -> String {
    let name = |id: OperationId| design.operations[id.index()].name.clone();
    match protection {
        Protection::Clause { operation, clause } => {
            let held = &design.operations[operation.index()];
            format!("{}.{}", held.name, clause_name(held, *clause))
        }
        Protection::Repair { operation } => format!("repair {}", name(*operation)),
        Protection::Assignment { operation, .. } => format!("assignment in {}", name(*operation)),
        Protection::Outbox { operation } => format!("outbox of {}", name(*operation)),
        Protection::Key { operation } => format!("key of {}", name(*operation)),
        Protection::AtLeast { operation } => format!("at_least of {}", name(*operation)),
        Protection::Keyed { operation } => format!("keyed of {}", name(*operation)),
    }
}
