//! A slice keeps the time by the durations that it looks at, not by those of the whole design.

use crate::support::text::compiled;
use model_checker::{FailureStatus, Options, Report, Verdict, check};

/// A lock that is taken back after ten seconds, and fifteen seconds later is nobody's.
const LOCK: &str = r#"
    actor node
    actor warden
    subject Lock(lock: text) { truth LockState { holder: actor?, until: time?, freed: time? } }
    step node[take(lock: Lock) {
        free: LockState.holder = null
        rested: LockState.freed = null or LockState.freed < now - 15s
    }] { LockState := { holder: me, until: now + 10s } }
    step node[give(lock: Lock) { yours: LockState.holder = me }] {
        LockState := { holder: null, until: null, freed: now }
    }
    repair warden[expire(lock: Lock) {
        late: LockState.until < now
    }] { LockState := { holder: null, until: null, freed: now } }
    invariant rest: all l in Lock: l.holder = null
        or old(l.holder) = l.holder
        or old(l.freed) = null
        or old(l.freed) < now - 15s
    recovers freed_in_the_end: all l in Lock: l.holder = null
    failure "no rest" { without take.rested breaks rest }
    failure "kept for ever" { without repair expire breaks freed_in_the_end }
"#;

/// A seat that is held for as long as the caller asks, ten minutes if he does not say.
const SEAT: &str = r#"
    actor buyer
    actor usher
    subject Seat(seat: text) { truth SeatState { held_by: actor?, held_until: time? } }
    step buyer[hold(seat: Seat, ttl: duration = 10m) { open: SeatState.held_by = null }] {
        SeatState := { held_by: me, held_until: now + ttl }
    }
    repair usher[release(seat: Seat) { over: SeatState.held_until < now }] {
        SeatState := { held_by: null, held_until: null }
    }
    invariant heard_out: all s in Seat: s.held_by != null
        or old(s.held_by) = null
        or old(s.held_until) < now
    recovers released: all s in Seat: s.held_by = null
    failure "thrown out" { without release.over breaks heard_out }
    failure "held for ever" { without repair release breaks released }
"#;

fn checked(items: &[&str], world: &str) -> Report {
    let text = format!("design Clock \"Two clocks\"\n{}\ncheck {{ {world} }}", items.join("\n"));
    check(&compiled(&text), &Options::default(), &mut |_| ()).expect("a world")
}

const LOCKS: &str = "lock: 1  node: 2";
const SEATS: &str = "seat: 1  buyer: 2  ttl: 2";
const FAULTS: &str = "faults: crash, lost_reply";

/// Ten seconds and ten minutes have no small proportion: on one clock the order of some sums is all that is kept.
#[test]
fn what_is_proved_alone_is_proved_beside_other_durations() {
    let both = checked(&[LOCK, SEAT], &format!("{LOCKS}  {SEATS}  {FAULTS}"));
    let lock = checked(&[LOCK], &format!("{LOCKS}  {FAULTS}"));
    let seat = checked(&[SEAT], &format!("{SEATS}  {FAULTS}"));
    for goal in lock.goals.iter().chain(&seat.goals) {
        assert_eq!(goal.verdict, Verdict::Proved, "{}", goal.name);
        let held = both.goal(&goal.name).expect("the same goal");
        assert_eq!(held.verdict, Verdict::Proved, "{}", goal.name);
        assert_eq!(held.states, goal.states, "{}", goal.name);
    }
    assert_eq!(both.world.time, ["10s is 2", "15s is 3", "10m is 1"]);
    let whole = Options { slices: false, ..Options::default() };
    let text = format!(
        "design Clock \"Two clocks\"\n{LOCK}\n{SEAT}\ncheck {{ {LOCKS}  {SEATS}  {FAULTS} }}"
    );
    let whole = check(&compiled(&text), &whole, &mut |_| ()).expect("a world");
    for goal in &whole.goals {
        let bounds = Verdict::Holds(vec!["time: sums of 4".into()]);
        assert_eq!(goal.verdict, bounds, "{}", goal.name);
    }
}

/// A history that was found on the clock of a slice is gone in the whole design, on its clock.
#[test]
fn what_breaks_is_told_on_the_clock_of_the_whole_design() {
    let both = checked(&[LOCK, SEAT], &format!("{LOCKS}  {SEATS}  {FAULTS}"));
    assert_eq!(both.failures.len(), 4);
    for failure in &both.failures {
        let FailureStatus::LoadBearing(trace) = &failure.status else {
            panic!("{}: {:?}", failure.claim, failure.status)
        };
        assert!(!trace.steps.is_empty(), "{}", failure.claim);
    }
    let weak = LOCK
        .replace("        rested: LockState.freed = null or LockState.freed < now - 15s\n", "")
        .replace("    failure \"no rest\" { without take.rested breaks rest }\n", "");
    assert_ne!(weak, LOCK);
    let both = checked(&[&weak, SEAT], &format!("{LOCKS}  {SEATS}  {FAULTS}"));
    let rest = both.goal("rest").expect("the goal");
    assert!(matches!(rest.verdict, Verdict::Violated(_)), "{:?}", rest.verdict);
}

/// A goal that looks at both is explored on one clock for both.
#[test]
fn a_goal_over_both_has_one_clock_for_both() {
    let goal =
        "invariant not_both: all l in Lock: all s in Seat: l.until = null or s.held_until = null
        or l.until <= s.held_until or s.held_until <= l.until";
    let both = checked(&[LOCK, SEAT, goal], &format!("{LOCKS}  {SEATS}  {FAULTS}"));
    let held = both.goal("not_both").expect("the goal");
    assert_eq!(held.verdict, Verdict::Holds(vec!["time: sums of 4".into()]));
    let rest = both.goal("rest").expect("the goal");
    assert_eq!(rest.verdict, Verdict::Proved);
}

/// Where the proportion is kept, a bare number for a duration means the unit of the whole design, in every slice.
#[test]
fn a_unit_is_the_same_time_in_every_slice() {
    // the unit is five seconds, that of the seat alone would be a minute: two units are ten seconds
    let seat = SEAT.replace("10m", "1m").replace(
        "invariant heard_out",
        "invariant short: all s in Seat: s.held_until = null or s.held_until <= now + 10s
             or s.held_until = now + 1m or old(s.held_until) = s.held_until
    invariant never_ten: all s in Seat: s.held_until = null or s.held_until != now + 10s
             or old(s.held_until) = s.held_until
    invariant heard_out",
    );
    let both = checked(&[LOCK, &seat], &format!("{LOCKS}  {SEATS}  {FAULTS}"));
    let short = both.goal("short").expect("the goal");
    assert_eq!(short.verdict, Verdict::Proved);
    let never_ten = both.goal("never_ten").expect("the goal");
    assert!(matches!(never_ten.verdict, Verdict::Violated(_)), "{:?}", never_ten.verdict);
    let three = SEATS.replace("ttl: 2", "ttl: 3");
    let both = checked(&[LOCK, &seat], &format!("{LOCKS}  {three}  {FAULTS}"));
    let short = both.goal("short").expect("the goal");
    assert!(matches!(short.verdict, Verdict::Violated(_)), "{:?}", short.verdict);
}

/// A clock that steps, steps by a unit: there is one unit for all.
#[test]
fn a_clock_that_steps_is_the_clock_of_the_whole_design() {
    let seat = SEAT.replace("10m", "1m");
    let both = checked(&[LOCK, &seat], &format!("{LOCKS}  {SEATS}  faults: crash, clock_step"));
    assert_eq!(both.world.time, ["10s is 2", "15s is 3", "1m is 12"]);
    let both = checked(&[LOCK, &seat], &format!("{LOCKS}  {SEATS}  faults: crash"));
    assert_eq!(both.world.time, ["10s is 1 or 2", "15s is 3", "1m is 6 or 12"]);
}
