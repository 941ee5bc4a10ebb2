//! A design that is made of others.

use super::*;
use crate::Span;

/// `use A08 as Seat { actor user is buyer … }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UseItem {
    pub archetype: Name,
    /// takes the place of `X`
    pub noun: Name,
    pub changes: Vec<UseChange>,
}

/// One line of the block of a `use`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UseChange {
    pub kind: UseChangeKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UseChangeKind {
    /// `actor user is buyer`
    Actor {
        name: Name,
        is: Name,
    },
    /// `subject SeatBooking is Booking`
    Subject {
        name: Name,
        is: Name,
    },
    /// `Booking also { truth PaidState { … } }`
    States {
        subject: Name,
        states: Vec<StateItem>,
    },
    /// `confirm_seat also { paid: … }`
    Clauses {
        operation: Name,
        clauses: Vec<Clause>,
    },
    /// `confirm_seat also { … }`, `confirm_seat also into { … }`, `pay_seat also on ok { … }`
    Effects(MoreEffects),
    /// `hold_seat as hold`, `SeatBookingState.item as seat`
    Rename {
        owner: Option<Name>,
        name: Name,
        to: Name,
    },
    /// `hide cancel_seat`
    Hide {
        operation: Name,
    },
    /// `release_seat instead { repair sweeper[release_seat(…) { … }] { … } }`
    Instead {
        operation: Name,
        items: Vec<Item>,
    },
    /// `without goal seat.sold_stays_sold because "…"`
    WithoutGoal {
        goal: Name,
        because: Text,
    },
    Error,
}

/// What an operation does after its own effects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MoreEffects {
    pub operation: Name,
    /// it writes what the archetype has
    pub into: bool,
    /// of an effect
    pub on: Option<AnswerKind>,
    pub body: Block,
}
