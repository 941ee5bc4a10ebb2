//! A goal in its slice has the verdict that it has in the whole design.

use std::path::{Path, PathBuf};

use design::model::Design;
use model_checker::{FailureStatus, Options, Report, Verdict, check};

fn designs(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder of designs")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "design"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{}", folder.display());
    files
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Proved => "proved",
        Verdict::Holds(_) => "holds",
        Verdict::Violated(_) => "violated",
        Verdict::Unknown(_) => "not known",
    }
}

fn status(status: &FailureStatus) -> &'static str {
    match status {
        FailureStatus::LoadBearing(_) => "load-bearing",
        FailureStatus::Redundant { .. } => "redundant",
        FailureStatus::Vacuous { .. } => "vacuous",
        FailureStatus::Unknown { .. } => "not known",
        FailureStatus::Compiler { .. } => "compiler",
        FailureStatus::Measured => "measured",
    }
}

/// What the two say, where it is not the same. In a slice less may be cut, so what held within bounds may be
/// proved; and a bound that ended one search may not end the other.
fn differences(sliced: &Report, whole: &Report) -> Vec<String> {
    let mut all = Vec::new();
    for (one, other) in sliced.goals.iter().zip(&whole.goals) {
        let (is, was) = (word(&one.verdict), word(&other.verdict));
        let better = matches!((is, was), ("proved", "holds") | (_, "not known"));
        if is != was && !better {
            all.push(format!("{} is {is} in its slice, {was} in the whole", one.name));
        }
    }
    for (one, other) in sliced.failures.iter().zip(&whole.failures) {
        let (is, was) = (status(&one.status), status(&other.status));
        if is != was && was != "not known" {
            all.push(format!("{}: {is} in its slice, {was} in the whole", one.claim));
        }
    }
    let mut seen: Vec<&String> = sliced.unwitnessed.iter().collect();
    let mut known: Vec<&String> = whole.unwitnessed.iter().collect();
    seen.sort();
    known.sort();
    if seen != known {
        all.push(format!("never seen {seen:?} in slices, {known:?} in the whole"));
    }
    all
}

fn compared(design: &Design) -> Vec<String> {
    let options = Options { free: false, max_states: 200_000, ..Options::default() };
    let sliced = check(design, &options, &mut |_| ()).expect("a world");
    let whole = Options { slices: false, ..options };
    let whole = check(design, &whole, &mut |_| ()).expect("a world");
    differences(&sliced, &whole)
}

#[test]
fn slices_say_what_the_whole_design_says() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for folder in ["planted", "verdicts"] {
        for path in designs(folder) {
            let text = std::fs::read_to_string(&path).expect("a design");
            let compiled = design::compile("slices", &text, &design::NoCatalog);
            let Some(design) = compiled.design else { continue };
            count += 1;
            let name = path.file_stem().expect("a name").to_string_lossy().to_string();
            wrong.extend(compared(&design).into_iter().map(|what| format!("{name}: {what}")));
        }
    }
    assert!(count > 200, "{count} designs");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
