//! Payments through a provider that loses a third of its answers, asked for by merchants that do not wait.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use runtime::{Outside, Request};
use serde_json::json;
use store::Seeded;

use super::plan::{Plan, Planned, between, drawn};
use super::provider::Provider;
use super::scenario::{Damage, Judged, Scenario, Told, name_of, numbered};
use super::screen::{Painted, grouped};
use super::stage::Stage;
use crate::problem::Problem;

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
/// Payments come in so many waves. In each, everything is asked for within seconds; then the provider has answered or not,
/// and some do not wait for it to be asked again.
const WAVES: u64 = 20;
const WAVE: u64 = 3 * MINUTE;
const ASKED_WITHIN: u64 = 20 * SECOND;
/// In the end those that were declined are tried once more.
const LAST_ROUND: u64 = (WAVES + 10) * WAVE;
const INTENTS_EACH: u64 = 5;
const LOST_ANSWERS: u64 = 33;
const DECLINED: u64 = 10;
/// Of so many in a hundred nobody hears for a while, so that their outcome is unknown.
const SILENT: u64 = 6;

#[derive(Clone, Copy, Debug)]
pub enum Move {
    Create { intent: u32, cents: u32 },
    Pay { intent: u32, charge: u32 },
    Cancel { intent: u32 },
    Void { intent: u32 },
}

/// What a charge was drawn for.
#[derive(Clone, Copy)]
struct Wanted {
    intent: u32,
    /// it was asked for by somebody else than the owner of the intent
    by_a_stranger: bool,
}

pub struct Payments {
    intents: u64,
    plan: Plan<Move>,
    charges: Vec<Wanted>,
    provider: Arc<Provider>,
    operator: u32,
}

#[derive(Default)]
struct Draw {
    /// those of the part that is drawn
    calls: Vec<Planned<Move>>,
    charges: Vec<Wanted>,
}

impl Draw {
    /// Asks for a charge of its own; now and then the answer is lost, and it is asked again under the same key.
    fn pay(&mut self, random: &mut Seeded, at: u64, merchant: u32, wanted: Wanted) {
        self.charges.push(wanted);
        let charge = (self.charges.len() - 1) as u32;
        let pay = Planned::new(at, merchant, Move::Pay { intent: wanted.intent, charge });
        if random.percent(20) {
            self.calls.push(Planned { lost: true, ..pay });
            let at_ms = at + between(random, 100, 5 * SECOND);
            self.calls.push(Planned { at_ms, ..pay });
        } else {
            self.calls.push(pay);
        }
    }

    /// Everything that is asked for before the provider has answered.
    fn asked(&mut self, random: &mut Seeded, at: u64, own: Wanted, merchants: u64) {
        let intent = own.intent;
        let merchant = owner(intent, merchants);
        if random.percent(10) {
            let other = (u64::from(merchant) + between(random, 1, merchants)) % merchants;
            self.pay(random, at + 500, other as u32, Wanted { by_a_stranger: true, ..own });
        }
        // called off before it was begun
        if random.percent(3) {
            self.calls.push(Planned::new(at + 600, merchant, Move::Cancel { intent }));
        }
        self.pay(random, at + SECOND, merchant, own);
        // clicks twice
        if random.percent(25) {
            let soon = at + SECOND + between(random, 20, 500);
            self.pay(random, soon, merchant, own);
        }
        // called off too late
        if random.percent(10) {
            let when = at + SECOND + random.below(3 * SECOND);
            self.calls.push(Planned::new(when, merchant, Move::Cancel { intent }));
        }
    }

    /// What is done by those who do not wait.
    fn impatient(&mut self, random: &mut Seeded, at: u64, own: Wanted, merchants: u64) {
        // an operator promises that it costs nothing, whatever the provider says later
        if random.percent(15) {
            let operator = merchants as u32;
            self.calls.push(Planned::new(at, operator, Move::Void { intent: own.intent }));
        }
        // begins anew
        if random.percent(15) {
            let when = at + random.below(MINUTE);
            self.pay(random, when, owner(own.intent, merchants), own);
        }
    }
}

/// Whose payment it is.
fn owner(intent: u32, merchants: u64) -> u32 {
    (u64::from(intent) % merchants) as u32
}

impl Payments {
    pub fn new(intents: u64, seed: u64) -> Payments {
        let merchants = (intents / INTENTS_EACH).max(2);
        let operator = merchants as u32;
        let mut draw = Draw::default();
        let mut parts = Vec::new();
        let all = (0..intents as u32).map(|intent| Wanted { intent, by_a_stranger: false });
        let all: Vec<Wanted> = all.collect();
        for own in &all {
            let cents = between(&mut drawn(seed.wrapping_add(2), own.intent.into()), 100, 100_000);
            let create = Move::Create { intent: own.intent, cents: cents as u32 };
            draw.calls.push(Planned::new(0, owner(own.intent, merchants), create));
        }
        parts.push(std::mem::take(&mut draw.calls));
        for (wave, own) in all.chunks(intents.div_ceil(WAVES) as usize).enumerate() {
            let begins = SECOND + wave as u64 * WAVE;
            for own in own {
                let random = &mut drawn(seed, own.intent.into());
                let at = begins + random.below(ASKED_WITHIN);
                draw.asked(random, at, *own, merchants);
            }
            parts.push(std::mem::take(&mut draw.calls));
            for own in own {
                let random = &mut drawn(!seed, own.intent.into());
                let at = begins + ASKED_WITHIN + between(random, 20 * SECOND, 30 * SECOND);
                draw.impatient(random, at, *own, merchants);
            }
            parts.push(std::mem::take(&mut draw.calls));
        }
        for own in all {
            let random = &mut drawn(seed.wrapping_add(1), own.intent.into());
            let at = LAST_ROUND + random.below(10 * MINUTE);
            draw.pay(random, at, owner(own.intent, merchants), own);
        }
        parts.push(draw.calls);
        Payments {
            intents,
            plan: Plan::new(parts),
            charges: draw.charges,
            provider: Arc::new(
                Provider::new(seed, LOST_ANSWERS, DECLINED, "charge").silent(SILENT),
            ),
            operator,
        }
    }
}

impl Scenario for Payments {
    type Move = Move;

    const DAMAGING: &'static [&'static str] =
        &["pay.open", "pay.yours", "cancel_intent.idle", "void_intent.unsure", "reverse.voided"];

    fn title(&self) -> String {
        format!(
            "{} payments through a provider that loses a third of its answers",
            grouped(self.intents)
        )
    }

    fn plan(&self) -> &Plan<Move> {
        &self.plan
    }

    fn request(&self, call: &Planned<Move>) -> Request {
        let by = |operation: &str, intent: u32| {
            let (actor, who) = match call.client == self.operator {
                true => ("operator", "operator".into()),
                false => ("merchant", format!("merchant-{}", call.client)),
            };
            Request::new(actor, operation, &who).with("intent", intent_name(intent))
        };
        match call.what {
            Move::Create { intent, cents } => {
                by("create_intent", intent).with("amount", amount(cents)).with("currency", "EUR")
            }
            Move::Pay { intent, charge } => {
                by("pay", intent).with("charge", charge_name(charge)).keyed(&charge_name(charge))
            }
            Move::Cancel { intent } => by("cancel_intent", intent),
            Move::Void { intent } => by("void_intent", intent),
        }
    }

    fn answered(&self, _: &Planned<Move>, _: &Told) {}

    fn outside(&self) -> Arc<dyn Outside> {
        Arc::clone(&self.provider) as Arc<dyn Outside>
    }

    fn settling_ms(&self) -> i64 {
        30 * MINUTE as i64
    }

    fn picture(&self, stage: &Stage) -> Vec<Painted> {
        const BAR: u64 = 60;
        let counters = stage.runtime.counters();
        let bar = |name: &str, count: u64| {
            let filled = (count.min(self.intents) * BAR / self.intents.max(1)) as usize;
            let bar = "█".repeat(filled) + &"░".repeat(BAR as usize - filled);
            Painted::plain(format!("{name:<9}{bar} {}", grouped(count)))
        };
        let book = self.provider.book();
        let done = |effect: &str| {
            let lines = book.lines.values();
            lines.filter(|line| line.effect == effect && line.done).count() as u64
        };
        vec![
            bar("wanted", counters.done_of("create_intent")),
            bar("charged", done("authorize")),
            bar("returned", done("refund")),
            Painted::plain(format!(
                "provider asked {} times, {} answers lost; asked again by `reconcile` {} times",
                grouped(book.asked),
                grouped(book.lost),
                grouped(counters.done_of("reconcile"))
            )),
        ]
    }

    fn judge(&self, stage: &Stage) -> Result<Judged, Problem> {
        // the provider's book
        let book = self.provider.book();
        let mut charged: HashMap<u32, u64> = HashMap::new();
        let mut returned: HashMap<u32, u64> = HashMap::new();
        let mut by_strangers = 0;
        for line in book.lines.values().filter(|line| line.done) {
            let Some(charge) = numbered(&line.name, "charge") else { continue };
            let wanted = self.charges[charge];
            match line.effect.as_str() {
                "authorize" => {
                    *charged.entry(wanted.intent).or_default() += 1;
                    by_strangers += u64::from(wanted.by_a_stranger);
                }
                _ => *returned.entry(wanted.intent).or_default() += 1,
            }
        }
        // what the provider will not give back, by its book and by ours: somebody settles it by hand
        let refused = book.lines.values().filter(|line| line.effect == "refund" && line.refused);
        let refused: HashSet<usize> =
            refused.filter_map(|line| numbered(&line.name, "charge")).collect();
        let (mut unsettled, mut disputed) = (0, HashSet::new());
        let mut dispute_differs = 0;
        stage.each_record("Charge", |key, truth| {
            let status = &truth["TransactionState"]["status"];
            unsettled += u64::from(status != "AUTHORIZED" && status != "DECLINED");
            let Some(charge) = numbered(&name_of(&json!(key)), "charge") else { return };
            let ours = truth["PaymentMovementState"]["disputed"] == true;
            dispute_differs += u64::from(ours != refused.contains(&charge));
            if ours {
                disputed.insert(self.charges[charge].intent);
            }
        })?;
        // what was promised before: by a receipt, or by calling it off
        let mut paid_before: HashSet<usize> = HashSet::new();
        let mut called_off_before: HashSet<usize> = HashSet::new();
        let (mut void_after, mut charged_after) = (0, 0);
        stage.each_transition(|transition| {
            let changed = transition.changes.iter().find(|change| change.subject == "Intent");
            let Some(intent) = changed.and_then(|it| numbered(&name_of(&json!(it.key)), "intent"))
            else {
                return;
            };
            let succeeds = transition.events.iter().any(|(event, _)| event == "PaymentSucceeded");
            match transition.operation.as_str() {
                "cancel_intent" => {
                    called_off_before.insert(intent);
                }
                "void_intent" => void_after += u64::from(paid_before.contains(&intent)),
                _ if succeeds => {
                    charged_after += u64::from(called_off_before.contains(&intent));
                    paid_before.insert(intent);
                }
                _ => {}
            }
        })?;
        // our books
        let (mut succeeded, mut failed, mut voided, mut cancelled) = (0, 0, 0, 0);
        let mut disagree = dispute_differs;
        stage.each_record("Intent", |key, truth| {
            let Some(intent) = numbered(&name_of(&json!(key)), "intent") else { return };
            let paid = charged.get(&(intent as u32)).copied().unwrap_or(0);
            let back = returned.get(&(intent as u32)).copied().unwrap_or(0);
            let kept = paid.saturating_sub(back);
            let agrees = match truth["PaymentIntentState"]["status"].as_str().unwrap_or_default() {
                "SUCCEEDED" => {
                    succeeded += 1;
                    paid >= 1 && back == 0
                }
                "FAILED" => {
                    failed += 1;
                    kept == 0
                }
                "VOIDED" => {
                    voided += 1;
                    kept == 0 || kept == 1 && disputed.contains(&(intent as u32))
                }
                "CANCELLED" => {
                    cancelled += 1;
                    kept == 0
                }
                _ => false,
            };
            disagree += u64::from(!agrees);
        })?;
        let twice = charged.values().filter(|times| **times > 1).count() as u64;
        let more: u64 = charged.values().map(|times| times.saturating_sub(1)).sum();
        Ok(Judged {
            kept: format!(
                "no payment was charged twice, and all are settled: {} paid, {} declined, {} void ({} of \
                 them in dispute: the provider does not give them back) and {} called off, by our books and by the \
                 provider's",
                grouped(succeeded),
                grouped(failed),
                grouped(voided),
                grouped(disputed.len() as u64),
                grouped(cancelled)
            ),
            facts: vec![
                ("intents", json!(self.intents)),
                ("paid", json!(succeeded)),
                ("declined", json!(failed)),
                ("void", json!(voided)),
                ("in_dispute", json!(disputed.len())),
                ("called_off", json!(cancelled)),
                ("charged_at_the_provider", json!(charged.values().sum::<u64>())),
                ("returned_by_the_provider", json!(returned.values().sum::<u64>())),
                ("provider_asked", json!(book.asked)),
                ("provider_answers_lost", json!(book.lost)),
            ],
            damage: vec![
                Damage::new(
                    "charged_twice",
                    twice,
                    format!(
                        "{} of {} payments were charged more than once, {} times too often",
                        grouped(twice),
                        grouped(self.intents),
                        grouped(more)
                    ),
                ),
                Damage::new(
                    "charged_for_strangers",
                    by_strangers,
                    format!(
                        "{} charges were made for merchants whose payment it was not",
                        grouped(by_strangers)
                    ),
                ),
                Damage::new(
                    "charged_after_called_off",
                    charged_after,
                    format!(
                        "{} payments were charged although they had been called off",
                        grouped(charged_after)
                    ),
                ),
                Damage::new(
                    "void_after_paid",
                    void_after,
                    format!("{} payments were void after they had been paid", grouped(void_after)),
                ),
                Damage::new(
                    "books_disagree",
                    disagree,
                    format!(
                        "of {} payments our books and the provider's do not say the same",
                        grouped(disagree)
                    ),
                ),
                Damage::new(
                    "unsettled",
                    unsettled,
                    format!("{} charges are not settled", grouped(unsettled)),
                ),
            ],
        })
    }
}

fn intent_name(intent: u32) -> String {
    format!("intent-{intent}")
}

fn charge_name(charge: u32) -> String {
    format!("charge-{charge}")
}

fn amount(cents: u32) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}
