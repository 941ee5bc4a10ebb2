//! A record that belongs to another: it is made only while its parent is there.
//!
//! The parent is read, not written: it is part of what the commit checks, and steps that make
//! children of one parent do not wait for each other. A parent that no step makes is always there.

use design::model::SubjectId;

use crate::counters::NOWHERE;
use crate::env::StepEnv;
use crate::eval::{Eval, Stop};
use crate::fault::Fault;
use crate::overlay::Status;
use crate::program::KeyPart;
use crate::program::node::NodeId;
use crate::{NULL, Truth, Word};

type Steps<'e, 'x, T> = Eval<'e, StepEnv<'x, T>>;

/// Before `new`: the parts of the key, which stand on the stack from `height`, are not empty, and
/// the parent is there.
pub(crate) fn check_new<T: Truth>(
    eval: &mut Steps<'_, '_, T>,
    subject: SubjectId,
    height: usize,
    place: NodeId,
) -> Result<(), Stop> {
    let program = eval.program;
    let rules = program.subject(subject);
    for (at, part) in rules.key_parts.iter().enumerate() {
        if is_empty(eval, *part, eval.stack[height + at]) {
            return Err(Stop::refuse(Fault::EmptyKey, place));
        }
    }
    if let Some(parent) = rules.explicit_parent
        && eval.env.exists
    {
        // not asked of the key of the child: in a small world it may have no handle
        let key = eval.stack[height];
        let index = eval.env.load(parent, key)?;
        if matches!(eval.env.overlay.status(index), Status::Absent | Status::Deleted) {
            return Err(Stop::refuse(Fault::NoParent, place));
        }
    }
    Ok(())
}

/// Is a part of this key, or of a key in it, an empty text?
pub(crate) fn has_empty_part<T: Truth>(
    eval: &Steps<'_, '_, T>,
    subject: SubjectId,
    key: Word,
) -> bool {
    let parts = &eval.program.subject(subject).key_parts;
    parts.iter().enumerate().any(|(at, part)| {
        *part != KeyPart::Other
            && is_empty(eval, *part, eval.env.truth.key_part(subject, key, at as u32))
    })
}

fn is_empty<T: Truth>(eval: &Steps<'_, '_, T>, part: KeyPart, word: Word) -> bool {
    match part {
        KeyPart::Text => word == eval.program.empty_text,
        KeyPart::Record(subject) => word != NULL && has_empty_part(eval, subject, word),
        KeyPart::Other => false,
    }
}

/// In the end: the parent of a record that was made was not deleted after it.
pub(crate) fn check_parents<T: Truth>(eval: &Steps<'_, '_, T>) -> Result<(), Stop> {
    if !eval.env.exists {
        return Ok(());
    }
    let overlay = &*eval.env.overlay;
    for (index, entry) in overlay.entries.iter().enumerate() {
        if !entry.made || entry.state.is_some() || overlay.words(index).is_none() {
            continue;
        }
        if let Some(parent) = eval.program.subject(entry.subject).explicit_parent {
            let key = eval.env.truth.key_part(entry.subject, entry.key, 0);
            let deleted = |place| overlay.status(place) == Status::Deleted;
            if overlay.find(parent, key).is_some_and(deleted) {
                return Err(Stop::refuse(Fault::HasChildren, NOWHERE));
            }
        }
    }
    Ok(())
}
