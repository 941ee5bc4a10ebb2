//! Random texts and queries beside a scan of all records that splits words by hand.

use runtime::Runtime;
use serde_json::{Value, json};

use crate::support::{Chance, DESIGN, WORDS, in_memory, offer, query};

/// Words as the reference says: runs of letters and digits, in lower case.
fn tokens(text: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    for letter in text.chars() {
        match letter.is_alphanumeric() {
            true => found.last_mut().unwrap().extend(letter.to_lowercase()),
            false => found.push(String::new()),
        }
    }
    found.retain(|word| !word.is_empty());
    found
}

/// One part of a query, and whether a record has it.
#[derive(Debug)]
struct Part {
    excluded: bool,
    field: Option<&'static str>,
    /// words one behind the other; the last one may go on
    words: Vec<String>,
    goes_on: bool,
}

impl Part {
    fn random(chance: &mut Chance) -> Part {
        let field = [None, None, Some("title"), Some("body")][chance.below(4)];
        let excluded = chance.below(4) == 0;
        match chance.below(3) {
            0 => {
                let word = chance.of(&WORDS);
                let letters = 1 + chance.below(word.chars().count());
                let start: String = word.chars().take(letters).collect();
                Part { excluded, field, words: vec![start], goes_on: true }
            }
            1 => {
                let words = (0..2 + chance.below(2)).map(|_| chance.of(&WORDS).into()).collect();
                Part { excluded, field, words, goes_on: false }
            }
            _ => Part { excluded, field, words: vec![chance.of(&WORDS).into()], goes_on: false },
        }
    }

    fn written(&self) -> String {
        let sign = if self.excluded { "-" } else { "" };
        let field = self.field.map_or(String::new(), |field| format!("{field}:"));
        let what = match (self.words.len(), self.goes_on) {
            (1, true) => format!("{}*", self.words[0]),
            (1, false) => self.words[0].clone(),
            _ => format!("\"{}\"", self.words.join(" ")),
        };
        format!("{sign}{field}{what}")
    }

    fn holds(&self, record: &Value) -> bool {
        let wanted: Vec<String> = self.words.iter().map(|word| word.to_lowercase()).collect();
        let fits = |found: &[String]| match self.goes_on {
            true => found[0].starts_with(&wanted[0]),
            false => found == wanted,
        };
        let has = ["title", "body"].iter().any(|field| {
            let words = tokens(record["ItemState"][field].as_str().unwrap_or_default());
            self.field.is_none_or(|of| of == *field) && words.windows(wanted.len()).any(fits)
        });
        has != self.excluded
    }
}

fn records(runtime: &Runtime, most: usize) -> Vec<(String, Value)> {
    let get = |key: &String| store::block_on(runtime.get("Item", &[json!(key)])).unwrap();
    let keys = (0..most).map(|at| format!("i{at}"));
    keys.filter_map(|key| get(&key).map(|found| (key, found.truth))).collect()
}

#[test]
fn hits_are_those_of_a_scan_that_splits_words_by_hand() {
    let mut hits = 0;
    for seed in 1..=12 {
        let mut chance = Chance::of_seed(seed);
        let runtime = in_memory(DESIGN);
        for at in 0..60 {
            let body = (chance.below(3) > 0).then(|| chance.text(9));
            offer(&runtime, &format!("i{at}"), &chance.text(5), body.as_deref(), "");
            // several segments
            if chance.below(10) == 0 {
                runtime.follow_views().unwrap();
            }
        }
        let known = records(&runtime, 60);
        for round in 0..150 {
            let parts: Vec<Part> =
                (0..1 + chance.below(3)).map(|_| Part::random(&mut chance)).collect();
            if parts.iter().all(|part| part.excluded) {
                continue;
            }
            let words = parts.iter().map(Part::written).collect::<Vec<_>>().join(" ");
            let page = runtime.view(&query("InCity", &words).with_city("")).unwrap();
            let mut found = crate::support::keys(&page);
            found.sort();
            let holds = |record: &Value| parts.iter().all(|part| part.holds(record));
            let mut expected: Vec<String> = known
                .iter()
                .filter(|(_, truth)| holds(truth))
                .map(|(key, _)| key.clone())
                .collect();
            expected.sort();
            assert_eq!(found, expected, "seed {seed}, round {round}: {words}");
            assert_eq!(page["total"], json!(expected.len()), "seed {seed}, round {round}: {words}");
            hits += expected.len();
        }
    }
    assert!(hits > 5_000, "the queries find something: {hits}");
}

trait WithCity {
    fn with_city(self, city: &str) -> Self;
}

impl WithCity for runtime::ViewQuery {
    fn with_city(mut self, city: &str) -> Self {
        self.params.insert("city".into(), city.into());
        self
    }
}
