//! The derivation held against the catalog's action lines.
//!
//! `actions.tsv` has the lines, `wordings.tsv` says what each wording means (by wording, never by
//! line), `actions_of/DESIGN.tsv` says which operation of a design is which line. A design without
//! such a table is only counted; a table without its design is a mistake.

use crate::support;

use std::collections::BTreeSet;
use std::path::Path;

use explain::Mechanism;
use support::actions::{judge, wordings};
use support::{designs, table};

#[test]
fn the_fourteen_are_the_catalogs() {
    let names: Vec<String> =
        table("mechanisms.tsv").into_iter().map(|row| row[1].clone()).collect();
    assert_eq!(Mechanism::ALL.map(|m| m.name().to_owned()).to_vec(), names);
    for (at, mechanism) in Mechanism::ALL.into_iter().enumerate() {
        assert_eq!(usize::from(mechanism.number()), at + 1);
    }
}

#[test]
fn every_wording_has_a_meaning_and_no_meaning_is_left_over() {
    let wordings = wordings();
    let lines = table("actions.tsv");
    assert_eq!(lines.len(), 150);
    let used: BTreeSet<&str> = lines.iter().map(|line| line[4].as_str()).collect();
    let known: BTreeSet<&str> = wordings.keys().map(String::as_str).collect();
    assert_eq!(used, known);
    let shapes = ["transition", "create", "overwrite", "append", "source", "projection"];
    for (text, wording) in &wordings {
        assert!(wording.shapes.iter().flatten().all(|s| shapes.contains(&s.as_str())), "{text}");
        for mechanism in wording.mechanisms.iter().filter(|m| *m != "none") {
            assert!((1..=14).contains(&mechanism.parse::<u8>().unwrap()), "{text}");
        }
        let sure = wording.mechanisms.len() == 1
            || wording.shapes.len() == 1 && wording.shapes[0].len() > 1;
        assert!(sure || wording.ambiguous, "`{text}` allows several and does not say why");
    }
    let ambiguous = wordings.values().filter(|wording| wording.ambiguous).count();
    println!("{} wordings, {ambiguous} of them ambiguous", wordings.len());
}

#[test]
fn derivations_agree_with_the_action_lines() {
    let lines = table("actions.tsv");
    let wordings = wordings();
    let mut problems = Vec::new();
    let mut covered = BTreeSet::new();
    let mut without = Vec::new();
    let designs = designs();
    for found in &designs {
        let path = format!("actions_of/{}.tsv", found.name);
        if !data(&path).exists() {
            without.push(found.name.clone());
            continue;
        }
        let derived = explain::derive(&found.design);
        for row in table(&path) {
            let line = lines.iter().position(|line| line[2] == row[0] && line[3] == row[1]);
            let Some(line) = line else {
                problems.push(format!("{path}: no line `{}` on `{}`", row[0], row[1]));
                continue;
            };
            covered.insert(line);
            let wording = &wordings[&lines[line][4]];
            let states = row.get(3).map_or("", String::as_str);
            if let Err(problem) = judge(&derived, &row[2], states, wording) {
                problems
                    .push(format!("{}: {} is `{}`: {problem}", found.name, row[2], lines[line][4]));
            }
        }
    }
    for entry in std::fs::read_dir(data("actions_of")).unwrap() {
        let name = entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned();
        if !designs.iter().any(|found| found.name == name) {
            problems.push(format!("actions_of/{name}.tsv has no design that compiles"));
        }
    }
    println!("{} of {} action lines have a design", covered.len(), lines.len());
    println!("designs without a table of actions: {without:?}");
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(covered.len() >= 149, "only {} lines have a design", covered.len());
}

fn data(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}
