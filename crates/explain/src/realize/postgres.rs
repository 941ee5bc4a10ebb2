//! PostgreSQL: one table of records, statements that `psql` runs as they stand.

use super::Line;
use super::forms::{CommitForm, Expected, Record, WriteForm, WriteKind};

pub fn layout() -> Vec<String> {
    [
        "CREATE TABLE record (key bytea PRIMARY KEY, version bigint NOT NULL, value bytea NOT NULL);",
        "CREATE SEQUENCE version;",
        "CREATE TABLE feed (position bigint PRIMARY KEY, entry bytea NOT NULL);",
        "CREATE TABLE feed_head (one boolean PRIMARY KEY DEFAULT true CHECK (one), position bigint NOT NULL);",
        "INSERT INTO feed_head (position) VALUES (0);",
        "CREATE FUNCTION expect(held boolean) RETURNS void LANGUAGE plpgsql AS $$ BEGIN IF held IS NOT TRUE THEN RAISE EXCEPTION 'conflict' USING ERRCODE = 'serialization_failure'; END IF; END $$;",
    ]
    .map(str::to_owned)
    .to_vec()
}

pub fn notes() -> Vec<String> {
    vec![
        "isolation READ COMMITTED: each record that was read is locked and its version compared in the WHERE, so the commit is serializable".into(),
        "statements on records are sent in the order of their keys, so that no two commits wait for each other".into(),
        "a record that must be absent and is not written is inserted and deleted again: the unique index makes others wait".into(),
        "`feed_head` is one row: commits pass it one after the other, which is the price of a total order".into(),
        "SQLSTATE 40001 or 23505 is a conflict: read again and evaluate the step again".into(),
    ]
}

pub fn scans(form: &CommitForm) -> Vec<Line> {
    let line = |scan: &super::ScanForm| {
        let name = &scan.name;
        Line::always(format!(
            "SELECT key, version, value FROM record WHERE key >= :'{name}_from'::bytea AND key < :'{name}_to'::bytea ORDER BY key LIMIT 100;"
        ))
    };
    form.scans.iter().map(line).collect()
}

pub fn reads(form: &CommitForm) -> Vec<Line> {
    let mut lines = Vec::new();
    let last = form.reads.iter().map(|record| record.round).max().unwrap_or(0);
    for round in 1..=last {
        let keys: Vec<String> =
            form.reads.iter().filter(|r| r.round == round).map(|r| key(&r.name)).collect();
        if !keys.is_empty() {
            let text = format!(
                "SELECT key, version, value FROM record WHERE key = ANY (ARRAY[{}]);",
                keys.join(", ")
            );
            lines.push(Line::always(text));
        }
    }
    lines
}

fn key(name: &str) -> String {
    format!(":'{name}_key'::bytea")
}

pub fn commit(form: &CommitForm) -> Vec<Line> {
    if form.writes.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![Line::always("BEGIN ISOLATION LEVEL READ COMMITTED;")];
    for record in form.reads.iter().filter(|record| !record.written) {
        check(record, &mut lines);
    }
    for write in &form.writes {
        let read = form.reads.iter().find(|record| record.name == write.name);
        statement(write, read, &mut lines);
    }
    if form.feed.is_some() {
        lines.push(Line::always(
            "WITH head AS (UPDATE feed_head SET position = position + 1 RETURNING position) INSERT INTO feed (position, entry) SELECT position, :'feed_entry'::bytea FROM head;",
        ));
    }
    lines.push(Line::always("COMMIT;"));
    lines
}

/// A record that was only looked at is still as it was.
fn check(record: &Record, lines: &mut Vec<Line>) {
    let name = &record.name;
    let key = key(name);
    let there = format!(
        "SELECT expect(count(*) = 1) FROM (SELECT 1 FROM record WHERE key = {key} AND version = :{name}_version FOR SHARE) AS seen;"
    );
    let gone = format!(
        "INSERT INTO record (key, version, value) VALUES ({key}, 0, ''); DELETE FROM record WHERE key = {key};"
    );
    match record.expected {
        Expected::Version => lines.push(Line { when: record.when.clone(), text: there }),
        Expected::Absent => lines.push(Line { when: record.when.clone(), text: gone }),
        Expected::AsRead => {
            lines.push(Line { when: Some(format!("{name} was there")), text: there });
            lines.push(Line { when: Some(format!("{name} was not there")), text: gone });
        }
    }
}

fn statement(write: &WriteForm, read: Option<&Record>, lines: &mut Vec<Line>) {
    let name = &write.name;
    let key = key(name);
    let value =
        if write.size.max == 0 { "''".to_owned() } else { format!(":'{name}_value'::bytea") };
    let insert = format!(
        "INSERT INTO record (key, version, value) VALUES ({key}, nextval('version'), {value})"
    );
    let update = format!(
        "WITH written AS (UPDATE record SET version = nextval('version'), value = {value} WHERE key = {key} AND version = :{name}_version RETURNING 1) SELECT expect(count(*) = 1) FROM written;"
    );
    let mut add = |when: Option<String>, text: String| lines.push(Line { when, text });
    match write.kind {
        WriteKind::Create => add(write.when.clone(), format!("{insert};")),
        WriteKind::Update if read.is_some_and(|read| read.expected == Expected::AsRead) => {
            let both = |word: &str| match &write.when {
                Some(when) => Some(format!("{when}, and {name} {word}")),
                None => Some(format!("{name} {word}")),
            };
            add(both("was there"), update);
            add(both("was not there"), format!("{insert};"));
        }
        WriteKind::Update => add(write.when.clone(), update),
        WriteKind::Remove => add(
            write.when.clone(),
            format!(
                "WITH gone AS (DELETE FROM record WHERE key = {key} AND version = :{name}_version RETURNING 1) SELECT expect(count(*) = 1) FROM gone;"
            ),
        ),
        WriteKind::Put => add(
            write.when.clone(),
            format!(
                "{insert} ON CONFLICT (key) DO UPDATE SET version = excluded.version, value = excluded.value;"
            ),
        ),
        WriteKind::Delete => {
            add(write.when.clone(), format!("DELETE FROM record WHERE key = {key};"))
        }
    }
}
