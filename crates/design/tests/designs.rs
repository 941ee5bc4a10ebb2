//! The designs of the repository, and archetypes put to use.

use crate::common;

use common::{designs, plain};
use design::model::DesignKind;
use design::{Catalog, Compiled, compile, from_json, to_json};

/// The archetypes of `designs/`, and some that are made up.
struct Shelf(Vec<(String, String)>);

impl Shelf {
    fn new() -> Shelf {
        let mut found = Vec::new();
        for (path, text) in designs() {
            let compiled = common::compiled(&text);
            if let Some(DesignKind::Archetype { id }) = compiled.design.map(|design| design.kind) {
                found.push((id, text));
            } else {
                assert!(!text.starts_with("archetype"), "{path} does not compile");
            }
        }
        Shelf(found)
    }

    fn with(mut self, id: &str, text: &str) -> Shelf {
        self.0.push((id.into(), text.into()));
        self
    }

    fn compile(&self, text: &str) -> Compiled {
        compile("test", text, self)
    }

    fn codes(&self, text: &str) -> Vec<&'static str> {
        self.compile(text).diagnostics.iter().map(|problem| problem.code).collect()
    }
}

impl Catalog for Shelf {
    fn archetype(&self, id: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == id).map(|(_, text)| text.as_str())
    }

    fn ids(&self) -> Vec<String> {
        self.0.iter().map(|(id, _)| id.clone()).collect()
    }
}

#[test]
fn every_design_compiles_without_a_word() {
    let mut count = 0;
    for (path, text) in designs() {
        let compiled = common::compiled(&text);
        let said: String = compiled.diagnostics.iter().map(plain).collect();
        assert_eq!(said, "", "{path}");
        count += 1;
    }
    assert!(count >= 4, "{count} designs");
}

#[test]
fn every_design_is_formatted_and_keeps_its_tree() {
    for (path, text) in designs() {
        let formatted = syntax::format(&text).text;
        assert_eq!(formatted, text, "{path}");
        assert_eq!(common::tree(&formatted), common::tree(&text), "{path}");
    }
}

#[test]
fn the_json_form_of_every_design_reads_back_and_is_stable() {
    for (path, text) in designs() {
        let design = common::compiled(&text).design.expect("it compiles");
        let json = to_json(&design);
        let read = from_json(&json);
        assert_eq!(read.as_ref(), Ok(&design), "{path}");
        assert_eq!(to_json(&read.expect("just read")), json, "{path}");
    }
}

#[test]
fn the_json_form_says_what_it_is() {
    assert!(from_json("{").is_err_and(|error| error.starts_with("not JSON")));
    assert!(from_json("{}").is_err_and(|error| error.starts_with("no `format`")));
    let other = r#"{ "format": "steadfast-design/9", "design": {} }"#;
    assert!(from_json(other).is_err_and(|error| error.contains("steadfast-design/9")));
    let hollow = r#"{ "format": "steadfast-design/1", "design": {} }"#;
    assert!(from_json(hollow).is_err_and(|error| error.starts_with("not a design")));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(from_json(&deep).is_err_and(|error| error.contains("nests 100000 deep")));
    let noise = r#"{ "format": "steadfast-design/1", "design": null } x"#;
    assert!(from_json(noise).is_err_and(|error| error.starts_with("not JSON")));
}

#[test]
fn an_archetype_is_put_to_use_under_its_noun() {
    let text = "design Box \"Box office\"\nuse A08 as Ticket\n\
        check { ticket: 1  booking: 2  user: 2  ttl: 2  faults: crash }\n";
    let compiled = Shelf::new().compile(text);
    let said: String = compiled.diagnostics.iter().map(plain).collect();
    assert_eq!(said, "");
    let design = compiled.design.expect("it compiles");
    assert_eq!((design.kind, design.name.as_str()), (DesignKind::Design, "Box"));
    assert_eq!(
        (design.uses[0].archetype.as_str(), design.uses[0].noun.as_str()),
        ("A08", "Ticket")
    );
    let subjects: Vec<&str> = design.subjects.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(subjects, ["Ticket", "TicketBooking"]);
    let states: Vec<&str> =
        design.subjects.iter().flat_map(|s| &s.states).map(|s| s.name.as_str()).collect();
    assert_eq!(states, ["TicketInventoryState", "TicketHoldState", "TicketBookingState"]);
    let operations: Vec<&str> = design.operations.iter().map(|o| o.name.as_str()).collect();
    assert!(operations.contains(&"add_ticket"), "{operations:?}");
    assert!(design.world.written, "the small world is the design's own");
}

#[test]
fn a_noun_of_two_words_is_written_with_an_underscore_in_small_names() {
    let text = "design Hotel\nuse A08 as GuestRoom\n\
        check { guest_room: 1  booking: 2  user: 2  ttl: 2 }\n";
    let design = Shelf::new().compile(text).design.expect("it compiles");
    assert_eq!(design.subjects[0].keys[0].name, "guest_room");
    assert!(design.operations.iter().any(|operation| operation.name == "add_guest_room"));
}

#[test]
fn every_archetype_compiles_under_a_noun() {
    let shelf = Shelf::new();
    for id in shelf.ids() {
        let text = format!("design Used\nuse {id} as Thing\n");
        let compiled = shelf.compile(&text);
        let errors: String =
            compiled.diagnostics.iter().filter(|problem| problem.is_error()).map(plain).collect();
        assert_eq!(errors, "", "{id}");
    }
}

#[test]
fn an_archetype_that_is_not_there_is_looked_for_nearby() {
    let compiled = Shelf::new().compile("design D\nuse A80 as Ticket\n");
    let said: String = compiled.diagnostics.iter().map(plain).collect();
    assert_eq!(
        said,
        "error[E0801]: no archetype `A80` in the catalog\nhelp: did you mean `A08`?\n"
    );
}

#[test]
fn a_noun_begins_with_a_capital_letter() {
    assert_eq!(Shelf::new().codes("design D\nuse A08 as ticket\n"), ["E0802"]);
}

#[test]
fn archetypes_that_use_each_other_come_to_an_end() {
    let circle = Shelf(Vec::new())
        .with("Z1", "archetype Z1 A \"X\"\nuse Z2 as Inner\nsubject X(x: text) { }\n")
        .with("Z2", "archetype Z2 B \"X\"\nuse Z1 as Outer\n");
    let codes = circle.codes("design D\nuse Z1 as Thing\n");
    assert!(codes.contains(&"E0803"), "{codes:?}");
}

#[test]
fn an_archetype_without_a_placeholder_has_the_noun_all_the_same() {
    let text = "archetype Z3 Plain \"no placeholder\"\nactor a { seen: int? of Lamp }\n\
        subject Lamp(lamp: text) { truth Lit { lit: bool = false } }\n\
        step a[light(lamp: Lamp)] { Lit.lit := true }\n";
    let shelf = Shelf(Vec::new()).with("Z3", text);
    let design = shelf.compile("design D\nuse Z3 as Blue\n").design.expect("it compiles");
    assert_eq!(design.subjects[0].name, "BlueLamp");
    assert_eq!(design.subjects[0].states[0].name, "BlueLit");
    assert_eq!(design.operations[0].name, "light_blue");
    assert_eq!(
        (design.actors[0].name.as_str(), design.actors[0].memory[0].name.as_str()),
        ("a", "seen_blue")
    );
}

#[test]
fn a_mistake_inside_an_archetype_is_shown_in_its_own_text() {
    let broken = Shelf(Vec::new())
        .with("Z4", "archetype Z4 Broken \"X\"\nactor a\nstep a[go_x(x: X)] { XState.n := 1 }\n");
    let compiled = broken.compile("design D\nuse Z4 as Thing\n");
    let problem = &compiled.diagnostics[0];
    assert_eq!(problem.code, "E0203");
    assert_eq!(compiled.sources.text(problem.primary.span), "X");
    assert_eq!(problem.secondary.last().map(|label| label.span.file), Some(syntax::FileId(0)));
    let source = compiled.sources.get(problem.primary.span.file).expect("it has a source");
    assert_eq!(source.name, "Z4 as Thing");
}
