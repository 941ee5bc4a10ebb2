//! Messages that are lost, doubled and overtaken without a budget are kept as a set that only grows.

use std::collections::BTreeSet;

use crate::support::text::{compiled, load_bearing, proved, report, violated};
use model_checker::{Options, Report, StepKind, Trace, check};

fn is_set(report: &Report) -> bool {
    let all = &report.world.settings;
    all.iter().any(|line| line.starts_with("messages on their way: any number"))
}

const THREE: &str = include_str!("network/three-members.design");

#[test]
fn three_members_settle_on_one_of_two_proposals() {
    let report = report(THREE);
    assert!(is_set(&report), "{:?}", report.world.settings);
    proved(&report, "one_winner");
    assert_eq!(report.unwitnessed, Vec::<String>::new());
    for title in [
        "nobody was asked",
        "a promise is broken",
        "one vote counts twice",
        "one number for two proposals",
    ] {
        let trace = load_bearing(&report, &format!("split brain: {title}"));
        // Two members propose, and each of them is told that it has won.
        let proposers: BTreeSet<&String> = trace
            .steps
            .iter()
            .filter(|step| step.name == "propose")
            .flat_map(|step| step.params.iter().filter(|(name, _)| name == "member"))
            .map(|(_, value)| value)
            .collect();
        assert_eq!(proposers.len(), 2, "{title}: {trace:#?}");
        let winners: BTreeSet<&String> = trace
            .steps
            .iter()
            .flat_map(|step| &step.changes)
            .filter(|change| change.attribute.ends_with("winner"))
            .map(|change| &change.record)
            .collect();
        assert_eq!(winners.len(), 2, "{title}: {trace:#?}");
        no_set_is_told(trace);
    }
}

/// A history is one of the design: what arrives was sent, and what arrives again was doubled.
fn no_set_is_told(trace: &Trace) {
    let mut under_way: Vec<String> = Vec::new();
    for step in &trace.steps {
        let is_message = step.kind == StepKind::Delivery && !step.params.is_empty();
        let params: Vec<String> =
            step.params.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let message = format!("{}({})", step.name, params.join(", "));
        if is_message {
            let at = under_way.iter().position(|held| *held == message);
            let at = at.unwrap_or_else(|| panic!("{message} arrives, and is not under way"));
            let doubled = step.fault.as_ref().is_some_and(|it| it.contains("doubled_message"));
            if !doubled {
                under_way.remove(at);
            }
        }
        let messages = step.changes.iter().filter(|change| change.record == "message");
        let sent: Vec<String> = messages.map(|change| change.after.clone()).collect();
        let before: Vec<String> = under_way.clone();
        for message in sent.into_iter().filter(|message| message != "none") {
            if !before.contains(&message) {
                under_way.push(message);
            }
        }
    }
}

/// A letter that is counted whenever it arrives.
const LETTER: &str = r#"
design Letter
actor post
subject Home(home: text) at home {
    truth HomeState { got: int = 0, sent: bool = false }
}
step post[start(from: Home, to: Home) { once: not from.sent  other: from != to }] {
    from.sent := true
    send post.receive(to)
}
step post[receive(home: Home)] { if home.got < 2 { home.got += 1 } }
invariant at_most_once: all h in Home: h.got <= 1
check { home: 2  HomeState.got: 0..2  faults: lost_message, doubled_message }
"#;

#[test]
fn what_was_delivered_may_be_delivered_again() {
    let report = report(LETTER);
    assert!(is_set(&report));
    let trace = violated(&report, "at_most_once");
    let told: Vec<(&str, Option<&str>)> =
        trace.steps.iter().map(|step| (step.name.as_str(), step.fault.as_deref())).collect();
    assert_eq!(told, [("start", None), ("receive", Some("doubled_message")), ("receive", None)]);
    no_set_is_told(trace);
}

#[test]
fn a_number_of_messages_or_a_budget_keeps_them_one_by_one() {
    for world in ["messages: 2  faults: lost_message, doubled_message", "faults: doubled_message"] {
        let text = LETTER.replace("faults: lost_message, doubled_message", world);
        let report = report(&text);
        assert!(!is_set(&report), "{world}");
        assert_eq!(report.world.notes, Vec::<String>::new(), "{world}");
        violated(&report, "at_most_once");
    }
}

#[test]
fn a_goal_that_asks_for_a_message_keeps_them_one_by_one_and_a_note_says_so() {
    let goal = "invariant told: all h in Home: not h.sent or any m in messages of receive: \
                m.home != h\ncheck";
    let report = report(&LETTER.replacen("check", goal, 1));
    assert!(!is_set(&report));
    assert!(report.world.notes.iter().any(|it| it.contains("`told` asks for messages")));
    // The message may be lost.
    violated(&report, "told");
}

#[test]
fn a_goal_that_forbids_a_message_is_judged_with_the_set() {
    let goal = "invariant silent: all m in messages of receive: m.home.got <= 1\ncheck";
    let report = report(&LETTER.replacen("check", goal, 1));
    assert!(is_set(&report));
    // It is under way still when it has been delivered twice.
    let trace = violated(&report, "silent");
    let last = trace.steps.last().expect("something happens");
    assert_eq!(last.fault.as_deref(), Some("doubled_message"));
}

#[test]
fn a_goal_about_transitions_is_held_against_a_message_that_is_lost() {
    let goal = "invariant moves: any h in Home: h.got > old(h.got) or h.sent and not old(h.sent)\n\
                check";
    let text = LETTER
        .replacen("check", goal, 1)
        .replace("if home.got < 2 { home.got += 1 }", "home.got += 1");
    let report = report(&text);
    assert!(is_set(&report));
    let trace = violated(&report, "moves");
    let last = trace.steps.last().expect("something happens");
    assert_eq!(last.name, "receive is lost", "{trace:#?}");
}

/// A king warns the other castle and waits for its answer; a scribe sends the pigeon again.
const PIGEON: &str = r#"
design Pigeon
actor king
actor scribe
subject Castle(castle: text) at castle {
    truth CastleState { waiting: bool = false, other: Castle?, told: bool = false }
}
step king[warn(from: Castle, to: Castle) {
    other: from != to
    idle: not from.waiting
    unknown: not from.told
}] {
    from.waiting := true
    from.other := to
    send king.learn(to, from)
}
step king[learn(castle: Castle, back: Castle)] {
    castle.told := true
    send king.heard(back)
}
step king[heard(castle: Castle)] { CastleState.waiting := false }
repair scribe[again(castle: Castle) {
    waiting: CastleState.waiting and CastleState.other present
}] {
    send king.learn(CastleState.other, castle)
}
recovers warned: all c in Castle: not c.waiting
failure "pigeon lost" { without repair again breaks warned }
check { castle: 2  faults: partition, lost_message, doubled_message }
"#;

#[test]
fn what_is_sent_when_clients_are_silent_arrives_and_what_was_sent_earlier_may_not() {
    let report = report(PIGEON);
    assert!(is_set(&report));
    proved(&report, "warned");
    assert_eq!(report.unwitnessed, Vec::<String>::new());
    let trace = load_bearing(&report, "pigeon lost");
    let told: Vec<&str> = trace.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(told, ["warn", "learn is lost"]);
    no_set_is_told(trace);
}

/// A ball that two players throw to each other for ever. It is put away where it is held, or where it
/// lies, if it stays so. A ball that is lost stays as it is.
const BALL: &str = r#"
design Ball
actor player
actor parent
subject Player(player: text) at player {
    truth Hand { threw: bool = false, lies: bool = false, away: bool = false }
}
step player[start(from: Player, to: Player) { other: from != to  first: not from.threw }] {
    from.threw := true
    send player.catch(to, from)
}
step player[catch(player: Player, from: Player)] {
    player.lies := not player.lies
    send player.catch(from, player)
}
repair parent[pick_up(player: Player) { lies: Hand.threw and Hand.lies and not Hand.away }] {
    Hand.away := true
}
repair parent[take(player: Player) { held: Hand.threw and not Hand.lies and not Hand.away }] {
    Hand.away := true
}
recovers tidied: all p in Player: not p.threw or p.away
check { player: 2  faults: lost_message, doubled_message }
"#;

#[test]
fn a_message_that_is_answered_for_ever_is_a_history_that_never_ends() {
    let report = report(BALL);
    assert!(is_set(&report));
    let trace = violated(&report, "tidied");
    no_set_is_told(trace);
    let start = trace.cycle_start.expect("it goes round");
    let cycle: Vec<(&str, Option<&str>)> = trace.steps[start..]
        .iter()
        .map(|step| (step.name.as_str(), step.fault.as_deref()))
        .collect();
    assert_eq!(cycle, [("catch", None); 4], "{trace:#?}");
}

/// Exchanging members exchanges their messages.
#[test]
fn with_symmetry_fewer_states_and_the_same_words() {
    let design = compiled(&LETTER.replace("home: 2", "home: 3"));
    let with = |symmetry: bool| {
        let options = Options { symmetry, failures: false, threads: 1, ..Options::default() };
        check(&design, &options, &mut |_| ()).expect("it has a world")
    };
    let (all, fewer) = (with(false), with(true));
    assert!(fewer.base.states * 2 < all.base.states, "{:?} {:?}", fewer.base, all.base);
    for report in [&all, &fewer] {
        assert_eq!(violated(report, "at_most_once").steps.len(), 3);
    }
}
