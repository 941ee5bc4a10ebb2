//! Counters under a parent, kept in the same step as the child's change.
//!
//! Counting is put off until a counter is read, or the step ends: a record that is being made
//! attribute by attribute is counted once, when it is whole.
//!
//! A parent is needed only when a counter changes. It cannot be deleted while a counter is not 0, and
//! no child is made without its parent (`children`); so a parent that is made again starts at 0
//! rightly.

use crate::env::StepEnv;
use crate::eval::{Eval, Stop, compute};
use crate::fault::Fault;
use crate::overlay::Status;
use crate::program::node::{Arithmetic, NodeId};
use crate::program::{CountedBy, Expression};
use crate::{NULL, Truth, Word};

/// Where a refusal of this module is said to happen; the statement that ran last says it better.
pub(crate) const NOWHERE: NodeId = NodeId::MAX;

type Steps<'e, 'x, T> = Eval<'e, StepEnv<'x, T>>;

/// Counts every change that is not yet counted.
pub(crate) fn settle<T: Truth>(eval: &mut Steps<'_, '_, T>) -> Result<(), Stop> {
    // what is counted mentions no counter; a design that did would count with the old value
    if !eval.env.overlay.unsettled || eval.env.overlay.settling {
        return Ok(());
    }
    eval.env.overlay.settling = true;
    let lenient = std::mem::replace(&mut eval.lenient, true);
    let counted = count_all(eval);
    eval.lenient = lenient;
    eval.env.overlay.show_before = false;
    eval.env.overlay.settling = false;
    eval.env.overlay.unsettled = counted.is_err();
    counted
}

fn count_all<T: Truth>(eval: &mut Steps<'_, '_, T>) -> Result<(), Stop> {
    let mut index = 0;
    // parents are added to the list while it is walked
    while index < eval.env.overlay.entries.len() {
        let entry = eval.env.overlay.entries[index];
        if entry.uncounted && entry.state.is_none() {
            if !eval.program.subject(entry.subject).counted.is_empty() {
                count(eval, index)?;
            }
            eval.env.overlay.entries[index].uncounted = false;
        }
        index += 1;
    }
    Ok(())
}

fn count<T: Truth>(eval: &mut Steps<'_, '_, T>, index: usize) -> Result<(), Stop> {
    let program = eval.program;
    let entry = eval.env.overlay.entries[index];
    let rules = program.subject(entry.subject);
    let Some(parent_subject) = rules.parent else { return Ok(()) };
    let base = match entry.counted {
        Some(base) => base as usize,
        None => {
            let base = eval.env.overlay.contributions.len();
            eval.env.overlay.show_before = true;
            for rule in &rules.counted {
                let word = match eval.env.overlay.before(index) {
                    Some(_) => contribution(eval, rule, entry.key)?,
                    None => 0,
                };
                eval.env.overlay.contributions.push(word);
            }
            eval.env.overlay.show_before = false;
            eval.env.overlay.entries[index].counted = Some(base as u32);
            base
        }
    };
    let there = eval.env.overlay.status(index) == Status::Changed;
    let parent = eval.env.truth.key_part(entry.subject, entry.key, 0);
    if parent == NULL {
        // A key outside the small world of a checker, which has no handle and so no parts. What is
        // written under it is cut.
        return Ok(());
    }
    for (number, rule) in rules.counted.iter().enumerate() {
        let new = if there { contribution(eval, rule, entry.key)? } else { 0 };
        let old = std::mem::replace(&mut eval.env.overlay.contributions[base + number], new);
        if new != old {
            let place = eval.env.load(parent_subject, parent)?;
            if !eval.env.exists && eval.env.overlay.status(place) == Status::Absent {
                let defaults = &program.subject(parent_subject).defaults;
                eval.env.overlay.pretend(place, defaults);
            }
            add(eval, place, rule.offset, new, old)
                .map_err(|reason| Stop::refuse(reason, NOWHERE))?;
        }
    }
    Ok(())
}

fn add<T: Truth>(
    eval: &mut Steps<'_, '_, T>,
    place: usize,
    offset: u32,
    new: Word,
    old: Word,
) -> Result<(), Fault> {
    let words = eval.env.overlay.touch_counters(place)?;
    let counter = &mut words[offset as usize];
    let difference = compute(Arithmetic::Subtract, new, old)?;
    *counter = compute(Arithmetic::Add, *counter, difference)?;
    Ok(())
}

/// What one child adds to a counter.
fn contribution<T: Truth>(
    eval: &mut Steps<'_, '_, T>,
    rule: &CountedBy,
    child: Word,
) -> Result<Word, Stop> {
    if let Some(filter) = rule.filter
        && in_frame(eval, filter, child)? != 1
    {
        return Ok(0);
    }
    match rule.value {
        None => Ok(1),
        Some(value) => {
            let word = in_frame(eval, value, child)?;
            Ok(if word == NULL { 0 } else { word })
        }
    }
}

/// Evaluates an expression whose local 0 is the child.
fn in_frame<T: Truth>(
    eval: &mut Steps<'_, '_, T>,
    expression: Expression,
    child: Word,
) -> Result<Word, Stop> {
    let outer = eval.base;
    eval.base = eval.frame.len();
    eval.frame.resize(eval.base + expression.frame_width.max(1) as usize, 0);
    eval.set_local(0, child);
    let value = eval.eval(expression.node);
    eval.frame.truncate(eval.base);
    eval.base = outer;
    value
}

/// In the end: no parent was deleted whose counters still count something.
pub(crate) fn check_deleted<T: Truth>(eval: &Steps<'_, '_, T>) -> Result<(), Stop> {
    let overlay = &*eval.env.overlay;
    for (index, entry) in overlay.entries.iter().enumerate() {
        if entry.state.is_some() {
            continue;
        }
        if let Some(words) = overlay.remains(index) {
            let counters = crate::overlay::counters_of(eval.program, entry.subject);
            if words[counters.start as usize..counters.end as usize].iter().any(|word| *word != 0) {
                return Err(Stop::refuse(Fault::HasChildren, NOWHERE));
            }
        }
    }
    Ok(())
}
