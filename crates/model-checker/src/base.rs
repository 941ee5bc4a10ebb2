//! What was found of the design as written, over all of its parts.

use crate::already::Already;
use crate::arm::NEVER;
use crate::design_parts::{goals, operations};
use crate::group::Group;
use crate::report::WitnessKind;
use crate::{ArmResult, GoalVerdict};
use design::model::{Design, Protection};
use std::collections::BTreeSet;

/// The design as written.
pub(crate) struct Base {
    pub(crate) groups: Vec<Group>,
}

impl Base {
    /// Operations of which everything was seen here need not be looked for in another world.
    pub(crate) fn tell(&self, design: &Design, already: &mut Already) {
        for (id, _) in operations(design) {
            let seen = |group: &Group| {
                let Some(watch) = &group.run.watch else { return false };
                let mut list = watch.list.iter().zip(&group.run.found.witnessed);
                let own = |of: u32| of as usize == id.index();
                group.has_all(&[id])
                    && list.all(|((_, what, of), depth)| {
                        !own(*of) || *depth != NEVER || watch.defended.contains(what)
                    })
            };
            if self.groups.iter().any(seen) {
                already.saw(id);
            }
        }
    }

    /// Does this clause stand where some goal sees what comes of it?
    pub(crate) fn touches_goals(&self, protection: &Protection) -> bool {
        let Protection::Clause { operation, .. } = *protection else { return true };
        let sees = |group: &Group| !group.goals.is_empty() && group.has_all(&[operation]);
        self.groups.iter().any(sees)
    }

    /// In the order written.
    pub(crate) fn goals(&self, design: &Design) -> Vec<GoalVerdict> {
        let all = goals(design, true);
        let told = || self.groups.iter().flat_map(|group| &group.goals);
        all.iter().filter_map(|goal| told().find(|held| held.goal == *goal).cloned()).collect()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.groups.iter().map(|group| group.run.explored.bytes()).sum()
    }

    pub(crate) fn states(&self) -> usize {
        self.groups.iter().map(|group| group.run.explored.len()).sum()
    }

    pub(crate) fn closed(&self) -> bool {
        self.groups.iter().all(|group| group.run.explored.stop.is_none())
    }

    pub(crate) fn bounds(&self) -> Vec<String> {
        let bounds: BTreeSet<String> =
            self.groups.iter().flat_map(|group| group.run.bounds()).collect();
        bounds.into_iter().collect()
    }

    pub(crate) fn result(&self) -> ArmResult {
        let mut all = self.groups[0].run.result();
        for group in &self.groups[1..] {
            let one = group.run.result();
            all.states += one.states;
            all.transitions += one.transitions;
            all.depth = all.depth.max(one.depth);
            all.seconds += one.seconds;
            all.bytes = all.bytes.max(one.bytes);
            all.state_bits = all.state_bits.max(one.state_bits);
            all.closed &= one.closed;
        }
        all
    }

    /// Everything that should be seen, with the least depth at which it was, and whether the design says
    /// why it need not be.
    pub(crate) fn watched(&self) -> Vec<(WitnessKind, String, Option<u32>, bool)> {
        let mut all: Vec<(u32, WitnessKind, String, Option<u32>, bool)> = Vec::new();
        for run in self.groups.iter().map(|group| &group.run) {
            let Some(watch) = &run.watch else { continue };
            let seen = run.found.witnessed.iter().map(|depth| (*depth != NEVER).then_some(*depth));
            for ((kind, what, of), depth) in watch.list.iter().zip(seen) {
                match all.iter_mut().find(|held| held.2 == *what) {
                    // A fault can strike in several parts.
                    Some(held) => held.3 = held.3.into_iter().chain(depth).min(),
                    None => {
                        let defended = watch.defended.contains(what);
                        all.push((*of, *kind, what.clone(), depth, defended));
                    }
                }
            }
        }
        all.sort_by_key(|held| held.0);
        all.into_iter()
            .map(|(_, kind, what, depth, defended)| (kind, what, depth, defended))
            .collect()
    }

    /// Was this seen? None: it was not looked for.
    pub(crate) fn seen(&self, what: &str) -> Option<bool> {
        let watched = self.groups.iter().filter_map(|group| {
            let at = group.run.watch.as_ref()?.list.iter().position(|held| held.1 == what)?;
            Some(group.run.found.witnessed[at] != NEVER)
        });
        watched.reduce(|one, other| one || other)
    }
}
