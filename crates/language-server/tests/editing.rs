//! Files that are opened, changed and closed, and what is said of them.

use language_server::Ended;
use serde_json::{Value, json};

use crate::editor::{Archetypes, Editor, FILE, covered, design, edited, place, placed};

const DOOR: &str = "design Door \"A door\"\nactor keeper\n\
    subject Door(door: text) { truth DoorState { open: bool = false } }\n\
    step keeper[unlock(door: Door) { shut: DoorState.open = false }] { DoorState.open := true }\n\
    check { door: 1  keeper: 1 }\n";

fn range(from: (u32, u32), to: (u32, u32)) -> Value {
    json!({
        "start": { "line": from.0, "character": from.1 },
        "end": { "line": to.0, "character": to.1 },
    })
}

fn code(problem: &Value) -> &str {
    problem["code"].as_str().expect("a code")
}

#[test]
fn diagnostics_are_those_of_the_compiler() {
    let text = DOOR.replace("DoorState.open := true", "DoorSate.open := true");
    let mut editor = Editor::on(&text);
    let said = editor.diagnostics_of(FILE, 1);
    let compiled = design::compile("door.design", &text, &Archetypes);
    assert_eq!(said.len(), compiled.diagnostics.len());
    let (said, known) = (&said[0], &compiled.diagnostics[0]);
    assert_eq!(code(said), known.code);
    assert_eq!(said["severity"], 1);
    assert_eq!(said["source"], "steadfast");
    let message = said["message"].as_str().expect("a text");
    assert!(message.starts_with(&known.message), "{message}");
    assert!(message.contains("help: did you mean `DoorState`?"), "{message}");
    assert_eq!(covered(&text, &said["range"]), "DoorSate");
    // what explains the code can be opened
    let page = said["codeDescription"]["href"].as_str().expect("an address");
    assert!(page.ends_with("/E0201.md"), "{page}");
    let page = std::fs::read_to_string(page.trim_start_matches("file://")).expect("a file");
    assert!(page.starts_with("# E0201"));
}

#[test]
fn changes_are_made_where_the_editor_means_them() {
    // é is one unit and two bytes, 😀 two units and four bytes
    let text =
        DOOR.replace("\"A door\"", "\"Tür é😀\"").replace("actor keeper", "actor keeper // é😀");
    let mut editor = Editor::on(&text);
    assert_eq!(editor.diagnostics_of(FILE, 1), [] as [Value; 0]);
    // several changes in one message: each is made in what the one before left
    let line = 0;
    let title = "design Door \"Tür é".encode_utf16().count() as u32;
    editor.change(
        FILE,
        2,
        json!([
            { "range": range((line, title), (line, title + 2)), "text": "" },
            { "range": range((line, title), (line, title)), "text": "ß\n// 😀 next\n" },
            { "range": range((2, 0), (2, 0)), "text": "  " },
        ]),
    );
    // the text now ends its title in the next line: there is something wrong, on the line where it stands
    assert!(!editor.diagnostics_of(FILE, 2).is_empty());
    editor.change(FILE, 3, json!([{ "range": range((0, title + 1), (2, 2)), "text": "" }]));
    assert_eq!(editor.diagnostics_of(FILE, 3), [] as [Value; 0]);
    let shown = editor.hover((1, 8));
    assert!(shown.contains("actor keeper"), "{shown}");
    // a place behind the comment with the wide letters
    editor.change(
        FILE,
        4,
        json!([{ "range": range((1, 19), (1, 19)), "text": "x\nactor nobody[\n" }]),
    );
    let said = editor.diagnostics_of(FILE, 4);
    assert_eq!(said[0]["range"]["start"]["line"], 2, "{said:?}");
    // all of it anew
    editor.change(FILE, 5, json!([{ "text": DOOR }]));
    assert_eq!(editor.diagnostics_of(FILE, 5), [] as [Value; 0]);
}

#[test]
fn places_outside_of_the_text_are_taken_as_its_ends() {
    let mut editor = Editor::on("design D\n");
    editor.change(FILE, 2, json!([{ "range": range((0, 99), (0, 999)), "text": "oor" }]));
    editor.change(FILE, 3, json!([{ "range": range((50, 0), (99, 9)), "text": "actor a\n" }]));
    // from behind to before
    editor.change(FILE, 4, json!([{ "range": range((1, 7), (1, 2)), "text": "b" }]));
    editor.diagnostics_of(FILE, 4);
    let shown = editor.hover((1, 6));
    assert!(shown.contains("actor ab"), "{shown}");
}

#[test]
fn several_files_are_apart() {
    let other = "file:///somewhere/other.design";
    let mut editor = Editor::on(DOOR);
    editor.open(other, &DOOR.replace("keeper[", "keper["));
    assert_eq!(editor.diagnostics_of(FILE, 1), [] as [Value; 0]);
    assert_eq!(editor.diagnostics_of(other, 1).len(), 1);
    editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": other } }));
    // what was said of it is taken back
    let said = editor.next("textDocument/publishDiagnostics");
    assert_eq!((&said["uri"], &said["diagnostics"]), (&json!(other), &json!([])));
    let mut asked = placed((1, 8));
    asked["textDocument"]["uri"] = json!(other);
    let (_, message) = editor.try_ask("textDocument/hover", asked).unwrap_err();
    assert_eq!(message, format!("`{other}` is not open"));
    assert!(editor.hover((1, 8)).contains("actor keeper"));
}

#[test]
fn what_is_typed_quickly_is_told_once_and_as_it_is_last() {
    let mut editor = Editor::on(DOOR);
    editor.diagnostics_of(FILE, 1);
    for version in 2..60 {
        let text = if version % 2 == 0 { "x" } else { "y" };
        editor.change(FILE, version, json!([{ "range": range((1, 6), (1, 6)), "text": text }]));
    }
    assert_eq!(editor.diagnostics_of(FILE, 59).len(), 1, "nobody is called `keeper` any more");
}

#[test]
fn an_inside_problem_is_shown_at_its_use() {
    // the archetype and the design both have a subject of that name
    let text = "design D\nuse A08 as Seat\nsubject Seat(seat: text) { truth S { n: int = 0 } }\n";
    let mut editor = Editor::on(text);
    let said = editor.diagnostics_of(FILE, 1);
    assert!(!said.is_empty());
    for problem in &said {
        let at = covered(text, &problem["range"]);
        assert!(!at.is_empty(), "{problem}");
    }
    let elsewhere = said.iter().flat_map(|problem| problem["relatedInformation"].as_array());
    let mut elsewhere = elsewhere.flatten();
    assert!(
        elsewhere.any(|place| place["location"]["uri"].as_str().unwrap().contains("/archetypes/")),
        "{said:?}"
    );
}

/// What the help of a diagnostic says, done by the editor.
#[test]
fn help_that_is_an_edit_is_offered_and_mends_it() {
    let claims = design("I02");
    for (from, to, title) in [
        // a name that is nearly right
        ("ClaimState.owner_id := me", "ClamState.owner_id := me", "change to `ClaimState`"),
        ("-> holder[renew]", "-> holder[renw]", "change to `renew`"),
        ("    claimant: 2\n", "    clamant: 2\n", "change to `claimant`"),
        ("actor reaper\n", "", "add `actor reaper`"),
        ("invariant ", "invariantt ", "change to `invariant`"),
    ] {
        assert!(claims.contains(from), "{from}");
        let text = claims.replacen(from, to, 1);
        let mut editor = Editor::on(&text);
        let said = editor.diagnostics_of(FILE, 1);
        assert!(!said.is_empty(), "{to}");
        let mut offered = Vec::new();
        for problem in &said {
            let context = json!({ "diagnostics": [problem] });
            let document = json!({ "uri": FILE });
            let asked =
                json!({ "textDocument": document, "range": problem["range"], "context": context });
            let found = editor.ask("textDocument/codeAction", asked);
            offered.extend(found.as_array().expect("a list").clone());
        }
        let titles: Vec<&str> = offered.iter().filter_map(|held| held["title"].as_str()).collect();
        let Some(action) = offered.iter().find(|held| held["title"] == title) else {
            panic!("`{title}` is not offered for `{to}`: {titles:?}, {said:?}");
        };
        assert_eq!(action["kind"], "quickfix");
        let edits = action["edit"]["changes"][FILE].as_array().expect("edits");
        let mended = edited(&text, edits);
        let after = design::compile("i02.design", &mended, &Archetypes);
        assert!(after.diagnostics.len() < said.len(), "{:?}\n{mended}", after.diagnostics);
    }
}

/// A text without a mistake has nothing to mend, and one whose help is no edit neither.
#[test]
fn nothing_is_offered_that_does_not_mend() {
    let text = DOOR.replace("bool = false", "bool = 3");
    let mut editor = Editor::on(&text);
    let whole = range((0, 0), (9, 0));
    for expected in [1, 0] {
        let said = editor.diagnostics_of(FILE, 2 - expected);
        assert_eq!(said.len(), expected as usize, "{said:?}");
        let context = json!({ "diagnostics": [] });
        let asked = json!({ "textDocument": { "uri": FILE }, "range": whole, "context": context });
        assert_eq!(editor.ask("textDocument/codeAction", asked), json!([]));
        editor.change(FILE, 2, json!([{ "text": DOOR }]));
    }
}

#[test]
fn what_cannot_be_read_is_answered_with_an_error_and_nothing_breaks() {
    let mut editor = Editor::on(DOOR);
    for (method, params, code) in [
        ("textDocument/hover", json!({ "position": 7 }), -32602),
        ("textDocument/hover", Value::Null, -32602),
        ("textDocument/rename", placed((0, 0)), -32602),
        ("textDocument/onTypeFormatting", json!({}), -32601),
        ("workspace/executeCommand", json!({ "command": "rm" }), -32601),
        ("workspace/executeCommand", json!({ "command": "steadfast.check" }), -32803),
    ] {
        let (said, message) = editor.try_ask(method, params).unwrap_err();
        assert_eq!(said, code, "{method}: {message}");
    }
    // notifications have no answer; they are noted
    editor.tell("textDocument/didOpen", json!([1, 2]));
    editor.change("file:///nowhere.design", 2, json!([{ "text": "" }]));
    editor.tell("$/cancelRequest", json!({ "id": 1 }));
    editor.tell("workspace/didChangeConfiguration", json!({ "settings": null }));
    assert!(editor.hover((1, 8)).contains("actor keeper"));
    assert!(editor.next("window/logMessage")["message"].as_str().unwrap().contains("didOpen"));
}

/// The catalog of these tests panics when it is asked for `PANIC`.
#[test]
fn a_defect_is_caught_told_and_survived() {
    let mut editor = Editor::on("design D\nuse PANIC as Seat\n");
    let (code, message) = editor.try_ask("textDocument/hover", placed((1, 5))).unwrap_err();
    assert_eq!(code, -32603);
    assert!(message.contains("`textDocument/hover` broke off, which is a defect"), "{message}");
    let logged = editor.next("window/logMessage");
    assert!(logged["message"].as_str().unwrap().contains("broke off"));
    editor.change(FILE, 2, json!([{ "text": DOOR }]));
    assert_eq!(editor.diagnostics_of(FILE, 2), [] as [Value; 0]);
    assert!(editor.hover(place(DOOR, "keeper", 1)).contains("actor keeper"));
    assert_eq!(editor.leave(), Ended::AsItShould);
}

#[test]
fn an_editor_says_goodbye_or_is_gone() {
    assert_eq!(Editor::new().leave(), Ended::AsItShould);
    assert!(matches!(Editor::on(DOOR).vanish(), Ended::Otherwise(_)));
    // what is asked after the goodbye is not answered, and the server waits for the last word
    let mut editor = Editor::on(DOOR);
    editor.ask("shutdown", Value::Null);
    let (code, _) = editor.try_ask("textDocument/hover", placed((1, 8))).unwrap_err();
    assert_eq!(code, -32600);
    editor.tell("exit", Value::Null);
    assert_eq!(editor.vanish(), Ended::AsItShould);
    let mut editor = Editor::on(DOOR);
    editor.tell("exit", Value::Null);
    assert!(matches!(editor.vanish(), Ended::Otherwise(_)));
}
