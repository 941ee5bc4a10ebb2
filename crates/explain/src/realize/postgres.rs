//! PostgreSQL: the requests that `store-postgres` sends, to the letter, and what their parameters hold.

use postgres_requests::{Requests, SCHEMA, USUAL_SCHEMA};

use super::Line;
use super::forms::{CommitForm, Expected, Record, WriteKind};

/// Which text of the design has the say. Every call looks at it, and every commit checks it.
const EPOCH: &str = "epoch";

pub fn layout() -> Vec<String> {
    let begin =
        format!("CREATE SCHEMA {USUAL_SCHEMA};\nSET search_path = {USUAL_SCHEMA}, pg_temp;");
    let version = format!("INSERT INTO steadfast (version) VALUES ({});", SCHEMA.len());
    let steps = SCHEMA.iter().map(|step| step.trim_end().to_owned());
    std::iter::once(begin).chain(steps).chain([version]).collect()
}

pub fn notes() -> Vec<String> {
    vec![
        "these are the requests as they are sent, each in a transaction of its own, unnamed and with the types of their parameters; a line behind a request says what its parameters hold".into(),
        "`commit_4` locks the only row of `head` before it looks at anything, so commits pass one after the other in the order of the feed: the price of a total order. Isolation is READ COMMITTED, and the commits are serializable".into(),
        "commits that come in meanwhile are sent together, up to 256 in one call: `$5` and `$8` number the commit that a check or a write belongs to; `$11` to `$16` say where one of them writes what a later one checks or writes, and in which order".into(),
        "`{version}` is chosen at random and is what the written records get as their version, so that the next step can be decided on them, and sent, before this one is durable. What a server has read or written is read again only if another server has committed meanwhile, or if the step is refused".into(),
        "a check with version 0 is of a record that must be absent; a write of NULL deletes".into(),
        "a commit whose position is NULL did not happen: `conflicts` names the key that was not as it was read, and the step is evaluated again".into(),
        "`{epoch.key}` is `design:u16 'm' \"epoch\"`: which text of the design has the say, so that no server decides by a guard that no longer counts".into(),
    ]
}

fn requests() -> Requests {
    Requests::new(USUAL_SCHEMA)
}

pub fn scans(form: &CommitForm) -> Vec<Line> {
    let mut lines = Vec::new();
    for scan in &form.scans {
        let name = &scan.name;
        lines.push(Line::always(requests().scan(true, false)));
        lines.push(Line::always(format!("$1, $2, $3: {{{name}.from}}, {{limit}}, {{{name}.to}}")));
    }
    lines
}

pub fn reads(form: &CommitForm) -> Vec<Line> {
    let mut lines = Vec::new();
    let last = form.reads.iter().map(|record| record.round).max().unwrap_or(0);
    for round in 1..=last.max(1) {
        // it is asked for together with whatever is needed first
        let mut keys: Vec<String> = (round == 1).then(|| key(EPOCH)).into_iter().collect();
        keys.extend(form.reads.iter().filter(|r| r.round == round).map(|r| key(&r.name)));
        if keys.is_empty() {
            continue;
        }
        lines.push(Line::always(requests().read));
        lines.push(Line::always(format!("$1: {}", keys.join(", "))));
    }
    lines
}

fn key(name: &str) -> String {
    format!("{{{name}.key}}")
}

pub fn commit(form: &CommitForm) -> Vec<Line> {
    if form.writes.is_empty() {
        return Vec::new();
    }
    let fed = if form.feed.is_some() { "{feed.entry}" } else { "NULL" };
    let mut lines = vec![
        Line::always(requests().commit),
        Line::always(format!("$1, $2, $3, $4: {{token}}, {{version}}, true, {fed}")),
        check(None, EPOCH, "{epoch.version}"),
    ];
    for record in &form.reads {
        checks(form, record, &mut lines);
    }
    for write in &form.writes {
        let value = match write.kind {
            WriteKind::Remove | WriteKind::Delete => "NULL".to_owned(),
            _ if write.size.max == 0 => "''".to_owned(),
            _ => format!("{{{}.value}}", write.name),
        };
        let text = format!("$8, $9, $10, $11: 1, {}, {value}, 0", key(&write.name));
        lines.push(Line { when: write.when.clone(), text });
    }
    lines.push(Line::always("$12, $13, $14, $15, $16: empty, where the commit is sent alone"));
    lines
}

fn check(when: Option<String>, name: &str, version: &str) -> Line {
    Line { when, text: format!("$5, $6, $7: 1, {}, {version}", key(name)) }
}

/// Everything that was looked at is still as it was.
fn checks(form: &CommitForm, record: &Record, lines: &mut Vec<Line>) {
    let name = &record.name;
    let version = format!("{{{name}.version}}");
    let makes = form.writes.iter().any(|it| it.name == *name && it.kind == WriteKind::Create);
    let expected = if makes { Expected::Absent } else { record.expected };
    let both = |word: &str| match &record.when {
        Some(when) => Some(format!("{when}, and {name} {word}")),
        None => Some(format!("{name} {word}")),
    };
    match expected {
        Expected::Version => lines.push(check(record.when.clone(), name, &version)),
        Expected::Absent => lines.push(check(record.when.clone(), name, "0")),
        Expected::AsRead => {
            lines.push(check(both("was there"), name, &version));
            lines.push(check(both("was not there"), name, "0"));
        }
    }
}
