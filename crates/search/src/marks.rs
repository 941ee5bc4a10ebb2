//! Hits within a text, as a piece of HTML that is safe whatever the text is.

use std::ops::Range;

use crate::query::{Clause, What};
use crate::words::{Word, words};

/// Words of a piece, and of it those before the first hit.
const PIECE_WORDS: usize = 30;
const LEAD_WORDS: usize = 5;
/// A piece of long words has fewer of them.
const PIECE_BYTES_MAX: usize = 600;

/// The piece with most hits, the first of them. None: nothing of the text is hit.
pub fn marked(clauses: &[Clause], field: usize, text: &str) -> Option<String> {
    let all: Vec<Word> = words(text).collect();
    let mut hit = vec![false; all.len()];
    // hits that stand together, as a phrase does, are one mark
    let mut joined = vec![false; all.len()];
    for clause in clauses.iter().filter(|clause| !clause.excluded && clause.looks_at(field)) {
        match &clause.what {
            What::Prefix(start) => {
                let begins = |word: &Word| word.text.starts_with(start);
                hit.iter_mut().zip(&all).for_each(|(hit, word)| *hit |= begins(word));
            }
            What::Phrase(phrase) => mark_phrases(phrase, &all, &mut hit, &mut joined),
        }
    }
    let hits: Vec<usize> = (0..all.len()).filter(|at| hit[*at]).collect();
    let first_of = |at: usize| at.saturating_sub(LEAD_WORDS);
    let within = |at: usize| {
        let end = first_of(at) + PIECE_WORDS;
        hits.iter().filter(|other| (at..end).contains(*other)).count()
    };
    let most = hits.iter().map(|at| within(*at)).max()?;
    let best = *hits.iter().find(|at| within(**at) == most)?;
    let mut piece = first_of(best)..(first_of(best) + PIECE_WORDS).min(all.len());
    let bytes = |piece: &Range<usize>| all[piece.end - 1].range.end - all[piece.start].range.start;
    while bytes(&piece) > PIECE_BYTES_MAX && piece.start < best {
        piece.start += 1;
    }
    while bytes(&piece) > PIECE_BYTES_MAX && piece.end > best + 1 {
        piece.end -= 1;
    }
    let (is_first, is_last) = (piece.start == 0, piece.end == all.len());
    let mut at = if is_first { 0 } else { all[piece.start].range.start };
    // what stands before the first word and behind the last one belongs to them, if it is short
    if is_first && all[0].range.start > PIECE_BYTES_MAX {
        at = all[0].range.start;
    }
    let mut out = String::from(if at == 0 { "" } else { "…" });
    let mut open = false;
    for number in piece.clone() {
        let Range { start, end } = all[number].range;
        escape(&text[at..start], &mut out);
        if hit[number] && !open {
            out.push_str("<mark>");
            open = true;
        }
        escape(&text[start..end], &mut out);
        let goes_on = number + 1 < piece.end && joined[number + 1] && hit[number + 1];
        if open && !goes_on {
            out.push_str("</mark>");
            open = false;
        }
        at = end;
    }
    if is_last && text.len() - at <= PIECE_BYTES_MAX {
        escape(&text[at..], &mut out);
    } else {
        out.push('…');
    }
    Some(out)
}

fn mark_phrases(phrase: &[(usize, String)], all: &[Word], hit: &mut [bool], joined: &mut [bool]) {
    for (start, first) in all.iter().enumerate() {
        // words that were left out for their length have a place, so it is not always the next one
        let place = |at: usize| {
            let wanted = first.position + at;
            let found = all[start..].binary_search_by(|word| word.position.cmp(&wanted)).ok()?;
            Some(start + found)
        };
        let found: Option<Vec<usize>> = phrase
            .iter()
            .map(|(at, word)| place(*at).filter(|found| all[*found].text == *word))
            .collect();
        for (number, at) in found.into_iter().flatten().enumerate() {
            hit[at] = true;
            joined[at] |= number > 0 && hit[at - 1];
        }
    }
}

fn escape(text: &str, out: &mut String) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            letter => out.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::parse;

    #[track_caller]
    fn check(query: &str, text: &str, expected: Option<&str>) {
        let fields = ["title".to_string(), "body".to_string()];
        let clauses = parse(query, &fields).unwrap();
        assert_eq!(marked(&clauses, 0, text).as_deref(), expected, "{query:?} in {text:?}");
    }

    #[test]
    fn words_phrases_and_prefixes_are_marked_and_nothing_else() {
        check("bike", "A blue Bike.", Some("A blue <mark>Bike</mark>."));
        check("bike", "nothing", None);
        check("bike", "", None);
        check("bik*", "bikes, biking", Some("<mark>bikes</mark>, <mark>biking</mark>"));
        check("\"a b\"", "a, b a b b", Some("<mark>a, b</mark> <mark>a b</mark> b"));
        check("a b", "a b", Some("<mark>a</mark> <mark>b</mark>"));
        check("a -b", "a b", Some("<mark>a</mark> b"));
        check("a body:b", "a b", Some("<mark>a</mark> b"));
        check("title:b", "a b", Some("a <mark>b</mark>"));
        check("äpfel", "ÄPFEL & Birnen", Some("<mark>ÄPFEL</mark> &amp; Birnen"));
    }

    #[test]
    fn html_in_a_text_is_text() {
        check(
            "script",
            "<script>alert(\"1\" & '2')</script>",
            Some(
                "&lt;<mark>script</mark>&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/<mark>script</mark>&gt;",
            ),
        );
        check("mark", "<mark>", Some("&lt;<mark>mark</mark>&gt;"));
    }

    #[test]
    fn of_a_long_text_the_best_piece_is_shown() {
        let far = format!("x {}a a {}", "w ".repeat(100), "w ".repeat(100));
        let shown = marked(&parse("a x", &[]).unwrap(), 0, &far).unwrap();
        assert!(shown.starts_with("…w w w w w <mark>a</mark> <mark>a</mark> w"), "{shown}");
        assert!(shown.ends_with('…') && shown.len() < 120, "{shown}");
        let long = format!("{} a {}", "é".repeat(900), "b ".repeat(400));
        let shown = marked(&parse("a", &[]).unwrap(), 0, &long).unwrap();
        assert!(shown.starts_with("…<mark>a</mark> b") && shown.len() < 400, "{shown}");
    }
}
