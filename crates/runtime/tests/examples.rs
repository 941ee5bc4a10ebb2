//! The programs that the benchmarks run, at a small size, so that they cannot rot.

#[path = "../examples/transitions/executor.rs"]
mod executor;
#[path = "../examples/transitions/figures.rs"]
mod figures;
#[path = "../examples/transitions/registers.rs"]
mod registers;
#[path = "../examples/due_load/timers.rs"]
mod timers;

use figures::Load;

#[test]
fn transitions_under_load_are_measured() {
    let load = Load { clients: 8, keys: 10, seconds: 0.2, ..Load::default() };
    for figures in [registers::runtime(&load).unwrap(), registers::log(&load).unwrap()] {
        assert!(figures.per_second > 1.0, "{figures:?}");
        assert!(figures.p50_us > 0.0 && figures.p50_us <= figures.p99_us, "{figures:?}");
        assert!(figures.bytes_each > 64.0, "{figures:?}");
        let line: serde_json::Value = serde_json::from_str(&figures.to_json()).unwrap();
        assert!(line["cpu_us_each"].is_number(), "{line}");
    }
}

#[test]
fn a_burst_on_a_pile_of_timers_is_fired_once_each() {
    let name = format!("steadfast-timers-{}", std::process::id());
    let directory = std::env::temp_dir().join(name);
    let figures = timers::run(&directory, 3_000, 1_000).unwrap();
    let line: serde_json::Value = serde_json::from_str(&figures.to_json()).unwrap();
    assert_eq!(line["pending"], 3_000);
    assert!(line["burst_fire_seconds"].as_f64().unwrap() > 0.0, "{line}");
    std::fs::remove_dir_all(&directory).unwrap();
}
