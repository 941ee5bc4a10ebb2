//! An auction that everybody bids in during its last second; some bid later, some bid for themselves.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use runtime::Request;
use serde_json::{Value, json};
use store::Seeded;

use super::plan::{Plan, Planned, between, drawn};
use super::scenario::{Damage, Judged, Scenario, Told, numbered};
use super::screen::{Painted, grouped};
use super::stage::Stage;
use crate::problem::Problem;

const SECOND: u64 = 1_000;
/// The auction lasts an hour.
const END: u64 = 3_600 * SECOND;
const RESERVE: u64 = 1_000;
const LOT: &str = "lot";
const SELLER: &str = "seller";
/// Each bidder bids so often.
const BIDS_EACH: u64 = 5;
/// The last second is drawn in so many parts.
const COLUMNS: usize = 72;

#[derive(Clone, Copy, Debug)]
pub enum Move {
    Create,
    /// with its idempotency key, or without
    Bid {
        bid: u32,
        key: bool,
    },
}

pub struct Auction {
    bids_in_the_last_second: u64,
    bidders: u64,
    plan: Plan<Move>,
    amounts: Vec<u64>,
    /// bids that were taken, by the part of the last second in which they were planned
    taken: Vec<AtomicU64>,
    highest: AtomicU64,
    /// bids of which a bidder has heard that they are placed
    promised: Mutex<Vec<u32>>,
}

struct Draw {
    amounts: Vec<u64>,
    calls: Vec<Planned<Move>>,
}

impl Draw {
    fn bid(&mut self, random: &mut Seeded, at: u64, client: u32, amount: u64) {
        self.amounts.push(amount);
        let bid = (self.amounts.len() - 1) as u32;
        let call = Planned::new(at, client, Move::Bid { bid, key: true });
        match random.below(100) {
            // the answer is lost, and it is sent again
            0..20 => {
                self.calls.push(Planned { lost: true, ..call });
                let at_ms = at + between(random, 1, 100);
                self.calls.push(Planned { at_ms, ..call });
            }
            // the same bid as a new call
            20..25 => {
                self.calls.push(call);
                let again = Move::Bid { bid, key: false };
                self.calls.push(Planned::new(at + random.below(50), client, again));
            }
            _ => self.calls.push(call),
        }
    }
}

impl Auction {
    pub fn new(bids: u64, seed: u64) -> Auction {
        let bidders = (bids / BIDS_EACH).max(2);
        let mut draw = Draw { amounts: Vec::new(), calls: Vec::new() };
        let random = &mut drawn(seed, 0);
        for _ in 0..bids / 25 {
            let (at, client) = (between(random, SECOND, END - 10 * SECOND), random.below(bidders));
            let amount = between(random, RESERVE, 50_000);
            draw.bid(random, at, client as u32, amount);
        }
        for at in 0..bids {
            let client = (at % bidders) as u32;
            let when = END - SECOND + random.below(SECOND);
            let amount = between(random, 50_000, 1_000_000);
            draw.bid(random, when, client, amount);
        }
        // when the time is over, and higher than any other
        for _ in 0..bids / 10 {
            let (at, client) = (END + between(random, 1, 2 * SECOND), random.below(bidders));
            let amount = between(random, 2_000_000, 3_000_000);
            draw.bid(random, at, client as u32, amount);
        }
        // by who sells, and higher than any that counts
        for _ in 0..(bids / 100).max(2) {
            let at = END - SECOND + random.below(SECOND);
            let amount = between(random, 1_000_000, 2_000_000);
            draw.bid(random, at, bidders as u32, amount);
        }
        // too low
        for _ in 0..(bids / 50).max(2) {
            let (at, client) = (between(random, SECOND, END), random.below(bidders));
            let amount = random.below(RESERVE);
            draw.bid(random, at, client as u32, amount);
        }
        let opening = vec![Planned::new(0, bidders as u32 + 1, Move::Create)];
        Auction {
            bids_in_the_last_second: bids,
            bidders,
            plan: Plan::new(vec![opening, draw.calls]),
            amounts: draw.amounts,
            taken: (0..COLUMNS).map(|_| AtomicU64::new(0)).collect(),
            highest: AtomicU64::new(0),
            promised: Mutex::default(),
        }
    }

    fn who(&self, client: u32) -> String {
        match u64::from(client) == self.bidders {
            true => SELLER.into(),
            false => format!("bidder-{client}"),
        }
    }
}

impl Scenario for Auction {
    type Move = Move;

    const DAMAGING: &'static [&'static str] = &[
        "close.open",
        "update_best.higher",
        "place_bid.in_time",
        "place_bid.not_the_seller",
        "place_bid.enough",
        "close.over",
    ];

    fn title(&self) -> String {
        format!(
            "an auction with {} bids by {} bidders in its last second",
            grouped(self.bids_in_the_last_second),
            grouped(self.bidders)
        )
    }

    fn plan(&self) -> &Plan<Move> {
        &self.plan
    }

    fn request(&self, call: &Planned<Move>) -> Request {
        match call.what {
            Move::Create => Request::new("house", "create_auction", "house")
                .with("auction", LOT)
                .with("item", "a clock")
                .with("seller", SELLER)
                .with("reserve", RESERVE)
                .with("length", "1h"),
            Move::Bid { bid, key } => {
                let place = Request::new("bidder", "place_bid", &self.who(call.client))
                    .with("bid", json!([LOT, bid_name(bid)]))
                    .with("amount", self.amounts[bid as usize]);
                if key { place.keyed(&bid_name(bid)) } else { place }
            }
        }
    }

    fn answered(&self, call: &Planned<Move>, told: &Told) {
        let (Ok(reply), Move::Bid { bid, .. }) = (told, call.what) else { return };
        if !call.lost {
            self.promised.lock().unwrap_or_else(PoisonError::into_inner).push(bid);
        }
        if reply.replayed {
            return;
        }
        self.highest.fetch_max(self.amounts[bid as usize], Ordering::Relaxed);
        if let Some(into) = call.at_ms.checked_sub(END - SECOND) {
            let column = (into as usize * COLUMNS / SECOND as usize).min(COLUMNS - 1);
            self.taken[column].fetch_add(1, Ordering::Relaxed);
        }
    }

    fn settling_ms(&self) -> i64 {
        5 * 60 * SECOND as i64
    }

    fn picture(&self, stage: &Stage) -> Vec<Painted> {
        const HEIGHT: u64 = 6;
        const PARTS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let taken: Vec<u64> = self.taken.iter().map(|it| it.load(Ordering::Relaxed)).collect();
        // as if the bids came evenly; what is over it is drawn full
        let full = (self.bids_in_the_last_second * 4 / 3 / COLUMNS as u64).max(1);
        let row = |row: u64| {
            let line = taken.iter().map(|count| {
                let height = (count * HEIGHT * 8 / full).min(HEIGHT * 8);
                PARTS[height.saturating_sub(row * 8).min(8) as usize]
            });
            Painted::plain(format!("  {}", line.collect::<String>()))
        };
        let mut lines: Vec<Painted> = (0..HEIGHT).rev().map(row).collect();
        lines.push(Painted::plain(format!(
            "  {:<COLUMNS$}",
            "the last second, and what came later at its right"
        )));
        let counters = stage.runtime.counters();
        let judged = counters.done_of("update_best") + counters.done_of("reject_bid");
        lines.push(Painted::plain(format!(
            "bids     {} placed, {} judged; the highest so far {}",
            grouped(counters.done_of("place_bid")),
            grouped(judged),
            grouped(self.highest.load(Ordering::Relaxed))
        )));
        lines
    }

    fn judge(&self, stage: &Stage) -> Result<Judged, Problem> {
        // what happened: which bids were written down, when, and by whom
        let mut placed: HashMap<usize, u64> = HashMap::new();
        let (mut late, mut sellers, mut low) = (0, 0, 0);
        let mut highest = 0;
        stage.each_transition(|transition| {
            if transition.operation != "place_bid" {
                return;
            }
            let made = transition.changes.iter().find(|change| change.subject == "AuctionBid");
            let Some(bid) = made.and_then(|change| bid_of(&json!(change.key))) else { return };
            *placed.entry(bid).or_default() += 1;
            let amount = self.amounts[bid];
            let is_late = stage.since_begin(transition.at) > END as i64;
            let by_the_seller = transition.principal == SELLER;
            late += u64::from(is_late);
            sellers += u64::from(by_the_seller);
            low += u64::from(amount < RESERVE);
            if !is_late && !by_the_seller && amount >= RESERVE {
                highest = highest.max(amount);
            }
        })?;
        // what is stored in the end
        let (mut sales, mut unjudged) = (Vec::new(), 0);
        stage.each_record("AuctionSale", |_, truth| {
            sales.extend(bid_of(&truth["AuctionSaleState"]["bid"]));
        })?;
        stage.each_record("AuctionBid", |_, truth| {
            unjudged += u64::from(truth["BidState"]["status"] == "PLACED");
        })?;
        let (mut closed, mut winner) = (false, None);
        stage.each_record("Auction", |_, truth| {
            closed = truth["AuctionState"]["status"] == "CLOSED";
            winner = bid_of(&truth["AuctionWinnerState"]["winner"]);
        })?;
        let won = winner.map(|bid| self.amounts[bid]);
        let wrong = u64::from(won != Some(highest));
        let again = (sales.len() as u64).saturating_sub(1);
        let twice = placed.values().filter(|times| **times > 1).count() as u64;
        let promised = self.promised.lock().unwrap_or_else(PoisonError::into_inner);
        let broken = promised.iter().filter(|bid| !placed.contains_key(&(**bid as usize))).count();
        let broken = broken as u64;
        let of = won.map_or_else(|| "nobody".into(), |won| format!("a bid of {}", grouped(won)));
        Ok(Judged {
            kept: format!(
                "one winner, the highest of {} bids that were placed: {}; none was late, below the reserve, or the \
                 seller's",
                grouped(placed.len() as u64),
                grouped(highest)
            ),
            facts: vec![
                ("bids_placed", json!(placed.len())),
                ("highest", json!(highest)),
                ("won", json!(won)),
                ("sales", json!(sales.len())),
                ("told_that_they_have_bid", json!(promised.len())),
            ],
            damage: vec![
                Damage::new(
                    "sold_again",
                    again,
                    format!("the lot was sold {} times", grouped(sales.len() as u64)),
                ),
                Damage::new(
                    "wrong_winner",
                    wrong,
                    format!("the lot went to {of}, and the highest bid was {}", grouped(highest)),
                ),
                Damage::new(
                    "late_bids",
                    late,
                    format!("{} bids were taken after the end of the auction", grouped(late)),
                ),
                Damage::new(
                    "bids_of_the_seller",
                    sellers,
                    format!("{} bids of the seller were taken", grouped(sellers)),
                ),
                Damage::new(
                    "below_the_reserve",
                    low,
                    format!("{} bids below the reserve were taken", grouped(low)),
                ),
                Damage::new(
                    "placed_twice",
                    twice,
                    format!("{} bids were written down twice", grouped(twice)),
                ),
                Damage::new(
                    "promises_broken",
                    broken,
                    format!(
                        "{} bidders were told that they have bid, and have not",
                        grouped(broken)
                    ),
                ),
                Damage::new(
                    "not_over",
                    u64::from(!closed) + unjudged,
                    match closed {
                        true => format!("{} bids were never judged", grouped(unjudged)),
                        false => "the auction never ended".into(),
                    },
                ),
            ],
        })
    }
}

fn bid_name(bid: u32) -> String {
    format!("bid-{bid}")
}

/// The number of a bid, of its key: the auction and the name of the bid.
fn bid_of(key: &Value) -> Option<usize> {
    numbered(key.as_array()?.last()?.as_str()?, "bid")
}
