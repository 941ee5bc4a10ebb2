//! What the catalog knows of an archetype beyond the text of its design: what it is for, where it belongs, who is
//! trusted with what, what it withstands. `explain` shows it apart from what it derives.

mod page;

use explain::Sheet;
use serde_json::{Map, Value, json};

use crate::tables::rows;

/// The kinds of `notes.tsv` of one form, in their order: `text` is one sentence, `words` and `list` are several things.
fn kinds(form: &str) -> impl Iterator<Item = &'static str> {
    rows("kinds.tsv")
        .filter_map(move |[kind, its]: [&'static str; 2]| (its == form).then_some(kind))
}

/// What is known of one archetype.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Known {
    pub id: &'static str,
    /// for `use ID as NOUN`
    pub noun: &'static str,
    pub purpose: &'static str,
    /// kind and text, as `notes.tsv` has them
    notes: Vec<(&'static str, &'static str)>,
    pub pairs: Vec<Pair>,
}

/// A failure that is prevented, and repaired where it happens all the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pair {
    pub failure: &'static str,
    pub prevention: &'static str,
    pub repair: &'static str,
    /// `actor[operation]`
    pub repaired_by: Vec<&'static str>,
}

/// How a move of trust stands in one design.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Move {
    /// `M1` to `M9`
    pub id: &'static str,
    pub name: &'static str,
    pub what: &'static str,
    pub here: Here,
    pub because: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Here {
    /// the structure of the design shows it
    Shown,
    /// the header claims it, and the structure does not show it
    Claimed,
    /// a special move: for when more is needed
    IfNeeded,
    No,
}

impl Here {
    pub fn name(self) -> &'static str {
        match self {
            Here::Shown => "shown",
            Here::Claimed => "claimed",
            Here::IfNeeded => "if needed",
            Here::No => "no",
        }
    }
}

impl Known {
    /// None: it is no archetype of the catalog.
    pub fn of(id: &str) -> Option<Known> {
        let [id, noun, purpose] = rows("purposes.tsv").find(|[of, ..]: &[&str; 3]| *of == id)?;
        let notes = rows("notes.tsv").filter(|[of, ..]: &[&str; 3]| *of == id);
        let pairs = rows("pairs.tsv").filter(|[of, ..]: &[&str; 5]| *of == id);
        let pairs = pairs.map(|[_, failure, prevention, repair, by]| Pair {
            failure,
            prevention,
            repair,
            repaired_by: by.split(' ').filter(|one| *one != "-").collect(),
        });
        let notes = notes.map(|[_, kind, text]| (kind, text)).collect();
        Some(Known { id, noun, purpose, notes, pairs: pairs.collect() })
    }

    /// What is said of one kind, `-` being nothing.
    pub fn text(&self, kind: &str) -> Option<&'static str> {
        let found = self.notes.iter().find(|(its, text)| *its == kind && *text != "-");
        found.map(|(_, text)| *text)
    }

    /// The parts of what is said; none if nothing is.
    pub fn list(&self, kind: &str) -> Vec<&'static str> {
        let divided = match kinds("list").any(|its| its == kind) {
            true => "; ",
            false => " ",
        };
        self.text(kind).map_or_else(Vec::new, |text| text.split(divided).collect())
    }

    /// The nine moves. Three of them can be seen in a design; the others are claimed or needed by nobody.
    pub fn moves(&self, sheet: &Sheet) -> Vec<Move> {
        let trust = &sheet.trust;
        let special = self.list("moves");
        rows("moves.tsv")
            .map(|[id, name, what]| {
                let pillar = match id {
                    "M1" => Some(&trust.identity),
                    "M2" => Some(&trust.authenticated_channel),
                    "M4" => Some(&trust.signed_versioned_state),
                    _ => None,
                };
                let (here, because) = match pillar {
                    Some(pillar) if pillar.shown => (Here::Shown, pillar.because.clone()),
                    Some(pillar) if pillar.stated => (Here::Claimed, pillar.because.clone()),
                    _ if special.contains(&id) => {
                        (Here::IfNeeded, self.text("special").unwrap_or_default().to_owned())
                    }
                    Some(pillar) => (Here::No, pillar.because.clone()),
                    None => (Here::No, String::new()),
                };
                Move { id, name, what, here, because }
            })
            .collect()
    }

    /// For each family of invariants that it should have the goals that are of this family.
    pub fn families(&self, sheet: &Sheet) -> Vec<(&'static str, Vec<String>)> {
        let goals = || sheet.invariants.iter().chain(&sheet.recovers).chain(&sheet.leads_to);
        let of = |family: &str| {
            let held = goals().filter(|goal| goal.family.as_deref() == Some(family));
            held.map(|goal| goal.name.clone()).collect()
        };
        self.list("invariant_families").into_iter().map(|family| (family, of(family))).collect()
    }

    /// A section of the sheet, for people.
    pub fn markdown(&self, sheet: &Sheet) -> String {
        page::markdown(self, sheet)
    }

    /// The same for programs.
    pub fn json(&self, sheet: &Sheet) -> Value {
        let mut object = Map::new();
        object.insert("purpose".into(), self.purpose.into());
        object.insert("noun".into(), self.noun.into());
        for kind in kinds("text") {
            if let Some(text) = self.text(kind) {
                object.insert(kind.into(), text.into());
            }
        }
        for kind in kinds("list").filter(|kind| *kind != "invariant_families") {
            let list = self.list(kind);
            if !list.is_empty() {
                object.insert(kind.into(), list.into());
            }
        }
        let families = self.families(sheet).into_iter();
        let families: Vec<Value> =
            families.map(|(name, goals)| json!({ "family": name, "goals": goals })).collect();
        if !families.is_empty() {
            object.insert("invariant_families".into(), families.into());
        }
        let moves = self.moves(sheet).into_iter().map(|one| {
            json!({
                "move": one.id,
                "name": one.name,
                "here": one.here.name(),
                "because": one.because,
            })
        });
        object.insert("moves".into(), moves.collect::<Vec<Value>>().into());
        let pairs = self.pairs.iter().map(|pair| {
            json!({
                "failure": pair.failure,
                "prevention": pair.prevention,
                "repair": pair.repair,
                "repaired_by": pair.repaired_by,
            })
        });
        object.insert("pairs".into(), pairs.collect::<Vec<Value>>().into());
        object.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    fn sheet(id: &str) -> Sheet {
        explain::sheet(&crate::load(id, catalog::find(id).unwrap().text).unwrap())
    }

    #[test]
    fn everything_is_known_of_all_forty() {
        let ids: Vec<&str> = rows::<3>("purposes.tsv").map(|[id, ..]| id).collect();
        assert_eq!(ids.len(), 40);
        for id in &ids {
            let known = Known::of(id).unwrap();
            for kind in kinds("text") {
                let text = known.text(kind);
                assert!(text.is_some_and(|text| !text.ends_with('.')), "{id}: {kind} {text:?}");
            }
            // of products no pairs are known
            assert!(id.starts_with('A') || known.pairs.len() >= 2, "{id}");
        }
        let layered = ids.into_iter().filter(|id| !Known::of(id).unwrap().list("unit").is_empty());
        let (products, others): (Vec<&str>, Vec<&str>) =
            layered.partition(|id| id.starts_with('A'));
        assert_eq!(products.len(), 19);
        assert_eq!(others, ["I02", "I03", "I04", "I11", "I12", "I15", "I17"]);
    }

    #[test]
    fn every_note_is_of_a_kind_that_is_shown() {
        for [id, kind, text] in rows("notes.tsv") {
            let shown =
                ["text", "words", "list"].iter().any(|form| kinds(form).any(|its| its == kind));
            assert!(shown && !text.is_empty(), "{id}: {kind}");
            assert!(Known::of(id).is_some(), "{id}");
        }
    }

    #[test]
    fn moves_and_families_are_those_that_there_are() {
        let moves: Vec<&str> = rows("moves.tsv").map(|[id, _, _]: [&str; 3]| id).collect();
        assert_eq!(moves, ["M1", "M2", "M3", "M4", "M5", "M6", "M7", "M8", "M9"]);
        for [id, ..] in rows::<3>("purposes.tsv") {
            let known = Known::of(id).unwrap();
            assert!(known.list("moves").iter().all(|one| moves.contains(one)), "{id}");
            for family in known.list("invariant_families") {
                assert!(design::families().iter().any(|one| one.name == family), "{id}: {family}");
            }
        }
    }

    #[test]
    fn what_is_shown_is_told_from_what_is_claimed() {
        let mut sheet = sheet("I02");
        let here = |sheet: &Sheet, id: &str| {
            let moves = Known::of("I02").unwrap().moves(sheet);
            moves.into_iter().find(|one| one.id == id).unwrap().here
        };
        assert_eq!(here(&sheet, "M1"), Here::Shown);
        sheet.trust.identity.shown = false;
        sheet.trust.identity.stated = true;
        assert_eq!(here(&sheet, "M1"), Here::Claimed);
        sheet.trust.identity.stated = false;
        assert_eq!(here(&sheet, "M1"), Here::No);
        let text = Known::of("I02").unwrap().markdown(&sheet);
        assert!(text.contains("\nNobody needs here: M3 forward secrecy, M5 "), "{text}");
        let moves = Known::of("I08").unwrap().moves(&sheet);
        assert_eq!(moves[5].here, Here::IfNeeded, "anonymous tokens");
    }

    #[test]
    fn a_family_is_told_with_the_goals_that_use_it() {
        let families = Known::of("I02").unwrap().families(&sheet("I02"));
        let (name, goals) = &families[0];
        assert_eq!(*name, "at_most_one_current_valid_owner");
        assert!(!goals.is_empty());
    }

    #[test]
    fn operations_that_repair_are_operations_of_the_design() {
        for [id, ..] in rows::<3>("purposes.tsv") {
            let Some(entry) = catalog::find(id) else { continue };
            let sheet = explain::sheet(&crate::load(id, entry.text).unwrap());
            for pair in Known::of(id).unwrap().pairs {
                for by in pair.repaired_by {
                    let (actor, name) = by.trim_end_matches(']').split_once('[').unwrap();
                    let actor = sheet.actors.iter().find(|one| one.name == actor);
                    let has = actor.is_some_and(|one| one.operations.iter().any(|op| op == name));
                    assert!(has, "{id}: {by}");
                }
            }
        }
    }
}
