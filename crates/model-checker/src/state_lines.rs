//! A state in words: what each record, memory, message and outbox entry holds, and what differs between two.

use design::model::{OperationId, SubjectId};
use engine::{NULL, Word};

use crate::machine::Machine;
use crate::world::plan::SlotName;
use crate::{ChangeLine, MemoryLine, StateLine};

impl Machine {
    /// Everything a reader would call the state, line by line.
    pub(crate) fn lines(&self, words: &[Word]) -> Vec<StateLine> {
        let mut lines = Vec::new();
        let mut at = 0;
        while at < self.plan.names.len() {
            let name = self.plan.names[at];
            let mut end = at + 1;
            while end < self.plan.names.len()
                && self.plan.slots.list[end].room.is_some_and(|(len, _)| len as usize == at)
            {
                end += 1;
            }
            self.sent_lines(name, words[at], &mut lines);
            if let Some(line) = self.line(name, at, &words[at..end], words) {
                lines.push(line);
            }
            at = end;
        }
        lines
    }

    fn line(&self, name: SlotName, at: usize, value: &[Word], words: &[Word]) -> Option<StateLine> {
        let line = |record: String, attribute: String, value: String| {
            Some(StateLine { record, attribute, value })
        };
        match name {
            SlotName::Present { subject, key } => {
                let there = if value[0] == 1 { "present" } else { "absent" };
                line(self.show_key(subject, Word::from(key)), String::new(), there.into())
            }
            SlotName::Attr { subject, key, attr } => {
                let present = self.plan.records[subject.index()].present(key as usize);
                if present.is_some_and(|slot| words[slot as usize] == 0) {
                    return None;
                }
                let ty = &self.design.subjects[subject.index()].attributes[attr.index()].ty;
                line(
                    self.show_key(subject, Word::from(key)),
                    self.attribute_name(subject, attr),
                    self.show(ty, value),
                )
            }
            SlotName::Log { subject, key, log, end } => {
                let held = &self.design.subjects[subject.index()];
                let which = if end { "end" } else { "start" };
                let name = format!("{} {which}", held.states[log.index()].name);
                line(self.show_key(subject, Word::from(key)), name, value[0].to_string())
            }
            SlotName::CachePresent { subject, key, principal, .. } => {
                let there = if value[0] == 1 { "present" } else { "absent" };
                line(self.show_copy(subject, key, principal), String::new(), there.into())
            }
            SlotName::CacheAttr { subject, state, key, principal, attr } => {
                let plan = self.plan.caches.iter();
                let held = plan.into_iter().find(|c| c.subject == subject && c.state == state)?;
                if words[held.slot(key as usize, principal) as usize] == 0 {
                    return None;
                }
                let ty = &self.design.subjects[subject.index()].attributes[attr.index()].ty;
                line(
                    self.show_copy(subject, key, principal),
                    self.attribute_name(subject, attr),
                    self.show(ty, value),
                )
            }
            SlotName::Entry { effect, key } => {
                let open = if value[0] == 1 { "open" } else { "closed" };
                line("outbox".into(), self.effect_key(effect, key), open.into())
            }
            SlotName::World { effect, key } => {
                let state = ["not seen", "asked", "refused", "done", "done twice"];
                let state = state.get(value[0] as usize).copied().unwrap_or("?");
                line("world outside".into(), self.effect_key(effect, key), state.into())
            }
            SlotName::Call { call } => {
                let shown = match value[0] {
                    0 => "none".into(),
                    number => {
                        let instance = &self.instances[number as usize - 1];
                        let params = self.show_params(instance.operation, &instance.params);
                        let params: Vec<String> =
                            params.into_iter().map(|(name, v)| format!("{name}: {v}")).collect();
                        format!(
                            "{}[{}({})]",
                            self.show_principal(instance.me),
                            self.design.operations[instance.operation.index()].name,
                            params.join(", ")
                        )
                    }
                };
                line("call in flight".into(), format!("{}", call + 1), shown)
            }
            SlotName::Message { operation, at: number } => {
                let name = &self.design.operations[operation.index()].name;
                let width = self.program.params(operation).width as usize;
                let shown = match value[0] {
                    0 => "none".into(),
                    _ => self.show_message(operation, &words[at + 1..at + 1 + width]),
                };
                line("message".into(), format!("{name} {}", number + 1), shown)
            }
            SlotName::Cut => {
                let apart: Vec<String> = (0..self.places.len())
                    .filter(|place| value[0] >> place & 1 == 1)
                    .map(|place| format!("place {}", place + 1))
                    .collect();
                let shown = if apart.is_empty() { "none".into() } else { apart.join(", ") };
                line("partition".into(), "cut off".into(), shown)
            }
            _ => None,
        }
    }

    fn show_copy(&self, subject: SubjectId, key: u32, principal: u32) -> String {
        let (key, principal) = (Word::from(key), Word::from(principal));
        format!("{} at {}", self.show_key(subject, key), self.show_principal(principal))
    }

    pub(crate) fn effect_key(&self, effect: OperationId, key: u32) -> String {
        let held = &self.design.operations[effect.index()];
        let Some(plan) = &self.plan.effects[effect.index()] else { return held.name.clone() };
        let design::model::OperationKind::Effect(described) = &held.kind else {
            return held.name.clone();
        };
        let types: Vec<&design::model::Type> = if described.key.is_empty() {
            held.params.iter().map(|param| &param.ty).collect()
        } else {
            described.key.iter().map(|expr| &expr.ty).collect()
        };
        let parts: Vec<String> = plan.keys[key as usize]
            .iter()
            .zip(types)
            .map(|(word, ty)| self.show(ty, &[*word]))
            .collect();
        format!("{}({})", held.name, parts.join(", "))
    }

    /// What is different afterwards.
    pub(crate) fn changes(&self, before: &[Word], after: &[Word]) -> Vec<ChangeLine> {
        let old = self.lines(before);
        let new = self.lines(after);
        let mut changes = Vec::new();
        let same =
            |a: &StateLine, b: &StateLine| a.record == b.record && a.attribute == b.attribute;
        for line in &new {
            let was = old.iter().find(|held| same(held, line));
            if was.is_none_or(|was| was.value != line.value) {
                changes.push(ChangeLine {
                    record: line.record.clone(),
                    attribute: line.attribute.clone(),
                    before: was.map_or_else(|| "absent".into(), |was| was.value.clone()),
                    after: line.value.clone(),
                });
            }
        }
        changes
    }

    /// What each actor remembers.
    pub(crate) fn beliefs(&self, words: &[Word]) -> Vec<MemoryLine> {
        let mut lines = Vec::new();
        for (at, name) in self.plan.names.iter().enumerate() {
            let SlotName::Memory { actor, principal, field, record, stale } = name else {
                continue;
            };
            if words[at] == NULL {
                continue;
            }
            let held = &self.design.actors[actor.index()].memory[field.index()];
            let suffix = if *stale { " (older)" } else { "" };
            lines.push(MemoryLine {
                principal: self.show_principal(Word::from(*principal)),
                field: format!("{}{suffix}", held.name),
                record: held
                    .of
                    .zip(*record)
                    .map(|(subject, key)| self.show_key(subject, Word::from(key))),
                value: self.show(&held.ty, &[words[at]]),
            });
        }
        lines
    }
}
