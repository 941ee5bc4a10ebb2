//! What is recalled is what is worked out: the same transitions, in the same order, from every state.

use std::collections::BTreeSet;

use crate::Options;
use crate::clock::Scaled;
use crate::world::plan::Network;

use super::{Again, Beyond, Machine, Sink, Step};

/// So many states of each design are looked at.
const STATES: usize = 4_000;

#[derive(Default)]
struct Plain {
    next: Vec<Vec<u64>>,
}

impl Sink for Plain {
    fn moved(&mut self, _machine: &Machine, step: &Step<'_>) {
        self.next.push(step.packed.to_vec());
    }

    fn beyond(&mut self, _machine: &Machine, _step: &Step<'_>, _what: Beyond) {
        self.next.push(Vec::new());
    }
}

#[derive(Default)]
struct Recalling {
    next: Vec<Vec<u64>>,
    recalled: usize,
    /// of what was recalled: the states between which it was
    between: Vec<(usize, Vec<engine::Word>)>,
}

impl Sink for Recalling {
    const RECALLS: bool = true;

    fn again(&mut self, step: &mut Again<'_>) {
        self.recalled += 1;
        let at = self.next.len();
        let between = &mut self.between;
        step.between(&mut |_, after, _| {
            between.push((at, after.to_vec()));
            true
        });
        self.next.push(step.packed().to_vec());
    }

    fn moved(&mut self, _machine: &Machine, step: &Step<'_>) {
        self.next.push(step.packed.to_vec());
    }

    fn beyond(&mut self, _machine: &Machine, _step: &Step<'_>, _what: Beyond) {
        self.next.push(Vec::new());
    }
}

/// The states after each transition, as they are judged.
#[derive(Default)]
struct After(Vec<Vec<engine::Word>>);

impl Sink for After {
    fn moved(&mut self, _machine: &Machine, step: &Step<'_>) {
        self.0.push(step.after.to_vec());
    }

    fn beyond(&mut self, _machine: &Machine, _step: &Step<'_>, _what: Beyond) {
        self.0.push(Vec::new());
    }
}

/// Explores some of a design both ways; answers how many transitions were recalled.
fn both_ways(name: &str, text: &str) -> usize {
    let compiled = design::compile(name, text, &design::NoCatalog);
    let design = compiled.design.unwrap_or_else(|| panic!("{name}: {:?}", compiled.diagnostics));
    let scaled = Scaled::of(&design, true);
    let options = Options::default();
    let machine = Machine::new(&scaled, &[], &options, true, &[], Network::OneByOne);
    let machine = machine.unwrap_or_else(|problem| panic!("{name}: {problem}"));
    let (mut one, mut other) = (machine.worker(), machine.worker());
    let (mut third, mut fourth) = (machine.worker(), machine.worker());
    let first = machine.pack(&mut one, &machine.initial()).expect("it has room");
    let mut known = BTreeSet::from([first.clone()]);
    let mut states = vec![first];
    let (mut at, mut recalled) = (0, 0);
    while at < states.len().min(STATES) {
        let (mut plain, mut recalling) = (Plain::default(), Recalling::default());
        machine.load(&mut one, &states[at]);
        machine.expand(&mut one, &mut plain, false);
        machine.load_folded(&mut other, &states[at]);
        machine.expand(&mut other, &mut recalling, false);
        assert_eq!(plain.next, recalling.next, "{name}, state {at}");
        if at % 7 == 0 {
            let mut after = After::default();
            machine.load(&mut third, &states[at]);
            machine.expand(&mut third, &mut after, false);
            for (number, words) in &recalling.between {
                assert_eq!(after.0[*number], *words, "{name}, state {at}");
            }
        }
        let (mut silent, mut recalling_silent) = (Plain::default(), Recalling::default());
        machine.load(&mut third, &states[at]);
        machine.expand(&mut third, &mut silent, true);
        machine.load_folded(&mut fourth, &states[at]);
        machine.expand(&mut fourth, &mut recalling_silent, true);
        assert_eq!(silent.next, recalling_silent.next, "{name}, state {at}, with clients silent");
        recalled += recalling.recalled;
        for next in plain.next {
            if !next.is_empty() && known.insert(next.clone()) {
                states.push(next);
            }
        }
        at += 1;
    }
    recalled
}

#[test]
fn what_is_recalled_is_what_is_worked_out() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../designs/infra");
    let mut designs = 0;
    for entry in std::fs::read_dir(folder).expect("the catalog") {
        let path = entry.expect("a file").path();
        if path.extension().is_none_or(|extension| extension != "design") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a text");
        let name = path.file_name().map_or(String::new(), |name| name.display().to_string());
        let recalled = both_ways(&name, &text);
        assert!(recalled > 1_000, "{name}: {recalled} recalled");
        designs += 1;
    }
    assert!(designs >= 21, "{designs}");
}
