//! Spans as OTLP has them in JSON: identities in hexadecimal, times as texts of nanoseconds.

use serde_json::{Value, json};

use crate::span::{Attribute, Kind, Span};
use crate::trace::hex;

/// Whose spans they are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resource {
    /// `service.name`
    pub service: String,
    pub version: String,
}

/// The body of one export.
pub fn document(resource: &Resource, spans: &[Span]) -> Value {
    let text = |text: &str| json!({ "stringValue": text });
    json!({ "resourceSpans": [{
        "resource": { "attributes": [
            { "key": "service.name", "value": text(&resource.service) },
            { "key": "service.version", "value": text(&resource.version) },
        ] },
        "scopeSpans": [{
            "scope": { "name": "steadfast", "version": resource.version },
            "spans": spans.iter().map(told).collect::<Vec<Value>>(),
        }],
    }] })
}

fn told(span: &Span) -> Value {
    let digits = |bytes: &[u8]| {
        let mut text = String::with_capacity(2 * bytes.len());
        hex(&mut text, bytes);
        text
    };
    let [began, ended] = span.nanos();
    let attributes = span.attributes.iter().map(|(name, value)| {
        let value = match value {
            Attribute::Text(text) => json!({ "stringValue": text }),
            // whole numbers of 64 bits are texts there
            Attribute::Whole(number) => json!({ "intValue": number.to_string() }),
        };
        json!({ "key": name, "value": value })
    });
    let mut told = json!({
        "traceId": digits(&span.trace.id),
        "spanId": digits(&span.trace.span),
        "name": span.name,
        "kind": match span.kind {
            Kind::Internal => 1,
            Kind::Server => 2,
            Kind::Client => 3,
            Kind::Producer => 4,
        },
        "startTimeUnixNano": began.to_string(),
        "endTimeUnixNano": ended.to_string(),
        "attributes": attributes.collect::<Vec<Value>>(),
        "status": match &span.error {
            None => json!({}),
            Some(why) => json!({ "code": 2, "message": why }),
        },
    });
    if let Some(parent) = span.parent {
        told["parentSpanId"] = digits(&parent).into();
    }
    if !span.trace.state().is_empty() {
        told["traceState"] = span.trace.state().into();
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Trace;

    #[test]
    fn a_span_is_told_with_its_parent_and_its_times() {
        let states = [b"congo=t61".as_slice()];
        let parent = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".as_slice();
        let trace = Trace::read([parent], states).unwrap();
        let mut span = Span::within(&trace, Kind::Server, "POST /v1/tickets/buyer/hold");
        span.set("http.response.status_code", 409);
        span.set("steadfast.clause", "free");
        span.fail("broken");
        std::thread::sleep(std::time::Duration::from_millis(2));
        span.end();
        let resource = Resource { service: "shop".into(), version: "1".into() };
        let document = document(&resource, &[span.clone()]);
        let resource = &document["resourceSpans"][0];
        assert_eq!(resource["resource"]["attributes"][0]["value"]["stringValue"], "shop");
        let told = &resource["scopeSpans"][0]["spans"][0];
        assert_eq!(told["traceId"], "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(told["parentSpanId"], "b7ad6b7169203331");
        assert_eq!(told["spanId"].as_str().unwrap(), &span.trace().parent()[36..52]);
        assert_eq!((&told["kind"], &told["traceState"]), (&json!(2), &json!("congo=t61")));
        assert_eq!(told["attributes"][0]["value"]["intValue"], "409");
        assert_eq!(told["status"], json!({ "code": 2, "message": "broken" }));
        let nanos = |name: &str| told[name].as_str().unwrap().parse::<u128>().unwrap();
        assert!(nanos("endTimeUnixNano") - nanos("startTimeUnixNano") >= 2_000_000);
    }

    #[test]
    fn the_first_span_of_a_trace_has_no_parent() {
        let span = Span::first(Kind::Internal, "x");
        let resource = Resource { service: String::new(), version: String::new() };
        let told = &document(&resource, &[span])["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
        assert!(told.get("parentSpanId").is_none() && told.get("traceState").is_none());
        assert_eq!(told["status"], json!({}));
    }
}
