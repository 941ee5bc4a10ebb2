//! etcd: one transaction, in the words of `etcdctl txn`.

use super::Line;
use super::forms::{CommitForm, WriteKind};

/// `--max-txn-ops` of etcd, unless it was set otherwise.
const OPS_MAX: u64 = 128;

pub fn notes() -> Vec<String> {
    vec![
        "the version of a record is its mod revision; 0 says that it is absent".into(),
        "a transaction has compares, what is done if all hold, and what is read again if one does not".into(),
        "`{feed.key}` is ffff 'f' and eight bytes that the server never uses twice; the feed is these keys in the order of their create revision: one partition, followed by a watch".into(),
        format!("at most {OPS_MAX} compares and {OPS_MAX} operations in one transaction, 1.5 MiB in one request"),
    ]
}

pub fn scans(form: &CommitForm) -> Vec<Line> {
    let line = |scan: &super::ScanForm| {
        Line::always(format!("get {{{0}.from}} {{{0}.to}} --limit=100", scan.name))
    };
    form.scans.iter().map(line).collect()
}

pub fn reads(form: &CommitForm) -> Vec<Line> {
    let mut lines = Vec::new();
    let last = form.reads.iter().map(|record| record.round).max().unwrap_or(0);
    for round in 1..=last {
        for record in form.reads.iter().filter(|record| record.round == round) {
            lines.push(Line {
                when: record.when.clone(),
                text: format!("get {{{}.key}}", record.name),
            });
        }
    }
    lines
}

/// As `etcdctl txn` reads it: compares, an empty line, requests, an empty line, requests, an empty
/// line.
pub fn commit(form: &CommitForm) -> Vec<Line> {
    if form.writes.is_empty() {
        return Vec::new();
    }
    let mut lines = Vec::new();
    for record in &form.reads {
        let name = &record.name;
        let text = format!("mod({{{name}.key}}) = \"{{{name}.version}}\"");
        lines.push(Line { when: record.when.clone(), text });
    }
    lines.push(Line::always(""));
    for write in &form.writes {
        let name = &write.name;
        let text = match write.kind {
            WriteKind::Remove | WriteKind::Delete => format!("del {{{name}.key}}"),
            _ if write.size.max == 0 => format!("put {{{name}.key}} \"\""),
            _ => format!("put {{{name}.key}} {{{name}.value}}"),
        };
        lines.push(Line { when: write.when.clone(), text });
    }
    if form.feed.is_some() {
        lines.push(Line::always("put {feed.key} {feed.value}"));
    }
    lines.push(Line::always(""));
    for record in &form.reads {
        lines
            .push(Line { when: record.when.clone(), text: format!("get {{{}.key}}", record.name) });
    }
    lines.push(Line::always(""));
    lines
}

pub fn misfits(form: &CommitForm) -> Vec<String> {
    let compares: u64 = form.reads.iter().map(|record| record.times).sum();
    let operations = form.writes_max + u64::from(form.feed.is_some());
    let most = compares.max(operations);
    if form.writes.is_empty() || most <= OPS_MAX {
        return Vec::new();
    }
    let what = if operations >= compares { "writes" } else { "compares" };
    vec![format!(
        "`{}` {what} up to {most} keys in one commit; etcd takes {OPS_MAX} in one transaction",
        form.operation
    )]
}
