//! The commands of the first steps, as they are printed.

use std::process::Command;

use super::program::run;
use super::root;
use crate::support::tickets;

/// Where the server of that page listens.
const PRINTED: &str = "127.0.0.1:7070";

#[test]
fn the_curl_lines_of_the_first_steps_work_as_printed() {
    let page = std::fs::read_to_string(root().join("docs/first-steps.md")).unwrap();
    let server = tickets();
    let lines: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("    curl ")).collect();
    assert!(lines.len() >= 5, "{lines:?}");
    let mut said = String::new();
    for line in lines {
        assert!(line.contains(PRINTED), "{line}");
        // a feed ends when curl has waited long enough, which it calls a failure
        let line = line.replace(PRINTED, &server.address().to_string());
        let script = format!("curl --silent --show-error {line} || test $? = 28");
        said.push_str(&run(Command::new("sh").args(["-c", &script])));
        said.push('\n');
    }
    for part in [
        "\"outcome\":\"done\"",
        "/problems/tickets/hold/free",
        "\"prevents\":[\"seat: oversell\"",
        "\"status\":\"HELD\"",
        "event: transition",
    ] {
        assert!(said.contains(part), "no {part} in\n{said}");
    }
}
