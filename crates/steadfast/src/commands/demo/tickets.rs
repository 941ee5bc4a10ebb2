//! Many buyers, few seats: they hold, let it run out, pay late, pay twice, pay for others, and come again.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use runtime::Request;
use serde_json::json;
use store::Seeded;

use super::plan::{Plan, Planned, between, drawn};
use super::scenario::{Damage, Judged, Scenario, Told, name_of, numbered};
use super::screen::{Paint, Painted, cells, grouped};
use super::stage::Stage;
use crate::problem::Problem;

const BUYERS_FOR_A_SEAT: u64 = 10;
const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
/// Buyers come for the first time within so much time.
const ARRIVE: u64 = 60 * MINUTE;
/// By then every hold is over. Everybody comes once more: so the house is sold out in the end.
const LAST_ROUND: u64 = 150 * MINUTE;
const LAST_ROUND_LASTS: u64 = MINUTE;
/// Meanwhile the workers are away, and nobody gives back what has run out: the guards alone must hold.
const AWAY: Range<u64> = 3 * MINUTE..18 * MINUTE;
/// More seats than these are not drawn one by one.
const DRAWN_MAX: u64 = 1_008;
const HELD: u8 = 1;

/// What a buyer does.
#[derive(Clone, Copy, Debug)]
pub enum Move {
    AddSeat(u32),
    Hold { seat: u32, booking: u32, ttl_ms: u64, key: bool },
    Confirm { booking: u32, key: bool },
}

/// What was asked for under the name of a booking.
#[derive(Clone, Copy)]
struct Wanted {
    seat: u32,
    ttl_ms: u64,
    buyer: u32,
}

pub struct Tickets {
    seats: u64,
    plan: Plan<Move>,
    bookings: Vec<Wanted>,
    /// what buyers have heard of each seat
    held: Vec<AtomicU8>,
    sold: Vec<AtomicU32>,
    /// bookings of which a buyer has heard that they are confirmed
    promised: Mutex<Vec<u32>>,
}

/// Draws the calls of all buyers.
struct Draw {
    seats: u64,
    calls: Vec<Planned<Move>>,
    bookings: Vec<Wanted>,
}

impl Draw {
    /// Makes a call; now and then its answer is lost, and the buyer asks again. Gives the time at which it was
    /// asked last.
    fn call(&mut self, random: &mut Seeded, at: u64, buyer: u32, what: Move, lost: u64) -> u64 {
        if !random.percent(lost) {
            self.calls.push(Planned::new(at, buyer, what));
            return at;
        }
        self.calls.push(Planned { lost: true, ..Planned::new(at, buyer, what) });
        let again = at + between(random, SECOND, 4 * SECOND);
        self.calls.push(Planned::new(again, buyer, what));
        again
    }

    fn booking(&mut self, wanted: Wanted) -> u32 {
        self.bookings.push(wanted);
        (self.bookings.len() - 1) as u32
    }

    /// Comes one to three times, each time for some seat, and not always to pay for it.
    fn buyer(&mut self, random: &mut Seeded, buyer: u32, buyers: u64) {
        let mut at = between(random, SECOND, ARRIVE);
        for _ in 0..between(random, 1, 4) {
            // the front rows are wanted most
            let seat = random.below(self.seats).min(random.below(self.seats)) as u32;
            let ttl_ms = [2, 5, 10][random.below(3) as usize] * MINUTE;
            let booking = self.booking(Wanted { seat, ttl_ms, buyer });
            let hold = Move::Hold { seat, booking, ttl_ms, key: true };
            let held = self.call(random, at, buyer, hold, 20);
            let in_time = held + between(random, 10 * SECOND, ttl_ms - 10 * SECOND);
            let confirm = Move::Confirm { booking, key: true };
            at = match random.below(100) {
                0..55 => self.call(random, in_time, buyer, confirm, 25),
                // clicks twice: the second call is one of its own
                55..65 => {
                    let twice = Move::Confirm { booking, key: false };
                    self.calls.push(Planned::new(in_time, buyer, twice));
                    self.calls.push(Planned::new(in_time + 20, buyer, twice));
                    in_time + 20
                }
                // somebody else pays for it
                80..85 => {
                    let other = random.below(buyers) as u32;
                    self.calls.push(Planned::new(
                        in_time,
                        other,
                        Move::Confirm { booking, key: false },
                    ));
                    in_time
                }
                65..80 => {
                    let late = held + ttl_ms + between(random, SECOND, 2 * MINUTE);
                    self.call(random, late, buyer, confirm, 25)
                }
                // when nobody gives back what has run out, more of them try, and sooner: before somebody else comes
                _ if AWAY.contains(&(held + ttl_ms)) => {
                    let late = held + ttl_ms + between(random, SECOND, 15 * SECOND);
                    self.call(random, late, buyer, confirm, 25)
                }
                _ => held,
            };
            at += between(random, 30 * SECOND, 20 * MINUTE);
        }
    }

    /// Every buyer once more, ten at each seat, and all of them pay.
    fn last_round(&mut self, random: &mut Seeded, buyer: u32, seat: u32) {
        let at = LAST_ROUND + random.below(LAST_ROUND_LASTS);
        let ttl_ms = 10 * MINUTE;
        let booking = self.booking(Wanted { seat, ttl_ms, buyer });
        let hold = Move::Hold { seat, booking, ttl_ms, key: true };
        let held = self.call(random, at, buyer, hold, 10);
        let pays = held + between(random, 5 * SECOND, MINUTE);
        self.call(random, pays, buyer, Move::Confirm { booking, key: true }, 10);
    }
}

impl Tickets {
    pub fn new(seats: u64, seed: u64) -> Tickets {
        let buyers = seats * BUYERS_FOR_A_SEAT;
        let mut draw = Draw { seats, calls: Vec::new(), bookings: Vec::new() };
        let shift = drawn(seed, u64::MAX).below(seats);
        for buyer in 0..buyers {
            let random = &mut drawn(seed, buyer);
            draw.buyer(random, buyer as u32, buyers);
            draw.last_round(random, buyer as u32, ((buyer + shift) % seats) as u32);
        }
        // the organizer is a client after all buyers
        let seat = |seat| Planned::new(0, (buyers + seat) as u32, Move::AddSeat(seat as u32));
        let (before, calls): (Vec<_>, Vec<_>) =
            draw.calls.into_iter().partition(|call| call.at_ms < AWAY.start);
        let (away, after) = calls.into_iter().partition(|call| call.at_ms < AWAY.end);
        let opening = (0..seats).map(seat).collect();
        let plan = Plan::new(vec![opening, before, away, after]).workers_are_away_in(2);
        Tickets {
            seats,
            plan,
            bookings: draw.bookings,
            held: (0..seats).map(|_| AtomicU8::new(0)).collect(),
            sold: (0..seats).map(|_| AtomicU32::new(0)).collect(),
            promised: Mutex::default(),
        }
    }

    fn seat(&self, booking: u32) -> usize {
        self.bookings[booking as usize].seat as usize
    }
}

impl Scenario for Tickets {
    type Move = Move;

    const DAMAGING: &'static [&'static str] =
        &["hold.free", "confirm.open", "release.stale", "confirm.live", "confirm.yours"];

    fn title(&self) -> String {
        let buyers = grouped(self.seats * BUYERS_FOR_A_SEAT);
        format!("{} seats and {buyers} impatient buyers", grouped(self.seats))
    }

    fn plan(&self) -> &Plan<Move> {
        &self.plan
    }

    fn request(&self, call: &Planned<Move>) -> Request {
        let who = buyer_name(call.client);
        match call.what {
            Move::AddSeat(seat) => Request::new("organizer", "add_seat", "house")
                .with("seat", seat_name(seat))
                .with("section", "stalls"),
            Move::Hold { seat, booking, ttl_ms, key } => {
                let hold = Request::new("buyer", "hold", &who)
                    .with("seat", seat_name(seat))
                    .with("booking", booking_name(booking))
                    .with("ttl", format!("{}m", ttl_ms / MINUTE));
                if key { hold.keyed(&booking_name(booking)) } else { hold }
            }
            Move::Confirm { booking, key } => {
                let confirm =
                    Request::new("buyer", "confirm", &who).with("booking", booking_name(booking));
                if key { confirm.keyed(&booking_name(booking)) } else { confirm }
            }
        }
    }

    fn answered(&self, call: &Planned<Move>, told: &Told) {
        let Ok(reply) = told else { return };
        match call.what {
            Move::AddSeat(_) => {}
            Move::Hold { seat, .. } => self.held[seat as usize].store(HELD, Ordering::Relaxed),
            Move::Confirm { booking, .. } => {
                if !reply.replayed {
                    self.sold[self.seat(booking)].fetch_add(1, Ordering::Relaxed);
                }
                if !call.lost {
                    self.promised.lock().unwrap_or_else(PoisonError::into_inner).push(booking);
                }
            }
        }
    }

    fn settling_ms(&self) -> i64 {
        12 * MINUTE as i64
    }

    fn picture(&self, _: &Stage) -> Vec<Painted> {
        let sold = |at: usize| self.sold[at].load(Ordering::Relaxed);
        let all = 0..self.seats as usize;
        let (once, twice) = (
            all.clone().filter(|at| sold(*at) > 0).count() as u64,
            all.clone().filter(|at| sold(*at) > 1).count() as u64,
        );
        let mark = |at: usize| match (sold(at), self.held[at].load(Ordering::Relaxed)) {
            (0, 0) => (Paint::Plain, '·'),
            (0, _) => (Paint::Odd, '▒'),
            (1, _) => (Paint::Good, '█'),
            _ => (Paint::Bad, '█'),
        };
        let mut lines = match self.seats <= DRAWN_MAX {
            true => cells(all.map(mark)),
            false => Vec::new(),
        };
        let mut line = Painted::plain(format!(
            "sold     {} of {} seats (█), held at some time (▒), never (·)",
            grouped(once),
            grouped(self.seats)
        ));
        if twice > 0 {
            line = line.with(Paint::Bad, &format!("; {} twice", grouped(twice)));
        }
        lines.push(line);
        lines
    }

    fn judge(&self, stage: &Stage) -> Result<Judged, Problem> {
        // what is stored
        let mut tickets: HashMap<String, u64> = HashMap::new();
        let mut confirmed: HashMap<String, String> = HashMap::new();
        stage.each_record("Booking", |key, truth| {
            let state = &truth["BookingState"];
            if state["status"] == "CONFIRMED" {
                *tickets.entry(name_of(&state["seat"])).or_default() += 1;
                confirmed.insert(name_of(&json!(key)), name_of(&state["buyer"]));
            }
        })?;
        // what happened: who was first, and whose time was over, by the clock and by what was asked for
        let mut last: HashMap<u32, i64> = HashMap::new();
        let mut until: HashMap<usize, i64> = HashMap::new();
        let (mut cut_short, mut late, mut strangers) = (0, 0, 0);
        let mut lapsed = 0;
        stage.each_transition(|transition| {
            let changed = |subject: &str| {
                let found = transition.changes.iter().find(|change| change.subject == subject);
                found.map(|change| name_of(&json!(change.key)))
            };
            let booking = |name: Option<String>| numbered(&name?, "booking");
            match transition.operation.as_str() {
                // the booking whose time was over is changed along with the new one
                "hold" => {
                    let made = transition.changes.iter().filter(|change| {
                        change.subject == "Booking"
                            && change.truth.as_ref().is_some_and(|truth| {
                                truth["BookingState"]["status"] == "IN_PROGRESS"
                            })
                    });
                    for change in made {
                        let Some(booking) = booking(Some(name_of(&json!(change.key)))) else {
                            continue;
                        };
                        let wanted = self.bookings[booking];
                        let ends = transition.at + wanted.ttl_ms as i64;
                        until.insert(booking, ends);
                        if let Some(before) = last.insert(wanted.seat, ends)
                            && before >= transition.at
                        {
                            cut_short += 1;
                        }
                    }
                }
                "confirm" => {
                    let Some(booking) = booking(changed("Booking")) else { return };
                    let wanted = self.bookings[booking];
                    let in_time = until.get(&booking).is_some_and(|ends| *ends >= transition.at);
                    late += u64::from(!in_time);
                    strangers += u64::from(transition.principal != buyer_name(wanted.buyer));
                    // nobody may hold it any more
                    last.insert(wanted.seat, i64::MAX);
                }
                "release" => lapsed += 1,
                _ => {}
            }
        })?;
        let promised = self.promised.lock().unwrap_or_else(PoisonError::into_inner);
        let broken =
            promised.iter().filter(|booking| !confirmed.contains_key(&booking_name(**booking)));
        let broken = broken.count() as u64;
        let sold = tickets.len() as u64;
        let all: u64 = tickets.values().sum();
        let twice = tickets.values().filter(|count| **count > 1).count() as u64;
        let unsold = self.seats - sold.min(self.seats);
        let seats = grouped(self.seats);
        Ok(Judged {
            kept: format!(
                "exactly {} of {seats} seats are sold, none twice; no hold was cut short, nobody paid late or for \
                 somebody else",
                grouped(sold)
            ),
            facts: vec![
                ("seats", json!(self.seats)),
                ("sold", json!(sold)),
                ("tickets", json!(all)),
                ("holds_run_out_and_released", json!(lapsed)),
                ("told_that_they_have_a_seat", json!(promised.len())),
            ],
            damage: vec![
                Damage::new(
                    "sold_twice",
                    twice,
                    format!(
                        "{} of {seats} seats were sold more than once: {} tickets for {seats} seats",
                        grouped(twice),
                        grouped(all)
                    ),
                ),
                Damage::new(
                    "holds_cut_short",
                    cut_short,
                    format!(
                        "{} times a seat was given to a buyer while it was held by another or sold",
                        grouped(cut_short)
                    ),
                ),
                Damage::new(
                    "paid_late",
                    late,
                    format!(
                        "tickets that were sold to buyers whose hold was over: {}",
                        grouped(late)
                    ),
                ),
                Damage::new(
                    "paid_by_strangers",
                    strangers,
                    format!(
                        "{} bookings were taken by somebody who had not made them",
                        grouped(strangers)
                    ),
                ),
                Damage::new(
                    "promises_broken",
                    broken,
                    format!(
                        "{} buyers were told that they have a seat, and have none",
                        grouped(broken)
                    ),
                ),
                Damage::new("unsold", unsold, format!("{} seats were not sold", grouped(unsold))),
            ],
        })
    }
}

fn seat_name(seat: u32) -> String {
    format!("seat-{seat}")
}

fn booking_name(booking: u32) -> String {
    format!("booking-{booking}")
}

fn buyer_name(buyer: u32) -> String {
    format!("buyer-{buyer}")
}
