//! Schedules on a store: what is due is stored, repairs fire then, and what is no schedule is refused with its place.

use crate::support;

use runtime::Fired;
use support::{Bench, ask, bench, compile};

const NIGHTLY: &str = "design Nightly
actor owner
actor clock
subject Job(job: text) {
    truth PlanState { plan: schedule = \"0 3 * * *\", due: time?, ran: time?, runs: int = 0 }
}
step owner[plan(job: Job, plan: schedule)] {
    PlanState.plan := plan
    PlanState.due := next(plan, now)
}
repair clock[run(job: Job) { due: PlanState.due <= now }] {
    PlanState.ran := PlanState.due
    PlanState.runs += 1
    PlanState.due := next(PlanState.plan, PlanState.due)
}
invariant counted: all j in Job: j.runs >= old(j.runs)
check { job: 1  owner: 1  PlanState.runs: 0..3 }
";

fn bench_of(text: &str) -> Bench {
    bench(compile("nightly", text))
}

fn ms(instant: &str) -> i64 {
    instant.parse::<jiff::Timestamp>().expect("an instant").as_millisecond()
}

#[test]
fn a_job_runs_once_a_day_across_both_changes_of_the_clock() {
    let bench = bench_of(NIGHTLY);
    bench.clock.advance(ms("2026-03-27T12:00:00Z") - support::START);
    let plan = ask("owner", "plan", "olga").with("job", "j1");
    bench.call(plan.with("plan", "30  2 * * * in europe/berlin")).unwrap();
    assert_eq!(bench.truth("Job", "j1")["PlanState"]["plan"], "30 2 * * * in Europe/Berlin");
    let mut days = Vec::new();
    for _ in 0..4 {
        let Fired::Idle(Some(due)) = bench.runtime.fire_one().unwrap() else {
            panic!("nothing waits")
        };
        bench.clock.advance(due - bench.runtime.now_ms());
        assert_eq!(bench.runtime.fire_due().unwrap().0, 1);
        days.push(bench.truth("Job", "j1")["PlanState"]["ran"].as_str().unwrap().to_owned());
    }
    let expected = [
        "2026-03-28T01:30:00Z",
        "2026-03-29T01:00:00Z",
        "2026-03-30T00:30:00Z",
        "2026-03-31T00:30:00Z",
    ];
    assert_eq!(days, expected);
}

#[test]
fn what_was_missed_is_made_up_for_and_nothing_drifts() {
    let bench = bench_of(NIGHTLY);
    let plan = ask("owner", "plan", "olga").with("job", "j1");
    bench.call(plan.with("plan", "every 15m")).unwrap();
    let Fired::Idle(Some(first)) = bench.runtime.fire_one().unwrap() else {
        panic!("nothing waits")
    };
    assert_eq!(first % (15 * 60_000), 0, "on the grid, whenever it was asked");
    // nobody was there for an hour, and a little more
    bench.clock.advance(first - bench.runtime.now_ms() + 60 * 60_000 + 7_123);
    let (fired, next) = bench.runtime.fire_due().unwrap();
    assert_eq!((fired, next), (5, Some(first + 75 * 60_000)));
    assert_eq!(bench.truth("Job", "j1")["PlanState"]["runs"], 5);
}

#[test]
fn what_never_comes_leaves_nothing_due() {
    let bench = bench_of(NIGHTLY);
    let plan = ask("owner", "plan", "olga").with("job", "j1");
    bench.call(plan.with("plan", "0 0 30 2 *")).unwrap();
    assert_eq!(bench.truth("Job", "j1")["PlanState"]["due"], serde_json::Value::Null);
    assert_eq!(bench.runtime.fire_one().unwrap(), Fired::Idle(None));
}

#[test]
fn what_is_no_schedule_is_refused_with_its_place_and_changes_nothing() {
    let bench = bench_of(NIGHTLY);
    for (plan, said) in [
        ("30 24 * * *", "at character 4: the hour lies in 0..23, not at 24"),
        ("0 3 * * * in Berlin", "at character 14: no time zone `Berlin`"),
        ("@daily", "at character 1: `@daily` is not known here; write `0 0 * * *`"),
        ("", "at character 1: a schedule is not empty"),
    ] {
        let asked = ask("owner", "plan", "olga").with("job", "j1").with("plan", plan);
        let wrong = format!("{:?}", bench.call(asked).unwrap_err());
        assert!(wrong.contains(said) && wrong.contains("/plan"), "{wrong}");
    }
    let long = "0 3 * * 1,".to_string() + &"1,".repeat(200) + "1";
    let asked = ask("owner", "plan", "olga").with("job", "j1").with("plan", long.as_str());
    assert!(format!("{:?}", bench.call(asked).unwrap_err()).contains("at most 256 bytes"));
    assert_eq!(bench.runtime.fire_one().unwrap(), Fired::Idle(None));
}
