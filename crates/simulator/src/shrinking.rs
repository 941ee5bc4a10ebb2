//! A smaller script that goes wrong in the same way.

use store_embedded::disk::Faults;

use crate::facts::Outcome;
use crate::script::{Room, Script, Server};
use crate::simulator::Simulator;
use crate::smaller::{faults_of, is_faulty, sooner, without};

/// So many worlds are tried at most to make one smaller.
pub const TRIES_MAX: usize = 6_000;
/// So many worlds of each size are drawn in the hope that a small one goes wrong in the same way.
const DRAWN: u64 = 12;
/// So many when leaving out calls has not been enough. What strikes at few positions of a log is met by few of the small
/// worlds, and each of them takes a small part of the time of the one that was found.
const DRAWN_CLOSE: u64 = 512;
/// With this part of the calls a world is small enough, and what takes many tries is left.
const PART: usize = 10;
/// A store is opened with about so many operations of its disk, or requests; a call takes a few more.
const OPENING: u64 = 16;
const EACH_CALL: u64 = 3;
/// A world with less in it is tried with so many other seeds: they decide what a power cut leaves and what the network
/// does, which comes to something else when there are fewer calls.
const SEEDS: u64 = 3;

/// What is left of a world that went wrong, and how often it was tried.
pub struct Shrunk {
    /// of the world that was found
    pub seed: u64,
    pub calls: usize,
    /// The smallest world that goes wrong in the same way. It may have another seed.
    pub outcome: Outcome,
    pub tries: usize,
}

/// Looks for a smaller world that goes wrong in the same way. At most so many worlds are tried; [`TRIES_MAX`] is plenty.
///
/// First small worlds are drawn: what has to happen at the right moment, such as a power cut after so many operations
/// of the disk, is met in some of them, and would not be met by the same world without a few calls. Then calls, faults
/// and lives are left out. As long as more than a tenth of the calls is left, small worlds are drawn whose faults and
/// snapshots come early, and what is left out is tried again with faults that come sooner and with other seeds.
pub fn shrink(simulator: &Simulator, found: Outcome, tries_max: usize) -> Shrunk {
    let (seed, calls) = (found.script.seed, found.script.calls());
    let Some(kind) = found.trouble.as_ref().map(crate::Trouble::kind) else {
        return Shrunk { seed, calls, outcome: found, tries: 0 };
    };
    let mut shrinking =
        Shrinking { simulator, kind, best: found, tries: 0, tries_max, persists: false };
    shrinking.draw_small_worlds(false);
    shrinking.leave_out();
    if !shrinking.is_small(calls) {
        shrinking.draw_small_worlds(true);
        shrinking.leave_out();
    }
    if !shrinking.is_small(calls) {
        shrinking.persists = true;
        shrinking.scarce_room();
        shrinking.leave_out();
    }
    let Shrinking { best: outcome, tries, .. } = shrinking;
    Shrunk { seed, calls, outcome, tries }
}

struct Shrinking<'s> {
    simulator: &'s Simulator,
    kind: String,
    best: Outcome,
    tries: usize,
    tries_max: usize,
    /// what did not go wrong in the same way is tried once more, a little different
    persists: bool,
}

impl Shrinking<'_> {
    fn is_over(&self) -> bool {
        self.tries >= self.tries_max
    }

    fn is_small(&self, calls: usize) -> bool {
        self.best.script.calls() * PART <= calls
    }

    fn weight(&self) -> (usize, usize, usize) {
        let script = &self.best.script;
        let faulty = script.lives.iter().map(faults_of).sum();
        (script.calls(), script.lives.len(), faulty)
    }

    /// Is it wrong in the same way?
    fn try_it(&mut self, script: &Script) -> bool {
        if self.is_over() {
            return false;
        }
        self.tries += 1;
        let outcome = self.simulator.again(script);
        self.is_better(outcome)
    }

    fn is_better(&mut self, outcome: Outcome) -> bool {
        let same = outcome.trouble.as_ref().is_some_and(|trouble| trouble.kind() == self.kind);
        if same {
            self.best = outcome;
        }
        same
    }

    /// A script that has fewer calls than the best one.
    fn try_fewer(&mut self, script: &Script) -> bool {
        if self.try_it(script) {
            return true;
        }
        if !self.persists {
            return false;
        }
        for each in 1..=EACH_CALL {
            if let Some(sooner) = sooner(script, &self.best.script, each)
                && self.try_it(&sooner)
            {
                return true;
            }
        }
        (1..=SEEDS).any(|other| {
            let seed = script.seed.wrapping_add(other);
            self.try_it(&Script { seed, ..script.clone() })
        })
    }

    /// One call in each life, two, four, and so on: the first of them that goes wrong counts.
    ///
    /// Close: what is drawn to go wrong after so many operations does so before the calls are over.
    fn draw_small_worlds(&mut self, close: bool) {
        let mut small = self.simulator.clone();
        let lives = small.size.lives.max(1);
        small.size.calls = lives;
        if close {
            small.room = Room::SCARCE;
        }
        let tries_max = self.tries + self.tries_max.saturating_sub(self.tries) / 2;
        let drawn = if close { DRAWN_CLOSE } else { DRAWN };
        while small.size.calls * 2 <= self.best.script.calls() && self.tries < tries_max {
            let calls = (small.size.calls / lives) as u64;
            small.faults_within = close.then_some(OPENING + calls * EACH_CALL);
            for seed in 0..drawn {
                // what one life leaves for the next may take all the calls that there are
                let busy = usize::try_from(seed / 2).unwrap_or_default() % lives;
                small.busy_life = (close && seed % 2 == 1).then_some(busy);
                self.tries += 1;
                if self.is_better(small.draw(seed)) {
                    return;
                }
            }
            small.size.calls *= 2;
        }
    }

    /// Until nothing more can be left out.
    fn leave_out(&mut self) {
        loop {
            let before = self.weight();
            self.leave_out_lives();
            self.leave_out_calls();
            self.leave_out_faults();
            if self.weight() == before || self.is_over() {
                return;
            }
        }
    }

    /// What has to do with a snapshot, or with the next file of the log, is met with fewer calls then.
    fn scarce_room(&mut self) {
        let best = self.best.script.clone();
        let Room { snapshot_after_bytes, .. } = Room::SCARCE;
        let soon = Room { snapshot_after_bytes, ..best.room };
        let scarce = Script { room: Room::SCARCE, ..best.clone() };
        let mut without_faults = scarce.clone();
        for life in &mut without_faults.lives {
            life.faults = Faults::default();
        }
        for script in [scarce, without_faults, Script { room: soon, ..best }] {
            let other = |other| Script { seed: script.seed.wrapping_add(other), ..script.clone() };
            if (0..=SEEDS).any(|seed| self.try_it(&other(seed))) {
                return;
            }
        }
    }

    fn leave_out_lives(&mut self) {
        let mut at = 0;
        while at < self.best.script.lives.len() {
            let mut script = self.best.script.clone();
            script.lives.remove(at);
            if !self.try_it(&script) {
                at += 1;
            }
        }
    }

    /// Halves, quarters, and so on down to single calls.
    fn leave_out_calls(&mut self) {
        let mut length = self.best.script.calls();
        while length > 0 {
            let mut from = 0;
            while from < self.best.script.calls() {
                let script = without(&self.best.script, from, length);
                if !self.try_fewer(&script) {
                    from += length;
                }
                if self.is_over() {
                    return;
                }
            }
            length /= 2;
        }
    }

    fn leave_out_faults(&mut self) {
        for at in 0..self.best.script.lives.len() {
            let Some(life) = self.best.script.lives.get(at) else { return };
            if !is_faulty(life) {
                continue;
            }
            let mut script = self.best.script.clone();
            let life = &mut script.lives[at];
            (life.faults, life.network) = (Faults::default(), store::Faults::default());
            life.servers.iter_mut().for_each(|server| *server = Server::default());
            life.clock_ms = 0;
            if self.try_it(&script) {
                continue;
            }
            self.leave_out_faults_of_servers(at);
            let mut script = self.best.script.clone();
            script.lives[at].replaced_after = None;
            self.try_it(&script);
        }
        let mut script = self.best.script.clone();
        for act in script.lives.iter_mut().flat_map(|life| &mut life.acts) {
            (act.lost, act.forgets, act.doubled) = (false, false, false);
        }
        self.try_it(&script);
    }

    /// One after the other: what the network does, a killed server, a wrong clock.
    fn leave_out_faults_of_servers(&mut self, at: usize) {
        let mut script = self.best.script.clone();
        script.lives[at].network = store::Faults::default();
        if script.lives[at].network != self.best.script.lives[at].network {
            self.try_it(&script);
        }
        for server in 0..self.best.script.lives[at].servers.len() {
            let Server { killed, skew_ms } = self.best.script.lives[at].servers[server];
            if killed.is_some() {
                let mut script = self.best.script.clone();
                script.lives[at].servers[server].killed = None;
                self.try_it(&script);
            }
            if skew_ms != 0 {
                let mut script = self.best.script.clone();
                script.lives[at].servers[server].skew_ms = 0;
                self.try_it(&script);
            }
        }
    }
}
