//! The few structures that mechanisms are recognised by, for each record that is reached.

use design::model::*;

use super::touch::{is_move, is_null, is_payload, mentions};
use crate::facts::{Facts, Origin, TestKind, Unit, Write};

/// Of one place.
#[derive(Clone, Copy, Default, Debug)]
pub struct Features {
    pub all: Of,
    /// the operation sends an effect
    pub sends: bool,
    /// and its entry may be there already
    pub resends: bool,
    /// makes a record that is not in a loop
    pub makes: bool,
}

#[derive(Clone, Copy, Default, Debug)]
pub struct Of {
    /// a time is set to `now` and some more
    pub deadline_set: bool,
    /// a time is set to `now` itself
    pub stamped: bool,
    /// a principal is written where there can be only one
    pub owner_taken: bool,
    pub owner_cleared: bool,
    pub reference_set: bool,
    pub constant_set: bool,
    pub payload: bool,
    /// copied from another record
    pub copied: bool,
    pub deleted: bool,
    /// a number grows by one, and nothing is compared with it but memory
    pub version_advanced: bool,
    /// a number changes by an amount that is compared with it
    pub counted: bool,
    /// one number moves forward to what it was compared with
    pub cursor: bool,
    /// the same, with what goes along with it
    pub best: bool,
    pub past: bool,
    pub live: bool,
    pub memory: bool,
    pub me: bool,
    /// its state or its lack of an owner is tested
    pub free: bool,
}

impl Features {
    pub fn of(unit: &Unit<'_>, facts: &Facts<'_>) -> Features {
        let mut features = Features::default();
        for place in 0..facts.places.len() {
            features.all = features.all.or(Of::place(unit, facts, place));
        }
        let effects = facts.sends.iter().filter(|send| {
            matches!(unit.design.operations[send.operation.index()].kind, OperationKind::Effect(_))
        });
        for send in effects {
            features.sends = true;
            features.resends |= !send.fresh;
        }
        features.makes = facts
            .places
            .iter()
            .any(|p| matches!(p.origin, Origin::NewParam | Origin::Made { in_loop: false }));
        features
    }
}

impl Of {
    pub fn place(unit: &Unit<'_>, facts: &Facts<'_>, place: usize) -> Of {
        let mut of = Of { deleted: facts.deletes.contains(&place), ..Of::default() };
        for test in facts.tests.iter().filter(|test| test.place == place) {
            match &test.kind {
                TestKind::Past => of.past = true,
                TestKind::Live => of.live = true,
                TestKind::Memory(_) => of.memory = true,
                TestKind::Me => of.me = true,
                TestKind::IsNull | TestKind::OneOf(_) | TestKind::NoneOf(_) | TestKind::Flag(_) => {
                    of.free = true;
                }
                TestKind::NotNull | TestKind::Same | TestKind::Ordered { .. } => {}
            }
        }
        if facts.places[place].is_made() {
            return of;
        }
        let writes: Vec<&Write<'_>> = facts.writes.iter().filter(|w| w.place == place).collect();
        for write in &writes {
            of = of.or(Of::write(unit, facts, write));
        }
        let advanced: Vec<&&Write<'_>> =
            writes.iter().filter(|w| advances(unit, facts, w)).collect();
        for write in advanced {
            let attribute = facts.attribute(unit.design, place, write.attr);
            let others = writes.iter().any(|w| {
                let other = facts.attribute(unit.design, place, w.attr);
                w.attr != write.attr && other.state == attribute.state
            });
            of.best |= others;
            of.cursor |= !others;
        }
        of
    }

    fn write(unit: &Unit<'_>, facts: &Facts<'_>, write: &Write<'_>) -> Of {
        let mut of = Of { payload: is_payload(unit, facts, write), ..Of::default() };
        let attribute = facts.attribute(unit.design, write.place, write.attr);
        let null = is_null(write.value);
        match attribute.ty.required() {
            Type::Time => {
                let now = mentions(write.value, &|e| matches!(e.kind, ExprKind::Now));
                of.stamped = matches!(write.value.kind, ExprKind::Now);
                of.deadline_set = now && !of.stamped;
            }
            Type::Actor => {
                of.owner_cleared = null;
                of.owner_taken = !null && is_move(unit, facts, write);
            }
            Type::Ref(_) => of.reference_set = !null,
            Type::Enum(_) | Type::Bool => of.constant_set = true,
            Type::Int | Type::Decimal | Type::Money(_) => {
                let itself = mentions(
                    write.value,
                    &|e| matches!(&e.kind, ExprKind::Attr { attr, .. } if *attr == write.attr),
                );
                let changes = write.op != AssignOp::Set || itself;
                let compared = compared_with(facts, write);
                of.counted = changes && compared;
                of.version_advanced = changes && !compared;
            }
            _ => {}
        }
        of.copied = of.payload && matches!(write.value.kind, ExprKind::Attr { .. });
        of
    }

    pub fn or(self, other: Of) -> Of {
        Of {
            deadline_set: self.deadline_set || other.deadline_set,
            stamped: self.stamped || other.stamped,
            owner_taken: self.owner_taken || other.owner_taken,
            owner_cleared: self.owner_cleared || other.owner_cleared,
            reference_set: self.reference_set || other.reference_set,
            constant_set: self.constant_set || other.constant_set,
            payload: self.payload || other.payload,
            copied: self.copied || other.copied,
            deleted: self.deleted || other.deleted,
            version_advanced: self.version_advanced || other.version_advanced,
            counted: self.counted || other.counted,
            cursor: self.cursor || other.cursor,
            best: self.best || other.best,
            past: self.past || other.past,
            live: self.live || other.live,
            memory: self.memory || other.memory,
            me: self.me || other.me,
            free: self.free || other.free,
        }
    }
}

fn compared_with(facts: &Facts<'_>, write: &Write<'_>) -> bool {
    facts.tests.iter().any(|test| {
        test.place == write.place
            && test.attr == write.attr
            && matches!(test.kind, TestKind::Ordered { .. })
    })
}

/// Is the attribute set to what the guard found it smaller than, or to what follows what the
/// caller remembers?
/// `offset` of `offset + 1`: a cursor may also stand behind what was done.
fn past(value: &Expr) -> &Expr {
    match &value.kind {
        ExprKind::Arithmetic { op: ArithmeticOp::Add, left, right }
            if matches!(right.kind, ExprKind::Literal(Const::Int(_)))
                && matches!(left.kind, ExprKind::KeyPart { .. } | ExprKind::Local(_)) =>
        {
            left
        }
        _ => value,
    }
}

fn is_given(value: &Expr) -> bool {
    matches!(value.kind, ExprKind::Local(_) | ExprKind::Attr { .. } | ExprKind::KeyPart { .. })
}

fn advances(unit: &Unit<'_>, facts: &Facts<'_>, write: &Write<'_>) -> bool {
    let attribute = facts.attribute(unit.design, write.place, write.attr);
    let numeric =
        matches!(attribute.ty.required(), Type::Int | Type::Time | Type::Decimal | Type::Money(_));
    let plain = is_given(past(write.value));
    let below = facts.tests.iter().any(|test| {
        test.place == write.place
            && test.attr == write.attr
            && matches!(test.kind, TestKind::Ordered { top: false } | TestKind::Memory(_))
    });
    numeric && plain && below && write.op == AssignOp::Set
}
