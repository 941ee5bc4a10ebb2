//! Strong tags of truth: the version of a record, which changes with every write of it.

use axum::http::HeaderMap;
use axum::http::header::{HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH};
use runtime::IfMatch;

use crate::problem::Problem;

/// The tag of a version.
pub fn tag(version: u64) -> HeaderValue {
    // digits between quotes are always a header's value
    HeaderValue::from_str(&format!("\"{version}\"")).expect("digits")
}

/// Does the client already have this version? Weak tags compare like strong ones here.
pub fn is_known(headers: &HeaderMap, version: u64) -> Result<bool, Problem> {
    Ok(match listed(headers, &IF_NONE_MATCH)? {
        None => false,
        Some(Listed::Any) => true,
        Some(Listed::Tags(tags)) => {
            let mine = version.to_string();
            tags.iter().any(|(_, tag)| *tag == mine)
        }
    })
}

/// What the client expects of the record that a step is about. A tag that is not ours matches
/// nothing.
pub fn expected(headers: &HeaderMap) -> Result<Option<IfMatch>, Problem> {
    Ok(listed(headers, &IF_MATCH)?.map(|listed| match listed {
        Listed::Any => IfMatch::Exists,
        Listed::Tags(tags) => {
            let strong = tags.iter().filter(|(weak, _)| !weak);
            IfMatch::Versions(strong.filter_map(|(_, tag)| tag.parse().ok()).collect())
        }
    }))
}

enum Listed {
    Any,
    /// whether it is weak, and what stands between its quotes
    Tags(Vec<(bool, String)>),
}

fn listed(headers: &HeaderMap, name: &HeaderName) -> Result<Option<Listed>, Problem> {
    let mut tags = Vec::new();
    let mut any = false;
    for value in headers.get_all(name) {
        let text = value.to_str().map_err(|_| wrong(name))?;
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            if part == "*" {
                any = true;
                continue;
            }
            let (weak, quoted) = match part.strip_prefix("W/") {
                Some(rest) => (true, rest),
                None => (false, part),
            };
            let inner = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            tags.push((weak, inner.ok_or_else(|| wrong(name))?.to_string()));
        }
    }
    Ok(match (any, tags.is_empty()) {
        (true, _) => Some(Listed::Any),
        (false, false) => Some(Listed::Tags(tags)),
        (false, true) if headers.contains_key(name) => return Err(wrong(name)),
        (false, true) => None,
    })
}

fn wrong(name: &HeaderName) -> Problem {
    Problem::malformed(format!("`{name}` is `*`, or a list of tags such as \"42\""))
}
