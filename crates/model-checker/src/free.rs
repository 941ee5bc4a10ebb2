//! Clauses that nothing needs: each that no failure names is taken away once, and no goal breaks.

use design::model::{
    ClauseRef, Design, ExprKind, FailureProof, Goal, OperationKind, Protection, StmtKind, visit,
};

use crate::alone::Alone;
use crate::design_parts::{operations, protection_name};
use crate::failures::Judge;
use crate::network::may_be_set;
use crate::run::{NOT_REPLAYED, Outcome, Run};
use crate::slice::is_always_told;
use crate::{FreeClause, Progress, Verdict, WorldError};

/// In larger worlds it takes too long.
pub(crate) const STATES_MAX: usize = 30_000;

/// A search without a clause may be as large as the one with it, and this large in any case.
const STATES_MIN: usize = 50_000;

pub(crate) fn clauses(
    judge: &Judge<'_>,
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

/// Does a failure or a `defence` speak of this clause, whichever world it is judged in?
pub(crate) fn is_named_anywhere(design: &Design, clause: &str) -> bool {
    let defended = design
        .defences
        .iter()
        .map(|held| Protection::Clause { operation: held.operation, clause: held.clause });
    let without =
        design.failures.iter().flat_map(|failure| &failure.proofs).flat_map(|proof| match proof {
            FailureProof::Without { protections, .. } => protections.clone(),
            FailureProof::Compiler { .. } | FailureProof::Measured { .. } => Vec::new(),
        });
    defended.chain(without).any(|held| protection_name(design, &held) == clause)
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
    let mut found = Found { within: Vec::new(), known: true };
    for group in &judge.base.groups {
        let own = |goal: &&Goal| group.goals.iter().any(|held| held.goal == **goal);
        let own: Vec<Goal> = goals.iter().filter(own).copied().collect();
        if own.is_empty() {
            continue;
        }
        let Protection::Clause { operation, .. } = protection else { continue };
        if !group.has_all(&[*operation]) {
            // Nothing that these goals read depends on it.
            found.within.extend(group.run.bounds());
            continue;
        }
        let without = Without { judge, protection, options: &options, from: &group.run };
        if !without.holds(&own, &mut found, progress)? {
            return Ok(None);
        }
    }
    found.within.sort_unstable();
    found.within.dedup();
    Ok(Some((found.within, found.known)))
}

/// What is known so far.
struct Found {
    within: Vec<String>,
    known: bool,
}

/// A part of the design, without a clause.
struct Without<'a> {
    judge: &'a Judge<'a>,
    protection: &'a Protection,
    options: &'a crate::Options,
    /// with it
    from: &'a Run,
}

impl Without<'_> {
    fn run(
        &self,
        goals: &[Goal],
        one_is_enough: bool,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Run, WorldError> {
        let Judge { whole, searches, .. } = self.judge;
        let name = format!("without {}", protection_name(&whole.design, self.protection));
        let alone = Alone {
            whole,
            protections: std::slice::from_ref(self.protection),
            name: &name,
            goals,
            symmetric: true,
            one_is_enough,
            from: one_is_enough.then_some(self.from),
            searches,
        };
        Ok(alone.answer(self.options, progress)?.run)
    }

    /// Do these goals hold, as far as is known? Within which bounds is put into `found`.
    fn holds(
        &self,
        goals: &[Goal],
        found: &mut Found,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<bool, WorldError> {
        let (leads, others): (Vec<Goal>, Vec<Goal>) =
            goals.iter().partition(|goal| matches!(goal, Goal::LeadsTo(_)));
        let (invariants, recoveries): (Vec<Goal>, Vec<Goal>) =
            others.iter().partition(|goal| matches!(goal, Goal::Invariant(_)));
        let both = !invariants.is_empty() && !recoveries.is_empty();
        let sets = may_be_set(&self.judge.whole.design, self.options);
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
            let mut run = self.run(&goals, true, progress)?;
            let fails = |goal: &Goal| matches!(run.outcome(*goal), Outcome::Fails(_));
            if !run.found.violations.is_empty() {
                if goals.iter().any(fails) {
                    return Ok(false);
                }
                run = self.run(&goals, false, progress)?;
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
                let run = self.run(&rest, true, progress)?;
                outcomes.extend(rest.iter().map(|goal| (*goal, run.outcome(*goal))));
            }
            for (_, outcome) in outcomes {
                match outcome {
                    Outcome::Fails(_) => return Ok(false),
                    Outcome::Holds(bounds) => found.within.extend(bounds),
                    Outcome::Unknown(why) => {
                        found.known = false;
                        found.within.push(why);
                    }
                    Outcome::Untold => {
                        found.known = false;
                        found.within.push(NOT_REPLAYED.into());
                    }
                }
            }
        }
        Ok(true)
    }
}
