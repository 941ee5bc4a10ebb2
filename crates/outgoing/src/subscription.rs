//! Who is told of which events.

use crate::secret::Secret;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    pub url: String,
    /// none: all events
    pub events: Option<Vec<String>>,
    /// newest first
    pub secrets: Vec<Secret>,
}

/// Reads `URL` or `URL=EVENT,…`. What follows the last `=` belongs to the address if the address
/// has a question mark before it and it names no event that is `known`.
pub fn subscription(text: &str, known: &[&str]) -> Result<(String, Option<Vec<String>>), String> {
    let address = |url: &str| {
        let valid = ["http://", "https://"].iter().any(|scheme| {
            url.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
        });
        if valid { Ok(url.to_string()) } else { Err(format!("`{url}` is no address over HTTP")) }
    };
    let Some((url, list)) = text.rsplit_once('=') else { return Ok((address(text)?, None)) };
    let names: Vec<&str> = list.split(',').map(str::trim).collect();
    match names.iter().find(|name| !known.contains(name)) {
        None => Ok((address(url)?, Some(names.into_iter().map(String::from).collect()))),
        Some(_) if url.contains('?') => Ok((address(text)?, None)),
        Some(name) => Err(format!(
            "no design that is served emits `{name}`; {}",
            if known.is_empty() { "none emits any event".into() } else { known.join(", ") }
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_and_its_events_are_told_apart() {
        let known = ["Sold", "Held"];
        let read = |text| subscription(text, &known);
        assert_eq!(read("http://h/x"), Ok(("http://h/x".into(), None)));
        let both = Some(vec!["Sold".to_string(), "Held".to_string()]);
        assert_eq!(read("http://h/x=Sold,Held"), Ok(("http://h/x".into(), both)));
        assert_eq!(read("http://h/x?t=abc"), Ok(("http://h/x?t=abc".into(), None)));
        let one = Some(vec!["Sold".to_string()]);
        assert_eq!(read("https://h/x?t=abc=Sold"), Ok(("https://h/x?t=abc".into(), one)));
        assert!(read("http://h/x=Lost").unwrap_err().contains("`Lost`; Sold, Held"));
        for wrong in ["", "h/x", "ftp://h", "http://", "http:///x"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
