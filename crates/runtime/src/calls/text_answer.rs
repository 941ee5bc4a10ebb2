//! What a step answers, written in one pass: the same as a [`crate::Reply`] in JSON.

use std::io::Write;

use design::model::{Design, SubjectId, Type};
use engine::Word;
use layout::Pool;
use serde_json::Value;
use store::Cursor;

use crate::core::{Records, Schema, Seen};
use crate::values::{self, time};

/// Everything that was changed is told: nothing of it is hidden from whoever asked.
pub fn write(out: &mut Vec<u8>, revision: Cursor, schema: &Schema, changed: &Records, pool: &Pool) {
    // writing to memory does not fail
    let _ = write!(
        out,
        "{{\"revision\":\"{revision}\",\"outcome\":\"done\",\"memory\":{{}},\"truth\":["
    );
    for (at, record) in changed.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_record(out, schema, record, pool);
    }
    out.extend_from_slice(b"],\"result\":null}");
}

fn write_record(out: &mut Vec<u8>, schema: &Schema, record: Seen<'_>, pool: &Pool) {
    let subject = &schema.design.subjects[record.subject.index()];
    out.extend_from_slice(b"{\"subject\":");
    name(out, &subject.name);
    out.extend_from_slice(b",\"key\":[");
    write_key(out, &schema.design, record.subject, record.key, pool, &mut true);
    out.extend_from_slice(b"],\"truth\":");
    match record.words {
        None => out.extend_from_slice(b"null"),
        Some(words) => write_truth(out, schema, record.subject, words, pool),
    }
    out.push(b'}');
}

/// State by state, as [`crate::feed::seen_json`] has it.
fn write_truth(
    out: &mut Vec<u8>,
    schema: &Schema,
    subject: SubjectId,
    words: &[Word],
    pool: &Pool,
) {
    let declared = &schema.design.subjects[subject.index()];
    let layout = schema.program.layout(subject);
    let mut first = true;
    out.push(b'{');
    for state in &declared.states {
        let (mut open, mut empty) = (false, true);
        for attr in &state.attributes {
            let attribute = &declared.attributes[attr.index()];
            let Some(field) = layout.attribute(*attr) else { continue };
            if !open {
                member(out, &state.name, &mut first);
                out.push(b'{');
                open = true;
            }
            if !attribute.ty.is_secret() {
                member(out, &attribute.name, &mut empty);
                write_value(out, &schema.design, &attribute.ty, &words[field.range()], pool);
            }
        }
        if open {
            out.push(b'}');
        }
    }
    for (log, start) in &schema.records[subject.index()].logs {
        member(out, &declared.states[log.index()].name, &mut first);
        let _ = write!(out, "{{\"start\":{},\"end\":{}}}", words[*start], words[*start + 1]);
    }
    out.push(b'}');
}

fn member(out: &mut Vec<u8>, text: &str, first: &mut bool) {
    if !std::mem::take(first) {
        out.push(b',');
    }
    name(out, text);
    out.push(b':');
}

/// Names of a design have nothing in them that would have to be escaped.
fn name(out: &mut Vec<u8>, name: &str) {
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.push(b'"');
}

fn write_key(
    out: &mut Vec<u8>,
    design: &Design,
    subject: SubjectId,
    key: Word,
    pool: &Pool,
    first: &mut bool,
) {
    let declared = &design.subjects[subject.index()].keys;
    for (part, key) in pool.parts(key).iter().zip(declared) {
        if let Type::Ref(other) = key.ty {
            write_key(out, design, other, *part, pool, first);
            continue;
        }
        if !std::mem::take(first) {
            out.push(b',');
        }
        write_value(out, design, &key.ty, std::slice::from_ref(part), pool);
    }
}

fn write_value(out: &mut Vec<u8>, design: &Design, ty: &Type, words: &[Word], pool: &Pool) {
    match ty {
        Type::Optional(_) if words[0] == engine::NULL => out.extend_from_slice(b"null"),
        Type::Optional(inner) => write_value(out, design, inner, words, pool),
        Type::Int => write_whole(out, words[0]),
        Type::Bool => out.extend_from_slice(if words[0] != 0 { b"true" } else { b"false" }),
        Type::Time => write_text(out, &time::write_time(words[0])),
        Type::Enum(id) => {
            let constants = &design.enumerations[id.index()].constants;
            match usize::try_from(words[0]).ok().and_then(|at| constants.get(at)) {
                Some(constant) => name(out, constant),
                None => out.extend_from_slice(b"null"),
            }
        }
        Type::Text | Type::Bytes | Type::Document | Type::Actor | Type::Digest(_) => {
            write_text(out, &String::from_utf8_lossy(pool.content(words[0])));
        }
        // rare, and made of many parts
        _ => write_json(out, &values::write(design, ty, words, pool)),
    }
}

fn write_whole(out: &mut Vec<u8>, number: Word) {
    let _ = serde_json::to_writer(out, &number);
}

fn write_text(out: &mut Vec<u8>, text: &str) {
    let _ = serde_json::to_writer(out, text);
}

fn write_json(out: &mut Vec<u8>, value: &Value) {
    let _ = serde_json::to_writer(out, value);
}
