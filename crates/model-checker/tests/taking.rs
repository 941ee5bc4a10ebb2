//! A record that the server takes is, to the checker, any record: as if a caller had named it.

use crate::support::text::{compiled, report};
use model_checker::{Options, check, render};

const WORK: &str = "design Work
actor client
actor worker
subject Job(job: text) {
    truth JobState { status: NONE | WAITS | HELD = NONE, by: actor?, rank: int = 0 }
}
view Runnable = list Job where status = WAITS order by rank
step client[ask(job: Job, rank: int) { unasked: JobState.status = NONE }] {
    JobState.status := WAITS
    JobState.rank := rank
}
step worker[claim(job: any of Runnable) { waits: JobState.status = WAITS }] {
    JobState.status := HELD
    JobState.by := me
}
invariant kept: all j in Job: old(j.status) = HELD and j.status = HELD implies j.by = old(j.by)
failure \"one job for two workers\" { without claim.waits breaks kept }
protocol main { client[ask] -> worker[claim] => done }
check { job: 2  client: 1  worker: 2  rank: {0, 1} }
";

#[test]
fn what_is_taken_is_explored_as_what_a_caller_names() {
    let taken = report(WORK);
    assert!(taken.ok() && taken.closed(), "{}", render::golden(&taken));
    // states, verdicts, traces of failures, with and without symmetry: the same as with a parameter of a caller
    let named = report(&WORK.replace("any of Runnable", "Job"));
    assert_eq!(render::golden(&taken), render::golden(&named));
    for symmetry in [false, true] {
        let options = Options { threads: 1, symmetry, ..Options::default() };
        let states =
            |text: &str| check(&compiled(text), &options, &mut |_| ()).unwrap().base.states;
        assert_eq!(states(WORK), states(&WORK.replace("any of Runnable", "Job")));
    }
}

/// The view lags and its order is best effort, so nothing may rest on either.
#[test]
fn a_goal_that_rests_on_the_order_of_the_view_is_violated() {
    let ordered = WORK.replace(
        "protocol main",
        "invariant in_order: all a in Job: all b in Job: a.status = WAITS and b.status = HELD \
         and a.rank < b.rank implies false\nprotocol main",
    );
    assert!(!report(&ordered).ok());
    // and one that rests on the view's `where` instead of the guard
    let unguarded = WORK
        .replace("{ waits: JobState.status = WAITS }]", "]")
        .replace("failure \"one job for two workers\" { without claim.waits breaks kept }", "");
    assert!(!report(&unguarded).ok());
}
