//! What was checked is what runs: transitions that the checker found are carried out by the runtime
//! under a clock that the test sets, and must come to the same.
//!
//! For every design of the catalog, 2,000 transitions are drawn from all depths (or all, where there
//! are fewer). Each is reached by its whole history from the first state, on a runtime of its own;
//! every step on the way is compared, too.

mod served;
mod walk;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use design::model::{Design, Fault, OperationId, visit};
use model_checker::sample::{Draw, Sample, TICK_MS, TOLD, sample};
use replay::Carrier;
use walk::Walk;

const TRANSITIONS: usize = 2_000;

/// Of a larger world these are drawn from, the first that are found.
const STATES: usize = 60_000;

/// Those of them that go over HTTP as well.
const OVER_HTTP: usize = 100;

fn conforms(name: &str, text: &str) {
    let text = &callers_name(name, text);
    let compiled = design::compile(name, text, &steadfast::catalog::Embedded);
    let design = compiled.design.unwrap_or_else(|| panic!("{name}: {:?}", compiled.diagnostics));
    let started = Instant::now();
    let left_out = left_out(&design);
    let draw = Draw {
        seed: 12,
        transitions: TRANSITIONS,
        states_max: STATES,
        threads: 1,
        faults: told(&design),
        copies: false,
        without: left_out.clone(),
    };
    let sample = sample(&design, &draw).expect("it is finite");
    let explored = started.elapsed();
    let mut walk = Walk::new(&sample);
    let design_of = Arc::clone(&walk.design);
    walk.all(usize::MAX, |_| true, &mut || Carrier::new(&design_of, TICK_MS));
    let (of_functions, by_function) = (walk.tally, started.elapsed() - explored);
    let mut walk = Walk::new(&sample);
    served::over_http(text, &mut walk, OVER_HTTP);
    let by_http = started.elapsed() - explored - by_function;
    let depths: BTreeSet<u32> =
        sample.nodes.iter().filter(|node| !node.drawn.is_empty()).map(|node| node.depth).collect();
    println!(
        "{name}: {} states to depth {}, drawn at {} depths: {of_functions}; over HTTP: {}; left out: \
         {:?} {:?}, untold {}; {:.1} s, {:.1} s and {:.1} s",
        sample.states,
        sample.depth,
        depths.len(),
        walk.tally,
        sample.left_out.iter().map(|it| it.fault.name()).collect::<Vec<_>>(),
        left_out.iter().map(|id| &design.operations[id.index()].name).collect::<Vec<_>>(),
        sample.untold,
        explored.as_secs_f64(),
        by_function.as_secs_f64(),
        by_http.as_secs_f64(),
    );
    assert_eq!(sample.untold, 0, "{name}: not all that was drawn can be told");
    let drawn: usize = sample.nodes.iter().map(|node| node.drawn.len()).sum();
    let all = nodes_are_all(&sample);
    assert!(drawn == TRANSITIONS || all, "{name}: {drawn} were drawn, and there are more");
    of_functions.expect(name, drawn);
    walk.tally.expect(name, OVER_HTTP);
}

/// A server keeps what is `volatile` in its store, so that it never loses it: it cannot be told to.
fn told(design: &Design) -> Vec<Fault> {
    let forgets = design.subjects.iter().any(|subject| subject.states.iter().any(|it| it.volatile));
    TOLD.iter().copied().filter(|fault| !forgets || *fault != Fault::Crash).collect()
}

/// Are there no other states than those of the sample?
fn nodes_are_all(sample: &Sample) -> bool {
    !sample.stopped && sample.nodes.len() == sample.states
}

/// The same design with the records that a server takes from a view named by the caller. The checker lets any record
/// be proposed, and a server proposes the first: which one it is is held against views elsewhere, and what a step does with
/// it is held here.
fn callers_name(name: &str, text: &str) -> String {
    let compiled = design::compile(name, text, &steadfast::catalog::Embedded);
    // what a design uses takes records as well
    let mut named = match &compiled.flat {
        Some(flat) => syntax::format(flat).text,
        None => text.to_string(),
    };
    // tests of the design leave out what is taken, and are none of the design
    named = without_tests(&named);
    // a server chooses an identity that nobody has; the checker tries all that there are
    named = named.replace(" = new id", "");
    named = without_calendar(&named);
    for view in compiled.design.iter().flat_map(|design| &design.views) {
        let taken = format!("any of {}", view.name);
        while let Some(at) = named.find(&taken) {
            let after = &named[at + taken.len()..];
            let args =
                if after.starts_with('(') { after.find(')').map_or(0, |it| it + 1) } else { 0 };
            let subject =
                &compiled.design.as_ref().expect("it has views").subjects[view.subject.index()];
            named.replace_range(at..at + taken.len() + args, &subject.name);
        }
    }
    named
}

fn without_tests(text: &str) -> String {
    let mut left = text.to_string();
    let items = syntax::parse(text, syntax::FileId(0)).tree.items;
    let tests = items.iter().filter(|item| matches!(item.kind, syntax::tree::ItemKind::Test(_)));
    for item in tests.rev() {
        left.replace_range(item.span.start as usize..item.span.end as usize, "");
    }
    left
}

/// The checker knows of a calendar only that it goes on or ends. So that both sides take the same time, the next instant
/// is ten seconds later here, whatever the schedule says.
fn without_calendar(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        match (line.find(" next("), line.rfind(", now)")) {
            (Some(from), Some(to)) if from < to => {
                lines.push(format!("{} now + 10s{}", &line[..from], &line[to + ", now)".len()..]));
            }
            _ if line.trim_start().starts_with("schedules:") => {}
            _ => lines.push(line.to_string()),
        }
    }
    lines.join("\n") + "\n"
}

/// Reads of words that are searched for, and of what is near: the checker knows no words and no places.
fn left_out(design: &Design) -> Vec<OperationId> {
    let all = (0..).zip(&design.operations);
    let searches = all.filter(|(_, operation)| {
        visit::searches(design, operation) || replay::measures(design, operation)
    });
    searches.map(|(at, _)| OperationId::of(at)).collect()
}

/// No design of the catalog turns these on.
#[test]
fn a_clock_that_steps_and_a_call_that_comes_late_come_to_the_same() {
    let text = include_str!("../data/tickets-by-hand.design");
    let faults = "faults: crash, lost_reply, duplicate";
    assert!(text.contains(faults));
    conforms("clock_step", &text.replace(faults, "faults: clock_step, late"));
}

/// No design of the catalog has handlers of events yet.
#[test]
fn events_come_in_their_order_and_again() {
    conforms("events", include_str!("../data/events.design"));
}

macro_rules! catalog {
    ($($test:ident $path:literal)*) => {
        $(
            #[test]
            fn $test() {
                conforms($path, include_str!(concat!("../../../../designs/", $path, ".design")));
            }
        )*

        #[test]
        fn every_design_of_the_catalog_is_held_against_the_runtime() {
            let held = [$($path),*];
            let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../designs");
            for folder in ["infra", "product", "systems"] {
                for file in std::fs::read_dir(format!("{root}/{folder}")).unwrap() {
                    let path = file.unwrap().path();
                    if path.extension().is_some_and(|it| it == "design") {
                        let name = path.file_stem().unwrap().to_str().unwrap();
                        let name = format!("{folder}/{name}");
                        assert!(held.contains(&name.as_str()), "{name} is not in the list");
                    }
                }
            }
        }
    };
}

catalog! {
    i01 "infra/I01" i02 "infra/I02" i03 "infra/I03" i04 "infra/I04" i05 "infra/I05"
    i06 "infra/I06" i07 "infra/I07" i08 "infra/I08" i09 "infra/I09" i10 "infra/I10"
    i11 "infra/I11" i12 "infra/I12" i13 "infra/I13" i14 "infra/I14" i15 "infra/I15"
    i16 "infra/I16" i17 "infra/I17" i18 "infra/I18" i19 "infra/I19" i20 "infra/I20"
    i21 "infra/I21" a01 "product/A01" a02 "product/A02" a03 "product/A03" a04 "product/A04"
    a05 "product/A05" a06 "product/A06" a07 "product/A07" a08 "product/A08" a09 "product/A09"
    a10 "product/A10" a11 "product/A11" a12 "product/A12" a13 "product/A13" a14 "product/A14"
    a15 "product/A15" a16 "product/A16" a17 "product/A17" a18 "product/A18" a19 "product/A19"
    auction "systems/auction" clinic "systems/clinic" crawler "systems/crawler"
    documents "systems/documents" drive "systems/drive"
    payments "systems/payments" rides "systems/rides" scheduler "systems/scheduler"
    tagging "systems/tagging" tickets "systems/tickets"
}
