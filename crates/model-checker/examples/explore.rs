//! Explores a design and prints what that took, as one line of JSON.
//!
//!     cargo run --release -p model-checker --example explore -- FILE [OPTION…]
//!
//! `--threads N`, `--max-states N`; `--text`: the verdict as a person reads it; `--whole`: not in slices;
//! `--told-apart`: without symmetry; `--goals`: no failures, witnesses and free clauses; `--invariants`: no
//! `recovers` either; `--searches`: each search in a line of its own; `--plain`: invariants alone, without symmetry, normalisation and faults.

use std::process::ExitCode;
use std::time::Instant;

use model_checker::{Options, Verdict};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mut path = None;
    let (mut text_wanted, mut searches_wanted) = (false, false);
    let mut options = Options::default();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--threads" => match arguments.next().and_then(|number| number.parse().ok()) {
                Some(threads) => options.threads = threads,
                None => return usage(),
            },
            "--text" => text_wanted = true,
            "--searches" => searches_wanted = true,
            "--max-states" => match arguments.next().and_then(|number| number.parse().ok()) {
                Some(states) => options.max_states = states,
                None => return usage(),
            },
            "--whole" => options.slices = false,
            "--told-apart" => options.symmetry = false,
            "--goals" | "--invariants" => {
                options = Options {
                    failures: false,
                    witnesses: false,
                    free: false,
                    recovery: argument == "--goals",
                    ..options
                };
            }
            "--plain" => {
                options = Options {
                    symmetry: false,
                    normalise: false,
                    faults: Some(Vec::new()),
                    failures: false,
                    recovery: false,
                    witnesses: false,
                    ..options
                };
            }
            _ if path.is_none() => path = Some(argument),
            _ => return usage(),
        }
    }
    let Some(path) = path else { return usage() };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("cannot read `{path}`: {error}");
            return ExitCode::from(2);
        }
    };
    let compiled = design::compile(&path, &text, &design::NoCatalog);
    let Some(design) = compiled.design else {
        for diagnostic in &compiled.diagnostics {
            eprintln!("{path}: {}: {}", diagnostic.code, diagnostic.message);
        }
        return ExitCode::from(2);
    };
    let started = Instant::now();
    let report = match model_checker::check(&design, &options, &mut |_| ()) {
        Ok(report) => report,
        Err(problem) => {
            eprintln!("{path}: {problem}");
            return ExitCode::from(2);
        }
    };
    if text_wanted {
        use model_checker::render::{Paint, Traces, text};
        print!("{}", text(&path, &report, Traces::Broken, Paint::Plain));
        return ExitCode::SUCCESS;
    }
    let violated =
        report.goals.iter().filter(|goal| matches!(goal.verdict, Verdict::Violated(_))).count();
    let arms: Vec<u64> =
        report.failures.iter().filter_map(|failure| Some(failure.arm.as_ref()?.states)).collect();
    let searches = &report.searches;
    for search in searches.iter().filter(|_| searches_wanted) {
        println!(
            "{}: {} states, {} transitions, depth {}, {:.3} s",
            search.name, search.states, search.transitions, search.depth, search.seconds
        );
    }
    println!(
        "{{\"states\":{},\"transitions\":{},\"bytes\":{},\"violated\":{violated},\"arms\":{},\
         \"arm_states\":{},\"searches\":{},\"all_states\":{},\"all_transitions\":{},\"ok\":{},\
         \"closed\":{},\"seconds\":{:.6}}}",
        report.base.states,
        report.base.transitions,
        report.base.bytes,
        arms.len(),
        arms.iter().sum::<u64>(),
        searches.len(),
        searches.iter().map(|search| search.states).sum::<u64>(),
        searches.iter().map(|search| search.transitions).sum::<u64>(),
        report.ok(),
        report.base.closed,
        started.elapsed().as_secs_f64()
    );
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!(
        "usage: explore FILE [--threads N] [--max-states N] [--text] [--searches] [--whole] \
         [--told-apart] [--goals | --invariants | --plain]"
    );
    ExitCode::from(2)
}
