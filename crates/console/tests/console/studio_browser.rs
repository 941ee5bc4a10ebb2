//! The studio in a real browser: a design with an error is written, mended, checked, walked, tried, and weakened.

use std::sync::Arc;

use console::{Listed, Shelf, Texts};
use design::Catalog;
use server::Running;

use crate::looks::{audit, axe, is_picture};
use crate::studio::DESKS;
use crate::support::{SHELF, TICKETS, config, service};
use crate::webdriver::Browser;

/// A small catalog.
struct Few;

impl Texts for Few {
    fn catalog(&self) -> &dyn Catalog {
        &SHELF
    }

    fn listed(&self) -> Vec<Listed> {
        let listed = SHELF.iter().map(|(id, _)| Listed {
            name: (*id).to_string(),
            folder: "product".into(),
            title: format!("{id} of the catalog"),
        });
        listed.collect()
    }

    fn text(&self, name: &str) -> Option<String> {
        SHELF.iter().find(|(id, _)| *id == name).map(|(_, text)| (*text).to_string())
    }

    fn page(&self, code: &str) -> Option<String> {
        (code == "E0204").then(|| "# E0204: no such thing\n\nIt is `not` there.\n".to_string())
    }
}

fn serve() -> Running {
    let finder = console::Finder(Arc::new(|_| Vec::new()));
    let pages = console::pages_with(finder, Shelf(Arc::new(Few)), console::Apps::default());
    server::start_with(config(), vec![service("tickets", TICKETS)], pages).expect("it starts")
}

/// Puts a text into the field as if it was pasted.
fn writes(browser: &Browser, text: &str) {
    let text = serde_json::to_string(text).expect("a text");
    browser.eval(&format!(
        "(() => {{ const t = document.getElementById('text'); t.value = {text}; \
         t.dispatchEvent(new Event('input', {{ bubbles: true }})); return true; }})()"
    ));
}

fn chooses(browser: &Browser, css: &str, value: &str) {
    browser.eval(&format!(
        "(() => {{ const s = document.querySelector('{css}'); s.value = '{value}'; \
         s.dispatchEvent(new Event('change', {{ bubbles: true }})); return s.value; }})()"
    ));
}

fn steps(browser: &Browser, step: &str, fields: &[(&str, &str)]) {
    let (actor, operation) = step.split_once('/').expect("actor/step");
    chooses(browser, "#step", step);
    browser.sees("#tried .actions", "Do it");
    browser.until(&format!("{actor}[{operation}] is chosen"), || {
        let last = fields.last().map_or("as", |(name, _)| name);
        let there = format!("!!document.querySelector(\"#tried [name='{last}']\")");
        (browser.eval(&there) == true).then_some(())
    });
    for (name, value) in fields {
        browser.fill(&format!("#tried [name='{name}']"), value);
    }
    browser.click("#tried button[value=step]");
}

#[test]
fn a_design_is_written_checked_walked_tried_and_weakened() {
    let running = serve();
    let browser = Browser::start("console");
    let at = |path: &str| format!("http://{}{path}", running.address());
    browser.scheme("light");
    browser.size(1280, 900);
    browser.open(&at("/console"));
    browser.click("header a[href='/console/_/studio']");
    browser.sees("h1", "Studio");
    browser.sees("#told", "It compiles");

    // an error appears where it is, and its page can be read
    writes(&browser, &DESKS.replace("free: DeskState.status", "free: DeskState.state"));
    browser.sees("#told", "error");
    browser.sees("#told .where", "19:");
    let marked = browser.eval("document.querySelector('.gutter .bad').textContent");
    assert_eq!(marked, "19");
    audit(&browser, "studio with an error");
    axe(&browser, "studio with an error");
    assert!(is_picture(&browser.picture("studio-error-light-desk")));
    browser.click("#told li[data-line]");
    let selected = browser.eval(
        "(() => { const t = document.getElementById('text'); \
         return t.value.slice(t.selectionStart, t.selectionEnd); })()",
    );
    assert_eq!(selected, "state");

    // mended, and kept by the tab
    writes(&browser, DESKS);
    browser.sees("#told", "It compiles");
    assert_eq!(browser.eval("document.querySelectorAll('.gutter .bad').length"), 0);
    browser.open(&at("/console/_/studio"));
    browser.sees("#told", "It compiles");

    // checked
    browser.click("button[value=check]");
    browser.sees("#checked", "load-bearing");
    browser.sees("#checked", "one_stay");
    audit(&browser, "studio checked");
    assert!(is_picture(&browser.picture("studio-checked-light-desk")));

    // a guard is taken away: the history is walked
    chooses(&browser, "#clause", "hold.free");
    browser.click("button[value=without]");
    browser.sees("#checked", "Without hold.free, one_stay breaks");
    browser.sees("#checked", "a desk is booked twice");
    browser.sees("#checked .walk .at", "step 1 of");
    let current = || {
        let css = "#checked ol.steps > li:not([hidden])";
        browser.eval(&format!(
            "[...document.querySelectorAll('{css}')].map(e => e.innerText).join('|')"
        ))
    };
    let first = current();
    assert!(!first.as_str().unwrap_or_default().contains('|'), "{first}: one at a time");
    browser.click("#checked .walk button:nth-of-type(3)");
    browser.sees("#checked .walk .at", "step 2 of");
    assert_ne!(current(), first);
    browser.eval("document.activeElement.blur()");
    browser.press("\u{E014}");
    browser.sees("#checked .walk .at", "step 3 of");
    browser.press("\u{E012}");
    browser.sees("#checked .walk .at", "step 2 of");
    assert_eq!(browser.text("#checked .ending"), "");
    browser.press("\u{E010}");
    browser.sees("#checked .ending", "one_stay");
    browser.sees("#checked ol.steps", "\u{2192}");
    let circle = browser.eval("document.querySelectorAll('#checked circle.now').length");
    assert_eq!(circle, 1);
    audit(&browser, "studio without a guard");
    assert!(is_picture(&browser.picture("studio-walk-light-desk")));

    tries(&browser);
    kept(&browser, &at("/console/_/studio"));
}

/// Steps in the scratch store.
fn tries(browser: &Browser) {
    browser.click("button[value=open]");
    browser.sees("#tried", "A scratch store of Desks");
    steps(browser, "clerk/add_desk", &[("p.desk", "d1")]);
    browser.sees("#bench-result", "Done: add_desk d1");
    steps(browser, "guest/hold", &[("p.desk", "d1"), ("p.stay", "s1")]);
    browser.sees("#bench-result", "Done: hold");
    // the guard is looked at while one types
    browser.fill("#tried [name='as']", "bob");
    browser.fill("#tried [name='p.stay']", "s2");
    browser.fill("#tried [name='p.desk']", "nowhere");
    browser.sees("#bench-guard", "exists");
    browser.fill("#tried [name='p.desk']", "d1");
    browser.sees("#bench-guard", "does not hold now");
    browser.click("#tried button[value=step]");
    browser.sees("#bench-result", "Refused: hold d1 / s2");
    browser.sees("#bench-result", "It prevents: a desk is booked twice");
    audit(browser, "studio refused");
    assert!(is_picture(&browser.picture("studio-tried-light-desk")));
    browser.click("#tried button[name=wait][value='11m']");
    browser.sees("#tried [data-records]", "GONE");
    browser.sees("#bench-result", "release");
    browser.fill("#wait_for", "5m");
    browser.press("\u{E007}");
    browser.sees("#tried", "16m after it was opened");
}

/// A page that is loaded anew has what the tab had; three widths, light and dark.
fn kept(browser: &Browser, address: &str) {
    browser.open(address);
    browser.sees("#tried", "16m after it was opened");
    browser.sees("#checked", "one_stay breaks");
    for (scheme, width) in
        [("light", 390), ("dark", 390), ("light", 800), ("dark", 800), ("dark", 1280)]
    {
        browser.scheme(scheme);
        browser.size(width, if width < 600 { 800 } else { 900 });
        browser.open(address);
        browser.sees("#tried", "16m after it was opened");
        browser.sees("#checked .walk .at", "step 1 of");
        let shape = match width {
            390 => "phone",
            800 => "tablet",
            _ => "desk",
        };
        let name = format!("studio-{scheme}-{shape}");
        assert!(is_picture(&browser.picture(&name)), "{name}");
        audit(browser, &name);
        axe(browser, &name);
    }
}

#[test]
fn it_works_without_scripts_and_begins_with_what_there_is() {
    let running = serve();
    let browser = Browser::start("console");
    let at = |path: &str| format!("http://{}{path}", running.address());
    browser.size(1280, 900);
    browser.scripts(false);
    browser.open(&at("/console/_/studio?from=catalog:A08"));
    browser.sees("#told", "It compiles");
    browser.click("button[value=open]");
    browser.sees("#tried", "A scratch store of");
    browser.open(&at("/console/_/studio"));
    browser.click("button[value=open]");
    browser.sees("#tried", "A scratch store of Desks");
    browser.click("#step option[value='clerk/add_desk']");
    browser.click("button[value=choose]");
    browser.fill("[name='p.desk']", "d1");
    browser.click("button[value=step]");
    browser.sees("#bench-result", "Done: add_desk d1");
    browser.click("#clause option:nth-of-type(2)");
    browser.click("button[value=without]");
    browser.sees("#checked", "Without hold.free, one_stay breaks");
    browser.sees("#checked ol.steps", "would have refused");
    assert!(is_picture(&browser.picture("studio-no-scripts")));
    browser.scripts(true);
}
