//! The tutorial is typed by a script, and takes less than ten minutes.

use std::fs;

use crate::cli::support::root;
use crate::pages::parts::{Part, parts};
use crate::pages::session::Session;

/// Silent reading of technical text.
const WORDS_A_MINUTE: usize = 200;
/// Forty words of five letters a minute. Designs are copied; commands are typed.
const KEYS_A_MINUTE: usize = 200;

#[test]
fn the_tutorial_takes_less_than_ten_minutes() {
    let page = fs::read_to_string(root().join("docs/tutorial.md")).unwrap();
    let parts = parts(&page).expect("the tutorial has commands");
    let mut session = Session::new("tutorial");
    session.follow(&parts).unwrap_or_else(|why| panic!("{why}"));
    // everything on the page is read: prose, designs, commands and what they print
    let words: usize = page
        .lines()
        .filter(|line| !line.starts_with("```"))
        .map(|line| line.split_whitespace().count())
        .sum();
    let keys: usize = parts
        .iter()
        .filter_map(|part| match part {
            Part::Type(typed) => Some(typed.iter().map(|shown| shown.command.len() + 1)),
            _ => None,
        })
        .flatten()
        .sum();
    let minutes = |count: usize, a_minute: usize| count as f64 / a_minute as f64;
    let (reading, typing) = (minutes(words, WORDS_A_MINUTE), minutes(keys, KEYS_A_MINUTE));
    let running = session.took.as_secs_f64() / 60.0;
    println!(
        "{words} words in {reading:.1} min, {keys} keys in {typing:.1} min, {} commands in \
         {running:.1} min",
        session.commands
    );
    assert!(session.commands >= 8, "{} commands", session.commands);
    assert!(reading + typing + running < 10.0, "{reading:.1} + {typing:.1} + {running:.1} minutes");
}

#[test]
fn the_picture_of_the_readme_is_what_the_checker_draws() {
    let page = fs::read_to_string(root().join("docs/tutorial.md")).unwrap();
    let parts = parts(&page).expect("the tutorial has commands");
    let mut session = Session::new("picture");
    // the file, and the change that gives it its guard
    let first = parts.iter().find(|part| matches!(part, Part::File { .. }));
    let change = parts.iter().find(|part| matches!(part, Part::Change { .. }));
    for part in [first, change].into_iter().flatten() {
        session.follow(std::slice::from_ref(part)).unwrap();
    }
    session.run("steadfast check laundry.design --traces --report race.html");
    let report = fs::read_to_string(session.folder.join("race.html")).unwrap();
    let drawn = report.split("<svg").nth(1).and_then(|rest| rest.split("</svg>").next());
    let drawn: Vec<&str> = drawn.expect("a drawing").lines().skip(1).collect();
    let shown = fs::read_to_string(root().join("docs/race.svg")).unwrap();
    let shown: Vec<&str> = shown.lines().collect();
    // the picture has its own colours: a page has no styles of the report
    let (title, lines) = drawn.split_first().expect("a title");
    assert!(shown.contains(title) && lines.len() > 20, "{title}");
    let end = shown.len() - 1;
    assert_eq!(shown[end - lines.len()..end], *lines);
    assert!(lines.iter().any(|line| line.contains("book.free would have refused here")));
}
