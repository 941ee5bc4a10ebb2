//! The answer of a read: values of truth, entries of logs, rows of views.

use std::ops::ControlFlow;

use design::model::{OperationId, StateId, SubjectId};
use engine::{NULL, Query, Scratch, Shape, Word};
use layout::key::put_parts;
use layout::{LogKey, Pool, Reader, take_append_time, value};
use serde_json::{Map, Value, json};
use store::{Key, KeyRange, Transaction};

use super::reply::CallError;
use crate::core::{ReadError, Runtime, Schema};
use crate::sight::Viewer;
use crate::values;
use crate::views::ViewQuery;

/// An answer in which views are still to be asked: that happens outside of the transaction.
#[derive(Clone, Debug)]
pub enum Tree {
    Value(Value),
    Record(Vec<(String, Tree)>),
    View(ViewQuery),
}

impl Tree {
    pub fn nothing() -> Tree {
        Tree::Value(Value::Null)
    }
}

/// Entries of a log that one read gives at most.
const LOG_PAGE: i64 = 1_000;

/// What the read that `scratch` has just evaluated answers.
pub fn tree(
    schema: &Schema,
    operation: OperationId,
    scratch: &Scratch,
    pool: &mut Pool,
    transaction: &dyn Transaction,
) -> Result<Tree, ReadError> {
    match schema.program.result(operation) {
        Some(shape) => branch(schema, shape, scratch, pool, transaction),
        None => Ok(Tree::Value(Value::Null)),
    }
}

fn branch(
    schema: &Schema,
    shape: &Shape,
    scratch: &Scratch,
    pool: &mut Pool,
    transaction: &dyn Transaction,
) -> Result<Tree, ReadError> {
    match shape {
        Shape::Value { ty, field } => {
            let words = &scratch.result()[field.range()];
            Ok(Tree::Value(values::write(&schema.design, ty, words, pool)))
        }
        Shape::Record(fields) => {
            let fields = fields
                .iter()
                .map(|(name, shape)| {
                    Ok((name.clone(), branch(schema, shape, scratch, pool, transaction)?))
                })
                .collect::<Result<_, ReadError>>()?;
            Ok(Tree::Record(fields))
        }
        Shape::Query { offset, .. } => {
            let number = scratch.result()[*offset as usize];
            match scratch.query(number).expect("an answer names a query that was made") {
                Query::Log { subject, key, log, from, limit } => {
                    let entries =
                        entries(schema, (subject, key, log), (from, limit), pool, transaction)?;
                    Ok(Tree::Value(entries))
                }
                Query::View { view, args } => {
                    let known = &schema.design.views[view.index()];
                    let mut params = Map::new();
                    let mut at = 0;
                    for param in &known.params {
                        let width = engine::width_of(&param.ty) as usize;
                        let words = &args[at..at + width];
                        let value = values::write(&schema.design, &param.ty, words, pool);
                        params.insert(param.name.clone(), value);
                        at += width;
                    }
                    let mut query =
                        ViewQuery { view: known.name.clone(), params, ..ViewQuery::default() };
                    // of a read in pages: how many rows, and behind which
                    if let [limit, after] = args[at..] {
                        query.limit = usize::try_from(limit).ok().filter(|_| limit != NULL);
                        query.after = (after != NULL)
                            .then(|| String::from_utf8_lossy(pool.content(after)).into_owned());
                    }
                    Ok(Tree::View(query))
                }
            }
        }
    }
}

/// Entries of a log from an offset on: `{ "offset", …fields }` each.
fn entries(
    schema: &Schema,
    (subject, key, log): (SubjectId, Word, StateId),
    (from, limit): (Word, Word),
    pool: &mut Pool,
    transaction: &dyn Transaction,
) -> Result<Value, ReadError> {
    let declared = &schema.design.subjects[subject.index()];
    let limit = limit.clamp(0, LOG_PAGE) as usize;
    let mut parts = Vec::new();
    put_parts(&mut parts, &schema.design, subject, key, pool);
    let record = schema.codec().key_of(subject, &parts);
    let place = |offset: u64| Key::new(record.log_entry(log, offset).to_bytes());
    let mut found: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    let range = KeyRange { start: place(from.max(0) as u64), end: Some(place(u64::MAX)) };
    transaction.scan(&range, false, &mut |key, _, value| {
        if found.len() >= limit {
            return ControlFlow::Break(());
        }
        found.push((key.to_vec(), value.to_vec()));
        ControlFlow::Continue(())
    });
    let mut list = Vec::new();
    for (key, bytes) in found {
        let wrong = |wrong| ReadError::value(&key, wrong);
        let mut reader = Reader::new(&bytes);
        take_append_time(&mut reader).map_err(wrong)?;
        let mut entry = Map::new();
        entry.insert("offset".into(), json!(LogKey::parse(&key)?.offset));
        for (attr, _) in &schema.program.state(subject, log).fields {
            let attribute = &declared.attributes[attr.index()];
            let mut words = Vec::new();
            value::take(&mut reader, &schema.design, &attribute.ty, pool, &mut words)
                .map_err(wrong)?;
            let value = values::write(&schema.design, &attribute.ty, &words, pool);
            entry.insert(attribute.name.clone(), value);
        }
        list.push(Value::Object(entry));
    }
    Ok(Value::Array(list))
}

impl Runtime {
    /// Asks the views that the answer names. `me` is who reads, for views of the caller.
    pub(crate) fn answered_tree(
        &self,
        tree: Tree,
        me: &str,
        viewer: Option<&Viewer>,
    ) -> Result<Value, CallError> {
        match tree {
            Tree::Value(value) => Ok(value),
            Tree::Record(fields) => {
                let mut object = Map::new();
                for (name, tree) in fields {
                    object.insert(name, self.answered_tree(tree, me, viewer)?);
                }
                Ok(Value::Object(object))
            }
            Tree::View(query) => {
                self.view_as(&ViewQuery { me: Some(me.to_string()), ..query }, viewer)
            }
        }
    }
}
