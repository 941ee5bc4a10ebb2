//! The guard: what must hold before anything changes.

use design::model::{ClauseRef, Span};

use crate::counters::NOWHERE;
use crate::env::StepEnv;
use crate::eval::{Eval, Stop};
use crate::overlay::Status;
use crate::program::node::NodeId;
use crate::program::operation::{Check, Op, ParamRule};
use crate::step::Ended;
use crate::{NULL, Program, Reason, Truth, Word};

/// Are the arguments values of their types?
pub(crate) fn check_params(op: &Op, params: &[Word]) -> Result<(), (Reason, Span)> {
    if params.len() != op.params.width as usize {
        return Err((Reason::OutOfRange, op.span));
    }
    for (rule, field) in op.param_rules.iter().zip(&op.params.fields) {
        let words = &params[field.range()];
        check(rule, words).map_err(|reason| (reason, rule.span))?;
    }
    Ok(())
}

fn check(rule: &ParamRule, words: &[Word]) -> Result<(), Reason> {
    let first = words.first().copied().unwrap_or(NULL);
    if first == NULL {
        return if rule.required { Err(Reason::NullValue) } else { Ok(()) };
    }
    let fits = match rule.check {
        Check::Any => true,
        Check::Below(end) => (0..end).contains(&first),
        Check::List => fits(words, 1) && !elements(words, 1).contains(&NULL),
        Check::Set => fits(words, 1) && sorted(elements(words, 1), 1),
        Check::Map => fits(words, 2) && sorted(elements(words, 2), 2),
    };
    if fits { Ok(()) } else { Err(Reason::OutOfRange) }
}

fn fits(words: &[Word], stride: usize) -> bool {
    let room = (words.len() - 1) / stride;
    usize::try_from(words[0]).is_ok_and(|length| length <= room)
}

fn elements(words: &[Word], stride: usize) -> &[Word] {
    &words[1..1 + words[0] as usize * stride]
}

fn sorted(elements: &[Word], stride: usize) -> bool {
    let keys = || elements.iter().step_by(stride);
    keys().zip(keys().skip(1)).all(|(one, next)| one < next) && keys().all(|key| *key != NULL)
}

/// `exists`, `fresh`, then the clauses in order.
pub(crate) fn guard<T: Truth>(eval: &mut Eval<'_, StepEnv<'_, T>>, op: &Op) -> Result<(), Ended> {
    load_params(eval, op)?;
    exists(eval, op)?;
    fresh(eval, op)?;
    for clause in &op.clauses {
        let named = Some(ClauseRef::Named(clause.index));
        match eval.test(clause.node) {
            Ok(true) => {}
            Ok(false) => {
                let stop = Stop::Refuse(Reason::Clause(clause.index), clause.node);
                return Err(Ended { stop, clause: named });
            }
            Err(stop) => return Err(Ended { stop, clause: named }),
        }
    }
    Ok(())
}

/// The record of a parameter, if the guard looks whether it is there.
fn looked_at(op: &Op, rule: &ParamRule) -> Option<design::model::SubjectId> {
    let asked = if rule.new { op.fresh } else { !rule.implicit };
    rule.subject.filter(|_| asked)
}

/// Asks for everything that is missing at once.
fn load_params<T: Truth>(eval: &mut Eval<'_, StepEnv<'_, T>>, op: &Op) -> Result<(), Stop> {
    for (rule, field) in op.param_rules.iter().zip(&op.params.fields) {
        let key = eval.local(field.offset);
        if let (Some(subject), true) = (looked_at(op, rule), key != NULL) {
            match eval.env.load(subject, key) {
                Ok(_) | Err(Stop::Need) => {}
                Err(stop) => return Err(stop),
            }
        }
    }
    if eval.env.needs.is_empty() { Ok(()) } else { Err(Stop::Need) }
}

fn exists<T: Truth>(eval: &mut Eval<'_, StepEnv<'_, T>>, op: &Op) -> Result<(), Ended> {
    for (index, (rule, field)) in op.param_rules.iter().zip(&op.params.fields).enumerate() {
        let key = eval.local(field.offset);
        let Some(subject) = looked_at(op, rule).filter(|_| !rule.new && key != NULL) else {
            continue;
        };
        let place = eval.env.load(subject, key)?;
        if eval.env.overlay.status(place) == Status::Absent {
            if op.exists {
                let stop = Stop::Refuse(Reason::Exists(index as u32), NOWHERE);
                return Err(Ended { stop, clause: Some(ClauseRef::Exists) });
            }
            let defaults = &eval.program.subject(subject).defaults;
            eval.env.overlay.pretend(place, defaults);
        }
    }
    Ok(())
}

fn fresh<T: Truth>(eval: &mut Eval<'_, StepEnv<'_, T>>, op: &Op) -> Result<(), Ended> {
    if !op.has_new || !op.fresh {
        return Ok(());
    }
    for (index, (rule, field)) in op.param_rules.iter().zip(&op.params.fields).enumerate() {
        let key = eval.local(field.offset);
        let Some(subject) = rule.subject.filter(|_| rule.new && key != NULL) else { continue };
        let place = eval.env.load(subject, key)?;
        if eval.env.overlay.status(place) == Status::Same {
            let stop = Stop::Refuse(Reason::Fresh(index as u32), NOWHERE);
            return Err(Ended { stop, clause: Some(ClauseRef::Fresh) });
        }
    }
    Ok(())
}

/// Where in the text a refusal happened.
pub(crate) fn place_of(
    program: &Program,
    op: &Op,
    reason: Reason,
    clause: Option<ClauseRef>,
    node: NodeId,
) -> Span {
    match reason {
        Reason::Exists(param) | Reason::Fresh(param) => {
            op.param_rules.get(param as usize).map_or(op.span, |rule| rule.span)
        }
        Reason::Clause(index) => {
            op.clauses.iter().find(|one| one.index == index).map_or(op.span, |one| one.span)
        }
        _ if node != NOWHERE => program.span(node),
        _ => match clause {
            Some(ClauseRef::Named(index)) => {
                op.clauses.iter().find(|one| one.index == index).map_or(op.span, |one| one.span)
            }
            _ => op.span,
        },
    }
}
