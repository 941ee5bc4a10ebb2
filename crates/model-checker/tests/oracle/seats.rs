//! Seats with timed holds by hand, without faults.

use stateright::{Model, Property};

use super::Broken;

const TTL: i8 = 2;
const LONG_AGO: i8 = -1;

#[derive(Clone)]
pub struct Seats {
    pub seats: usize,
    pub bookings: usize,
    pub buyers: usize,
    pub broken: Broken,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub seats: Vec<Option<Seat>>,
    pub bookings: Vec<Option<Booking>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seat {
    pub status: SeatStatus,
    pub booking: Option<usize>,
    pub expires: Option<i8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SeatStatus {
    Available,
    Held,
    Sold,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Booking {
    pub status: BookingStatus,
    pub seat: usize,
    pub buyer: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BookingStatus {
    InProgress,
    Confirmed,
    Expired,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    AddSeat { seat: usize },
    Hold { seat: usize, booking: usize, buyer: usize },
    Confirm { booking: usize },
    Release { seat: usize },
    Tick,
}

impl Seat {
    fn stale(&self) -> bool {
        self.status == SeatStatus::Held && self.expires.is_some_and(|expires| expires < 0)
    }
}

impl Model for Seats {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State { seats: vec![None; self.seats], bookings: vec![None; self.bookings] }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (seat, held) in state.seats.iter().enumerate() {
            let Some(held) = held else {
                actions.push(Action::AddSeat { seat });
                continue;
            };
            for booking in (0..self.bookings).filter(|at| state.bookings[*at].is_none()) {
                if held.status == SeatStatus::Available || held.stale() {
                    let hold = |buyer| Action::Hold { seat, booking, buyer };
                    actions.extend((0..self.buyers).map(hold));
                }
            }
            if held.stale() {
                actions.push(Action::Release { seat });
            }
        }
        for (booking, held) in state.bookings.iter().enumerate() {
            let Some(held) = held else { continue };
            let expires = state.seats[held.seat].and_then(|seat| seat.expires);
            if held.status == BookingStatus::InProgress
                && expires.is_some_and(|expires| expires >= 0)
            {
                // by its own buyer
                actions.push(Action::Confirm { booking });
            }
        }
        actions.push(Action::Tick);
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        match action {
            Action::AddSeat { seat } => {
                next.seats[seat] =
                    Some(Seat { status: SeatStatus::Available, booking: None, expires: None });
            }
            Action::Hold { seat, booking, buyer } => {
                let held = next.seats[seat].as_mut()?;
                if held.status == SeatStatus::Held {
                    next.bookings[held.booking?].as_mut()?.status = BookingStatus::Expired;
                }
                *held =
                    Seat { status: SeatStatus::Held, booking: Some(booking), expires: Some(TTL) };
                next.bookings[booking] =
                    Some(Booking { status: BookingStatus::InProgress, seat, buyer });
            }
            Action::Confirm { booking } => {
                let held = next.bookings[booking].as_mut()?;
                held.status = BookingStatus::Confirmed;
                next.seats[held.seat].as_mut()?.status = SeatStatus::Sold;
            }
            Action::Release { seat } => {
                let held = next.seats[seat].as_mut()?;
                next.bookings[held.booking?].as_mut()?.status = BookingStatus::Expired;
                *held = Seat { status: SeatStatus::Available, booking: None, expires: None };
            }
            Action::Tick => {
                for held in next.seats.iter_mut().flatten() {
                    held.expires = held.expires.map(|expires| (expires - 1).max(LONG_AGO));
                }
            }
        }
        for (at, after) in next.bookings.iter().enumerate() {
            let Some(after) = after else { continue };
            let was = state.bookings[at].map(|before| before.status);
            let live = next.seats[after.seat]
                .is_some_and(|seat| seat.expires.is_some_and(|expires| expires >= 0));
            if after.status == BookingStatus::Confirmed
                && was != Some(BookingStatus::Confirmed)
                && !live
            {
                self.broken.note("in_time");
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("explored to the end", |_, _| true),
            Property::always("one_winner", |_, state: &State| {
                (0..state.seats.len()).all(|seat| {
                    let winners = state.bookings.iter().flatten().filter(|booking| {
                        booking.seat == seat && booking.status == BookingStatus::Confirmed
                    });
                    winners.count() <= 1
                })
            }),
            Property::always("never_sold", |_, state: &State| {
                state.seats.iter().flatten().all(|seat| seat.status != SeatStatus::Sold)
            }),
            Property::always("never_expired_and_sold", |_, state: &State| {
                let any = |status| {
                    state.bookings.iter().flatten().any(|booking| booking.status == status)
                };
                !(any(BookingStatus::Expired) && any(BookingStatus::Confirmed))
            }),
        ]
    }
}
