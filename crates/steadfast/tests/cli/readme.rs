//! What the README and the first steps show is what happens.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::cli::dev::Dev;
use crate::cli::support::{folder, root, run_in};

/// A command that a page shows, and what it shows of its output.
pub struct Shown {
    pub command: String,
    pub output: Vec<String>,
}

/// Indented lines: `$ command`, then what it prints.
pub fn transcripts(page: &str) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    let mut open = false;
    for line in page.lines() {
        let Some(line) = line.strip_prefix("    ") else {
            open = false;
            continue;
        };
        if let Some(command) = line.strip_prefix("$ ") {
            all.push(Shown { command: command.to_string(), output: Vec::new() });
            open = true;
        } else if let Some(last) = all.last_mut().filter(|_| open) {
            last.output.push(line.to_string());
        }
    }
    all
}

impl Shown {
    /// The words after `steadfast`.
    pub fn words(&self) -> Vec<&str> {
        let rest = self.command.strip_prefix("steadfast ");
        rest.unwrap_or_else(|| panic!("`{}`", self.command)).split(' ').collect()
    }

    /// What was printed is what the page shows.
    pub fn holds(&self, out: &str) {
        let said: Vec<&str> = out.lines().collect();
        let Shown { command, output } = self;
        let shown = output.join("\n");
        assert!(fits(output, &said), "`{command}` says\n{out}\nand not\n{shown}");
    }
}

/// `…` stands for anything within a line, and alone for any number of lines.
pub fn fits(shown: &[String], said: &[&str]) -> bool {
    match shown.split_first() {
        None => said.is_empty(),
        Some((line, rest)) if line.trim() == "…" => {
            (0..=said.len()).any(|skipped| fits(rest, &said[skipped..]))
        }
        Some((line, rest)) => said
            .split_first()
            .is_some_and(|(first, said)| line_fits(line, first) && fits(rest, said)),
    }
}

fn line_fits(shown: &str, said: &str) -> bool {
    let parts: Vec<&str> = shown.split('…').collect();
    let [first, ref rest @ ..] = parts[..] else { return shown == said };
    let Some(mut left) = said.strip_prefix(first) else { return false };
    let Some((last, between)) = rest.split_last() else { return left.is_empty() };
    for part in between {
        let Some((_, after)) = left.split_once(part) else { return false };
        left = after;
    }
    left.ends_with(last)
}

#[test]
fn the_readme_shows_what_happens() {
    let page = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(page.contains("    cargo run --release -- dev tickets\n"));
    assert!(page.contains("    cargo xtask test\n"));
    assert!(page.lines().count() <= 75, "a screen");
    let dev = Dev::start(&folder("readme"), &["tickets"]);
    let shown = transcripts(&page);
    assert!(shown.len() >= 4, "{} commands", shown.len());
    for shown in shown {
        shown.holds(&dev.run(&shown.words()).out);
    }
    // the guard is as the design has it
    let tickets = dev.run(&["show", "tickets", "--flat"]).out;
    let guard = page.split("    step buyer[hold(").nth(1).unwrap().split("}] {").next().unwrap();
    assert!(tickets.contains(&guard.replace("\n    ", "\n")), "{guard}");
}

#[test]
fn the_first_steps_can_be_taken() {
    let page = fs::read_to_string(root().join("docs/first-steps.md")).unwrap();
    let folder = folder("first-steps");
    let line = |start: &str| {
        let found = page.lines().find_map(|line| line.strip_prefix("    ")?.strip_prefix(start));
        found.unwrap_or_else(|| panic!("no `{start}`")).split(' ').collect::<Vec<_>>()
    };
    let new = line("steadfast new ");
    run_in(&folder, &[&["new"], &new[..]].concat()).exits(0);
    let mut dev = Dev::start(&folder, &line("steadfast dev "));
    dev.until("shop.design: proved");
    // the mistake that it invites to
    let added = "confirm_ticket also into { TicketBookingState.item.status := AVAILABLE }";
    assert!(page.contains(&format!("    {added}\n")));
    let file = folder.join("shop.design");
    let text = fs::read_to_string(&file).unwrap();
    let broken =
        text.replacen("use A08 as Ticket {\n", &format!("use A08 as Ticket {{\n    {added}\n"), 1);
    assert_ne!(broken, text);
    fs::write(&file, broken).unwrap();
    let told = dev.until("/console/shop/check");
    assert!(told.contains("shop.design: violated"), "{told}");
    assert_eq!(dev.interrupt(), Some(0));
    // the calls
    let dev = Dev::start(&folder, &["tickets", "--data", "tickets-dev"]);
    let address = dev.address.strip_prefix("http://").unwrap();
    let mut answers = Vec::new();
    for line in page.lines().filter_map(|line| line.strip_prefix("    curl ")) {
        if line.contains("/feed") {
            continue; // it does not end
        }
        let line = format!("curl --silent {}", line.replace("127.0.0.1:7070", address));
        let ran = Command::new("sh").args(["-c", &line]).output().unwrap();
        let answer: Value =
            serde_json::from_slice(&ran.stdout).unwrap_or_else(|e| panic!("{line}: {e}"));
        answers.push(answer);
    }
    assert_eq!(answers.len(), 5);
    assert_eq!(answers[2]["prevents"][0], "seat: oversell");
    assert_eq!(answers[3]["truth"]["SeatInventoryState"]["status"], "HELD");
}

#[test]
fn what_is_left_out_is_told_from_what_is_wrong() {
    let shown = |lines: &[&str]| lines.iter().map(ToString::to_string).collect::<Vec<_>>();
    let said = ["done, revision 0-3", "  Seat A1: x", "  more", "end"];
    assert!(fits(&shown(&["done, revision …", "  …", "end"]), &said));
    assert!(fits(&shown(&["done, … 0-3", "  Seat A1: x", "  more", "end"]), &said));
    assert!(!fits(&shown(&["done, revision …", "end"]), &said));
    assert!(!fits(&shown(&["done, revision …", "…", "the end"]), &said));
    assert!(fits(&shown(&["…"]), &said) && fits(&[], &[]));
}
