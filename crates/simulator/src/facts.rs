//! What became of a world, and how much happened in it.

use std::collections::BTreeMap;

use store::Hash;

use crate::script::Script;
use crate::trouble::Trouble;

/// What became of a world.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// what was done to it
    pub script: Script,
    pub trouble: Option<Trouble>,
    /// of everything that happened
    pub digest: Hash,
    pub facts: Facts,
    /// what happened, in order
    pub story: Vec<Event>,
}

/// Something that happened, for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    pub at_ms: u64,
    pub by: By,
    pub text: String,
}

/// Who something happened to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum By {
    /// a call and what was heard of it; none: no call, the caller forgets what it knew
    Caller { who: String, heard: Option<Heard> },
    /// `bad`: the power is cut, or the clock jumps
    Server { bad: bool },
    /// a transition that the history has; somebody called, or the server did it by itself
    Feed { called: bool },
}

/// What a caller heard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Heard {
    Done,
    Refused,
    /// the answer was lost, or there was none
    Nothing,
}

/// How much happened.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub lives: u64,
    pub power_cuts: u64,
    /// failed syncs and writes, full disks
    pub disk_faults: u64,
    pub clock_jumps: u64,
    /// of servers that share a store
    pub kills: u64,
    /// requests to a store that is far away, or their answers, that were lost on the way
    pub lost_requests: u64,
    /// versions that took the place of another, while calls were made
    pub replacements: u64,
    pub calls: u64,
    pub transitions: u64,
    /// calls whose outcome was not known and that were asked again
    pub asked_again: u64,
    pub replayed: u64,
    pub lost_answers: u64,
    /// calls that arrived twice
    pub doubled: u64,
    /// calls whose arguments are never taken
    pub unusable: u64,
    /// operations that changed something on the disk
    pub disk_operations: u64,
    /// milliseconds that passed in the world
    pub passed_ms: u64,
    /// by operation
    pub done: BTreeMap<String, u64>,
    /// by operation and clause
    pub refused: BTreeMap<(String, String), u64>,
    /// recoveries that were not reached while work went on
    pub unsettled: u64,
}

impl Facts {
    pub fn add(&mut self, other: &Facts) {
        self.lives += other.lives;
        self.power_cuts += other.power_cuts;
        self.disk_faults += other.disk_faults;
        self.clock_jumps += other.clock_jumps;
        self.kills += other.kills;
        self.lost_requests += other.lost_requests;
        self.replacements += other.replacements;
        self.calls += other.calls;
        self.transitions += other.transitions;
        self.asked_again += other.asked_again;
        self.replayed += other.replayed;
        self.lost_answers += other.lost_answers;
        self.doubled += other.doubled;
        self.unusable += other.unusable;
        self.passed_ms += other.passed_ms;
        self.unsettled += other.unsettled;
        self.disk_operations += other.disk_operations;
        for (name, times) in &other.done {
            *self.done.entry(name.clone()).or_default() += times;
        }
        for (name, times) in &other.refused {
            *self.refused.entry(name.clone()).or_default() += times;
        }
    }

    /// Everything that went wrong on purpose.
    pub fn faults(&self) -> u64 {
        let of_the_server = self.power_cuts + self.disk_faults + self.clock_jumps + self.kills;
        of_the_server + self.lost_answers + self.lost_requests + self.doubled
    }
}
