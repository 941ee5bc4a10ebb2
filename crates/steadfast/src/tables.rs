//! The tables of `designs/facts/`, which are compiled into the binary.

use crate::catalog::embedded::FACTS;

/// The rows of a table, below its head. The tables are part of the binary, so a broken one is a bug.
pub fn rows<const N: usize>(path: &str) -> impl Iterator<Item = [&'static str; N]> {
    let table = FACTS.iter().find(|(name, _)| *name == path);
    let (_, text) = table.unwrap_or_else(|| panic!("no table `{path}`"));
    let path = path.to_owned();
    text.lines().skip(1).map(move |line| {
        let mut cells: Vec<&'static str> = line.split('\t').collect();
        // cells that are left out at the end are empty
        cells.resize(cells.len().max(N), "");
        cells.try_into().unwrap_or_else(|_| panic!("{path}: `{line}` has not {N} cells"))
    })
}
