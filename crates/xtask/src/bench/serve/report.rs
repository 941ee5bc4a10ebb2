//! The table, and what is made of it. A ratio is taken round by round, since what disturbs one system
//! disturbs its neighbours in the same round.

use super::{
    BATCH, ECHO, HTTP, REDIS, REDIS_PIPELINED, RESTATE, SOCKET, TRANSITION, VALKEY,
    VALKEY_PIPELINED,
};
use crate::bench::runtime::figures::{Cell, Figures};
use crate::bench::summary::Summary;
use crate::table::Table;

pub fn table(cells: &[Cell]) -> Table {
    let head = ["system", "a second", "CPU µs each", "of its clients", "p50 µs", "p99 µs"];
    let mut table = Table::new(&head);
    for cell in cells {
        let of = |figure: fn(&Figures) -> f64| {
            Summary::of(&cell.runs.iter().map(figure).collect::<Vec<_>>())
        };
        let clients: Vec<f64> = cell.runs.iter().filter_map(|run| run.client_cpu_us_each).collect();
        table.row([
            cell.system.to_owned(),
            format!("{:.0}", of(|run| run.per_second)),
            format!("{:.2}", of(|run| run.cpu_us_each)),
            match clients.is_empty() {
                true => "-".to_owned(),
                false => format!("{:.2}", Summary::of(&clients).median),
            },
            format!("{:.0}", of(|run| run.p50_us).median),
            format!("{:.0}", of(|run| run.p99_us).median),
        ]);
    }
    table
}

/// One ratio and what it must be.
struct Goal {
    what: String,
    ratio: Summary,
    bound: Bound,
}

enum Bound {
    AtMost(f64),
    AtLeast(f64),
    /// told for the sake of comparison
    None,
}

impl Goal {
    fn is_met(&self) -> bool {
        match self.bound {
            Bound::AtMost(most) => self.ratio.median <= most,
            Bound::AtLeast(least) => self.ratio.median >= least,
            Bound::None => true,
        }
    }

    fn verdict(&self) -> String {
        let bound = match self.bound {
            Bound::AtMost(most) => format!("at most {most}"),
            Bound::AtLeast(least) => format!("at least {least}"),
            Bound::None => return String::new(),
        };
        format!("{bound}: {}", if self.is_met() { "met" } else { "NOT met" })
    }
}

/// Prints every ratio; says whether all goals are met.
pub fn goals(cells: &[Cell]) -> bool {
    let all = judged(cells);
    let mut table = Table::new(&["ratio", "median (10th to 90th)", "goal"]);
    for goal in &all {
        table.row([goal.what.clone(), format!("{:.2}", goal.ratio), goal.verdict()]);
    }
    println!("{table}");
    all.iter().all(Goal::is_met)
}

fn judged(cells: &[Cell]) -> Vec<Goal> {
    let series = |system: &str, figure: fn(&Figures) -> f64| -> Option<Vec<f64>> {
        let cell = cells.iter().find(|cell| cell.system == system)?;
        Some(cell.runs.iter().map(figure).collect())
    };
    let cpu = |system| series(system, |run| run.cpu_us_each);
    let rate = |system| series(system, |run| run.per_second);
    let mut all = Vec::new();
    let mut judge =
        |what: String, over: Option<Vec<f64>>, under: Option<Vec<f64>>, bound: Bound| {
            let Some((over, under)) = over.zip(under) else { return };
            let ratios: Vec<f64> =
                over.iter().zip(&under).map(|(over, under)| over / under).collect();
            all.push(Goal { what, ratio: Summary::of(&ratios), bound });
        };
    let floor = cpu(ECHO).zip(cpu(TRANSITION)).map(|(echo, transition)| {
        echo.iter().zip(&transition).map(|(echo, transition)| echo + transition).collect()
    });
    let what = format!("CPU, {HTTP} by echo and transition together");
    judge(what, cpu(HTTP), floor, Bound::AtMost(1.3));
    for ours in [BATCH, SOCKET] {
        let what = format!("CPU, {ours} by the transition");
        judge(what, cpu(ours), cpu(TRANSITION), Bound::None);
    }
    for (ours, theirs, least) in [
        (HTTP, REDIS, 1.5),
        (HTTP, VALKEY, 1.0),
        (BATCH, REDIS_PIPELINED, 1.0),
        (BATCH, VALKEY_PIPELINED, 1.0),
        (SOCKET, REDIS_PIPELINED, 3.0),
        (SOCKET, VALKEY_PIPELINED, 1.0),
        (HTTP, RESTATE, 1.0),
        (BATCH, RESTATE, 1.0),
        (SOCKET, RESTATE, 1.0),
    ] {
        let what = format!("steps a second, {ours} by {theirs}");
        judge(what, rate(ours), rate(theirs), Bound::AtLeast(least));
        let what = format!("CPU, {ours} by {theirs}");
        judge(what, cpu(ours), cpu(theirs), Bound::None);
    }
    let p99 = |system| series(system, |run| run.p99_us);
    judge(format!("p99, {HTTP} by {RESTATE}"), p99(HTTP), p99(RESTATE), Bound::AtMost(1.0));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(system: &'static str, runs: &[(f64, f64)]) -> Cell {
        let runs = runs.iter().map(|(per_second, cpu_us_each)| Figures {
            per_second: *per_second,
            cpu_us_each: *cpu_us_each,
            client_cpu_us_each: None,
            p50_us: 1.0,
            p99_us: 2.0,
            bytes_each: None,
        });
        Cell { system, shape: "uniform", clients: 64, runs: runs.collect() }
    }

    #[test]
    fn a_ratio_is_that_of_its_round() {
        // the second round was slow for both
        let cells =
            [cell(HTTP, &[(60.0, 9.0), (30.0, 9.0)]), cell(REDIS, &[(40.0, 9.0), (20.0, 9.0)])];
        let all = judged(&cells);
        assert_eq!(all[0].what, "steps a second, HTTP by Redis");
        assert_eq!((all[0].ratio.p10, all[0].ratio.p90), (1.5, 1.5));
        assert!(all[0].is_met() && all[0].verdict() == "at least 1.5: met");
    }

    #[test]
    fn the_floor_is_the_echo_and_the_transition() {
        let systems = |http: f64| {
            let runs = [(ECHO, 10.0), (TRANSITION, 5.0), (HTTP, http)];
            runs.map(|(system, cpu)| cell(system, &[(1.0, cpu)]))
        };
        assert!(judged(&systems(19.4))[0].is_met());
        let over = judged(&systems(19.6));
        assert!(!over[0].is_met() && over[0].verdict().ends_with("NOT met"));
    }

    #[test]
    fn what_was_not_measured_is_not_judged() {
        assert!(judged(&[cell(HTTP, &[(1.0, 1.0)])]).is_empty());
    }
}
