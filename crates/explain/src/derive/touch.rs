//! The states that an operation touches, and the shape of each write.

use design::model::*;
use serde::Serialize;

use super::kinds::{Mechanism, Shape};
use crate::facts::{Facts, ReadOf, TestKind, Unit, Write};

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Touch {
    /// the state's name, `idempotency`, `outbox EFFECT`, `inbox HANDLER`, `event NAME`, a view or a blob
    pub state: String,
    pub kind: TouchKind,
    /// is it authoritative?
    pub truth: bool,
    /// the record, as the operation reaches it
    pub path: String,
    pub subject: Option<String>,
    pub read_in_guard: bool,
    pub read: bool,
    pub written: bool,
    pub shape: Option<Shape>,
    pub mechanism: Option<Mechanism>,
    #[serde(skip)]
    pub at: Option<(usize, StateId)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TouchKind {
    Truth,
    Log,
    Cache,
    Ephemeral,
    View,
    Blob,
    /// kept under a parent for a quantifier
    Counter,
    Outbox,
    Message,
    Event,
    Idempotency,
}

impl TouchKind {
    fn of(kind: StateKind) -> TouchKind {
        match kind {
            StateKind::Truth => TouchKind::Truth,
            StateKind::Log { .. } => TouchKind::Log,
            StateKind::Cache { .. } => TouchKind::Cache,
            StateKind::Ephemeral { .. } => TouchKind::Ephemeral,
        }
    }
}

/// All shapes of the writes; of an operation that writes nothing, those of its reads.
pub fn shapes(touches: &[Touch]) -> Vec<Shape> {
    // A feed entry and an idempotency record go along with every step.
    let along = |touch: &Touch| matches!(touch.kind, TouchKind::Idempotency | TouchKind::Event);
    let truth = |touch: &&Touch| touch.written && !along(touch);
    let mut shapes: Vec<Shape> = touches.iter().filter(truth).filter_map(|t| t.shape).collect();
    if shapes.is_empty() {
        shapes =
            touches.iter().filter_map(|t| t.shape).filter(|s| *s >= Shape::ReadSource).collect();
    }
    shapes.sort_unstable();
    shapes.dedup();
    shapes
}

pub fn touches(unit: &Unit<'_>, facts: &Facts<'_>) -> Vec<Touch> {
    let mut touches = Vec::new();
    for (index, place) in facts.places.iter().enumerate() {
        let subject = &unit.design.subjects[place.subject.index()];
        for (number, state) in subject.states.iter().enumerate() {
            let id = StateId::of(number);
            let mut touch = of_state(unit, facts, index, id);
            let logged = facts.appends.contains(&(index, id));
            let gone =
                facts.deletes.contains(&index) && !matches!(state.kind, StateKind::Log { .. });
            let made = place.is_made() && matches!(state.kind, StateKind::Truth);
            touch.written |= logged || gone || made;
            if touch.written {
                touch.shape = Some(shape(unit, facts, index, id));
            } else if touch.read {
                touch.shape =
                    Some(if touch.truth { Shape::ReadSource } else { Shape::ReadProjection });
            } else {
                continue;
            }
            touches.push(touch);
        }
        counters(unit, facts, index, &mut touches);
    }
    engine(unit, facts, &mut touches);
    touches
}

fn blank(state: String, kind: TouchKind, path: String) -> Touch {
    Touch {
        state,
        kind,
        truth: false,
        path,
        subject: None,
        read_in_guard: false,
        read: false,
        written: false,
        shape: None,
        mechanism: None,
        at: None,
    }
}

fn of_state(unit: &Unit<'_>, facts: &Facts<'_>, place: usize, state: StateId) -> Touch {
    let subject = &unit.design.subjects[facts.places[place].subject.index()];
    let declared = &subject.states[state.index()];
    let kind = TouchKind::of(declared.kind);
    let mut touch = blank(declared.name.clone(), kind, facts.places[place].path.clone());
    touch.truth = matches!(kind, TouchKind::Truth | TouchKind::Log);
    touch.subject = Some(subject.name.clone());
    touch.at = Some((place, state));
    let is_here = |attr: AttrId| subject.attributes[attr.index()].state == state;
    for read in facts.reads.iter().filter(|read| read.place == place) {
        let here = match read.of {
            ReadOf::Attr(attr) => is_here(attr),
            ReadOf::Log(log) | ReadOf::LogEntries(log) => log == state,
            ReadOf::Counter(_) | ReadOf::Presence => false,
        };
        touch.read |= here;
        touch.read_in_guard |= here && read.in_guard;
    }
    touch.written = facts.writes.iter().any(|w| w.place == place && is_here(w.attr));
    touch
}

/// The shape of what this place's state undergoes.
fn shape(unit: &Unit<'_>, facts: &Facts<'_>, place: usize, state: StateId) -> Shape {
    let subject = &unit.design.subjects[facts.places[place].subject.index()];
    let kind = subject.states[state.index()].kind;
    if facts.appends.contains(&(place, state)) {
        return Shape::Append;
    }
    if facts.places[place].is_made() {
        return Shape::CreateTarget;
    }
    if facts.deletes.contains(&place) {
        return Shape::StateTransition;
    }
    let is_here = |write: &&Write<'_>| {
        write.place == place && subject.attributes[write.attr.index()].state == state
    };
    let writes: Vec<&Write<'_>> = facts.writes.iter().filter(is_here).collect();
    let payload = writes.iter().any(|write| is_payload(unit, facts, write));
    let moves = writes.iter().any(|write| is_move(unit, facts, write));
    match kind {
        StateKind::Cache { .. } | StateKind::Ephemeral { .. } if !clears_all(&writes) => {
            Shape::Overwrite
        }
        _ if payload && !moves => Shape::Overwrite,
        _ => Shape::StateTransition,
    }
}

fn clears_all(writes: &[&Write<'_>]) -> bool {
    writes.iter().all(|write| is_null(write.value))
}

pub fn is_null(value: &Expr) -> bool {
    matches!(value.kind, ExprKind::Literal(Const::Null))
}

/// Does it bring in data of the caller's, or copy another record's?
pub fn is_payload(unit: &Unit<'_>, facts: &Facts<'_>, write: &Write<'_>) -> bool {
    if write.op != AssignOp::Set {
        return false;
    }
    match &write.value.kind {
        ExprKind::Local(_) | ExprKind::Record(_) => {
            !matches!(write.value.ty.required(), Type::Ref(_) | Type::Actor | Type::Duration)
        }
        ExprKind::Attr { base, .. } => {
            let own = &facts.places[write.place].path;
            unit.scope().text(base) != *own
        }
        _ => false,
    }
}

/// Does it move the record to another state: another constant, another owner, another deadline,
/// another reference, or nothing?
pub fn is_move(unit: &Unit<'_>, facts: &Facts<'_>, write: &Write<'_>) -> bool {
    let attribute = facts.attribute(unit.design, write.place, write.attr);
    let tested =
        facts.tests.iter().any(|test| test.place == write.place && test.attr == write.attr);
    match attribute.ty.required() {
        Type::Enum(_) | Type::Bool => true,
        _ if is_null(write.value) => true,
        Type::Time => mentions(write.value, &|e| matches!(e.kind, ExprKind::Now)),
        Type::Actor => tested || is_released(unit.design, facts, write),
        Type::Ref(_) => {
            let best = facts.tests.iter().any(|test| {
                test.place == write.place && matches!(test.kind, TestKind::Ordered { .. })
            });
            !best
        }
        _ => false,
    }
}

/// Is there an operation that sets this attribute back to nothing?
fn is_released(design: &Design, facts: &Facts<'_>, write: &Write<'_>) -> bool {
    let subject = facts.places[write.place].subject;
    super::units(design).iter().any(|other| {
        let others = Facts::of(other);
        others.writes.iter().any(|w| {
            others.places[w.place].subject == subject && w.attr == write.attr && is_null(w.value)
        })
    })
}

pub fn mentions(expr: &Expr, is: &dyn Fn(&Expr) -> bool) -> bool {
    let mut found = is(expr);
    crate::facts::children(expr, &mut |child| found |= mentions(child, is));
    found
}

fn counters(unit: &Unit<'_>, facts: &Facts<'_>, place: usize, touches: &mut Vec<Touch>) {
    let subject = &unit.design.subjects[facts.places[place].subject.index()];
    for read in facts.reads.iter().filter(|read| read.place == place) {
        let ReadOf::Counter(counter) = read.of else { continue };
        let child = &unit.design.subjects[subject.counters[counter.index()].child.index()].name;
        let name = format!("count of {child}");
        let mut touch = blank(name, TouchKind::Counter, facts.places[place].path.clone());
        touch.truth = true;
        touch.subject = Some(subject.name.clone());
        touch.read = true;
        touch.read_in_guard = read.in_guard;
        touch.shape = Some(Shape::ReadSource);
        touches.push(touch);
    }
}

/// What the engine itself keeps, in the same commit.
fn engine(unit: &Unit<'_>, facts: &Facts<'_>, touches: &mut Vec<Touch>) {
    let written = |state: String, kind: TouchKind, path: String, shape: Shape| {
        let mut touch = blank(state, kind, path);
        touch.truth = true;
        touch.written = true;
        touch.shape = Some(shape);
        touch
    };
    let design = unit.design;
    for view in &facts.views {
        let view = &design.views[view.index()];
        let mut touch = blank(view.name.clone(), TouchKind::View, view.name.clone());
        touch.read = true;
        touch.shape = Some(Shape::ReadProjection);
        touches.push(touch);
    }
    for send in &facts.sends {
        let sent = &design.operations[send.operation.index()];
        let effect = matches!(sent.kind, OperationKind::Effect(_));
        let kept = effect || sent.each.is_some();
        let shape = if send.fresh || !kept { Shape::CreateTarget } else { Shape::StateTransition };
        let (word, kind) = match sent.hears {
            _ if kept => ("outbox", TouchKind::Outbox),
            Some(_) => ("inbox", TouchKind::Message),
            None => ("message", TouchKind::Message),
        };
        let args = &send.args[usize::from(sent.each.is_some())..];
        let args: Vec<String> = args.iter().map(|arg| unit.scope().text(arg)).collect();
        touches.push(written(format!("{word} {}", sent.name), kind, args.join(", "), shape));
    }
    if matches!(unit.operation.kind, OperationKind::Effect(_)) {
        let name = format!("outbox {}", unit.operation.name);
        let params: Vec<&str> = unit.operation.params.iter().map(|p| p.name.as_str()).collect();
        let mut touch = written(name, TouchKind::Outbox, params.join(", "), Shape::StateTransition);
        touch.read = true;
        touch.read_in_guard = true;
        touches.push(touch);
    }
    for event in &facts.emits {
        let name = format!("event {}", design.events[event.index()].name);
        touches.push(written(name, TouchKind::Event, "feed".into(), Shape::CreateTarget));
    }
    if let OperationKind::Step { .. } = unit.operation.kind
        && unit.operation.hears.is_none()
        && unit.operation.each.is_none()
    {
        let path = "principal, operation, key".to_owned();
        let mut touch =
            written("idempotency".into(), TouchKind::Idempotency, path, Shape::CreateTarget);
        touch.read = true;
        touches.push(touch);
    }
}
