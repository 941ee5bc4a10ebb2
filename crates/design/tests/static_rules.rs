//! The rules that a design must keep to, each with what breaks it and what keeps it.

use crate::common;

use common::codes;
use design::model::*;

const HEAD: &str = "design Rules\nactor a { my: int? of S }\nactor b\nblob Content\n\
    subject S(s: text) {\n    truth T { n: int = 0, e: A | B = A, at: time?, next: S?, few: set S max 3 }\n\
    log L { n: int }\n    cache C at a { v: int = 0 }\n    ephemeral E ttl 5s { x: int?, who: S? }\n}\n\
    subject P(p: text) { truth PT { done: bool = false } }\n\
    subject K(p: P, k: text) { truth KT { done: bool = false, cost: int = 0, whose: S? } }\n\
    view V = count S where n > 0\n\
    step a[give(s: S)] { my := T.n }\n\
    effect b[out(s: S) { open: T.n = 0 }] { call POST \"u\" on ok(got: int) { T.n := got } on refused { } on unknown { } }\n";

/// The head and more items compile with these errors and no others.
#[track_caller]
fn check(items: &str, expected: &[&str]) {
    assert_eq!(codes(&format!("{HEAD}{items}\n")), expected, "{items}");
}

/// A step of `a` with this guard.
#[track_caller]
fn guard(guard: &str, expected: &[&str]) {
    check(&format!("step a[go(s: S, p: P, limit: int) {{ x: {guard} }}] {{ T.n := 1 }}"), expected);
}

/// A step of `a` with these statements.
#[track_caller]
fn body(body: &str, expected: &[&str]) {
    check(&format!("step a[go(s: S, p: P, limit: int)] {{ {body} }}"), expected);
}

#[test]
fn the_head_compiles() {
    check("", &[]);
}

#[test]
fn guards_read_truth_and_their_own_cache_only() {
    guard("T.n = 0", &[]);
    guard("C present and C.v = 0", &[]);
    guard("L.end > 3 and L.start = 0", &[]);
    guard("V > 3", &["E0401"]);
    guard("V() > 3", &["E0401"]);
    guard("count(V) > 3", &["E0401"]);
    guard("E.x = 1", &["E0402"]);
    guard("E.x present", &["E0402"]);
    guard("x = 1", &["E0402"]);
    guard("s.x = 1", &["E0402"]);
    guard("E.who.n = 1", &["E0402"]);
    guard("E.who present and E.who.n = 1", &["E0402", "E0402"]);
    guard("let y = E.x in y = 1", &["E0402"]);
    guard("min(1, E.x) = 1", &["E0402"]);
    guard("T.next.x = 1", &["E0402"]);
    check("step b[go(s: S) { x: C.v = 0 }] { T.n := 1 }", &["E0411"]);
    check("step b[go(s: S) { x: C present }] { T.n := 1 }", &["E0411"]);
    check("invariant i: all s in S: s.v = 0", &["E0411"]);
    check("repair b[mend(s: S) { x: C.v = 0 }] { T.n := 1 }", &["E0411"]);
}

#[test]
fn effects_rest_on_truth_too() {
    body("E.x := 3", &[]);
    body("x := 3", &[]);
    body("E := { x: 3 }", &[]);
    body("T.n := E.x", &["E0402"]);
    body("E.who.n := 1", &["E0402"]);
    body("T.n := V()", &["E0401"]);
    body("if E.x present { T.n := 1 }", &["E0402"]);
    body("emit Seen { x: E.x }", &["E0402"]);
}

#[test]
fn references_are_followed_a_bounded_number_of_times() {
    guard("T.next.next.next.n = 0", &[]);
    guard("all f in T.few: f.n = 0", &[]);
    guard("all f in T.few: all g in f.few: all h in g.few: h.n = 0", &[]);
    guard("all z in S: z.n = 0", &["E0403"]);
    guard("count(S where n = 0) = 0", &["E0403"]);
    body("for c in K of p { c.done := true }", &["E0403"]);
    let wide = "subject W(w: text) { truth WT { ws: set W max 40, n: int = 0 } }\n\
        step a[go(w: W) { x: all u in WT.ws: all v in u.ws: v.n = 0 }] { WT.n := 1 }";
    check(wide, &["E0405"]);
}

#[test]
fn children_are_counted_by_their_own_truth() {
    guard("all c in K of p: c.done", &[]);
    guard("sum(cost of K of p where done) < 3", &[]);
    guard("count(c in K of p where c.cost > 3 and not c.done) = 0", &[]);
    guard("count(K of p where cost > limit) = 0", &["E0404"]);
    guard("count(K of p where whose.n > 0) = 0", &["E0404"]);
    guard("any c in K of p: now > T.at", &["E0404", "E0404"]);
    guard("count(K of s) = 0", &["E0305"]);
    guard("count(P of s) = 0", &["E0305"]);
}

#[test]
fn quantifiers_become_shared_counters() {
    let text = format!(
        "{HEAD}step a[one(p: P) {{ x: all c in K of p: c.done }}] {{ PT.done := true }}\n\
         step a[two(p: P) {{ x: all other in K of p: other.done  y: any c in K of p: c.done }}] {{ PT.done := true }}\n"
    );
    let design = common::compiled(&text).design.expect("it compiles");
    let parent = design.subjects.iter().find(|s| s.name == "P").expect("P is there");
    assert_eq!(parent.counters.len(), 2, "two that say the same are one");
}

#[test]
fn what_the_checker_enumerates_is_finite() {
    let step = "step a[go(s: S, k: int, word: text, on: bool, e: A | B, who: actor) {\n\
        x: k > 0\n y: on\n z: T.e = e\n}] { emit Said { word: word } }\n";
    check(&format!("{step}check {{ s: 1  p: 1  a: 1  K.k: 1  go.k: 0..2  got: 0..1 }}"), &[]);
    check(&format!("{step}check {{ s: 1  p: 1  a: 1  K.k: 1  got: 0..1 }}"), &["E0701"]);
    let compared = "step a[go(s: S, word: text) { x: word = \"yes\" }] { T.n := 1 }\n";
    check(&format!("{compared}check {{ s: 1  p: 1  a: 1  k: 1  got: 0..1 }}"), &["E0701"]);
    check(&format!("{compared}check {{ s: 1  p: 1  a: 1  k: 1  word: 2  got: 0..1 }}"), &[]);
}

#[test]
fn memory_belongs_to_its_actor_and_its_subject() {
    guard("T.n = my", &[]);
    guard("my = T.n", &[]);
    check("step b[go(s: S) { x: T.n = my }] { T.n := 1 }", &["E0501"]);
    check("step b[go(s: S) { x: my = T.n }] { T.n := 1 }", &["E0501"]);
    check("step b[go(s: S) { x: my in T.few }] { T.n := 1 }", &["E0501"]);
    check("step b[go(s: S)] { my := 1 }", &["E0501"]);
    check("step a[go(p: P) { x: my = 1 }] { PT.done := true }", &["E0502"]);
    check("step a[go(l: S, r: S) { x: my = 1 }] { l.n := 1 }", &["E0206"]);
    check("step a[go(l: S, r: S) { x: l.my = 1 }] { r.n := 1 }", &[]);
    check("repair b[mend(s: S) { x: T.n = my }] { T.n := 1 }", &["E0505"]);
    check("actor c continues a\nstep c[go(s: S) { x: T.n = my }] { T.n := 1 }", &[]);
    body("my := \"word\"", &["E0301"]);
    body("my += 1", &[]);
}

#[test]
fn every_step_of_a_protocol_exists() {
    check("protocol main { a[give] -> b[out] => done }", &[]);
    check("protocol main { a[gvie] => done }", &["E0601"]);
    check("protocol main { b[give] => done }", &["E0601"]);
    check("protocol main { b[out] refused open => retry }", &[]);
    check("protocol main { b[out] refused shut => retry }", &["E0602"]);
    check("protocol main { a[give] refused exists => retry }", &["E0602"]);
    check("protocol main { a[give] => finished }", &["E0603"]);
    check("protocol main { b[out {T.n = 0}] => done }", &[]);
    check("protocol main { b[out {T.n = 1}] => done }", &["E0608"]);
}

#[test]
fn every_protection_of_a_failure_exists() {
    let goal = "invariant i: true\nstep a[ask(s: S)] { send b.out(s)  T.n += 1 }\n\
        repair b[mend(s: S) { x: T.n = 3 }] { T.n := 0 }\nread a[look(s: S)] = T\n\
        step a[save(s: S)] keyed { T.n := 1 }\n";
    let check = |without: &str, expected: &[&str]| {
        check(&format!("{goal}failure \"f\" {{ without {without} breaks i }}"), expected);
    };
    check("out.open", &[]);
    check("out.shut", &["E0604"]);
    check("otu.open", &["E0207"]);
    check("repair mend", &[]);
    check("repair ask", &["E0606"]);
    check("assignment ask.T.n", &[]);
    check("assignment ask.T.e", &["E0606"]);
    check("assignment give.my", &[]);
    check("outbox of ask", &[]);
    check("outbox of give", &["E0606"]);
    check("key of out", &[]);
    check("key of ask", &["E0606"]);
    check("at_least of look", &[]);
    check("at_least of ask", &["E0606"]);
    check("keyed of save", &[]);
    check("keyed of ask", &["E0606"]);
    check("keyed of out", &["E0606"]);
    check("keyed of mend", &["E0606"]);
    check("keyed of otu", &["E0207"]);
    check("ask.fresh", &["E0604"]);
}

#[test]
fn what_the_compiler_is_said_to_refuse_it_refuses() {
    let failure = |code: &str, items: &str| {
        format!("failure \"f\" {{ refused by compiler {code} {{ {items} }} }}")
    };
    let lag = "step a[go(s: S) { x: V > 1 }] { T.n := 1 }";
    check(&failure("E0401", lag), &[]);
    check(&failure("E0402", lag), &["E0607"]);
    check(&failure("E0401", "actor c"), &["E0607"]);
}

#[test]
fn a_step_happens_at_one_place() {
    let placed = "subject R(key: text, node: text) at node { truth RT { v: int = 0 } }\n";
    let check = |step: &str, expected: &[&str]| check(&format!("{placed}{step}"), expected);
    check("step a[go(r: R)] { RT.v += 1 }", &[]);
    check("step a[go(l: R, r: R)] { l.v := r.v }", &["E0412"]);
    let by_another_name = "define big(r: R) = r.v > 3\n";
    check(&format!("{by_another_name}step a[go(r: R) {{ b: big(r) }}] {{ RT.v += 1 }}"), &[]);
    check("step a[go(r: R)] { let v = r.v  RT.v := v }", &[]);
    check(
        &format!("{by_another_name}step a[go(l: R, r: R) {{ b: big(l) }}] {{ r.v += 1 }}"),
        &["E0412"],
    );
    let child = "subject C(r: R, c: text) { truth CT { w: int = 0 } }\n";
    check(&format!("{child}step a[go(c: C) {{ b: c.r.v > 3 }}] {{ CT.w := c.r.v }}"), &[]);
    check(
        &format!("{child}step a[go(c: C, r: R) {{ b: r.v > 3 }}] {{ CT.w := c.r.v }}"),
        &["E0412"],
    );
    check("step a[go(r: R, s: S)] { r.v := s.n }", &["E0412"]);
    check(
        "step a[go(l: R, r: R)] { send a.hear(r, l.v) }\nstep a[hear(r: R, v: int)] { RT.v := v }",
        &[],
    );
}

#[test]
fn a_message_has_no_principal() {
    let sent =
        |step: &str| format!("step b[tell(s: S)] {{ send a.hear(s) }}\nstep a[hear(s: S){step}");
    check(&sent("] { T.n := 1 }"), &[]);
    check(&sent(" { x: T.n = my }] { T.n := 1 }"), &["E0504"]);
    check(&sent("] { my := T.n }"), &["E0504"]);
    check(&sent("] { C.v := 1 }"), &["E0504"]);
    check(&sent(" { x: C.v = 0 }] { T.n := 1 }"), &["E0504"]);
    check(&sent(" { x: me = me }] { T.n := 1 }"), &["E0504"]);
    // what nothing sends to is somebody's
    check("step a[hear(s: S) { x: C.v = 0 }] { my := T.n }", &[]);
}

#[test]
fn time_stands_only_where_something_runs_when_it_passes() {
    guard("T.at < now", &[]);
    guard("T.at + 5m < now - 1s", &[]);
    guard("T.at < 5m", &["E0301"]);
    guard("T.at + now < now", &["E0303"]);
    check("view Late = count S where at < now", &["E0414"]);
    check("subject Q(q: text) { truth QT { t: time = now } }", &["E0414"]);
    check("invariant i: all s in S: s.at < now", &[]);
}

#[test]
fn what_the_world_did_is_for_goals() {
    check("invariant i: all s in S: count(world.out where s = s) <= 1", &[]);
    check("invariant i: all r in S: count(world.out where s = r) <= 1", &[]);
    check("invariant i: all r in S: count(c in world.out where c.s = r and c.n = 0) <= 1", &[]);
    check("invariant i: all r in S: count(c in world.out where c.q = r) <= 1", &["E0204"]);
    check("invariant i: count(world.put) = 0", &["E0207"]);
    guard("count(world.out) = 0", &["E0418"]);
}

#[test]
fn an_empty_definition_is_used_by_its_name() {
    check("define limit = 3\nstep a[go(s: S) { x: T.n < limit }] { T.n := limit }", &[]);
    check("define small(n: int) = n < 3\nstep a[go(s: S) { x: small(T.n) }] { T.n := 1 }", &[]);
    check("define small(n: int) = n < 3\nstep a[go(s: S) { x: small }] { T.n := 1 }", &["E0304"]);
}

#[test]
fn a_constant_may_stand_on_either_side() {
    guard("T.e = A and A = T.e and T.e in {A, B}", &[]);
    check(
        "subject Q(q: text) { truth QT { es: set (A | B) max 2 } }\n\
         step a[go(q: Q) { x: A in QT.es }] { QT.es += B  QT.es -= A }",
        &[],
    );
}

#[test]
fn a_log_is_read_in_slices() {
    check("read a[look(s: S, from: int)] = slice(L, from, 10)", &[]);
    check("read a[look(s: S)] = L", &["E0417"]);
    guard("size(slice(L, 0, 3)) = 0", &["E0405"]);
    body("append L { n: 1 }", &[]);
    body("append T { n: 1 }", &["E0417"]);
    body("append L { }", &["E0406"]);
}

#[test]
fn nothing_is_given_twice() {
    check("define p(x: int, x: int) = x", &["E0202"]);
    check("view W(n: int, n: int) = count S", &["E0202"]);
    check("step a[go(s: S, s: S)] { T.n := 1 }", &["E0202"]);
    body("T := { n: 1, n: 2 }", &["E0202"]);
    body("new K(p, \"k\") { cost: 1, cost: 2 }", &["E0202"]);
    body("emit Seen { x: 1, x: 2 }", &["E0202"]);
}

#[test]
fn a_limit_is_of_the_type_of_what_is_measured() {
    check("failure \"f\" { measured by count(S where n > 3) above 10 }", &[]);
    check("failure \"f\" { measured by sum(n of S) above 1s }", &["E0301"]);
    check("failure \"f\" { measured by 3 above 1 + 1 }", &["E0310"]);
    check("failure \"f\" { measured by true above false }", &["E0302"]);
}

#[test]
fn the_kinds_of_a_design_are_as_written() {
    let text = format!(
        "{HEAD}repair b[mend(s: S) {{ x: T.n = 3 }}] after 1s every 30s batch 7 {{ T.n := 0 }}\n"
    );
    let design = common::compiled(&text).design.expect("it compiles");
    let mend = design.operations.iter().find(|operation| operation.name == "mend");
    assert_eq!(
        mend.map(|operation| &operation.kind),
        Some(&OperationKind::Repair { after: Some(1_000), every: Some(30_000), batch: Some(7) })
    );
    let subject = &design.subjects[0];
    assert!(subject.implicit, "no step makes it");
    assert_eq!(design.subjects[2].parent, Some(SubjectId(1)), "K is a child of P");
    let kinds: Vec<&StateKind> = subject.states.iter().map(|state| &state.kind).collect();
    assert_eq!(
        kinds,
        [
            &StateKind::Truth,
            &StateKind::Log { retain: Retention::Forever },
            &StateKind::Cache { at: ActorId(0) },
            &StateKind::Ephemeral { ttl: Some(5_000) },
        ]
    );
}
