//! What stays in one partition, what crosses, and which keys would change that.

use crate::support;

use explain::{Class, Partitioning, Placed, partition, partitioning};
use support::{changed, compiled, design, designs, table};

fn of<'p>(found: &'p Partitioning, name: &str) -> &'p Placed {
    let mut all = found.operations.iter().chain(&found.reads);
    all.find(|one| one.operation == name).unwrap_or_else(|| panic!("no {name}"))
}

/// The catalog, a line for each design. `cargo xtask bench partitions` and docs/scale.md rest on it.
#[test]
fn the_catalog_is_placed_as_the_table_says() {
    let mut lines = Vec::new();
    let mut sums = [0; 6];
    for found in designs() {
        let totals = partition(&found.design).totals;
        let row = [
            totals.all(),
            totals.local(),
            totals.one_record,
            totals.several_records,
            totals.known,
            totals.found,
        ];
        sums.iter_mut().zip(row).for_each(|(sum, number)| *sum += number);
        lines.push(line(&found.name, row));
    }
    lines.push(line("all", sums));
    let pinned: Vec<String> = table("partitions.tsv").iter().map(|row| row.join("\t")).collect();
    assert_eq!(pinned, lines, "now it is\n{}", lines.join("\n"));
}

fn line(name: &str, row: [usize; 6]) -> String {
    let numbers = row.map(|number| number.to_string());
    format!("{name}\t{}", numbers.join("\t"))
}
