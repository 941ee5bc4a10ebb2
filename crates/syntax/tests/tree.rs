//! What was written, as it stands in the tree.

use syntax::tree::*;
use syntax::{FileId, parse, parse_expression};

/// An expression in prefix form: `(+ a (* b c))`.
fn show(e: &Expr) -> String {
    let all = |list: &[Expr]| list.iter().map(show).collect::<Vec<_>>().join(" ");
    let domain = |d: &Domain| match &d.parent {
        Some(parent) => format!("{} of {}", show(&d.of_what), show(parent)),
        None => show(&d.of_what),
    };
    let filter =
        |f: &Option<Box<Expr>>| f.as_ref().map_or(String::new(), |f| format!(" where {}", show(f)));
    match &e.kind {
        ExprKind::Null => "null".into(),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Int(digits) | ExprKind::Decimal(digits) => digits.clone(),
        ExprKind::Text(text) => format!("{text:?}"),
        ExprKind::Duration { number, unit } => format!("{number}:{unit:?}"),
        ExprKind::Now => "now".into(),
        ExprKind::Me => "me".into(),
        ExprKind::Name(name) => name.text.clone(),
        ExprKind::Field { base, name } => format!("{}.{}", show(base), name.text),
        ExprKind::Index { base, index } => format!("{}[{}]", show(base), show(index)),
        ExprKind::Call { function, args } => format!("({} {})", function.text, all(args)),
        ExprKind::Old(inner) => format!("(old {})", show(inner)),
        ExprKind::Not(inner) => format!("(not {})", show(inner)),
        ExprKind::Negate(inner) => format!("(- {})", show(inner)),
        ExprKind::And(list) => format!("(and {})", all(list)),
        ExprKind::Or(list) => format!("(or {})", all(list)),
        ExprKind::Binary { op, left, right } => format!("({op:?} {} {})", show(left), show(right)),
        ExprKind::Presence { of, present: true } => format!("(present {})", show(of)),
        ExprKind::Presence { of, present: false } => format!("(absent {})", show(of)),
        ExprKind::If { condition, then, otherwise } => {
            format!("(if {} {} {})", show(condition), show(then), show(otherwise))
        }
        ExprKind::Let { name, value, body } => {
            format!("(let {} {} {})", name.text, show(value), show(body))
        }
        ExprKind::Quantifier { kind, var, domain: d, filter: f, body } => {
            format!("({kind:?} {} in {}{}: {})", var.text, domain(d), filter(f), show(body))
        }
        ExprKind::Aggregate { kind, value, var, domain: d, filter: f } => {
            let value = value.as_ref().map_or(String::new(), |e| format!("{} of ", show(e)));
            let var = var.as_ref().map_or(String::new(), |name| format!("{} in ", name.text));
            format!("({kind:?} {value}{var}{}{})", domain(d), filter(f))
        }
        ExprKind::Set(list) => format!("{{{}}}", all(list)),
        ExprKind::List(list) => format!("[{}]", all(list)),
        ExprKind::Record(fields) => format!("(record {})", show_fields(fields)),
        ExprKind::Error => "ERROR".into(),
    }
}

fn show_fields(fields: &[FieldValue]) -> String {
    let one = |field: &FieldValue| match &field.value {
        Some(value) => format!("{}={}", field.name.text, show(value)),
        None => field.name.text.clone(),
    };
    fields.iter().map(one).collect::<Vec<_>>().join(" ")
}

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

fn show_type(ty: &TypeExpr) -> String {
    let bound =
        |b: &Option<Expr>| b.as_ref().map_or(String::new(), |b| format!(" max {}", show(b)));
    match &ty.kind {
        TypeKind::Named(name) => name.text.clone(),
        TypeKind::Enumeration(names) => {
            names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join("|")
        }
        TypeKind::Optional(inner) => format!("({})?", show_type(inner)),
        TypeKind::List(of, max) => format!("list({}){}", show_type(of), bound(max)),
        TypeKind::Set(of, max) => format!("set({}){}", show_type(of), bound(max)),
        TypeKind::Map(key, value, max) => {
            format!("map({}, {}){}", show_type(key), show_type(value), bound(max))
        }
        TypeKind::Error => "ERROR".into(),
    }
}

#[test]
fn subjects_hold_states_with_attributes() {
    let ItemKind::Subject(subject) = item(
        "subject Replica(resource: Resource, node: text) at node {
            truth T {
                status: A | B = A
                subject: list text? max 4, min: (A | B)?
                max: map text set int max 2 max 8
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

/// Statements in one line each.
fn show_block(block: &Block) -> String {
    let one = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Assign { target, op, value } => {
            format!("{op:?} {} {}", show(target), show(value))
        }
        StmtKind::Let { name, value } => format!("let {} {}", name.text, show(value)),
        StmtKind::New { subject, keys, fields } => {
            let keys: Vec<String> = keys.iter().map(show).collect();
            format!("new {}({}) {}", subject.text, keys.join(" "), show_fields(fields))
        }
        StmtKind::Delete { target } => format!("delete {}", show(target)),
        StmtKind::Append { log, fields } => format!("append {} {}", show(log), show_fields(fields)),
        StmtKind::Emit { event, fields } => format!("emit {} {}", event.text, show_fields(fields)),
        StmtKind::Send { actor, operation, args } => {
            let args: Vec<String> = args.iter().map(show).collect();
            format!("send {}.{}({})", actor.text, operation.text, args.join(" "))
        }
        StmtKind::For { var, domain, body } => {
            let parent =
                domain.parent.as_ref().map_or(String::new(), |e| format!(" of {}", show(e)));
            format!("for {} in {}{parent} {}", var.text, show(&domain.of_what), show_block(body))
        }
        StmtKind::If { condition, then, otherwise } => {
            let otherwise =
                otherwise.as_ref().map_or(String::new(), |b| format!(" else {}", show_block(b)));
            format!("if {} {}{otherwise}", show(condition), show_block(then))
        }
        StmtKind::Error => "ERROR".into(),
    };
    format!("{{{}}}", block.statements.iter().map(one).collect::<Vec<_>>().join("; "))
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
    let OperationBody::Read { result, memory } = &read.body else {
        panic!("not a read");
    };
    assert_eq!(show(result), "(record v=C.value)");
    assert_eq!(show_block(memory), "{Set expected C.version}");
}

#[test]
fn views_take_their_parts_in_any_order() {
    let view = |text: &str| match item(text) {
        ItemKind::View(view) => {
            let key =
                |k: &OrderKey| format!("{}{}", show(&k.value), if k.descending { "↓" } else { "" });
            let optional = |e: &Option<Expr>| e.as_ref().map_or("-".into(), show);
            let form = match &view.form {
                ViewForm::Count => "count".to_string(),
                ViewForm::Sum { value } => format!("sum {}", show(value)),
                ViewForm::List { order, limit } => {
                    let order: Vec<String> = order.iter().map(key).collect();
                    format!("list {} {}", order.join(","), optional(limit))
                }
                ViewForm::Rank { by, top } => format!("rank {} {}", key(by), optional(top)),
                ViewForm::Search { on } => format!("search {}", on.len()),
                ViewForm::Near { on } => format!("near {}", on.text),
                ViewForm::Window { value, by, every, keep } => format!(
                    "window {} {} {} {}",
                    optional(value),
                    show(by),
                    show(every),
                    optional(keep)
                ),
            };
            format!("{form} | {} | {}", view.subject.text, optional(&view.filter))
        }
        other => panic!("not a view: {other:?}"),
    };
    for (text, tree) in [
        ("view V = count Seat where a = B", "count | Seat | (Equal a B)"),
        ("view V = sum a * 2 of Seat", "sum (Multiply a 2) | Seat | -"),
        (
            "view V(p: text) = list Seat where x order by a desc, b limit 50",
            "list a↓,b 50 | Seat | x",
        ),
        ("view V = list Seat limit 5 order by a where x", "list a 5 | Seat | x"),
        ("view V = rank Player by score desc where x top 100", "rank score↓ 100 | Player | x"),
        ("view V = search Page on title, body where x", "search 2 | Page | x"),
        ("view V = near Shop on position", "near position | Shop | -"),
        (
            "view V = window count of Hit by at every 1m where x keep 60",
            "window - at 1:Minute 60 | Hit | x",
        ),
        ("view V = window sum n of Hit by at every 1h", "window n at 1:Hour - | Hit | -"),
    ] {
        assert_eq!(view(text), tree, "{text}");
    }
}

#[test]
fn protocols_are_paths_with_branches() {
    let ItemKind::Protocol(protocol) = item(
        "protocol repair {
            claimant[commit] refused fenced => retry
                |-> repair[reclaim {x < now}] -> a[b] => requeue
                |-> c[d]
            cache[fill] -> origin[read]
        }",
    ) else {
        panic!("not a protocol");
    };
    fn path(p: &Path) -> String {
        let step = |s: &PathStep| {
            let refused =
                s.refused.as_ref().map_or(String::new(), |name| format!("!{}", name.text));
            format!("{}.{}{}{refused}", s.actor.text, s.operation.text, "?".repeat(s.guard.len()))
        };
        let steps: Vec<String> = p.steps.iter().map(step).collect();
        let outcome = p.outcome.as_ref().map_or("", |name| &name.text);
        let branches: String = p.branches.iter().map(|b| format!(" |{}", path(b))).collect();
        format!("{}={outcome}{branches}", steps.join(">"))
    }
    let paths: Vec<String> = protocol.paths.iter().map(path).collect();
    assert_eq!(
        paths,
        [
            "claimant.commit!fenced=retry |repair.reclaim?>a.b=requeue |c.d=",
            "cache.fill>origin.read=",
        ]
    );
}

#[test]
fn failures_are_proven_in_three_ways() {
    let ItemKind::Failure(failure) = item(
        "failure \"f\" {
            without claim.free, repair reclaim, assignment claim.T.n, outbox of pay, key of authorize,
                at_least of get breaks no_steal in depth
            refused by compiler E0301 { actor b invariant n: true }
            measured by feed.lag above 1000
        }",
    ) else {
        panic!("not a failure");
    };
    let FailureProofKind::Without { targets, breaks, in_depth } = &failure.proofs[0].kind else {
        panic!("not a `without`");
    };
    assert_eq!((breaks.text.as_str(), *in_depth), ("no_steal", true));
    let shown: Vec<String> = targets
        .iter()
        .map(|target| match &target.kind {
            WithoutKind::Clause { operation, clause } => {
                format!("{}.{}", operation.text, clause.text)
            }
            WithoutKind::Repair { name } => format!("repair {}", name.text),
            WithoutKind::Assignment { operation, target } => {
                format!("assignment {} {}", operation.text, show(target))
            }
            WithoutKind::Outbox { operation } => format!("outbox {}", operation.text),
            WithoutKind::Key { operation } => format!("key {}", operation.text),
            WithoutKind::AtLeast { operation } => format!("at_least {}", operation.text),
        })
        .collect();
    assert_eq!(
        shown,
        [
            "claim.free",
            "repair reclaim",
            "assignment claim T.n",
            "outbox pay",
            "key authorize",
            "at_least get"
        ]
    );
    assert!(matches!(&failure.proofs[1].kind,
        FailureProofKind::Compiler { code, items } if code.text == "E0301" && items.len() == 2));
    assert!(matches!(&failure.proofs[2].kind,
        FailureProofKind::Measured { value, above } if show(value) == "feed.lag" && show(above) == "1000"));
}

#[test]
fn a_check_describes_the_small_world() {
    let ItemKind::Check(check) = item(
        "check { seat: 2, 10m: 2  OwnerEpoch.current: 0..3, price: {1.50, -2}
            n: -1..1 faults: crash, pause 2, lost_reply, symmetry: off }",
    ) else {
        panic!("not a check");
    };
    let entries: Vec<String> = check
        .entries
        .iter()
        .map(|entry| {
            let key = match &entry.key {
                CheckKey::Name(names) => {
                    names.iter().map(|n| n.text.as_str()).collect::<Vec<_>>().join(".")
                }
                CheckKey::Duration(e) => show(e),
            };
            let value = match &entry.value {
                CheckValue::Number(e) => show(e),
                CheckValue::Range(from, to) => format!("{}..{}", show(from), show(to)),
                CheckValue::Values(list) => {
                    format!("{{{}}}", list.iter().map(show).collect::<Vec<_>>().join(" "))
                }
                CheckValue::Words(words) => words
                    .iter()
                    .map(|(word, n)| {
                        format!("{}{}", word.text, n.as_ref().map_or(String::new(), show))
                    })
                    .collect::<Vec<_>>()
                    .join(" "),
                CheckValue::Error => "ERROR".into(),
            };
            format!("{key}: {value}")
        })
        .collect();
    assert_eq!(
        entries,
        [
            "seat: 2",
            "10:Minute: 2",
            "OwnerEpoch.current: 0..3",
            "price: {1.50 (- 2)}",
            "n: (- 1)..1",
            "faults: crash pause2 lost_reply",
            "symmetry: off",
        ]
    );
}

#[test]
fn the_small_items() {
    assert!(matches!(item("design D \"t\""), ItemKind::Design { name, title: Some(t) }
        if name.text == "D" && t.value == "t"));
    assert!(
        matches!(item("archetype I02 Claim"), ItemKind::Archetype { id, title: None, .. } if id.text == "I02")
    );
    assert!(
        matches!(item("use A08 as Ticket"), ItemKind::Use { noun, .. } if noun.text == "Ticket")
    );
    assert!(matches!(item("blob Layer"), ItemKind::Blob { name } if name.text == "Layer"));
    assert!(
        matches!(item("define p(x: int) = x + 1"), ItemKind::Define(d) if show(&d.body) == "(Add x 1)")
    );
    assert!(matches!(item("recovers n: a"), ItemKind::Recovers { body, .. } if show(&body) == "a"));
    assert!(matches!(item("hotspot \"h\" on Seat.status { mitigate shard-by-key, \"b\" }"),
        ItemKind::Hotspot(h) if show(&h.on) == "Seat.status" && h.mitigate.len() == 2));
}
