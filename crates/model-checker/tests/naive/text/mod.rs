//! A design as text: its items, and the small world.

mod spelling;

use std::fmt::Write;

use super::ast::*;
use spelling::Names;

/// The statements of an operation, or of what an effect does upon `ok`.
pub fn statements(
    design: &Design,
    params: &[Param],
    actor: Option<usize>,
    body: &[Stmt],
) -> String {
    let params = params.iter().map(|param| param.name.as_str()).collect();
    let mut out = String::new();
    Names { design, params, actor }.body(&mut out, body, 0);
    out.trim_end().replace('\n', " ")
}

/// A clause of an operation or of an effect.
pub fn clause(design: &Design, params: &[Param], actor: Option<usize>, body: &Expr) -> String {
    let params = params.iter().map(|param| param.name.as_str()).collect();
    Names { design, params, actor }.expr(body)
}

pub fn operation(design: &Design, op: &Op) -> String {
    op_text(design, op)
}

pub fn goal(design: &Design, goal: &Goal) -> String {
    let names = Names { design, params: Vec::new(), actor: None };
    format!("invariant {}: {}\n", goal.name, names.expr(&goal.body))
}

pub fn check(design: &Design) -> String {
    check_text(design, &text(design))
}

pub fn text(design: &Design) -> String {
    let mut out = format!("design Random{} \"A random design\"\n\n", design.seed);
    for actor in &design.actors {
        let fields: Vec<String> = actor
            .fields
            .iter()
            .map(|field| {
                let of = design.subjects[field.of].name;
                format!("{}: {}? of {of}", field.name, ty(design, &field.ty))
            })
            .collect();
        let fields =
            if fields.is_empty() { String::new() } else { format!(" {{ {} }}", fields.join(", ")) };
        let apart = actor
            .apart
            .map_or(String::new(), |other| format!(" apart from {}", design.actors[other].name));
        let _ = writeln!(out, "actor {}{apart}{fields}", actor.name);
    }
    out.push('\n');
    for subject in &design.subjects {
        out.push_str(&subject_text(design, subject));
    }
    for op in &design.ops {
        out.push_str(&op_text(design, op));
    }
    for effect in &design.effects {
        out.push_str(&effect_text(design, effect));
    }
    let names = Names { design, params: Vec::new(), actor: None };
    views(design, &mut out);
    for goal in &design.goals {
        if let Some(by) = &goal.leads {
            out.push_str(&names.leads_to(goal, by));
            continue;
        }
        let word = if goal.recovers { "recovers" } else { "invariant" };
        let _ = writeln!(out, "{word} {}: {}", goal.name, names.expr(&goal.body));
    }
    for (number, failure) in design.failures.iter().enumerate() {
        let goal = &design.goals[failure.breaks].name;
        let without = match failure.without {
            Without::Clause(op, clause) => {
                format!("{}.{}", design.ops[op].name, design.ops[op].guard[clause].0)
            }
            Without::Exists(op) => format!("{}.exists", design.ops[op].name),
            Without::Fresh(op) => format!("{}.fresh", design.ops[op].name),
            Without::Repair(op) => format!("repair {}", design.ops[op].name),
            Without::Outbox(op) => format!("outbox of {}", design.ops[op].name),
            Without::Keyed(op) => format!("keyed of {}", design.ops[op].name),
            Without::Key(effect) => format!("key of {}", design.effects[effect].name),
        };
        let _ = writeln!(out, "failure \"f{number}\" {{ without {without} breaks {goal} }}");
    }
    let so_far = out.clone();
    let _ = writeln!(out, "\ncheck {}", check_text(design, &so_far));
    if let Some(other) = &design.other {
        let goals = other.goals.iter().map(|goal| design.goals[*goal].name.as_str());
        let goals = goals.collect::<Vec<_>>().join(", ");
        let entries = check_text(&design.in_other(other), &so_far);
        let _ = writeln!(out, "\ncheck other for {goals} {entries}");
    }
    out
}

fn view_name(subject: usize, attr: usize) -> String {
    format!("Number{subject}{attr}")
}

/// The views that goals speak of.
fn views(design: &Design, out: &mut String) {
    fn walk(expr: &Expr, found: &mut Vec<(usize, usize, Value)>) {
        if let Expr::View(subject, attr, value) = expr {
            found.push((*subject, *attr, value.clone()));
        }
        super::flow::inner(expr).into_iter().for_each(|inner| walk(inner, found));
    }
    let mut found = Vec::new();
    design.goals.iter().for_each(|goal| walk(&goal.body, &mut found));
    found.dedup();
    for (subject, attr, value) in found {
        let held = &design.subjects[subject];
        let (name, attr_name) = (view_name(subject, attr), &held.attrs[attr].name);
        let _ = writeln!(
            out,
            "view {name} = count {} where {attr_name} = {}",
            held.name,
            constant(&value)
        );
    }
}

fn ty(design: &Design, ty: &Ty) -> String {
    match ty {
        Ty::Bool => "bool".into(),
        Ty::Int => "int".into(),
        Ty::Enum => WORDS.join(" | "),
        Ty::Text => "text".into(),
        Ty::Time => "time".into(),
        Ty::Span => "duration".into(),
        Ty::Actor => "actor".into(),
        Ty::Ref(subject) => design.subjects[*subject].name.into(),
        Ty::Set(subject) => format!("set {} max 2", design.subjects[*subject].name),
        Ty::List => "list text max 2".into(),
        Ty::Lines => "list { mark: text, n: int 0..1 } max 2".into(),
    }
}

fn constant(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Enum(index) => WORDS[*index].into(),
        Value::Written(text) => format!("\"{text}\""),
        Value::Span(units) => format!("{}s", units * 5),
        Value::Set(_) => "{}".into(),
        Value::List(_) => "[]".into(),
        other => panic!("{other:?} is not written"),
    }
}

fn subject_text(design: &Design, subject: &Subject) -> String {
    let parent = subject.parent.map_or(String::new(), |parent| {
        let parent = &design.subjects[parent];
        format!("{}: {}, ", parent.low, parent.name)
    });
    let key = if subject.number_key { "int" } else { "text" };
    let place = if subject.place { format!(" at {}k", subject.low) } else { String::new() };
    let attrs = |volatile: bool| {
        let own = subject.attrs.iter().filter(|attr| attr.volatile == volatile);
        own.map(|attr| {
            let mark = if attr.optional { "?" } else { "" };
            let range = attr.range.map_or(String::new(), |(low, high)| format!(" {low}..{high}"));
            let shown = format!("{}{range}", ty(design, &attr.ty));
            let default = match (&attr.default, &attr.ty) {
                (Value::Null, _) | (_, Ty::Set(_) | Ty::List | Ty::Lines) => String::new(),
                (value, _) => format!(" = {}", constant(value)),
            };
            format!("{}: {shown}{mark}{default}", attr.name)
        })
        .collect::<Vec<_>>()
        .join(", ")
    };
    let mut out = format!("subject {}({parent}{}k: {key}){place} {{\n", subject.name, subject.low);
    let _ = writeln!(out, "    truth {}State {{ {} }}", subject.name, attrs(false));
    if subject.attrs.iter().any(|attr| attr.volatile) {
        let _ = writeln!(out, "    volatile {}Soft {{ {} }}", subject.name, attrs(true));
    }
    if subject.log {
        let retain = subject.retain.map_or(String::new(), |kept| format!(" retain {kept}"));
        let _ = writeln!(out, "    log {}Log {{ k: int }}{retain}", subject.name);
    }
    if let Some(actor) = subject.copies {
        let actor = design.actors[actor].name;
        let _ = writeln!(out, "    cache Copy at {actor} {{ x: int = 0 }}");
    }
    out.push_str("}\n\n");
    out
}

fn params(design: &Design, params: &[Param]) -> String {
    let list: Vec<String> = params
        .iter()
        .map(|param| {
            let new = if param.new { "new " } else { "" };
            let default = param
                .default
                .as_ref()
                .map_or(String::new(), |held| format!(" = {}", constant(held)));
            format!("{}: {new}{}{default}", param.name, ty(design, &param.ty))
        })
        .collect();
    list.join(", ")
}

fn guard_text(names: &Names<'_>, guard: &[(String, Expr)]) -> String {
    if guard.is_empty() {
        return String::new();
    }
    let clauses: Vec<String> =
        guard.iter().map(|(name, body)| format!("    {name}: {}\n", names.expr(body))).collect();
    format!(" {{\n{}}}", clauses.concat())
}

fn op_text(design: &Design, op: &Op) -> String {
    let names = Names {
        design,
        params: op.params.iter().map(|param| param.name.as_str()).collect(),
        actor: Some(op.actor),
    };
    let word = match op.kind {
        Kind::Step | Kind::Heard => "step",
        Kind::Repair => "repair",
        Kind::Read => "read",
    };
    let actor = design.actors[op.actor].name;
    let (params, guard) = (params(design, &op.params), guard_text(&names, &op.guard));
    if op.kind == Kind::Heard && design.events {
        let mut out = format!("on {}({params}){guard} {{\n", super::events::EVENT);
        names.body(&mut out, &op.body, 1);
        out.push_str("}\n\n");
        return out;
    }
    let keyed = if op.keyed { " keyed" } else { "" };
    let mut out = format!("{word} {actor}[{}({params}){guard}]{keyed} ", op.name);
    if op.kind == Kind::Read {
        let Some(Param { ty: Ty::Ref(subject), .. }) = op.params.first() else {
            panic!("a read names a record")
        };
        let _ = write!(out, "= {}State ", design.subjects[*subject].name);
    }
    out.push_str("{\n");
    names.body(&mut out, &op.body, 1);
    out.push_str("}\n\n");
    out
}

fn effect_text(design: &Design, effect: &Effect) -> String {
    let mut names = Names {
        design,
        params: effect.params.iter().map(|param| param.name.as_str()).collect(),
        actor: None,
    };
    let actor = design.actors[effect.actor].name;
    let (shown, guard) = (params(design, &effect.params), guard_text(&names, &effect.guard));
    let mut out = format!("effect {actor}[{}({shown}){guard}] {{\n", effect.name);
    let _ = writeln!(
        out,
        "    call POST \"{{{actor}.url}}/{}\" key {}",
        effect.name, effect.params[0].name
    );
    names.params.push("answer");
    let answer = if effect.answers { "(answer: int)" } else { "" };
    for (head, body) in [
        (format!("on ok{answer}"), &effect.on_ok),
        ("on refused".to_string(), &effect.on_refused),
        ("on unknown".to_string(), &effect.on_unknown),
    ] {
        let _ = writeln!(out, "    {head} {{");
        names.body(&mut out, body, 2);
        out.push_str("    }\n");
    }
    out.push_str("}\n\n");
    out
}

/// Only what the rest of the text asks for: anything else would be an error.
fn check_text(design: &Design, so_far: &str) -> String {
    let check = &design.check;
    let mut entries = Vec::new();
    for actor in &design.actors {
        if actor.count > 0 {
            entries.push(format!("{}: {}", actor.name, actor.count));
        }
    }
    for subject in &design.subjects {
        entries.push(format!("{}k: {}", subject.low, subject.count));
        for attr in &subject.attrs {
            // Where there is a range, no other bound is needed.
            if attr.ty == Ty::Int && attr.range.is_none() {
                let (low, high) = check.bound;
                entries.push(format!("{}.{}: {low}..{high}", attr.state(subject), attr.name));
            }
        }
    }
    let range = |(low, high): (i64, i64)| {
        if low == high { low.to_string() } else { format!("{low}..{high}") }
    };
    let called = |name: &str| {
        let ops = design.ops.iter();
        ops.flat_map(|op| &op.params).any(|param| param.name == name)
    };
    if called("num") || called("told") {
        let name = if called("num") { "num" } else { "told" };
        entries.push(format!("{name}: {}..{}", check.given.0, check.given.1));
        if called("num") && called("told") {
            entries.push(format!("told: {}..{}", check.given.0, check.given.1));
        }
    }
    if so_far.contains("on ok(answer") {
        entries.push(format!("answer: {}..{}", check.given.0, check.given.1));
    }
    if design.effects.iter().any(|effect| effect.params.len() > 1) {
        entries.push(format!("sum: {}..{}", check.given.0, check.given.1));
    }
    if called("name") {
        entries.push(format!("name: {}", check.texts));
    }
    if called("names") {
        entries.push(format!("names: {}", check.texts));
    }
    if called("lines") {
        entries.push(format!("lines.mark: {}", check.texts));
    }
    if called("names") || called("lines") {
        entries.push(format!("list: {}", design.list_room()));
    }
    if called("ttl") {
        entries.push(format!("ttl: {}", range(check.spans)));
    }
    if let (true, Some(actor)) = (called("to"), check.to) {
        entries.push(format!("to: {{{}}}", design.actors[actor].name));
    }
    if let Some(time) = check.time {
        entries.push(format!("time: {time}"));
    }
    if let Some(horizon) = check.horizon {
        entries.push(format!("horizon: {horizon}"));
    }
    if design.has(Fault::Late) || design.has(Fault::Duplicate) {
        entries.push(format!("calls: {}", check.calls));
    }
    if design.ops.iter().any(|op| op.kind == Kind::Heard) {
        entries.push(format!("messages: {}", check.messages));
    }
    if design.subjects.iter().any(|subject| subject.log) {
        entries.push(format!("log: {}", check.log));
    }
    if check.never_unknown && !design.effects.is_empty() {
        entries.push("unknowns: 0".into());
    }
    let faults: Vec<String> = check
        .faults
        .iter()
        .map(|(fault, budget)| match budget {
            Some(budget) => format!("{} {budget}", fault.name()),
            None => fault.name().to_string(),
        })
        .collect();
    if !faults.is_empty() {
        entries.push(format!("faults: {}", faults.join(", ")));
    }
    format!("{{\n    {}\n}}", entries.join("\n    "))
}
