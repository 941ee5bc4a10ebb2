//! Names in other languages: one for each thing, and none twice.

use std::collections::BTreeSet;

/// Names that are taken.
#[derive(Debug, Default)]
pub struct Names(BTreeSet<String>);

impl Names {
    pub fn with(taken: &[&str]) -> Names {
        Names(taken.iter().map(ToString::to_string).collect())
    }

    /// This name, or the first of `name2`, `name3`, … that is not taken.
    pub fn take(&mut self, name: &str) -> String {
        let mut found = name.to_string();
        let mut number = 2;
        while !self.0.insert(found.clone()) {
            found = format!("{name}{number}");
            number += 1;
        }
        found
    }
}

/// `hold_seat` as `HoldSeat`.
pub fn pascal(name: &str) -> String {
    let part = |part: &str| {
        let mut letters = part.chars();
        letters.next().map_or_else(String::new, |first| {
            first.to_uppercase().chain(letters).collect::<String>()
        })
    };
    name.split(|letter: char| !letter.is_alphanumeric()).map(part).collect()
}

/// A name that is no keyword: with an underscore behind it where it is one.
pub fn escaped(name: &str, reserved: &[&str]) -> String {
    if reserved.contains(&name) { format!("{name}_") } else { name.to_string() }
}
