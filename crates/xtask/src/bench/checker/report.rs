//! What was measured, as tables, and whether each goal is met.

use serde_json::Value;

use super::super::summary::Summary;
use super::Explored;
use crate::table::Table;

/// How many times the states by the second of stateright's breadth-first search.
const SPEED_MIN: f64 = 5.0;
/// How long the lease may take, every arm.
const LEASE_SECONDS_MAX: f64 = 1.0;

/// All the runs of one thing.
#[derive(Default)]
pub struct Series {
    pub states: f64,
    pub cpu_seconds: Vec<f64>,
    pub wall_seconds: Vec<f64>,
    pub resident_bytes: Vec<f64>,
}

impl Series {
    pub fn add(&mut self, found: &Explored) {
        self.states = found.states;
        self.cpu_seconds.push(found.cpu_seconds);
        self.wall_seconds.push(found.wall_seconds);
        self.resident_bytes.push(found.resident_bytes);
    }
}

pub struct Side {
    pub name: String,
    of: &'static str,
    series: Series,
    /// without what the program takes before it has any states
    bytes_per_state: Vec<f64>,
}

impl Side {
    pub fn new(of: &'static str, search: String) -> Side {
        let name = format!("{of}, {search}");
        Side { name, of, series: Series::default(), bytes_per_state: Vec::new() }
    }

    pub fn add(&mut self, found: &Explored, floor: f64) {
        let bytes = (found.resident_bytes - floor).max(0.0);
        self.bytes_per_state.push(bytes / found.states);
        self.series.add(found);
    }

    /// Unique states for each second of processor time.
    fn speed(&self) -> Summary {
        let speeds: Vec<f64> =
            self.series.cpu_seconds.iter().map(|cpu| self.series.states / cpu.max(1e-6)).collect();
        Summary::of(&speeds)
    }

    fn is_breadth_first(&self) -> bool {
        self.name.contains("breadth")
    }
}

pub fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "NOT MET" }
}

pub fn side_by_side(sides: &[Side], participants: usize, judged: bool) -> bool {
    println!("two-phase commit, {participants} participants: {} states\n", sides[0].series.states);
    let mut table =
        Table::new(&["checker", "states a CPU second", "CPU s", "wall s", "bytes a state"]);
    for side in sides {
        table.row([
            side.name.clone(),
            format!("{:.0}", side.speed()),
            format!("{:.2}", Summary::of(&side.series.cpu_seconds)),
            format!("{:.2}", Summary::of(&side.series.wall_seconds)),
            format!("{:.1}", Summary::of(&side.bytes_per_state)),
        ]);
    }
    println!("{table}");
    let ours = || sides.iter().filter(|side| side.of == "steadfast");
    let theirs = || sides.iter().filter(|side| side.of == "stateright");
    // Our slowest against its fastest.
    let slowest = ours().map(|side| side.speed().median).fold(f64::INFINITY, f64::min);
    let fastest = |breadth: bool| {
        theirs()
            .filter(|side| side.is_breadth_first() == breadth)
            .map(|side| side.speed().median)
            .fold(0.0, f64::max)
    };
    let (bfs, dfs) = (slowest / fastest(true), slowest / fastest(false));
    let memory = |side: &Side| Summary::of(&side.bytes_per_state).median;
    let most = ours().map(memory).fold(0.0, f64::max);
    let least =
        theirs().filter(|side| side.is_breadth_first()).map(memory).fold(f64::INFINITY, f64::min);
    println!(
        "our slowest against its fastest: {bfs:.1} times breadth first, {dfs:.1} times depth first"
    );
    println!(
        "our most memory against its least breadth first: {most:.1} and {least:.1} bytes a state"
    );
    for tlc in sides.iter().filter(|side| side.of == "TLC") {
        let times = slowest / tlc.speed().median;
        println!("our slowest against TLC: {times:.1} times the states a CPU second");
    }
    if !judged {
        println!();
        return true;
    }
    let (speed_met, memory_met) = (bfs >= SPEED_MIN, most < least);
    println!("goal of {SPEED_MIN} times its breadth-first search: {}", verdict(speed_met));
    println!("goal of less memory by the state: {}\n", verdict(memory_met));
    speed_met && memory_met
}

pub fn lease(series: &Series, answer: &Value, judged: bool) -> bool {
    let cpu = Summary::of(&series.cpu_seconds);
    println!(
        "the lease, every arm: {} states as written, {} in {} arms\nCPU s {cpu:.3}, wall s {:.3}",
        series.states,
        answer["arm_states"],
        answer["arms"],
        Summary::of(&series.wall_seconds),
    );
    if !judged {
        println!();
        return true;
    }
    let met = cpu.median < LEASE_SECONDS_MAX;
    println!("goal of less than {LEASE_SECONDS_MAX} s of processor time: {}\n", verdict(met));
    met
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(of: &'static str, search: &str, cpu_seconds: f64, bytes: f64) -> Side {
        let mut side = Side::new(of, search.to_owned());
        let found = Explored {
            states: 1000.0,
            cpu_seconds,
            wall_seconds: cpu_seconds,
            resident_bytes: bytes * 1000.0,
            answer: Value::Null,
        };
        side.add(&found, 0.0);
        side
    }

    fn judged(ours: (f64, f64), theirs: (f64, f64)) -> bool {
        let sides = [
            side("steadfast", "breadth first, 1 threads", ours.0, ours.1),
            side("stateright", "breadth first, 1 threads", theirs.0, theirs.1),
            side("stateright", "depth first, 1 threads", theirs.0, theirs.1),
        ];
        side_by_side(&sides, 8, true)
    }

    #[test]
    fn five_times_as_fast_with_less_memory_meets_the_goals() {
        assert!(judged((1.0, 30.0), (5.0, 100.0)));
        assert!(!judged((1.0, 30.0), (4.9, 100.0)));
        assert!(!judged((1.0, 100.0), (9.0, 100.0)));
    }

    #[test]
    fn the_lease_has_one_second() {
        let answer = serde_json::json!({ "arms": 3, "arm_states": 9 });
        let series = |cpu: f64| Series {
            states: 9.0,
            cpu_seconds: vec![cpu],
            wall_seconds: vec![cpu],
            resident_bytes: vec![1.0],
        };
        assert!(lease(&series(0.9), &answer, true));
        assert!(!lease(&series(1.1), &answer, true));
    }
}
