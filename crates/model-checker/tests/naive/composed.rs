//! Random designs that use random archetypes: with more states, clauses and effects, with hidden steps and goals
//! left out, with actors and subjects bound; and the same designs as they would be written by hand.

use std::collections::BTreeMap;

use super::ast::*;
use super::explore::{Word, explore};
use super::world::World;

pub(super) const STATES_MAX: usize = 400;

/// A design that uses one or two archetypes.
#[derive(Clone, Debug)]
pub struct Composed {
    /// as if written by hand
    pub flat: Design,
    /// the same without what the blocks of `use` change
    pub before: Design,
    /// with `use`
    pub text: String,
    pub(super) archetypes: Vec<(String, String)>,
    /// what things are called there, and what they are called in `flat`
    pub(super) names: BTreeMap<String, String>,
    /// what was changed
    pub changes: Vec<&'static str>,
}

struct Shelf<'a>(&'a [(String, String)]);

impl design::Catalog for Shelf<'_> {
    fn archetype(&self, id: &str) -> Option<&str> {
        self.0.iter().find(|(its, _)| its == id).map(|(_, text)| text.as_str())
    }

    fn ids(&self) -> Vec<String> {
        self.0.iter().map(|(id, _)| id.clone()).collect()
    }
}

impl Composed {
    /// Compiled, with the names of the design that is written by hand.
    pub fn compiled(&self) -> Result<design::model::Design, String> {
        let told = |compiled: &design::Compiled| -> String {
            let errors = compiled.diagnostics.iter().filter(|held| held.is_error());
            let errors: Vec<String> =
                errors.map(|held| format!("{:?} {}", held.code, held.message)).collect();
            errors.join("; ")
        };
        let compiled = design::compile("random", &self.text, &Shelf(&self.archetypes));
        let errors = told(&compiled);
        let (Some(mut lowered), "") = (compiled.design, errors.as_str()) else {
            return Err(format!("{errors}\n{}\n{:#?}", self.text, self.archetypes));
        };
        let flat = compiled.flat.unwrap_or_default();
        let again = design::compile("flat", &flat, &design::NoCatalog);
        if again.has_errors() {
            return Err(format!("what it comes to: {}\n{flat}", told(&again)));
        }
        let plain = |name: &mut String| {
            if let Some(held) = self.names.get(name.as_str()) {
                name.clone_from(held);
            }
        };
        lowered.operations.iter_mut().for_each(|held| plain(&mut held.name));
        lowered.failures.iter_mut().for_each(|held| plain(&mut held.title));
        lowered.goals_mut().for_each(|held| plain(&mut held.name));
        Ok(lowered)
    }

    /// Goals that held and no longer do: what kind they are of.
    pub fn taken_away(&self) -> Vec<&'static str> {
        let found = |design: &Design| {
            let fine = design.check.time.unwrap_or(2);
            explore(&World::new(design, fine, None), STATES_MAX * 2)
        };
        let (Some(before), Some(after)) = (found(&self.before), found(&self.flat)) else {
            return Vec::new();
        };
        let mut lost = Vec::new();
        for (goal, word) in self.flat.goals.iter().zip(&after.words) {
            let held = self.before.goals.iter().position(|old| old.name == goal.name);
            let Some(held) = held else { continue };
            let held = matches!(before.words[held], Word::Proved | Word::HoldsWithin);
            if held && matches!(word, Word::Violated(_)) {
                lost.push(if goal.of_histories() { "recovery" } else { "invariant" });
            }
        }
        lost
    }
}
