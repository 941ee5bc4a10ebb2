//! What is answered about designs of the catalog.

use serde_json::{Value, json};

use crate::editor::{Editor, FILE, covered, design, edited, offset, place, placed};

fn names(answer: &Value) -> Vec<&str> {
    let items = answer["items"].as_array().expect("a list");
    items.iter().filter_map(|item| item["label"].as_str()).collect()
}

#[track_caller]
fn shows(shown: &str, parts: &[&str]) {
    for part in parts {
        assert!(shown.contains(part), "no `{part}` in\n{shown}");
    }
}

#[test]
fn hover_tells_what_a_step_does() {
    let text = design("I02");
    let mut editor = Editor::on(text);
    let shown = editor.hover(place(text, "claim", 0));
    shows(
        &shown,
        &[
            "step claimant[claim(resource: Resource, ttl: duration)]",
            "actor: `claimant`",
            "free: ClaimState.owner_id = null or LeaseState.expiry_at < now",
            "- writes `ClaimState.owner_id`",
            "- writes `OwnerEpoch.current`",
            "prevents:",
        ],
    );
    // the same from where it is named in a protocol
    let used = editor.hover(place(text, "claim", 1));
    assert_eq!(shown, used);
}

#[test]
fn hover_tells_what_a_clause_is_for() {
    let text = design("I02");
    let mut editor = Editor::on(text);
    let shown = editor.hover(place(text, "free", 0));
    shows(
        &shown,
        &[
            "clause of `claim`",
            "free: ClaimState.owner_id = null or LeaseState.expiry_at < now",
            "duplicate claim",
            "refused by `free`",
        ],
    );
}

#[test]
fn hover_tells_types_states_goals_and_words() {
    let text = design("I02");
    let mut editor = Editor::on(text);
    shows(&editor.hover(place(text, "owner_id", 1)), &["owner_id: actor?", "`ClaimState`"]);
    let state = editor.hover(place(text, "LeaseState", 1));
    shows(&state, &["truth of `Resource`", "expiry_at: time?", "granted_under: int = 0"]);
    shows(&editor.hover(place(text, "my_epoch", 1)), &["my_epoch: int?", "claimant"]);
    shows(&editor.hover(place(text, "Resource", 1)), &["subject Resource(resource: text)"]);
    shows(&editor.hover(place(text, "reaper", 0)), &["actor reaper", "repair `reclaim`"]);
    let at = text.find("invariant ").expect("it has one") + "invariant ".len();
    let goal = editor.hover(crate::editor::position(text, at));
    shows(&goal, &["holds in every reachable state", "invariant "]);
    let word = text.find("truth ClaimState").expect("it has one");
    shows(&editor.hover(crate::editor::position(text, word)), &["`truth`:", "guards may read"]);
    let sum = text.find("now + ttl").expect("it has one") + "now ".len();
    shows(&editor.hover(crate::editor::position(text, sum)), &["now + ttl: time"]);
    assert_eq!(editor.hover((9_999, 9)), "", "there is nothing behind the end");
}

/// Another name is used in a design than in the archetype that it comes from.
#[test]
fn hover_and_definition_follow_a_use_into_the_archetype() {
    let text = design("tickets");
    let mut editor = Editor::on(text);
    let shown = editor.hover(place(text, "hold_seat", 0));
    shows(&shown, &["[hold(", "actor: `buyer`", "from `A08 as Seat`"]);
    let found = editor.at("textDocument/definition", place(text, "hold_seat", 0));
    let uri = found[0]["uri"].as_str().expect("a place");
    assert!(uri.starts_with("file:///") && uri.ends_with("/A08.design"), "{uri}");
    let archetype = std::fs::read_to_string(uri.trim_start_matches("file://")).expect("a file");
    assert_eq!(archetype, design("A08"));
    assert_eq!(covered(&archetype, &found[0]["range"]), "hold");
    // the archetype itself
    let found = editor.at("textDocument/definition", place(text, "A08", 0));
    assert_eq!(found[0]["uri"], uri);
    shows(&editor.hover(place(text, "A08", 0)), &["archetype `A08`:"]);
}

#[test]
fn definitions_and_references_lead_to_each_other() {
    let text = design("I02");
    let mut editor = Editor::on(text);
    let found = editor.at("textDocument/definition", place(text, "expiry_at", 3));
    assert_eq!(found[0]["uri"], FILE);
    let at = offset(text, &found[0]["range"]["start"]);
    assert_eq!(at, text.find("expiry_at").expect("it has one"));
    let mut params = placed(place(text, "my_epoch", 2));
    params["context"] = json!({ "includeDeclaration": true });
    let all = editor.ask("textDocument/references", params.clone());
    let all = all.as_array().expect("a list");
    assert!(all.iter().all(|place| covered(text, &place["range"]) == "my_epoch"));
    // comments and what must not compile are no uses
    assert!(all.len() >= 8, "{}", all.len());
    params["context"] = json!({ "includeDeclaration": false });
    let others = editor.ask("textDocument/references", params);
    assert_eq!(others.as_array().expect("a list").len(), all.len() - 1);
    let lit = editor.at("textDocument/documentHighlight", place(text, "my_epoch", 2));
    assert_eq!(lit.as_array().expect("a list").len(), all.len());
}

/// Whoever types is never done: the text has errors while it is asked about.
#[test]
fn a_text_with_errors_is_answered_too() {
    let whole = design("I02");
    let text =
        whole.replacen("    OwnerEpoch.current += 1\n", "    OwnerEpoch.\n    foo bar (\n", 1);
    let mut editor = Editor::on(&text);
    assert!(!editor.diagnostics_of(FILE, 1).is_empty());
    shows(&editor.hover(place(&text, "renew", 0)), &["step holder[renew("]);
    let found = editor.at("textDocument/definition", place(&text, "Downstream", 1));
    let at = offset(&text, &found[0]["range"]["start"]);
    assert_eq!(&text[at..at + 10], "Downstream");
    let (line, column) = place(&text, "foo", 0);
    assert!(column > 0);
    let typed = text.find("OwnerEpoch.\n").expect("it is there") + "OwnerEpoch.".len();
    let answer = editor.at("textDocument/completion", crate::editor::position(&text, typed));
    assert_eq!(names(&answer), ["current"]);
    assert!(line > 0);
}

#[test]
fn completion_offers_what_may_stand_there() {
    let whole = design("I02");
    for (from, to, some, none) in [
        // an item at the beginning of a line
        ("protocol ", "in|\nprotocol ", &["invariant", "input"][..1], &["int"][..]),
        // names in scope, then words
        ("    ClaimState.owner_id := me\n", "    |\n", &["ClaimState", "ttl", "emit"], &["actor"]),
        // after a dot nothing but members
        ("    ClaimState.owner_id := me\n", "    LeaseState.|\n", &["expiry_at"], &["emit", "now"]),
        // a type
        ("ttl: duration)", "ttl: |)", &["duration", "Resource"], &["invariant"]),
        // an archetype
        ("protocol ", "use a0|\nprotocol ", &["A08", "A01"], &["I02", "use"]),
        // nothing in a comment
        ("protocol ", "// cl|\nprotocol ", &[], &["claim", "check"]),
        ("protocol ", "failure \"cl|\" { }\nprotocol ", &[], &["claim", "check"]),
    ] {
        let at = whole.find(from).expect("it is there");
        let typed = to.find('|').expect("a place is marked");
        let text = whole.replacen(from, &to.replacen('|', "", 1), 1);
        let mut editor = Editor::on(&text);
        let position = crate::editor::position(&text, at + typed);
        let answer = editor.at("textDocument/completion", position);
        let names = names(&answer);
        for name in some {
            assert!(names.contains(name), "{to}: no `{name}` in {names:?}");
        }
        for name in none {
            assert!(!names.contains(name), "{to}: `{name}` in {names:?}");
        }
    }
}

#[test]
fn formatting_is_what_fmt_does_and_touches_little() {
    let text =
        design("I02").replacen("    ClaimState.owner_id := me\n", "  ClaimState.owner_id:=me\n", 1);
    let mut editor = Editor::on(&text);
    let options = json!({ "tabSize": 4, "insertSpaces": true });
    let params = json!({ "textDocument": { "uri": FILE }, "options": options });
    let edits = editor.ask("textDocument/formatting", params.clone());
    let edits = edits.as_array().expect("a list");
    assert_eq!(edits.len(), 1);
    assert_eq!(covered(&text, &edits[0]["range"]), "  ClaimState.owner_id:=me\n");
    assert_eq!(edited(&text, edits), syntax::format(&text).text);
    assert_eq!(edited(&text, edits), design("I02"));
    let mut editor = Editor::on(design("I02"));
    assert_eq!(editor.ask("textDocument/formatting", params), json!([]));
}

#[test]
fn the_outline_has_everything_that_has_a_name() {
    let text = design("I02");
    let mut editor = Editor::on(text);
    let params = json!({ "textDocument": { "uri": FILE } });
    let found = editor.ask("textDocument/documentSymbol", params);
    let found = found.as_array().expect("a list");
    let names: Vec<&str> = found.iter().filter_map(|held| held["name"].as_str()).collect();
    for name in ["Claim", "claimant", "Resource", "claim", "reclaim", "main", "check"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    let resource = found.iter().find(|held| held["name"] == "Resource").expect("it is there");
    let lease = resource["children"].as_array().expect("a list");
    let lease = lease.iter().find(|held| held["name"] == "LeaseState").expect("a state");
    assert_eq!(lease["detail"], "truth");
    assert_eq!(lease["children"][0]["name"], "expiry_at");
    assert_eq!(lease["children"][0]["detail"], "time?");
    for held in found {
        let (range, name) = (&held["range"], &held["selectionRange"]);
        assert!(covered(text, range).contains(covered(text, name)), "{held}");
    }
}

#[test]
fn words_are_coloured_by_what_they_are() {
    let text = "design D\nactor repair\nsubject S(s: text) { truth T { n: int = 0 } } // é😀\n\
                step repair[go(s: S) { few: n < 3 }] { T.n += 1 }\n";
    let mut editor = Editor::on(text);
    let params = json!({ "textDocument": { "uri": FILE } });
    let found = editor.ask("textDocument/semanticTokens/full", params);
    let data: Vec<u64> =
        found["data"].as_array().expect("numbers").iter().filter_map(Value::as_u64).collect();
    let (mut line, mut column) = (0, 0);
    let mut words = Vec::new();
    for token in data.chunks(5) {
        line += token[0];
        column = if token[0] == 0 { column + token[1] } else { token[1] };
        let start = json!({ "line": line, "character": column });
        let end = json!({ "line": line, "character": column + token[2] });
        words.push((covered(text, &json!({ "start": start, "end": end })), token[3], token[4]));
    }
    // keyword 0, comment 1, number 3, actor 4, subject 5, state 6, attribute 7, operation 10
    for expected in [
        ("design", 0, 0),
        ("repair", 4, 1),
        ("repair", 4, 0),
        ("S", 5, 1),
        ("T", 6, 1),
        ("T", 6, 0),
        ("n", 7, 1),
        ("n", 7, 0),
        ("// é😀", 1, 0),
        ("step", 0, 0),
        ("go", 10, 1),
        ("3", 3, 0),
    ] {
        assert!(words.contains(&expected), "{expected:?} in {words:?}");
    }
    assert!(!words.contains(&("repair", 0, 0)), "it is a name here");
}
