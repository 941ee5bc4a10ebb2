//! A grid whose state space doubles: what twice the states cost in time and in memory.

use std::path::Path;
use std::process::Command;

use super::super::scratch::Scratch;
use super::super::summary::Summary;
use super::report::Series;
use super::{Explored, Extent, explore};
use crate::table::Table;

/// How much more twice the states may cost.
const GROWTH_MAX: f64 = 2.3;

/// So many values along each of the four axes: 655,360 states after the first size, and
/// 20,971,520 after five doublings.
const FIRST: [u32; 4] = [20, 32, 32, 32];

/// The axes after so many doublings, each in its turn.
fn axes(doublings: u32) -> [u32; 4] {
    let mut axes = FIRST;
    for at in 0..doublings {
        axes[at as usize % 4] *= 2;
    }
    axes
}

/// Each axis only advances; every state has the same number of ways on, whatever the size.
fn design_text(axes: [u32; 4]) -> String {
    let names = ["x", "y", "z", "w"];
    let mut text = String::from("design Grid \"A state space of any size\"\n\nactor walker\n\n");
    let attributes: Vec<String> = names.iter().map(|name| format!("{name}: int = 0")).collect();
    text.push_str(&format!(
        "subject Grid(grid: text) {{\n    truth Place {{ {} }}\n}}\n\n",
        attributes.join(", ")
    ));
    for (name, values) in names.iter().zip(axes) {
        text.push_str(&format!(
            "step walker[go_{name}(grid: Grid) {{ room: Place.{name} < {} }}] {{ Place.{name} += 1 }}\n",
            values - 1
        ));
    }
    text.push_str(
        "\ninvariant within: all g in Grid: g.x + g.y + g.z + g.w >= 0\n\ncheck { grid: 1",
    );
    for (name, values) in names.iter().zip(axes) {
        text.push_str(&format!("  Place.{name}: 0..{}", values - 1));
    }
    text.push_str(" }\n");
    text
}

pub fn run(ours: &Path, folder: &Scratch, extent: &Extent) -> crate::Answer {
    let mut sizes = Vec::new();
    for doublings in 0..=extent.doublings {
        let axes = if extent.judged { axes(doublings) } else { [5, 4, 4, 4] };
        let path = folder.0.join(format!("grid_{doublings}.design"));
        std::fs::write(&path, design_text(axes)).map_err(|e| format!("cannot write: {e}"))?;
        let states: f64 = axes.iter().map(|values| f64::from(*values)).product();
        sizes.push((path, states, Series::default()));
    }
    for _ in 0..extent.growth_rounds {
        for (path, states, series) in &mut sizes {
            let found: Explored =
                explore(Command::new(ours).arg(&*path).args(["--plain", "--threads", "1"]))?;
            if found.states != *states {
                return Err(format!("the grid has {} states, not {states}", found.states));
            }
            series.add(&found);
        }
    }
    let sizes: Vec<Series> = sizes.into_iter().map(|(_, _, series)| series).collect();
    Ok(report(&sizes, extent.judged))
}

fn report(sizes: &[Series], judged: bool) -> bool {
    let mut table = Table::new(&["states", "CPU s", "MiB", "time growth", "memory growth"]);
    let (mut before, mut steepest): (Option<(f64, f64)>, (f64, f64)) = (None, (0.0, 0.0));
    for size in sizes {
        let (cpu, bytes) = (Summary::of(&size.cpu_seconds), Summary::of(&size.resident_bytes));
        let growth = before.map(|(cpu_before, bytes_before)| {
            (cpu.median / cpu_before, bytes.median / bytes_before)
        });
        let (time, memory) = growth.unwrap_or_default();
        steepest = (steepest.0.max(time), steepest.1.max(memory));
        let shown = |growth: Option<f64>| growth.map_or_else(|| "-".into(), |g| format!("{g:.2}"));
        table.row([
            size.states.to_string(),
            format!("{cpu:.2}"),
            format!("{:.1}", bytes.scaled(1.0 / 1_048_576.0)),
            shown(growth.map(|(time, _)| time)),
            shown(growth.map(|(_, memory)| memory)),
        ]);
        before = Some((cpu.median, bytes.median));
    }
    println!("growth, 1 thread\n\n{table}");
    if !judged {
        return true;
    }
    let met = steepest.0 <= GROWTH_MAX && steepest.1 <= GROWTH_MAX;
    println!(
        "twice the states take at most {:.2} times the time and {:.2} times the memory: goal of {GROWTH_MAX} {}",
        steepest.0,
        steepest.1,
        if met { "met" } else { "NOT MET" }
    );
    met
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_doublings_lead_beyond_twenty_million_states() {
        let states =
            |doublings| axes(doublings).iter().map(|values| u64::from(*values)).product::<u64>();
        assert_eq!(states(0), 655_360);
        assert_eq!(states(5), 20_971_520);
        assert!((0..5).all(|at| states(at + 1) == 2 * states(at)));
    }

    fn sizes(costs: &[(f64, f64)]) -> Vec<Series> {
        let size = |(cpu, bytes): &(f64, f64)| Series {
            states: 1.0,
            cpu_seconds: vec![*cpu],
            wall_seconds: vec![*cpu],
            resident_bytes: vec![*bytes],
        };
        costs.iter().map(size).collect()
    }

    #[test]
    fn neither_time_nor_memory_may_grow_faster_than_the_states() {
        assert!(report(&sizes(&[(1.0, 1.0), (2.2, 2.0), (4.6, 4.1)]), true));
        assert!(!report(&sizes(&[(1.0, 1.0), (2.4, 2.0)]), true));
        assert!(!report(&sizes(&[(1.0, 1.0), (2.0, 2.4)]), true));
    }
}
