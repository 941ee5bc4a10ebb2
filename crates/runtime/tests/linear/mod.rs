//! What is called, by whom, and what it should do one call at a time.

mod wrong;

use std::sync::atomic::{AtomicU64, Ordering};

use runtime::{CallError, Request, Runtime};
use serde_json::Value;
use store::Seeded;
use store::linearizability::{History, Model, Operation};

pub use wrong::{Fault, Wrong};

pub const DESIGN: &str = r#"
design Linear
actor client
subject Register(register: text) { truth Content { value: int = 0 } }
step client[swap(register: Register, expected: int, value: int) {
    unchanged: Content.value = expected
}] {
    Content.value := value
}
step client[transfer(from: Register, to: Register, amount: int) {
    apart: from != to
    enough: from.value >= amount
}] {
    from.value -= amount
    to.value += amount
}
read client[look(register: Register)] = Content
read client[both(first: Register, second: Register)] = { first: first.value, second: second.value }
"#;

const REGISTERS: usize = 4;

#[derive(Clone, Debug)]
pub enum Ask {
    Look(usize),
    Both(usize, usize),
    Swap { register: usize, expected: i64, value: i64 },
    Transfer { from: usize, to: usize, amount: i64 },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    Values(Vec<i64>),
    Done,
    Refused,
}

/// The registers, one call at a time.
pub struct Linear;

impl Model for Linear {
    type State = [i64; REGISTERS];
    type Request = Ask;
    type Answer = Told;

    fn initial(&self) -> Self::State {
        [0; REGISTERS]
    }

    fn step(&self, state: &Self::State, ask: &Ask, told: Option<&Told>) -> Option<Self::State> {
        let mut after = *state;
        let right = match *ask {
            Ask::Look(register) => Told::Values(vec![state[register]]),
            Ask::Both(first, second) => Told::Values(vec![state[first], state[second]]),
            Ask::Swap { register, expected, .. } if state[register] != expected => Told::Refused,
            Ask::Swap { register, value, .. } => {
                after[register] = value;
                Told::Done
            }
            Ask::Transfer { from, amount, .. } if state[from] < amount => Told::Refused,
            Ask::Transfer { from, to, amount } => {
                after[from] -= amount;
                after[to] += amount;
                Told::Done
            }
        };
        told.is_none_or(|told| *told == right).then_some(after)
    }
}

/// Lets clients call until so many operations are done in all.
pub fn record(runtime: &Runtime, seed: u64, clients: u64, operations: u64) -> History<Linear> {
    let clock = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients)
            .map(|number| {
                let seeded = Seeded::new(seed.wrapping_mul(1_000_003).wrapping_add(number));
                let known = [0; REGISTERS];
                let mut client =
                    Client { runtime, clock: &clock, seeded, number, written: 0, known };
                scope.spawn(move || -> Vec<_> {
                    (0..operations / clients).map(|_| client.operation()).collect()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

/// How many operations began before another one that began earlier had ended.
pub fn overlaps(history: &History<Linear>) -> usize {
    let mut spans: Vec<(u64, u64)> = history
        .iter()
        .map(|operation| {
            (operation.begun, operation.ended.as_ref().map_or(u64::MAX, |(at, _)| *at))
        })
        .collect();
    spans.sort_unstable();
    let mut latest = 0;
    spans
        .iter()
        .filter(|(begun, ended)| {
            let overlapped = *begun < latest;
            latest = latest.max(*ended);
            overlapped
        })
        .count()
}

struct Client<'a> {
    runtime: &'a Runtime,
    clock: &'a AtomicU64,
    seeded: Seeded,
    number: u64,
    written: u64,
    /// what this client last saw of each register
    known: [i64; REGISTERS],
}

impl Client<'_> {
    fn operation(&mut self) -> Operation<Ask, Told> {
        let ask = self.choose();
        if self.seeded.percent(10) {
            std::thread::yield_now();
        }
        let begun = self.tick();
        let told = self.call(&ask);
        let ended = self.tick();
        match (&ask, &told) {
            (Ask::Look(register), Told::Values(values)) => self.known[*register] = values[0],
            (Ask::Both(first, second), Told::Values(values)) => {
                self.known[*first] = values[0];
                self.known[*second] = values[1];
            }
            (Ask::Swap { register, value, .. }, Told::Done) => self.known[*register] = *value,
            _ => {}
        }
        Operation { request: ask, begun, ended: Some((ended, told)) }
    }

    fn choose(&mut self) -> Ask {
        let first = self.seeded.below(REGISTERS as u64) as usize;
        let second = (first + 1 + self.seeded.below(REGISTERS as u64 - 1) as usize) % REGISTERS;
        match self.seeded.below(100) {
            0..30 => Ask::Look(first),
            30..45 => Ask::Both(first, second),
            45..75 => {
                self.written += 1;
                let value = ((self.written << 8) | (self.number + 1)) as i64;
                Ask::Swap { register: first, expected: self.known[first], value }
            }
            _ => {
                let amount = 1 + self.seeded.below(400) as i64;
                Ask::Transfer { from: first, to: second, amount }
            }
        }
    }

    fn call(&mut self, ask: &Ask) -> Told {
        // truth is read in two ways, and both must be right
        if let Ask::Look(register) = ask
            && self.seeded.percent(50)
        {
            let key = [Value::String(name(*register))];
            let truth = store::block_on(self.runtime.get("Register", &key)).unwrap().unwrap();
            return Told::Values(vec![truth.truth["Content"]["value"].as_i64().unwrap()]);
        }
        match self.runtime.call(&request(ask)) {
            Ok(reply) => match ask {
                Ask::Look(_) => Told::Values(vec![reply.result["value"].as_i64().unwrap()]),
                Ask::Both(..) => {
                    let value = |name: &str| reply.result[name].as_i64().unwrap();
                    Told::Values(vec![value("first"), value("second")])
                }
                Ask::Swap { .. } | Ask::Transfer { .. } => Told::Done,
            },
            Err(CallError::Refused(_)) => Told::Refused,
            Err(error) => panic!("{error}"),
        }
    }

    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }
}

fn request(ask: &Ask) -> Request {
    let ask_for = |operation: &str| Request::new("client", operation, "linear");
    match ask {
        Ask::Look(register) => ask_for("look").with("register", name(*register)),
        Ask::Both(first, second) => {
            ask_for("both").with("first", name(*first)).with("second", name(*second))
        }
        Ask::Swap { register, expected, value } => ask_for("swap")
            .with("register", name(*register))
            .with("expected", *expected)
            .with("value", *value),
        Ask::Transfer { from, to, amount } => ask_for("transfer")
            .with("from", name(*from))
            .with("to", name(*to))
            .with("amount", *amount),
    }
}

fn name(register: usize) -> String {
    format!("r{register}")
}
