//! Clients, each with a connection to every database, and what one step costs them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::wire::Wire;

/// Records in one database.
pub const RECORDS: u64 = 10_000;

/// How a step that needs records of two databases gets at them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Crossing {
    /// With `prepare transaction` in the one, and the other's commit as the decision.
    Prepared,
    /// The one commits with an entry of an outbox and is answered; the entry is carried to the other.
    Message,
}

/// What a client does again and again.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub clients: usize,
    pub crossing: Crossing,
    pub percent: u64,
    pub seconds: f64,
}

/// The tables of one partition, and the statements by their names.
pub const CREATE: &str = "create table register (id int primary key, version int not null, value int not null);
    create table event (id bigint generated always as identity primary key, register int not null,
        version int not null, value int not null);
    create table decision (gid text primary key);
    create table outbox (id text primary key, partition int not null, register int not null, value int not null);
    create table inbox (id text primary key);
    insert into register select n, 0, 0 from generate_series(0, 9999) n;
    analyze register;";

const PREPARE: &str = "prepare step(int, int) as with changed as (update register set version = version + 1, value = $2
        where id = $1 and version < 1000000000 returning id, version, value)
        insert into event (register, version, value) select id, version, value from changed;
    prepare decide(text) as insert into decision values ($1);
    prepare send(text, int, int, int) as insert into outbox values ($1, $2, $3, $4);
    prepare hear(text) as insert into inbox values ($1);
    prepare sent(text) as delete from outbox where id = $1;";

/// What one client has seen.
#[derive(Default)]
pub struct Told {
    /// microseconds until the answer
    pub local: Vec<f64>,
    pub crossing: Vec<f64>,
}

pub struct Client {
    partitions: Vec<Wire>,
    number: usize,
    chance: u64,
    sent: u64,
}

impl Client {
    pub fn connect(ports: &[u16], number: usize, seed: u64) -> Result<Client, String> {
        let mut partitions = Vec::new();
        for port in ports {
            let mut wire = Wire::connect(*port)?;
            wire.ask(PREPARE)?;
            partitions.push(wire);
        }
        let chance = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed;
        Ok(Client { partitions, number, chance, sent: seed << 32 })
    }

    fn below(&mut self, most: u64) -> u64 {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        (self.chance >> 11) % most
    }

    /// Steps until it is told to stop. What is counted is answered after `begun`.
    pub fn run(&mut self, load: &Load, begun: Instant, stop: &AtomicBool) -> Result<Told, String> {
        let mut told = Told::default();
        while !stop.load(Ordering::Relaxed) {
            let crosses = self.below(100) < load.percent;
            let asked = Instant::now();
            let took = match crosses {
                false => self.local(asked)?,
                true => self.cross(load.crossing, asked)?,
            };
            if asked >= begun {
                let list = if crosses { &mut told.crossing } else { &mut told.local };
                list.push(took.as_micros() as f64);
            }
        }
        Ok(told)
    }

    fn local(&mut self, asked: Instant) -> Result<Duration, String> {
        let (partition, id, value) = self.record();
        self.partitions[partition].ask(&format!("execute step({id}, {value})"))?;
        Ok(asked.elapsed())
    }

    fn record(&mut self) -> (usize, u64, u64) {
        let partition = self.below(self.partitions.len() as u64) as usize;
        (partition, self.below(RECORDS), self.below(1_000_000))
    }

    fn cross(&mut self, crossing: Crossing, asked: Instant) -> Result<Duration, String> {
        let (one, id, value) = self.record();
        let away = 1 + self.below(self.partitions.len() as u64 - 1) as usize;
        let (other, other_id) = ((one + away) % self.partitions.len(), self.below(RECORDS));
        self.sent += 1;
        let name = format!("{}-{}", self.number, self.sent);
        match crossing {
            Crossing::Prepared => {
                // Everybody locks in the same order: no database sees a circle that goes through two of them.
                let (first, last) = (one.min(other), one.max(other));
                self.partitions[first].ask(&format!(
                    "begin; execute step({id}, {value}); prepare transaction '{name}'"
                ))?;
                self.partitions[last].ask(&format!(
                    "begin; execute step({other_id}, {value}); execute decide('{name}'); commit"
                ))?;
                self.partitions[first].ask(&format!("commit prepared '{name}'"))?;
                Ok(asked.elapsed())
            }
            Crossing::Message => {
                self.partitions[one].ask(&format!(
                    "begin; execute step({id}, {value}); \
                     execute send('{name}', {other}, {other_id}, {value}); commit"
                ))?;
                // answered here; the rest is what a worker does
                let answered = asked.elapsed();
                self.partitions[other].ask(&format!(
                    "begin; execute hear('{name}'); execute step({other_id}, {value}); commit"
                ))?;
                self.partitions[one].ask(&format!("execute sent('{name}')"))?;
                Ok(answered)
            }
        }
    }
}
