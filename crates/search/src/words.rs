//! A text as words: runs of letters and digits in lower case, and nothing else.
//!
//! No word is left out for being common and none is cut down to a stem, as with the configuration `simple` of
//! PostgreSQL.

use std::iter::FusedIterator;
use std::ops::Range;
use std::str::CharIndices;

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// A longer word is left out, though its place is counted: nobody writes one. PostgreSQL leaves out the same.
pub const WORD_BYTES_MAX: usize = 2_046;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// in lower case
    pub text: String,
    /// where it stands, in bytes
    pub range: Range<usize>,
    /// how many words are before it
    pub position: usize,
}

/// The words of a text, from the first to the last.
pub fn words(text: &str) -> Words<'_> {
    Words { text, chars: text.char_indices(), next: 0 }
}

#[derive(Clone, Debug)]
pub struct Words<'t> {
    text: &'t str,
    chars: CharIndices<'t>,
    next: usize,
}

impl Iterator for Words<'_> {
    type Item = Word;

    fn next(&mut self) -> Option<Word> {
        loop {
            let (start, _) = self.chars.find(|(_, letter)| letter.is_alphanumeric())?;
            let end = self.chars.find(|(_, letter)| !letter.is_alphanumeric());
            let range = start..end.map_or(self.text.len(), |(end, _)| end);
            let position = self.next;
            self.next += 1;
            // letter by letter: what a letter becomes does not depend on those around it
            let text: String =
                self.text[range.clone()].chars().flat_map(char::to_lowercase).collect();
            if text.len() <= WORD_BYTES_MAX {
                return Some(Word { text, range, position });
            }
        }
    }
}

impl FusedIterator for Words<'_> {}

/// The same for tantivy.
#[derive(Clone, Debug, Default)]
pub struct WordTokenizer;

pub struct WordStream<'t> {
    words: Words<'t>,
    token: Token,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'t> = WordStream<'t>;

    fn token_stream<'t>(&'t mut self, text: &'t str) -> WordStream<'t> {
        WordStream { words: words(text), token: Token::default() }
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(word) = self.words.next() else { return false };
        self.token = Token {
            offset_from: word.range.start,
            offset_to: word.range.end,
            position: word.position,
            text: word.text,
            position_length: 1,
        };
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = words(text).map(|word| word.text).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn letters_and_digits_are_words_and_the_rest_is_between_them() {
        check("", &[]);
        check(" -- !", &[]);
        check("Blue Bike", &["blue", "bike"]);
        check("well-known o'clock a_b", &["well", "known", "o", "clock", "a", "b"]);
        check("v2.0 26\" x4", &["v2", "0", "26", "x4"]);
        check("ann@example.org", &["ann", "example", "org"]);
        check("ÄPFEL Straße ΟΔΟΣ", &["äpfel", "straße", "οδοσ"]);
        check("日本語 テスト", &["日本語", "テスト"]);
        check("👍 ok👍ok", &["ok", "ok"]);
    }

    #[test]
    fn a_word_knows_its_place_and_one_that_is_too_long_leaves_a_gap() {
        let long = "x".repeat(WORD_BYTES_MAX + 1);
        let text = format!("Éa {long} b");
        let found: Vec<Word> = words(&text).collect();
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].range.clone(), found[0].position), (0..3, 0));
        assert_eq!((&found[1].text[..], found[1].position), ("b", 2));
        assert_eq!(words(&long[1..]).count(), 1, "one of the greatest length is a word");
    }
}
