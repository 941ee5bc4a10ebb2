use store::Seeded;

use super::*;

type Model = BTreeMap<Vec<u8>, (u64, Vec<u8>)>;

fn owned(found: Found<'_>) -> (Vec<u8>, (u64, Vec<u8>)) {
    (found.0.to_vec(), (found.1.0, found.2.to_vec()))
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
        let (mut map, mut model) = (Map::default(), Model::new());
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
fn keys_that_grow_fill_their_leaves() {
    let mut map = Map::default();
    for n in 0..10_000_u64 {
        map.put(&n.to_be_bytes(), n, b"");
    }
    assert!(map.leaves.len() < 10_000 / 40, "{} leaves", map.leaves.len());
    for n in 0..10_000_u64 {
        map.delete(&n.to_be_bytes());
    }
    assert_eq!((map.leaves.len(), map.len(), map.bytes()), (1, 0, 0));
}
