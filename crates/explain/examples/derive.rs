//! Explains every design that is named on the command line, again and again, and prints what that
//! took, as JSON. `cargo xtask bench explain` runs it over the catalog.

use std::time::Instant;

use explain::{Engine, drawings, markdown, realize, sheet};

const ROUNDS: u32 = 20;

fn main() -> Result<(), String> {
    let mut designs = Vec::new();
    for path in std::env::args().skip(1) {
        let text =
            std::fs::read_to_string(&path).map_err(|e| format!("cannot read {path}: {e}"))?;
        // One that uses an archetype would need the catalog; it is measured in the archetype.
        designs.extend(design::compile(&path, &text, &design::NoCatalog).design);
    }
    let mut operations = 0;
    let start = Instant::now();
    for _ in 0..ROUNDS {
        operations = designs.iter().map(|design| sheet(design).operations.len()).sum();
    }
    let sheets = start.elapsed() / ROUNDS;
    let start = Instant::now();
    let mut bytes = 0;
    for design in &designs {
        bytes += markdown(&sheet(design)).len();
        bytes += drawings(design).iter().map(|drawing| drawing.svg.len()).sum::<usize>();
        bytes +=
            Engine::ALL.map(|engine| realize(design, engine).to_json().len()).iter().sum::<usize>();
    }
    let everything = start.elapsed();
    let answer = serde_json::json!({
        "designs": designs.len(),
        "operations": operations,
        "sheets_nanos": sheets.as_nanos() as u64,
        "everything_nanos": everything.as_nanos() as u64,
        "bytes": bytes,
    });
    println!("{answer}");
    Ok(())
}
