//! Figures of several systems under the same loads, and who is ahead.

use super::runtime::figures::{Cell, Figures};
use super::summary::Summary;
use crate::table::Table;

pub fn table(cells: &[Cell], shape: &str) -> Table {
    let mut table =
        Table::new(&["clients", "system", "a second", "CPU µs each", "p50 µs", "p99 µs"]);
    for cell in cells.iter().filter(|cell| cell.shape == shape) {
        let of = |figure: fn(&Figures) -> f64| {
            Summary::of(&cell.runs.iter().map(figure).collect::<Vec<_>>())
        };
        table.row([
            cell.clients.to_string(),
            cell.system.to_owned(),
            format!("{:.0}", of(|run| run.per_second)),
            format!("{:.2}", of(|run| run.cpu_us_each)),
            format!("{:.0}", of(|run| run.p50_us).median),
            format!("{:.0}", of(|run| run.p99_us).median),
        ]);
    }
    table
}

/// The goal: ahead of the peer in throughput and in the slowest hundredth. Each ratio is that of its round.
pub fn is_ahead(cells: &[Cell], us: &str, peer: &str) -> bool {
    let mut all_met = true;
    for ours in cells.iter().filter(|cell| cell.system == us) {
        let theirs = cells.iter().find(|cell| {
            (cell.system, cell.shape, cell.clients) == (peer, ours.shape, ours.clients)
        });
        let Some(theirs) = theirs else { continue };
        let ratio = |figure: fn(&Figures) -> f64| {
            let pairs = ours.runs.iter().zip(&theirs.runs);
            Summary::of(&pairs.map(|(our, their)| figure(our) / figure(their)).collect::<Vec<_>>())
        };
        let (rate, p99) = (ratio(|run| run.per_second), ratio(|run| run.p99_us));
        let met = rate.median > 1.0 && p99.median < 1.0;
        all_met &= met;
        println!(
            "{}, {} clients: {rate:.2} times the throughput, {p99:.2} of the p99, {:.2} of the CPU of {peer}; \
             goal: ahead in the first two: {}",
            ours.shape,
            ours.clients,
            ratio(|run| run.cpu_us_each),
            if met { "met" } else { "NOT met" }
        );
    }
    all_met
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(system: &'static str, runs: &[(f64, f64)]) -> Cell {
        let runs = runs.iter().map(|(per_second, p99_us)| Figures {
            per_second: *per_second,
            cpu_us_each: 1.0,
            client_cpu_us_each: None,
            p50_us: 1.0,
            p99_us: *p99_us,
            bytes_each: None,
        });
        Cell { system, shape: "one", clients: 64, runs: runs.collect() }
    }

    #[test]
    fn ahead_is_faster_and_no_later() {
        let peer = || cell("theirs", &[(100.0, 9.0), (50.0, 18.0)]);
        assert!(is_ahead(&[cell("ours", &[(110.0, 8.0), (60.0, 17.0)]), peer()], "ours", "theirs"));
        assert!(!is_ahead(&[cell("ours", &[(90.0, 8.0), (40.0, 17.0)]), peer()], "ours", "theirs"));
        assert!(!is_ahead(
            &[cell("ours", &[(110.0, 10.0), (60.0, 19.0)]), peer()],
            "ours",
            "theirs"
        ));
    }
}
