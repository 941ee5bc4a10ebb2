use std::collections::BTreeMap;

use store::Seeded;

use super::*;

type Found<'a> = (&'a [u8], Version, &'a [u8]);
type Model = BTreeMap<Vec<u8>, (u64, Vec<u8>)>;

fn owned(found: Found<'_>) -> (Vec<u8>, (u64, Vec<u8>)) {
    (found.0.to_vec(), (found.1.0, found.2.to_vec()))
}

fn empty() -> Map {
    Map::new(KeyHasher::by_chance(&store::SimulatedSurroundings::new(1)))
}

fn random_key(seeded: &mut Seeded, keys: u64) -> Vec<u8> {
    let number = seeded.below(keys);
    let mut key = format!("{:x}", number.wrapping_mul(0x9e37_79b9)).into_bytes();
    key.truncate(1 + (number % 12) as usize);
    if number == 0 { Vec::new() } else { key }
}

#[test]
fn agrees_with_the_map_of_the_standard_library() {
    for (seed, keys, length) in [(1, 40, 30), (2, 3000, 60), (3, 3000, 2000), (4, 200, 9000)] {
        let mut seeded = Seeded::new(seed);
        let (mut map, mut model) = (empty(), Model::new());
        for version in 1..20_000 {
            let key = random_key(&mut seeded, keys);
            if seeded.percent(65) {
                let value = vec![version as u8; seeded.below(length) as usize];
                map.put(&key, version, &value);
                model.insert(key, (version, value));
            } else {
                map.delete(&key);
                model.remove(&key);
            }
            if version % 500 != 0 {
                continue;
            }
            assert_eq!(map.len(), model.len(), "seed {seed}");
            let bytes = model.iter().map(|(key, (_, value))| key.len() + value.len());
            assert_eq!(map.bytes(), bytes.sum::<usize>() as u64, "seed {seed}");
            compare(&map, &model, &mut seeded, keys);
        }
    }
}

fn compare(map: &Map, model: &Model, seeded: &mut Seeded, keys: u64) {
    assert!(map.after(None).map(owned).eq(model.clone()));
    for _ in 0..20 {
        let (a, b) = (random_key(seeded, keys), random_key(seeded, keys));
        let found = map.get(&a).map(|(version, value)| (version.0, value.to_vec()));
        assert_eq!(found.as_ref(), model.get(&a));
        let range = KeyRange::new(&a[..], &b[..]);
        let expected: Vec<_> = model
            .iter()
            .filter(|(key, _)| **key >= a && **key < b)
            .map(|(key, held)| (key.clone(), held.clone()))
            .collect();
        assert_eq!(map.range(&range).map(owned).collect::<Vec<_>>(), expected);
        let mut backwards: Vec<_> = map.range(&range).rev().map(owned).collect();
        backwards.reverse();
        assert_eq!(backwards, expected);
        let after = map.after(Some(&a)).map(owned).next();
        assert_eq!(after.as_ref().map(|(key, _)| key), model.keys().find(|key| **key > a));
    }
}

#[test]
fn the_log_never_takes_a_record_back() {
    let mut map = empty();
    map.put(b"key", 5, b"five");
    map.replay_put(b"key", 4, b"four");
    map.replay_delete(b"key", 4);
    assert_eq!(map.get(b"key"), Some((Version(5), &b"five"[..])));
    map.replay_put(b"key", 6, b"6");
    assert_eq!(map.get(b"key"), Some((Version(6), &b"6"[..])));
    map.replay_delete(b"key", 7);
    assert_eq!((map.get(b"key"), map.bytes()), (None, 0));
}

#[test]
fn a_map_made_at_once_is_the_same() {
    let (mut made, mut map) = (empty(), empty());
    for n in 0..1000_u64 {
        made.put_last(&n.to_be_bytes(), n, b"value");
        map.put((n * 389 % 1000).to_be_bytes().as_slice(), n * 389 % 1000, b"value");
    }
    assert!(made.after(None).eq(map.after(None)));
    assert_eq!(made.bytes(), map.bytes());
    // What does not come in order, or comes twice, is not lost and not doubled.
    made.put_last(&7_u64.to_be_bytes(), 2000, b"again");
    assert_eq!(made.len(), 1000);
    assert_eq!(made.get(&7_u64.to_be_bytes()), Some((Version(2000), &b"again"[..])));
}

#[test]
fn nothing_is_left_of_what_was_deleted() {
    let mut map = empty();
    let key = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
    for round in 1..4 {
        (0..5000).for_each(|n| map.put(&key(n), round, b"value"));
        assert!(map.order.leaves() < 200, "{}", map.order.leaves());
        (0..5000).for_each(|n| map.delete(&key(n)));
        assert_eq!((map.len(), map.bytes(), map.order.leaves()), (0, 0, 1));
        assert_eq!(map.after(None).count(), 0);
    }
}

#[test]
fn a_place_is_of_its_key_only() {
    let mut map = empty();
    map.put(b"key", 1, b"value");
    let place = map.find(b"key").unwrap();
    assert!(map.holds(place, b"key") && !map.holds(place, b"ke"));
    map.delete(b"key");
    assert!(!map.holds(place, b"key") && !map.holds(place, b""));
    map.put(b"other", 2, b"value");
    assert!(!map.holds(place, b"key"));
}
