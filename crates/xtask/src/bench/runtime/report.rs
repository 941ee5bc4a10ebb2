//! The figures side by side, and whether the goals are met.

use super::figures::{Cell, Figures};
use crate::bench::summary::Summary;
use crate::table::Table;

pub const OURS: &str = "embedded";
pub const LOG: &str = "bare log";
pub const REDIS: &str = "Redis";
pub const POSTGRES: &str = "PostgreSQL";
pub const ETCD: &str = "etcd";

/// At these numbers of clients, the CPU of a transition may be at most so many times that of the
/// other system.
const GOAL_CLIENTS: [usize; 2] = [64, 256];
const GOALS: [(&str, f64); 3] = [(REDIS, 1.0 / 3.0), (POSTGRES, 0.1), (LOG, 2.0)];

pub fn report(cells: &[Cell], shapes: &[(u64, &'static str)]) -> bool {
    for (_, shape) in shapes {
        println!("\n{shape}\n\n{}", table(cells, shape));
    }
    let mut all_met = true;
    for (_, shape) in shapes {
        for clients in GOAL_CLIENTS {
            for (other, at_most) in GOALS {
                let Some(ratio) = ratio(cells, shape, clients, other) else { continue };
                let met = ratio <= at_most;
                all_met &= met;
                println!(
                    "{shape}, {clients} clients: {ratio:.3} of the CPU of {other}, goal {at_most:.3}: {}",
                    if met { "met" } else { "NOT met" }
                );
            }
        }
    }
    all_met
}

fn table(cells: &[Cell], shape: &str) -> Table {
    let mut table = Table::new(&[
        "clients",
        "system",
        "a second",
        "CPU µs each",
        "p50 µs",
        "p99 µs",
        "bytes each",
    ]);
    for cell in cells.iter().filter(|cell| cell.shape == shape) {
        let of = |figure: fn(&Figures) -> f64| {
            Summary::of(&cell.runs.iter().map(figure).collect::<Vec<_>>())
        };
        let bytes: Vec<f64> = cell.runs.iter().filter_map(|run| run.bytes_each).collect();
        table.row([
            cell.clients.to_string(),
            cell.system.to_owned(),
            format!("{:.0}", of(|run| run.per_second)),
            format!("{:.2}", of(|run| run.cpu_us_each)),
            format!("{:.0}", of(|run| run.p50_us)),
            format!("{:.0}", of(|run| run.p99_us)),
            match bytes.is_empty() {
                true => "-".to_owned(),
                false => format!("{:.0}", Summary::of(&bytes).median),
            },
        ]);
    }
    table
}

/// Our CPU for a transition as a share of another system's.
fn ratio(cells: &[Cell], shape: &str, clients: usize, other: &str) -> Option<f64> {
    let median = |system: &str| {
        let cell = cells
            .iter()
            .find(|cell| cell.system == system && cell.shape == shape && cell.clients == clients)?;
        let cpu: Vec<f64> = cell.runs.iter().map(|run| run.cpu_us_each).collect();
        Some(Summary::of(&cpu).median)
    };
    Some(median(OURS)? / median(other)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(system: &'static str, cpu_us_each: f64) -> Cell {
        let run = Figures {
            per_second: 1e5,
            cpu_us_each,
            client_cpu_us_each: None,
            p50_us: 1.0,
            p99_us: 2.0,
            bytes_each: None,
        };
        Cell { system, shape: "uniform", clients: 64, runs: vec![run] }
    }

    #[test]
    fn a_goal_is_met_or_not_by_the_median_cpu() {
        let shapes = [(10, "uniform")];
        assert!(report(&[cell(OURS, 3.0), cell(REDIS, 9.1), cell(LOG, 1.6)], &shapes));
        assert!(!report(&[cell(OURS, 3.0), cell(REDIS, 8.9)], &shapes));
        assert!(!report(&[cell(OURS, 3.0), cell(LOG, 1.4)], &shapes));
        assert!(!report(&[cell(OURS, 3.0), cell(POSTGRES, 29.0)], &shapes));
    }

    #[test]
    fn what_was_not_measured_is_no_figure() {
        assert_eq!(ratio(&[cell(OURS, 3.0)], "uniform", 64, REDIS), None);
        let table = table(&[cell(OURS, 3.0)], "uniform").to_string();
        assert!(table.lines().nth(1).unwrap().ends_with('-'), "{table}");
    }
}
