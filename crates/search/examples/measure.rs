//! What an index costs: processor time of a record that is built or folded, bytes on disk, and how long queries take.
//!
//!     cargo run --release -p search --example measure -- 10000 100000
//!
//! Each number is a size. Records have 5 words in a title and 40 in a body, from 20,000 words of which few are common.

use std::path::Path;
use std::time::{Duration, Instant};

use runtime::{TextAsked, TextChanges, TextEngine, TextRecord, TextShape};
use search::Engine;

const WORDS: u64 = 20_000;
const FOLDS: usize = 20;
const CHANGES: usize = 500;
const ASKED: usize = 2_000;

struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % most
    }

    /// The product of two chances: low numbers are common.
    fn word(&mut self) -> String {
        format!("w{}", self.below(WORDS) * self.below(WORDS) / WORDS)
    }

    fn text(&mut self, words: usize) -> String {
        (0..words).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|it| it.parse().ok()).collect();
    if sizes.is_empty() {
        eprintln!("usage: measure RECORDS …");
        std::process::exit(2);
    }
    println!(
        "records | build µs | fold µs | commit ms | bytes a record | query | p50 µs | p99 µs | cpu µs"
    );
    for size in sizes {
        measure(size);
    }
}

fn put(changes: &mut dyn TextChanges, at: usize, chance: &mut Chance, is_new: bool) {
    let key = format!("item-{at:08}");
    let texts = [Some(chance.text(5)), Some(chance.text(40))];
    let truth = texts.iter().flatten().map(String::as_str).collect::<Vec<_>>().join("\0");
    let facets = [Some(format!("city{}", chance.below(50)))];
    let record = TextRecord {
        key: key.as_bytes(),
        group: b"",
        texts: &texts,
        facets: &facets,
        truth: truth.as_bytes(),
    };
    if is_new { changes.add(&record) } else { changes.put(&record) }.expect("it is put");
}

fn measure(size: usize) {
    let directory = std::env::temp_dir().join(format!("search-measure-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    let engine = Engine::in_directory(&directory);
    let shape = TextShape {
        name: "measure".into(),
        mark: "1".into(),
        texts: vec!["title".into(), "body".into()],
        facets: vec!["city".into()],
    };
    let index = engine.open(&shape).expect("it is opened");
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    let began = cpu();
    let mut changes = index.change(true).expect("it can be changed").expect("nobody else does");
    (0..size).for_each(|at| put(changes.as_mut(), at, &mut chance, true));
    changes.commit("0-1").expect("it is committed");
    drop(changes);
    let build = micros(cpu() - began) / size as f64;
    let bytes = bytes_of(&directory) as f64 / size as f64;
    let (began, started) = (cpu(), Instant::now());
    for fold in 0..FOLDS {
        let mut changes = index.change(true).expect("it can be changed").expect("nobody else does");
        for _ in 0..CHANGES {
            let at = chance.below(size as u64) as usize;
            put(changes.as_mut(), at, &mut chance, false);
        }
        changes.commit(&format!("0-{}", fold + 2)).expect("it is committed");
    }
    let fold = micros(cpu() - began) / (FOLDS * CHANGES) as f64;
    let commit_ms = started.elapsed().as_secs_f64() * 1e3 / FOLDS as f64;
    let snapshot = index.snapshot().expect("it was committed");
    let mut first = format!("{size} | {build:.1} | {fold:.1} | {commit_ms:.1} | {bytes:.0}");
    for (name, facets) in
        [("word", &[][..]), ("two words", &[]), ("phrase", &[]), ("prefix", &[]), ("facets", &[0])]
    {
        let mut times = Vec::with_capacity(ASKED);
        let began = cpu();
        for _ in 0..ASKED {
            let (one, two) = (chance.word(), chance.word());
            let words = match name {
                "two words" => format!("{one} {two}"),
                "phrase" => format!("\"{one} {two}\""),
                "prefix" => format!("{}*", &one[..one.len().min(4)]),
                _ => one,
            };
            let started = Instant::now();
            let asked = TextAsked {
                words: &words,
                group: b"",
                after: None,
                limit: 20,
                alone: false,
                facets,
            };
            snapshot.find(&asked).expect("it is found");
            times.push(started.elapsed());
        }
        let spent = micros(cpu() - began) / ASKED as f64;
        times.sort();
        let (p50, p99) = (micros(times[ASKED / 2]), micros(times[ASKED * 99 / 100]));
        println!("{first} | {name} | {p50:.0} | {p99:.0} | {spent:.0}");
        first = " | | | | ".into();
    }
    drop((snapshot, index, engine));
    let _ = std::fs::remove_dir_all(&directory);
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Processor time of this process, all threads.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind = stat.rsplit(") ").next().unwrap_or_default();
    let ticks: u64 =
        behind.split(' ').skip(11).take(2).filter_map(|it| it.parse::<u64>().ok()).sum();
    // a hundred ticks a second, on every Linux
    Duration::from_millis(ticks * 10)
}

fn bytes_of(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let one = |path: &Path| match path.is_dir() {
        true => bytes_of(path),
        false => path.metadata().map_or(0, |file| file.len()),
    };
    entries.map(|entry| one(&entry.path())).sum()
}
