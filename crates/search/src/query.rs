//! What a person writes, as clauses.
//!
//!     blue bike            both words, in any of the searched attributes
//!     "blue bike"          one behind the other
//!     bik*                 words that begin so
//!     title:bike           in this attribute
//!     -rusty               not this one
//!
//! What joins words in one piece, as in `well-known`, makes a phrase of them.

use crate::words::words;

/// A longer query is refused.
pub const QUERY_BYTES_MAX: usize = 1_000;
/// And so is one of more words.
pub const QUERY_WORDS_MAX: usize = 32;

/// Something that a record must have, or must not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    pub excluded: bool,
    /// one of the searched attributes; none: any
    pub field: Option<usize>,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// words with their places among each other; a single one is a phrase, too
    Phrase(Vec<(usize, String)>),
    Prefix(String),
}

impl Clause {
    /// Does it look at this attribute?
    pub fn looks_at(&self, field: usize) -> bool {
        self.field.is_none_or(|of| of == field)
    }
}

/// The clauses of a query over these attributes, or what is wrong with it. At least one of them is not excluded.
pub fn parse(query: &str, fields: &[String]) -> Result<Vec<Clause>, String> {
    if query.len() > QUERY_BYTES_MAX {
        let bytes = query.len();
        return Err(format!("a query has at most {QUERY_BYTES_MAX} bytes, and this has {bytes}"));
    }
    let mut clauses = Vec::new();
    let mut rest = query.trim_start();
    while !rest.is_empty() {
        let (clause, behind) = clause(rest, fields)?;
        clauses.extend(clause);
        rest = behind.trim_start();
    }
    let count = |clause: &Clause| match &clause.what {
        What::Phrase(words) => words.len(),
        What::Prefix(_) => 1,
    };
    let found: usize = clauses.iter().map(count).sum();
    if found > QUERY_WORDS_MAX {
        return Err(format!("a query has at most {QUERY_WORDS_MAX} words, and this has {found}"));
    }
    if clauses.is_empty() {
        return Err(format!("`{}` has no word to look for", query.trim()));
    }
    if clauses.iter().all(|clause| clause.excluded) {
        return Err("it only says what is left out; write a word to look for, too".into());
    }
    Ok(clauses)
}

/// The first clause, if what is written there has a word, and the text behind it.
fn clause<'q>(text: &'q str, fields: &[String]) -> Result<(Option<Clause>, &'q str), String> {
    let (excluded, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (field, text) = match named(text) {
        None => (None, text),
        Some((name, rest)) => {
            let Some(at) = fields.iter().position(|field| field == name) else {
                let known: Vec<String> = fields.iter().map(|it| format!("`{it}`")).collect();
                return Err(format!(
                    "`{name}` is not searched, only {}; a colon within a text goes in quotes",
                    known.join(", ")
                ));
            };
            if rest.is_empty() || rest.starts_with(char::is_whitespace) {
                return Err(format!("`{name}:` is followed by what to look for there"));
            }
            (Some(at), rest)
        }
    };
    if let Some(quoted) = text.strip_prefix('"') {
        let Some((phrase, rest)) = quoted.split_once('"') else {
            return Err(format!("the quote before `{}` is not closed", start_of(quoted)));
        };
        return Ok((phrase_of(phrase, excluded, field), rest));
    }
    let end = text.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(text.len());
    let (piece, rest) = text.split_at(end);
    let Some(star) = piece.find('*') else { return Ok((phrase_of(piece, excluded, field), rest)) };
    if star + 1 != piece.len() {
        return Err(format!("`{piece}`: `*` stands at the end of a word"));
    }
    let mut found = words(&piece[..star]);
    match (found.next(), found.next()) {
        (None, _) => Err(format!("`{piece}`: `*` stands behind a letter or a digit")),
        (Some(_), Some(_)) => Err(format!("`{piece}`: only a single word is followed by `*`")),
        (Some(word), None) => {
            Ok((Some(Clause { excluded, field, what: What::Prefix(word.text) }), rest))
        }
    }
}

/// An attribute and a colon, and what follows.
fn named(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(':')?;
    let mut letters = name.chars();
    let begins = letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    let is_name = begins && letters.all(|it| it.is_ascii_alphanumeric() || it == '_');
    is_name.then_some((name, rest))
}

/// None: there is no word in it.
fn phrase_of(text: &str, excluded: bool, field: Option<usize>) -> Option<Clause> {
    let mut found: Vec<(usize, String)> =
        words(text).map(|word| (word.position, word.text)).collect();
    let first = found.first()?.0;
    found.iter_mut().for_each(|(position, _)| *position -= first);
    Some(Clause { excluded, field, what: What::Phrase(found) })
}

fn start_of(text: &str) -> String {
    let mut start: String = text.chars().take(20).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields() -> Vec<String> {
        vec!["title".into(), "body".into()]
    }

    /// As the query would be written most plainly.
    fn said(query: &str) -> String {
        let clauses = match parse(query, &fields()) {
            Err(wrong) => return format!("error: {wrong}"),
            Ok(clauses) => clauses,
        };
        let one = |clause: &Clause| {
            let sign = if clause.excluded { "-" } else { "" };
            let field = clause.field.map_or(String::new(), |at| format!("{}:", fields()[at]));
            let what = match &clause.what {
                What::Prefix(start) => format!("{start}*"),
                What::Phrase(words) => {
                    let placed = words.iter().map(|(at, word)| format!("{at}{word}"));
                    placed.collect::<Vec<_>>().join("+")
                }
            };
            format!("{sign}{field}{what}")
        };
        clauses.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[track_caller]
    fn check(query: &str, expected: &str) {
        assert_eq!(said(query), expected, "{query:?}");
    }

    #[test]
    fn every_form_is_read() {
        check("blue bike", "0blue 0bike");
        check(" \t Blue\n", "0blue");
        check("\"Blue, bike!\"", "0blue+1bike");
        check("well-known", "0well+1known");
        check("bik*", "bik*");
        check("title:bike body:\"a b\" title:b*", "title:0bike body:0a+1b title:b*");
        check("a -b -\"c d\" -title:e -f*", "0a -0b -0c+1d -title:0e -f*");
        check("rock & roll - now", "0rock 0roll 0now");
        check("a\"b c\"d", "0a 0b+1c 0d");
        check("12:30 ÄPFEL", "012+130 0äpfel");
        check("\"\" a \"!\"", "0a");
    }

    #[test]
    fn what_is_wrong_is_said_precisely() {
        check("", "error: `` has no word to look for");
        check("& !", "error: `& !` has no word to look for");
        check("-a", "error: it only says what is left out; write a word to look for, too");
        check("\"a b", "error: the quote before `a b` is not closed");
        check("a*b", "error: `a*b`: `*` stands at the end of a word");
        check("*", "error: `*`: `*` stands behind a letter or a digit");
        check("a-b*", "error: `a-b*`: only a single word is followed by `*`");
        check("title:", "error: `title:` is followed by what to look for there");
        check("title: a", "error: `title:` is followed by what to look for there");
        check(
            "http://x",
            "error: `http` is not searched, only `title`, `body`; a colon within a text goes in quotes",
        );
    }

    #[test]
    fn a_query_has_its_limits() {
        let most = vec!["a"; QUERY_WORDS_MAX].join(" ");
        assert!(parse(&most, &fields()).is_ok());
        check(&format!("{most} b"), "error: a query has at most 32 words, and this has 33");
        check(&format!("\"{most} b\""), "error: a query has at most 32 words, and this has 33");
        let long = "é".repeat(QUERY_BYTES_MAX / 2);
        assert!(parse(&long, &fields()).is_ok());
        check(&format!("{long}e"), "error: a query has at most 1000 bytes, and this has 1001");
    }
}
