//! `steadfast check`

use std::fs;

use crate::cli::support::{SOUND, folder, folder_with, run, run_in};

/// The sound design with a promise that it does not keep.
fn broken() -> String {
    SOUND.replace("\ncheck {", "\ninvariant shut: all d in Door: d.open = false\n\ncheck {")
}

#[test]
fn a_sound_design_is_a_yes() {
    let folder = folder_with("sound", "door.design", SOUND);
    run_in(&folder, &["check", "door.design"]).exits(0).says("door.design: proved (1 goal proved");
}

#[test]
fn a_broken_promise_is_a_no_with_its_trace() {
    let folder = folder_with("broken", "door.design", &broken());
    run_in(&folder, &["check", "door.design"])
        .exits(1)
        .says("shut     violated in 1 step")
        .says("   1. keeper-1 calls open(door-1)")
        .says("door-1: open false → true");
}

#[test]
fn a_design_of_the_catalog_is_found_by_name() {
    run(&["check", "tickets"]).exits(0).says("tickets: proved");
    run(&["check", "TICKETS", "--compile-only"]).exits(0).says("tickets.design: compiles");
}

#[test]
fn a_budget_that_runs_out_is_neither_yes_nor_no() {
    run(&["check", "tickets", "--max-states", "10"])
        .exits(3)
        .says("tickets: not known")
        .says("help: raise `--max-states` or `--max-memory`");
}

#[test]
fn a_design_without_a_world_is_neither_yes_nor_no() {
    let text = SOUND.replace("check { door: 1  keeper: 1 }\n", "");
    let folder = folder_with("no-world", "door.design", &text);
    run_in(&folder, &["check", "door.design"])
        .exits(3)
        .says("warning[W0701]")
        .says("door.design: not explored (1 subject, 2 steps, 1 goal)");
    run_in(&folder, &["check", "door.design", "--compile-only"]).exits(0);
}

#[test]
fn of_several_designs_each_is_judged_and_the_worst_decides() {
    let folder = folder_with("several", "bad.design", "design Bad \"x\"\nstep\n");
    fs::write(folder.join("broken.design"), broken()).unwrap();
    run_in(&folder, &["check", "broken.design", "tickets"])
        .exits(1)
        .says("broken.design: violated")
        .says("tickets: proved");
    run_in(&folder, &["check", "bad.design", "tickets"]).exits(2).says("tickets: proved");
    run_in(&folder, &["check", "tickets", "broken.design", "--max-states", "10"]).exits(1);
}

#[test]
fn the_report_in_json_has_a_verdict_for_each_design() {
    let folder = folder_with("json", "bad.design", "design Bad \"x\"\nstep\n");
    let ran = run_in(&folder, &["check", "tickets", "bad.design", "nosuch", "--json"]).exits(2);
    let value = ran.json();
    assert_eq!(value["format"], "steadfast-check/1");
    let designs = &value["designs"];
    assert_eq!(designs[0]["report"]["verdict"], "proved");
    assert_eq!(designs[0]["exit"], 0);
    assert_eq!(designs[1]["compiles"], false);
    let place = &designs[1]["diagnostics"][0]["at"];
    assert_eq!(place["file"], "bad.design");
    assert!(place["start"]["line"].as_u64() >= Some(2), "{place}");
    assert!(designs[2]["problem"].as_str().unwrap().contains("`nosuch`"));
    assert_eq!(ran.err, "");
}

#[test]
fn a_report_is_one_page_that_needs_nothing_else() {
    let title = "<script>alert(1)</script>";
    let text = broken().replace("A door that one keeper opens", title);
    let folder = folder_with("report", "door.design", &text);
    run_in(&folder, &["check", "door.design", "--report", "door.html"])
        .exits(1)
        .says("wrote door.html");
    let page = fs::read_to_string(folder.join("door.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("<svg"));
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;"));
    run_in(&folder, &["check", "door.design", "--report", "no/such/folder.html"])
        .exits(2)
        .says("cannot write `no/such/folder.html`: there is no such f");
}

#[test]
fn traces_become_scripts_that_a_shell_can_read() {
    let folder = folder("replay");
    run_in(&folder, &["check", "tickets", "--replay", "scripts"])
        .exits(0)
        .says("wrote scripts/tickets-seat-oversell.sh");
    for entry in fs::read_dir(folder.join("scripts")).unwrap() {
        let path = entry.unwrap().path();
        let status = std::process::Command::new("sh").arg("-n").arg(&path).status().unwrap();
        assert!(status.success(), "{path:?}");
    }
    let script = fs::read_to_string(folder.join("scripts/tickets-seat-oversell.sh")).unwrap();
    assert!(script.contains("call 'organizer-1' 'organizer/add_seat' \"$params\""), "{script}");
    assert!(script.contains("# hold.free refuses here"), "{script}");
    let race = "scripts/tickets-seat-confirm-after-expiry-race.sh";
    let script = fs::read_to_string(folder.join(race)).unwrap();
    assert!(script.contains(r#"clock '{"advance":"5m"}'"#), "{script}");
}

#[test]
fn histories_that_are_prevented_are_told_on_request() {
    let quiet = run(&["check", "tickets"]).exits(0);
    assert!(!quiet.out.contains("would have refused"));
    run(&["check", "tickets", "--traces"]).exits(0).says("here hold.free would have refused");
}

#[test]
fn wrong_options_are_wrong_usage() {
    for words in [
        &["check"][..],
        &["check", "tickets", "--threads", "0"],
        &["check", "tickets", "--max-memory", "lots"],
        &["check", "tickets", "--compile-only", "--report", "x.html"],
        &["chek", "tickets"],
        &[],
    ] {
        run(words).exits(2);
    }
    run(&["check", "tickets", "--max-memory", "lots"]).says("write a size such as 512MB or 4GB");
    run(&["chek", "tickets"]).says("check");
}

#[test]
fn help_has_an_example_for_every_command() {
    for command in ["check", "new", "list", "show", "fmt", "error"] {
        run(&[command, "--help"]).exits(0).says("Examples:\n  steadfast");
    }
}
