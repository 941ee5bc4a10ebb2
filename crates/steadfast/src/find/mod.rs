//! Which archetype is my problem? An index of everything that is known of the forty, by word.
//!
//! The ranking is meant to be explained in a sentence. Each word of the question counts once for an archetype: by how
//! few archetypes know the word, by where it is found, and by how much of the phrase there the question has.

mod library;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog;

use library::Archetype;
pub use library::Field;
use words::{Word, words};

/// What was found for a question.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// best first; empty: no word of the question is known
    pub answers: Vec<Answer>,
    /// the words that were looked for and that no archetype knows
    pub unknown: Vec<String>,
    /// were there words to look for?
    pub asked: bool,
}

/// One archetype, and why it was found.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    pub id: &'static str,
    pub name: &'static str,
    pub purpose: &'static str,
    /// for `use ID as NOUN`
    pub noun: &'static str,
    pub score: f64,
    /// what counted most first
    pub why: Vec<Why>,
}

impl Answer {
    /// What to type next, and what to write in a design; none: no design of it is in this binary.
    pub fn next(&self) -> Option<[String; 2]> {
        let Answer { id, noun, .. } = self;
        let ships = catalog::entries().any(|entry| entry.name() == *id);
        ships.then(|| [format!("steadfast explain {id}"), format!("use {id} as {noun}")])
    }

    /// What counted most, as sentences.
    pub fn reasons(&self) -> Vec<String> {
        let told = self.why.iter().take(REASONS).map(|why| {
            let words = why.words.join("`, `");
            match why.phrase.eq_ignore_ascii_case(&words) {
                true => format!("`{words}` is {}", why.field),
                false => format!("`{words}` in {}, \"{}\"", why.field, why.phrase),
            }
        });
        told.collect()
    }
}

/// More would be a list to read, not an answer.
pub const SHOWN: usize = 3;
/// The phrases that are told for each.
const REASONS: usize = 4;

/// A phrase that has words of the question.
#[derive(Clone, PartialEq, Debug)]
pub struct Why {
    pub field: Field,
    pub phrase: String,
    /// as the question has them
    pub words: Vec<String>,
}

/// A phrase as it is compared.
struct Phrase {
    field: Field,
    text: String,
    stems: BTreeSet<String>,
}

/// Archetypes, their phrases, and how many archetypes know a stem.
pub struct Index {
    archetypes: Vec<(Archetype, Vec<Phrase>)>,
    known: BTreeMap<String, usize>,
}

/// A phrase of several words that the question has whole counts this much more.
const WHOLE: f64 = 1.3;
/// What a word counts for that is found in a phrase of which the question has nothing else.
const PART: f64 = 0.4;

impl Index {
    /// The index of the catalog that is compiled in.
    pub fn of_catalog() -> Index {
        let archetypes: Vec<(Archetype, Vec<Phrase>)> = library::archetypes()
            .into_iter()
            .map(|archetype| {
                let phrases = archetype.phrases.iter().map(|(field, text)| Phrase {
                    field: *field,
                    text: text.clone(),
                    stems: words(text, |_| false).into_iter().map(|word| word.stem).collect(),
                });
                let phrases = phrases.filter(|phrase| !phrase.stems.is_empty()).collect();
                (archetype, phrases)
            })
            .collect();
        let mut known = BTreeMap::new();
        for (_, phrases) in &archetypes {
            let stems: BTreeSet<&String> =
                phrases.iter().flat_map(|phrase| &phrase.stems).collect();
            for stem in stems {
                *known.entry(stem.clone()).or_default() += 1;
            }
        }
        Index { archetypes, known }
    }

    /// Every archetype that can be found.
    pub fn ids(&self) -> Vec<&'static str> {
        self.archetypes.iter().map(|(archetype, _)| archetype.id).collect()
    }

    /// For each archetype a noun that fits into `use ID as NOUN`.
    pub fn nouns(&self) -> Vec<(&'static str, &'static str)> {
        self.archetypes.iter().map(|(archetype, _)| (archetype.id, archetype.noun)).collect()
    }

    /// The archetypes that know a word of the question, best first.
    pub fn find(&self, question: &str) -> Found {
        let asked = words(question, |stem| self.known.contains_key(stem));
        let mut answers: Vec<Answer> = self
            .archetypes
            .iter()
            .filter_map(|(archetype, phrases)| self.answer(archetype, phrases, &asked))
            .collect();
        answers.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(b.id)));
        let unknown = asked.iter().filter(|word| !self.known.contains_key(&word.stem));
        let unknown = unknown.map(|word| word.text.clone()).collect();
        Found { answers, unknown, asked: !asked.is_empty() }
    }

    /// How much a word says: nearly nothing if every archetype knows it.
    fn rarity(&self, stem: &str) -> f64 {
        let all = self.archetypes.len() as f64;
        let known = self.known.get(stem).copied().unwrap_or_default() as f64;
        (1.0 + (all - known + 0.5) / (known + 0.5)).ln()
    }

    /// None: it knows no word of the question.
    fn answer(&self, archetype: &Archetype, phrases: &[Phrase], asked: &[Word]) -> Option<Answer> {
        // for each word the phrase in which it counts most
        let mut why: Vec<(usize, f64, Vec<String>)> = Vec::new();
        for word in asked {
            let counts = phrases
                .iter()
                .enumerate()
                .filter(|(_, phrase)| phrase.stems.contains(&word.stem))
                .map(|(at, phrase)| (at, self.rarity(&word.stem) * worth(phrase, asked)))
                .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
            let Some((at, counts)) = counts else { continue };
            match why.iter_mut().find(|(its, ..)| *its == at) {
                Some((_, sum, words)) => {
                    *sum += counts;
                    words.push(word.text.clone());
                }
                None => why.push((at, counts, vec![word.text.clone()])),
            }
        }
        if why.is_empty() {
            return None;
        }
        why.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let score = why.iter().map(|(_, counts, _)| counts).sum();
        let why = why.into_iter().map(|(at, _, words)| Why {
            field: phrases[at].field,
            phrase: phrases[at].text.clone(),
            words,
        });
        let Archetype { id, name, purpose, noun, .. } = *archetype;
        Some(Answer { id, name, purpose, noun, score, why: why.collect() })
    }
}

/// What a word of this phrase counts for: by where the phrase stands, and by how much of it was asked for.
fn worth(phrase: &Phrase, asked: &[Word]) -> f64 {
    let has =
        phrase.stems.iter().filter(|stem| asked.iter().any(|word| word.stem == **stem)).count();
    let all = phrase.stems.len();
    let whole = match all {
        1 => 1.0,
        _ if has == all => WHOLE,
        _ => PART + (1.0 - PART) * (has - 1) as f64 / (all - 1) as f64,
    };
    phrase.field.weight() * whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(question: &str) -> Answer {
        Index::of_catalog().find(question).answers.swap_remove(0)
    }

    #[test]
    fn a_whole_phrase_counts_more_than_its_words_apart() {
        let index = Index::of_catalog();
        let score = |question: &str| {
            let found = index.find(question).answers;
            found.iter().find(|answer| answer.id == "A08").map_or(0.0, |answer| answer.score)
        };
        assert!(score("double booking") > score("double") + score("booking"));
    }

    #[test]
    fn a_word_that_few_know_counts_more() {
        let index = Index::of_catalog();
        let (few, many) = (words::stem("leaderboard"), words::stem("stale"));
        assert!(index.known[&few] < 3 && index.known[&many] > 10);
        assert!(index.rarity(&few) > 2.0 * index.rarity(&many));
    }

    #[test]
    fn a_word_counts_once_however_often_it_is_said() {
        assert_eq!(first("auction").score, first("auction auctions the auction").score);
    }

    #[test]
    fn what_was_found_is_said_with_its_place() {
        let answer = first("distributed lock");
        assert_eq!(answer.id, "I02");
        let why = &answer.why[0];
        assert_eq!((why.field, why.phrase.as_str()), (Field::Use, "distributed lock"));
        assert_eq!(why.words, ["distributed", "lock"]);
    }

    #[test]
    fn what_nobody_knows_is_told() {
        let found = Index::of_catalog().find("xylophone auction");
        assert_eq!(found.unknown, ["xylophone"]);
        assert_eq!(found.answers[0].id, "A16");
        let none = Index::of_catalog().find("xylophone zither");
        assert!(none.answers.is_empty() && none.asked);
        assert!(!Index::of_catalog().find("what is it").asked);
    }
}
