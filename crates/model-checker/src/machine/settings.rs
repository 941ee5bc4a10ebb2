//! What the world of a machine is like: its faults, its room, its clock.

use design::model::{Design, Fault, Protection, StateKind, visit};
use engine::Word;

use super::durations;
use super::lengths::Lengths;
use crate::Options;
use crate::clock::Clock;
use crate::world::plan::{Network, Settings};
use crate::world::sizes::setting;

fn has_caches(design: &Design) -> bool {
    let states = design.subjects.iter().flat_map(|subject| &subject.states);
    states.into_iter().any(|state| matches!(state.kind, StateKind::Cache { .. }))
}

/// Is anything called by an event of this design?
fn has_handlers(design: &Design) -> bool {
    let targets = visit::message_targets(design);
    design.operations.iter().zip(targets).any(|(held, sent)| sent && held.hears.is_some())
}

/// Is it a fault that nobody has turned on?
pub(crate) fn is_implied(design: &Design, fault: Fault) -> bool {
    let always = matches!(fault, Fault::Evict | Fault::DoubledEvent);
    always && !design.world.faults.iter().any(|held| held.fault == fault)
}

pub(super) fn settings(
    design: &Design,
    options: &Options,
    protections: &[Protection],
    (clock, lengths): (&Clock, &Lengths<'_>),
    network: Network,
) -> Settings {
    let faults = options.faults.as_ref().unwrap_or(&design.world.faults);
    let mut faults: Vec<(Fault, Option<u32>)> =
        faults.iter().map(|setting| (setting.fault, setting.budget)).collect();
    if has_caches(design) {
        // What serves a design keeps no copies, so any of them may be gone at any time.
        faults.retain(|(fault, _)| *fault != Fault::Evict);
        faults.push((Fault::Evict, None));
    }
    faults.retain(|(fault, _)| *fault != Fault::DoubledEvent);
    if has_handlers(design) {
        // At least once is what is promised.
        faults.push((Fault::DoubledEvent, None));
    }
    faults.sort_unstable();
    faults.dedup_by_key(|(fault, _)| *fault);
    let durations = durations::Durations::of(design, lengths, clock.whole);
    let units =
        |words: Word| words.div_euclid(clock.per_unit) + Word::from(words % clock.per_unit != 0);
    let steps = Word::from(faults.iter().any(|(fault, _)| *fault == Fault::ClockStep));
    let moves = if durations.moves_on { 2 } else { 1 };
    let exists_removed = protections.iter().any(|protection| {
        matches!(
            protection,
            Protection::Clause { clause: design::model::ClauseRef::Exists, .. }
                | Protection::Assignment { .. }
        )
    });
    Settings {
        calls: setting(design, "calls", 1).max(0) as u32,
        unknowns: setting(design, "unknowns", 1) > 0,
        messages: match network {
            Network::Room(room) => room,
            _ => setting(design, "messages", 2).max(0) as u32,
        },
        network,
        horizon: design.world.horizon.map_or(units(durations.compared), Word::from),
        short_horizon: durations.measures
            || design
                .world
                .horizon
                .is_some_and(|horizon| Word::from(horizon) < units(durations.compared)),
        duration_max: units(durations.given) * moves + steps,
        unit: clock.per_unit,
        fractions: 0,
        behind: 0,
        regions: clock.regions,
        faults,
        all_nullable: exists_removed,
        older: protections.iter().any(|held| matches!(held, Protection::AtLeast { .. })),
    }
}
