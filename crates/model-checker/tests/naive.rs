//! Random designs, checked twice: by the checker from their text, and by a naive interpreter.

#[path = "naive/mod.rs"]
mod naive;

use naive::explore::explore;
use naive::world::World;
use naive::{generate, text};

#[test]
fn look() {
    let number = |name: &str, otherwise: u64| -> u64 {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    };
    let (count, first) = (number("STEADFAST_DESIGNS", 500), number("STEADFAST_SEED", 1));
    let mut rejected = 0;
    for seed in first..first + count {
        let made = generate::design(seed);
        let text = text::text(&made);
        let compiled = design::compile("random", &text, &design::NoCatalog);
        let errors: Vec<_> = compiled
            .diagnostics
            .iter()
            .filter(|held| held.is_error())
            .map(|held| (&held.code, &held.message))
            .collect();
        if !errors.is_empty() {
            rejected += 1;
            eprintln!("seed {seed}: {errors:?}");
            if count == 1 {
                eprintln!("{text}");
            }
            continue;
        }
        let fine = made.check.time.unwrap_or(2);
        let start = std::time::Instant::now();
        let world = World::new(&made, fine, None);
        let found = explore(&world, 3000);
        if count <= 20 {
            eprintln!("{text}");
        }
        match found {
            None => eprintln!("seed {seed}: too large {:?}", start.elapsed()),
            Some(found) => eprintln!(
                "seed {seed}: {} states {:?} {:?}",
                found.states,
                found.words,
                start.elapsed()
            ),
        }
    }
    eprintln!("{rejected} rejected");
}
