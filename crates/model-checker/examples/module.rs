//! Writes a design as a module of TLA+ with its configuration, for TLC: `DIR/NAME.tla`, `DIR/NAME.cfg`.
//! Prints NAME.
//!
//!     cargo run --release -p model-checker --example module -- DESIGN DIR

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, folder] = arguments.as_slice() else {
        eprintln!("usage: module DESIGN DIR");
        return ExitCode::from(2);
    };
    match write(Path::new(path), Path::new(folder)) {
        Ok(name) => {
            println!("{name}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::from(2)
        }
    }
}

fn write(path: &Path, folder: &Path) -> Result<String, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let compiled = design::compile(&path.display().to_string(), &text, &design::NoCatalog);
    if compiled.has_errors() {
        return Err(format!("it does not compile: {:?}", compiled.diagnostics));
    }
    let design = compiled.design.ok_or("there is no design")?;
    let tla = explain::tla(&design, &[]).map_err(|found| found.join("; "))?;
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let written = |ending: &str, text: &str| {
        std::fs::write(folder.join(format!("{}.{ending}", tla.name)), text)
            .map_err(|error| error.to_string())
    };
    written("tla", &tla.module)?;
    written("cfg", &tla.whole_config())?;
    Ok(tla.name)
}
