//! What is known of each archetype, as phrases: the tables of `designs/facts/`, which are compiled in.

use std::fmt;

use crate::catalog::embedded::FACTS;
use crate::tables::rows;

/// Where a phrase was found. The order is that of their weight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Field {
    Name,
    Use,
    Word,
    System,
    Failure,
    Hotspot,
    Purpose,
    Action,
    State,
    Actor,
}

impl Field {
    /// How much a word counts that is found there. Names and what people call a problem say most; the words of
    /// operations, states and actors are shared by many archetypes.
    pub fn weight(self) -> f64 {
        match self {
            Field::Name | Field::Use | Field::Word | Field::System => 3.0,
            Field::Failure => 2.5,
            Field::Hotspot => 2.0,
            Field::Purpose | Field::Action => 1.5,
            Field::State => 1.2,
            Field::Actor => 0.8,
        }
    }

    /// For a script.
    pub fn name(self) -> &'static str {
        match self {
            Field::Name => "name",
            Field::Use => "use",
            Field::Word => "word",
            Field::System => "system",
            Field::Failure => "failure",
            Field::Hotspot => "hotspot",
            Field::Purpose => "purpose",
            Field::Action => "action",
            Field::State => "state",
            Field::Actor => "actor",
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Field::Name => "its name",
            Field::Use => "a use",
            Field::Word => "a word for it",
            Field::System => "a known system",
            Field::Failure => "a failure",
            Field::Hotspot => "a hotspot",
            Field::Purpose => "its purpose",
            Field::Action => "an action",
            Field::State => "a state",
            Field::Actor => "an actor",
        })
    }
}

/// One archetype of the catalog, whether or not a design of it ships.
#[derive(Clone, Debug)]
pub struct Archetype {
    pub id: &'static str,
    pub name: &'static str,
    pub purpose: &'static str,
    /// for `use ID as NOUN`
    pub noun: &'static str,
    pub phrases: Vec<(Field, String)>,
}

/// All archetypes, in the order of their ids.
pub fn archetypes() -> Vec<Archetype> {
    let mut all: Vec<Archetype> = rows("archetypes.tsv")
        .map(|[id, name]| {
            let purpose = rows("purposes.tsv").find(|[of, ..]: &[&str; 3]| *of == id);
            let [_, noun, purpose] = purpose.unwrap_or_else(|| panic!("`{id}` has no purpose"));
            let mut phrases = vec![(Field::Name, name.to_owned())];
            phrases.push((Field::Purpose, purpose.to_owned()));
            Archetype { id, name, purpose, noun, phrases }
        })
        .collect();
    all.sort_by_key(|archetype| archetype.id);
    let mut add = |id: &str, field: Field, phrase: String| {
        let archetype = all.iter_mut().find(|archetype| archetype.id == id);
        archetype.unwrap_or_else(|| panic!("`{id}` is no archetype")).phrases.push((field, phrase));
    };
    for [id, kind, phrases] in rows("words.tsv") {
        let field = match kind {
            "use" => Field::Use,
            "word" => Field::Word,
            "system" => Field::System,
            other => panic!("`{other}` is no kind of words"),
        };
        for phrase in phrases.split("; ") {
            add(id, field, phrase.to_owned());
        }
    }
    for [id, failure] in rows("failures.tsv") {
        add(id, Field::Failure, failure.to_owned());
    }
    for [id, hotspot] in rows("hotspots.tsv") {
        add(id, Field::Hotspot, hotspot.to_owned());
    }
    for [id, state, _, _] in rows("states.tsv") {
        add(id, Field::State, spelled(state));
    }
    for [id, _, _, _, actor, operation, _, _] in rows("protocols.tsv") {
        add(id, Field::Actor, actor.replace('_', " "));
        add(id, Field::Action, operation.replace('_', " "));
    }
    for (path, _) in FACTS.iter().filter(|(path, _)| path.starts_with("actions/")) {
        let id = path.trim_start_matches("actions/").trim_end_matches(".tsv");
        for [_, action, _] in rows(path) {
            add(id, Field::Action, action.to_owned());
        }
    }
    all
}

/// `XRunnableJobState` is `Runnable Job`.
fn spelled(state: &str) -> String {
    let mut words = String::new();
    for letter in state.chars() {
        if letter.is_uppercase() {
            words.push(' ');
        }
        words.push(letter);
    }
    let dull = |word: &&str| !matches!(*word, "X" | "State" | "View" | "Parent");
    words.split(' ').filter(|word| !word.is_empty()).filter(dull).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_known_of_every_archetype() {
        let all = archetypes();
        assert_eq!(all.len(), 40);
        for archetype in &all {
            let fields = [Field::Name, Field::Use, Field::Word, Field::Failure];
            for field in fields {
                let has = archetype
                    .phrases
                    .iter()
                    .any(|(its, phrase)| *its == field && !phrase.is_empty());
                assert!(has, "{}: {field}", archetype.id);
            }
            let noun = archetype.noun;
            assert!(noun.starts_with(|c: char| c.is_ascii_uppercase()), "{}: {noun}", archetype.id);
            assert!(
                !archetype.purpose.is_empty() && !archetype.purpose.ends_with('.'),
                "{}",
                archetype.id
            );
        }
    }

    #[test]
    fn states_are_read_as_words() {
        assert_eq!(spelled("XRunnableJobState"), "Runnable Job");
        assert_eq!(spelled("ParentXRelationState"), "Relation");
    }
}
