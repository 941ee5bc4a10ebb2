//! What was measured.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::caller::Tally;
use crate::output::STRONG;

pub struct Report {
    name: String,
    clients: usize,
    elapsed: Duration,
    /// sorted, in microseconds
    waits: Vec<u32>,
    steps: BTreeMap<String, (u64, BTreeMap<String, u64>)>,
    pub durability: String,
}

impl Report {
    pub fn new(name: &str, clients: usize, elapsed: Duration, tallies: Vec<Tally>) -> Report {
        let mut waits = Vec::new();
        let mut steps: BTreeMap<String, (u64, BTreeMap<String, u64>)> = BTreeMap::new();
        for tally in tallies {
            waits.extend(tally.waits);
            for (name, (done, refused)) in tally.steps {
                let step = steps.entry(name).or_default();
                step.0 += done;
                for (clause, times) in refused {
                    *step.1.entry(clause).or_default() += times;
                }
            }
        }
        waits.sort_unstable();
        Report { name: name.into(), clients, elapsed, waits, steps, durability: String::new() }
    }

    fn share_us(&self, percent: usize) -> u32 {
        let at = self.waits.len() * percent / 100;
        self.waits.get(at.min(self.waits.len().saturating_sub(1))).copied().unwrap_or(0)
    }

    fn per_second(&self, count: u64) -> u64 {
        (count as f64 / self.elapsed.as_secs_f64()).round() as u64
    }

    fn done(&self) -> u64 {
        self.steps.values().map(|(done, _)| done).sum()
    }

    pub fn json(&self) -> String {
        let steps: Map<String, Value> = self
            .steps
            .iter()
            .map(|(name, (done, refused))| {
                (name.clone(), json!({ "done": done, "refused": refused }))
            })
            .collect();
        let report = json!({
            "design": self.name,
            "clients": self.clients,
            "seconds": self.elapsed.as_secs_f64(),
            "answers": self.waits.len(),
            "answers_per_second": self.per_second(self.waits.len() as u64),
            "done": self.done(),
            "done_per_second": self.per_second(self.done()),
            "p50_us": self.share_us(50),
            "p99_us": self.share_us(99),
            "steps": steps,
            "durability": self.durability,
        });
        format!("{report}\n")
    }

    pub fn text(&self) -> String {
        let answers = self.waits.len() as u64;
        let mut text = format!(
            "{STRONG}{}{STRONG:#}, {} clients, {:.1} s\n",
            self.name,
            self.clients,
            self.elapsed.as_secs_f64()
        );
        let refused = answers - self.done();
        let _ = writeln!(
            text,
            "  {} answers/s: {} done/s, {} refused/s; p50 {} µs, p99 {} µs",
            self.per_second(answers),
            self.per_second(self.done()),
            self.per_second(refused),
            self.share_us(50),
            self.share_us(99)
        );
        for (name, (done, refused)) in &self.steps {
            let by: Vec<String> =
                refused.iter().map(|(clause, times)| format!("{clause} {times}")).collect();
            let by = if by.is_empty() {
                String::new()
            } else {
                format!(", refused by {}", by.join(", "))
            };
            let _ = writeln!(text, "  {name}: {done} done{by}");
        }
        let _ = writeln!(text, "  durability: {}", self.durability);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_clients_are_summed_up() {
        let tally = |waits: &[u32], done: u64, refused: u64| Tally {
            waits: waits.to_vec(),
            steps: BTreeMap::from([(
                "hold".into(),
                (done, BTreeMap::from([("free".to_string(), refused)])),
            )]),
        };
        let tallies = vec![tally(&[5, 1, 3], 2, 1), tally(&[2, 100], 1, 1)];
        let report = Report::new("Tickets", 2, Duration::from_secs(1), tallies);
        let said: Value = serde_json::from_str(&report.json()).unwrap();
        assert_eq!((&said["answers"], &said["done"]), (&json!(5), &json!(3)));
        assert_eq!((&said["p50_us"], &said["p99_us"]), (&json!(3), &json!(100)));
        assert_eq!(said["steps"]["hold"]["refused"]["free"], 2);
        assert!(report.text().contains("hold: 3 done, refused by free 2"), "{}", report.text());
    }
}
