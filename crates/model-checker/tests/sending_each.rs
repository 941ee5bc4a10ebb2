//! `send each`: every record of a set has its turn once, in any order, whoever joins, leaves or crashes meanwhile.

use crate::support::text::{holds, report, violated};
use model_checker::{FailureStatus, Report, Trace};

fn names(trace: &Trace) -> Vec<&str> {
    trace.steps.iter().map(|step| step.name.as_str()).collect()
}

const FEED: &str = r#"
design Feed
actor author
actor reader
actor push
subject Author(author: text) { truth AuthorState { posted: bool = false } }
subject Follower(author: Author, name: text) {
    truth FollowerState { told: int = 0 }
    ephemeral Presence ttl 30s { online: bool = false }
}
step reader[follow(follower: new Follower)JOIN] {}
LEAVE
step author[post(author: Author)POST] {
    AuthorState.posted := true
    send each f in Follower of author WHERE: push.tell(f)
}
effect push[tell(f: Follower)] {
    call POST "{push.url}/notes" body { name: f.name }
    on ok { FollowerState.told += 1 }
    on refused { FollowerState.told += 1 }
    on unknown { FollowerState.told += 1 }
}
invariant told_once: all f in Follower: f.told <= 1
recovers all_told: all f in Follower: f.author.posted implies f.told >= 1
MORE
check { author: AUTHORS  name: 2  FollowerState.told: 0..2  faults: crash }
"#;

const BEFORE: &str = " { before: not follower.author.posted }";
const ONCE: &str = " { once: not AuthorState.posted }";

struct Feed {
    join: &'static str,
    leave: &'static str,
    post: &'static str,
    filter: &'static str,
    more: &'static str,
    authors: &'static str,
}

const PLAIN: Feed =
    Feed { join: BEFORE, leave: "", post: ONCE, filter: "", more: "", authors: "1" };

impl Feed {
    fn report(&self) -> Report {
        report(
            &FEED
                .replace("JOIN", self.join)
                .replace("LEAVE", self.leave)
                .replace("POST]", &format!("{}]", self.post))
                .replace("WHERE", self.filter)
                .replace("MORE", self.more)
                .replace("AUTHORS", self.authors),
        )
    }
}

#[test]
fn everybody_who_is_there_is_told_once_also_with_a_crash_between() {
    for authors in ["1", "2"] {
        let report = Feed { authors, ..PLAIN }.report();
        holds(&report, "told_once");
        holds(&report, "all_told");
    }
}

#[test]
fn who_joins_while_it_goes_on_may_be_told_and_may_not() {
    let late = Feed { join: "", ..PLAIN }.report();
    let trace = violated(&late, "all_told");
    let join = names(trace).iter().rposition(|name| *name == "follow").expect("somebody joins");
    let turn = names(trace).iter().position(|name| *name == "post_each").expect("it was passed");
    assert!(turn < join, "who is not told joined behind the turn: {:?}", names(trace));
    // the other way round: who joined after the post is told
    let told = Feed {
        join: "",
        more: "invariant late_is_not_told: all f in Follower: f.told = 0 or old(f.told) = 1 or f.early",
        ..PLAIN
    };
    let text = FEED.replace("told: int = 0 }", "told: int = 0, early: bool = false }");
    let text = text.replace("JOIN] {}", "] { FollowerState.early := not follower.author.posted }");
    let text = text
        .replace("LEAVE", "")
        .replace("POST]", &format!("{ONCE}]"))
        .replace("WHERE", "")
        .replace("MORE", told.more)
        .replace("AUTHORS", "1");
    let trace = violated(&report(&text), "late_is_not_told").clone();
    let post = names(&trace).iter().position(|name| *name == "post").expect("it was posted");
    let join = names(&trace).iter().rposition(|name| *name == "follow").expect("somebody joins");
    assert!(post < join, "{:?}", names(&trace));
}

#[test]
fn who_leaves_before_the_turn_is_not_told() {
    let leave = "step reader[unfollow(follower: Follower)] { delete follower }";
    let feed = Feed { leave, ..PLAIN }.report();
    holds(&feed, "told_once");
    holds(&feed, "all_told");
}

#[test]
fn posting_again_while_it_goes_on_gives_everybody_another_turn() {
    let report = Feed { post: "", ..PLAIN }.report();
    let trace = violated(&report, "told_once");
    assert_eq!(names(trace).iter().filter(|name| **name == "post").count(), 2);
}

#[test]
fn nothing_rests_on_soft_state() {
    let report = Feed { filter: "where online", ..PLAIN }.report();
    holds(&report, "told_once");
    let trace = violated(&report, "all_told");
    let passed = trace.steps.iter().any(|step| step.fault.as_deref() == Some("passed_over"));
    assert!(passed, "{:?}", names(trace));
    // nor does it keep anybody from being told
    let silent = "invariant nobody_is_told: all f in Follower: f.told = 0";
    let report = Feed { filter: "where f.online", more: silent, ..PLAIN }.report();
    violated(&report, "nobody_is_told");
}

#[test]
fn a_condition_upon_truth_is_a_guard_at_the_turn() {
    let report = Feed { filter: "where told = 0", ..PLAIN }.report();
    holds(&report, "told_once");
    holds(&report, "all_told");
    let silent = "invariant nobody_is_told: all f in Follower: f.told = 0
        failure \"told all the same\" { without post_each.where breaks nobody_is_told }";
    let report = Feed { filter: "where told > 0", more: silent, ..PLAIN }.report();
    holds(&report, "nobody_is_told");
    assert!(matches!(&report.failures[0].status, FailureStatus::LoadBearing(_)));
}

#[test]
fn the_entry_of_the_outbox_is_what_a_crash_cannot_take() {
    let more =
        r#"failure "a post that a crash forgets" { without outbox of post breaks all_told }"#;
    let report = Feed { more, ..PLAIN }.report();
    let FailureStatus::LoadBearing(trace) = &report.failures[0].status else {
        panic!("{:?}", report.failures[0].status);
    };
    assert!(names(trace).contains(&"post"));
    let more = r#"failure "posted twice" { without post.once breaks told_once }"#;
    let report = Feed { more, ..PLAIN }.report();
    assert!(matches!(&report.failures[0].status, FailureStatus::LoadBearing(_)));
}
