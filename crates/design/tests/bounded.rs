//! Ranges, actors that are apart, and clauses that are kept for defence: what the model says of them.

use crate::common;

use common::{codes, compiled};
use design::model::*;

const HEAD: &str = "design D\nactor a\nactor b\nsubject S(s: int 0..3) {\n\
    truth T { n: int 1..64 = 4, d: duration 1s..10m?, m: decimal -0.5..2 = 0 }\n\
    log L { k: int 1..2 }\n    cache C at a { v: int 0..1 = 0 }\n}\n";

#[track_caller]
fn check(items: &str, expected: &[&str]) {
    assert_eq!(codes(&format!("{HEAD}{items}\n")), expected, "{items}");
}

#[track_caller]
fn model(items: &str) -> Design {
    let compiled = compiled(&format!("{HEAD}{items}\n"));
    compiled.design.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics))
}

#[test]
fn ranges_stand_beside_the_type() {
    let design = model(
        "step a[go(s: S, p: int -3..-1, q: duration 1s..2s = 1s, r: decimal 0..0.25?)] { T.n := 1 }\n\
         effect b[out(s: S)] { call POST \"u\" on ok(got: int 5..9) {} on refused {} on unknown {} }",
    );
    let range = |low, high| Some(Range { low, high });
    let subject = &design.subjects[0];
    assert_eq!((&subject.keys[0].ty, subject.keys[0].range), (&Type::Int, range(0, 3)));
    let ranges: Vec<_> = subject.attributes.iter().map(|attribute| attribute.range).collect();
    let m = range(-500_000, 2_000_000);
    assert_eq!(ranges, [range(1, 64), range(1_000, 600_000), m, range(1, 2), range(0, 1)]);
    let params: Vec<_> = design.operations[0].params.iter().map(|param| param.range).collect();
    assert_eq!(params, [None, range(-3, -1), range(1_000, 2_000), range(0, 250_000)]);
    let OperationKind::Effect(effect) = &design.operations[1].kind else { panic!() };
    assert_eq!(effect.on_ok.range, range(5, 9));
    let json = design::to_json(&design);
    assert_eq!(design::from_json(&json), Ok(design));
}

#[test]
fn what_has_no_new_construct_is_written_as_before() {
    let text = "design D\nactor a\nsubject S(s: text) { truth T { n: int = 4 } }\n\
                step a[go(s: S, n: int)] { T.n := n }\n";
    let design = compiled(text).design.expect("it compiles");
    let json = design::to_json(&design);
    for word in ["range", "apart", "defences"] {
        assert!(!json.contains(&format!("\"{word}\"")), "{word}");
    }
    assert_eq!(design::from_json(&json), Ok(design));
}

#[test]
fn a_range_has_ends_of_its_type_in_order_and_in_its_place() {
    for (items, code) in [
        ("subject P(p: int 3..1) { truth PT { x: int = 0 } }", "E0316"),
        ("subject P(p: text 1..3) { truth PT { x: int = 0 } }", "E0316"),
        ("subject P(p: text) { truth PT { x: bool 0..1 = true } }", "E0316"),
        ("subject P(p: text) { truth PT { x: time 1..3? } }", "E0316"),
        ("subject P(p: text) { truth PT { x: int 1s..2s = 1 } }", "E0316"),
        ("subject P(p: text) { truth PT { x: duration 1..2 = 1s } }", "E0316"),
        ("subject P(p: text) { truth PT { x: int 1.5..2 = 2 } }", "E0316"),
        ("subject P(p: text) { truth PT { x: set int 1..3 max 4 } }", "E0316"),
        ("actor c { my: int 1..3 of S }", "E0316"),
        ("define f(x: int 1..3) = x > 1", "E0316"),
        ("view V(n: int 1..3) = count S", "E0316"),
        ("subject P(p: text) { truth PT { x: int 1..99999999999999999999 = 2 } }", "E0307"),
        ("step a[go(s: S) { range: T.n > 1 }] { T.n := 1 }", "E0213"),
    ] {
        check(items, &[code]);
    }
}

#[test]
fn defaults_and_the_small_world_lie_in_their_ranges() {
    let step = "step a[go(s: S, x: int 1..64) { big: x > 3 }] { T.n := x }\n";
    for (items, expected) in [
        ("subject P(p: text) { truth PT { x: int 1..3 = 4 } }", &["E0317"][..]),
        ("subject P(p: text) { truth PT { x: duration 1s..3s? = 4s } }", &["E0317"]),
        ("subject P(p: text) { truth PT { x: int 1..3 } }\nstep a[m(p: new P)] { PT.x := 9 }", &[]),
        ("step a[go(s: S, x: int 1..3 = 0)] { T.n := x }", &["E0317"]),
        (&format!("{step}check {{ s: 1  x: 0..3 }}"), &["E0317"]),
        (&format!("{step}check {{ s: 1  x: 1..65 }}"), &["E0317"]),
        (&format!("{step}check {{ s: 1  x: {{2, 65}} }}"), &["E0317"]),
        (&format!("{step}check {{ s: 1  x: {{1, 64}} }}"), &[]),
        (&format!("{step}check {{ s: 1  x: 3 }}"), &[]),
        (&format!("{step}check {{ s: 1 }}"), &["E0701"]),
        (&format!("{step}check {{ s: {{4}}  x: 2 }}"), &["E0317"]),
        (&format!("{step}check {{ s: 5  x: 2 }}"), &["E0317"]),
        (&format!("{step}check {{ s: 1  x: 2  T.n: 0..9 }}"), &["E0317"]),
        (&format!("{step}check {{ s: 1  x: 2  T.n: 1..9 }}"), &[]),
    ] {
        check(items, expected);
    }
}

#[test]
fn few_values_need_no_words_in_the_small_world() {
    let design = model(
        "step a[go(s: S, x: int 2..17, y: int 5..9?) { big: x > 3 and y > 3 }] { T.n := x }\n\
         step a[other(s: S, x: int 1..64) { big: x > 3 }] { T.n := x }\n\
         effect b[out(s: S)] { call POST \"u\" on ok(got: int 5..9) { T.n := got } on refused {}\n\
         on unknown {} }\n\
         invariant i: all s in S: s.n > 0\n\
         check { s: 1  other.x: 3 }",
    );
    let whole = Values::Range(2, 17);
    let maybe = Values::OrNull(Box::new(Values::Range(5, 9)));
    assert_eq!(design.world.params[0][1..], [whole, maybe]);
    assert_eq!(design.world.params[1][1], Values::Range(1, 3));
    assert_eq!(design.world.answers[2], Some(Values::Range(5, 9)));
}

#[test]
fn apart_goes_both_ways_and_along_chains() {
    let design = model(
        "actor approver apart from author, payer\nactor author\nactor payer\n\
         actor editor continues author\nactor chief continues approver\nactor other",
    );
    let named = |name: &str| design.actors.iter().find(|actor| actor.name == name).unwrap();
    let apart = |name: &str| -> Vec<&str> {
        named(name).apart.iter().map(|id| design.actors[id.index()].name.as_str()).collect()
    };
    assert_eq!(apart("approver"), ["author", "payer", "editor"]);
    assert_eq!(apart("chief"), apart("approver"));
    for name in ["author", "payer", "editor"] {
        assert_eq!(apart(name), ["approver", "chief"], "{name}");
    }
    assert_eq!(apart("other"), Vec::<&str>::new());
}

#[test]
fn apart_from_whom_makes_sense() {
    for (items, expected) in [
        ("actor c apart from a", &[][..]),
        ("actor c apart from a, a", &["E0202"]),
        ("actor c apart from d", &["E0205"]),
        ("actor c apart from c", &["E0506"]),
        ("actor c continues a apart from a", &["E0506"]),
        ("actor c continues a\nactor d continues a apart from c", &["E0506"]),
        ("actor c apart from a\nstep c[go(s: S) { apart: T.n > 1 }] { T.n := 1 }", &["E0213"]),
        ("step a[go(s: S) { apart: T.n > 1 }] { T.n := 1 }", &[]),
    ] {
        check(items, expected);
    }
}

#[test]
fn a_defence_names_a_clause() {
    let step = "subject P(p: text) { truth PT { x: int = 0 } }\n\
                step a[go(s: S, p: P, new_one: new P) { big: T.n > 3 }] { T.n := 1 }\n";
    let design = model(&format!(
        "{step}defence go.big \"r\"\ndefence go.exists \"s\"\ndefence go.fresh \"t\""
    ));
    let said: Vec<_> =
        design.defences.iter().map(|known| (known.clause, known.reason.as_str())).collect();
    assert_eq!(
        said,
        [(ClauseRef::Named(0), "r"), (ClauseRef::Exists, "s"), (ClauseRef::Fresh, "t")]
    );
    for (items, expected) in [
        ("defence og.big \"r\"", "E0207"),
        ("defence go.bgi \"r\"", "E0613"),
        ("defence go.big \"  \"", "E0614"),
        ("defence go.big \"r\"\ndefence go.big \"s\"", "E0202"),
    ] {
        check(&format!("{step}{items}"), &[expected]);
    }
}
