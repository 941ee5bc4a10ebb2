//! The parts of a path, each decoded on its own: a slash within a key is written `%2F`.

use gateway::Problem;

/// The decoded parts of what follows a prefix.
pub fn parts(path: &str) -> Result<Vec<String>, Problem> {
    path.split('/').map(decoded).collect()
}

/// One part with its percent signs resolved.
pub fn decoded(part: &str) -> Result<String, Problem> {
    if !part.contains('%') {
        return Ok(part.to_string());
    }
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first != b'%' {
            bytes.push(*first);
            rest = after;
            continue;
        }
        let digit = |at: usize| after.get(at).and_then(|byte| (*byte as char).to_digit(16));
        let (Some(high), Some(low)) = (digit(0), digit(1)) else { return Err(wrong(part)) };
        bytes.push((high * 16 + low) as u8);
        rest = &after[2..];
    }
    String::from_utf8(bytes).map_err(|_| wrong(part))
}

/// The names and values of a query; a `+` is a blank.
pub fn query(text: &str) -> Result<Vec<(String, String)>, Problem> {
    text.split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decoded(&name.replace('+', " "))?, decoded(&value.replace('+', " "))?))
        })
        .collect()
}

/// A text as one part of a path.
#[cfg(test)]
pub fn encoded(part: &str) -> String {
    let mut text = String::with_capacity(part.len());
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(byte as char);
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

fn wrong(part: &str) -> Problem {
    Problem::malformed(format!("`{part}` in the path or the query is not percent-encoded UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::OverHttp as _;

    #[test]
    fn every_text_survives_its_way_through_a_path() {
        for text in ["A1", "a/b", "..", "100 %", "ä\u{1F600}", "", "a+b&c=d?e#f"] {
            assert_eq!(decoded(&encoded(text)).unwrap(), text);
        }
        assert_eq!(parts("Seat/a%2Fb/..").unwrap(), ["Seat", "a/b", ".."]);
        let pairs = query("section=main+hall&x=%2B&flag").unwrap();
        let expected = [("section", "main hall"), ("x", "+"), ("flag", "")];
        assert!(pairs.iter().map(|(n, v)| (n.as_str(), v.as_str())).eq(expected));
    }

    #[test]
    fn what_is_not_percent_encoded_text_is_malformed() {
        for wrong in ["%", "%2", "%zz", "%ff", "%C3"] {
            assert_eq!(decoded(wrong).unwrap_err().status().as_u16(), 400, "{wrong}");
        }
    }
}
