//! What was checked is what runs: transitions that the checker found are carried out by the runtime
//! under a clock that the test sets, and must come to the same.
//!
//! For every design of the catalog, 2,000 transitions are drawn from all depths (or all, where there
//! are fewer). Each is reached by its whole history from the first state, on a runtime of its own;
//! every step on the way is compared, too.

mod carrier;
mod compare;
mod door;
mod json;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use carrier::{Carried, Carrier, Stop};
use model_checker::sample::{Draw, Drawn, Sample, TOLD, sample};

const TRANSITIONS: usize = 2_000;

#[derive(Default)]
struct Tally {
    carried: usize,
    refused: usize,
    on_the_way: usize,
    left_out: BTreeMap<&'static str, usize>,
    differences: Vec<String>,
}

struct Walk<'a> {
    sample: &'a Sample,
    design: Arc<design::model::Design>,
    /// nodes that were compared
    seen: Vec<bool>,
    tally: Tally,
}

impl Walk<'_> {
    fn path(&self, node: usize) -> Vec<usize> {
        let mut path = vec![node];
        while let Some((before, _)) = &self.sample.nodes[path[path.len() - 1]].from {
            path.push(*before);
        }
        path.reverse();
        path
    }

    /// A runtime that has come to this node.
    fn reach(&mut self, node: usize) -> Result<Carrier, Stop> {
        let mut carrier = Carrier::new(&self.design);
        for at in self.path(node) {
            if let Some((before, event)) = &self.sample.nodes[at].from {
                carrier.carry_out(event, &self.sample.nodes[*before].state)?;
            }
            if !self.seen[at] {
                carrier.compare(&self.sample.nodes[at].state)?;
                self.seen[at] = true;
                self.tally.on_the_way += 1;
            }
        }
        Ok(carrier)
    }

    fn node(&mut self, node: usize) {
        let held = &self.sample.nodes[node];
        let mut ready = match self.reach(node) {
            Ok(carrier) => Some(carrier),
            Err(stop) => return self.stopped(stop, node, None, held.drawn.len()),
        };
        for drawn in &held.drawn {
            if let Drawn::Refused(event, refusal) = drawn
                && let Some(carrier) = &mut ready
            {
                let carried = carrier.is_refused_here(event, refusal, &held.state);
                let carried = carried.and_then(|()| carrier.compare(&held.state));
                self.tally.refused += usize::from(carried.is_ok());
                self.told(carried, node, drawn);
            }
        }
        for drawn in &held.drawn {
            let Drawn::Taken(event, after) = drawn else { continue };
            let carrier = match ready.take() {
                Some(carrier) => Ok(carrier),
                None => self.reach(node),
            };
            let carried = carrier.and_then(|mut carrier| {
                carrier.carry_out(event, &held.state)?;
                carrier.compare(after)
            });
            self.tally.carried += usize::from(carried.is_ok());
            self.told(carried, node, drawn);
        }
    }

    fn told(&mut self, carried: Carried, node: usize, drawn: &Drawn) {
        if let Err(stop) = carried {
            self.stopped(stop, node, Some(drawn), 1);
        }
    }

    fn stopped(&mut self, stop: Stop, node: usize, drawn: Option<&Drawn>, many: usize) {
        match stop {
            Stop::LeftOut(why) => *self.tally.left_out.entry(why).or_default() += many,
            Stop::Differs(what) => {
                let mut text = format!("{what}\n");
                for at in self.path(node) {
                    if let Some((_, event)) = &self.sample.nodes[at].from {
                        text.push_str(&format!("    {event:?}\n"));
                    }
                }
                if let Some(drawn) = drawn {
                    let event = match drawn {
                        Drawn::Taken(event, _) | Drawn::Refused(event, _) => event,
                    };
                    text.push_str(&format!("  > {event:?}\n"));
                }
                self.tally.differences.push(text);
            }
        }
    }
}

fn conforms(name: &str, text: &str) {
    let compiled = design::compile(name, text, &design::NoCatalog);
    let design = compiled.design.unwrap_or_else(|| panic!("{name}: {:?}", compiled.diagnostics));
    let started = Instant::now();
    let draw = Draw {
        seed: 12,
        transitions: TRANSITIONS,
        states_max: 1_000_000,
        threads: 1,
        faults: TOLD.to_vec(),
    };
    let sample = sample(&design, &draw).expect("it is finite");
    let drawn: usize = sample.nodes.iter().map(|node| node.drawn.len()).sum();
    let explored = started.elapsed();
    let mut walk = Walk {
        sample: &sample,
        design: Arc::new(sample.design.clone()),
        seen: vec![false; sample.nodes.len()],
        tally: Tally::default(),
    };
    for node in 0..sample.nodes.len() {
        if !sample.nodes[node].drawn.is_empty() {
            walk.node(node);
        }
    }
    let tally = walk.tally;
    println!(
        "{name}: {} states to depth {}, {drawn} drawn at {} nodes: {} taken, {} refused, {} on the \
         way, untold {}, left out {:?} {:?}; {:.1} s and {:.1} s",
        sample.states,
        sample.depth,
        sample.nodes.len(),
        tally.carried,
        tally.refused,
        tally.on_the_way,
        sample.untold,
        tally.left_out,
        sample.left_out.iter().map(|it| it.fault.name()).collect::<Vec<_>>(),
        explored.as_secs_f64(),
        (started.elapsed() - explored).as_secs_f64(),
    );
    let mut shortest = tally.differences;
    shortest.sort_by_key(|text| text.lines().count());
    let count = shortest.len();
    shortest.truncate(3);
    assert!(count == 0, "{name}: {count} differences, such as\n{}", shortest.join("\n"));
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
    i21 "infra/I21" a07 "product/A07" a08 "product/A08"
    payments "systems/payments" tickets "systems/tickets"
}
