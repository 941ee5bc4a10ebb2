//! Clauses that nothing needs: each that no failure names is taken away once, and no goal breaks.

use std::collections::BTreeSet;

use design::model::{
    ClauseRef, Design, ExprKind, FailureProof, Goal, OperationKind, Protection, StmtKind, visit,
};

use crate::design_parts::{operations, protection_name};
use crate::failures::Judge;
use crate::network::may_be_set;
use crate::run::{NOT_REPLAYED, Outcome};
use crate::slice::is_always_told;
use crate::{FreeClause, Progress, Verdict, WorldError};

/// In larger worlds it takes too long.
pub(crate) const STATES_MAX: usize = 30_000;

/// A search without a clause may be as large as the one with it, and this large in any case.
const STATES_MIN: usize = 50_000;

/// `elsewhere`: clauses that a failure of another world speaks of.
pub(crate) fn clauses(
    judge: &Judge<'_>,
    elsewhere: &BTreeSet<String>,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Vec<FreeClause>, WorldError> {
    let design = &judge.whole.design;
    let holds = |verdict: &Verdict| matches!(verdict, Verdict::Proved | Verdict::Holds(_));
    let goals: Vec<Goal> =
        judge.goals.iter().filter(|goal| holds(&goal.verdict)).map(|goal| goal.goal).collect();
    let mut free = Vec::new();
    if goals.is_empty() {
        return Ok(free);
    }
    for protection in unnamed(design) {
        let clause = protection_name(design, &protection);
        if elsewhere.contains(&clause) {
            continue;
        }
        if !judge.base.touches_goals(&protection) {
            // Whatever its operation does, no goal sees it.
            free.push(FreeClause { clause, within: Vec::new(), known: true });
            continue;
        }
        if !refuses(judge, &clause) && is_told(design, &protection) {
            // What never refuses makes no difference.
            free.push(FreeClause { clause, within: judge.base.bounds(), known: true });
            continue;
        }
        if let Some((within, known)) = not_needed(judge, &protection, &goals, progress)? {
            free.push(FreeClause { clause, within, known });
        }
    }
    Ok(free)
}

/// Every named clause that neither a failure nor a `defence` speaks of. The guard of a repair says when it
/// is due.
fn unnamed(design: &Design) -> Vec<Protection> {
    let mut list = Vec::new();
    for (operation, held) in operations(design) {
        if matches!(held.kind, OperationKind::Repair { .. }) {
            continue;
        }
        for clause in 0..held.guard.len() as u32 {
            list.push(Protection::Clause { operation, clause: ClauseRef::Named(clause) });
        }
    }
    list.retain(|protection| !is_named(design, protection) && !is_demanded(design, protection));
    list
}

/// Does the compiler demand it? A step that deletes a record counts the children that it may have; without
/// the clause the engine would refuse all the same.
fn is_demanded(design: &Design, protection: &Protection) -> bool {
    let Protection::Clause { operation, clause: ClauseRef::Named(clause) } = protection else {
        return false;
    };
    let operation = &design.operations[operation.index()];
    let mut deletes = false;
    for body in visit::bodies(operation) {
        visit::each_statement(body, &mut |stmt| {
            deletes |= matches!(stmt.kind, StmtKind::Delete { .. });
        });
    }
    let mut counts = false;
    visit::each(&operation.guard[*clause as usize].body, &mut |part| {
        counts |= matches!(part.kind, ExprKind::Counter { .. });
    });
    deletes && counts
}

fn is_named(design: &Design, protection: &Protection) -> bool {
    let defended = design.defences.iter().any(|held| {
        let clause = Protection::Clause { operation: held.operation, clause: held.clause };
        clause == *protection
    });
    if defended {
        return true;
    }
    design.failures.iter().flat_map(|failure| &failure.proofs).any(|proof| {
        matches!(proof, FailureProof::Without { protections, .. } if protections.contains(protection))
    })
}

/// The clauses that a failure or a `defence` speaks of, whichever world it is judged in.
pub(crate) fn named_anywhere(design: &Design) -> BTreeSet<String> {
    let defended = design
        .defences
        .iter()
        .map(|held| Protection::Clause { operation: held.operation, clause: held.clause });
    let without =
        design.failures.iter().flat_map(|failure| &failure.proofs).flat_map(|proof| match proof {
            FailureProof::Without { protections, .. } => protections.clone(),
            FailureProof::Compiler { .. } | FailureProof::Measured { .. } => Vec::new(),
        });
    defended.chain(without).map(|held| protection_name(design, &held)).collect()
}

/// Was the clause ever the first to refuse, as written?
fn refuses(judge: &Judge<'_>, clause: &str) -> bool {
    judge.base.seen(&format!("{clause} refuses")).unwrap_or(true)
}

/// Is it known in every state whether the clause holds? One that follows a reference to nothing refuses without
/// ever being false.
fn is_told(design: &Design, protection: &Protection) -> bool {
    let Protection::Clause { operation, clause: ClauseRef::Named(clause) } = protection else {
        return false;
    };
    let operation = &design.operations[operation.index()];
    is_always_told(design, operation, &operation.guard[*clause as usize].body)
}

/// Within which bounds all goals hold without it, and whether that is known; none: some goal breaks.
fn not_needed(
    judge: &Judge<'_>,
    protection: &Protection,
    goals: &[Goal],
    progress: &mut dyn FnMut(&Progress),
) -> Result<Option<(Vec<String>, bool)>, WorldError> {
    let states = judge.base.states().max(STATES_MIN);
    let options = crate::Options {
        max_states: states.min(judge.options.max_states),
        ..judge.options.clone()
    };
    let name = format!("without {}", protection_name(&judge.whole.design, protection));
    let protections = std::slice::from_ref(protection);
    let mut within = Vec::new();
    let mut known = true;
    let (leads, others): (Vec<Goal>, Vec<Goal>) =
        goals.iter().partition(|goal| matches!(goal, Goal::LeadsTo(_)));
    let (invariants, recoveries): (Vec<Goal>, Vec<Goal>) =
        others.iter().partition(|goal| matches!(goal, Goal::Invariant(_)));
    let both = !invariants.is_empty() && !recoveries.is_empty();
    let sets = may_be_set(&judge.whole.design, &options);
    // Goals of both kinds by one search, as far as it can tell.
    let kinds = match both && !sets {
        true => vec![others, leads],
        false => vec![invariants, [recoveries, leads].concat()],
    };
    for goals in kinds {
        if goals.is_empty() {
            continue;
        }
        // One that breaks is enough. If that cannot be shown in the whole design, all are looked at.
        let mut run = judge.without(&name, protections, &goals, true, &options, progress)?;
        let fails = |goal: &Goal| matches!(run.outcome(*goal), Outcome::Fails(_));
        if !run.found.violations.is_empty() {
            if goals.iter().any(fails) {
                return Ok(None);
            }
            run = judge.without(&name, protections, &goals, false, &options, progress)?;
        }
        let mixed = goals.iter().any(|goal| !goal.needs_fairness());
        let mut outcomes: Vec<(Goal, Outcome)> =
            goals.iter().map(|goal| (*goal, run.outcome(*goal))).collect();
        let untold = |(goal, outcome): &(Goal, Outcome)| {
            mixed
                && goal.needs_fairness()
                && matches!(outcome, Outcome::Unknown(_) | Outcome::Untold)
        };
        let rest: Vec<Goal> =
            outcomes.iter().filter(|held| untold(held)).map(|held| held.0).collect();
        if !rest.is_empty() && run.explored.stop.is_none() {
            outcomes.retain(|held| !untold(held));
            let run = judge.without(&name, protections, &rest, true, &options, progress)?;
            outcomes.extend(rest.iter().map(|goal| (*goal, run.outcome(*goal))));
        }
        for (_, outcome) in outcomes {
            match outcome {
                Outcome::Fails(_) => return Ok(None),
                Outcome::Holds(bounds) => within.extend(bounds),
                Outcome::Unknown(why) => {
                    known = false;
                    within.push(why);
                }
                Outcome::Untold => {
                    known = false;
                    within.push(NOT_REPLAYED.into());
                }
            }
        }
    }
    within.sort_unstable();
    within.dedup();
    Ok(Some((within, known)))
}
