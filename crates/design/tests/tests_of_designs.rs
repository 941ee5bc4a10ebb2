//! Tests in a design: what is wrong in one is said once, in its place, and its names are known to an editor.

use crate::common;

use common::{compiled, errors};
use design::DefinitionKind;
use syntax::FileId;

const DESIGN: &str = r#"design Doors "Doors"

actor porter { seen: int? of Door }
actor guest continues porter
actor bell

subject Door(door: text) {
    truth DoorState { status: SHUT | OPEN = SHUT, opened: int = 0, by: actor?, at: time? }
}
subject Key(door: Door, number: int) {
    truth KeyState { lost: bool = false }
}

step porter[open_up(door: Door, note: text = "") { shut: DoorState.status = SHUT }] {
    DoorState := { status: OPEN, opened: DoorState.opened + 1, by: me, at: now }
    seen := DoorState.opened
}
step porter[lose(key: Key)] { KeyState.lost := true }
step porter[ring(door: Door)] { send bell.chime(door) }
effect bell[chime(door: Door)] {
    call POST "{bell.url}/chime" key door
    on ok(times: int) { DoorState.opened := times }
    on refused { DoorState.opened := 0 }
    on unknown { DoorState.opened := 0 }
}
repair porter[close(door: Door) { open: DoorState.status = OPEN }] after 1h { DoorState.status := SHUT }
read guest[look(door: Door)] = { status: DoorState.status, at: DoorState.at }
view Open = list Door where status = OPEN order by door
view Opened = sum opened of Door

"#;

/// The codes of what is wrong in these lines, with the words that each points at.
#[track_caller]
fn wrong(lines: &str, expected: &[(&str, &str)]) {
    let text = format!("{DESIGN}test \"it\" {{\n{lines}\n}}\n");
    let compiled = compiled(&text);
    let found: Vec<(&str, &str)> = compiled
        .diagnostics
        .iter()
        .filter(|problem| problem.is_error())
        .map(|problem| (problem.code, compiled.sources.text(problem.primary.span)))
        .collect();
    assert_eq!(found, expected, "{lines}: {:#?}", compiled.diagnostics);
}

#[test]
fn what_makes_sense_is_taken() {
    wrong(
        "porter pat: open_up(d1) ok
        guest gus: open_up(door: d2, note: late) ok
        porter pat: open_up(d1) refused shut
        porter pat: lose(Key(d1, 3)) ok
        guest gus: look(d1) gives { status: OPEN, at: now - 5m }
        porter \"pat@example.org\": ring(d1) key \"k 1\" ok
        answer chime(d1) ok 3
        answer chime nothing
        after 2h
        Open gives [d1, { door: d2, opened: 1 }]
        Opened gives 4
        expect d1.opened = 3 and Key(d1, 3).lost and d1.by = pat and all d in Door: d.status = SHUT
        crash porter pat",
        &[],
    );
}

#[test]
fn what_is_wrong_is_said_in_its_place() {
    wrong("porter pat: opne_up(d1) ok", &[("E1101", "opne_up")]);
    wrong("porter pat: opne_up(d1) ok\nporter pat: opne_up(d2) ok", &[("E1101", "opne_up")]);
    wrong("portr pat: open_up(d1) ok", &[("E1101", "portr")]);
    wrong("porter pat: look(d1) ok", &[("E1101", "porter")]);
    wrong("porter pat: close(d1) ok", &[("E1101", "close")]);
    wrong("porter pat: chime(d1) ok", &[("E1101", "chime")]);
    wrong("answer open_up(d1) ok", &[("E1101", "open_up")]);
    wrong("Opn gives []", &[("E1101", "Opn")]);
    wrong("porter pat: open_up() ok", &[("E1102", "open_up")]);
    wrong("porter pat: open_up(d1, late, more) ok", &[("E1102", "more")]);
    wrong("porter pat: open_up(d1, door: d1) ok", &[("E1102", "door: d1")]);
    wrong("porter pat: open_up(dor: d1) ok", &[("E1102", "dor")]);
    wrong("porter pat: lose(Key(d1)) ok", &[("E1102", "Key")]);
    wrong("porter pat: lose(k1) ok", &[("E1103", "k1")]);
    wrong("guest gus: look(d1) gives { stat: OPEN }", &[("E1102", "stat")]);
    wrong("guest gus: look(d1) gives { status: OPNE }", &[("E0211", "OPNE")]);
    wrong("guest gus: look(d1) gives { at: 5 }", &[("E0301", "5")]);
    wrong("porter pat: open_up(3) ok", &[("E0301", "3")]);
    wrong("Open gives 1", &[("E1103", "1")]);
    wrong("Opened gives true", &[("E0301", "true")]);
    wrong("porter pat: open_up(d1) refused open", &[("E1104", "open")]);
    wrong("porter pat: open_up(d1) refused shut.nothing_such", &[("E1104", "shut.nothing_such")]);
    wrong("porter pat: open_up(d1) gives 1", &[("E1105", "open_up")]);
    wrong("porter pat: open_up(d1) again", &[("E1105", "open_up(d1)")]);
    wrong("answer chime(d1) ok", &[("E1105", "chime")]);
    wrong("expect old(Door(\"d1\").opened) = 1", &[("E1105", "old(Door(\"d1\").opened) = 1")]);
    wrong("expect d1.opened = 1", &[("E0201", "d1")]);
    wrong("after 5", &[("E0301", "5")]);
}

#[test]
fn what_a_design_lacks_its_tests_do_not_say_again() {
    let text = format!("{DESIGN}test \"it\" {{ porter pat: open_up(d1) ok }}\n");
    let text = text.replace("step porter[open_up", "step portr[open_up");
    let found = errors(&compiled(&text));
    assert!(found.iter().all(|(code, ..)| !code.starts_with("E11")), "{found:?}");
}

#[test]
fn two_tests_have_two_names() {
    let text = format!("{DESIGN}test \"it\" {{ after 5m }}\ntest \"it\" {{ after 5m }}\n");
    assert_eq!(errors(&compiled(&text)).len(), 1);
}

#[test]
fn an_editor_finds_the_names_of_a_test() {
    let text = format!(
        "{DESIGN}test \"it\" {{\n    porter pat: open_up(d1) refused shut\n    expect d1.opened = 1 and d1.by = pat\n}}\n"
    );
    let compiled = compiled(&text);
    let analysis = &compiled.analysis;
    let kind_of = |needle: &str, word: &str| {
        let at = text.rfind(needle).unwrap() + needle.find(word).unwrap();
        let ids = analysis.definitions_at(FileId(0), at as u32);
        let found = analysis.definition(*ids.first().unwrap_or_else(|| panic!("{needle}")));
        (found.kind, found.span.start as usize)
    };
    let first = |word: &str| {
        text.rfind("test").unwrap() + text[text.rfind("test").unwrap()..].find(word).unwrap()
    };
    assert_eq!(kind_of("d1.opened", "d1"), (DefinitionKind::Local, first("d1")));
    assert_eq!(kind_of("d1.by = pat", "pat"), (DefinitionKind::Local, first("pat")));
    assert_eq!(kind_of("refused shut", "shut").0, DefinitionKind::Clause);
    assert_eq!(kind_of("pat: open_up(d1)", "open_up").0, DefinitionKind::Operation);
    assert_eq!(kind_of("d1.opened = 1", "opened").0, DefinitionKind::Attribute);
}
