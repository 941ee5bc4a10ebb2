//! What was written, as it stands in the tree.

mod proof;
mod show;

use show::{show, show_block, show_fields, show_type};
use syntax::tree::*;
use syntax::{FileId, parse, parse_expression};

fn expr(text: &str) -> String {
    let (expr, diagnostics) = parse_expression(text, FileId(0));
    assert_eq!(diagnostics, [], "{text}");
    show(&expr)
}

fn item(text: &str) -> ItemKind {
    let mut parsed = parse(text, FileId(0));
    assert_eq!(parsed.diagnostics, [], "{text}");
    assert_eq!(parsed.tree.items.len(), 1, "{text}");
    let item = parsed.tree.items.remove(0);
    assert_eq!(item.span.text(text), text.trim(), "the item spans its text");
    item.kind
}

#[test]
fn operators_bind_as_they_should() {
    for (text, tree) in [
        ("a + b * c - d", "(Subtract (Add a (Multiply b c)) d)"),
        ("a - b - c", "(Subtract (Subtract a b) c)"),
        ("-a.b * c", "(Multiply (- a.b) c)"),
        ("m * f round half_even to 2", "(round half_even (Multiply m f) 2)"),
        ("a + b / c round up to 0", "(Add a (round up (Divide b c) 0))"),
        ("(a + b) round down to 2 < c", "(Less (round down (Add a b) 2) c)"),
        ("-a round half_up to 2 * b", "(Multiply (round half_up (- a) 2) b)"),
        ("a round other to 2", "(round other a 2)"),
        ("round + round", "(Add round round)"),
        ("a or b and c or d", "(or a (and b c) d)"),
        ("a and (b and c)", "(and a (and b c))"),
        ("a implies b implies c", "(Implies a (Implies b c))"),
        ("a or b implies c and d", "(Implies (or a b) (and c d))"),
        ("not a = b and c", "(and (not (Equal a b)) c)"),
        ("not not a", "(not (not a))"),
        ("a = not b", "(Equal a (not b))"),
        ("a + 1 < b * 2", "(Less (Add a 1) (Multiply b 2))"),
        ("a in {x, y} and b", "(and (In a {x y}) b)"),
        ("a.b[c].d present", "(present a.b[c].d)"),
        ("a.digest absent or b", "(or (absent a.digest) b)"),
        ("now - 5s >= t", "(GreaterEqual (Subtract now 5:Second) t)"),
        ("(now - refilled_at) / 100ms", "(Divide (Subtract now refilled_at) 100:Millisecond)"),
    ] {
        assert_eq!(expr(text), tree, "{text}");
    }
}

#[test]
fn what_extends_to_the_right_takes_all_of_it() {
    for (text, tree) in [
        ("a and all x in D: b or c", "(and a (All x in D: (or b c)))"),
        ("1 + if a then b else c + 2", "(Add 1 (if a b (Add c 2)))"),
        ("let n = a + 1 in n = b and n in s", "(let n (Add a 1) (and (Equal n b) (In n s)))"),
        ("let n = (a in b) in n", "(let n (In a b) n)"),
        ("let n = let m = 1 in m in n", "(let n (let m 1 m) n)"),
        (
            "all t in Task of stage where t.owner present: t.status = DONE",
            "(All t in Task of stage where (present t.owner): (Equal t.status DONE))",
        ),
        ("any x in world.authorize: x", "(Any x in world.authorize: x)"),
    ] {
        assert_eq!(expr(text), tree, "{text}");
    }
}

#[test]
fn aggregates_functions_and_brackets() {
    for (text, tree) in [
        ("count(Seat)", "(Count Seat)"),
        (
            "count(Booking where seat = s) <= 1",
            "(LessEqual (Count Booking where (Equal seat s)) 1)",
        ),
        ("count(x in Task of t where x.done)", "(Count x in Task of t where x.done)"),
        ("sum(x.cost * 2 of x in Task)", "(Sum (Multiply x.cost 2) of x in Task)"),
        ("sum(cost of Task of t)", "(Sum cost of Task of t)"),
        ("min(a, b + 1,)", "(min a (Add b 1))"),
        ("old(r.x) = null", "(Equal (old r.x) null)"),
        ("{}", "(record )"),
        ("{a, b}", "{a b}"),
        ("{ a: 1, b }", "(record a=1 b)"),
        ("[1_000, 1.50, \"a\\n\\u{e9}\"]", "[1000 1.50 \"a\\né\"]"),
        ("{ a: { b: {c} } }", "(record a=(record b={c}))"),
    ] {
        assert_eq!(expr(text), tree, "{text}");
    }
}

#[test]
fn words_have_a_role_only_in_their_place() {
    for (text, tree) in [
        ("count = sum + min", "(Equal count (Add sum min))"),
        ("all = any", "(Equal all any)"),
        ("ReplicaState.count < target", "(Less ReplicaState.count target)"),
        ("repair.step.all.in.now = new", "(Equal repair.step.all.in.now new)"),
        (
            "version = next or version = current",
            "(or (Equal version next) (Equal version current))",
        ),
        ("durable = unknown", "(Equal durable unknown)"),
        ("present present", "(present present)"),
    ] {
        assert_eq!(expr(text), tree, "{text}");
    }
}

#[test]
fn headers_are_words_and_texts() {
    let ItemKind::Header { property, values } =
        item("ownership owner-only, lease-backed, \"attempt scoped\"")
    else {
        panic!("not a header");
    };
    assert_eq!(property, HeaderProperty::Ownership);
    let shown: Vec<String> = values
        .iter()
        .map(|value| match value {
            HeaderValue::Word(name) => name.text.clone(),
            HeaderValue::Text(text) => format!("{:?}", text.value),
        })
        .collect();
    assert_eq!(shown, ["owner-only", "lease-backed", "\"attempt scoped\""]);
}

#[test]
fn actors_may_be_apart_from_others() {
    let ItemKind::Actor(actor) =
        item("actor approver continues clerk apart from author, payer { seen: int? }")
    else {
        panic!("not an actor");
    };
    let apart: Vec<&str> = actor.apart.iter().map(|name| name.text.as_str()).collect();
    assert_eq!(apart, ["author", "payer"]);
    assert!(actor.continues.is_some() && actor.memory.len() == 1);
}

#[test]
fn types_may_have_a_range() {
    for (text, shown) in [
        ("int 1..64", "int[1..64]"),
        ("int -3..-1", "int[(- 3)..(- 1)]"),
        ("duration 1s..10m?", "(duration[1:Second..10:Minute])?"),
        ("decimal 0.50..2.5", "decimal[0.50..2.5]"),
        ("(int 1..2)?", "(int[1..2])?"),
        ("set int 1..2 max 3", "set(int[1..2]) max 3"),
    ] {
        let ItemKind::Actor(actor) = item(&format!("actor a {{ n: {text} }}")) else { panic!() };
        assert_eq!(show_type(&actor.memory[0].ty), shown);
    }
}

#[test]
fn actors_keep_memory() {
    let ItemKind::Actor(actor) =
        item("actor holder continues claimant { my_epoch: int? of Resource\n count: int }")
    else {
        panic!("not an actor");
    };
    assert_eq!(actor.continues.map(|name| name.text).as_deref(), Some("claimant"));
    let memory: Vec<_> = actor
        .memory
        .iter()
        .map(|m| (m.name.text.as_str(), m.of.as_ref().map(|of| of.text.as_str())))
        .collect();
    assert_eq!(memory, [("my_epoch", Some("Resource")), ("count", None)]);
    assert!(matches!(actor.memory[0].ty.kind, TypeKind::Optional(_)));
}

#[test]
fn subjects_hold_states_with_attributes() {
    let ItemKind::Subject(subject) = item(
        "subject Replica(resource: Resource, node: text) at node {
            truth T {
                status: A | B = A
                subject: list text? max 4, min: (A | B)?
                max: map text set int max 2 max 8
                lines: list { sku: text
                    qty: int 1..9?, } max 3
            } visible to a, b where owner = me visible to c
            log L { at: time } retain 7d
            cache C at edge { version: int }
            ephemeral E ttl 30s { cursor: point, }
        }",
    ) else {
        panic!("not a subject");
    };
    assert_eq!(subject.at.map(|name| name.text).as_deref(), Some("node"));
    assert_eq!(subject.keys.len(), 2);
    let truth = &subject.states[0];
    let attributes: Vec<String> = truth
        .attributes
        .iter()
        .map(|a| {
            let default = a.default.as_ref().map_or(String::new(), |e| format!(" = {}", show(e)));
            format!("{}: {}{default}", a.name.text, show_type(&a.ty))
        })
        .collect();
    assert_eq!(
        attributes,
        [
            "status: A|B = A",
            "subject: list((text)?) max 4",
            "min: (A|B)?",
            "max: map(text, set(int) max 2) max 8",
            "lines: list({sku:text qty:(int[1..9])?}) max 3",
        ]
    );
    let visible: Vec<_> =
        truth.visible.iter().map(|v| (v.to.len(), v.condition.as_ref().map(show))).collect();
    assert_eq!(visible, [(2, Some("(Equal owner me)".into())), (1, None)]);
    let kinds: Vec<String> = subject
        .states
        .iter()
        .map(|state| match &state.kind {
            StateKind::Truth => "truth".into(),
            StateKind::Volatile => "volatile".into(),
            StateKind::Log { retain } => format!("log {:?}", retain.as_ref().map(show)),
            StateKind::Cache { at } => format!("cache at {}", at.text),
            StateKind::Ephemeral { ttl } => format!("ephemeral {:?}", ttl.as_ref().map(show)),
        })
        .collect();
    assert_eq!(
        kinds,
        ["truth", "log Some(\"7:Day\")", "cache at edge", "ephemeral Some(\"30:Second\")"]
    );
}

fn operation(text: &str) -> OperationItem {
    match item(text) {
        ItemKind::Operation(operation) => *operation,
        other => panic!("not an operation: {other:?}"),
    }
}

#[test]
fn a_guard_is_one_expression_or_named_clauses() {
    let clauses = |text: &str| -> Vec<String> {
        let show_clause = |c: &Clause| match &c.name {
            Some(name) => format!("{}: {}", name.text, show(&c.body)),
            None => show(&c.body),
        };
        operation(text).guard.iter().map(show_clause).collect()
    };
    assert_eq!(clauses("step a[b] { }"), [""; 0]);
    assert_eq!(clauses("step a[b {x = 1}] { }"), ["(Equal x 1)"]);
    assert_eq!(
        clauses("step a[b(s: S) { free: x = 1  present: y present, in: z\n or w }] { }"),
        ["free: (Equal x 1)", "present: (present y)", "in: (or z w)"]
    );
}

#[test]
fn heads_have_parameters_and_modifiers() {
    let step = operation("step a[hold(seat: Seat, b: new Booking, ttl: duration = 10m)] keyed { }");
    assert_eq!(step.kind, OperationKind::Step { keyed: true });
    let params: Vec<_> = step
        .params
        .iter()
        .map(|p| (p.name.text.as_str(), p.new, show_type(&p.ty), p.default.as_ref().map(show)))
        .collect();
    assert_eq!(
        params,
        [
            ("seat", false, "Seat".into(), None),
            ("b", true, "Booking".into(), None),
            ("ttl", false, "duration".into(), Some("10:Minute".into())),
        ]
    );
    let repair = operation("repair repair[fix(s: S) {x}] batch 100 after 5s every 30s { x := 1 }");
    let OperationKind::Repair { after, every, batch } = &repair.kind else {
        panic!("not a repair");
    };
    let shown = [after, every, batch].map(|e| e.as_ref().map(show).unwrap_or_default());
    assert_eq!(shown, ["5:Second", "30:Second", "100"]);
}

#[test]
fn a_handler_is_called_after_its_event() {
    let handler =
        operation("on Tickets.BookingConfirmed(b: new Bill, seat: text) { x: a } { c := b }");
    let OperationKind::Event { of: Some(of), event } = &handler.kind else {
        panic!("not a handler of another design's event: {handler:?}");
    };
    assert_eq!((of.text.as_str(), event.text.as_str()), ("Tickets", "BookingConfirmed"));
    assert_eq!(handler.name.text, "on_tickets_booking_confirmed");
    assert_eq!((handler.params.len(), handler.guard.len()), (2, 1));
    let plain = operation("on Done(x: X) { y := 1 }");
    assert!(matches!(plain.kind, OperationKind::Event { of: None, .. }));
    assert_eq!((plain.name.text.as_str(), plain.guard.len()), ("on_done", 0));
    assert!(matches!(plain.body, OperationBody::Statements(block) if block.statements.len() == 1));
}

#[test]
fn statements_need_no_separator() {
    let body = |text: &str| match operation(&format!("step a[b] {{ {text} }}")).body {
        OperationBody::Statements(block) => show_block(&block),
        other => panic!("not statements: {other:?}"),
    };
    for (text, tree) in [
        ("A.x := 1  b.y += 2 c[d] -= 3", "{Set A.x 1; Add b.y 2; Subtract c[d] 3}"),
        ("T := { a: 1, b } new := now", "{Set T (record a=1 b); Set new now}"),
        ("let n = a in b  delete n", "{let n (In a b); delete n}"),
        ("new S(a, 1) { x: 1, y } new R(z)", "{new S(a 1) x=1 y; new R(z) }"),
        ("append p.Log { at: now } emit E { a, b: c }", "{append p.Log at=now; emit E a b=c}"),
        ("send network.authorize(charge, 1)", "{send network.authorize(charge 1)}"),
        ("for t in Task of s { t.x := 1 }", "{for t in Task of s {Set t.x 1}}"),
        (
            "if a = HELD { x := 1 } else if b { x := 2 } else { x := 3 }",
            "{if (Equal a HELD) {Set x 1} else {if b {Set x 2} else {Set x 3}}}",
        ),
        ("count := count + 1 send := 3", "{Set count (Add count 1); Set send 3}"),
    ] {
        assert_eq!(body(text), tree, "{text}");
    }
}

#[test]
fn effects_call_and_are_answered() {
    let effect = operation(
        "effect network[authorize(charge: Charge)] {
            call POST \"{network.url}/authorize\" key charge body { charge, amount: intent.amount }
            on ok(answer: text) { x := answer }
            on refused(why) { x := 2 }
            on unknown { }
        }",
    );
    let OperationBody::Effect(body) = &effect.body else {
        panic!("not an effect");
    };
    let call = body.call.as_ref().expect("the call was written");
    assert_eq!(call.method.text, "POST");
    assert_eq!(call.url.as_ref().map(|url| url.value.as_str()), Some("{network.url}/authorize"));
    assert_eq!(call.key.as_ref().map(show).as_deref(), Some("charge"));
    assert_eq!(
        call.body.as_deref().map(show_fields).as_deref(),
        Some("charge amount=intent.amount")
    );
    let answers: Vec<_> = body
        .answers
        .iter()
        .map(|a| {
            let param = a.param.as_ref().map(|p| (p.name.text.as_str(), p.ty.is_some()));
            (a.answer, param, show_block(&a.body))
        })
        .collect();
    assert_eq!(
        answers,
        [
            (AnswerKind::Ok, Some(("answer", true)), "{Set x answer}".into()),
            (AnswerKind::Refused, Some(("why", false)), "{Set x 2}".into()),
            (AnswerKind::Unknown, None, "{}".into()),
        ]
    );
}

#[test]
fn reads_have_a_result_and_may_hand_out_memory() {
    let read = operation("read a[get(c: Config)] = { v: C.value } { expected := C.version }");
    let OperationBody::Read { result, paged: None, memory } = &read.body else {
        panic!("not a read");
    };
    assert_eq!(show(result), "(record v=C.value)");
    assert_eq!(show_block(memory), "{Set expected C.version}");
}

#[test]
fn the_small_items() {
    assert!(matches!(item("design D \"t\""), ItemKind::Design { name, title: Some(t) }
        if name.text == "D" && t.value == "t"));
    assert!(
        matches!(item("archetype I02 Claim"), ItemKind::Archetype { id, title: None, .. } if id.text == "I02")
    );
    assert!(matches!(item("use A08 as Ticket"), ItemKind::Use(used) if used.noun.text == "Ticket"));
    let text = "from \"3f9a2c71\" { rename A.b as c default S.d = 1 convert S.e(f: int) = f * 2 }";
    assert!(matches!(item(text), ItemKind::From(from) if from.version.value == "3f9a2c71"
        && from.lines.len() == 3
        && matches!(&from.lines[0].kind, FromLineKind::Rename { path, to }
            if path.len() == 2 && to.text == "c")
        && matches!(&from.lines[2].kind, FromLineKind::Convert { params, value, .. }
            if params.len() == 1 && show(value) == "(Multiply f 2)")));
    assert!(matches!(item("blob Layer"), ItemKind::Blob { name } if name.text == "Layer"));
    assert!(
        matches!(item("define p(x: int) = x + 1"), ItemKind::Define(d) if show(&d.body) == "(Add x 1)")
    );
    assert!(matches!(item("recovers n: a"), ItemKind::Recovers { body, .. } if show(&body) == "a"));
    assert!(matches!(item("leads_to n: all x in D: a => b or c by s, t"),
        ItemKind::LeadsTo { body, by, .. }
            if show(&body) == "(All x in D: (LeadsTo a (or b c)))" && by.len() == 2));
    assert!(matches!(item("leads_to n: a implies b => c"),
        ItemKind::LeadsTo { body, by, .. }
            if show(&body) == "(LeadsTo (Implies a b) c)" && by.is_empty()));
    assert!(matches!(item("hotspot \"h\" on Seat.status { mitigate shard-by-key, \"b\" }"),
        ItemKind::Hotspot(h) if show(&h.on) == "Seat.status" && h.mitigate.len() == 2));
}

#[test]
fn the_server_chooses_what_is_generated() {
    let step = operation(
        "step a[invite(guest: new Guest = new id, pin: secret = new code(6), n: int = 3)] { }",
    );
    let generated: Vec<_> = step
        .params
        .iter()
        .map(|p| {
            let of = |g: &syntax::tree::Generated| (g.kind.text.clone(), g.size.as_ref().map(show));
            (p.name.text.as_str(), p.new, p.generated.as_ref().map(of), p.default.is_some())
        })
        .collect();
    assert_eq!(
        generated,
        [
            ("guest", true, Some(("id".to_string(), None)), false),
            ("pin", false, Some(("code".to_string(), Some("6".to_string()))), false),
            ("n", false, None, true),
        ]
    );
}

#[test]
fn the_server_takes_from_a_view() {
    let step = operation("step w[claim(queue: Queue, job: any of Runnable(queue), n: int)] { }");
    let types: Vec<_> = step.params.iter().map(|p| show_type(&p.ty)).collect();
    assert_eq!(types, ["Queue", "any of Runnable(queue)", "int"]);
    let step = operation("step w[claim(job: any of Runnable)] { }");
    assert_eq!(show_type(&step.params[0].ty), "any of Runnable()");
    // a type may still be called so
    let step = operation("step w[claim(job: any)] { }");
    assert_eq!(show_type(&step.params[0].ty), "any");
}
