//! What the checker once got wrong, each with the smallest text that shows it.

use design::model::Design;
use model_checker::{FailureStatus, Options, Report, Verdict, check};

fn compile(text: &str) -> Result<Design, Vec<&'static str>> {
    let compiled = design::compile("finding", text, &design::NoCatalog);
    let codes = compiled.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code).collect();
    compiled.design.ok_or(codes)
}

fn checked_with(text: &str, options: &Options) -> Report {
    let design = compile(text).unwrap_or_else(|codes| panic!("{codes:?}"));
    check(&design, options, &mut |_| {}).expect("the small world is finite")
}

fn checked(text: &str) -> Report {
    checked_with(text, &Options { threads: 1, ..Options::default() })
}

fn violated(text: &str) -> usize {
    let report = checked(text);
    match &report.goals[0].verdict {
        Verdict::Violated(trace) => trace.steps.len(),
        other => panic!("{other:?}"),
    }
}

fn is_not_known(text: &str) -> bool {
    matches!(checked(text).goals[0].verdict, Verdict::Unknown(_))
}

fn proved(report: &Report) -> bool {
    report.goals[0].verdict == Verdict::Proved
}

// ---- called proved, and broken

/// The repair changes nothing of what the goal reads.
const FOR_EVER: &str = "design D
     actor a
     actor r
     subject A(a: text) { truth S { on: bool = false } log L { k: int } }
     step a[go(a: A)] { S.on := true }
     repair r[note(a: A) { w: S.on }] { append L { k: 1 } }
     recovers ok: all a in A: not a.on
     check { a: 1 }";

#[test]
fn u1_a_repair_that_writes_for_ever_is_not_known() {
    let whole = Options { slices: false, threads: 1, ..Options::default() };
    let verdict = &checked_with(FOR_EVER, &whole).goals[0].verdict;
    assert!(matches!(verdict, Verdict::Unknown(_)), "{verdict:?}");
    // What it writes is no part of the slice, so there is nothing that is cut.
    assert_eq!(violated(FOR_EVER), 1);
    // Here it is.
    assert!(is_not_known(
        "design D
         actor a
         actor r
         subject A(a: text) { truth S { on: bool = false, x: int = 0 } }
         step a[go(a: A)] { S.on := true }
         repair r[note(a: A) { w: S.on }] { S.x += 1 }
         recovers ok: all a in A: not a.on or a.x > 100
         check { a: 1  S.x: 0..3 }"
    ));
}

#[test]
fn u2_the_state_that_is_cut_is_judged() {
    assert_eq!(
        violated(
            "design D
             actor p
             subject A(a: text) { truth S { x: int = 0 } }
             step p[inc(a: A)] { S.x += 1 }
             invariant few: all a in A: a.x <= 3
             check { a: 1  S.x: 0..3 }"
        ),
        4
    );
}

#[test]
fn u2_the_state_that_is_cut_is_judged_without_a_protection_too() {
    let report = checked(
        "design D
         actor p
         subject A(a: text) { truth S { x: int = 0 } }
         step p[inc(a: A) { room: S.x < 3 }] { S.x += 1 }
         invariant few: all a in A: a.x <= 3
         failure \"too many\" { without inc.room breaks few }
         check { a: 1  S.x: 0..3 }",
    );
    assert!(proved(&report), "{report:?}");
    assert!(matches!(report.failures[0].status, FailureStatus::LoadBearing(_)), "{report:?}");
}

#[test]
fn u3_there_is_a_moment_between_two_durations() {
    violated(
        "design D
         actor p
         actor r
         subject A(a: text) { truth S { beat: time?, dead: bool = false, bad: bool = false } }
         step p[go(a: A) { first: S.beat absent }] { S.beat := now }
         repair r[bury(a: A) { silent: S.beat + 20s < now and not S.dead }] { S.dead := true }
         step p[speak(a: A) { soon: now < S.beat + 25s  dead: S.dead }] { S.bad := true }
         invariant never: all a in A: not a.bad
         check { a: 1 }",
    );
}

#[test]
fn u3_ten_and_ten_are_twenty() {
    violated(
        "design D
         actor p
         subject A(a: text) { truth S { start: time?, bad: bool = false } }
         step p[go(a: A) { first: S.start absent }] { S.start := now }
         step p[late(a: A) { over: S.start + 10s + 10s < now and now < S.start + 25s }] { S.bad := true }
         invariant never: all a in A: not a.bad
         check { a: 1 }",
    );
}

#[test]
fn u4_the_default_of_a_parameter_is_a_value_that_callers_give() {
    let hours = "design D
         actor p
         subject Bay(bay: text) { truth S { hours: int = 0 } }
         step p[pay(bay: Bay, hours: int = 4)] { S.hours := hours }
         invariant few: all b in Bay: b.hours <= 2
         check { bay: 1  hours: 0..2 }";
    assert_eq!(violated(hours), 1);
    let ttl = "design D
         actor p
         subject A(a: text) { truth S { until: time? } }
         step p[go(a: A, ttl: duration = 5s)] { S.until := now + ttl }
         invariant soon: all a in A: a.until = null or a.until <= now + 2s
         check { a: 1  ttl: 2 }";
    assert_eq!(violated(ttl), 1);
}

#[test]
fn u5_memory_from_a_read_ages() {
    assert_eq!(
        violated(
            "design D
             actor p { seen: int? of A }
             actor q
             subject A(a: text) { truth S { version: int = 0, used: int = 0 } }
             step q[up(a: A) { room: S.version < 2 }] { S.version += 1 }
             read p[look(a: A)] = S { seen := S.version }
             step p[use_it(a: A) { known: seen present }] { S.used := seen }
             invariant forward: all a in A: a.used >= old(a.used)
             check { a: 1  p: 1  S.version: 0..2  faults: pause }"
        ),
        5
    );
}

#[test]
fn u6_a_reply_is_lost_and_the_call_comes_again() {
    assert_eq!(
        violated(
            "design D
             actor p { mine: int? of A }
             subject A(a: text) { truth S { n: int = 0, told: bool = false } }
             step p[put(a: A) { none: mine absent }] { S.n += 1  mine := S.n }
             step p[ask(a: A) { none: mine absent  one: S.n = 1 }] { S.told := true  mine := S.n }
             invariant kept: all a in A: a.told implies a.n <= 1
             check { a: 1  p: 1  S.n: 0..3  faults: lost_reply 1, duplicate }"
        ),
        3
    );
}

#[test]
fn u7_times_keep_their_order_beyond_the_horizon() {
    let text = |condition: &str| {
        format!(
            "design D
             actor p
             subject A(a: text) {{ truth S {{ x: time?, y: time?, bad: bool = false }} }}
             step p[one(a: A) {{ first: S.x absent }}] {{ S.x := now }}
             step p[two(a: A) {{ then: S.x < now and S.y absent }}] {{ S.y := now }}
             step p[judge(a: A) {{ long: S.x + 10s < now and S.y + 10s < now  order: {condition} }}] {{
                 S.bad := true
             }}
             invariant never: all a in A: not a.bad
             check {{ a: 1 }}"
        )
    };
    violated(&text("S.x < S.y"));
    assert!(proved(&checked(&text("S.x = S.y"))), "the two are never equal");
}

#[test]
fn u8_a_cut_on_the_branch_of_a_fault_is_told() {
    let text = |room: u32| {
        format!(
            "design D
             actor p
             subject N(n: text) at n {{ truth S {{ got: int = 0, gone: bool = false, x: bool = false }} }}
             step p[go(from: N, to: N) {{ once: not from.gone  other: from != to }}] {{
                 from.gone := true
                 send p.recv(to, from)
             }}
             step p[recv(n: N, back: N)] {{ n.got += 1  send p.one(back)  send p.two(back) }}
             step p[one(n: N)] {{ S.x := true }}
             step p[two(n: N)] {{ S.x := false }}
             invariant once: all n in N: n.got <= 1
             check {{ n: 2  S.got: 0..3  messages: {room}  faults: doubled_message }}"
        )
    };
    assert_eq!(violated(&text(3)), 3);
    assert!(!proved(&checked(&text(2))));
}

#[test]
fn u9_callers_give_the_literals_of_the_design() {
    assert_eq!(
        violated(
            "design D
             actor p
             subject A(a: text) { truth S { root: bool = false } }
             step p[enter(a: A, name: text)] { if name = \"admin\" { S.root := true } }
             invariant safe: all a in A: not a.root
             check { a: 1  name: 2 }"
        ),
        1
    );
}

#[test]
fn u10_one_person_may_have_two_roles() {
    assert_eq!(
        violated(
            "design D
             actor author
             actor approver
             subject A(a: text) { truth S { by: actor?, approved_by: actor? } }
             step author[write(a: A)] { S.by := me }
             step approver[approve(a: A) { written: S.by present }] { S.approved_by := me }
             invariant two: all a in A: a.approved_by = null or a.by != a.approved_by
             check { a: 1  author: 1  approver: 1 }"
        ),
        2
    );
}

#[test]
fn unknown_may_come_more_than_once() {
    violated(
        "design D
         actor p
         actor w
         actor r
         subject A(a: text) { truth S { status: IDLE | ASKED | DOUBT | OUT | DONE = IDLE } }
         step p[go(a: A) { idle: S.status = IDLE }] { S.status := ASKED  send w.act(a) }
         effect w[act(a: A)] {
             call POST \"{w.url}\" key a
             on ok { S.status := DONE }
             on refused { S.status := DONE }
             on unknown { if S.status = ASKED { S.status := DOUBT } else { S.status := OUT } }
         }
         repair r[again(a: A) { doubt: S.status = DOUBT }] { send w.act(a) }
         recovers ended: all a in A: a.status in {IDLE, DONE}
         check { a: 1 }",
    );
}

// ---- false alarms and smaller defects

#[test]
fn what_refuses_only_a_call_that_lands_again_was_seen_to_refuse() {
    let text = |fault: &str| {
        format!(
            "design D
             actor p {{ mine: int? of A }}
             subject A(a: text) {{ truth S {{ n: int = 0 }} }}
             step p[put(a: A) {{ none: mine absent  empty: S.n = 0 }}] {{ S.n += 1  mine := S.n }}
             invariant one: all a in A: a.n <= 1
             failure \"twice\" {{ without put.empty breaks one }}
             check {{ a: 1  p: 1  S.n: 0..2  faults: {fault} }}"
        )
    };
    for fault in ["duplicate", "late"] {
        let report = checked(&text(fault));
        assert_eq!(report.unwitnessed, Vec::<String>::new(), "{fault}");
        assert!(matches!(report.failures[0].status, FailureStatus::LoadBearing(_)), "{fault}");
        assert!(report.ok(), "{fault}");
    }
}

#[test]
fn what_is_accepted_only_under_a_pause_was_seen() {
    let report = checked(
        "design D
         actor p { mine: int? of A }
         subject A(a: text) { truth S { n: int = 0, late: bool = false } }
         step p[take(a: A) { two: S.n < 2 }] { S.n += 1  mine := S.n }
         step p[stale(a: A) { behind: mine < S.n }] { S.late := true }
         invariant fine: all a in A: a.n <= 2
         check { a: 1  p: 1  S.n: 0..2  faults: pause }",
    );
    assert_eq!(report.unwitnessed, Vec::<String>::new());
}

#[test]
fn nothing_bears_the_load_of_a_goal_that_is_violated_as_written() {
    let report = checked(
        "design D
         actor p
         subject A(a: text) { truth S { x: bool = false } }
         step p[one(a: A) { no: S.x }] { S.x := true }
         step p[two(a: A)] { S.x := true }
         invariant never: all a in A: not a.x
         failure \"one\" { without one.no breaks never }
         check { a: 1 }",
    );
    assert!(matches!(report.goals[0].verdict, Verdict::Violated(_)));
    assert!(!matches!(report.failures[0].status, FailureStatus::LoadBearing(_)), "{report:?}");
}

#[test]
fn depth_is_obeyed_and_told() {
    let text = |depth: u32| {
        format!(
            "design D
             actor p
             subject A(a: text) {{ truth S {{ x: int = 0 }} }}
             step p[inc(a: A) {{ room: S.x < 6 }}] {{ S.x += 1 }}
             invariant few: all a in A: a.x <= 3
             check {{ a: 1  S.x: 0..6  depth: {depth} }}"
        )
    };
    let shallow = checked(&text(2));
    assert!(shallow.base.depth <= 2, "{:?}", shallow.base);
    assert!(!proved(&shallow) && !matches!(shallow.goals[0].verdict, Verdict::Violated(_)));
    assert!(matches!(checked(&text(5)).goals[0].verdict, Verdict::Violated(_)));
}

#[test]
fn a_parameter_that_is_an_actor_can_be_narrowed() {
    let text = |to: &str| {
        format!(
            "design D
             actor buyer
             actor seller
             subject A(a: text) {{ truth S {{ to: actor? }} }}
             step buyer[give(a: A, to: actor) {{ another: S.to != to }}] {{ S.to := to }}
             step seller[drop_it(a: A) {{ some: S.to present }}] {{ S.to := null }}
             invariant fine: all a in A: a.to = null or a.to present
             check {{ a: 1  buyer: 2  seller: 2  {to} }}"
        )
    };
    let codes = |to: &str| compile(&text(to)).err().unwrap_or_default();
    assert_eq!(codes("to: 1"), ["E0703"]);
    assert_eq!(codes("to: 99"), ["E0703"]);
    assert_eq!(codes("to: {banana}"), ["E0703"]);
    let plain = Options { symmetry: false, threads: 1, ..Options::default() };
    let any = checked_with(&text(""), &plain);
    let few = checked_with(&text("to: {seller}"), &plain);
    assert!(few.base.states < any.base.states, "{} and {}", few.base.states, any.base.states);
}

#[test]
fn a_list_of_blobs_as_a_parameter() {
    let report = checked(
        "design D
         actor p
         blob B
         subject A(a: text) { truth S { n: int = 0 } }
         step p[put(a: A, parts: list B max 2)] { S.n := size(parts) }
         invariant few: all a in A: a.n <= 1
         check { a: 1  parts: 2  S.n: 0..2 }",
    );
    assert!(matches!(report.goals[0].verdict, Verdict::Violated(_)), "{report:?}");
}

#[test]
fn a_set_costs_what_the_world_has() {
    let bits = |max: u32| {
        checked(&format!(
            "design D
             actor p
             subject K(k: text) {{ truth T {{ x: bool = false }} }}
             subject A(a: text) {{ truth S {{ all_of: set K max {max} }} }}
             step p[put(a: A, k: K)] {{ S.all_of += k }}
             invariant few: all a in A: size(a.all_of) <= 2
             check {{ a: 1  k: 2 }}"
        ))
        .base
        .state_bits
    };
    assert_eq!(bits(4096), bits(2));
}

/// Three boxes that are interchangeable, tied together by who was touched last.
const BOXES: &str = "design D
     actor p
     actor r
     subject K(k: text) { truth T { full: bool = false } }
     subject A(a: text) { truth S { last: K? } }
     step p[fill(a: A, k: K)] { k.full := true  S.last := k }
     repair r[empty(k: K) { full: T.full }] { T.full := false }
     recovers emptied: all k in K: not k.full
     check { a: 1  k: 4 }";

/// Two that take each other's place for ever: `recovers` has a search of its own, without symmetry.
const GUARDS: &str = "design D
     actor p
     actor r
     subject G(g: text) { truth S { other: G?, on: bool = false, told: bool = false } }
     step p[pair(g: G, h: G) { free: g.other = null and h.other = null  two: g != h }] {
         g.other := h
         g.on := true
         h.other := g
     }
     repair r[pass(g: G) { on: S.on and S.other != null }] { S.on := false  S.other.on := true }
     repair r[tell(g: G) { on: S.on and not S.told }] { S.told := true }
     recovers all_told: all g in G: g.other = null or g.told
     check { g: 2 }";

#[test]
fn every_search_is_told_and_counts_in_the_time() {
    let report = checked(GUARDS);
    let recovery = report.searches.iter().find(|search| search.name.contains("recovery"));
    let recovery = recovery.unwrap_or_else(|| panic!("{:?}", report.searches));
    assert!(recovery.states > report.base.states, "{recovery:?}");
    let searches: f64 = report.searches.iter().map(|search| search.seconds).sum();
    assert!(report.seconds >= searches, "{} and {searches}", report.seconds);
}

#[test]
fn a_search_that_ends_with_its_budget_has_more_states_than_it_says() {
    let whole = checked(BOXES);
    let most = whole.searches.iter().map(|search| search.states).max().expect("there is one");
    let options = Options { max_states: most as usize - 1, threads: 1, ..Options::default() };
    let report = checked_with(BOXES, &options);
    assert!(matches!(report.goals[0].verdict, Verdict::Unknown(_)), "{report:?}");
    // whoever reads "more states than the budget allows" finds the search that had them
    let told = report.searches.iter().map(|search| search.states).max();
    assert!(told.is_some_and(|told| told >= most - 1), "{told:?} of {most}");
}

#[test]
fn a_violation_is_told_while_the_search_goes_on() {
    let design = compile(
        "design D
         actor p
         subject A(a: text) { truth S { x: int = 0, y: int = 0 } }
         step p[up(a: A) { room: S.x < 200 }] { S.x += 1 }
         step p[over(a: A) { room: S.y < 200 }] { S.y += 1 }
         invariant few: all a in A: a.x < 4
         check { a: 1  S.x: 0..200  S.y: 0..200 }",
    )
    .unwrap_or_else(|codes| panic!("{codes:?}"));
    let options = Options { threads: 1, ..Options::default() };
    let mut first = None;
    let report = check(&design, &options, &mut |progress| {
        if let (None, Some((goal, trace))) = (&first, &progress.violated) {
            first = Some((goal.clone(), trace.steps.len(), progress.states));
        }
    })
    .expect("the small world is finite");
    let (goal, steps, states) = first.expect("it is told");
    assert_eq!((goal.as_str(), steps), ("few", 4));
    assert!(states * 10 < report.base.states, "{states} of {}", report.base.states);
}

#[test]
fn a_copy_may_be_gone_whatever_check_says_of_evict() {
    let text = "design D
         actor p
         subject A(a: text) { truth S { n: int = 0 } cache C at p { done: bool = false } }
         step p[once(a: A) { first: C absent }] { S.n += 1  C := { done: true } }
         invariant few: all a in A: a.n <= 2
         check { a: 1  p: 1  S.n: 0..4 FAULTS }";
    // What serves a design keeps no copies, so there is no budget for it.
    for (faults, told) in [
        ("", "evict (always, where there are caches)"),
        ("faults: evict 1", "evict"),
        ("faults: evict", "evict"),
    ] {
        let text = text.replace("FAULTS", faults);
        assert_eq!(violated(&text), 5, "{faults}");
        assert_eq!(checked(&text).world.faults, [told]);
    }
}

/// A copy was refreshed by answers that nobody heard: those that are lost, and those of a call that comes twice or late.
/// Found by seed 606 of the random designs that use.
#[test]
fn who_does_not_hear_the_answer_has_the_older_copy() {
    let text = "design D
         actor p
         subject A(a: text) { truth S { n: int = 0, passed: bool = false } cache C at p { seen: int = 0 } }
         step p[count(a: A) { few: S.n < 2 }] { S.n += 1  C := { seen: S.n } }
         step p[pass(a: A) { behind: C.seen < S.n }] { S.passed := true }
         invariant never: all a in A: not a.passed
         check { a: 1  p: 1  S.n: 0..2  calls: 1  faults: FAULT }";
    for (fault, steps) in [("lost_reply", 3), ("duplicate", 3), ("late", 4)] {
        assert_eq!(violated(&text.replace("FAULT", fault)), steps, "{fault}");
    }
    let crash = checked(&text.replace("FAULT", "crash"));
    assert!(matches!(crash.goals[0].verdict, Verdict::Proved), "{:?}", crash.goals[0].verdict);
}

/// A value that only a goal reads, of a call to the world outside, was one value for all.
#[test]
fn what_a_goal_reads_of_a_call_is_varied() {
    let text = |goal: &str, check: &str| {
        format!(
            "design Sums
            actor clerk
            actor bank
            subject Bill(bill: text) {{ truth BillState {{ asked: bool = false }} }}
            step clerk[charge(bill: Bill, amount: int) {{ once: not BillState.asked }}] {{
                BillState.asked := true
                send bank.pay(bill, amount)
            }}
            effect bank[pay(bill: Bill, amount: int)] {{
                call POST \"{{bank.url}}/pay\" key bill body {{ amount }}
                on ok {{}}
                on refused {{}}
                on unknown {{}}
            }}
            invariant small: all p in {goal}: p.amount <= 5
            check {{ bill: 1 {check} }}"
        )
    };
    for goal in ["world.pay", "outbox of pay"] {
        assert_eq!(compile(&text(goal, "")).unwrap_err(), ["E0701"], "{goal}");
        violated(&text(goal, "amount: {1, 9}"));
    }
}

/// Two steps that ask for content of one kind ask the same place, also where what they store never meets. Only the first
/// was ever accepted, and what the second one breaks was called proved.
#[test]
fn content_that_two_steps_ask_for_is_in_one_place() {
    let design = |first: &str, second: &str| {
        format!(
            "design Frames\nactor painter\nblob Content\n\
             subject Frame(frame: text) {{ truth FrameState {{ first: Content?, second: Content? }} }}\n\
             step painter[hang(frame: Frame, content: Content) {{ arrived: stored(content) }}] {{ {first} }}\n\
             step painter[sign(frame: Frame, content: Content) {{ arrived: stored(content) }}] {{ {second} }}\n\
             invariant never: all f in Frame: f.second = null\n\
             check {{ frame: 1 painter: 1 content: 1 }}"
        )
    };
    let (one, other) = ("FrameState.first := content", "FrameState.second := content");
    // the content arrives, and the step is taken
    assert_eq!(violated(&design(one, other)), 2);
    assert_eq!(violated(&design(other, one)), 2);
}
