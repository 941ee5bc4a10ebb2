//! From a design to its report.

use std::cell::RefCell;
use std::time::Instant;

use design::model::Design;

use crate::already::Already;
use crate::base::Base;
use crate::clock::Scaled;
use crate::failures::Judge;
use crate::free::named_anywhere;
use crate::group::{Group, Groups};
use crate::machine::Machine;
use crate::options::beside;
use crate::protocols;
use crate::report::WitnessKind;
use crate::several;
use crate::summary::{fairness, fairness_of_leads, summary};
use crate::world::plan::Network;
use crate::{
    GoalVerdict, Options, Progress, Report, Verdict, Witness, WorldError, WorldSummary, free,
};

/// Of the memory budget, for what is not counted: the program itself, and what each thread works with.
const ALLOWANCE: usize = 12 << 20;

/// Explores the small worlds of a design, as written and without each of its protections.
pub fn check(
    design: &Design,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Report, WorldError> {
    if design.worlds.is_empty() {
        let mut already = Already::nothing(design, named_anywhere(design));
        check_world(design, options, &mut already, progress)
    } else {
        several::check_worlds(design, options, progress)
    }
}

/// Explores the default world alone. `already`: what was seen before, and then what is seen here, too.
pub(crate) fn check_world(
    design: &Design,
    options: &Options,
    already: &mut Already,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Report, WorldError> {
    let started = Instant::now();
    let searches = RefCell::new(Vec::new());
    let mut design = design.clone();
    if let Some(faults) = &options.faults {
        design.world.faults.clone_from(faults);
    }
    let design = &design;
    let whole = Scaled::of(design, options.regions);
    // Taken off once: all searches together have what is left.
    let max_memory = options.max_memory - ALLOWANCE.min(options.max_memory / 2);
    let options = &Options { faults: None, max_memory, ..options.clone() };
    let groups = Groups { whole: &whole, options, searches: &searches, already };
    let base = groups.explore(progress)?;
    base.tell(&whole.design, already);
    let goals = base.goals(&whole.design);
    let rest = beside(options, base.bytes());
    let judge =
        Judge { whole: &whole, options: &rest, base: &base, goals: &goals, searches: &searches };
    let mut failures = Vec::new();
    if options.failures {
        for failure in &whole.design.failures {
            judge.failure(failure, progress, &mut failures)?;
        }
    }
    let (witnesses, unwitnessed) =
        if options.witnesses { witnesses(&base, &whole.design) } else { (vec![], vec![]) };
    let paths = witnesses.iter().filter(|seen| seen.kind == WitnessKind::Path);
    paths.for_each(|seen| already.saw_route(seen.what.clone()));
    let wanted = options.free && options.failures && base.closed();
    let small = base.states() <= free::STATES_MAX;
    let free =
        if wanted && small { free::clauses(&judge, &already.named, progress)? } else { Vec::new() };
    let mut world = world(&whole, &base, options);
    for note in base.groups.iter().flat_map(|group| &group.run.notes) {
        if !world.notes.contains(note) {
            world.notes.push(note.clone());
        }
    }
    if wanted && !small {
        let most = free::STATES_MAX;
        world.notes.push(format!("free clauses are not looked for beyond {most} states"));
    }
    let result = base.result();
    Ok(Report {
        design: design.name.clone(),
        world,
        base: result,
        goals,
        failures,
        witnesses,
        unwitnessed,
        free,
        searches: searches.into_inner(),
        worlds: Vec::new(),
        uses: design.uses.clone(),
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// The world of the whole design, with what its parts had no room for.
fn world(whole: &Scaled, base: &Base, options: &Options) -> WorldSummary {
    let first = &base.groups[0];
    if let [Group { run, .. }] = &base.groups[..]
        && run.machine.left.none
    {
        let mut world = summary(&run.machine, run.bounds_of_world(), &run.barred, &[&run.machine]);
        world.symmetry.extend_from_slice(&first.notes);
        return world;
    }
    let mut cut: Vec<String> = Vec::new();
    for group in &base.groups {
        for bound in group.run.bounds_of_world() {
            if !cut.contains(&bound) {
                cut.push(bound);
            }
        }
    }
    // Sorts have the same numbers in every slice. Where ranks did not do in one of them, that is said.
    let mut barred: Vec<usize> =
        base.groups.iter().flat_map(|group| group.run.barred.iter().copied()).collect();
    barred.sort_unstable();
    barred.dedup();
    // Told of the whole design, which was never explored as one.
    let network = match base.groups.iter().any(|group| group.run.machine.is_set()) {
        true => Network::Set,
        false => Network::OneByOne,
    };
    let machine = Machine::new(whole, &[], options, true, &barred, network);
    let clocks: Vec<&Machine> = base.groups.iter().map(|group| &group.run.machine).collect();
    let mut world = match &machine {
        Ok(machine) => summary(machine, cut, &barred, &clocks),
        Err(_) => summary(&first.run.machine, cut, &first.run.barred, &clocks),
    };
    world.symmetry.clear();
    world.fairness.clear();
    world.fairness_of_leads.clear();
    for group in &base.groups {
        let told = group.run.machine.symmetry_notes.iter().chain(&group.notes);
        for line in told {
            if !world.symmetry.contains(line) {
                world.symmetry.push(line.clone());
            }
        }
        for line in fairness(&group.run.machine) {
            if !world.fairness.contains(&line) {
                world.fairness.push(line);
            }
        }
        for line in fairness_of_leads(&group.run.machine) {
            if !world.fairness_of_leads.contains(&line) {
                world.fairness_of_leads.push(line);
            }
        }
    }
    world
}

fn witnesses(base: &Base, design: &Design) -> (Vec<Witness>, Vec<String>) {
    let mut seen: Vec<Witness> = Vec::new();
    let mut unseen: Vec<String> = Vec::new();
    for (kind, what, depth, defended) in base.watched() {
        match depth {
            Some(depth) => seen.push(Witness { kind, what, depth }),
            None if !defended => unseen.push(what),
            None => {}
        }
    }
    for route in protocols::routes(design) {
        let depth =
            base.groups.iter().filter(|group| group.has_all(&route.operations())).find_map(
                |group| protocols::shortest(&group.run.machine, &group.run.explored, &route),
            );
        match depth {
            Some(depth) => {
                seen.push(Witness { kind: WitnessKind::Path, what: route.name, depth });
            }
            None => unseen.push(route.name),
        }
    }
    (seen, unseen)
}

impl GoalVerdict {
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self.verdict, Verdict::Unknown(_))
    }
}
