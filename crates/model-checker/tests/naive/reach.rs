//! Goals of random designs that reach beyond truth: memory, messages under way, the open outbox, views.

use super::ast::*;
use super::dice::Dice;
use super::flow;
use super::generate::USER;
use super::phrases::{boxed, cmp, int};

/// Adds a goal, if there is something to speak of.
pub fn reach(design: &mut Design, dice: &mut Dice) {
    let mut kinds: Vec<fn(&Design, &mut Dice) -> Option<Expr>> = Vec::new();
    if !design.actors[USER].fields.is_empty() {
        kinds.push(memory);
    }
    if design.ops.iter().any(|op| op.kind == Kind::Heard) {
        kinds.push(messages);
    }
    if !design.effects.is_empty() {
        kinds.push(outbox);
    }
    if kinds.is_empty() || !dice.chance(60) {
        return view(design, dice);
    }
    let Some(body) = dice.pick(&kinds)(design, dice) else { return };
    let uses_old = flow::anywhere(&body, &|held| matches!(held, Expr::Old(_)));
    let recovers = !uses_old && dice.chance(25);
    design.goals.push(Goal { name: "m0".into(), recovers, leads: None, uses_old, body });
}

fn all(local: usize, over: Domain, body: Expr) -> Expr {
    Expr::Quant { all: true, local, over, filter: None, body: boxed(body) }
}

fn number(design: &Design) -> Option<usize> {
    design.subjects[0].attrs.iter().position(|attr| attr.ty == Ty::Int)
}

/// The user's first field is a number of an Alpha.
fn memory(design: &Design, dice: &mut Dice) -> Option<Expr> {
    let held = || Expr::Remembered(90, USER, 0, boxed(Expr::Local(91)));
    let none = || Expr::IsNull(boxed(held()));
    let people = Domain::People(USER);
    let records = Domain::Subject(0);
    let op = dice.pick(&[Cmp::Le, Cmp::Eq, Cmp::Lt, Cmp::Ge]);
    Some(match dice.below(4) {
        0 => {
            let attr = Expr::Attr(boxed(Expr::Local(91)), 0, number(design)?);
            let body = Expr::Or(vec![none(), cmp(op, held(), attr)]);
            all(91, records, all(90, people, body))
        }
        1 => {
            let before = Expr::Old(boxed(held()));
            let none_before = Expr::IsNull(boxed(before.clone()));
            let body = Expr::Or(vec![none(), none_before, cmp(op, held(), before)]);
            all(90, people, all(91, records, body))
        }
        2 => {
            let filter = Some(boxed(Expr::Not(boxed(none()))));
            let count = Expr::Total { local: 90, over: people, filter, value: None };
            all(91, records, cmp(Cmp::Le, count, int(1)))
        }
        _ => {
            let limit = int(dice.below(2) as i64);
            let body = Expr::Or(vec![none(), cmp(op, held(), limit)]);
            all(90, people, all(91, records, body))
        }
    })
}

fn messages(design: &Design, dice: &mut Dice) -> Option<Expr> {
    let hear = design.ops.iter().position(|op| op.kind == Kind::Heard)?;
    let row = Row::Message(hear);
    rows(design, dice, row, 1)
}

fn outbox(design: &Design, dice: &mut Dice) -> Option<Expr> {
    let row = Row::Entry(0);
    rows(design, dice, row, usize::from(design.effects[0].params.len() > 1))
}

/// `number`: the parameter that is a number; 0: none is.
fn rows(design: &Design, dice: &mut Dice, row: Row, number_at: usize) -> Option<Expr> {
    let over = Domain::Rows(row);
    let record = Expr::Arg(90, row, 0);
    let op = dice.pick(&[Cmp::Le, Cmp::Eq, Cmp::Ne, Cmp::Ge]);
    Some(match dice.below(5) {
        0 => {
            let count = Expr::Total { local: 90, over, filter: None, value: None };
            cmp(Cmp::Le, count, int(dice.below(3) as i64))
        }
        3 => {
            // of transitions: it grows, or it shrinks
            let count = || Expr::Total { local: 90, over: over.clone(), filter: None, value: None };
            let op = dice.pick(&[Cmp::Le, Cmp::Ge]);
            cmp(op, count(), Expr::Old(boxed(count())))
        }
        1 if number_at > 0 => {
            let limit = int(dice.below(2) as i64);
            all(90, over, cmp(op, Expr::Arg(90, row, number_at), limit))
        }
        2 if number_at > 0 => {
            let attr = Expr::Attr(boxed(record), 0, number(design)?);
            all(90, over, cmp(op, Expr::Arg(90, row, number_at), attr))
        }
        _ => {
            let filter = Some(boxed(cmp(Cmp::Eq, record, Expr::Local(91))));
            let count = Expr::Total { local: 90, over, filter, value: None };
            all(91, Domain::Subject(0), cmp(Cmp::Le, count, int(dice.below(2) as i64)))
        }
    })
}

/// `recovers` may speak of what a view counts.
fn view(design: &mut Design, dice: &mut Dice) {
    let plain = |attr: &Attr| matches!(attr.ty, Ty::Bool | Ty::Enum);
    let Some(attr) = design.subjects[0].attrs.iter().position(plain) else { return };
    if !dice.chance(40) {
        return;
    }
    let wanted = match design.subjects[0].attrs[attr].ty {
        Ty::Bool => Value::Bool(dice.chance(50)),
        _ => Value::Enum(dice.below(WORDS.len())),
    };
    let body = cmp(Cmp::Le, Expr::View(0, attr, wanted), int(dice.below(2) as i64));
    design.goals.push(Goal {
        name: "m0".into(),
        recovers: true,
        leads: None,
        uses_old: false,
        body,
    });
}
