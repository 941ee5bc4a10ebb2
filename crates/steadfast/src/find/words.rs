//! Words as they are compared: lowercase, without endings, and without the words that every question has.

/// Words that say nothing about the problem.
const EMPTY: &str = "\
    a about after all already also although am an and another any are as at be because been \
    before being between both but by can cannot could did do does doing done each even ever \
    every everyone everybody few for from get gets getting give given go goes going gone got \
    had has have having he her his how i if in into is it its just keep keeps kind know let \
    like made make makes making many may me might more most much must my need needs never \
    new no nobody not now of off on once one only or other others our out over own put puts \
    right s same see she should so some somebody something still style such t than that the \
    their them then there these they thing things think this those three to too two up us \
    use used uses using very want wants was way we were what when where which while who whom \
    whose why will with without would you your";

/// One word of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    /// as it was written
    pub text: String,
    /// as it is compared
    pub stem: String,
}

/// The words of a text that say something. `lookup` knows the stems of the index: two words in a row are one if they
/// are one there (`fan out` is `fanout`).
pub fn words(text: &str, lookup: impl Fn(&str) -> bool) -> Vec<Word> {
    let plain: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let mut found: Vec<Word> = Vec::new();
    let mut add = |text: String, stem: String| {
        if !found.iter().any(|word| word.stem == stem) {
            found.push(Word { text, stem });
        }
    };
    for (at, word) in plain.iter().enumerate() {
        if let Some(next) = plain.get(at + 1) {
            let joined = stem(&format!("{word}{next}"));
            if lookup(&joined) {
                add(format!("{word} {next}"), joined);
            }
        }
        let digits = word.chars().all(|c| c.is_ascii_digit());
        let short = word.chars().count() < 2;
        let empty = EMPTY.split(' ').any(|empty| empty == word);
        if !(empty || short || digits && word.len() < 3) {
            add(word.clone(), stem(word));
        }
    }
    found
}

/// The endings that are taken off, and what comes in their place; the first that fits.
const ENDINGS: &[(&str, &str)] = &[
    ("ations", "at"),
    ("ation", "at"),
    ("ments", ""),
    ("ment", ""),
    ("ions", ""),
    ("ion", ""),
    ("ings", ""),
    ("ing", ""),
    ("ies", "y"),
    ("ied", "y"),
    ("ers", ""),
    ("er", ""),
    ("ed", ""),
    ("ses", "s"),
    ("shes", "sh"),
    ("ches", "ch"),
    ("xes", "x"),
];

/// `bookings`, `booked` and `booking` are `book`. Not a linguist's stem: it is enough that the forms of a word meet.
pub fn stem(word: &str) -> String {
    let mut stem = word.to_owned();
    if stem.chars().any(|c| c.is_ascii_digit()) {
        return stem;
    }
    // `timer` is not `time`, and `comment` is not `come`
    let least = |ending: &str| {
        if ending.starts_with(['e', 'm']) && !ending.starts_with("ed") { 4 } else { 3 }
    };
    let fits =
        |ending: &str| stem.strip_suffix(ending).is_some_and(|start| start.len() >= least(ending));
    if let Some((ending, instead)) = ENDINGS.iter().find(|(ending, _)| fits(ending)) {
        stem.truncate(stem.len() - ending.len());
        stem.push_str(instead);
    } else if stem.len() > 3
        && stem.ends_with('s')
        && !stem.ends_with("ss")
        && !stem.ends_with("us")
    {
        stem.pop();
    }
    // `stopp`, `expire`, `policy`
    let mut last = stem.chars().rev();
    if let (Some(one), Some(other)) = (last.next(), last.next()) {
        let twice = one == other && !"lsz".contains(one);
        let open = matches!(one, 'e' | 'y') && !"aeiou".contains(other);
        if (twice || open) && stem.len() > 3 {
            stem.pop();
        }
    }
    stem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_a_word_meet() {
        for forms in [
            &["booking", "bookings", "booked", "book", "books"][..],
            &["expire", "expires", "expired", "expiring", "expiry"],
            &["policy", "policies"],
            &["allocate", "allocation", "allocated", "allocating"],
            &["schedule", "scheduler", "scheduled", "schedules"],
            &["crawl", "crawler", "crawlers", "crawling"],
            &["drop", "dropped", "dropping", "drops"],
            &["cache", "cached", "caching", "caches"],
            &["retry", "retries", "retried"],
            &["assign", "assignment", "assigned"],
            &["follow", "follower", "followers", "follows"],
        ] {
            for form in forms {
                assert_eq!(stem(form), stem(forms[0]), "{form} and {}", forms[0]);
            }
        }
        for (one, other) in [
            ("lease", "least"),
            ("bid", "bind"),
            ("lock", "log"),
            ("node", "note"),
            ("timer", "time"),
        ] {
            assert_ne!(stem(one), stem(other));
        }
    }

    #[test]
    fn only_words_that_say_something_are_kept() {
        let said = |text: &str| -> Vec<String> {
            words(text, |stem| stem == "fanout").into_iter().map(|word| word.text).collect()
        };
        assert_eq!(said("How do I keep the Seats?"), ["seats"]);
        assert_eq!(said("fan-out on write"), ["fan out", "fan", "write"]);
        assert_eq!(said("seat, seats, seated 7 429"), ["seat", "429"]);
        assert!(said("what is it, and why").is_empty());
    }
}
