//! What `explain` prints of keys, held against the keys that are stored.

use crate::support;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::archive::{DESIGN, archive};
use explain::{Engine, WriteKind, realize};
use store::{Decision, Key, KeyRange};
use support::{Bench, compile};

/// What a printed part of a key stands for in the bytes.
#[derive(Clone, PartialEq, Debug)]
enum Token {
    Design,
    Bytes(Vec<u8>),
    Text(String),
    Sorted(String),
    Fixed(usize),
    Rest,
}

/// Reads the text that `explain` prints: `design:u16 'r' 0001 sorted(…) text(…)`.
fn tokens(printed: &str) -> Vec<Token> {
    let mut list = Vec::new();
    let mut rest = printed;
    while !rest.is_empty() {
        let mut depth = 0;
        let end = rest.find(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            c == ' ' && depth == 0
        });
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after.trim_start();
        let name = |word: &str| word.split_once('(').unwrap().1.trim_end_matches(')').to_string();
        list.push(match word {
            "design:u16" => Token::Design,
            _ if word.starts_with('\'') => Token::Bytes(vec![word.as_bytes()[1]]),
            _ if word.starts_with("text(") => Token::Text(name(word)),
            _ if word.starts_with("sorted(") => Token::Sorted(name(word)),
            _ if word.starts_with("u64(") => Token::Fixed(8),
            _ if word.starts_with("hash16(") => Token::Fixed(16),
            _ if word.starts_with("encoded(") => Token::Rest,
            _ => {
                let digits = word.as_bytes().chunks(2).map(|pair| str::from_utf8(pair).unwrap());
                Token::Bytes(digits.map(|two| u8::from_str_radix(two, 16).unwrap()).collect())
            }
        });
    }
    list
}

/// The named texts and numbers in a key that has this form; none: it has another one.
fn read(form: &[Token], key: &[u8]) -> Option<Vec<(String, String)>> {
    let mut rest = key;
    let mut named = Vec::new();
    for token in form {
        match token {
            Token::Design => rest = rest.strip_prefix(&[0, 0])?,
            Token::Bytes(bytes) => rest = rest.strip_prefix(&bytes[..])?,
            Token::Fixed(count) => rest = rest.get(*count..)?,
            Token::Rest => rest = &[],
            Token::Sorted(name) => {
                let (bytes, after) = rest.split_first_chunk::<8>()?;
                let number = i128::from(u64::from_be_bytes(*bytes)) - (1 << 63);
                named.push((name.clone(), number.to_string()));
                rest = after;
            }
            Token::Text(name) => {
                // no text of this test has a 00 in it
                let end = rest.windows(2).position(|two| two == [0, 1])?;
                named.push((name.clone(), String::from_utf8(rest[..end].to_vec()).ok()?));
                rest = &rest[end + 2..];
            }
        }
    }
    rest.is_empty().then_some(named)
}

fn stored(bench: &Bench) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut list = Vec::new();
    let all = KeyRange { start: Key::new(Vec::new()), end: None };
    let looked = bench.store.local().unwrap().transact(&mut |transaction| {
        transaction.scan(&all, false, &mut |key, _, value| {
            list.push((key.to_vec(), value.to_vec()));
            ControlFlow::Continue(())
        });
        Decision::Abandon
    });
    looked.unwrap();
    list
}

/// The spaces that operations write; the others are the runtime's own.
const EXPLAINED: &[u8] = b"rltopij";

/// A trace context without a state of its own.
const TRACE_BYTES: u64 = 25;

#[test]
fn every_stored_key_has_a_form_that_is_printed() {
    let bench = archive();
    let realization = realize(&compile("archive", DESIGN), Engine::Embedded);
    let puts: Vec<_> = realization
        .operations
        .iter()
        .flat_map(|it| it.form.writes.iter().map(move |write| (it, write)))
        .filter(|(_, write)| !matches!(write.kind, WriteKind::Delete | WriteKind::Remove))
        .collect();
    for (realized, write) in &puts {
        let printed = write.key.to_string();
        let line = realized.commit.iter().find(|line| line.text.contains(&printed));
        assert!(line.is_some(), "{} does not print {printed}", realized.operation);
    }
    let mut spaces = BTreeSet::new();
    for (key, value) in stored(&bench) {
        if !EXPLAINED.contains(&key[2]) {
            continue;
        }
        spaces.insert(key[2]);
        let matching = puts.iter().filter(|(_, write)| {
            let form = tokens(&write.key.to_string());
            read(&form, &key).is_some()
        });
        let sizes: Vec<_> = matching.map(|(_, write)| write.size).collect();
        // a due repair also says which request caused it, if one is known: that is not printed
        let caused = if key[2] == b't' { TRACE_BYTES } else { 0 };
        let key = key.escape_ascii();
        assert!(!sizes.is_empty(), "`{key}` has no form that is printed");
        let fits = sizes.iter().any(|size| {
            let length = value.len() as u64;
            size.min <= length && (size.open || length <= size.max + caused)
        });
        assert!(fits, "`{key}` is {} bytes, and printed is {sizes:?}", value.len());
    }
    assert_eq!(spaces, EXPLAINED.iter().copied().collect());
}

#[test]
fn the_key_of_a_record_is_made_of_the_parts_that_are_printed() {
    let bench = archive();
    let realization = realize(&compile("archive", DESIGN), Engine::Embedded);
    let write = realization.operations.iter().find(|it| it.operation == "author[write]").unwrap();
    let record = write.form.writes.iter().find(|write| write.what == "record").unwrap();
    let printed = record.key.to_string();
    assert_eq!(
        printed,
        "design:u16 'r' 0001 sorted(book.shelf.room) text(book.shelf.shelf) sorted(book.kind) \
         text(book.by)"
    );
    let form = tokens(&printed);
    let keys = stored(&bench);
    let found: Vec<_> = keys.iter().filter_map(|(key, _)| read(&form, key)).collect();
    let named: Vec<(&str, &str)> =
        found[0].iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    // the book that `archive` writes; `ATLAS` is the second word of its kind
    let expected = [
        ("book.shelf.room", "7"),
        ("book.shelf.shelf", "upper"),
        ("book.kind", "1"),
        ("book.by", "ann"),
    ];
    assert_eq!((found.len(), &named[..]), (1, &expected[..]));
}
