//! Whatever the text, parsing returns: no panic, no overflow, work in proportion to the text,
//! spans inside it, and a message for everything that could not be read.

mod deep;
mod mutate;
mod random;
mod walk;

use random::Random;
use std::panic::{AssertUnwindSafe, catch_unwind};
use syntax::{FileId, TokenKind, parse_counting};

/// In release, enough to be sure; in debug, enough to notice.
const INPUTS: u64 = if cfg!(debug_assertions) { 40_000 } else { 1_000_000 };
const THREADS: u64 = 2;
/// How often a token may be looked at, for each token of the text.
const LOOKS_PER_TOKEN: u64 = 40;

#[test]
fn any_text_is_read_in_linear_time_without_a_panic() {
    let threads: Vec<_> = (0..THREADS)
        .map(|part| {
            std::thread::spawn(move || {
                check_seeds(part * INPUTS / THREADS..(part + 1) * INPUTS / THREADS)
            })
        })
        .collect();
    let mut total = Seen::default();
    for thread in threads {
        match thread.join() {
            Ok(seen) => total.add(&seen),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    println!(
        "{} inputs, {} without a message, {} messages, at most {} looks a token",
        total.inputs, total.clean, total.messages, total.looks_max
    );
    // the mutations must neither be harmless nor all of one kind
    assert_eq!(total.inputs, INPUTS);
    assert!(total.clean > INPUTS / 100, "only {} inputs were clean", total.clean);
    assert!(total.messages > INPUTS, "only {} messages were given", total.messages);
    assert!(total.codes.len() >= 25, "only these codes were met: {:?}", total.codes);
}

#[derive(Default)]
struct Seen {
    inputs: u64,
    clean: u64,
    messages: u64,
    looks_max: u64,
    codes: std::collections::BTreeSet<&'static str>,
}

impl Seen {
    fn add(&mut self, other: &Seen) {
        self.inputs += other.inputs;
        self.clean += other.clean;
        self.messages += other.messages;
        self.looks_max = self.looks_max.max(other.looks_max);
        self.codes.extend(&other.codes);
    }
}

fn check_seeds(seeds: std::ops::Range<u64>) -> Seen {
    let corpus = mutate::corpus();
    let mut seen = Seen::default();
    for seed in seeds {
        let text = mutate::mutated(&corpus, &mut Random::new(seed));
        let outcome = catch_unwind(AssertUnwindSafe(|| check(&text)));
        match outcome {
            Ok(Ok(one)) => seen.add(&one),
            Ok(Err(problem)) => panic!("seed {seed}: {problem}\n---\n{text}\n---"),
            Err(_) => panic!("seed {seed}: parsing panicked\n---\n{text}\n---"),
        }
    }
    seen
}

/// What must hold of any text.
fn check(text: &str) -> Result<Seen, String> {
    let (parsed, looks) = parse_counting(text, FileId(0));
    let inside = |start: u32, end: u32| {
        start <= end && text.is_char_boundary(start as usize) && text.is_char_boundary(end as usize)
    };
    let mut last_end = 0;
    for token in &parsed.tokens {
        if !inside(token.span.start, token.span.end) || token.span.start < last_end {
            return Err(format!("{token:?} lies outside the text or before the last token"));
        }
        last_end = token.span.end;
    }
    if parsed.tokens.last().map(|token| token.kind) != Some(TokenKind::End) {
        return Err("the last token is not the end".into());
    }
    for diagnostic in &parsed.diagnostics {
        let labels = std::iter::once(&diagnostic.primary).chain(&diagnostic.secondary);
        for label in labels {
            if !inside(label.span.start, label.span.end) {
                return Err(format!("{diagnostic:?} points outside the text"));
            }
        }
    }
    let walked = walk::file(&parsed.tree);
    if let Some(span) = walked.spans.iter().find(|span| !inside(span.start, span.end)) {
        return Err(format!("{span:?} in the tree lies outside the text"));
    }
    if walked.errors > 0 && parsed.diagnostics.is_empty() {
        return Err("the tree has an error and there is no message".into());
    }
    if walked.depth > syntax::MAX_DEPTH {
        return Err(format!("the tree is {} levels deep", walked.depth));
    }
    let tokens = parsed.tokens.len() as u64;
    if looks > LOOKS_PER_TOKEN * tokens {
        return Err(format!("{looks} looks for {tokens} tokens"));
    }
    Ok(Seen {
        inputs: 1,
        clean: u64::from(parsed.diagnostics.is_empty()),
        messages: parsed.diagnostics.len() as u64,
        looks_max: looks.div_ceil(tokens),
        codes: parsed.diagnostics.iter().map(|diagnostic| diagnostic.code).collect(),
    })
}
