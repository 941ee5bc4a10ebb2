//! A slice, for a reader.

use std::collections::BTreeSet;

use design::model::{Design, SubjectId};

use super::closure::Slice;
use super::part::Part;

impl Slice {
    /// Whose records, memory, calls and messages are explored, and which clauses are left open. None: all
    /// that anything reads.
    pub(crate) fn told(&self, design: &Design) -> Option<String> {
        let has =
            |subject: SubjectId| self.parts.iter().any(|part| part.subject() == Some(subject));
        let subjects: Vec<&str> = design
            .subjects
            .iter()
            .enumerate()
            .filter(|(index, _)| has(SubjectId::of(*index)))
            .map(|(_, subject)| &subject.name[..])
            .collect();
        let mut names: Vec<String> = subjects.iter().map(ToString::to_string).collect();
        let mut others = BTreeSet::new();
        for part in &self.parts {
            match part {
                Part::Memory(actor, _) => {
                    others.insert(format!("memory of {}", design.actors[actor.index()].name));
                }
                Part::Effect(id) => {
                    others.insert(design.operations[id.index()].name.clone());
                }
                Part::Messages(id) => {
                    let name = &design.operations[id.index()].name;
                    others.insert(format!("messages to {name}"));
                }
                _ => {}
            }
        }
        names.extend(others);
        let mut open = Vec::new();
        for (operation, kept) in design.operations.iter().zip(&self.operations) {
            if kept.operation {
                let clauses = operation.guard.iter().zip(&kept.clauses);
                let left = clauses.filter(|(_, kept)| !**kept);
                open.extend(left.map(|(clause, _)| format!("{}.{}", operation.name, clause.name)));
            }
        }
        let happens = self.operations.iter().all(|kept| kept.operation);
        if happens && open.is_empty() && subjects.len() == design.subjects.len() {
            return None;
        }
        let mut told = names.join(", ");
        if !open.is_empty() {
            told.push_str(&format!("; left open: {}", open.join(", ")));
        }
        Some(told)
    }
}
