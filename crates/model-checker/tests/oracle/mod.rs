//! The same small models twice: in the language, and by hand against stateright.

pub mod append_log;
pub mod claim;
pub mod lease;
pub mod lease_faults;
pub mod replicated;
pub mod seats;
pub mod three_members;
pub mod two_phase;

use std::collections::BTreeSet;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use model_checker::{Options, Report, Verdict};
use stateright::{Checker, Model};

/// Properties of transitions: stateright has none, so the models note what they see.
#[derive(Clone, Default)]
pub struct Broken(Arc<Mutex<BTreeSet<&'static str>>>);

impl Broken {
    pub fn note(&self, name: &'static str) {
        self.0.lock().expect("no thread panics here").insert(name);
    }

    fn names(&self) -> BTreeSet<&'static str> {
        self.0.lock().expect("no thread panics here").clone()
    }
}

/// What both sides are asked for.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    pub states: u64,
    /// invariants that do not hold; for those about states, after how many steps at the earliest
    pub violated: Vec<(String, Option<usize>)>,
}

/// What stateright finds, breadth first.
///
/// Of several histories it keeps the last, not the shortest; so it is asked again with the depth
/// bounded, one deeper each time, until it finds one.
pub fn by_hand<M>(model: M, broken: &Broken) -> Found
where
    M: Model + Clone + Send + Sync + 'static,
    M::State: Hash + Send + Sync + std::fmt::Debug + PartialEq + Clone,
    M::Action: std::fmt::Debug + Clone + PartialEq,
{
    let mut found = by_hand_once(model.clone(), broken);
    for (name, length) in &mut found.violated {
        *length = length.and_then(|_| {
            (1..).find_map(|depth| {
                let checker = model.clone().checker().threads(1).target_max_depth(depth);
                let (_, path) = checker
                    .spawn_bfs()
                    .join()
                    .discoveries()
                    .into_iter()
                    .find(|(held, _)| held == name)?;
                Some(path.into_actions().len())
            })
        });
    }
    found
}

/// The same, with lengths that need not be the shortest.
pub fn by_hand_once<M>(model: M, broken: &Broken) -> Found
where
    M: Model + Clone + Send + Sync + 'static,
    M::State: Hash + Send + Sync + std::fmt::Debug + PartialEq + Clone,
    M::Action: std::fmt::Debug + Clone + PartialEq,
{
    let checker = model.checker().threads(1).spawn_bfs().join();
    assert!(checker.is_done());
    let mut violated: Vec<(String, Option<usize>)> = checker
        .discoveries()
        .into_iter()
        .map(|(name, path)| (name.to_string(), Some(path.into_actions().len())))
        .collect();
    violated.extend(broken.names().into_iter().map(|name| (name.to_string(), None)));
    violated.sort();
    Found { states: checker.unique_state_count() as u64, violated }
}

/// What our checker finds: no symmetry, no normalisation, the faults that the text names.
pub fn by_checker(text: &str) -> Found {
    checked(text, false)
}

/// The same, with counters kept by rank where only their order matters.
pub fn by_checker_ranked(text: &str) -> Found {
    checked(text, true)
}

fn checked(text: &str, normalise: bool) -> Found {
    let compiled = design::compile("oracle", text, &design::NoCatalog);
    assert!(compiled.diagnostics.is_empty(), "{:?}", compiled.diagnostics);
    let design = compiled.design.expect("there is nothing wrong with it");
    let options = Options {
        symmetry: false,
        normalise,
        failures: false,
        recovery: false,
        witnesses: false,
        slices: false,
        ..Options::default()
    };
    let report =
        model_checker::check(&design, &options, &mut |_| ()).expect("the small world is finite");
    assert!(report.base.closed);
    let transition = |name: &str| {
        let goals = &design.invariants;
        goals.iter().any(|goal| goal.name == name && goal.uses_old)
    };
    let mut violated = violations(&report);
    for (name, length) in &mut violated {
        if transition(name) {
            *length = None;
        }
    }
    Found { states: report.base.states, violated }
}

fn violations(report: &Report) -> Vec<(String, Option<usize>)> {
    let mut list: Vec<(String, Option<usize>)> = report
        .goals
        .iter()
        .filter_map(|goal| match &goal.verdict {
            Verdict::Proved => None,
            // Counters are bounded here, and a tick is a unit.
            Verdict::Holds(_) => None,
            Verdict::Violated(trace) => Some((goal.name.clone(), Some(trace.steps.len()))),
            Verdict::Unknown(why) => panic!("{} is not known: {why}", goal.name),
        })
        .collect();
    list.sort();
    list
}
