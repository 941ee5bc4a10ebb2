//! A smaller script that goes wrong in the same way.

use store_embedded::disk::Faults;

use crate::facts::Outcome;
use crate::script::{Life, Script, Server};
use crate::simulator::Simulator;

/// So many worlds of each size are drawn in the hope that a small one goes wrong in the same way.
const DRAWN: u64 = 12;

/// What is left of a world that went wrong, and how often it was tried.
pub struct Shrunk {
    /// of the world that was found
    pub seed: u64,
    pub calls: usize,
    /// The smallest world that goes wrong in the same way. It may have another seed.
    pub outcome: Outcome,
    pub tries: usize,
}

/// Looks for a smaller world that goes wrong in the same way. At most so many worlds are tried.
///
/// First small worlds are drawn: what has to happen at the right moment, such as a power cut after so many operations
/// of the disk, is met in some of them, and would not be met by the same world without a few calls. Then calls, faults
/// and lives are left out.
pub fn shrink(simulator: &Simulator, found: Outcome, tries_max: usize) -> Shrunk {
    let (seed, calls) = (found.script.seed, found.script.calls());
    let Some(kind) = found.trouble.as_ref().map(crate::Trouble::kind) else {
        return Shrunk { seed, calls, outcome: found, tries: 0 };
    };
    let mut shrinking = Shrinking { simulator, kind, best: found, tries: 0, tries_max };
    shrinking.draw_small_worlds();
    loop {
        let before = shrinking.weight();
        shrinking.leave_out_lives();
        shrinking.leave_out_calls();
        shrinking.leave_out_faults();
        if shrinking.weight() == before || shrinking.is_over() {
            let Shrinking { best: outcome, tries, .. } = shrinking;
            return Shrunk { seed, calls, outcome, tries };
        }
    }
}

struct Shrinking<'s> {
    simulator: &'s Simulator,
    kind: String,
    best: Outcome,
    tries: usize,
    tries_max: usize,
}

impl Shrinking<'_> {
    fn is_over(&self) -> bool {
        self.tries >= self.tries_max
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

    /// One call in each life, two, four, and so on: the first of them that goes wrong counts.
    fn draw_small_worlds(&mut self) {
        let mut small = self.simulator.clone();
        small.size.calls = small.size.lives;
        // half of the tries are for leaving out
        while small.size.calls * 2 <= self.best.script.calls() && self.tries * 2 < self.tries_max {
            for seed in 0..DRAWN {
                self.tries += 1;
                if self.is_better(small.draw(seed)) {
                    return;
                }
            }
            small.size.calls *= 2;
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
                if !self.try_it(&script) {
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
            (act.lost, act.forgets) = (false, false);
        }
        self.try_it(&script);
    }
}

impl Shrinking<'_> {
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

fn is_faulty(life: &Life) -> bool {
    let Faults { crash_at, short_write_at, failed_sync_at, capacity_bytes } = &life.faults;
    let of_disk = crash_at.or(*short_write_at).or(*failed_sync_at).or(*capacity_bytes);
    of_disk.is_some() || !life.is_calm() || life.clock_ms != 0 || life.replaced_after.is_some()
}

/// How much goes wrong on purpose.
fn faults_of(life: &Life) -> usize {
    let servers = life
        .servers
        .iter()
        .map(|server| usize::from(server.killed.is_some()) + usize::from(server.skew_ms != 0));
    let network = usize::from(life.network != store::Faults::default());
    usize::from(is_faulty(life)) + network + servers.sum::<usize>()
}

/// The script without so many calls, counted over all lives.
fn without(script: &Script, from: usize, length: usize) -> Script {
    let mut script = script.clone();
    let mut places = 0..;
    for life in &mut script.lives {
        let (mut at, mut before) = (0, 0);
        let replaced_after = life.replaced_after;
        life.acts.retain(|_| {
            let kept = !places.next().is_some_and(|at| (from..from + length).contains(&at));
            // the replacement comes between the same calls
            before += usize::from(!kept && replaced_after.is_some_and(|after| at < after));
            at += 1;
            kept
        });
        life.replaced_after = replaced_after.map(|after| after - before);
    }
    script
}
