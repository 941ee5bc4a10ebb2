//! Partitions, for people.

use super::{Page, code};
use crate::partition::{Class, Otherwise, Partitioning, Placed, Totals};

pub fn partitioning(found: &Partitioning) -> String {
    let mut page = Page::default();
    page.line(&format!("# {}: {}", found.design, found.title));
    page.heading("What stays in one partition");
    page.line(
        "A partition is everything that begins with one value: the first part of a record's key. A child lies with its \
         parent.\n",
    );
    let totals = [("operations that commit", &found.totals), ("reads", &found.read_totals)];
    let rows = totals.iter().filter(|(_, totals)| totals.all() > 0).map(|(what, totals)| {
        let Totals { one_record, several_records, known, found } = totals;
        let numbers = [totals.all(), totals.local(), *one_record, *several_records, *known, *found];
        let mut row = vec![(*what).to_owned()];
        row.extend(numbers.map(|number| number.to_string()));
        row
    });
    page.table(
        &[
            "",
            "all",
            "one partition",
            "of these, one record",
            "several records",
            "several partitions, known from the call",
            "several, found by reading",
        ],
        rows,
    );
    if !found.keyed_otherwise.is_empty() {
        page.line("With other keys more operations that commit would stay in one partition:\n");
        let rows = found
            .keyed_otherwise
            .iter()
            .map(|one| vec![keys(one), one.local_now.to_string(), one.local_then.to_string()]);
        page.table(&["keyed as", "in one partition now", "then"], rows);
    }
    page.heading("What commits");
    found.operations.iter().for_each(|one| operation(one, &mut page));
    if !found.reads.is_empty() {
        page.heading("What only reads");
        found.reads.iter().for_each(|one| operation(one, &mut page));
    }
    page.heading("What is written along");
    page.line(
        "A commit also writes these. They belong to the partition of a record. Today one store holds everything, and only \
         those with a yes have a key that begins like that of their record: the others would have to be keyed anew before \
         a design is spread over several databases.\n",
    );
    let rows = found.along.iter().map(|one| {
        let with = if one.with_record { "yes" } else { "no" };
        vec![one.what.clone(), one.belongs.into(), code(&one.key), with.into()]
    });
    page.table(&["what", "belongs to", "its key today", "with its record"], rows);
    page.text
}

fn operation(one: &Placed, page: &mut Page) {
    page.titled("###", &format!("{}: {}", one.operation, one.class.text()));
    let rows = one.records.iter().map(|record| {
        let does = match (record.read, record.written) {
            (true, true) => "read, written",
            (false, true) => "written",
            _ => "read",
        };
        let how = match (record.known, record.many) {
            (true, false) => "known",
            (true, true) => "known, one for each round",
            (false, false) => "found",
            (false, true) => "found, one for each round",
        };
        vec![
            format!("{} {}", record.subject, code(&record.path)),
            does.into(),
            code(&record.partition),
            how.into(),
        ]
    });
    if one.records.is_empty() {
        page.line("No record.");
    } else {
        page.table(&["record", "", "partition", ""], rows);
    }
    if one.class == Class::Found && !one.found_by.is_empty() {
        page.line(&format!("Found by reading: {}.\n", one.found_by.join("; ")));
    }
    for other in &one.otherwise {
        let then = match (&other.stays_in, other.class) {
            (Some(stays), _) => format!("it would stay in the partition of {}", code(stays)),
            (None, Some(Class::Known)) => "it would cross only what is known from the call".into(),
            _ => "it would cross fewer".into(),
        };
        page.line(&format!(
            "- If the key were {}, {then}; of the design {} operations instead of {}.",
            keys(other),
            other.local_then,
            other.local_now
        ));
    }
    if let Some(why) = &one.why_not {
        page.line(&format!("- No other key would change that: {why}."));
    }
}

fn keys(one: &Otherwise) -> String {
    one.keys.iter().map(|key| code(key)).collect::<Vec<_>>().join(" and ")
}
