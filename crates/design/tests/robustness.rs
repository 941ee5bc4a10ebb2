//! Compiling never panics, and never forgets an error on the way to a design.

use crate::common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::{Expected, designs, snippets};
use syntax::{FileId, Token, TokenKind};

/// How many texts, unless somebody asks for more: `cargo xtask fuzz spoiled`.
const TEXTS: usize = if cfg!(debug_assertions) { 3_000 } else { 30_000 };
const SEED: u64 = 0x51ea_dfa5_7000;

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

/// A text in pieces: each token with the blanks before it.
fn pieces(text: &str) -> Vec<(TokenKind, String)> {
    let (tokens, _) = syntax::lex(text, FileId(0));
    let mut from = 0;
    let mut pieces = Vec::new();
    for Token { kind, span, .. } in tokens {
        let end = span.end as usize;
        pieces.push((kind, text[from..end].to_string()));
        from = end;
    }
    pieces
}

/// One or two small changes; most leave something that can still be read.
fn spoil(random: &mut Random, text: &str, words: &[String]) -> String {
    let mut pieces = pieces(text);
    for _ in 0..=random.below(2) {
        let (at, other) = (random.below(pieces.len()), random.below(pieces.len()));
        match random.below(8) {
            0 => drop(pieces.remove(at)),
            1 => pieces.insert(at, pieces[at].clone()),
            2 => pieces.swap(at, other),
            3 => {
                let end = (at + 1 + random.below(12)).min(pieces.len());
                drop(pieces.drain(at..end));
            }
            4 => pieces[at].1 = format!(" {}", numbers()[random.below(numbers().len())]),
            // a word for another: it is read, and means something else
            _ => {
                let Some(place) = (at..pieces.len()).find(|at| pieces[*at].0 == TokenKind::Word)
                else {
                    continue;
                };
                let here = pieces[other].1.trim().to_string();
                let word = match pieces[other].0 {
                    TokenKind::Word => &here,
                    _ => &words[random.below(words.len())],
                };
                pieces[place].1 = format!(" {word}");
            }
        }
        if pieces.is_empty() {
            break;
        }
    }
    pieces.into_iter().map(|(_, text)| text).collect()
}

fn numbers() -> &'static [&'static str] {
    &[
        "0",
        "1",
        "-1",
        "9223372036854775807",
        "99999999999999999999",
        "0.0000001",
        "1.5",
        "5000",
        "9999999999d",
        "0ms",
        "null",
        "me",
        "now",
        "{}",
        "[]",
        "\"\"",
    ]
}

#[test]
fn spoiled_texts_compile_or_say_why_not() {
    let mut texts: Vec<String> = designs().into_iter().map(|(_, text)| text).collect();
    let designs = texts.len();
    let (sound, failing): (Vec<_>, Vec<_>) =
        snippets().into_iter().partition(|snippet| snippet.expected == Expected::Compiles);
    texts.extend(sound.into_iter().map(|snippet| snippet.text));
    let sound = texts.len();
    texts.extend(failing.into_iter().map(|snippet| snippet.text));
    let mut words: Vec<String> = texts
        .iter()
        .flat_map(|text| pieces(text))
        .filter(|(kind, _)| *kind == TokenKind::Word)
        .map(|(_, text)| text.trim().to_string())
        .collect();
    words.sort();
    words.dedup();
    let (mut fine, mut failed) = (0, 0);
    let wanted = common::number("STEADFAST_SPOILED", TEXTS) as u64;
    let first = SEED + common::number("STEADFAST_SEED", 1) as u64 - 1;
    for number in 0..wanted {
        let seed = first + number;
        let mut random = Random(seed);
        let from = match number % 4 {
            0 => designs,
            1 => texts.len(),
            _ => sound,
        };
        let whole = random.below(from);
        let text = spoil(&mut random, &texts[whole], &words);
        let outcome = catch_unwind(AssertUnwindSafe(|| common::compiled(&text)));
        let Ok(compiled) = outcome else {
            panic!("seed {seed} panics:\n{text}");
        };
        match &compiled.design {
            None => {
                assert!(compiled.has_errors(), "seed {seed}: no design and no error:\n{text}");
                failed += 1;
            }
            Some(design) => {
                let bytes = String::from_utf8(design::to_bytes(design)).unwrap();
                let hidden = bytes.contains("\"Error\"");
                assert!(!hidden, "seed {seed}: an error was not reported:\n{text}");
                if number % 16 == 0 {
                    let json = design::to_json(design);
                    assert_eq!(design::from_json(&json).as_ref(), Ok(design), "seed {seed}");
                }
                fine += 1;
            }
        }
    }
    println!("seeds {first} to {}: {fine} compile, {failed} do not", first + wanted - 1);
    assert!(fine > TEXTS / 50 && failed > TEXTS / 4, "{fine} compile, {failed} do not");
}

/// A chain of `define`s, each as deep as the parser allows.
fn deep_defines(count: usize) -> String {
    let mut text = String::from("design Deep\ndefine d0(x: int) = x\n");
    for number in 1..=count {
        let open = "1 + (".repeat(60);
        let close = ")".repeat(60);
        text += &format!("define d{number}(x: int) = {open}d{}(x){close}\n", number - 1);
    }
    text
}

#[test]
fn the_deepest_expression_compiles_and_reads_back() {
    let guard = "not ".repeat(syntax::MAX_DEPTH - 10);
    let text = format!(
        "design Deep\nactor a\nsubject S(s: text) {{ truth T {{ b: bool = false }} }}\n\
         step a[go(s: S) {{ deep: {guard}T.b }}] {{ T.b := true }}\n"
    );
    let compiled = common::compiled(&text);
    let design = compiled.design.expect("it compiles");
    assert_eq!(design::from_json(&design::to_json(&design)).as_ref(), Ok(&design));
}

#[test]
fn defines_within_defines_have_a_bottom() {
    assert_eq!(common::codes(&deep_defines(1)), [""; 0]);
    assert_eq!(common::codes(&deep_defines(100)), ["E0212"]);
}

#[test]
fn defines_that_double_have_an_end() {
    let mut text = String::from("design Wide\ndefine d0(x: int) = x + 1\n");
    for number in 1..=60 {
        let below = number - 1;
        text += &format!("define d{number}(x: int) = d{below}(x) + d{below}(x)\n");
    }
    assert_eq!(common::codes(&text), ["E0212"]);
}

#[test]
fn empty_and_odd_texts_are_answered() {
    assert_eq!(common::codes(""), ["E0210"]);
    assert_eq!(common::codes("// nothing but a comment\n"), ["E0210"]);
    assert_eq!(common::codes("\u{feff}design D\n"), [""; 0]);
    assert_eq!(common::codes("design D\r\nactor a\r\n"), [""; 0]);
    assert!(!common::codes("\0").is_empty());
}
