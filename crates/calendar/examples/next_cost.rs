//! What the next instant of a schedule costs, for `cargo xtask bench calendar`.
//!
//! `next_cost rows N` prints N random schedules and instants, as `tests/beside.py` reads them. `next_cost none N R` makes them
//! and does nothing else, R times; `next_cost read N R` also reads each schedule and asks it once; `next_cost next N R` reads
//! them once, and asks R times.

use std::hint::black_box;

use calendar::{Schedule, Zone};

#[path = "../tests/random.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod random;

use random::{Dice, Line, ZONES, instant};

struct Case {
    line: String,
    zone: Zone,
    after: i64,
}

fn cases(count: usize) -> Vec<Case> {
    let mut dice = Dice(1);
    let case = |round: usize| {
        let zone = Zone::named(ZONES[round % ZONES.len()]).expect("a zone of the database");
        let seconds = dice.below(4) == 0;
        let line = Line::random(&mut dice, seconds).text;
        let after = instant(&mut dice, &zone);
        Case { line, zone, after }
    };
    (0..count).map(case).collect()
}

fn read(case: &Case) -> Schedule {
    let text = format!("{} in {}", case.line, case.zone.name());
    Schedule::parse(&text).expect("what is made can be read")
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(1);
    let (cases, rounds) = (cases(number(1)), number(2));
    match arguments.first().map(String::as_str) {
        Some("rows") => {
            let row = |case: &Case| format!("{}\t{}\t{}", case.line, case.zone.name(), case.after);
            println!("{}", cases.iter().map(row).collect::<Vec<_>>().join("\n"));
        }
        Some("read") => {
            for _ in 0..rounds {
                for case in &cases {
                    black_box(read(case).next(case.after * 1_000));
                }
            }
        }
        Some("next") => {
            let schedules: Vec<Schedule> = cases.iter().map(read).collect();
            for _ in 0..rounds {
                for (schedule, case) in schedules.iter().zip(&cases) {
                    black_box(schedule.next(case.after * 1_000));
                }
            }
        }
        _ => {}
    }
}
