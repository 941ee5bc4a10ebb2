//! Random edits of designs: whatever is typed, nothing breaks, and what is told is what a fresh compilation of the same
//! text says.

use serde_json::{Value, json};

use crate::editor::{Archetypes, Editor, FILE, designs, placed, position};

const EDITS: u64 = 3_000;
/// Requests beside the edits, each with this one in so many.
const ASKED: u64 = 15;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Random numbers that are the same on every machine (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

const TYPED: [&str; 24] = [
    "",
    "",
    " ",
    "\n",
    "\r\n",
    "\r",
    "x",
    "é",
    "😀",
    "\u{0}",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "\"",
    "// ",
    "step ",
    ".",
    ":=",
    "use A08 as Seat\n",
    "check { }\n",
    "9999999999999999999999999",
];

/// Where a character begins, at or before this.
fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// One change: a stretch and what is typed there.
fn change(random: &mut Random, text: &str) -> (usize, usize, String) {
    let start = floor(text, random.below(text.len() + 1));
    let long = match random.below(4) {
        0 => random.below(60),
        _ => random.below(4),
    };
    let end = floor(text, (start + long).min(text.len()));
    let typed = match random.below(3) {
        // a piece from elsewhere
        0 => {
            let from = floor(text, random.below(text.len() + 1));
            let to = floor(text, (from + random.below(40)).min(text.len()));
            text[from..to].to_string()
        }
        _ => TYPED[random.below(TYPED.len())].to_string(),
    };
    (start, end, typed)
}

/// The protocol's place of a byte, where a line also ends with a `\r` alone.
fn at(text: &str, offset: usize) -> Value {
    let before = &text[..offset];
    let line = before.replace("\r\n", "\n").matches(['\n', '\r']).count();
    let start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    json!({ "line": line, "character": before[start..].encode_utf16().count() })
}

/// Not between `\r` and `\n`: the protocol has no such place.
fn apart(text: &str, at: usize) -> usize {
    let between = text[..at].ends_with('\r') && text[at..].starts_with('\n');
    if between { at - 1 } else { at }
}

#[test]
fn random_edits_are_told_as_a_fresh_compilation_tells_them() {
    let (edits, seed) = (number("STEADFAST_EDITS", EDITS), number("STEADFAST_SEED", 1));
    let mut random = Random(seed.wrapping_mul(1 << 32));
    let mut editor = Editor::new();
    let (mut version, mut text) = (0, String::new());
    let (mut fine, mut asked) = (0_u64, 0_u64);
    for number in 0..edits {
        // a new text now and then, so that it is not spoilt for ever
        if number % 25 == 0 {
            text = designs()[random.below(designs().len())].1.clone();
            version = 1;
            editor.open(FILE, &text);
        } else {
            let mut changes = Vec::new();
            for _ in 0..=random.below(3) {
                let (start, end, typed) = change(&mut random, &text);
                let start = apart(&text, start);
                let end = apart(&text, end.max(start));
                let range = json!({ "start": at(&text, start), "end": at(&text, end) });
                changes.push(json!({ "range": range, "text": typed }));
                text.replace_range(start..end, &typed);
            }
            version += 1;
            editor.change(FILE, version, json!(changes));
        }
        if number % ASKED == 0 {
            asked += 1;
            ask(&mut editor, &mut random, &text, number);
        }
        let said = editor.diagnostics_of(FILE, version);
        let fresh = design::compile("fresh", &text, &Archetypes);
        let codes = |list: &[Value]| -> Vec<String> {
            list.iter().map(|held| held["code"].as_str().expect("a code").to_string()).collect()
        };
        let known: Vec<&str> = fresh.diagnostics.iter().map(|held| held.code).collect();
        assert_eq!(codes(&said), known, "seed {seed}, edit {number}\n{text}");
        for (said, held) in said.iter().zip(&fresh.diagnostics) {
            let message = said["message"].as_str().expect("a text");
            let same = message.starts_with(&held.message)
                && held.help.iter().all(|help| message.contains(help.as_str()));
            assert!(same, "seed {seed}, edit {number}: {message}\n{held:?}");
            if held.primary.span.file == syntax::FileId(0) {
                let start = at(&text, apart(&text, held.primary.span.start as usize));
                let told = &said["range"]["start"];
                assert_eq!(*told, start, "seed {seed}, edit {number}: {held:?}\n{text:?}");
            }
        }
        fine += u64::from(fresh.diagnostics.is_empty());
    }
    println!(
        "seed {seed}: {edits} edits, {fine} texts without a mistake, {asked} times everything was asked"
    );
}

/// Everything that can be asked, at a random place. Refusals are answers; defects are not.
fn ask(editor: &mut Editor, random: &mut Random, text: &str, number: u64) {
    let place = position(text, floor(text, random.below(text.len() + 1)));
    let document = json!({ "uri": FILE });
    let here = json!({ "line": place.0, "character": place.1 });
    let range = json!({ "start": here, "end": here });
    let mut params = placed(place);
    params["context"] = json!({ "includeDeclaration": true, "diagnostics": [] });
    params["newName"] = json!("another");
    params["options"] = json!({ "tabSize": 4, "insertSpaces": true });
    params["range"] = range;
    params["textDocument"] = document;
    for method in [
        "textDocument/hover",
        "textDocument/definition",
        "textDocument/references",
        "textDocument/documentHighlight",
        "textDocument/prepareRename",
        "textDocument/rename",
        "textDocument/formatting",
        "textDocument/codeAction",
        "textDocument/codeLens",
        "textDocument/documentSymbol",
        "textDocument/semanticTokens/full",
    ] {
        match editor.try_ask(method, params.clone()) {
            Ok(_) => {}
            Err((-32803, why)) => assert!(!why.is_empty()),
            Err((code, why)) => panic!("edit {number}: {method} answers {code}: {why}\n{text}"),
        }
    }
    params["context"] = json!({ "triggerKind": 1 });
    if let Err((code, why)) = editor.try_ask("textDocument/completion", params) {
        panic!("edit {number}: completion answers {code}: {why}\n{text}");
    }
}
