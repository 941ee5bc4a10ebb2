//! What the runtime stores, byte by byte: every key of the golden file parses and is written the same
//! again, and so is every value.

use std::cell::RefCell;

use design::model::{Design, SubjectId, Type};
use engine::Program;
use layout::{
    Codec, DesignNumber, FeedEntry, KeptOutcome, OutboxEntry, Pool, Reader, RecordForm, SetAside,
    Space, StoredKey, Wrong, put_head, put_numbers, take_append_time, take_numbers, value,
};

const DESIGN: &str = include_str!("../../runtime/tests/stored/Archive.design");
const GOLDEN: &str = include_str!("../../runtime/tests/stored/bytes.txt");

fn archive() -> Design {
    design::compile("archive", DESIGN, &design::NoCatalog).design.expect("the design compiles")
}

fn from_hex(text: &str) -> Vec<u8> {
    let digits = text.trim_matches('-').as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// The letter, the key and the value of every line but those of the feed.
fn stored() -> impl Iterator<Item = (u8, Vec<u8>, Vec<u8>)> {
    GOLDEN.lines().filter(|line| !line.starts_with("feed ")).map(|line| {
        let parts: Vec<&str> = line.split(' ').collect();
        (parts[0].as_bytes()[0], from_hex(parts[1]), from_hex(parts[2]))
    })
}

#[test]
fn every_key_parses_and_is_written_the_same() {
    let mut seen = Vec::new();
    for (letter, key, _) in stored() {
        let parsed = StoredKey::parse(&key).unwrap_or_else(|damaged| panic!("{damaged}"));
        assert_eq!(parsed.to_bytes(), key, "{parsed:?}");
        assert_eq!(Space::of(&key).map(Space::letter), Some(letter));
        seen.push(letter);
        let moved = parsed.of_design(DesignNumber(7)).to_bytes();
        assert_eq!((&moved[..2], &moved[2..]), (&[0, 7][..], &key[2..]));
    }
    for space in Space::ALL {
        assert!(seen.contains(&space.letter()), "the golden file has no {}", space.name());
    }
}

#[test]
fn a_key_that_is_cut_off_is_another_key_or_said_to_be_damaged() {
    for (_, key, _) in stored() {
        for end in 0..key.len() {
            match StoredKey::parse(&key[..end]) {
                Ok(other) => assert_eq!(other.to_bytes(), &key[..end]),
                Err(damaged) => {
                    assert_eq!(damaged.bytes(), &key[..end]);
                    assert!(!damaged.to_string().is_empty());
                }
            }
        }
    }
    let damaged = StoredKey::parse(b"\0\0t\x80\0\0").unwrap_err();
    assert_eq!(
        damaged.to_string(),
        r"the due repair key `\x00\x00t\x80\x00\x00` is damaged: it ends too early"
    );
    let damaged = StoredKey::parse(b"\0\0?abc").unwrap_err();
    assert_eq!((damaged.space(), damaged.wrong), (None, Wrong::UnknownSpace));
}

#[test]
fn every_value_reads_and_is_written_the_same() {
    let design = archive();
    let program = Program::new(&design);
    let records: Vec<RecordForm> = (0..design.subjects.len())
        .map(|at| RecordForm::of(&design, &program, SubjectId::of(at)))
        .collect();
    let (design, program, records) = (&design, &program, &records[..]);
    let codec = Codec { number: DesignNumber(0), design, program, records };
    let pool = RefCell::new(Pool::new(program.texts()));
    for (_, key, stored) in stored() {
        match StoredKey::parse(&key).unwrap() {
            StoredKey::Record(parsed) => {
                let handle = codec.handle(parsed, &mut pool.borrow_mut()).unwrap();
                assert_eq!(codec.record_key(parsed.subject, handle, &pool.borrow()), key);
                let mut words = Vec::new();
                let head =
                    codec.take_record(&key, &stored, parsed.subject, &pool, &mut words).unwrap();
                let mut out = Vec::new();
                put_head(&mut out, &head);
                codec.put_truth(&mut out, parsed.subject, &words, &pool.borrow());
                assert_eq!(out, stored);
                for end in 0..stored.len() {
                    let cut = &stored[..end];
                    let read = codec.take_record(&key, cut, parsed.subject, &pool, &mut Vec::new());
                    let damaged = read.unwrap_err();
                    assert_eq!((damaged.space(), damaged.bytes()), (Some(Space::Record), &key[..]));
                }
            }
            StoredKey::Log(parsed) => {
                let mut reader = Reader::new(&stored);
                let at = take_append_time(&mut reader).unwrap();
                let attributes = &design.subjects[parsed.subject.index()].attributes;
                let mut words = Vec::new();
                for (attr, _) in &program.state(parsed.subject, parsed.log).fields {
                    let ty = &attributes[attr.index()].ty;
                    value::take(&mut reader, design, ty, &mut pool.borrow_mut(), &mut words)
                        .unwrap();
                }
                let mut out = Vec::new();
                let place = (parsed.subject, parsed.log);
                codec.put_log_entry(&mut out, place, at, &words, &pool.borrow());
                assert_eq!(out, stored);
            }
            StoredKey::Outbox(parsed) => {
                let entry = OutboxEntry::take(&stored).unwrap();
                assert_eq!(entry.to_bytes(), stored);
                let mut args = Reader::new(&entry.args);
                let params =
                    codec.take_params(&mut args, parsed.operation, &mut pool.borrow_mut()).unwrap();
                let mut out = Vec::new();
                codec.put_params(&mut out, parsed.operation, &params, &pool.borrow());
                assert_eq!(out, entry.args);
            }
            StoredKey::Outcome(_) => {
                assert_eq!(KeptOutcome::take(&stored).unwrap().to_bytes(), stored);
            }
            StoredKey::Aside(_) => {
                assert_eq!(SetAside::take(&stored).unwrap().to_bytes(), stored);
            }
            StoredKey::Meta(parsed) if parsed == layout::MetaKey::NUMBERS => {
                assert_eq!(put_numbers(&take_numbers(&stored).unwrap()), stored);
            }
            StoredKey::Meta(parsed) if parsed.about == layout::About::Layout => {
                assert_eq!(layout::describe(design).into_bytes(), stored);
            }
            _ => {}
        }
    }
}

#[test]
fn every_entry_of_the_feed_reads() {
    let design = archive();
    for line in GOLDEN.lines().filter_map(|line| line.strip_prefix("feed ")) {
        let bytes = from_hex(line);
        let rest = layout::feed::of_design(&bytes, DesignNumber(0)).unwrap();
        let entry = FeedEntry::parse(rest).unwrap();
        assert!(entry.operation.index() < design.operations.len());
        for end in 0..rest.len() {
            assert!(FeedEntry::parse(&rest[..end]).is_err(), "{end} of {line}");
        }
    }
}

/// Handles are numbered as a call meets them.
#[test]
fn a_set_is_stored_the_same_in_whatever_order_it_was_met() {
    let archive = archive();
    let texts = || Pool::new(Program::new(&archive).texts());
    let of_texts = Type::Set { of: Box::new(Type::Text), max: 3 };
    let scores = Type::Map { key: Box::new(Type::Text), value: Box::new(Type::Int), max: 3 };
    let met = |order: [&str; 3]| {
        let mut pool = texts();
        let handles = order.map(|text| pool.text(text.as_bytes()));
        let mut set = handles.to_vec();
        set.sort_unstable();
        let mut pairs: Vec<[i64; 2]> =
            order.iter().zip(handles).map(|(text, handle)| [handle, text.len() as i64]).collect();
        pairs.sort_unstable();
        let words: Vec<i64> = std::iter::once(3).chain(set).collect();
        let map: Vec<i64> = std::iter::once(3).chain(pairs.into_iter().flatten()).collect();
        let mut out = Vec::new();
        value::put(&mut out, &archive, &of_texts, &words, &pool);
        value::put(&mut out, &archive, &scores, &map, &pool);
        out
    };
    let one = met(["b", "ccc", "aa"]);
    assert_eq!(one, met(["aa", "b", "ccc"]));
    assert_eq!(one, met(["ccc", "aa", "b"]));
}
