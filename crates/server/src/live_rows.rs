//! What has changed between two pages of the same rows.

use std::collections::HashMap;

use serde_json::{Value, json};

/// What makes the new rows of the old ones: `gone` are keys; `put` are rows with their place, from the first to the
/// last. Whoever takes out the rows of both and then puts in the latter, one after the other, has the new rows. None:
/// nothing has changed.
pub fn change(old: &[Value], new: &[Value]) -> Option<(Vec<Value>, Vec<Value>)> {
    let places: HashMap<String, usize> =
        old.iter().enumerate().map(|(at, row)| (row["key"].to_string(), at)).collect();
    let mut met = vec![false; old.len()];
    // rows that are as they were, by where they stood
    let mut same: Vec<(usize, usize)> = Vec::new();
    for (at, row) in new.iter().enumerate() {
        if let Some(&before) = places.get(&row["key"].to_string()) {
            met[before] = true;
            if old[before] == *row {
                same.push((before, at));
            }
        }
    }
    let mut stays = vec![false; new.len()];
    for at in in_order(&same) {
        stays[at] = true;
    }
    let gone: Vec<Value> =
        old.iter().zip(met).filter(|(_, met)| !met).map(|(row, _)| row["key"].clone()).collect();
    let put: Vec<Value> = new
        .iter()
        .enumerate()
        .filter(|(at, _)| !stays[*at])
        .map(|(at, row)| json!({ "at": at, "row": row }))
        .collect();
    (!gone.is_empty() || !put.is_empty()).then_some((put, gone))
}

/// As many of the new places as possible whose old ones are in order, too.
fn in_order(pairs: &[(usize, usize)]) -> Vec<usize> {
    // by length: the pair with the least old place in which a run of that length ends
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, (old, _)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].0 < *old);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut found = Vec::new();
    let mut next = ends.last().copied();
    while let Some(at) = next {
        found.push(pairs[at].1);
        next = before[at];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a client does it.
    fn applied(old: &[Value], change: Option<(Vec<Value>, Vec<Value>)>) -> Vec<Value> {
        let Some((put, gone)) = change else { return old.to_vec() };
        let mut rows = old.to_vec();
        rows.retain(|row| {
            !gone.contains(&row["key"]) && !put.iter().any(|put| put["row"]["key"] == row["key"])
        });
        for put in put {
            rows.insert(put["at"].as_u64().unwrap() as usize, put["row"].clone());
        }
        rows
    }

    #[test]
    fn what_is_told_makes_the_new_rows_of_the_old_ones_and_a_row_that_stays_is_not_told() {
        let mut seed = 0x2545_f491_4f6c_dd1d_u64;
        let mut below = |most: u64| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed >> 11) % most
        };
        let mut old: Vec<Value> = Vec::new();
        for round in 0..3_000 {
            let mut new = old.clone();
            for _ in 0..below(4) {
                let at = below(new.len() as u64 + 1) as usize;
                match below(4) {
                    0 if !new.is_empty() => {
                        drop(new.remove(at.min(old.len().max(1) - 1).min(new.len() - 1)))
                    }
                    1 if !new.is_empty() => {
                        let row = new.remove(at.min(new.len() - 1));
                        new.insert(below(new.len() as u64 + 1) as usize, row);
                    }
                    2 if !new.is_empty() => {
                        let at = at.min(new.len() - 1);
                        new[at]["truth"] = json!(below(9));
                    }
                    _ => {
                        let key = json!([format!("k{}", below(20))]);
                        if !new.iter().any(|row| row["key"] == key) {
                            new.insert(at, json!({ "key": key, "truth": below(9) }));
                        }
                    }
                }
            }
            let told = change(&old, &new);
            assert_eq!(told.is_none(), old == new, "round {round}");
            assert_eq!(applied(&old, told), new, "round {round}");
            old = new;
        }
        // one row that moves is told, not those that it passes
        let row = |key: &str| json!({ "key": [key] });
        let (old, new) = (["a", "b", "c", "d"].map(row), ["d", "a", "b", "c"].map(row));
        let (put, gone) = change(&old, &new).unwrap();
        assert_eq!((put, gone), (vec![json!({ "at": 0, "row": row("d") })], vec![]));
    }
}
