//! What happened, as it is told.

use runtime::{CallError, Reply};
use serde_json::Value as Json;

/// A record.
#[derive(Clone, PartialEq, Debug)]
pub struct Seen {
    pub subject: String,
    pub key: Vec<Json>,
    /// null: there is none
    pub truth: Json,
}

/// What a call came to.
pub fn happened(answer: &Result<Reply, CallError>) -> String {
    match answer {
        Ok(reply) if reply.replayed => "the answer of an earlier call under this key".into(),
        Ok(reply) if reply.result.is_null() => "it is done".into(),
        Ok(reply) => format!("it is done, and gives {}", told_rows(&reply.result)),
        Err(CallError::Refused(refused)) => {
            let why = refused.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            format!("refused by `{}`{why}", refused.clause)
        }
        Err(other) => format!("not taken: {other}"),
    }
}

/// Of rows their keys are enough.
pub fn told_rows(found: &Json) -> String {
    let rows = found.get("rows").unwrap_or(found).as_array();
    let keys = rows.filter(|rows| rows.iter().all(|row| row.get("key").is_some()));
    match keys {
        Some(rows) => Json::Array(rows.iter().map(|row| row["key"].clone()).collect()).to_string(),
        None => found.to_string(),
    }
}

/// The records that an answer or a refusal tells of.
pub fn seen(truth: &Json) -> Vec<Seen> {
    let records = truth.as_array().into_iter().flatten();
    let told = records.map(|record| Seen {
        subject: record["subject"].as_str().unwrap_or_default().to_string(),
        key: record["key"].as_array().cloned().unwrap_or_default(),
        truth: record["truth"].clone(),
    });
    told.collect()
}
