//! What happens by itself in a test, and what the world outside answers: repairs, messages, effects.

use std::collections::BTreeMap;
use std::sync::Mutex;

use design::model::{Operation, OperationId, OperationKind, TestAnswer, TestArgs, duration_text};
use runtime::{Delivered, Delivery, Fired, Outside, Worked};
use serde_json::{Map, Value as Json};

use crate::expect::Happened;
use crate::stage::{Differs, START, Stage, differs, trouble};

/// So much may happen by itself in one line.
const MOST: usize = 20_000;
/// So often an effect is tried before nobody will ever say.
pub const ATTEMPTS: u32 = 8;

impl Stage<'_> {
    pub(crate) fn answer(
        &mut self,
        id: OperationId,
        args: &TestArgs,
        answer: &TestAnswer,
    ) -> Result<(), Differs> {
        let (delivered, name) = match answer {
            TestAnswer::Ok(value) => (Delivered::Ok(self.value(value)), Some("ok")),
            TestAnswer::Refused => (Delivered::Refused(Json::Null), Some("refused")),
            TestAnswer::Unknown => (nothing(), Some("unknown")),
            TestAnswer::Nothing => (nothing(), None),
        };
        loop {
            let says = Says { answer: delivered.clone(), asked: Mutex::default() };
            self.delivers(id, args, &says, false)?;
            let asked = says.asked.into_inner().ok().flatten();
            if let (TestAnswer::Ok(_), Some(asked)) = (answer, &asked) {
                self.happen(Happened::Did(asked.key.clone()))?;
            }
            // the design is told that nobody knows once every attempt was made
            let last = asked.is_none_or(|asked| asked.attempt + 1 >= ATTEMPTS);
            if *answer != TestAnswer::Unknown || last {
                break;
            }
        }
        self.answered.extend(name.map(|name| (id.index(), name)));
        Ok(())
    }

    pub(crate) fn deliver(
        &mut self,
        id: OperationId,
        args: &TestArgs,
        twice: bool,
    ) -> Result<(), Differs> {
        self.under_way(id, args)?;
        let says = Says { answer: nothing(), asked: Mutex::default() };
        if twice {
            self.delivers(id, args, &says, true)?;
        }
        self.delivers(id, args, &says, false)
    }

    /// Hands the first entry of the outbox over that is for this operation and has these arguments.
    fn delivers(
        &mut self,
        id: OperationId,
        args: &TestArgs,
        says: &Says,
        stays: bool,
    ) -> Result<(), Differs> {
        let operation = self.operation(id);
        let wanted = self.params(&operation.params, args);
        let chosen =
            |name: &str, held: &Map<String, Json>| name == operation.name && fits(&wanted, held);
        let worked = match stays {
            true => self.runtime.deliver_and_keep(says, &chosen),
            false => self.runtime.deliver_chosen(says, &chosen),
        };
        match worked {
            Ok(Worked::Tried) => self.follow(true),
            Ok(Worked::Idle(_)) => Err(self.not_there(operation, &wanted)),
            Ok(Worked::SetAside) => {
                Err(differs(format!("`{}` is handed over", operation.name), "it was set aside"))
            }
            Err(error) => {
                Err(differs(format!("`{}` is handed over", operation.name), error.to_string()))
            }
        }
    }

    /// A message that is on its way, and is not lost.
    pub(crate) fn under_way(&self, id: OperationId, args: &TestArgs) -> Result<String, Differs> {
        let operation = self.operation(id);
        let wanted = self.params(&operation.params, args);
        let open = self.runtime.undelivered().unwrap_or_default();
        let mut there = open
            .iter()
            .filter(|(name, held)| *name == operation.name && fits(&wanted, held))
            .map(|(name, held)| format!("{name} {}", Json::Object(held.clone())));
        let Some(message) = there.next() else { return Err(self.not_there(operation, &wanted)) };
        let copies = 1 + there.filter(|other| *other == message).count();
        if self.lost.iter().filter(|lost| **lost == message).count() >= copies {
            return Err(differs(format!("`{}` is on its way", operation.name), "it was lost"));
        }
        Ok(message)
    }

    fn not_there(&self, operation: &Operation, wanted: &Map<String, Json>) -> Differs {
        let told = |name: &str, args: &Map<String, Json>| {
            let args: Vec<String> = args.iter().map(|(name, it)| format!("{name}: {it}")).collect();
            format!("{name}({})", args.join(", "))
        };
        let open = self.runtime.undelivered().unwrap_or_default();
        let open: Vec<String> = open.iter().map(|(name, held)| told(name, held)).collect();
        let happened = match open.is_empty() {
            true => "nothing is on its way".to_string(),
            false => format!("on their way are: {}", open.join("; ")),
        };
        differs(format!("`{}` is on its way", told(&operation.name, wanted)), happened)
    }

    /// Time goes on to `until`, and all that is due on the way is done when it is due.
    pub(crate) fn settle(&mut self, until: i64) -> Result<(), Differs> {
        let mut count = 0;
        loop {
            self.due_now(&mut count)?;
            let next = self.runtime.due(1).map_err(|error| trouble(&error))?;
            let Some(next) = next.first().map(|due| due.at.max(self.now() + 1)) else { break };
            if next > until {
                break;
            }
            self.clock.reach(next);
        }
        self.clock.reach(until);
        self.due_now(&mut count)
    }

    /// Repairs that are due, and messages.
    fn due_now(&mut self, count: &mut usize) -> Result<(), Differs> {
        loop {
            *count += 1;
            if *count > MOST {
                let happened = format!("more than {MOST} things happen by themselves in one line");
                return Err(differs("everything that is due is done", happened));
            }
            let before = self.runtime.counters().all();
            let fired = self.runtime.fire_one().map_err(|error| trouble(&error))?;
            if fired == Fired::SetAside {
                return Err(differs("a repair that is due is done", "it was set aside"));
            }
            let idle = matches!(fired, Fired::Idle(_)) && !self.message_comes()?;
            self.note(&before);
            self.follow(true)?;
            if idle {
                return Ok(());
            }
        }
    }

    /// One message, of those that come by themselves.
    fn message_comes(&self) -> Result<bool, Differs> {
        let is_message = |name: &str, _: &Map<String, Json>| {
            let known = self.design.operations.iter().find(|known| known.name == name);
            let effect = known.is_some_and(|it| matches!(it.kind, OperationKind::Effect(_)));
            !effect && !self.by_hand.contains(name)
        };
        let says = Says { answer: nothing(), asked: Mutex::default() };
        match self.runtime.deliver_chosen(&says, &is_message) {
            Ok(Worked::Tried) => Ok(true),
            Ok(Worked::Idle(_)) => Ok(false),
            Ok(Worked::SetAside) => Err(differs("a message is delivered", "it was set aside")),
            Err(error) => Err(trouble(&error)),
        }
    }

    /// What has happened by itself, for people.
    fn note(&mut self, before: &[(String, u64, BTreeMap<String, u64>)]) {
        let after = self.runtime.counters().all();
        for ((name, was, _), (_, is, _)) in before.iter().zip(&after) {
            if is > was && self.meanwhile.len() < 100 {
                let passed = duration_text(self.now() - START);
                self.meanwhile.push(format!("{name} (after {passed})"));
            }
        }
    }
}

/// Are these arguments among those?
fn fits(wanted: &Map<String, Json>, held: &Map<String, Json>) -> bool {
    wanted.iter().all(|(name, value)| held.get(name) == Some(value))
}

pub(crate) fn nothing() -> Delivered {
    Delivered::Unknown { trouble: "no answer".into(), retry_after_ms: None }
}

/// Gives one answer, and keeps what it was asked.
pub(crate) struct Says {
    pub(crate) answer: Delivered,
    pub(crate) asked: Mutex<Option<Delivery>>,
}

impl Outside for Says {
    fn deliver(&self, delivery: &Delivery) -> Delivered {
        if let Ok(mut asked) = self.asked.lock() {
            *asked = Some(delivery.clone());
        }
        self.answer.clone()
    }
}
