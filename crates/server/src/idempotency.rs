//! The header `Idempotency-Key`.

use axum::http::HeaderMap;
use axum::http::header::HeaderName;
use gateway::{Problem, checked_key, wrong_key};

pub const HEADER: HeaderName = HeaderName::from_static("idempotency-key");

/// The key of a request; a structured field's quotes may be there or not.
pub fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut values = headers.get_all(&HEADER).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    let inner = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
    if values.next().is_some() {
        return Err(wrong_key());
    }
    checked_key(inner).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_with_quotes_and_without() {
        let read = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(HEADER, text.parse().unwrap());
            key(&headers).ok().flatten()
        };
        assert_eq!(read("\"abc\""), Some("abc".into()));
        assert_eq!(read("abc"), Some("abc".into()));
        assert_eq!(read("\"\""), None);
        assert_eq!(key(&HeaderMap::new()).ok().flatten(), None);
    }
}
