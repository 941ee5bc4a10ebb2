//! `steadfast fmt`

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use crate::cli::support::{SOUND, command, folder_with, run, run_in};

fn ugly() -> String {
    SOUND
        .replace("actor keeper\n", "actor    keeper\n")
        .replace("step keeper[close", "\n\n\nstep keeper[ close")
}

#[test]
fn a_file_is_laid_out_in_place_and_then_stays() {
    let folder = folder_with("fmt", "door.design", &ugly());
    run_in(&folder, &["fmt", "--check", "door.design"])
        .exits(1)
        .says("door.design:3: not formatted")
        .says("help: `steadfast fmt door.design` formats it");
    assert_eq!(fs::read_to_string(folder.join("door.design")).unwrap(), ugly());
    run_in(&folder, &["fmt", "door.design"]).exits(0);
    assert_eq!(fs::read_to_string(folder.join("door.design")).unwrap(), SOUND);
    run_in(&folder, &["fmt", "--check", "door.design"]).exits(0);
}

#[test]
fn standard_input_goes_to_standard_output() {
    let folder = folder_with("fmt-stdin", "x", "");
    let mut child = command(&folder, &["fmt", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(ugly().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), SOUND);
}

#[test]
fn a_file_with_an_error_is_laid_out_around_it_and_is_wrong() {
    let text = ugly().replace("step keeper[open(door: Door) {", "step keeper[open(door: Door {");
    let folder = folder_with("fmt-error", "door.design", &text);
    run_in(&folder, &["fmt", "door.design"]).exits(2).says("error[E0");
    let after = fs::read_to_string(folder.join("door.design")).unwrap();
    assert!(after.contains("step keeper[open(door: Door {"), "{after}");
    assert!(after.contains("\nactor keeper\n"), "{after}");
}

#[test]
fn the_catalog_is_laid_out_and_cannot_be_written() {
    let list = run(&["list", "--json"]).json();
    for design in list["designs"].as_array().unwrap() {
        run(&["fmt", "--check", design["name"].as_str().unwrap()]).exits(0);
    }
    run(&["fmt", "tickets"]).exits(2).says("`tickets` is in the catalog, not in a file");
}
