//! A design on a store.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use design::model::Design;
use engine::{NULL, Word};
use layout::{ContentKey, DesignNumber, Epoch, Pool, RecordKey};
use serde_json::Value;
use store::{Recent, Store, Transaction};

use super::alarm::Alarm;
use super::clock::Clock;
use super::counters::Counters;
use super::fence::Fence;
use super::former::Former;
use super::gate::Gate;
use super::hot::{HotKey, HotKeys};
use super::plan::{Got, Plan, Source};
use super::schema::Schema;
use super::settings::Settings;
use super::skew::Skew;
use crate::calls::{Ephemerals, Room};
use crate::servers::Membership;
use crate::sight::Viewer;
use crate::values;
use crate::views::Views;

pub struct Runtime {
    pub(crate) schema: Arc<Schema>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) settings: Settings,
    pub(crate) counters: Counters,
    pub(crate) views: Views,
    pub(crate) hot: HotKeys,
    pub(crate) ephemerals: Ephemerals,
    #[expect(
        clippy::vec_box,
        reason = "a desk is large, and is taken and given back by every call"
    )]
    desks: Mutex<Vec<Box<Desk>>>,
    pub(crate) alarm: Alarm,
    /// earlier versions, which tell how the feed of their time is read
    pub(crate) older: Vec<Arc<Schema>>,
    /// what they called what this one has
    pub(crate) former: Former,
    pub(crate) gate: Gate,
    /// what it has read and written of late, where others may change the store, too
    pub(crate) recent: Recent,
    /// which text has the say, where others may change the store, too
    pub(crate) fence: Option<Fence>,
    pub(crate) skew: Skew,
    pub(crate) membership: Membership,
    /// outbox entries that are on their way, by operation and key
    in_flight: Mutex<BTreeSet<Vec<u8>>>,
}

/// What one call works with; used again by the next.
pub(crate) struct Desk {
    pub pool: RefCell<Pool>,
    pub room: Room,
}

/// The newest state of a store in this process.
pub(crate) struct Newest<'t>(pub &'t dyn Transaction, pub DesignNumber);

impl Source for Newest<'_> {
    fn get(&self, key: &[u8]) -> Got<'_> {
        match self.0.get(key) {
            Some((version, value)) => Got::Present(version.0, value),
            None if self.0.misses() => Got::Later,
            None => Got::Absent,
        }
    }

    fn stored(&self, digest: &[u8]) -> Option<bool> {
        match self.0.get(&ContentKey { design: self.1, digest }.to_bytes()) {
            Some(_) => Some(true),
            None if self.0.misses() => None,
            None => Some(false),
        }
    }
}

pub(crate) fn apply(plan: &Plan, transaction: &mut dyn Transaction) {
    for (key, value) in plan.writes() {
        match value {
            Some(value) => transaction.put(key, value),
            None => transaction.delete(key),
        }
    }
    if !plan.feed.is_empty() {
        transaction.feed(&plan.feed);
    }
}

impl Runtime {
    /// The time that steps are decided at.
    pub fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    pub(crate) fn of(
        mut schema: Schema,
        older: Vec<Arc<Schema>>,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        settings: Settings,
    ) -> Runtime {
        schema.secrets.clone_from(&settings.secrets);
        schema.reexamine_ms = settings.reexamine_ms;
        // where nobody else is, nothing is left to chance
        let server = if store.local().is_none() { settings.surroundings.chance() } else { 0 };
        let membership = Membership::new(server);
        schema.forgets_max = operations_left(store.as_ref());
        let counters = Counters::new(&schema.design);
        let former = Former::of(&schema.design, &older);
        // whoever is called twice across a change of the name sees one key
        schema.called = former.first_names().to_vec();
        Runtime {
            schema: Arc::new(schema),
            store,
            clock,
            settings,
            counters,
            views: Views::default(),
            hot: HotKeys::default(),
            ephemerals: Ephemerals::default(),
            desks: Mutex::new(Vec::new()),
            alarm: Alarm::default(),
            older,
            former,
            gate: Gate::default(),
            recent: Recent::default(),
            fence: None,
            skew: Skew::default(),
            membership,
            in_flight: Mutex::default(),
        }
    }

    /// The same, in this epoch of a store that others may change, too.
    pub(crate) fn within(mut self, epoch: Option<Epoch>) -> Runtime {
        self.fence = epoch.map(|epoch| Fence::new(self.schema.number, epoch));
        self
    }

    /// Another version of this design on the same store.
    pub(crate) fn successor(&self, schema: Schema, older: Vec<Arc<Schema>>) -> Runtime {
        let (store, clock) = (Arc::clone(&self.store), Arc::clone(&self.clock));
        // whoever heard this version hears the next one
        schema.set_listeners(self.schema.listeners());
        Runtime::of(schema, older, store, clock, self.settings.clone())
    }

    pub fn design(&self) -> &Design {
        &self.schema.design
    }

    /// May this viewer act as this actor? The actors of one chain of `continues` are the same
    /// principals. None: the design has no such actor.
    pub fn allows(&self, viewer: &Viewer, actor: &str) -> Option<bool> {
        let at = self.schema.design.actors.iter().position(|known| known.name == actor)?;
        Some(self.schema.sight.allows(viewer, design::model::ActorId::of(at)))
    }

    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(crate) fn desk(&self) -> Box<Desk> {
        let kept = self.desks.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match kept {
            Some(mut desk) => {
                desk.pool.borrow_mut().reset();
                desk.room.trace = None;
                desk
            }
            None => Box::new(Desk {
                pool: RefCell::new(Pool::new(self.schema.program.texts())),
                room: Room::default(),
            }),
        }
    }

    pub(crate) fn give_back(&self, mut desk: Box<Desk>) {
        desk.pool.get_mut().given_mut().forget();
        self.desks.lock().unwrap_or_else(PoisonError::into_inner).push(desk);
    }

    pub(crate) fn in_flight(&self) -> MutexGuard<'_, BTreeSet<Vec<u8>>> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For what is served only where the state is in this process, and refused elsewhere before.
    pub(crate) fn local(&self) -> &dyn store::LocalStore {
        self.store.local().expect("this is refused on stores far away")
    }

    /// The records that are changed most, by subject and key, and how often any was.
    pub fn hottest(&self, most: usize) -> (Vec<(String, Vec<Value>, HotKey)>, u64) {
        let schema = &*self.schema;
        let (hottest, total) = self.hot.hottest(most);
        let mut pool = Pool::new(schema.program.texts());
        let named = hottest.into_iter().filter_map(|hot| {
            let record = RecordKey::parse(&hot.key).ok()?;
            let subject = record.subject;
            let handle = schema.codec().handle(record, &mut pool).ok()?;
            let mut key = Vec::new();
            values::write_key(&schema.design, subject, handle, &pool, &mut key);
            Some((schema.design.subjects[subject.index()].name.clone(), key, hot))
        });
        (named.collect(), total)
    }
}

/// Keys that one commit may check or write besides those that it is about: the epoch, the record, its due times.
const OPERATIONS_APART: usize = 16;

/// How many keys of one kind a commit may gather.
pub(crate) fn operations_left(store: &dyn Store) -> usize {
    store.limits().commit_operations_max.saturating_sub(OPERATIONS_APART).max(1)
}

/// No principal: the engine acts itself.
pub(crate) const NOBODY: Word = NULL;
