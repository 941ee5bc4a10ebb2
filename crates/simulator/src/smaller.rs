//! A script with less in it.

use store_embedded::disk::Faults;

use crate::script::{Kill, Life, Script, Server};

/// Anything that goes wrong on purpose.
pub(crate) fn is_faulty(life: &Life) -> bool {
    has_disk_fault(&life.faults)
        || !life.is_calm()
        || life.clock_ms != 0
        || life.replaced_after.is_some()
}

fn has_disk_fault(faults: &Faults) -> bool {
    let Faults { crash_at, crash_after_name, short_write_at, failed_sync_at, capacity_bytes } =
        faults;
    let after_name = crash_after_name.map(|after| after.name);
    crash_at.or(after_name).or(*short_write_at).or(*failed_sync_at).or(*capacity_bytes).is_some()
}

/// How much goes wrong on purpose.
pub(crate) fn faults_of(life: &Life) -> usize {
    let servers = life
        .servers
        .iter()
        .map(|server| usize::from(server.killed.is_some()) + usize::from(server.skew_ms != 0));
    let network = usize::from(life.network != store::Faults::default());
    usize::from(is_faulty(life)) + network + servers.sum::<usize>()
}

/// The script without so many calls, counted over all lives.
pub(crate) fn without(script: &Script, from: usize, length: usize) -> Script {
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

/// Faults come after so many operations of the disk or requests, and calls that are left out make fewer of them: every
/// life that lost calls meets its fault earlier, by so much for each of them. None: no life has such a fault.
pub(crate) fn sooner(script: &Script, before: &Script, each: u64) -> Option<Script> {
    let mut sooner = script.clone();
    let mut moved = false;
    for (life, old) in sooner.lives.iter_mut().zip(&before.lives) {
        let fewer = old.acts.len().saturating_sub(life.acts.len()) as u64;
        moved |= move_faults(life, &mut |at| at.saturating_sub(fewer * each).max(1));
    }
    moved.then_some(sooner)
}

/// No fault comes later than this, counted in operations of the disk, requests or calls.
pub(crate) fn within(life: &mut Life, most: u64) {
    move_faults(life, &mut |at| 1 + (at - 1) % most);
}

/// Applies it to every place, counted from 1, that a fault has. True: something is another place now.
pub(crate) fn move_faults(life: &mut Life, moved: &mut dyn FnMut(u64) -> u64) -> bool {
    let Faults { crash_at, crash_after_name, short_write_at, failed_sync_at, .. } =
        &mut life.faults;
    let name = crash_after_name.as_mut().map(|after| &mut after.name);
    let mut any = false;
    let mut apply = |at: &mut u64| {
        let to = moved(*at);
        any |= to != std::mem::replace(at, to);
    };
    for at in [crash_at, short_write_at, failed_sync_at].into_iter().flatten().chain(name) {
        apply(at);
    }
    for Server { killed, .. } in &mut life.servers {
        match killed {
            Some(Kill::Request(at)) => apply(at),
            // before its first call as well
            Some(Kill::Call { calls, .. }) => {
                let mut at = *calls + 1;
                apply(&mut at);
                *calls = at - 1;
            }
            None => {}
        }
    }
    any
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;
    use crate::script::Act;

    fn act(number: u64) -> Act {
        Act {
            number,
            caller: 0,
            actor: String::new(),
            operation: String::new(),
            params: Map::new(),
            lost: false,
            forgets: false,
            doubled: false,
            rest_us: 0,
        }
    }

    fn life(calls: std::ops::Range<u64>) -> Life {
        Life { acts: calls.map(act).collect(), ..Life::default() }
    }

    fn numbers(script: &Script) -> Vec<Vec<u64>> {
        let lives = script.lives.iter();
        lives.map(|life| life.acts.iter().map(|act| act.number).collect()).collect()
    }

    #[test]
    fn calls_are_left_out_over_the_ends_of_lives() {
        let second = Life { replaced_after: Some(2), ..life(3..7) };
        let script = Script { lives: vec![life(0..3), second], ..Script::default() };
        let smaller = without(&script, 2, 2);
        assert_eq!(numbers(&smaller), [vec![0, 1], vec![4, 5, 6]]);
        assert_eq!(smaller.lives[1].replaced_after, Some(1));
    }

    #[test]
    fn a_fault_comes_sooner_in_a_life_that_lost_calls() {
        let mut script = Script { lives: vec![life(0..4), life(4..8)], ..Script::default() };
        script.lives[0].faults.failed_sync_at = Some(9);
        script.lives[1].faults.crash_at = Some(9);
        let smaller = sooner(&without(&script, 0, 3), &script, 2).unwrap();
        assert_eq!(smaller.lives[0].faults.failed_sync_at, Some(3));
        assert_eq!(smaller.lives[1].faults.crash_at, Some(9));
        assert!(sooner(&script, &script, 2).is_none(), "nothing was left out");
    }

    #[test]
    fn faults_are_brought_within_reach() {
        let mut near = life(0..1);
        near.faults.crash_at = Some(300);
        near.servers = vec![
            Server { killed: Some(Kill::Call { calls: 14, request: 2 }), skew_ms: 0 },
            Server { killed: Some(Kill::Request(10)), skew_ms: 0 },
        ];
        within(&mut near, 10);
        assert_eq!(near.faults.crash_at, Some(10));
        assert_eq!(near.servers[0].killed, Some(Kill::Call { calls: 4, request: 2 }));
        assert_eq!(near.servers[1].killed, Some(Kill::Request(10)));
    }
}
