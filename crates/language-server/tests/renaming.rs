//! Other names, everywhere they stand; or the reason why not.

use serde_json::{Value, json};

use crate::editor::{Archetypes, Editor, FILE, design, designs, edited, place, placed, position};

fn rename(editor: &mut Editor, at: (u32, u32), new: &str) -> Result<Value, (i32, String)> {
    let mut params = placed(at);
    params["newName"] = json!(new);
    editor.try_ask("textDocument/rename", params)
}

#[track_caller]
fn renamed(text: &str, at: (u32, u32), new: &str) -> String {
    let mut editor = Editor::on(text);
    let prepared = editor.ask("textDocument/prepareRename", placed(at));
    assert!(prepared["placeholder"].is_string(), "{prepared}");
    let answer = rename(&mut editor, at, new).unwrap_or_else(|(_, why)| panic!("{why}"));
    edited(text, answer["changes"][FILE].as_array().expect("edits"))
}

#[track_caller]
fn refused(text: &str, at: (u32, u32), new: &str, why: &str) {
    let (code, message) = rename(&mut Editor::on(text), at, new).unwrap_err();
    assert_eq!(code, -32803);
    assert!(message.contains(why), "{message}");
}

/// Everything of one name, also in `check` and in what must not compile.
#[test]
fn a_name_is_changed_wherever_it_stands() {
    let text = design("I02");
    for (word, nth, new) in [
        ("claimant", 0, "asker"),
        ("Resource", 1, "Thing"),
        ("ClaimState", 1, "Ownership"),
        ("expiry_at", 0, "ends_at"),
        ("claim", 0, "take"),
        ("fenced", 1, "in_time"),
        ("my_epoch", 0, "known_epoch"),
        ("SENT", 0, "UNDER_WAY"),
        ("owner_id", 1, "held_by"),
    ] {
        let made = renamed(text, place(text, word, nth), new);
        let compiled = design::compile("i02", &made, &Archetypes);
        assert!(!compiled.has_errors(), "{word}: {:?}", compiled.diagnostics);
        assert_eq!(made.lines().count(), text.lines().count());
    }
    let made = renamed(text, place(text, "expiry_at", 0), "ends_at");
    let code = |text: &str| {
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    assert!(!code(&made).contains("expiry_at"));
}

const SEATS: &str = "\
design Seats \"é😀\"
actor buyer
subject Seat(seat: text) { truth Hold { holder: actor?, note: text = \"\" } }
step buyer[hold(seat: Seat, note: text) { free: holder = null }] {
    Hold := { holder: me, note }
    emit Taken { seat, note }
}
check { seat: 1  buyer: 2  note: 2 }
";

/// `{ note }` is a field and a value: with another name for one of them it is written out.
#[test]
fn a_field_that_is_its_name_alone_is_written_out() {
    let made = renamed(SEATS, place(SEATS, "note", 1), "remark");
    assert!(made.contains("hold(seat: Seat, remark: text)"), "{made}");
    assert!(made.contains("{ holder: me, note: remark }"), "{made}");
    assert!(made.contains("emit Taken { seat, note: remark }"), "the event is what it was: {made}");
    assert!(made.contains("remark: 2 }"), "the world gives it its values: {made}");
    let made = renamed(SEATS, place(SEATS, "note", 0), "remark");
    assert!(made.contains("remark: text = \"\""), "{made}");
    assert!(made.contains("{ holder: me, remark: note }"), "{made}");
    assert!(made.contains("emit Taken { seat, note }"), "{made}");
}

#[test]
fn what_a_use_calls_otherwise_is_renamed_in_its_block() {
    let text = design("tickets");
    let at = place(text, "hold_seat as hold", 0);
    let made = renamed(text, (at.0, at.1 + "hold_seat as ".len() as u32), "reserve");
    assert!(made.contains("hold_seat as reserve\n"), "{made}");
    assert!(!design::compile("tickets", &made, &Archetypes).has_errors());
}

#[test]
fn what_cannot_be_renamed_is_refused_with_the_reason() {
    let text = design("I02");
    let claim = place(text, "claim", 0);
    refused(text, claim, "renew", "`claim` cannot be called `renew`: then ");
    refused(text, claim, "two words", "is no name");
    refused(text, claim, "", "is no name");
    refused(text, claim, "9th", "is no name");
    refused(text, claim, "a-b", "is no name");
    refused(text, place(text, "step", 0), "operation", "is a word of the language");
    refused(text, place(text, "Claim", 0), "Lease", "is not a name that this text gives");
    refused(text, position(text, text.find(" := ").expect("it has one") + 2), "x", "no name here");
    // the name of another thing that is in reach: nothing is wrong with the text, and it says something else
    let two = SEATS.replace("free: holder = null", "free: note = \"\" and holder = null");
    refused(&two, place(&two, "holder", 0), "note", "cannot be called");
    // it comes from an archetype
    let tickets = "design D\nuse A08 as Seat\nactor a\nstep a[go(seat: Seat)] { SeatHoldState.expires_at := now }\n";
    let at = place(tickets, "SeatHoldState", 0);
    refused(tickets, at, "Other", "`SeatHoldState as NAME` in the block of its `use`");
    let (_, message) =
        Editor::on(tickets).try_ask("textDocument/prepareRename", placed(at)).unwrap_err();
    assert!(message.contains("comes from `A08 as Seat`"), "{message}");
}

/// A rename that captures another name compiles, and means something else.
#[test]
fn a_name_that_would_lead_elsewhere_is_refused() {
    let text = "design D\nactor a\nsubject S(s: text) { truth T { n: int = 0, m: int = 0 } }\n\
        step a[go(s: S, k: int) { few: n < k }] { T.m := n + k }\ncheck { s: 1 a: 1 k: 2 n: 0..3 m: 0..3 }\n";
    refused(text, place(text, "k", 0), "n", "cannot be called `n`: then ");
}

/// Each definition of each design of the catalog, given a new name: the rename is made and compiles, or is refused.
#[test]
fn every_name_of_the_catalog_can_be_changed_or_is_refused() {
    let quick = std::env::var_os("STEADFAST_QUICK").is_some();
    let (mut made, mut not) = (0, Vec::new());
    for (at, (name, text)) in designs().iter().enumerate() {
        if at % if quick { 12 } else { 3 } != 0 {
            continue;
        }
        let compiled = design::compile(name, text, &Archetypes);
        let mut editor = Editor::on(text);
        for definition in compiled.analysis.definitions() {
            if definition.span.file != syntax::FileId(0) {
                continue;
            }
            let place = position(text, definition.span.start as usize);
            match rename(&mut editor, place, "zzz_other") {
                Ok(answer) => {
                    made += 1;
                    let edits = answer["changes"][FILE].as_array().expect("edits").clone();
                    let after = design::compile(name, &edited(text, &edits), &Archetypes);
                    assert!(
                        !after.has_errors(),
                        "{name} {}: {:?}",
                        definition.name,
                        after.diagnostics
                    );
                }
                Err((_, why)) => not.push(format!("{name}: {why}")),
            }
        }
    }
    println!("{made} names changed, {} refused", not.len());
    // a value of `check` that stands for several parameters at once cannot follow one of them
    assert!(not.len() * 10 < made, "{made} made, {} refused:\n{}", not.len(), not.join("\n"));
}
