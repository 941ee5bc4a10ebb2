//! CloudEvents 1.0: where a message comes from and what it is.

use serde_json::{Value, json};

/// Attributes of one message.
pub struct Attributes<'a> {
    pub id: &'a str,
    pub source: String,
    pub kind: String,
    /// milliseconds
    pub at: i64,
    /// where the transition stands in the feed
    pub revision: Option<&'a str>,
    pub traceparent: Option<&'a str>,
}

impl Attributes<'_> {
    /// Structured mode: attributes and data are one JSON document, all of which is signed.
    pub fn structured(&self, data: &Value) -> Vec<u8> {
        let mut event = json!({
            "specversion": "1.0",
            "id": self.id,
            "source": self.source,
            "type": self.kind,
            "time": time(self.at),
            "datacontenttype": "application/json",
            "data": data,
        });
        for (name, value) in [("revision", self.revision), ("traceparent", self.traceparent)] {
            if let Some(value) = value {
                event[name] = value.into();
            }
        }
        event.to_string().into_bytes()
    }

    /// Binary mode: attributes are headers, and the body is exactly the data.
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        let mut headers = vec![
            ("ce-specversion", "1.0".into()),
            ("ce-id", self.id.into()),
            ("ce-source", self.source.clone()),
            ("ce-type", self.kind.clone()),
            ("ce-time", time(self.at)),
        ];
        if let Some(trace) = self.traceparent {
            headers.push(("ce-traceparent", trace.into()));
        }
        headers
    }
}

/// The path under which a server serves the design.
pub fn source(design: &str) -> String {
    format!("/v1/{}", design.to_lowercase())
}

fn time(at: i64) -> String {
    jiff::Timestamp::from_millisecond(at).unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_modes_say_the_same() {
        let attributes = Attributes {
            id: "evt_1",
            source: source("Tickets"),
            kind: "Tickets.Sold".into(),
            at: 1_500,
            revision: Some("0-7"),
            traceparent: None,
        };
        let event: Value =
            serde_json::from_slice(&attributes.structured(&json!({ "a": 1 }))).unwrap();
        assert_eq!(
            event,
            json!({
                "specversion": "1.0", "id": "evt_1", "source": "/v1/tickets",
                "type": "Tickets.Sold", "time": "1970-01-01T00:00:01.5Z", "revision": "0-7",
                "datacontenttype": "application/json", "data": { "a": 1 },
            })
        );
        let headers = attributes.headers();
        for name in ["specversion", "id", "source", "type", "time"] {
            let (_, value) = headers.iter().find(|(n, _)| *n == format!("ce-{name}")).unwrap();
            assert_eq!(event[name], *value);
        }
    }
}
