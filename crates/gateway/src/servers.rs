//! Which servers share the store: one for each process, whatever it serves. For operators. It waits for the store: not
//! to be called where others are served meanwhile.

use runtime::{Presence, SeenServers, time};
use serde_json::{Value, json};

use crate::gateway::Gateway;
use crate::problem::Problem;

/// The servers of one store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Servers {
    /// the store's clock, in milliseconds
    pub at: i64,
    /// others may share the store
    pub shared: bool,
    pub designs: Vec<runtime::OfDesign>,
    /// this one first, then by when they started
    pub servers: Vec<Server>,
    /// there is more than was looked at
    pub more: bool,
}

/// One process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Server {
    /// chosen by chance when it started
    pub id: String,
    /// the one that was asked
    pub this: bool,
    /// none: not known
    pub host: Option<String>,
    pub address: Option<String>,
    pub version: Option<String>,
    pub since: Option<i64>,
    /// when it was last heard of
    pub seen: Option<i64>,
    /// how far its clock is ahead of the store's
    pub ahead_ms: i64,
    /// of all that it does what an operator should know first
    pub presence: Presence,
    pub designs: Vec<Served>,
}

/// One design of one process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Served {
    pub name: String,
    /// the epoch of the text that it has; none: the store is of one process, or it did not say
    pub epoch: Option<u64>,
    /// the one that has the say
    pub current: Option<u64>,
    pub hash: Option<[u8; 32]>,
    pub presence: Presence,
    /// deliveries that it has begun and not settled
    pub in_hand: u64,
    /// webhooks and others who follow the feed that are its own
    pub follows: Vec<String>,
}

impl Gateway {
    /// The servers of the store, as far as they tell of themselves in it. Nobody else may ask than an operator.
    pub fn servers(&self) -> Result<Servers, Problem> {
        let mut found: Option<SeenServers> = None;
        for service in self.services() {
            let seen = service
                .runtime
                .servers_seen()
                .map_err(|error| Problem::of_call(&service, error))?;
            let shared = seen.shared;
            match &mut found {
                None => found = Some(seen),
                Some(found) => {
                    found.designs.extend(seen.designs);
                    found.servers.extend(seen.servers);
                }
            }
            // such a store tells of all its designs at once
            if shared {
                break;
            }
        }
        let own = self.services().find_map(|service| service.runtime.process_number());
        let address = self.services().find_map(|service| service.runtime.process_address());
        found
            .map(|seen| gathered(seen, own, address.as_deref()))
            .ok_or_else(|| Problem::unknown("nothing is served"))
    }
}

/// One row for each process. What this one knows of itself need not have reached the store yet.
fn gathered(seen: SeenServers, own: Option<u64>, address: Option<&str>) -> Servers {
    let SeenServers { at, shared, designs, servers: rows, more } = seen;
    let mut servers: Vec<Server> = Vec::new();
    let mut rows = rows;
    // of two rows of one process and design the later one counts
    rows.sort_by_key(|row| std::cmp::Reverse(row.card.as_ref().map(|card| card.seen)));
    for row in rows {
        let process = row.card.as_ref().map_or(row.number, |card| card.process);
        let id = format!("{process:016x}");
        let known = servers.iter().position(|server| server.id == id);
        let at = known.unwrap_or_else(|| {
            let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
            let card = row.card.as_ref();
            let this = !shared || own == Some(process);
            servers.push(Server {
                id,
                this,
                host: card.and_then(|card| text(&card.host)),
                address: card
                    .and_then(|card| text(&card.address))
                    .or_else(|| text(address.filter(|_| this && card.is_some())?)),
                version: card.and_then(|card| text(&card.version)),
                since: card.map(|card| card.since),
                seen: card.map(|card| card.seen),
                ahead_ms: card.map_or(0, |card| card.ahead_ms),
                presence: Presence::Gone,
                designs: Vec::new(),
            });
            servers.len() - 1
        });
        let server = &mut servers[at];
        if server.designs.iter().any(|design| design.name == row.design) {
            continue;
        }
        let current = designs.iter().find(|design| design.name == row.design);
        server.designs.push(Served {
            epoch: row.card.as_ref().map(|card| card.epoch).filter(|_| shared),
            current: current.and_then(|design| design.epoch),
            hash: row.card.as_ref().map(|card| card.design),
            presence: row.presence,
            in_hand: row.in_hand,
            follows: row.follows,
            name: row.design,
        });
    }
    for server in &mut servers {
        server.designs.sort_by(|a, b| a.name.cmp(&b.name));
        // a process lives as long as one of its designs does
        let living = server.designs.iter().map(|design| design.presence);
        let worst = living.filter(|presence| *presence != Presence::Gone).max();
        server.presence = worst.unwrap_or(Presence::Gone);
    }
    servers.sort_by_key(|server| (!server.this, server.since, server.id.clone()));
    Servers { at, shared, designs, servers, more }
}

impl Server {
    /// What it is called in front of people.
    pub fn name(&self) -> &str {
        self.address.as_deref().or(self.host.as_deref()).unwrap_or(&self.id)
    }

    /// What an operator should know of how it is, in one sentence; nothing, if all is well.
    pub fn trouble(&self, at: i64) -> Option<String> {
        let quiet = self.seen.map(|seen| at.saturating_sub(seen).max(0));
        let quiet =
            quiet.map_or(String::new(), |ms| format!(" for {}.{} s", ms / 1_000, ms % 1_000 / 100));
        match self.presence {
            Presence::Serving => None,
            Presence::Replaced => Some(
                "another text of a design has the say: start it with that text, or stop it".into(),
            ),
            Presence::Late => Some(format!(
                "not heard of{quiet}: it is busy, cut off from the store, or ended just now"
            )),
            Presence::WrongClock => {
                let side = if self.ahead_ms < 0 { "behind" } else { "ahead of" };
                let off = self.ahead_ms.unsigned_abs();
                Some(format!(
                    "its clock is {off} ms {side} the store's: it refuses calls until it is set right"
                ))
            }
            Presence::Gone => Some(format!("not heard of{quiet}: others do what it had in hand")),
        }
    }
}

impl Servers {
    /// How many serve the text of this design that has the say.
    pub fn serving(&self, design: &str) -> usize {
        let all = self.servers.iter().flat_map(|server| &server.designs);
        let of = all.filter(|it| it.name == design && it.epoch == it.current);
        of.filter(|it| matches!(it.presence, Presence::Serving | Presence::Late)).count()
    }

    pub fn to_json(&self) -> Value {
        let moment = |ms: Option<i64>| ms.map(time::write_time);
        let servers: Vec<Value> = self
            .servers
            .iter()
            .map(|server| {
                let designs = server.designs.iter().map(|design| {
                    json!({
                        "design": design.name,
                        "epoch": design.epoch,
                        "current_epoch": design.current,
                        "hash": design.hash.as_ref().map(short),
                        "state": design.presence.name(),
                        "in_hand": design.in_hand,
                        "follows": design.follows,
                    })
                });
                json!({
                    "id": server.id,
                    "this": server.this,
                    "host": server.host,
                    "address": server.address,
                    "version": server.version,
                    "since": moment(server.since),
                    "seen": moment(server.seen),
                    "quiet_ms": server.seen.map(|seen| self.at.saturating_sub(seen).max(0)),
                    "clock_ahead_ms": server.ahead_ms,
                    "state": server.presence.name(),
                    "trouble": server.trouble(self.at),
                    "designs": designs.collect::<Vec<_>>(),
                })
            })
            .collect();
        let designs = self.designs.iter().map(|design| {
            json!({
                "design": design.name,
                "epoch": design.epoch,
                "hash": short(&design.hash),
                "servers": self.serving(&design.name),
            })
        });
        json!({
            "at": time::write_time(self.at),
            "shared": self.shared,
            "more": self.more,
            "servers": servers,
            "designs": designs.collect::<Vec<_>>(),
        })
    }
}

/// Enough of a hash to tell texts apart.
pub fn short(hash: &[u8; 32]) -> String {
    hash[..6].iter().map(|byte| format!("{byte:02x}")).collect()
}
