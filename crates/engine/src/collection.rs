//! Changes to a collection in place. The words begin with its length and end with its room.

use crate::eval::used;
use crate::fault::Fault;
use crate::{NULL, Word};

/// The elements in use, as a count of words.
fn elements(words: &[Word], stride: u32) -> Result<usize, Fault> {
    match words.first() {
        None | Some(&NULL) => Err(Fault::NullValue),
        Some(_) => Ok(used(words, stride)),
    }
}

/// A set takes an element; it stays sorted, without doubles.
pub(crate) fn insert(words: &mut [Word], element: Word) -> Result<(), Fault> {
    let length = elements(words, 1)?;
    match words[1..=length].binary_search(&element) {
        Ok(_) => Ok(()),
        Err(place) => open(words, place + 1, length, &[element], 1),
    }
}

/// A set gives up an element, if it is there.
pub(crate) fn remove(words: &mut [Word], element: Word) -> Result<(), Fault> {
    let length = elements(words, 1)?;
    if let Ok(place) = words[1..=length].binary_search(&element) {
        close(words, place + 1, length, 1);
    }
    Ok(())
}

/// A list grows at its end; a record in it takes several words.
pub(crate) fn push(words: &mut [Word], element: &[Word]) -> Result<(), Fault> {
    let used = elements(words, element.len() as u32)?;
    open(words, used + 1, used, element, element.len())
}

fn find_key(words: &[Word], used: usize, key: Word) -> Result<usize, usize> {
    let pairs = &words[1..=used];
    match pairs.chunks_exact(2).position(|pair| pair[0] >= key) {
        Some(place) if pairs[2 * place] == key => Ok(1 + 2 * place),
        Some(place) => Err(1 + 2 * place),
        None => Err(1 + used / 2 * 2),
    }
}

/// The value under a map's key.
pub(crate) fn value(words: &[Word], key: Word) -> Result<Option<Word>, Fault> {
    let used = elements(words, 2)?;
    Ok(find_key(words, used, key).ok().and_then(|place| words.get(place + 1).copied()))
}

/// A map has this value under this key.
pub(crate) fn put(words: &mut [Word], key: Word, value: Word) -> Result<(), Fault> {
    let used = elements(words, 2)?;
    match find_key(words, used, key) {
        Ok(place) => {
            words[place + 1] = value;
            Ok(())
        }
        Err(place) => open(words, place, used, &[key, value], 2),
    }
}

/// A map forgets a key, if it is there.
pub(crate) fn remove_key(words: &mut [Word], key: Word) -> Result<(), Fault> {
    let used = elements(words, 2)?;
    if let Ok(place) = find_key(words, used, key) {
        close(words, place, used, 2);
    }
    Ok(())
}

/// Makes room at `place` and fills it.
fn open(
    words: &mut [Word],
    place: usize,
    used: usize,
    fill: &[Word],
    stride: usize,
) -> Result<(), Fault> {
    let end = 1 + used / stride * stride;
    if end + stride > words.len() {
        return Err(Fault::CollectionFull);
    }
    words.copy_within(place..end, place + stride);
    words[place..place + stride].copy_from_slice(fill);
    words[0] = (used / stride + 1) as Word;
    Ok(())
}

/// Closes the gap at `place`; the room that falls free is 0.
fn close(words: &mut [Word], place: usize, used: usize, stride: usize) {
    let end = 1 + used / stride * stride;
    words.copy_within(place + stride..end, place);
    words[end - stride..end].fill(0);
    words[0] = (used / stride - 1) as Word;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_stays_sorted_and_stops_at_its_bound() {
        let mut set = [0, 0, 0, 0];
        for element in [7, 3, 7, 5] {
            insert(&mut set, element).unwrap();
        }
        assert_eq!(set, [3, 3, 5, 7]);
        assert_eq!(insert(&mut set, 4), Err(Fault::CollectionFull));
        insert(&mut set, 5).unwrap();
        remove(&mut set, 5).unwrap();
        remove(&mut set, 6).unwrap();
        assert_eq!(set, [2, 3, 7, 0]);
    }

    #[test]
    fn a_list_keeps_its_order_and_stops_at_its_bound() {
        let mut list = [0, 0, 0];
        push(&mut list, &[9]).unwrap();
        push(&mut list, &[1]).unwrap();
        assert_eq!(list, [2, 9, 1]);
        assert_eq!(push(&mut list, &[1]), Err(Fault::CollectionFull));
    }

    #[test]
    fn a_list_of_records_grows_by_a_record() {
        let mut list = [0, 0, 0, 0, 0];
        push(&mut list, &[9, 3]).unwrap();
        push(&mut list, &[9, 3]).unwrap();
        assert_eq!(list, [2, 9, 3, 9, 3]);
        assert_eq!(push(&mut list, &[1, 1]), Err(Fault::CollectionFull));
    }

    #[test]
    fn a_map_keeps_its_keys_sorted_and_stops_at_its_bound() {
        let mut map = [0, 0, 0, 0, 0];
        put(&mut map, 8, 80).unwrap();
        put(&mut map, 2, 20).unwrap();
        put(&mut map, 8, 81).unwrap();
        assert_eq!(map, [2, 2, 20, 8, 81]);
        assert_eq!(put(&mut map, 5, 50), Err(Fault::CollectionFull));
        assert_eq!(value(&map, 8), Ok(Some(81)));
        assert_eq!(value(&map, 5), Ok(None));
        remove_key(&mut map, 2).unwrap();
        remove_key(&mut map, 2).unwrap();
        assert_eq!(map, [1, 8, 81, 0, 0]);
    }

    #[test]
    fn no_collection_at_all_is_no_value() {
        assert_eq!(insert(&mut [NULL, 0], 1), Err(Fault::NullValue));
        assert_eq!(put(&mut [NULL, 0, 0], 1, 1), Err(Fault::NullValue));
    }

    #[test]
    fn a_bound_of_nothing_is_always_full() {
        assert_eq!(insert(&mut [0], 1), Err(Fault::CollectionFull));
        assert_eq!(put(&mut [0], 1, 1), Err(Fault::CollectionFull));
    }
}
