//! Texts that are nearly right.

use crate::mutations::random::Random;
use syntax::{FileId, TokenKind, lex};

const CONSTRUCTS: &str = include_str!("../data/constructs.design");

/// What is put between tokens.
const INSERTED: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    ":",
    ":=",
    "+=",
    "-=",
    "=",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "+",
    "-",
    "*",
    "/",
    "->",
    "|->",
    "=>",
    "|",
    ".",
    "..",
    "?",
    ";",
    "==",
    "&&",
    "||",
    "!",
    "\"",
    "'",
    "#",
    "//",
    "/*",
    "*/",
    "\\",
    "\u{0}",
    "\u{feff}",
    "é",
    "→",
    "≤",
    "日本",
    "\u{1f980}",
    "\u{301}",
    "\r",
    "\n",
    "\n\n",
    "\t",
    "1",
    "0",
    "1.5",
    "10m",
    "3x",
    "1_000",
    "word",
    "not",
    "and",
    "or",
    "in",
    "if",
    "then",
    "else",
    "let",
    "all",
    "any",
    "x in",
    "count(",
    "sum(",
    "old(",
    "present",
    "absent",
    "where",
    "of",
    "null",
    "new",
    "\nstep",
    "\nsubject",
    "\ntruth",
    "on ok",
    "max 8",
    "\"\\u{110000}\"",
    "\"\\q\"",
    "\nactor a",
    "check {",
    "\nfailure \"f\" {",
    "visible to",
];

/// The text cut at its tokens, with what stands between them, and cut into its items.
pub struct Corpus {
    items: Vec<Vec<String>>,
}

pub fn corpus() -> Corpus {
    let parsed = syntax::parse(CONSTRUCTS, FileId(0));
    assert!(parsed.diagnostics.is_empty());
    let items = parsed.tree.items.iter().map(|item| {
        let text = item.span.text(CONSTRUCTS);
        let (tokens, _) = lex(text, FileId(0));
        let mut pieces = Vec::new();
        let mut at = 0;
        for token in tokens.iter().filter(|token| token.kind != TokenKind::End) {
            pieces.push(text[at..token.span.end as usize].to_string());
            at = token.span.end as usize;
        }
        pieces
    });
    Corpus { items: items.collect() }
}

/// One to three items with a few mistakes in them.
pub fn mutated(corpus: &Corpus, random: &mut Random) -> String {
    let mut pieces: Vec<String> = Vec::new();
    for _ in 0..=random.below(3) {
        pieces.extend(random.pick(&corpus.items).iter().cloned());
        pieces.push("\n".into());
    }
    for _ in 0..random.below(5) {
        change_tokens(&mut pieces, random);
    }
    let mut text = pieces.concat();
    if random.below(8) == 0 {
        text = change_bytes(&text, random);
    }
    text
}

fn change_tokens(pieces: &mut Vec<String>, random: &mut Random) {
    let at = random.below(pieces.len());
    let length = 1 + random.below(6);
    let end = (at + length).min(pieces.len());
    if at >= end {
        return;
    }
    match random.below(9) {
        0 => {
            pieces.remove(at);
        }
        1 => {
            pieces.drain(at..end);
        }
        2 => pieces.truncate(at),
        3 => {
            pieces.drain(..at);
        }
        4 => {
            let twice = pieces[at..end].to_vec();
            pieces.splice(at..at, twice);
        }
        5 => {
            let other = random.below(pieces.len());
            pieces.swap(at, other);
        }
        6 => {
            for index in at..end {
                let other = at + random.below(end - at);
                pieces.swap(index, other);
            }
        }
        7 => {
            let space = random.pick(&["", " "]);
            pieces.insert(at, format!("{space}{}", random.pick(INSERTED)));
        }
        _ => {
            // the same again and again
            let again = random.pick(INSERTED).repeat(2 + random.below(40));
            pieces.insert(at, again);
        }
    }
}

/// Bytes are changed without regard for characters; what is no text any more is replaced.
fn change_bytes(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + random.below(4) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        let byte = random.below(256) as u8;
        match random.below(3) {
            0 => bytes[at] = byte,
            1 => bytes.insert(at, byte),
            _ => {
                bytes.remove(at);
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
