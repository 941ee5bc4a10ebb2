//! What is known of a text: where each name is defined, which type it has, also in broken texts.

mod broken;
mod catalog;

use crate::common;

use common::compiled;
use design::{Analysis, Catalog, Compiled, DefinitionId};
use syntax::FileId;

const FILE: FileId = FileId(0);

const SEATS: &str = "\
design Seats \"Seats\"

actor buyer { my_epoch: int of Seat }

subject Seat(seat: text) {
  truth Hold {
    holder: actor?
    epoch: int = 0
    phase: Free | Held = Free
  }
}

subject Note(seat: Seat, number: int) {
  truth Text { body: text = \"\" }
}

define is_free(s: Seat) = s.phase = Free

step buyer[hold(seat: Seat) {
  free: is_free(seat) and holder = null
}] {
  let next = epoch + 1
  Hold := { holder: me, epoch: next, phase: Held }
  my_epoch := next
  emit Taken { seat }
}

step buyer[leave(seat: Seat) { mine: holder = me and epoch = my_epoch }] {
  holder := null
  phase := Free
  emit Taken { seat }
}

invariant held_by_someone: all s in Seat: s.phase = Held implies s.holder present

failure \"two hold it\" { without hold.free breaks held_by_someone }

check { seat: 1  number: 1  buyer: 2 }
";

/// Where the nth time this word stands.
fn place(text: &str, word: &str, nth: usize) -> u32 {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let whole =
        |at: usize| !text[..at].ends_with(part) && !text[at + word.len()..].starts_with(part);
    let mut places = text.match_indices(word).map(|(at, _)| at).filter(|at| whole(*at));
    places.nth(nth).unwrap_or_else(|| panic!("`{word}` stands there {nth} times")) as u32
}

/// What the nth use of a word refers to, as `kind owner.name`.
fn meaning(compiled: &Compiled, text: &str, word: &str, nth: usize) -> Vec<String> {
    let analysis = &compiled.analysis;
    let found = analysis.definitions_at(FILE, place(text, word, nth));
    found.into_iter().map(|id| shown(analysis, id)).collect()
}

fn shown(analysis: &Analysis, id: DefinitionId) -> String {
    let definition = analysis.definition(id);
    let owner = definition.owner.map(|owner| analysis.definition(owner).name.as_str());
    let name = owner.map_or(String::new(), |owner| format!("{owner}.")) + &definition.name;
    format!("{:?} {name}", definition.kind)
}

fn names(analysis: &Analysis, found: &[DefinitionId]) -> Vec<String> {
    found.iter().map(|id| analysis.definition(*id).name.clone()).collect()
}

#[test]
fn every_name_leads_to_its_definition() {
    let compiled = compiled(SEATS);
    assert!(!compiled.has_errors(), "{:?}", compiled.diagnostics);
    for (word, nth, expected) in [
        ("buyer", 1, "Actor buyer"),
        ("Seat", 0, "Subject Seat"),
        ("is_free", 1, "Define is_free"),
        ("s", 1, "Parameter is_free.s"),
        ("holder", 1, "Attribute Hold.holder"),
        ("epoch", 1, "Attribute Hold.epoch"),
        ("Free", 2, "Constant phase.Free"),
        ("Hold", 1, "State Seat.Hold"),
        ("next", 1, "Local next"),
        ("my_epoch", 1, "Memory buyer.my_epoch"),
        ("Taken", 1, "Event Taken"),
        ("hold", 2, "Operation hold"),
        ("free", 1, "Clause hold.free"),
        ("held_by_someone", 1, "Goal held_by_someone"),
        // the definition itself
        ("leave", 0, "Operation leave"),
    ] {
        assert_eq!(meaning(&compiled, SEATS, word, nth), [expected], "{word} {nth}");
    }
}

#[test]
fn references_are_found_from_their_definition() {
    let compiled = compiled(SEATS);
    let analysis = &compiled.analysis;
    let id = analysis.definitions_at(FILE, place(SEATS, "epoch", 0))[0];
    let lines: Vec<u32> =
        analysis.references_to(id).map(|span| compiled.sources.position(span).line).collect();
    assert_eq!(lines, [22, 23, 28]);
}

#[test]
fn a_place_has_a_type() {
    let compiled = compiled(SEATS);
    for (word, nth, expected) in [
        ("next", 0, "int"),
        ("holder", 0, "actor?"),
        ("holder", 1, "actor?"),
        ("phase", 0, "Free | Held"),
        ("s", 1, "Seat"),
        ("my_epoch", 0, "int?"),
        ("seat", 2, "Seat"),
    ] {
        let found = compiled.analysis.type_at(FILE, place(SEATS, word, nth));
        let (span, ty) = found.unwrap_or_else(|| panic!("{word} {nth} has none"));
        assert_eq!(compiled.analysis.type_name(ty), expected, "{word} {nth}");
        assert_eq!(compiled.sources.text(span), word);
    }
    let plus = SEATS.find(" + 1").expect("it is there") as u32 + 1;
    let (span, ty) = compiled.analysis.type_at(FILE, plus).expect("a sum has a type");
    assert_eq!(compiled.sources.text(span), "epoch + 1");
    assert_eq!(compiled.analysis.type_name(ty), "int");
}

/// Completes where `|` stands in this line, which replaces the line `from`.
fn completed(from: &str, line: &str) -> Vec<String> {
    let at = SEATS.find(from).expect("the line is there");
    let text = SEATS.replacen(from, &line.replace('|', ""), 1);
    let offset = at + line.find('|').expect("a place is marked");
    let compiled = compiled(&text);
    assert!(compiled.design.is_none(), "it is broken");
    let analysis = &compiled.analysis;
    names(analysis, &analysis.complete(&compiled.sources, FILE, offset as u32))
}

#[test]
fn names_are_completed_in_a_broken_text() {
    let line = "  my_epoch := next\n";
    assert_eq!(
        completed(line, "  my_epoch := seat.|\n"),
        ["seat", "Hold", "holder", "epoch", "phase"]
    );
    assert_eq!(completed(line, "  my_epoch := Hold.e|\n"), ["epoch"]);
    assert_eq!(completed(line, "  my_epoch := ne|\n"), ["next"]);
    assert_eq!(completed(line, "  send hold.|\n")[..1], ["seat"]);
    let all = completed(line, "  if |\n");
    for name in ["next", "seat", "epoch", "my_epoch", "is_free", "Seat", "Held"] {
        assert!(all.iter().any(|known| known == name), "{name} in {all:?}");
    }
    assert!(!all.iter().any(|known| known == "s"), "the variable of another: {all:?}");
}

#[test]
fn an_error_hides_nothing_else() {
    let text = SEATS.replace("  holder := null\n", "  holder := nobody\n  phase := \n");
    let compiled = compiled(&text);
    assert!(compiled.design.is_none());
    assert_eq!(compiled.analysis.diagnostics, compiled.diagnostics);
    assert_eq!(meaning(&compiled, &text, "next", 2), ["Local next"]);
    assert_eq!(meaning(&compiled, &text, "holder", 4), ["Attribute Hold.holder"]);
    assert_eq!(meaning(&compiled, &text, "is_free", 1), ["Define is_free"]);
    assert_eq!(meaning(&compiled, &text, "held_by_someone", 1), ["Goal held_by_someone"]);
}

#[test]
fn an_archetype_is_a_text_of_its_own() {
    struct One;
    impl Catalog for One {
        fn archetype(&self, _: &str) -> Option<&str> {
            Some("archetype Z1 Held \"X\"\nsubject X(x: text) { truth XState { n: int = 0 } }\n")
        }

        fn ids(&self) -> Vec<String> {
            vec!["Z1".into()]
        }
    }
    let text = "design D\nuse Z1 as Seat\nactor a\nstep a[add(seat: Seat)] { n += 1 }\n";
    let compiled = design::compile("test", text, &One);
    assert_eq!(meaning(&compiled, text, "Seat", 1), ["Subject Seat"]);
    let id = compiled.analysis.definitions_at(FILE, place(text, "n", 0))[0];
    let definition = compiled.analysis.definition(id);
    assert_eq!(shown(&compiled.analysis, id), "Attribute SeatState.n");
    assert_eq!(compiled.sources.get(definition.span.file).map(|s| &*s.name), Some("Z1 as Seat"));
    assert_eq!(compiled.sources.text(definition.span), "n");
}

#[test]
fn a_text_of_nothing_has_an_analysis() {
    for text in ["", "}", "step", "é", "design"] {
        let compiled = compiled(text);
        assert!(compiled.analysis.definitions().is_empty(), "{text}");
        assert!(compiled.analysis.definitions_at(FILE, 0).is_empty());
        assert!(compiled.analysis.type_at(FILE, 7).is_none());
        assert!(compiled.analysis.complete(&compiled.sources, FILE, 1).is_empty());
    }
}
