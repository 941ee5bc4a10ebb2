//! Strong tags of truth: the version of a record, which changes with every write of it.

use axum::http::HeaderMap;
use axum::http::header::{HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH};
use runtime::IfMatch;

use gateway::Problem;

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

/// Between the tags of a list; an element may be empty.
const SEPARATORS: [char; 3] = [' ', '\t', ','];

fn listed(headers: &HeaderMap, name: &HeaderName) -> Result<Option<Listed>, Problem> {
    let mut tags = Vec::new();
    let mut any = false;
    for value in headers.get_all(name) {
        let text = value.to_str().map_err(|_| wrong(name))?;
        let mut rest = text.trim_start_matches(SEPARATORS);
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix('*') {
                any = true;
                rest = after;
            } else {
                let (weak, quoted) = match rest.strip_prefix("W/") {
                    Some(quoted) => (true, quoted),
                    None => (false, rest),
                };
                // a comma may stand within a tag
                let inner = quoted.strip_prefix('"').and_then(|open| open.split_once('"'));
                let (tag, after) = inner.ok_or_else(|| wrong(name))?;
                tags.push((weak, tag.to_string()));
                rest = after;
            }
            let next = rest.trim_start_matches(SEPARATORS);
            if !next.is_empty() && !rest[..rest.len() - next.len()].contains(',') {
                return Err(wrong(name));
            }
            rest = next;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::OverHttp as _;

    #[test]
    fn tags_stand_in_a_list_and_may_hold_commas() {
        let told = |text: &'static str| {
            let headers = HeaderMap::from_iter([(IF_MATCH, HeaderValue::from_static(text))]);
            expected(&headers).map_err(|problem| problem.status().as_u16())
        };
        let versions = |list: &[u64]| Ok(Some(IfMatch::Versions(list.to_vec())));
        for (text, is) in [
            ("\"1\"", versions(&[1])),
            ("\"1\" , \"2\",\"3\"", versions(&[1, 2, 3])),
            (",, \"1\",", versions(&[1])),
            ("W/\"1\", \"2\"", versions(&[2])),
            ("\"a,b\", \"7\"", versions(&[7])),
            ("\"1,2\"", versions(&[])),
            ("*", Ok(Some(IfMatch::Exists))),
            ("1", Err(400)),
            ("\"1", Err(400)),
            ("\"1\" \"2\"", Err(400)),
            ("\"1\"2", Err(400)),
            ("", Err(400)),
        ] {
            assert_eq!(told(text), is, "{text}");
        }
        assert_eq!(expected(&HeaderMap::new()).ok().flatten(), None);
    }
}
