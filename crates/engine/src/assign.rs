//! Assignments.

use design::model::{AttrId, MemoryUseId};

use crate::collection;
use crate::eval::{Stop, compute};
use crate::execute::{Execute, at};
use crate::fault::Fault;
use crate::overlay::Status;
use crate::program::node::{Arithmetic, AssignKind, Destination, Form, NodeId, Slot, Store};
use crate::{NULL, Truth, Word};

impl<T: Truth> Execute<'_, '_, T> {
    pub(crate) fn assign(
        &mut self,
        place: &Destination,
        change: AssignKind,
        value: &Slot,
        stmt: NodeId,
    ) -> Result<(), Stop> {
        let key = self.key(place.base, stmt)?;
        let plain = matches!(change, AssignKind::Set | AssignKind::Add | AssignKind::Subtract);
        if plain && place.store == Store::Truth && value.form == Form::Scalar {
            return self.assign_word(place, key, change, value, stmt);
        }
        let height = self.eval.stack.len();
        let element = match change {
            AssignKind::PutSet { key }
            | AssignKind::PutAdd { key }
            | AssignKind::PutSubtract { key } => match self.eval.eval(key)? {
                NULL => return Err(Stop::refuse(Fault::NullValue, stmt)),
                element => element,
            },
            _ => NULL,
        };
        self.eval.push(value)?;
        let index = match place.store {
            Store::Truth => self.eval.env.load(place.subject, key)?,
            Store::Cache(state) => {
                let index = self.eval.env.load_copy(place.subject, state, key)?;
                if self.eval.env.overlay.status(index) == Status::Absent {
                    let rules = &self.eval.program.subject(place.subject).states[state.index()];
                    self.eval.env.overlay.make(index, &rules.defaults, 0..0);
                }
                index
            }
            Store::Ephemeral(state) => {
                if change != AssignKind::Set {
                    return Err(Stop::refuse(Fault::Unsupported, stmt));
                }
                self.keep_ephemeral(place.subject, state, key, AttrId(place.attr), height);
                return Ok(());
            }
        };
        let record = self.eval.env.overlay.touch(index).map_err(at(stmt))?;
        let target = &mut record[place.offset as usize..(place.offset + place.width) as usize];
        let given = &self.eval.stack[height..];
        apply(target, change, value, given, element).map_err(at(stmt))?;
        self.eval.stack.truncate(height);
        Ok(())
    }

    /// The common case: one word of truth.
    #[inline]
    fn assign_word(
        &mut self,
        place: &Destination,
        key: Word,
        change: AssignKind,
        value: &Slot,
        stmt: NodeId,
    ) -> Result<(), Stop> {
        let word = self.eval.eval(value.node)?;
        if word == NULL && !value.optional {
            return Err(Stop::refuse(Fault::NullValue, value.node));
        }
        let index = self.eval.env.load(place.subject, key)?;
        let record = self.eval.env.overlay.touch(index).map_err(at(stmt))?;
        let target = &mut record[place.offset as usize];
        *target = match change {
            AssignKind::Set => word,
            _ => add(*target, word, change).map_err(at(stmt))?,
        };
        Ok(())
    }

    pub(crate) fn remember(
        &mut self,
        memory: MemoryUseId,
        change: AssignKind,
        value: &Slot,
        stmt: NodeId,
    ) -> Result<(), Stop> {
        let word = self.eval.eval(value.node)?;
        let Some(place) = self.eval.env.memory.get_mut(memory.index()) else {
            return Err(Stop::refuse(Fault::OutOfRange, stmt));
        };
        *place = match change {
            AssignKind::Set => word,
            _ => add(*place, word, change).map_err(at(stmt))?,
        };
        if !self.out.memory.contains(&memory) {
            self.out.memory.push(memory);
        }
        Ok(())
    }
}

/// Changes the words of one attribute.
fn apply(
    target: &mut [Word],
    change: AssignKind,
    value: &Slot,
    given: &[Word],
    element: Word,
) -> Result<(), Fault> {
    let word = given.first().copied().unwrap_or(NULL);
    match change {
        AssignKind::Set => {
            if target.len() == given.len() {
                target.copy_from_slice(given);
                Ok(())
            } else {
                Err(Fault::Unsupported)
            }
        }
        AssignKind::Add | AssignKind::Subtract => {
            target[0] = add(target[0], word, change)?;
            Ok(())
        }
        AssignKind::Insert => each(value, given, |word| collection::insert(target, word)),
        AssignKind::Remove => each(value, given, |word| collection::remove(target, word)),
        AssignKind::Push => match value.form {
            Form::Block { stride } => {
                let used = crate::eval::used(given, stride);
                let mut elements = given[1..=used].chunks_exact(stride as usize);
                elements.try_for_each(|element| collection::push(target, element))
            }
            Form::Scalar | Form::Record => collection::push(target, given),
        },
        AssignKind::RemoveKey => collection::remove_key(target, word),
        AssignKind::PutSet { .. } => collection::put(target, element, word),
        AssignKind::PutAdd { .. } | AssignKind::PutSubtract { .. } => {
            let before = collection::value(target, element)?.unwrap_or(NULL);
            let change = match change {
                AssignKind::PutAdd { .. } => AssignKind::Add,
                _ => AssignKind::Subtract,
            };
            collection::put(target, element, add(before, word, change)?)
        }
        AssignKind::Unsupported => Err(Fault::Unsupported),
    }
}

fn add(before: Word, word: Word, change: AssignKind) -> Result<Word, Fault> {
    if before == NULL || word == NULL {
        return Err(Fault::NullValue);
    }
    let op = if change == AssignKind::Subtract { Arithmetic::Subtract } else { Arithmetic::Add };
    compute(op, before, word)
}

/// One element, or every element of a collection.
fn each(
    value: &Slot,
    given: &[Word],
    mut change: impl FnMut(Word) -> Result<(), Fault>,
) -> Result<(), Fault> {
    match value.form {
        Form::Block { stride } => {
            let used = crate::eval::used(given, stride);
            given[1..=used].iter().try_for_each(|word| change(*word))
        }
        _ => change(given.first().copied().unwrap_or(NULL)),
    }
}
