//! The guard: what must hold before anything changes.

use design::model::{ClauseRef, Span, SubjectId};

use crate::env::StepEnv;
use crate::eval::{Eval, Stop};
use crate::overlay::Status;
use crate::program::operation::{Check, ColumnRule, Look, Op, ValueRule, Wanted};
use crate::step::Ended;
use crate::{NULL, Outside, Place, Reason, Truth, Word};

/// Are the arguments values of their types?
#[inline]
pub(crate) fn check_params(op: &Op, params: &[Word]) -> Result<(), (Reason, Span)> {
    if params.len() != op.params.width as usize {
        return Err((Reason::OutOfRange, op.span));
    }
    for rule in &op.values {
        let first = params.get(rule.field.offset as usize).copied().unwrap_or(NULL);
        if first == NULL || !matches!(rule.check, Check::Any) {
            check(rule, &params[rule.field.range()])
                .map_err(|reason| (reason, op.param_rules[rule.param as usize].span))?;
        }
    }
    for rule in &op.columns {
        for (index, word) in rule.words(params) {
            check_field(rule, index, word)
                .map_err(|reason| (reason, op.param_rules[rule.param as usize].span))?;
        }
    }
    Ok(())
}

/// One field of one of the records of an argument.
fn check_field(rule: &ColumnRule, index: u32, word: Word) -> Result<(), Reason> {
    if word == NULL {
        return if rule.required { Err(Reason::NullValue) } else { Ok(()) };
    }
    match rule.check {
        Check::Below(end) if !(0..end).contains(&word) => Err(Reason::OutOfRange),
        Check::Within(range) if !range.contains(word) => {
            let place = Place::InParam { param: rule.param, index, field: rule.field };
            Err(Reason::Range(Outside { place, value: word }))
        }
        _ => Ok(()),
    }
}

fn check(rule: &ValueRule, words: &[Word]) -> Result<(), Reason> {
    let first = words.first().copied().unwrap_or(NULL);
    if first == NULL {
        return if rule.required { Err(Reason::NullValue) } else { Ok(()) };
    }
    let fits = match rule.check {
        Check::Any => true,
        Check::Below(end) => (0..end).contains(&first),
        Check::Within(range) if !range.contains(first) => {
            let place = Place::Param(rule.param);
            return Err(Reason::Range(Outside { place, value: first }));
        }
        Check::Within(_) => true,
        Check::List => fits(words, 1) && !elements(words, 1).contains(&NULL),
        Check::Structs(stride) => fits(words, stride as usize),
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
#[inline]
pub(crate) fn guard<T: Truth>(eval: &mut Eval<'_, StepEnv<'_, T>>, op: &Op) -> Result<(), Ended> {
    if !op.looks.is_empty() {
        load_params(eval, op)?;
        look(eval, op)?;
    }
    for clause in &op.clauses {
        let named = ClauseRef::Named(clause.index);
        match eval.test(clause.node) {
            Ok(true) => {}
            Ok(false) => {
                return Err(Ended::Unmet(Reason::Clause(clause.index), named, clause.span));
            }
            Err(stop) => return Err(Ended::Stopped(stop, Some(named))),
        }
    }
    Ok(())
}

/// Asks for everything that is missing at once.
fn load_params<T: Truth>(eval: &mut Eval<'_, StepEnv<'_, T>>, op: &Op) -> Result<(), Stop> {
    for look in &op.looks {
        if let Some(key) = looked_at(look, eval.local(look.offset), eval.env.truth) {
            match eval.env.load(look.subject, key) {
                Ok(_) | Err(Stop::NEED) => {}
                Err(stop) => return Err(stop),
            }
        }
    }
    if eval.env.needs.is_empty() { Ok(()) } else { Err(Stop::NEED) }
}

/// The key of the record that is looked at; none: the parameter is null.
#[inline]
pub(crate) fn looked_at<T: Truth>(look: &Look, key: Word, truth: &T) -> Option<Word> {
    if key == NULL {
        return None;
    }
    match look.wanted {
        Wanted::Parent { of } => Some(truth.key_part(of, key, 0)),
        Wanted::Present | Wanted::Absent => Some(key),
    }
}

/// Does a `new` parameter of the same call make this record? Then it is there for its children.
pub(crate) fn is_made(op: &Op, subject: SubjectId, key: Word, params: &[Word]) -> bool {
    let mut rules = op.param_rules.iter().zip(&op.params.fields);
    rules.any(|(rule, field)| {
        rule.new && rule.subject == Some(subject) && params[field.offset as usize] == key
    })
}

/// `exists` of every parameter, and of the parent of every new one, then `fresh` of every new one:
/// they stand in this order.
fn look<T: Truth>(eval: &mut Eval<'_, StepEnv<'_, T>>, op: &Op) -> Result<(), Ended> {
    for look in &op.looks {
        let Some(key) = looked_at(look, eval.local(look.offset), eval.env.truth) else {
            continue;
        };
        let place = eval.env.load(look.subject, key)?;
        match (eval.env.overlay.status(place), look.wanted) {
            (Status::Absent, Wanted::Present) if op.exists => {
                return Err(unmet(op, look, Reason::Exists(look.param), ClauseRef::Exists));
            }
            (Status::Absent, Wanted::Present) => {
                let defaults = &eval.program.subject(look.subject).defaults;
                eval.env.overlay.pretend(place, defaults);
            }
            (Status::Absent, Wanted::Parent { .. })
                if !is_made(op, look.subject, key, &eval.frame[eval.base..]) =>
            {
                return Err(unmet(op, look, Reason::Exists(look.param), ClauseRef::Exists));
            }
            (Status::Same, Wanted::Absent) => {
                return Err(unmet(op, look, Reason::Fresh(look.param), ClauseRef::Fresh));
            }
            _ => {}
        }
    }
    Ok(())
}

#[cold]
fn unmet(op: &Op, look: &Look, reason: Reason, clause: ClauseRef) -> Ended {
    Ended::Unmet(reason, clause, op.param_rules[look.param as usize].span)
}
