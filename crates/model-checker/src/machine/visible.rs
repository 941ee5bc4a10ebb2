//! What each invariant sees of a state. A transition that changes nothing of it need not be judged again.

use design::model::{AttrId, Design, Domain, Expr, ExprKind, Invariant, SubjectId, visit};
use rustc_hash::FxHashSet;

use crate::world::plan::{Plan, SlotName};
use crate::world::sizes::holds_times;

/// Some of the invariants, by their numbers. The last bit stands for all from there on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Goals(u64);

impl Goals {
    pub(crate) const NONE: Goals = Goals(0);
    pub(crate) const ALL: Goals = Goals(u64::MAX);

    fn one(number: usize) -> Goals {
        Goals(1 << number.min(63))
    }

    pub(crate) fn and(self, other: Goals) -> Goals {
        Goals(self.0 | other.0)
    }

    pub(crate) fn has(self, number: u32) -> bool {
        self.0 & Goals::one(number as usize).0 != 0
    }
}

/// Which invariants see what.
pub(super) struct Visible {
    /// for each slot: those that see it
    slots: Vec<Goals>,
    /// those that see what time it is
    clock: Goals,
}

/// What one invariant reads.
#[derive(Default)]
struct Reach {
    attributes: FxHashSet<(SubjectId, AttrId)>,
    memory: bool,
    messages: bool,
    outbox: bool,
    clock: bool,
}

impl Reach {
    fn of(goal: &Invariant) -> Reach {
        let mut reach = Reach::default();
        visit::each(&goal.body, &mut |part: &Expr| {
            reach.clock |= holds_times(&part.ty);
            match &part.kind {
                ExprKind::Attr { base, attr } => {
                    reach.attributes.extend(base.ty.subject().map(|subject| (subject, *attr)));
                }
                ExprKind::Remembered { .. } => reach.memory = true,
                ExprKind::Quantifier { domain, .. } | ExprKind::Aggregate { domain, .. } => {
                    reach.messages |= matches!(**domain, Domain::Messages(_));
                    reach.outbox |= matches!(**domain, Domain::Outbox(_));
                }
                _ => {}
            }
        });
        reach
    }

    /// Attributes are told apart, everything else by its kind.
    fn sees(&self, name: &SlotName) -> bool {
        match name {
            SlotName::Attr { subject, attr, .. } => self.attributes.contains(&(*subject, *attr)),
            SlotName::Memory { stale, .. } => self.memory && !stale,
            SlotName::Message { .. }
            | SlotName::MessageArg
            | SlotName::Sent { .. }
            | SlotName::Owed { .. } => self.messages,
            SlotName::Entry { .. } | SlotName::EntryArg => self.outbox,
            SlotName::Present { .. }
            | SlotName::Counter { .. }
            | SlotName::Log { .. }
            | SlotName::World { .. }
            | SlotName::WorldArg
            | SlotName::Signed
            | SlotName::Blob => true,
            _ => false,
        }
    }
}

impl Visible {
    pub(super) fn of(design: &Design, plan: &Plan) -> Visible {
        let mut slots = vec![Goals::NONE; plan.names.len()];
        let mut clock = Goals::NONE;
        for (number, goal) in design.invariants.iter().enumerate() {
            let reach = Reach::of(goal);
            let own = Goals::one(number);
            for (slot, name) in slots.iter_mut().zip(&plan.names) {
                if reach.sees(name) {
                    *slot = slot.and(own);
                }
            }
            if reach.clock {
                clock = clock.and(own);
            }
        }
        Visible { slots, clock }
    }

    /// Those that see a change of these slots; `ticks`: or of the clock.
    pub(super) fn seen(&self, changed: &[u32], ticks: bool) -> Goals {
        let clock = if ticks { self.clock } else { Goals::NONE };
        changed.iter().fold(clock, |seen, slot| seen.and(self.slots[*slot as usize]))
    }
}
