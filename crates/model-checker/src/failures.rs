//! Failures, both ways: as written they cannot happen; without the protection they do.

use std::cell::RefCell;

use design::model::{
    ClauseRef, Const, Design, Expr, ExprKind, Failure, FailureProof, Fault, Goal, OperationId,
    OperationKind, Protection, Type,
};

use crate::alone::Alone;
use crate::base::Base;
use crate::clock::Scaled;
use crate::design_parts::protection_name;
use crate::recover::ever_fails;
use crate::run::{NOT_REPLAYED, Outcome, Run};
use crate::witness::clause_name;
use crate::{
    ArmResult, FailureStatus, FailureVerdict, GoalVerdict, Options, Progress, Verdict, WorldError,
    leads, restates,
};

pub(crate) struct Judge<'a> {
    pub(crate) whole: &'a Scaled,
    pub(crate) options: &'a Options,
    pub(crate) base: &'a Base,
    /// as written
    pub(crate) goals: &'a [GoalVerdict],
    pub(crate) searches: &'a RefCell<Vec<ArmResult>>,
}

fn goal_name(design: &Design, goal: Goal) -> &str {
    &design.goal(goal).name
}

impl Judge<'_> {
    pub(crate) fn failure(
        &self,
        failure: &Failure,
        progress: &mut dyn FnMut(&Progress),
        verdicts: &mut Vec<FailureVerdict>,
    ) -> Result<(), WorldError> {
        for proof in &failure.proofs {
            let mut verdict = FailureVerdict {
                title: failure.title.clone(),
                proof: proof.clone(),
                claim: String::new(),
                in_depth: false,
                status: FailureStatus::Measured,
                restates: false,
                covered: false,
                arm: None,
            };
            match proof {
                FailureProof::Compiler { code, .. } => {
                    verdict.claim = format!("refused by compiler {code}");
                    verdict.status = FailureStatus::Compiler { code: code.clone() };
                }
                FailureProof::Measured { .. } => verdict.claim = "measured".into(),
                FailureProof::Without { protections, breaks, in_depth, .. } => {
                    let names: Vec<String> = protections
                        .iter()
                        .map(|p| protection_name(&self.whole.design, p))
                        .collect();
                    let arm = format!("without {}", names.join(", "));
                    verdict.claim =
                        format!("{arm} breaks {}", goal_name(&self.whole.design, *breaks));
                    verdict.in_depth = *in_depth;
                    if let Some(why) = self.not_held(*breaks) {
                        verdict.status = FailureStatus::Unknown { why };
                    } else {
                        let goals = [*breaks];
                        let run =
                            self.without(&arm, protections, &goals, false, self.options, progress)?;
                        verdict.arm = Some(run.result());
                        let title = &failure.title;
                        verdict.status =
                            self.status(&run, title, protections, *breaks, progress)?;
                    }
                    verdict.covered = self.is_covered(&failure.title, &verdict.status);
                    if let FailureStatus::LoadBearing(trace) = &verdict.status {
                        verdict.restates =
                            restates::its_guard(&self.whole.design, protections, *breaks, trace);
                    }
                }
            }
            verdicts.push(verdict);
        }
        Ok(())
    }

    /// A failure that shows nothing here because of what this design changes: one that an added clause covers, or
    /// one of what is used, which shows it by itself.
    fn is_covered(&self, title: &str, status: &FailureStatus) -> bool {
        match status {
            FailureStatus::Redundant { covered_by } => {
                covered_by.iter().any(|held| self.is_added(held)) || self.is_of_used(title)
            }
            FailureStatus::Vacuous { .. } => self.is_of_used(title),
            _ => false,
        }
    }

    /// Is it a failure of something that the design uses?
    fn is_of_used(&self, title: &str) -> bool {
        self.whole.design.uses.iter().any(|used| {
            let rest = title.strip_prefix(&*used.scope.replace('_', " "));
            rest.is_some_and(|rest| rest.starts_with(": "))
        })
    }

    /// Does the design add this to something that it uses?
    fn is_added(&self, name: &str) -> bool {
        let mut added = self.whole.design.uses.iter().flat_map(|used| &used.added);
        added.any(|held| held == name)
    }

    /// A goal that does not hold as written shows nothing by breaking without a clause.
    fn not_held(&self, goal: Goal) -> Option<String> {
        let held = self.goals.iter().find(|held| held.goal == goal)?;
        match &held.verdict {
            Verdict::Proved | Verdict::Holds(_) => None,
            Verdict::Violated(_) => Some(format!("`{}` is violated as written", held.name)),
            Verdict::Unknown(_) => {
                Some(format!("it is not known whether `{}` holds as written", held.name))
            }
        }
    }

    fn status(
        &self,
        run: &Run,
        title: &str,
        protections: &[Protection],
        goal: Goal,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<FailureStatus, WorldError> {
        Ok(match run.outcome(goal) {
            Outcome::Fails(trace) => FailureStatus::LoadBearing(trace),
            Outcome::Unknown(why) => FailureStatus::Unknown { why },
            Outcome::Untold => FailureStatus::Unknown { why: NOT_REPLAYED.into() },
            Outcome::Holds(bounds) if bounds.is_empty() => {
                self.why_not(run, title, protections, goal, progress)?
            }
            Outcome::Holds(bounds) => FailureStatus::Unknown {
                why: format!(
                    "without it `{}` holds within {}",
                    goal_name(&self.whole.design, goal),
                    bounds.join(", ")
                ),
            },
        })
    }

    /// Explores the design without some of its protections. `one_is_enough`: up to
    /// where one of them breaks.
    pub(crate) fn without(
        &self,
        name: &str,
        protections: &[Protection],
        goals: &[Goal],
        one_is_enough: bool,
        options: &Options,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Run, WorldError> {
        let alone = self.alone(name, protections, goals, one_is_enough);
        Ok(alone.answer(options, progress)?.run)
    }

    fn alone<'g>(
        &'g self,
        name: &'g str,
        protections: &'g [Protection],
        goals: &'g [Goal],
        one_is_enough: bool,
    ) -> Alone<'g> {
        let (whole, searches) = (self.whole, self.searches);
        Alone { whole, protections, name, goals, symmetric: true, one_is_enough, searches }
    }

    /// The goal holds without the protection too.
    fn why_not(
        &self,
        run: &Run,
        title: &str,
        protections: &[Protection],
        goal: Goal,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<FailureStatus, WorldError> {
        if let Some(why) = self.never_needed(protections) {
            return Ok(FailureStatus::Vacuous { why });
        }
        if let Some(why) = self.empty_goal(run, protections, goal, progress)? {
            return Ok(FailureStatus::Vacuous { why });
        }
        let mut covered_by = Vec::new();
        let goals = [goal];
        let of_used = self.is_of_used(title);
        let happens = self.alone("", protections, &goals, false).operations(self.options);
        for (operation, other) in others(&self.whole.design) {
            // What does not happen where the goal is judged takes nothing away from it.
            let elsewhere = happens.get(operation.index()) == Some(&false);
            if protections.contains(&other) || elsewhere {
                continue;
            }
            let name = protection_name(&self.whole.design, &other);
            // What is used shows its failures by itself: here only what was added can make a difference.
            if of_used && !self.is_added(&name) {
                continue;
            }
            let mut both = protections.to_vec();
            both.push(other.clone());
            let arm = format!("without {name} as well");
            let run = self.without(&arm, &both, &[goal], false, self.options, progress)?;
            if let Outcome::Fails(_) = run.outcome(goal) {
                covered_by.push(name);
            }
        }
        Ok(FailureStatus::Redundant { covered_by })
    }

    /// As written, the protection never did anything.
    fn never_needed(&self, protections: &[Protection]) -> Option<String> {
        let faults = self.options.faults.as_ref().unwrap_or(&self.whole.design.world.faults);
        let repeated = faults.iter().any(|held| held.fault == Fault::Duplicate);
        if !repeated && protections.iter().all(|held| matches!(held, Protection::Keyed { .. })) {
            return Some("no call is repeated here: add `duplicate` to the faults".into());
        }
        let never = protections.iter().all(|protection| match protection {
            Protection::Clause { operation, clause } => {
                let held = &self.whole.design.operations[operation.index()];
                let what = format!("{}.{} refuses", held.name, clause_name(held, *clause));
                self.base.seen(&what) == Some(false)
            }
            Protection::Repair { operation } => {
                let name = crate::witness::operation_name(&self.whole.design, *operation);
                self.base.seen(&format!("{name} runs")) == Some(false)
            }
            _ => false,
        });
        let names: Vec<String> =
            protections.iter().map(|p| protection_name(&self.whole.design, p)).collect();
        never.then(|| format!("`{}` never made a difference in any state", names.join(", ")))
    }

    /// The goal holds because what it speaks of never comes to be.
    fn empty_goal(
        &self,
        run: &Run,
        protections: &[Protection],
        goal: Goal,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Option<String>, WorldError> {
        let name = goal_name(&self.whole.design, goal);
        let at = match goal {
            Goal::Invariant(at) => at,
            Goal::Recovery(at) => {
                let fails = ever_fails(&run.machine, &run.explored, at);
                return Ok((!fails).then(|| format!("`{name}` holds in every state anyway")));
            }
            Goal::LeadsTo(at) => {
                let waits = leads::ever_waits(&run.machine, &run.explored, at);
                return Ok((!waits).then(|| format!("nothing ever waits for `{name}`")));
            }
        };
        let Some(whole) = self.whole.with_goal(at, &hollow) else { return Ok(None) };
        let number = whole.design.invariants.len() as u32 - 1;
        let goals = [Goal::Invariant(number)];
        let arm = format!("is {name} empty");
        let alone = Alone { whole: &whole, ..self.alone(&arm, protections, &goals, false) };
        let run = alone.answer(self.options, progress)?.run;
        let empty = matches!(run.outcome(Goal::Invariant(number)), Outcome::Holds(_));
        Ok(empty.then(|| format!("what `{name}` speaks of never comes to be")))
    }
}

/// Makes a goal that holds only as long as the given one has nothing to say: the consequence of
/// each implication, or else what is said of every element, becomes false.
fn hollow(expr: &mut Expr) -> bool {
    let no = |span| Expr { kind: ExprKind::Literal(Const::Bool(false)), ty: Type::Bool, span };
    match &mut expr.kind {
        ExprKind::Implies(_, then) => {
            **then = no(then.span);
            true
        }
        ExprKind::Quantifier { all: true, body, .. } => {
            if !hollow(body) {
                **body = no(body.span);
            }
            true
        }
        ExprKind::And(list) => {
            let mut any = false;
            for expr in list {
                any |= hollow(expr);
            }
            any
        }
        ExprKind::Let { body, .. } => hollow(body),
        _ => false,
    }
}

/// Every named clause and every repair, each with the operation that it is part of.
fn others(design: &Design) -> Vec<(OperationId, Protection)> {
    let mut list = Vec::new();
    for (index, operation) in design.operations.iter().enumerate() {
        let id = OperationId::of(index);
        for clause in 0..operation.guard.len() as u32 {
            // The guard of a repair says when it is due.
            if !matches!(operation.kind, OperationKind::Repair { .. }) {
                let clause = ClauseRef::Named(clause);
                list.push((id, Protection::Clause { operation: id, clause }));
            }
        }
        if matches!(operation.kind, OperationKind::Repair { .. }) {
            list.push((id, Protection::Repair { operation: id }));
        }
    }
    list
}
