//! What came of a demo, for people and for scripts.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::scenario::Judged;
use super::screen::{grouped, passed};
use super::without::Without;
use crate::exit::Exit;
use crate::output::{ERROR, GOOD, ODD, STRONG};

pub struct Report {
    pub name: &'static str,
    pub title: String,
    pub seed: u64,
    pub calls: u64,
    pub digest: String,
    pub elapsed: Duration,
    pub lost: u64,
    pub replayed: u64,
    pub refused: String,
    pub refusals: Vec<(String, u64)>,
    pub passed_ms: i64,
    pub durability: String,
    pub without: Option<Without>,
    /// nothing was due any more when it was counted
    pub settled: bool,
    pub judged: Judged,
}

impl Report {
    fn damaged(&self) -> bool {
        self.judged.damage.iter().any(|damage| damage.count > 0)
    }

    /// Yes: what is promised holds; or, without a guard, the damage is there to be seen.
    pub fn exit(&self) -> Exit {
        let expected = self.without.is_some();
        let as_expected = self.damaged() == expected && (expected || self.settled);
        if as_expected { Exit::Yes } else { Exit::No }
    }

    fn per_second(&self) -> u64 {
        (self.calls as f64 / self.elapsed.as_secs_f64().max(0.001)).round() as u64
    }

    pub fn text(&self) -> String {
        let mut out = format!("{STRONG}{}{STRONG:#}: {}", self.name, self.title);
        if let Some(without) = &self.without {
            out += &format!(", {ODD}without {}{ODD:#}", without.clause);
        }
        out += &format!(
            "\n  calls    {} of seed {}, digest {}; in {:.1} s, {} a second\n",
            grouped(self.calls),
            self.seed,
            self.digest,
            self.elapsed.as_secs_f64(),
            grouped(self.per_second())
        );
        out += &format!(
            "  lost     {} answers; {} were given again for the same idempotency key\n",
            grouped(self.lost),
            grouped(self.replayed)
        );
        out += &format!("  refused  {}\n", self.refused);
        out +=
            &format!("  clock    {} passed on a clock of the demo's own\n", passed(self.passed_ms));
        out += &format!("  store    {}\n", self.durability);
        if !self.settled {
            out += &match &self.without {
                None => format!(
                    "{ERROR}not settled{ERROR:#}: repairs or deliveries were still due when it was counted\n"
                ),
                Some(_) => {
                    "  repairs or deliveries were still due when it was counted: without the clause some may be due for ever\n".into()
                }
            };
        }
        for damage in self.judged.damage.iter().filter(|damage| damage.count > 0) {
            out += &format!("{ERROR}damage{ERROR:#}: {}\n", damage.told);
        }
        match &self.without {
            None if !self.damaged() => {
                out += &format!("{GOOD}kept{GOOD:#}: {}\n", self.judged.kept);
            }
            Some(without) if !self.damaged() => {
                out += &format!(
                    "{ODD}no damage{ODD:#}: without `{}` nothing that this demo counts went wrong\n",
                    without.clause
                );
            }
            _ => {}
        }
        if let Some(without) = self.without.as_ref().filter(|held| !held.prevents.is_empty()) {
            let titles: Vec<String> =
                without.prevents.iter().map(|title| format!("\"{title}\"")).collect();
            out += &format!("`{}` is what prevents {}\n", without.clause, titles.join(", "));
        }
        out
    }

    pub fn json(&self) -> String {
        let damage: Map<String, Value> = self
            .judged
            .damage
            .iter()
            .map(|damage| (damage.name.to_string(), damage.count.into()))
            .collect();
        let facts: Map<String, Value> = self
            .judged
            .facts
            .iter()
            .map(|(name, value)| (name.to_string(), value.clone()))
            .collect();
        let told = self.judged.damage.iter().filter(|damage| damage.count > 0);
        let told: Vec<&str> = told.map(|damage| damage.told.as_str()).collect();
        let refusals: Map<String, Value> =
            self.refusals.iter().map(|(name, count)| (name.clone(), (*count).into())).collect();
        let report = json!({
            "format": "steadfast-demo/1",
            "demo": self.name,
            "title": self.title,
            "without": self.without.as_ref().map(|without| &without.clause),
            "seed": self.seed,
            "calls": self.calls,
            "digest": self.digest,
            "seconds": self.elapsed.as_secs_f64(),
            "calls_per_second": self.per_second(),
            "answers_lost": self.lost,
            "given_again": self.replayed,
            "refused": refusals,
            "clock_ms": self.passed_ms,
            "durability": self.durability,
            "settled": self.settled,
            "found": facts,
            "damage": damage,
            "told": told,
            "kept": !self.damaged() && self.settled,
        });
        format!("{report:#}\n")
    }
}
