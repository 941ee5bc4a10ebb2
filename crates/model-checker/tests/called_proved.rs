//! What was called proved and is not: each with a small design that can be gone through by hand.

use crate::support::text::{proved, report, violated};

#[track_caller]
fn is_violated(text: &str) {
    assert!(!violated(&report(text), "goal").steps.is_empty(), "{text}");
}

// ---- records that share the key of an effect

fn posting(key: &str, kind: &str) -> String {
    format!(
        "design Post
actor clerk
actor bank
subject Bill(bill: text) {{ truth S {{ status: NEW | ASKED | DONE = NEW }} }}
step clerk[pay(bill: Bill) {{ new: S.status = NEW }}] {{
    S.status := ASKED
    send bank.charge(bill, {kind})
}}
effect bank[charge(bill: Bill, kind: int)] {{
    call POST \"{{bank.url}}/charge\" {key} body {{ kind }}
    on ok {{ S.status := DONE }}
    on refused {{ S.status := DONE }}
    on unknown {{}}
}}
recovers goal: all b in Bill: b.status != ASKED
check {{ bill: 2  clerk: 1  unknowns: 0 }}
"
    )
}

/// The second call takes the place of the first: nobody tells the first bill what became of it.
#[test]
fn calls_of_two_records_with_one_key_meet() {
    is_violated(&posting("key kind", "1"));
    proved(&report(&posting("key bill", "1")), "goal");
    proved(&report(&posting("key bill.bill", "1")), "goal");
}

// ---- the name of a parameter and that of a variable

#[test]
fn a_call_with_a_name_hides_no_variable() {
    let text = |goal: &str| {
        format!(
            "design Names
actor clerk
actor bank
subject Order(order: text) {{ truth S {{ asked: bool = false }} }}
step clerk[pay(o: Order) {{ new: not S.asked }}] {{
    S.asked := true
    send bank.charge(o)
}}
effect bank[charge(o: Order)] {{
    call POST \"{{bank.url}}/charge\" key o
    on ok {{}}
    on refused {{}}
    on unknown {{}}
}}
invariant goal: {goal}
check {{ order: 2  clerk: 1 }}
"
        )
    };
    is_violated(&text("all o in Order: all w in world.charge: w.o = o"));
    is_violated(&text("all x in Order: all w in world.charge: w.o = x"));
    proved(&report(&text("all o in Order: count(world.charge where o = o) <= 2")), "goal");
    // whose it is, where nothing else has the name
    is_violated(&text("all x in Order: all w in world.charge: o = x"));
}

// ---- numbers that are compared before they are kept

fn counting(body: &str) -> String {
    format!(
        "design Counting
actor p
subject T(t: text) {{ truth S {{ x: int = 0, y: int = 0, hit: bool = false }} }}
step p[more(t: T)] {{ S.x += 1 }}
step p[look(t: T)] {{
    {body}
}}
invariant goal: all s in T: not s.hit
check {{ t: 1  p: 1 }}
"
    )
}

#[test]
fn a_number_that_is_compared_before_it_is_kept() {
    // x is 1 and y is 0
    is_violated(&counting("let n = S.y + 1\n    if n = S.x { S.hit := true }"));
    is_violated(&counting("S.y += 1\n    if S.y = S.x { S.hit := true }\n    S.y := 0"));
    is_violated(&counting(
        "let n = S.y + 1\n    let m = n\n    if S.x <= m and S.x > S.y { S.hit := true }",
    ));
    // It is the largest, and compared with 0 alone.
    proved(
        &report(
            "design Counting
actor p
subject T(t: text) { truth S { x: int = 0, y: int = 0, ok: bool = true } }
step p[more(t: T)] {
    S.x += 1
    if S.x = 0 { S.ok := false }
}
step p[keep(t: T)] { S.y := S.x }
invariant goal: all s in T: s.ok and s.y <= s.x
check { t: 1  p: 1 }
",
        ),
        "goal",
    );
}

// ---- which comes first

fn members(of: &str, body: &str) -> String {
    let (subject, check) = match of {
        "R" => ("subject R(r: text) { truth Seat { n: int = 0 } }", "r: 2  p: 1  Seat.n: 0..2"),
        _ => ("", "p: 2"),
    };
    format!(
        "design Members
actor p
{subject}
subject T(t: text) {{
    truth S {{ members: set {of} max 2 = {{}}, one: {of}?, first: {of}?, done: bool = false }}
}}
step p[join(t: T, r: {of}) {{ open: not S.done }}] {{
    if S.one = null {{ S.one := r }}
    S.members += r
}}
step p[pick(t: T) {{ all: size(S.members) = 2  once: not S.done }}] {{
    for m in S.members {{
        {body}
    }}
    S.done := true
}}
invariant goal: all s in T: not s.done or s.first = s.one
invariant other: all s in T: not s.done or s.first != s.one
check {{ t: 1  {check} }}
"
    )
}

/// Whoever joined first is the first of the set, or not.
#[test]
fn the_first_of_a_set_may_be_any() {
    let pick = "if S.first = null { S.first := m }";
    for text in [members("R", pick), members("actor", pick)] {
        let report = report(&text);
        violated(&report, "goal");
        violated(&report, "other");
    }
    let last = "S.first := m";
    for text in [members("R", last), members("actor", last)] {
        let report = report(&text);
        violated(&report, "goal");
        violated(&report, "other");
    }
}

/// Where each turn is its own, records can be exchanged.
#[test]
fn a_loop_whose_order_makes_no_difference() {
    let exchanged = |text: &str| {
        let told = model_checker::render::golden(&report(text));
        told.contains("interchangeable")
    };
    let same = "m.n := 1";
    assert!(exchanged(&members("R", same)));
    let first = "if S.first = null { S.first := m }";
    assert!(!exchanged(&members("R", first)));
}

// ---- answers and keys that the design writes

#[test]
fn the_world_answers_what_its_answer_is_compared_with() {
    let text = |on: &str| {
        format!(
            "design Answers
actor clerk
actor bank
subject Bill(bill: text) {{ truth S {{ asked: bool = false, bad: bool = false }} }}
step clerk[pay(bill: Bill) {{ new: not S.asked }}] {{
    S.asked := true
    send bank.charge(bill)
}}
effect bank[charge(bill: Bill)] {{
    call POST \"{{bank.url}}/charge\" key bill
    on ok(kind: text) {{ {on} }}
    on refused {{}}
    on unknown {{}}
}}
invariant goal: all b in Bill: not b.bad
check {{ bill: 1  clerk: 1  kind: 1 }}
"
        )
    };
    is_violated(&text("if kind = \"fraud\" { S.bad := true }"));
    // nobody answers two things at once
    proved(&report(&text("if kind = \"a\" and kind = \"b\" { S.bad := true }")), "goal");
}

#[test]
fn a_record_may_be_called_what_the_design_writes() {
    let text = |guard: &str| {
        format!(
            "design Boxes
actor p
subject Box(box: text) {{ truth Held {{ full: bool = false }} }}
subject T(t: text) {{ truth S {{ hit: bool = false }} }}
step p[open(box: new Box)] {{ Held.full := true }}
step p[look(t: T) {{ {guard} }}] {{ S.hit := true }}
invariant goal: all s in T: not s.hit
check {{ box: 1  t: 1  p: 1 }}
"
        )
    };
    is_violated(&text("full: Box(\"main\").full"));
    is_violated(&text("there: Box(\"main\") present"));
    proved(&report(&text("never: Box(\"main\") present and Box(\"main\") absent")), "goal");
}
