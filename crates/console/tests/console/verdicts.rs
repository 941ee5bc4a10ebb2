//! What is known of a design, as a visitor meets it in a real Chromium.

use std::time::Duration;

use gateway::Budget;
use model_checker::Word;
use server::Config;

use crate::looks::{audit, is_picture};
use crate::support::{TICKETS, config, service};
use crate::webdriver::Browser;

#[test]
fn nobody_overlooks_what_a_design_is_worth() {
    let bounds = vec!["version: 0..3".to_string(), "log: 3 entries".to_string()];
    let why = "`no_oversell`: more states than the budget allows".to_string();
    let words = [
        ("unchecked", None, "not checked", "This design was not checked."),
        ("proved", Some(Word::Proved), "proved", "nothing was cut"),
        ("holds", Some(Word::Holds { bounds }), "holds within bounds", "log: 3 entries"),
        ("unknown", Some(Word::NotKnown { why }), "not known", "more states than the budget"),
        ("violated", Some(Word::Violated), "violated", "This design is violated."),
    ];
    let services = words.iter().map(|(name, word, ..)| service(name, TICKETS).judged(word.clone()));
    let running = crate::support::start(config(), services.collect()).unwrap();
    let browser = Browser::start("console");
    let at = |path: &str| format!("http://{}{path}", running.address());
    for (scheme, width) in [("light", 1280), ("dark", 390)] {
        browser.scheme(scheme);
        browser.size(width, 800);
        browser.open(&at("/console"));
        browser.sees(".cards", "holds within bounds");
        audit(&browser, "verdicts");
        assert!(is_picture(&browser.picture(&format!("verdicts-{scheme}"))));
        for (name, _, tag, says) in &words {
            browser.open(&at(&format!("/console/{name}")));
            browser.sees(".top a.tag", tag);
            browser.sees("main", says);
            audit(&browser, name);
            assert!(is_picture(&browser.picture(&format!("verdict-{name}-{scheme}"))));
        }
    }
    // the tag leads to the check
    browser.click(".top a.tag");
    browser.sees("h1", "Check");
    assert!(browser.address().ends_with("/console/violated/check"));
}

#[test]
fn a_check_in_the_background_is_seen_to_end() {
    let config = Config { checking: Some(Budget::default()), ..config() };
    let running = crate::support::start(config, vec![service("tickets", TICKETS)]).unwrap();
    let browser = Browser::start("console");
    let address = format!("http://{}/console/tickets/check", running.address());
    browser.until("it is proved", || {
        browser.open(&address);
        std::thread::sleep(Duration::from_millis(200));
        browser.text("main").contains("oversell").then_some(())
    });
    browser.sees(".top a.tag", "proved");
    audit(&browser, "checked");
}
