//! Compiles one file three times and prints what that cost, as one line of JSON.
//!
//!     cargo run --release -p design --example compile -- FILE

use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: compile FILE");
        return ExitCode::from(2);
    };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("cannot read `{path}`: {error}");
            return ExitCode::from(2);
        }
    };
    let mut nanos = Vec::new();
    let mut cpu = Vec::new();
    let mut diagnostics = 0;
    for _ in 0..3 {
        let (started, used) = (Instant::now(), cpu_nanos());
        let compiled = design::compile(&path, &text, &design::NoCatalog);
        nanos.push(started.elapsed().as_nanos() as u64);
        cpu.push(cpu_nanos().saturating_sub(used));
        diagnostics = compiled.diagnostics.len();
        for diagnostic in compiled.diagnostics.iter().take(3) {
            let at = compiled.sources.position(diagnostic.primary.span);
            eprintln!(
                "{path}:{}:{}: {}: {}",
                at.line, at.column, diagnostic.code, diagnostic.message
            );
            for help in &diagnostic.help {
                eprintln!("  help: {help}");
            }
        }
    }
    nanos.sort_unstable();
    cpu.sort_unstable();
    println!(
        "{{\"lines\":{},\"diagnostics\":{diagnostics},\"nanos\":{},\"cpu_nanos\":{}}}",
        text.lines().count(),
        nanos[1],
        cpu[1]
    );
    ExitCode::SUCCESS
}

/// The time this process was given, in nanoseconds; the kernel counts it to the microsecond or
/// better in `schedstat`.
fn cpu_nanos() -> u64 {
    std::fs::read_to_string("/proc/self/schedstat")
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}
