//! Designs made of designs: any archetypes stand in one design, and each is what it is alone.

use std::collections::BTreeMap;

use design::model::Design;
use design::{Compiled, compile, to_json};
use serde_json::Value;

use crate::common::{Shelf, plain};

fn used(text: &str) -> Compiled {
    compile("test", text, &Shelf::get())
}

fn said(compiled: &Compiled) -> String {
    compiled.diagnostics.iter().map(plain).collect()
}

#[track_caller]
fn sound(text: &str) -> Design {
    let compiled = used(text);
    let flat = compiled.flat.clone().unwrap_or_default();
    let said = said(&compiled);
    compiled.design.unwrap_or_else(|| panic!("{text}\n{said}\n{flat}"))
}

/// Two designs are one but for names: each name of one stands for one name of the other.
#[derive(Default)]
struct Same {
    names: BTreeMap<(String, String), String>,
    differences: Vec<String>,
}

/// What says where something stands, or what a design is called.
const IGNORED: [&str; 6] = ["span", "head", "uses", "kind", "title", "header"];

impl Same {
    fn compare(one: &Design, other: &Design) -> Vec<String> {
        let value = |design: &Design| -> Value {
            let whole: Value = serde_json::from_str(&to_json(design)).expect("it is JSON");
            whole["design"].clone()
        };
        let mut same = Same::default();
        let (one, other) = (value(one), value(other));
        let (Value::Object(one), Value::Object(other)) = (one, other) else { panic!() };
        for (key, mine) in &one {
            if !IGNORED.contains(&key.as_str()) && key != "name" {
                same.value(key, mine, &other[key]);
            }
        }
        same.differences
    }

    fn value(&mut self, path: &str, one: &Value, other: &Value) {
        match (one, other) {
            (Value::Object(mine), Value::Object(theirs)) => {
                let keys = |map: &serde_json::Map<String, Value>| -> Vec<String> {
                    map.keys().cloned().collect()
                };
                if keys(mine) != keys(theirs) {
                    self.differences.push(format!("{path}: {one} and {other}"));
                    return;
                }
                for (key, value) in mine {
                    if !["span", "head"].contains(&key.as_str()) {
                        self.value(&format!("{path}.{key}"), value, &theirs[key]);
                    }
                }
            }
            (Value::Array(mine), Value::Array(theirs)) => {
                if mine.len() != theirs.len() {
                    self.differences.push(format!("{path}: {one} and {other}"));
                    return;
                }
                for (at, (a, b)) in mine.iter().zip(theirs).enumerate() {
                    self.value(&format!("{path}[{at}]"), a, b);
                }
            }
            (Value::String(mine), Value::String(theirs)) => {
                let room: String = path.chars().filter(|letter| !letter.is_ascii_digit()).collect();
                let held = self.names.entry((room, mine.clone())).or_insert_with(|| theirs.clone());
                if held != theirs {
                    self.differences.push(format!("{path}: `{mine}` is `{held}` and `{theirs}`"));
                }
            }
            _ if one == other => {}
            _ => self.differences.push(format!("{path}: {one} and {other}")),
        }
    }
}

#[test]
fn a_used_archetype_is_the_archetype_with_other_names() {
    for (id, text) in Shelf::get().all() {
        let alone = compile(id, text, &Shelf::get()).design.expect("it compiles");
        let used = sound(&format!("design D\n\nuse {id} as Zebra\n"));
        let differences = Same::compare(&alone, &used);
        assert!(differences.is_empty(), "{id}: {:#?}", &differences[..differences.len().min(5)]);
        assert!(used.goals().all(|goal| goal.name.starts_with("zebra.")), "{id}");
    }
}

#[test]
fn names_that_are_not_the_same_are_told() {
    let shelf = Shelf::get();
    let compiled = |text: &str| compile("A08", text, &shelf).design.expect("it compiles");
    let text = shelf.text("A08");
    let one = compiled(text);
    let other = compiled(&text.replacen("without confirm.live", "without confirm.open", 1));
    assert!(!Same::compare(&one, &other).is_empty());
    assert!(
        !Same::compare(&one, &compiled(&text.replacen("booking: 2", "booking: 3", 1))).is_empty()
    );
}

#[test]
fn what_an_archetype_and_its_part_call_the_same_are_told_apart() {
    let design = sound("design D\n\nuse A09 as Job\n");
    let protocols: Vec<&str> = design.protocols.iter().map(|it| it.name.as_str()).collect();
    assert!(protocols.contains(&"job.main") && protocols.contains(&"job.job.main"));
    assert!(protocols.contains(&"job.lost_worker"), "{protocols:?}");
    let failures: Vec<&str> = design.failures.iter().map(|it| it.title.as_str()).collect();
    let twice = ["job: job claimed twice", "job: job: job claimed twice"];
    assert!(twice.iter().all(|title| failures.contains(title)), "{failures:?}");
    assert!(failures.contains(&"job: lost worker"), "{failures:?}");
}

#[test]
fn any_two_archetypes_stand_in_one_design() {
    let mut pairs = 0;
    let shelf = Shelf::get();
    let ids: Vec<&str> = shelf.all().map(|(id, _)| id).collect();
    for (at, one) in ids.iter().enumerate() {
        for other in &ids[at..] {
            let design = sound(&format!("design D\n\nuse {one} as Zebra\nuse {other} as Yak\n"));
            assert_eq!(design.uses.len(), 2);
            assert!(design.world.written, "{one} {other}");
            pairs += 1;
        }
    }
    assert!(pairs >= 276, "{pairs} pairs");
}

#[test]
fn the_flat_text_is_the_same_design() {
    let shelf = Shelf::get();
    let ids: Vec<&str> = shelf.all().map(|(id, _)| id).collect();
    let mut texts: Vec<String> =
        ids.iter().map(|id| format!("design D\n\nuse {id} as Zebra\n")).collect();
    texts.extend(
        ids.windows(2)
            .map(|pair| format!("design D\n\nuse {} as Zebra\nuse {} as Yak\n", pair[0], pair[1])),
    );
    texts.extend(ids.iter().map(|id| format!("design D\n\nuse {id} as Zebra\nuse {id} as Yak\n")));
    for text in texts {
        let compiled = used(&text);
        let flat = syntax::format(compiled.flat.as_deref().expect("it uses something")).text;
        let again = compile("flat", &flat, &design::NoCatalog);
        let said: String = again.diagnostics.iter().map(plain).collect();
        let again = again.design.unwrap_or_else(|| panic!("{text}\n{said}\n{flat}"));
        let design = compiled.design.expect("it compiles");
        assert_eq!(without_places(&design), without_places(&again), "{text}");
        assert_eq!(syntax::format(&flat).text, flat, "{text}");
    }
}

/// The design as JSON, without spans and without where it comes from.
fn without_places(design: &Design) -> Value {
    let mut value: Value = serde_json::from_str(&to_json(design)).expect("it is JSON");
    fn strip(value: &mut Value) {
        match value {
            Value::Object(map) => {
                for key in ["span", "head", "uses"] {
                    map.remove(key);
                }
                map.values_mut().for_each(strip);
            }
            Value::Array(list) => list.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut value);
    value
}
