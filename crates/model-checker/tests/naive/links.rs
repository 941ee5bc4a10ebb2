//! What the two parts of a random design have to do with each other.

use super::ast::*;
use super::dice::Dice;
use super::generate::{MENDER, USER};
use super::parts::Joined;
use super::phrases::{Phrases, Scope, boxed, cmp};

fn phrases<'d>(design: &'d Design, dice: &'d mut Dice) -> Phrases<'d> {
    Phrases { dice, design, spans: vec![1], locals: 200, ranked: false }
}

fn of_record(record: Expr, subject: usize) -> Scope {
    Scope { records: vec![(record, subject)], ..Scope::default() }
}

/// So many of these.
pub fn link(joined: &mut Joined, count: usize, dice: &mut Dice) {
    let kinds: [fn(&mut Joined, &mut Dice); 5] = [clause, write, message, message, reference];
    for _ in 0..count {
        dice.pick(&kinds)(joined, dice);
    }
}

/// The subject of the part that an operation is of.
fn home(op: &Op) -> usize {
    let Some(Param { ty: Ty::Ref(subject), .. }) = op.params.first() else {
        panic!("the first parameter is a record")
    };
    *subject
}

/// Some step takes a record of the other part as well: which step, the parameter and its subject.
fn taken(joined: &mut Joined, dice: &mut Dice) -> Option<(usize, usize, usize)> {
    let ops = joined.design.ops.iter().enumerate();
    let steps: Vec<usize> =
        ops.filter(|(_, op)| op.kind == Kind::Step).map(|held| held.0).collect();
    let step = dice.pick(&steps);
    let subject = dice.pick(&joined.across(home(&joined.design.ops[step])).collect::<Vec<_>>());
    let param = named(&mut joined.design, step, subject)?;
    Some((step, param, subject))
}

/// Adds a record of this subject to what an operation takes. None: it has one already.
fn named(design: &mut Design, op: usize, subject: usize) -> Option<usize> {
    let name = design.subjects[subject].low;
    let params = &mut design.ops[op].params;
    if params.iter().any(|param| param.name == name) {
        return None;
    }
    params.push(Param { name: name.into(), ty: Ty::Ref(subject), new: false, default: None });
    Some(params.len() - 1)
}

fn guarded(design: &mut Design, op: usize, clause: Expr) {
    let guard = &mut design.ops[op].guard;
    // The first to refuse may be either.
    guard.push((format!("x{}", guard.len()), clause));
}

/// A clause of a step reads the other part.
fn clause(joined: &mut Joined, dice: &mut Dice) {
    let Some((step, param, subject)) = taken(joined, dice) else { return };
    let scope = of_record(Expr::Param(param), subject);
    let clause = phrases(&joined.design, dice).simple(&scope);
    guarded(&mut joined.design, step, clause);
}

/// A step writes to the other part as well.
fn write(joined: &mut Joined, dice: &mut Dice) {
    let Some((step, param, subject)) = taken(joined, dice) else { return };
    let scope = of_record(Expr::Param(param), subject);
    let stmt = phrases(&joined.design, dice).assign(&scope, 0);
    // What is deleted is deleted last.
    joined.design.ops[step].body.insert(0, stmt);
}

/// A message names a record of the other part, and whoever hears it asks for something of that.
fn message(joined: &mut Joined, dice: &mut Dice) {
    let design = &mut joined.design;
    let Some(hear) = design.ops.iter().position(|op| op.kind == Kind::Heard) else {
        return reference(joined, dice);
    };
    let across: Vec<usize> = joined.across(home(&joined.design.ops[hear])).collect();
    let subject = dice.pick(&across);
    let design = &mut joined.design;
    let name = design.subjects[subject].low;
    if design.ops[hear].params.iter().any(|param| param.name == name) {
        return;
    }
    for op in 0..design.ops.len() {
        let tells = |stmt: &Stmt| matches!(stmt, Stmt::Tell(..));
        if op != hear && !design.ops[op].body.iter().any(tells) {
            continue;
        }
        let known = design.ops[op].params.iter().position(|param| param.name == name);
        let Some(param) = known.or_else(|| named(design, op, subject)) else { return };
        for stmt in &mut design.ops[op].body {
            if let Stmt::Tell(_, args) = stmt {
                args.push(Expr::Param(param));
            }
        }
    }
    let scope = of_record(Expr::Param(design.ops[hear].params.len() - 1), subject);
    let clause = phrases(design, dice).simple(&scope);
    guarded(design, hear, clause);
}

/// Records of one part refer to records of the other, and a repair or an effect asks for something of them.
fn reference(joined: &mut Joined, dice: &mut Dice) {
    // The interpreter does not know what time is read through a reference.
    if joined.design.has(Fault::ClockStep) {
        return clause(joined, dice);
    }
    let design = &joined.design;
    let repairs = design.ops.iter().filter(|op| op.kind == Kind::Repair).map(home);
    let effects = design.effects.iter().map(|effect| match effect.params[0].ty {
        Ty::Ref(subject) => subject,
        _ => panic!("an effect is of a record"),
    });
    let mut subjects: Vec<usize> = repairs.chain(effects).collect();
    if subjects.is_empty() || dice.chance(20) {
        subjects = (0..design.subjects.len()).collect();
    }
    let subject = dice.pick(&subjects);
    let to = dice.pick(&joined.across(subject).collect::<Vec<_>>());
    let design = &mut joined.design;
    let held = &mut design.subjects[subject];
    let attr = held.attrs.len();
    let name = format!("{}_{attr}", held.low);
    held.attrs.push(Attr {
        name,
        ty: Ty::Ref(to),
        optional: true,
        default: Value::Null,
        volatile: false,
        range: None,
    });
    let record = |subject: usize| Param {
        name: design.subjects[subject].low.into(),
        ty: Ty::Ref(subject),
        new: false,
        default: None,
    };
    let params = vec![record(subject), record(to)];
    let body = vec![Stmt::Assign(Expr::Param(0), subject, attr, Change::Set, Expr::Param(1))];
    let name = format!("tie_{attr}_{}", design.subjects[subject].low);
    let (kind, actor, keyed) = (Kind::Step, USER, false);
    design.ops.push(Op { name, kind, actor, params, guard: Vec::new(), body, keyed });
    let place = Expr::Attr(boxed(Expr::Param(0)), subject, attr);
    let asked = phrases(design, dice).through(place, to);
    if dice.chance(40) {
        return served(joined, subject, asked);
    }
    let repair = design.ops.iter().position(|op| op.kind == Kind::Repair && home(op) == subject);
    let effect = design.effects.iter().position(|effect| effect.params[0].ty == Ty::Ref(subject));
    match (repair, effect) {
        (Some(repair), None) => guarded(design, repair, asked),
        (Some(repair), Some(_)) if dice.chance(50) => guarded(design, repair, asked),
        (_, Some(effect)) => {
            let guard = &mut design.effects[effect].guard;
            guard.push((format!("x{}", guard.len()), asked));
        }
        (None, None) => {
            let scope = of_record(Expr::Param(0), subject);
            let body = vec![phrases(design, dice).assign(&scope, 0)];
            let params = vec![design.ops.last().expect("it was just made").params[0].clone()];
            let name = format!("mend_{attr}_{}", design.subjects[subject].low);
            let guard = vec![("c0".into(), asked)];
            let (kind, actor, keyed) = (Kind::Repair, MENDER, false);
            design.ops.push(Op { name, kind, actor, params, guard, body, keyed });
        }
    }
}

/// A repair serves what waits, if something of the other part is so, and it is promised that nothing waits for ever.
fn served(joined: &mut Joined, subject: usize, asked: Expr) {
    let design = &mut joined.design;
    let low = design.subjects[subject].low;
    let attrs = &mut design.subjects[subject].attrs;
    let (name, attr) = (format!("{low}_waits"), attrs.len());
    if attrs.iter().any(|attr| attr.name == name) {
        return;
    }
    let (ty, default, optional) = (Ty::Bool, Value::Bool(false), false);
    attrs.push(Attr { name, ty, optional, default, volatile: false, range: None });
    let waits = |record: Expr| Expr::Attr(boxed(record), subject, attr);
    let record = Param { name: low.into(), ty: Ty::Ref(subject), new: false, default: None };
    let mut push = |name: String, kind: Kind, guard: Vec<(String, Expr)>, value: bool| {
        let value = Expr::Lit(Value::Bool(value));
        let body = vec![Stmt::Assign(Expr::Param(0), subject, attr, Change::Set, value)];
        let actor = if kind == Kind::Repair { MENDER } else { USER };
        let params = vec![record.clone()];
        design.ops.push(Op { name, kind, actor, params, guard, body, keyed: false });
    };
    push(format!("wait_{low}"), Kind::Step, Vec::new(), true);
    let guard = vec![("due".into(), waits(Expr::Param(0))), ("x".into(), asked)];
    push(format!("serve_{low}"), Kind::Repair, guard, false);
    let body = Expr::Quant {
        all: true,
        local: 0,
        over: Domain::Subject(subject),
        filter: None,
        body: boxed(Expr::Not(boxed(waits(Expr::Local(0))))),
    };
    let name = format!("served_{low}");
    design.goals.push(Goal { name, recovers: true, leads: None, uses_old: false, body });
}

/// A goal that steps elsewhere break, because they change nothing here.
pub fn stutter(joined: &mut Joined, dice: &mut Dice) {
    if !dice.chance(25) {
        return;
    }
    let design = &joined.design;
    let subject = dice.below(design.subjects.len());
    let attrs = design.subjects[subject].attrs.iter().enumerate();
    let plain =
        attrs.filter(|(_, attr)| matches!(attr.ty, Ty::Bool | Ty::Int | Ty::Enum | Ty::Text));
    let plain: Vec<usize> = plain.map(|held| held.0).collect();
    if plain.is_empty() {
        return;
    }
    let attr = dice.pick(&plain);
    let place = Expr::Attr(boxed(Expr::Local(0)), subject, attr);
    let moves = cmp(Cmp::Ne, place.clone(), Expr::Old(boxed(place)));
    let otherwise = phrases(design, dice).simple(&of_record(Expr::Local(0), subject));
    let body = Expr::Quant {
        all: true,
        local: 0,
        over: Domain::Subject(subject),
        filter: None,
        body: boxed(Expr::Or(vec![otherwise, moves])),
    };
    let name = "moves".into();
    joined.design.goals.push(Goal { name, recovers: false, leads: None, uses_old: true, body });
}

/// Each record sends once, and it is promised that what was sent is heard.
pub fn heard(joined: &mut Joined, dice: &mut Dice) {
    let design = &mut joined.design;
    let Some(hear) = design.ops.iter().position(|op| op.kind == Kind::Heard) else { return };
    let tells = |op: &Op| op.body.iter().any(|stmt| matches!(stmt, Stmt::Tell(..)));
    let talk = design.ops.iter().position(|op| op.kind == Kind::Step && tells(op));
    let Some(talk) = talk.filter(|_| dice.chance(50)) else { return };
    let subject = home(&design.ops[hear]);
    let [sent, got] = ["sent", "got"].map(|name| {
        let (ty, default, optional) = (Ty::Bool, Value::Bool(false), false);
        let name = format!("{}_{name}", design.subjects[subject].low);
        let attrs = &mut design.subjects[subject].attrs;
        attrs.push(Attr { name, ty, optional, default, volatile: false, range: None });
        attrs.len() - 1
    });
    let yes = || Expr::Lit(Value::Bool(true));
    let of = |record: Expr, attr: usize| Expr::Attr(boxed(record), subject, attr);
    guarded(design, talk, Expr::Not(boxed(of(Expr::Param(0), sent))));
    let says = Stmt::Assign(Expr::Param(0), subject, sent, Change::Set, yes());
    design.ops[talk].body.insert(0, says);
    let hears = Stmt::Assign(Expr::Param(0), subject, got, Change::Set, yes());
    design.ops[hear].body.insert(0, hears);
    let some = |local: usize, attr: usize| Expr::Quant {
        all: false,
        local,
        over: Domain::Subject(subject),
        filter: None,
        body: boxed(of(Expr::Local(local), attr)),
    };
    let body = Expr::Implies(boxed(some(0, sent)), boxed(some(1, got)));
    let goal = Goal { name: "heard".into(), recovers: true, leads: None, uses_old: false, body };
    joined.design.goals.push(goal);
}
