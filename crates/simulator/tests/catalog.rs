//! Worlds of designs of the catalog.

use std::fs;
use std::path::{Path, PathBuf};

use design::Catalog;
use simulator::{Facts, Simulator, Size};

/// The designs of the catalog, each with its name.
pub fn catalog() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../designs");
    let mut all = Vec::new();
    for folder in ["infra", "product", "systems"] {
        for entry in fs::read_dir(root.join(folder)).expect("the catalog is there") {
            let path = entry.expect("it can be read").path();
            if path.extension().is_some_and(|extension| extension == "design") {
                let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
                all.push((name, path));
            }
        }
    }
    all.sort();
    all
}

/// Designs that use others find them here.
struct Shelf(Vec<(String, String)>);

impl Catalog for Shelf {
    fn archetype(&self, id: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name == id).map(|(_, text)| text.as_str())
    }

    fn ids(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| name.clone()).collect()
    }
}

pub fn named(name: &str) -> Simulator {
    let read = |(name, path): (String, PathBuf)| (name, fs::read_to_string(path).unwrap());
    let shelf = Shelf(catalog().into_iter().map(read).collect());
    let text = shelf.archetype(name).expect("it is in the catalog");
    let compiled = design::compile(name, text, &shelf);
    Simulator::new(compiled.design.expect("it compiles"), Size::default()).unwrap()
}

/// In the tests few; more with `STEADFAST_WORLDS=1000`, of one design alone with `STEADFAST_DESIGN=tickets`.
pub fn worlds(few: u64) -> u64 {
    std::env::var("STEADFAST_WORLDS").map_or(few, |text| text.parse().expect("a number"))
}

/// So many worlds of this size of every design, or of one alone: how much happened, and what went wrong.
pub fn of_every_design(size: Size, few: u64) -> (Facts, Vec<String>) {
    let only = only();
    let (mut all, mut wrong) = (Facts::default(), Vec::new());
    for (name, _) in catalog() {
        if only.as_ref().is_some_and(|only| *only != name) {
            continue;
        }
        let mut simulator = named(&name);
        simulator.size = size;
        let begun = std::time::Instant::now();
        let mut facts = Facts::default();
        for seed in 0..worlds(few) {
            let outcome = simulator.draw(seed);
            facts.add(&outcome.facts);
            if let Some(trouble) = outcome.trouble {
                wrong.push(format!("{name}, seed {seed}: {trouble}"));
                break;
            }
        }
        println!(
            "{name}: {:.1} s, {} calls, {} transitions, {} faults, {} unusable, {} unsettled",
            begun.elapsed().as_secs_f64(),
            facts.calls,
            facts.transitions,
            facts.faults(),
            facts.unusable,
            facts.unsettled
        );
        all.add(&facts);
    }
    (all, wrong)
}

fn only() -> Option<String> {
    std::env::var("STEADFAST_DESIGN").ok()
}

#[test]
fn worlds_of_every_design_go_well() {
    let (all, wrong) = of_every_design(Size::default(), 6);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // a world in which nothing happens shows nothing
    assert!(all.transitions > all.calls / 10, "{all:?}");
    assert!(only().is_some() || all.power_cuts > 20 && all.asked_again > 20, "{all:?}");
}
