//! Logs that keep their entries for a time: when an entry is forgotten.
//!
//! | the entry | what becomes of it |
//! | --- | --- |
//! | younger than the age | it stays, and so does all that was appended after it |
//! | as old as the age, or older | it is forgotten, if all before it are |
//!
//! Offsets stay as they are: the log begins later. The checker knows no ages here. It lets the
//! first entry go at any moment, where a design looks at the beginning of such a log.

use crate::{NULL, Word};

/// Where a log begins, and when its first entry is to be forgotten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kept {
    pub start: Word,
    /// none: the log is empty
    pub due: Option<Word>,
}

/// When an entry is forgotten that was appended at a time.
pub fn due(appended_at: Word, age: Word) -> Word {
    appended_at.saturating_add(age.max(0))
}

/// What is left at `now` of a log from `start` to `end`; `most` entries are looked at, so that one
/// transition stays small. `appended_at` tells when an entry was appended; none: it is not there.
/// `Err`: what it says of one that it cannot tell.
pub fn keep<E>(
    (start, end): (Word, Word),
    age: Word,
    now: Word,
    most: Word,
    appended_at: &mut dyn FnMut(Word) -> Result<Option<Word>, E>,
) -> Result<Kept, E> {
    let last = end.min(start.saturating_add(most));
    let mut first = start;
    loop {
        if first >= end {
            return Ok(Kept { start: first, due: None });
        }
        let at = appended_at(first)?.filter(|at| *at != NULL);
        let forgotten_at = at.map_or(now, |at| due(at, age));
        if forgotten_at > now || first >= last {
            return Ok(Kept { start: first, due: Some(forgotten_at) });
        }
        first += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries of these times from offset 10 on, kept for 100.
    fn kept(times: &[Word], now: Word, most: Word) -> (Word, Option<Word>) {
        let span = (10, 10 + times.len() as Word);
        let mut at = |offset: Word| Ok::<_, ()>(times.get((offset - 10) as usize).copied());
        let kept = keep(span, 100, now, most, &mut at).unwrap();
        (kept.start, kept.due)
    }

    #[test]
    fn an_entry_goes_at_its_age_and_not_before() {
        assert_eq!(kept(&[1_000, 1_001, 1_050], 1_099, 9), (10, Some(1_100)));
        assert_eq!(kept(&[1_000, 1_001, 1_050], 1_100, 9), (11, Some(1_101)));
        assert_eq!(kept(&[1_000, 1_001, 1_050], 1_149, 9), (12, Some(1_150)));
        assert_eq!(kept(&[1_000, 1_001, 1_050], 1_150, 9), (13, None));
        assert_eq!(kept(&[], 1_150, 9), (10, None));
    }

    #[test]
    fn one_transition_forgets_so_many_and_is_due_again_at_once() {
        assert_eq!(kept(&[1, 2, 3, 4, 5], 500, 2), (12, Some(103)));
        assert_eq!(kept(&[1, 2], 500, 2), (12, None));
    }

    #[test]
    fn what_was_appended_later_never_goes_first() {
        // the clock was set back between the two
        assert_eq!(kept(&[1_000, 500], 700, 9), (10, Some(1_100)));
        assert_eq!(kept(&[1_000, 500], 1_100, 9), (12, None));
    }

    #[test]
    fn an_entry_that_is_not_there_holds_nothing_up() {
        let mut at = |offset: Word| Ok::<_, ()>((offset == 11).then_some(1_000));
        let kept = keep((10, 12), 100, 1_050, 9, &mut at).unwrap();
        assert_eq!(kept, Kept { start: 11, due: Some(1_100) });
    }

    #[test]
    fn ages_end_with_time() {
        assert_eq!(due(Word::MAX - 5, 100), Word::MAX);
        assert_eq!(due(5, -100), 5);
    }
}
