//! Records what concurrent clients of a store ask and are answered.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::registers::{Answer, REGISTERS, Registers, Request, Value};
use super::{History, Operation};
use crate::commit::Commit;
use crate::contract::Store;
use crate::error::Error;
use crate::key::Key;
use crate::record::{Record, Version};
use crate::seeded::Seeded;
use crate::surroundings::block_on;

/// How to record. The seed decides what each client asks, though not how they meet.
#[derive(Clone, Copy, Debug)]
pub struct Recording {
    pub seed: u64,
    pub clients: u64,
    pub operations: u64,
}

/// Lets clients read and commit one and several records at once, for so many operations in all. The
/// records under `linear/` must be absent.
pub fn record(store: &dyn Store, recording: Recording) -> Result<History<Registers>, Error> {
    let clock = AtomicU64::new(0);
    thread::scope(|scope| {
        let clients: Vec<_> = (0..recording.clients)
            .map(|number| {
                let client = Client::new(store, &clock, recording, number);
                scope.spawn(move || client.run(recording.operations / recording.clients))
            })
            .collect();
        let mut history = Vec::new();
        for client in clients {
            history.extend(client.join().expect("a client panicked")?);
        }
        Ok(history)
    })
}

struct Client<'a> {
    store: &'a dyn Store,
    clock: &'a AtomicU64,
    seeded: Seeded,
    number: u64,
    written: u64,
    /// What this client last saw of each register.
    known: [Option<(Version, Value)>; REGISTERS],
    history: History<Registers>,
}

impl<'a> Client<'a> {
    fn new(
        store: &'a dyn Store,
        clock: &'a AtomicU64,
        recording: Recording,
        number: u64,
    ) -> Client<'a> {
        let seeded = Seeded::new(recording.seed.wrapping_mul(1_000_003).wrapping_add(number));
        let known = [None; REGISTERS];
        Client { store, clock, seeded, number, written: 0, known, history: Vec::new() }
    }

    fn run(mut self, operations: u64) -> Result<History<Registers>, Error> {
        for _ in 0..operations {
            if self.seeded.percent(45) {
                self.read()?
            } else {
                self.commit()?
            }
            if self.seeded.percent(10) {
                thread::yield_now();
            }
        }
        Ok(self.history)
    }

    fn read(&mut self) -> Result<(), Error> {
        let registers = self.choose();
        let keys: Vec<Key> = registers.iter().map(|register| key(*register)).collect();
        let begun = self.tick();
        let records = block_on(self.store.read(&keys, None))?.records;
        let ended = self.tick();
        for (register, record) in registers.iter().zip(&records) {
            self.known[*register] = record.as_ref().map(|record| (record.version, value(record)));
        }
        let values = records.iter().map(|record| record.as_ref().map_or(0, value)).collect();
        let answer = Answer::Values(values);
        let request = Request::Read(registers);
        self.history.push(Operation { request, begun, ended: Some((ended, answer)) });
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Error> {
        let registers = self.choose();
        let mut commit = Commit::new();
        let (mut checks, mut writes) = (Vec::new(), Vec::new());
        for register in registers {
            commit = match self.known[register] {
                Some((version, value)) => {
                    checks.push((register, value));
                    commit.expect(key(register), version)
                }
                None => {
                    checks.push((register, 0));
                    commit.absent(key(register))
                }
            };
            if self.seeded.percent(15) {
                writes.push((register, 0));
                commit = commit.delete(key(register));
            } else {
                self.written += 1;
                let value = (self.written << 16) | (self.number + 1);
                writes.push((register, value));
                commit = commit.put(key(register), value.to_be_bytes().to_vec());
            }
        }
        let begun = self.tick();
        let answer = match block_on(self.store.commit(commit)) {
            Ok(_) => Answer::Done,
            Err(Error::Conflict(_)) => Answer::Conflict,
            Err(error) => return Err(error),
        };
        let ended = self.tick();
        let request = Request::Commit { checks, writes };
        self.history.push(Operation { request, begun, ended: Some((ended, answer)) });
        Ok(())
    }

    /// One register, or two or three different ones.
    fn choose(&mut self) -> Vec<usize> {
        let first = self.seeded.below(REGISTERS as u64) as usize;
        let count = if self.seeded.percent(60) { 1 } else { 2 + self.seeded.below(2) as usize };
        (0..count).map(|n| (first + n) % REGISTERS).collect()
    }

    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }
}

fn key(register: usize) -> Key {
    format!("linear/{register}").into()
}

fn value(record: &Record) -> Value {
    let bytes = record.value.as_ref().try_into();
    // A record that no client wrote is no value that the model knows.
    bytes.map_or(Value::MAX, Value::from_be_bytes)
}
