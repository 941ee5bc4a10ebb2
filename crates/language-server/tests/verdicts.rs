//! The verdict on each goal, beside it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use design::model::Design;
use language_server::{Judged, Judgement, Verdicts};
use serde_json::{Value, json};

use crate::editor::{Editor, FILE, covered, design};

/// Says of every goal that it is proved, but of the ones with this name.
#[derive(Default)]
struct Oracle {
    broken: &'static str,
    kept: bool,
    /// a check goes on until nobody needs it
    endless: bool,
    panics: bool,
    begun: AtomicUsize,
    given_up: AtomicUsize,
}

impl Oracle {
    fn judgement(&self, design: &Design, word: &str) -> Judgement {
        let judged = |name: &str| {
            let broken = name == self.broken;
            Judged {
                name: name.to_string(),
                said: if broken { "violated in 2 steps".into() } else { word.to_string() },
                good: !broken,
                history: broken.then(|| "1. claimant[claim]\n2. tick".to_string()),
            }
        };
        let goals = design.goals().map(|goal| judged(&goal.name)).collect();
        let failures = design.failures.iter().map(|failure| judged(&failure.title)).collect();
        Judgement { whole: word.to_string(), goals, failures }
    }
}

impl Verdicts for Oracle {
    fn kept(&self, _text: &str, design: &Design) -> Option<Judgement> {
        self.kept.then(|| self.judgement(design, "proved, as kept"))
    }

    fn check(
        &self,
        _text: &str,
        design: &Design,
        progress: &mut dyn FnMut(String) -> bool,
    ) -> Option<Judgement> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        assert!(!self.panics, "this checker has a defect");
        if !self.endless {
            return Some(self.judgement(design, "proved"));
        }
        while progress("being checked: 7 states".into()) {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.given_up.fetch_add(1, Ordering::SeqCst);
        None
    }
}

fn lenses(editor: &mut Editor) -> Vec<Value> {
    let found = editor.ask("textDocument/codeLens", json!({ "textDocument": { "uri": FILE } }));
    found.as_array().expect("a list").clone()
}

/// What stands beside what.
fn beside(text: &str, lenses: &[Value]) -> Vec<(String, String)> {
    let one = |lens: &Value| {
        let title = lens["command"]["title"].as_str().expect("a title").to_string();
        (covered(text, &lens["range"]).to_string(), title)
    };
    lenses.iter().map(one).collect()
}

fn save(editor: &mut Editor) {
    editor.tell("textDocument/didSave", json!({ "textDocument": { "uri": FILE } }));
}

fn held(found: &[(String, String)], what: &str) -> String {
    let one = found.iter().find(|(held, _)| held == what);
    one.unwrap_or_else(|| panic!("nothing beside `{what}`: {found:?}")).1.clone()
}

/// Asks again whenever the server says so, until this holds.
fn until(
    editor: &mut Editor,
    text: &str,
    holds: impl Fn(&[(String, String)]) -> bool,
) -> Vec<Value> {
    loop {
        let found = lenses(editor);
        if holds(&beside(text, &found)) {
            return found;
        }
        editor.next("workspace/codeLens/refresh");
    }
}

fn first_goal(text: &str) -> &str {
    let rest = text.split("\ninvariant ").nth(1).expect("it has one");
    rest.split(':').next().expect("it has a name")
}

#[test]
fn nothing_is_checked_before_the_file_is_saved() {
    let oracle = Arc::new(Oracle::default());
    let mut editor = Editor::with(Arc::clone(&oracle) as Arc<dyn Verdicts>);
    let text = design("I02");
    editor.open(FILE, text);
    let found = beside(text, &lenses(&mut editor));
    assert_eq!(
        found,
        [("Claim".to_string(), "not checked: save, or click, to check it".to_string())]
    );
    assert_eq!(oracle.begun.load(Ordering::SeqCst), 0);
    save(&mut editor);
    let known = until(&mut editor, text, |found| found.len() > 2);
    let found = beside(text, &known);
    assert_eq!(held(&found, "Claim"), "proved");
    assert_eq!(held(&found, first_goal(text)), "proved");
    assert_eq!(held(&found, "\"duplicate claim\""), "proved");
    // the same text is not checked again
    save(&mut editor);
    lenses(&mut editor);
    assert_eq!(oracle.begun.load(Ordering::SeqCst), 1);
    // another text is another matter, and the same text again is known
    editor.change(FILE, 2, json!([{ "text": format!("{text}// more\n") }]));
    assert_eq!(lenses(&mut editor).len(), 1);
    editor.change(FILE, 3, json!([{ "text": text }]));
    assert_eq!(lenses(&mut editor).len(), known.len());
    // with an error there are no goals
    editor.change(FILE, 4, json!([{ "text": text.replacen("step ", "stp ", 1) }]));
    save(&mut editor);
    assert_eq!(lenses(&mut editor), [] as [Value; 0]);
    assert_eq!(oracle.begun.load(Ordering::SeqCst), 1);
}

#[test]
fn a_verdict_that_is_kept_is_there_at_once() {
    let oracle = Arc::new(Oracle { kept: true, ..Oracle::default() });
    let mut editor = Editor::with(Arc::clone(&oracle) as Arc<dyn Verdicts>);
    let text = design("tickets");
    editor.open(FILE, text);
    let found = beside(text, &lenses(&mut editor));
    assert_eq!(held(&found, "Tickets"), "proved, as kept");
    // the goals of an archetype stand beside its use
    let used = held(&found, "A08");
    assert!(used.starts_with("its ") && used.ends_with(" goals: proved, as kept"), "{used}");
    assert_eq!(oracle.begun.load(Ordering::SeqCst), 0);
}

#[test]
fn a_broken_goal_tells_its_history() {
    let text = design("I02");
    let broken = "fenced_writes";
    assert!(text.contains(&format!("invariant {broken}")), "{broken}");
    let oracle = Oracle { broken, ..Oracle::default() };
    let mut editor = Editor::with(Arc::new(oracle));
    editor.open(FILE, text);
    let uri = json!([FILE]);
    // a click checks, too
    editor
        .ask("workspace/executeCommand", json!({ "command": "steadfast.check", "arguments": uri }));
    let known = until(&mut editor, text, |found| found.len() > 2);
    let found = beside(text, &known);
    assert_eq!(held(&found, broken), "violated in 2 steps");
    let lens = known.iter().find(|lens| lens["command"]["title"] == "violated in 2 steps").unwrap();
    assert_eq!(lens["command"]["command"], "steadfast.history");
    let history = editor.ask("workspace/executeCommand", lens["command"].clone());
    assert_eq!(history, "1. claimant[claim]\n2. tick");
    assert_eq!(editor.next("window/showMessage")["message"], history);
    let at = text.find(&format!("invariant {broken}")).unwrap() + "invariant ".len();
    let shown = editor.hover(crate::editor::position(text, at));
    assert!(shown.contains("**violated in 2 steps**") && shown.contains("2. tick"), "{shown}");
}

#[test]
fn a_check_that_nobody_needs_is_given_up() {
    let oracle = Arc::new(Oracle { endless: true, ..Oracle::default() });
    let mut editor = Editor::with(Arc::clone(&oracle) as Arc<dyn Verdicts>);
    let text = design("I02");
    editor.open(FILE, text);
    save(&mut editor);
    until(&mut editor, text, |found| held(found, "Claim") == "being checked: 7 states");
    // the server answers while the check runs
    assert!(editor.hover((9, 8)).contains("claimant"));
    editor.change(FILE, 2, json!([{ "text": format!("{text}// more\n") }]));
    save(&mut editor);
    while oracle.begun.load(Ordering::SeqCst) < 2 {
        lenses(&mut editor);
    }
    assert_eq!(oracle.given_up.load(Ordering::SeqCst), 1);
    editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": FILE } }));
    while oracle.given_up.load(Ordering::SeqCst) < 2 {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_checker_that_breaks_off_is_told() {
    let oracle = Oracle { panics: true, ..Oracle::default() };
    let mut editor = Editor::with(Arc::new(oracle));
    let text = design("I02");
    editor.open(FILE, text);
    save(&mut editor);
    until(&mut editor, text, |found| held(found, "Claim").contains("broke off, which is a defect"));
    assert!(editor.hover((9, 8)).contains("claimant"));
}
