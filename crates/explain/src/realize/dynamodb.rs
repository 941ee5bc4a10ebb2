//! DynamoDB: one table, one `TransactWriteItems` for each commit.

use serde_json::{Value, json};

use super::Line;
use super::forms::{CommitForm, Expected, Record, WriteForm, WriteKind};

const ITEMS_MAX: u64 = 100;
const ITEM_BYTES_MAX: u64 = 400 * 1024;
const TABLE: &str = "steadfast";

pub fn layout() -> Vec<String> {
    let table = json!({
        "TableName": TABLE,
        "AttributeDefinitions": [
            { "AttributeName": "pk", "AttributeType": "B" },
            { "AttributeName": "sk", "AttributeType": "B" },
        ],
        "KeySchema": [
            { "AttributeName": "pk", "KeyType": "HASH" },
            { "AttributeName": "sk", "KeyType": "RANGE" },
        ],
        "BillingMode": "PAY_PER_REQUEST",
    });
    vec![format!("CreateTable {table}")]
}

pub fn notes() -> Vec<String> {
    vec![
        "`pk` is the first three bytes of the key (design and space) and one byte, the FNV-1a hash of the key modulo 16; `sk` is the key, `v` the version, `b` the bytes".into(),
        "a range of keys (children of a parent, entries of a log, what is due) is a Query on each of the 16 partitions of its space, merged".into(),
        "the feed has 16 partitions, by the bucket of the first record that is written: ordered within one, and each has a head item that its commits pass one after the other".into(),
        "`{feed.pk}` is ffff 'f' and the bucket, `{feed.key}` is that and the position in eight bytes; `{feed_head.pk}` and `{feed_head.key}` are ffff 'h' and the bucket, and its `v` is the last position".into(),
        "a version is a number that the server never uses twice: milliseconds, a counter, and its own number".into(),
        format!("at most {ITEMS_MAX} items and 4 MB in one transaction, 400 KB in one item; a text that makes an item longer is refused when it comes"),
    ]
}

/// One Query; it is made for each bucket of the space.
pub fn scans(form: &CommitForm) -> Vec<Line> {
    let line = |scan: &super::ScanForm| {
        let name = &scan.name;
        let query = json!({
            "TableName": TABLE,
            "ConsistentRead": true,
            "Limit": 100,
            "KeyConditionExpression": "pk = :pk AND sk BETWEEN :from AND :to",
            "ExpressionAttributeValues": {
                ":pk": { "B": format!("{{{name}.pk}}") },
                ":from": { "B": format!("{{{name}.from}}") },
                ":to": { "B": format!("{{{name}.to}}") },
            },
        });
        Line::always(format!("Query {query}"))
    };
    form.scans.iter().map(line).collect()
}

pub fn reads(form: &CommitForm) -> Vec<Line> {
    let mut lines = Vec::new();
    let last = form.reads.iter().map(|record| record.round).max().unwrap_or(0);
    for round in 1..=last {
        let records = form.reads.iter().filter(|record| record.round == round);
        let items: Vec<Value> = records
            .map(|r| json!({ "Get": { "TableName": TABLE, "Key": key(&r.name) } }))
            .collect();
        if !items.is_empty() {
            lines.push(Line::always(format!(
                "TransactGetItems {}",
                json!({ "TransactItems": items })
            )));
        }
    }
    lines
}

fn key(name: &str) -> Value {
    json!({ "pk": { "B": format!("{{{name}.pk}}") }, "sk": { "B": format!("{{{name}.key}}") } })
}

/// Each line is one item of the transaction.
pub fn commit(form: &CommitForm) -> Vec<Line> {
    if form.writes.is_empty() {
        return Vec::new();
    }
    let mut lines = Vec::new();
    for record in form.reads.iter().filter(|record| !record.written) {
        check(record, &mut lines);
    }
    for write in &form.writes {
        let read = form.reads.iter().find(|record| record.name == write.name);
        item(write, read, &mut lines);
    }
    if form.feed.is_some() {
        let values = json!({ ":next": { "N": "{feed_head.next}" }, ":seen": { "N": "{feed_head.version}" } });
        let head = update("feed_head", "SET v = :next", "v = :seen", values);
        lines.push(Line { when: Some("feed_head was there".into()), text: head });
        let first = put("feed_head", "{feed_head.next}", "{feed_head.value}", true);
        lines.push(Line { when: Some("feed_head was not there".into()), text: first });
        lines.push(Line::always(put("feed", "{next}", "{feed.value}", true)));
    }
    lines
}

fn put(name: &str, version: &str, value: &str, fresh: bool) -> String {
    let mut item = key(name);
    item["v"] = json!({ "N": version });
    item["b"] = json!({ "B": value });
    let mut request = json!({ "TableName": TABLE, "Item": item });
    if fresh {
        request["ConditionExpression"] = json!("attribute_not_exists(pk)");
    }
    json!({ "Put": request }).to_string()
}

fn update(name: &str, expression: &str, condition: &str, values: Value) -> String {
    json!({ "Update": {
        "TableName": TABLE,
        "Key": key(name),
        "UpdateExpression": expression,
        "ConditionExpression": condition,
        "ExpressionAttributeValues": values,
    } })
    .to_string()
}

fn seen(name: &str) -> Value {
    json!({ ":seen": { "N": format!("{{{name}.version}}") } })
}

fn check(record: &Record, lines: &mut Vec<Line>) {
    let name = &record.name;
    let there = json!({ "ConditionCheck": {
        "TableName": TABLE,
        "Key": key(name),
        "ConditionExpression": "v = :seen",
        "ExpressionAttributeValues": seen(name),
    } });
    let gone = json!({ "ConditionCheck": {
        "TableName": TABLE,
        "Key": key(name),
        "ConditionExpression": "attribute_not_exists(pk)",
    } });
    let mut add =
        |when: Option<String>, text: Value| lines.push(Line { when, text: text.to_string() });
    match record.expected {
        Expected::Version => add(record.when.clone(), there),
        Expected::Absent => add(record.when.clone(), gone),
        Expected::AsRead => {
            add(Some(format!("{name} was there")), there);
            add(Some(format!("{name} was not there")), gone);
        }
    }
}

fn item(write: &WriteForm, read: Option<&Record>, lines: &mut Vec<Line>) {
    let name = &write.name;
    let value = if write.size.max == 0 { String::new() } else { format!("{{{name}.value}}") };
    let values = json!({
        ":next": { "N": "{next}" },
        ":value": { "B": value },
        ":seen": { "N": format!("{{{name}.version}}") },
    });
    let changed = update(name, "SET v = :next, b = :value", "v = :seen", values);
    let made = put(name, "{next}", &value, true);
    let removed = json!({ "Delete": {
        "TableName": TABLE,
        "Key": key(name),
        "ConditionExpression": "v = :seen",
        "ExpressionAttributeValues": seen(name),
    } });
    let mut add = |when: Option<String>, text: String| lines.push(Line { when, text });
    match write.kind {
        WriteKind::Create => add(write.when.clone(), made),
        WriteKind::Update if read.is_some_and(|read| read.expected == Expected::AsRead) => {
            let both = |word: &str| match &write.when {
                Some(when) => Some(format!("{when}, and {name} {word}")),
                None => Some(format!("{name} {word}")),
            };
            add(both("was there"), changed);
            add(both("was not there"), made);
        }
        WriteKind::Update => add(write.when.clone(), changed),
        WriteKind::Remove => add(write.when.clone(), removed.to_string()),
        WriteKind::Put => add(write.when.clone(), put(name, "{next}", &value, false)),
        WriteKind::Delete => {
            let gone = json!({ "Delete": { "TableName": TABLE, "Key": key(name) } });
            add(write.when.clone(), gone.to_string());
        }
    }
}

/// What no setting can make fit.
pub fn misfits(form: &CommitForm) -> Vec<String> {
    let mut found = Vec::new();
    let checks: u64 = form.reads.iter().filter(|record| !record.written).map(|r| r.times).sum();
    let feed = if form.feed.is_some() { 2 } else { 0 };
    let items = form.writes_max + checks + feed;
    if items > ITEMS_MAX {
        found.push(format!(
            "`{}` needs up to {items} items in one commit; TransactWriteItems takes {ITEMS_MAX}: lower the bound of its loop, or split the step",
            form.operation
        ));
    }
    for write in &form.writes {
        let bytes = write.size.max + write.key.size().0;
        if bytes > ITEM_BYTES_MAX {
            found.push(format!(
                "the {} `{}` of `{}` can have {bytes} bytes; an item has at most {ITEM_BYTES_MAX}: lower the bound of its collections, or make their elements children",
                write.what, write.name, form.operation
            ));
        }
    }
    found
}
