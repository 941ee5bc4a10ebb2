//! Deliveries in an order that a test chooses, where the workers take what has waited longest.

use std::ops::ControlFlow;

use design::model::OperationId;
use layout::{OutboxDueKey, OutboxEntry, Pool, Reader, Space, value};
use serde_json::{Map, Value};
use store::{Decision, KeyRange, Transaction};

use super::deliver::{Outside, Worked};
use crate::calls::CallError;
use crate::core::{ReadError, Runtime};
use crate::values;

/// Is it this entry? Asked with the effect or step, and with its arguments.
pub(crate) type Chosen<'c> = dyn Fn(&str, &Map<String, Value>) -> bool + 'c;

/// What is delivered, and how.
#[derive(Clone, Copy, Default)]
pub(crate) struct Choice<'c> {
    /// none: whatever has waited longest
    pub of: Option<&'c Chosen<'c>>,
    /// a message stays where it is
    pub stays: bool,
}

/// The effect or step that is to be called, and its arguments.
pub type Undelivered = (String, Map<String, Value>);

impl Runtime {
    /// Delivers the first open entry that is chosen, an effect or a message, though it may stand
    /// there for a later time. `Idle`: there is none.
    pub fn deliver_chosen(
        &self,
        outside: &dyn Outside,
        chosen: &dyn Fn(&str, &Map<String, Value>) -> bool,
    ) -> Result<Worked, CallError> {
        self.deliver_first(outside, Choice { of: Some(chosen), stays: false })
    }

    /// Delivers an event that is chosen, and lets it come again: as if whoever delivered it had been killed before it
    /// was done with. `Idle`: there is none.
    pub fn deliver_and_keep(
        &self,
        outside: &dyn Outside,
        chosen: &dyn Fn(&str, &Map<String, Value>) -> bool,
    ) -> Result<Worked, CallError> {
        self.deliver_first(outside, Choice { of: Some(chosen), stays: true })
    }

    /// Every open entry.
    pub fn undelivered(&self) -> Result<Vec<Undelivered>, CallError> {
        let mut list = Vec::new();
        let mut trouble = None;
        self.transact(&mut |transaction| {
            list.clear();
            let start = Space::OutboxDue.prefix(self.schema.number).to_vec();
            transaction.scan(&KeyRange::prefix(start), false, &mut |key, _, _| {
                match self.asked_for(key, &*transaction) {
                    Ok((id, args)) => {
                        list.push((self.schema.design.operations[id.index()].name.clone(), args));
                    }
                    Err(error) => trouble = Some(error),
                }
                ControlFlow::Continue(())
            });
            Decision::Abandon
        })?;
        match trouble {
            Some(error) => Err(error.into()),
            None => Ok(list),
        }
    }

    pub(crate) fn is_chosen(
        &self,
        key: &[u8],
        chosen: &Chosen<'_>,
        transaction: &dyn Transaction,
    ) -> bool {
        self.asked_for(key, transaction)
            .is_ok_and(|(id, args)| chosen(&self.schema.design.operations[id.index()].name, &args))
    }

    /// What an entry of the index of due deliveries calls, and with what.
    fn asked_for(
        &self,
        key: &[u8],
        transaction: &dyn Transaction,
    ) -> Result<(OperationId, Map<String, Value>), ReadError> {
        let schema = &*self.schema;
        let key = OutboxDueKey::parse(key)?.entry;
        let (id, entry_key) = (key.operation, key.to_bytes());
        let wrong = |wrong| ReadError::value(&entry_key, wrong);
        let stored = transaction.get(&entry_key);
        let stored = stored.ok_or_else(|| ReadError::absent(transaction, &entry_key))?;
        let entry = OutboxEntry::take(stored.1).map_err(wrong)?;
        let mut reader = Reader::new(&entry.args);
        let mut pool = Pool::new(schema.program.texts());
        let mut args = Map::new();
        let operation = schema.codec().operation(id).map_err(wrong)?;
        for param in operation.carried() {
            let mut words = Vec::new();
            value::take(&mut reader, &schema.design, &param.ty, &mut pool, &mut words)
                .map_err(wrong)?;
            let value = values::write(&schema.design, &param.ty, &words, &pool);
            args.insert(param.name.clone(), value);
        }
        Ok((id, args))
    }
}
