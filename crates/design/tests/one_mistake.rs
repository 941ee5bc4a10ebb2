//! One mistake gives one error: what only follows from it is not said.

use crate::common;

use common::{codes, designs, errors};
use syntax::FileId;
use syntax::tree::ItemKind;

/// Compiles and gives the codes and places, for a message when a test fails.
fn found(text: &str) -> Vec<(String, u32, u32)> {
    errors(&common::compiled(text))
}

#[test]
fn a_missing_item_is_missed_once() {
    let mut missed = 0;
    for (path, text) in designs() {
        let items = syntax::parse(&text, FileId(0)).tree.items;
        let uses = items.iter().any(|item| matches!(item.kind, ItemKind::Use(_)));
        for item in items {
            let (start, end) = (item.span.start as usize, item.span.end as usize);
            let what = text[start..end].lines().next().unwrap_or_default();
            // many things stand in it, and each is missed; what is used has a world, in which the own sizes are missed
            if matches!(item.kind, ItemKind::Use(_))
                || uses && matches!(item.kind, ItemKind::Check(_))
            {
                continue;
            }
            let rest = format!("{}{}", &text[..start], &text[end..]);
            let found = found(&rest);
            assert!(found.len() <= 1, "{path} without `{what}`: {found:?}");
            let header = matches!(item.kind, ItemKind::Design { .. } | ItemKind::Archetype { .. });
            assert!(!header || found[0].0 == "E0210", "{path} without `{what}`: {found:?}");
            missed += found.len();
        }
    }
    assert!(missed >= 40, "{missed} items are missed");
}

/// How many tokens are left out, one at a time, of those of all designs: `cargo xtask fuzz tokens` leaves out each.
const TOKENS: usize = 8_000;

/// Memory whose subject is missing is taken to be of the first one, and each use of it is wrong: A15 has eight.
const MOST: usize = 8;

#[test]
fn a_missing_token_is_hardly_ever_more_than_one_error() {
    let texts = designs();
    let tokens: Vec<(usize, std::ops::Range<usize>)> = texts
        .iter()
        .enumerate()
        .flat_map(|(design, (_, text))| {
            let spans = syntax::lex(text, FileId(0)).0.into_iter().map(|token| token.span);
            spans.map(move |span| (design, span.start as usize..span.end as usize))
        })
        .collect();
    let wanted = common::number("STEADFAST_TOKENS", TOKENS).clamp(1, tokens.len());
    let from = common::number("STEADFAST_SEED", 0);
    let (mut several, mut most) = (0, 0);
    for number in 0..wanted {
        let (design, token) = &tokens[(from + number * tokens.len() / wanted) % tokens.len()];
        let (path, text) = &texts[*design];
        let rest = format!("{}{}", &text[..token.start], &text[token.end..]);
        let found = found(&rest);
        several += usize::from(found.len() > 1);
        most = most.max(found.len());
        let line = text[..token.start].lines().count();
        assert!(found.len() <= MOST, "{path}:{line} without `{}`: {found:?}", &text[token.clone()]);
    }
    let all = tokens.len();
    println!(
        "{wanted} of {all} tokens left out: {several} gave more than one error, one gave {most}"
    );
    assert!(several * 50 <= wanted, "{several} of {wanted} gave more than one error");
}

#[test]
fn a_mistake_in_what_is_joined_is_not_lost() {
    // `client` is an actor of I03, and both are one: what follows the name cannot be read, and is no part of it
    for written in ["actor client is user", "actor client is", "actor client { seen: int"] {
        let text = format!("design D\nuse I03 as Job\n{written}\n");
        let found = found(&text);
        assert!(found.len() == 1 && found[0].1 >= 3, "{written}: {found:?}");
    }
}

#[test]
fn a_name_that_is_missing_in_many_places_is_one_error_that_shows_them() {
    let text = "design D\nactor a\nsubject S(s: text) { truth T { n: int = 0 } }\n\
        step a[f(s: S) { x: T.m = 0  y: m = 1 }] { T.m += 1  s.m := 2 }\n\
        invariant i: all s in S: s.m = 0\nview V = sum m of S\n";
    let compiled = common::compiled(text);
    assert_eq!(errors(&compiled), [("E0204".to_string(), 4, 23)]);
    let places = &compiled.diagnostics[0].secondary;
    assert!(places.len() >= 3, "{places:?}");
    assert!(places.iter().all(|label| label.text == "and here"), "{places:?}");
}

#[test]
fn a_missing_actor_takes_its_memory_along() {
    let text = "design D\nsubject S(s: text) { truth T { n: int = 0 } cache C at a { v: int } }\n\
        step a[f(s: S)] { my := T.n }\nstep a[g(s: S) { fenced: my = T.n }] { T.n += 1 }\n\
        protocol main { a[f] -> a[g] => done }\ncheck { s: 1  a: 2 }\n";
    assert_eq!(codes(text), ["E0205"]);
}

#[test]
fn a_missing_actor_in_continues_is_one_error() {
    let text = "design D\nactor a { my: int? }\nactor b continues aa\n\
        subject S(s: text) { truth T { n: int = 0 } }\nstep a[f(s: S)] { my := T.n }\n\
        step b[g(s: S) { fenced: T.n = my }] { T.n += 1 }\n";
    assert_eq!(codes(text), ["E0205"]);
}

#[test]
fn a_missing_subject_is_one_error_wherever_it_is_named() {
    let text = "design D\nactor a\nsubject S(s: text) { truth T { n: int = 0 } }\n\
        step a[f(s: Sub) { ok: T.n > 0 }] { T.n += 1  n += 1 }\n\
        invariant i: all s in Sub: s.n = 0\nview V = count Sub\nhotspot \"h\" on Sub\n\
        check { s: 2  sub: 2 }\n";
    assert_eq!(codes(text), ["E0203"]);
}

#[test]
fn a_double_is_one_error_with_all_that_is_in_it() {
    let twice = "actor a { m: int? }\n";
    assert_eq!(codes(&format!("design D\n{twice}{twice}")), ["E0202"]);
    let text = "design D\nactor a\nsubject S(s: text) { truth T { n: int = 0 } }\n\
        subject S(s: text) { truth U { m: int = 0 } }\n\
        step a[h(s: S) { x: U.m = 0 y: s.m = 1 }] { T.n := 1 }\n";
    assert_eq!(codes(text), ["E0202"]);
}

#[test]
fn a_wrong_value_does_not_leave_the_record_incomplete() {
    let subject = "design D\nactor a\nsubject S(s: text) { truth T { n: int, e: A | B } }\n";
    for step in [
        "step a[f(s: new S)] { T := { n: 1, e: AA } }\n",
        "step a[f(s: new S)] { T.n := 1  T.e := AA }\n",
        "step a[f(s: new S)] { T.n := 1  T.f := AA }\n",
        "step a[f(s: text)] { new S(s) { n: 1, e: AA } }\n",
    ] {
        let found = codes(&format!("{subject}{step}"));
        assert_eq!(found.len(), 1, "{step}: {found:?}");
    }
    let default = "design D\nsubject S(s: text) { truth T { n: int = null } }\n";
    assert_eq!(codes(default), ["E0301"]);
}

#[test]
fn everything_that_a_new_record_lacks_is_one_error() {
    let made = "design D\nactor a\nsubject S(s: text) { truth T { n: int, m: int } }\n\
        step a[f(s: new S)] { }\n";
    assert_eq!(codes(made), ["E0406"]);
    let there = "design D\nsubject S(s: text) { truth T { n: int, m: int } }\n";
    assert_eq!(codes(there), ["E0407"]);
}

#[test]
fn a_slip_in_check_is_one_error() {
    let text = "design D\nactor a\nsubject Seat(seat: text) { truth T { n: int = 0 } }\n\
        step a[h(seat: Seat)] { T.n := 1 }\ncheck { saet: 1 }\n";
    assert_eq!(codes(text), ["E0702"]);
}

#[test]
fn what_could_not_be_read_is_not_missed_as_well() {
    let text = "design D\nactor a\nsubject S(s: text) { truth T { n: int = 0 }\n\
        step a[h(s: S) { x: T.n = 0 }] { T.n := 1 }\ninvariant i: all s in S: s.n >= 0\n";
    assert_eq!(codes(text), ["E0102"]);
    let both = "design D\nactor a\nsubject S(s: text) { truth T { n: int = \"x\" } }\n\
        step a[h(s: S) { x: T.n == 0 }] { T.n := 1 }\n";
    assert_eq!(codes(both), ["E0301", "E0007"]);
}

#[test]
fn an_unknown_side_of_a_comparison_is_one_error() {
    let text = |guard: &str| {
        format!(
            "design D\nactor a\nsubject S(s: text) {{ truth T {{ e: A | B = A }} }}\n\
             step a[h(s: S) {{ x: {guard} }}] {{ T.e := A }}\n"
        )
    };
    for guard in ["ee = A", "A = ee", "ee in {A, B}", "T.ee = B", "T.ee in {A}"] {
        let found = codes(&text(guard));
        assert_eq!(found.len(), 1, "{guard}: {found:?}");
    }
}
