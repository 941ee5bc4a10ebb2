//! Who else works on the same store, and who does what of the work.
//!
//! Every server that works on a design stands in the store with a lease, which it puts off as long as it lives. What
//! one of them has in hand names it, and is free when its lease is over. Which of them does a repair or a delivery first
//! is decided by a hash, so that they do not all reach for the same: that saves work, and nothing depends on it.
//!
//! `servers.design` beside this file says the same as a design, which is checked. The code is not made from it.

mod preference;
mod process;
mod seen;

use std::sync::{Mutex, MutexGuard, PoisonError};

use layout::{About, Card, Lease, MetaKey, Serves};
use store::{Decision, Key, KeyRange, Scan, Transaction};

use crate::calls::CallError;
use crate::core::{ReadError, Runtime};
pub(crate) use preference::Turn;
pub use process::Process;
pub use seen::{OfDesign, Presence, Seen, SeenServers};

/// Leases that are over for so many times their length are removed.
const FORGOTTEN_AFTER: i64 = 20;
/// Servers that are counted with.
const SERVERS_MAX: usize = 1_000;

/// This server among those that share a store.
pub struct Membership {
    /// chosen by chance
    server: u64,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// until when the own lease is, as it was last written
    until: Option<i64>,
    /// all that live, this one among them
    alive: Vec<u64>,
    /// when it was last told that this server takes no calls
    aside: Option<i64>,
    /// others were told where this server listens
    addressed: bool,
}

impl Membership {
    pub fn new(server: u64) -> Membership {
        Membership { server, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Runtime {
    /// What this server is called in what it has in hand.
    pub(crate) fn server(&self) -> u64 {
        self.membership.server
    }

    /// Others may rely on this server for another while; those who still live are counted anew. Does nothing where
    /// nobody else is, or if it was done a moment ago.
    pub(crate) fn attend(&self) -> Result<(), CallError> {
        if !self.is_shared() {
            return Ok(());
        }
        let lease_ms = self.settings.lease_ms;
        let now = self.clock.now_ms();
        let fresh = |until: i64| until - now > lease_ms - lease_ms / 3 && until - now <= lease_ms;
        let addressed = self.address().is_some();
        {
            let known = self.membership.known();
            if known.until.is_some_and(fresh) && known.addressed == addressed {
                return Ok(());
            }
        }
        let (alive, gone) = self.others(now)?;
        let until = now.saturating_add(lease_ms);
        let key = self.server_key(self.server());
        let lease = Lease { until, card: self.card(Serves::Calls, now) }.to_bytes();
        let ticket = self.transact(&mut |transaction| {
            transaction.put(&key, &lease);
            for gone in &gone {
                // somebody else may have removed it
                if transaction.get(gone).is_some() {
                    transaction.delete(gone);
                }
            }
            Decision::Commit
        });
        match &ticket {
            Err(CallError::Skewed(_)) => self.stand_aside(Serves::WrongClock, now),
            Err(CallError::Replaced) => self.stand_aside(Serves::Replaced, now),
            _ => {}
        }
        ticket?.wait()?;
        *self.membership.known() = Known { until: Some(until), alive, aside: None, addressed };
        Ok(())
    }

    /// Tells whoever asks for the servers of this store why this one takes no calls. Nobody relies on it for longer: its
    /// lease is what it was.
    fn stand_aside(&self, serves: Serves, now: i64) {
        let until = {
            let known = self.membership.known();
            let a_while = 0..self.settings.lease_ms / 3;
            if known.aside.is_some_and(|at| a_while.contains(&now.saturating_sub(at))) {
                return;
            }
            known.until
        };
        let Some(card) = self.card(serves, now) else { return };
        let over = card.seen.saturating_sub(self.settings.skew_max_ms.saturating_mul(2));
        let lease = Lease { until: until.unwrap_or(over), card: Some(card) }.to_bytes();
        let key = self.server_key(self.server());
        // whoever has the say over the design: this decides nothing
        let told = self.look(&mut |transaction| {
            transaction.put(&key, &lease);
            Decision::Commit
        });
        if told.is_ok() {
            self.membership.known().aside = Some(now);
        }
    }

    /// The process that this is, as others are told of it.
    pub fn process_number(&self) -> Option<u64> {
        self.settings.process.as_ref().map(|process| process.number)
    }

    /// Where this process listens, as soon as it does.
    pub fn process_address(&self) -> Option<String> {
        self.address().map(str::to_owned)
    }

    fn address(&self) -> Option<&str> {
        self.settings.process.as_ref().and_then(|process| process.address())
    }

    /// What this server says of itself; nothing, where it was not told who it is.
    fn card(&self, serves: Serves, now: i64) -> Option<Card> {
        let process = self.settings.process.as_ref()?;
        let fence = self.fence.as_ref()?;
        let ahead_ms = self.skew.ahead_ms();
        Some(Card {
            process: process.number,
            host: process.host.clone(),
            address: process.address().unwrap_or_default().to_owned(),
            version: process.version.clone(),
            // its clock was right then, or it would not have started
            since: process.since,
            seen: now.saturating_sub(ahead_ms),
            ahead_ms,
            epoch: fence.epoch.number,
            design: fence.epoch.design,
            serves,
        })
    }

    /// This server works no more: what it has in hand is free at once.
    pub(crate) fn leave(&self) -> Result<(), CallError> {
        let known = std::mem::take(&mut *self.membership.known());
        if known.until.is_none() && known.aside.is_none() {
            return Ok(());
        }
        let key = self.server_key(self.server());
        // also if its text was replaced, or its clock is wrong
        self.look(&mut |transaction| {
            transaction.delete(&key);
            Decision::Commit
        })?;
        Ok(())
    }

    /// The servers that live, and the keys of those that are long gone.
    fn others(&self, now: i64) -> Result<(Vec<u64>, Vec<Key>), CallError> {
        let range = KeyRange::prefix(MetaKey::servers(self.schema.number));
        let page = self.block_on(self.store.scan(Scan::new(range, SERVERS_MAX)))?;
        let (mut alive, mut gone) = (vec![self.server()], Vec::new());
        for (key, record) in page.records {
            let server = MetaKey::parse(&key)?.about;
            let lease =
                Lease::take(&record.value).map_err(|wrong| ReadError::value(&key, wrong))?;
            match server {
                About::Server(server) if server == self.server() => {}
                About::Server(server) if self.counts(&lease, now) => alive.push(server),
                _ if lease.until < now - FORGOTTEN_AFTER * self.settings.lease_ms => gone.push(key),
                _ => {}
            }
        }
        // one at a time is enough, and fits into any commit
        gone.truncate(8);
        Ok((alive, gone))
    }

    /// Whether a server lives, as far as a transaction can tell: one that puts its lease off meanwhile is met.
    pub(crate) fn is_alive(
        &self,
        server: u64,
        now: i64,
        transaction: &dyn Transaction,
    ) -> Result<bool, ReadError> {
        let key = self.server_key(server);
        match transaction.get(&key) {
            None if transaction.misses() => Err(ReadError::NotFetched),
            None => Ok(false),
            Some((_, bytes)) => {
                let lease = Lease::take(bytes).map_err(|wrong| ReadError::value(&key, wrong))?;
                Ok(self.counts(&lease, now))
            }
        }
    }

    /// The clocks of two servers may be apart by twice as much as one may be from the store's.
    fn counts(&self, lease: &Lease, now: i64) -> bool {
        lease.until.saturating_add(self.settings.skew_max_ms.saturating_mul(2)) > now
    }

    fn server_key(&self, server: u64) -> Vec<u8> {
        MetaKey { design: self.schema.number, about: About::Server(server) }.to_bytes()
    }

    /// Whose turn something is that this server could do.
    pub(crate) fn whose_turn(&self) -> Turn {
        let alive =
            if self.is_shared() { self.membership.known().alive.clone() } else { Vec::new() };
        Turn { server: self.server(), alive, grace_ms: self.settings.grace_ms }
    }
}
