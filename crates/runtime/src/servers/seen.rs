//! Which servers share a store, for people: read from what each of them writes there. Nothing is decided by it.

use std::collections::BTreeMap;

use layout::{About, DesignNumber, Epoch, FollowerKey, Lease, MetaKey, Serves, Space, take_claim};
use store::{Decision, KeyRange, Scan};

use super::SERVERS_MAX;
use crate::calls::CallError;
use crate::core::{Fence, ReadError, Runtime};
use crate::feed::Standing;
use crate::registry;

/// Deliveries and followers of one design that are looked at.
const LOOKED_AT: usize = 10_000;
/// Of these at a time.
const PAGE: usize = 1_000;

/// What a store says of the servers that share it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeenServers {
    /// the store's clock, in milliseconds
    pub at: i64,
    /// others may share the store
    pub shared: bool,
    pub designs: Vec<OfDesign>,
    /// a row for each design of each server
    pub servers: Vec<Seen>,
    /// there are more deliveries, followers or servers than were looked at
    pub more: bool,
}

/// Which text of a design has the say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OfDesign {
    pub name: String,
    /// none: the store is of one process
    pub epoch: Option<u64>,
    /// of what the text says
    pub hash: [u8; 32],
}

/// One server, as far as one design is concerned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    pub design: String,
    /// what it is called in what it has in hand
    pub number: u64,
    pub card: Option<layout::Card>,
    pub presence: Presence,
    /// deliveries that it has begun and not settled
    pub in_hand: u64,
    /// those who follow the feed, such as webhooks, that it is the one to serve
    pub follows: Vec<String>,
}

/// How a server is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Presence {
    Serving,
    /// another text has the say: it answers that the design was replaced
    Replaced,
    /// it should have been heard of by now, and others still rely on it
    Late,
    /// it refuses to serve, because its clock is too far from the store's
    WrongClock,
    /// nobody relies on it any more: what it had in hand is free
    Gone,
}

impl Presence {
    /// A word for programs.
    pub fn name(self) -> &'static str {
        match self {
            Presence::Serving => "serving",
            Presence::Replaced => "replaced",
            Presence::Late => "late",
            Presence::WrongClock => "wrong-clock",
            Presence::Gone => "gone",
        }
    }
}

impl Runtime {
    /// The servers of the store: of all its designs where others may share it, and otherwise this one. Waits for the
    /// store, and is answered whether or not this server serves.
    pub fn servers_seen(&self) -> Result<SeenServers, CallError> {
        if self.is_shared() { self.shared_by() } else { Ok(self.alone()) }
    }

    /// A store in this process has one server.
    fn alone(&self) -> SeenServers {
        let (name, now) = (self.schema.design.name.clone(), self.clock.now_ms());
        let hash = registry::hash_of(&self.schema.design);
        let process = self.settings.process.as_ref();
        let card = process.map(|process| layout::Card {
            process: process.number,
            host: process.host.clone(),
            address: process.address().unwrap_or_default().to_owned(),
            version: process.version.clone(),
            since: process.since,
            seen: now,
            ahead_ms: 0,
            epoch: 0,
            design: hash,
            serves: Serves::Calls,
        });
        let follows = self.followers().map_or_else(
            |_| Vec::new(),
            |all| all.into_iter().map(|follower| follower.name).collect(),
        );
        let seen = Seen {
            design: name.clone(),
            number: self.server(),
            card,
            presence: Presence::Serving,
            in_hand: self.in_flight().len() as u64,
            follows,
        };
        let designs = vec![OfDesign { name, epoch: None, hash }];
        SeenServers { at: now, shared: false, designs, servers: vec![seen], more: false }
    }

    fn shared_by(&self) -> Result<SeenServers, CallError> {
        let mut numbered = Ok(Vec::new());
        self.look(&mut |transaction| {
            numbered = registry::numbered(transaction);
            Decision::Abandon
        })?;
        let at = match self.block_on(self.store.clock())? {
            Some(at) => i64::try_from(at).unwrap_or(i64::MAX),
            None => self.clock.now_ms(),
        };
        let mut found =
            SeenServers { at, shared: true, designs: Vec::new(), servers: Vec::new(), more: false };
        for (number, name) in numbered? {
            self.of_design(number, name, &mut found)?;
        }
        Ok(found)
    }

    fn of_design(
        &self,
        number: DesignNumber,
        name: String,
        found: &mut SeenServers,
    ) -> Result<(), CallError> {
        let key = Fence::key_of(number);
        let read = self.block_on(self.store.read(std::slice::from_ref(&key), None))?;
        // nobody has served it on a store that others share
        let Some(record) = &read.records[0] else { return Ok(()) };
        let epoch = Epoch::take(&record.value).map_err(|wrong| ReadError::value(&key, wrong))?;
        let all = KeyRange::prefix(MetaKey::servers(number));
        let page = self.block_on(self.store.scan(Scan::new(all, SERVERS_MAX)))?;
        found.more |= page.more;
        let mut servers = Vec::new();
        for (key, record) in page.records {
            let About::Server(server) = MetaKey::parse(&key)?.about else { continue };
            let lease =
                Lease::take(&record.value).map_err(|wrong| ReadError::value(&key, wrong))?;
            let presence = self.presence(&lease, found.at);
            servers.push(Seen {
                design: name.clone(),
                number: server,
                card: lease.card,
                presence,
                in_hand: 0,
                follows: Vec::new(),
            });
        }
        let mut held: BTreeMap<u64, (u64, Vec<String>)> = BTreeMap::new();
        found.more |= self.each(Space::OutboxDue.prefix(number).to_vec(), &mut |key, value| {
            let claim = take_claim(value).map_err(|wrong| ReadError::value(key, wrong))?;
            if let Some(server) = claim {
                held.entry(server).or_default().0 += 1;
            }
            Ok(())
        })?;
        found.more |= self.each(Space::Follower.prefix(number).to_vec(), &mut |key, value| {
            let follower = FollowerKey::parse(key)?;
            if let Some((server, _)) = Standing::take(key, value)?.owner {
                held.entry(server).or_default().1.push(follower.name.to_owned());
            }
            Ok(())
        })?;
        for server in &mut servers {
            if let Some((in_hand, follows)) = held.remove(&server.number) {
                (server.in_hand, server.follows) = (in_hand, follows);
            }
        }
        found.servers.append(&mut servers);
        found.designs.push(OfDesign { name, epoch: Some(epoch.number), hash: epoch.design });
        Ok(())
    }

    /// By the store's clock. A server writes a new card every half of its lease at the latest.
    fn presence(&self, lease: &Lease, at: i64) -> Presence {
        let lease_ms = self.settings.lease_ms;
        let quiet_ms = lease.card.as_ref().map_or(0, |card| at.saturating_sub(card.seen));
        let said = lease.card.as_ref().filter(|_| quiet_ms <= lease_ms).map(|card| card.serves);
        match said {
            Some(Serves::WrongClock) => Presence::WrongClock,
            Some(Serves::Replaced) => Presence::Replaced,
            _ if !self.counts(lease, at) => Presence::Gone,
            _ if quiet_ms > lease_ms / 4 * 3 => Presence::Late,
            _ => Presence::Serving,
        }
    }

    /// Each entry below a prefix; whether there are more than are looked at.
    fn each<Look>(&self, prefix: Vec<u8>, look: &mut Look) -> Result<bool, CallError>
    where
        Look: FnMut(&[u8], &[u8]) -> Result<(), ReadError>,
    {
        let mut range = KeyRange::prefix(prefix);
        let mut count = 0;
        loop {
            let page = self.block_on(self.store.scan(Scan::new(range.clone(), PAGE)))?;
            for (key, record) in &page.records {
                look(key, &record.value)?;
            }
            count += page.records.len();
            let Some((last, _)) = page.records.last().filter(|_| page.more) else {
                return Ok(false);
            };
            if count >= LOOKED_AT {
                return Ok(true);
            }
            range.start = last.next();
        }
    }
}
