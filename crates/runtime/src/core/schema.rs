//! A design on one store.

use std::ops::Deref;
use std::sync::{Arc, PoisonError, RwLock};

use design::model::Design;
use layout::{Codec, DesignNumber};

use super::lowered::Lowered;
use crate::outbox::Listeners;
use crate::secrets::Secrets;

/// What does not change from call to call.
#[derive(Debug)]
pub struct Schema {
    pub lowered: Arc<Lowered>,
    /// its number in the store
    pub number: DesignNumber,
    /// the keys that secrets are kept with
    pub secrets: Option<Arc<dyn Secrets>>,
    /// a repair whose guard depends on another record is looked at again after so long
    pub reexamine_ms: i64,
    /// so many entries of a log are forgotten in one commit, if not fewer
    pub forgets_max: usize,
    /// for each operation: the name that the world outside knows its calls by
    pub called: Vec<String>,
    /// designs that hear this one
    listeners: RwLock<Listeners>,
}

impl Deref for Schema {
    type Target = Lowered;

    fn deref(&self) -> &Lowered {
        &self.lowered
    }
}

impl Schema {
    /// Fails on a design that is too large for the layout of keys.
    pub fn new(design: impl Into<Arc<Design>>, number: DesignNumber) -> Result<Schema, String> {
        Ok(Schema::of(Arc::new(Lowered::of(design)?), number))
    }

    pub fn of(lowered: Arc<Lowered>, number: DesignNumber) -> Schema {
        let operations = &lowered.design.operations;
        Schema {
            secrets: None,
            reexamine_ms: crate::repairs::REEXAMINE_MS,
            forgets_max: usize::MAX,
            called: operations.iter().map(|operation| operation.name.clone()).collect(),
            listeners: RwLock::default(),
            number,
            lowered,
        }
    }

    pub fn listeners(&self) -> Listeners {
        Arc::clone(&self.listeners.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn set_listeners(&self, listeners: Listeners) {
        *self.listeners.write().unwrap_or_else(PoisonError::into_inner) = listeners;
    }

    /// How everything of this design is stored.
    pub fn codec(&self) -> Codec<'_> {
        let Lowered { design, program, records, .. } = &**self;
        Codec { number: self.number, design, program, records }
    }
}
