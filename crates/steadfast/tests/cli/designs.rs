//! Beside each design of the catalog stands its verdict, and it is still true.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{root, run_in};

fn designs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            designs(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "design") {
            found.push(path);
        }
    }
}

#[test]
fn every_design_has_the_verdict_that_stands_beside_it() {
    let mut paths = Vec::new();
    designs(&root().join("designs"), &mut paths);
    paths.sort();
    assert!(!paths.is_empty());
    let mut wrong = Vec::new();
    for path in &paths {
        let beside = fs::read_to_string(path.with_extension("verdict")).unwrap_or_default();
        let ran = run_in(&root(), &["check", "--golden", &path.to_string_lossy()]);
        if ran.out != beside {
            wrong.push(format!("{}\n--- kept\n{beside}--- now\n{}", path.display(), ran.out));
        }
    }
    assert!(
        wrong.is_empty(),
        "{}\nhelp: `cargo xtask designs` writes them anew; read what changed before you commit it",
        wrong.join("\n")
    );
}
