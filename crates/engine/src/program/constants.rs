//! Constants as words, and the texts that the design mentions.

use design::model::Const;
use rustc_hash::FxHashMap;

use crate::{NULL, Word};

/// The texts of a design, numbered in the order first met.
#[derive(Default, Debug)]
pub(crate) struct Texts {
    pub list: Vec<String>,
    numbers: FxHashMap<String, Word>,
}

impl Texts {
    pub fn handle(&mut self, text: &str) -> Word {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.list.len() as Word;
        self.list.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// A constant that is not a collection; a collection has no single word.
    pub fn scalar(&mut self, value: &Const) -> Word {
        match value {
            Const::Null | Const::Set(_) | Const::List(_) | Const::Map(_) => NULL,
            Const::Bool(value) => Word::from(*value),
            Const::Int(value) | Const::Decimal(value) | Const::Duration(value) => *value,
            Const::Text(text) => self.handle(text),
            Const::Enum(_, index) => Word::from(*index),
        }
    }

    /// The words of any constant: a collection is its length and its elements, in the order of
    /// their words.
    pub fn words(&mut self, value: &Const) -> Vec<Word> {
        let mut words = vec![0];
        match value {
            Const::Set(items) => {
                let mut items: Vec<Word> = items.iter().map(|item| self.scalar(item)).collect();
                items.sort_unstable();
                items.dedup();
                words[0] = items.len() as Word;
                words.append(&mut items);
            }
            Const::List(items) => {
                words.extend(items.iter().map(|item| self.scalar(item)));
                words[0] = items.len() as Word;
            }
            Const::Map(pairs) => {
                let mut pairs: Vec<(Word, Word)> = pairs
                    .iter()
                    .map(|(key, value)| (self.scalar(key), self.scalar(value)))
                    .collect();
                pairs.sort_unstable();
                pairs.dedup_by_key(|(key, _)| *key);
                words[0] = pairs.len() as Word;
                words.extend(pairs.into_iter().flat_map(|(key, value)| [key, value]));
            }
            scalar => words[0] = self.scalar(scalar),
        }
        words
    }

    /// The same, in exactly `width` words.
    pub fn sized(&mut self, value: &Const, width: u32) -> Vec<Word> {
        let mut words = self.words(value);
        words.resize(width as usize, 0);
        words
    }
}
