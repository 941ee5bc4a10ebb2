//! The text of a schedule, word by word, with the place of each.

use std::ops::Range;

/// What is wrong with the text of a schedule, where, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wrong {
    /// the bytes of the text that it is about
    pub at: Range<usize>,
    pub message: String,
    pub help: String,
}

impl Wrong {
    pub(crate) fn new(at: Range<usize>, message: String, help: impl Into<String>) -> Wrong {
        Wrong { at, message, help: help.into() }
    }

    /// The column of the first character that it is about, from 1.
    pub fn column(&self, text: &str) -> usize {
        text.get(..self.at.start).map_or(0, |before| before.chars().count()) + 1
    }
}

/// A word and where it begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word<'t> {
    pub text: &'t str,
    pub start: usize,
}

impl Word<'_> {
    pub fn at(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// Something is wrong with this word.
    pub fn wrong(&self, message: String, help: impl Into<String>) -> Wrong {
        Wrong::new(self.at(), message, help)
    }
}

/// The pieces between separators, each with its place.
pub(crate) fn split<'t>(word: Word<'t>, by: char) -> impl Iterator<Item = Word<'t>> {
    let mut start = word.start;
    word.text.split(by).map(move |text| {
        let piece = Word { text, start };
        start += text.len() + by.len_utf8();
        piece
    })
}

/// The words of a text, which spaces divide.
pub(crate) fn words(text: &str) -> Vec<Word<'_>> {
    split(Word { text, start: 0 }, ' ').filter(|word| !word.text.is_empty()).collect()
}
