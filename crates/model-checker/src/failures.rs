//! Failures, both ways: as written they cannot happen; without the protection they do.

use std::cell::RefCell;

use design::model::{
    ClauseRef, Const, Design, Expr, ExprKind, Failure, FailureProof, Goal, Invariant, OperationId,
    OperationKind, Protection, Type,
};

use crate::alone::Alone;
use crate::clock::Scaled;
use crate::design_parts::protection_name;
use crate::group::Base;
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
                        verdict.status = self.status(&run, protections, *breaks, progress)?;
                    }
                    if let FailureStatus::Redundant { covered_by } = &verdict.status {
                        let added = self.whole.design.uses.iter().flat_map(|used| &used.added);
                        verdict.covered = added.into_iter().any(|held| covered_by.contains(held));
                    }
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
        protections: &[Protection],
        goal: Goal,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<FailureStatus, WorldError> {
        Ok(match run.outcome(goal) {
            Outcome::Fails(trace) => FailureStatus::LoadBearing(trace),
            Outcome::Unknown(why) => FailureStatus::Unknown { why },
            Outcome::Untold => FailureStatus::Unknown { why: NOT_REPLAYED.into() },
            Outcome::Holds(bounds) if bounds.is_empty() => {
                self.why_not(run, protections, goal, progress)?
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
        let (whole, searches) = (self.whole, self.searches);
        let alone =
            Alone { whole, protections, name, goals, symmetric: true, one_is_enough, searches };
        Ok(alone.answer(options, progress)?.run)
    }

    /// The goal holds without the protection too.
    fn why_not(
        &self,
        run: &Run,
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
        for other in others(&self.whole.design) {
            if protections.contains(&other) {
                continue;
            }
            let mut both = protections.to_vec();
            both.push(other.clone());
            let name = protection_name(&self.whole.design, &other);
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
        let held = &self.whole.design.invariants[at as usize];
        let mut body = held.body.clone();
        if !hollow(&mut body) {
            return Ok(None);
        }
        let mut design = self.whole.design.clone();
        design.invariants.push(Invariant { body, ..held.clone() });
        let number = design.invariants.len() as u32 - 1;
        let whole = self.whole.with(design);
        let goals = [Goal::Invariant(number)];
        let arm = format!("is {name} empty");
        let searches = self.searches;
        let alone = Alone {
            whole: &whole,
            protections,
            name: &arm,
            goals: &goals,
            symmetric: true,
            one_is_enough: false,
            searches,
        };
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

/// Every named clause and every repair.
fn others(design: &Design) -> Vec<Protection> {
    let mut list = Vec::new();
    for (index, operation) in design.operations.iter().enumerate() {
        let id = OperationId::of(index);
        for clause in 0..operation.guard.len() as u32 {
            // The guard of a repair says when it is due.
            if !matches!(operation.kind, OperationKind::Repair { .. }) {
                list.push(Protection::Clause { operation: id, clause: ClauseRef::Named(clause) });
            }
        }
        if matches!(operation.kind, OperationKind::Repair { .. }) {
            list.push(Protection::Repair { operation: id });
        }
    }
    list
}
