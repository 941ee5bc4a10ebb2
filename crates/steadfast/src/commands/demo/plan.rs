//! The calls of a demo: drawn from a seed before the first one is made, and all of them are made, whatever is answered.

use std::collections::HashMap;

use runtime::Request;
use store::Seeded;

/// One call that will be made.
#[derive(Clone, Copy, Debug)]
pub struct Planned<M> {
    /// by the clock of the demo, since it began
    pub at_ms: u64,
    /// who makes it; a client waits for an answer before it makes the next call
    pub client: u32,
    /// the client does not hear the answer, and will ask again under the same idempotency key
    pub lost: bool,
    pub what: M,
}

impl<M> Planned<M> {
    pub fn new(at_ms: u64, client: u32, what: M) -> Planned<M> {
        Planned { at_ms, client, lost: false, what }
    }
}

/// All calls, in the order in which they are begun.
pub struct Plan<M> {
    pub calls: Vec<Planned<M>>,
    /// the calls of a part are answered, and what is due is done, before the next part begins
    pub parts: Vec<Part>,
    /// where the call stands that the same client makes before this one
    pub before: Vec<Option<u32>>,
}

/// Calls that are made while the workers run, or while they do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// one after the last of its calls
    pub end: usize,
    /// no repair and no delivery is made until all calls of this part are answered
    pub workers_are_away: bool,
}

impl<M> Plan<M> {
    pub fn new(parts: Vec<Vec<Planned<M>>>) -> Plan<M> {
        let (mut calls, mut ends): (Vec<Planned<M>>, Vec<Part>) = Default::default();
        for mut part in parts {
            // stable: what one client does in the same millisecond stays in its order
            part.sort_by_key(|call| call.at_ms);
            calls.extend(part);
            ends.push(Part { end: calls.len(), workers_are_away: false });
        }
        let mut last: HashMap<u32, u32> = HashMap::new();
        let before = calls.iter().zip(0..).map(|(call, at)| last.insert(call.client, at)).collect();
        Plan { calls, parts: ends, before }
    }

    /// The workers are away during this part.
    #[must_use]
    pub fn workers_are_away_in(mut self, part: usize) -> Plan<M> {
        self.parts[part].workers_are_away = true;
        self
    }

    pub fn lost(&self) -> usize {
        self.calls.iter().filter(|call| call.lost).count()
    }

    /// The same for the same calls at the same times by the same clients. What clients will be told, and remember, is not
    /// known before.
    pub fn digest(&self, request: impl Fn(&Planned<M>) -> Request) -> String {
        let mut hasher = blake3::Hasher::new();
        for call in &self.calls {
            let Planned { at_ms, client, lost, .. } = call;
            let Request { actor, operation, params, memory, principal, idempotency_key, .. } =
                request(call);
            let params = serde_json::Value::Object(params);
            let memory = serde_json::Value::Object(memory);
            let text = format!(
                "{at_ms} {client} {lost} {actor} {operation} {principal} {params} {memory} {idempotency_key:?}\n"
            );
            hasher.update(text.as_bytes());
        }
        hasher.finalize().to_hex().chars().take(16).collect()
    }
}

/// What one client, or one thing of a demo, draws: its own numbers, whatever the others draw.
pub fn drawn(seed: u64, of: u64) -> Seeded {
    let mut mixed = Seeded::new(seed ^ Seeded::new(of).number());
    Seeded::new(mixed.number())
}

/// One of `low..high`.
pub fn between(random: &mut Seeded, low: u64, high: u64) -> u64 {
    low + random.below(high - low)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(call: &Planned<u32>) -> Request {
        Request::new("buyer", "hold", &format!("c{}", call.client)).with("seat", call.what)
    }

    #[test]
    fn calls_are_in_the_order_of_time_and_a_client_waits_for_its_last_one() {
        let calls = vec![
            Planned::new(30, 1, 0),
            Planned::new(10, 1, 1),
            Planned::new(20, 2, 2),
            Planned::new(20, 1, 3),
        ];
        let plan = Plan::new(vec![vec![Planned::new(0, 9, 7)], calls]);
        let order: Vec<u32> = plan.calls.iter().map(|call| call.what).collect();
        assert_eq!(order, [7, 1, 2, 3, 0]);
        assert_eq!(plan.before, [None, None, None, Some(1), Some(3)]);
    }

    #[test]
    fn another_call_has_another_digest() {
        let digest = |what, at| Plan::new(vec![vec![Planned::new(at, 1, what)]]).digest(request);
        assert_eq!(digest(1, 5), digest(1, 5));
        assert_ne!(digest(1, 5), digest(2, 5));
        assert_ne!(digest(1, 5), digest(1, 6));
    }
}
