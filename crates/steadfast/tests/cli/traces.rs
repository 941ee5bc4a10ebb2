//! One trace from a request through the outbox to whoever is told of it, and to a collector.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;

use crate::cli::serving::Server;
use crate::cli::support::folder;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CALLER: &str = "b7ad6b7169203331";
const SECRET: &str = "whsec_b2xkb2xkb2xkb2xkb2xkb2xkb2xkb2xk";

/// A request as it came.
struct Asked {
    path: String,
    headers: Vec<(String, String)>,
    body: Value,
}

impl Asked {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The trace and the span of its `traceparent`.
    fn parent(&self) -> (&str, &str) {
        let parent = self.header("traceparent").expect("a traceparent");
        (&parent[3..35], &parent[36..52])
    }
}

/// Takes every request and says yes.
fn receiver() -> (String, Receiver<Asked>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, received) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let sender = sender.clone();
            std::thread::spawn(move || {
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut stream = stream;
                while let Some(asked) = read(&mut reader) {
                    let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
                                  content-length: 2\r\n\r\n{}";
                    let _ = stream.write_all(answer.as_bytes());
                    let _ = sender.send(asked);
                }
            });
        }
    });
    (url, received)
}

fn read(reader: &mut impl BufRead) -> Option<Asked> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
    let path = line.split(' ').nth(1)?.to_string();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_string()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { path, headers, body: serde_json::from_slice(&body).unwrap_or_default() })
}

/// Posts to the server; gives the head of the answer, and its body.
fn post(server: &Server, path: &str, headers: &str, body: &str) -> (String, Value) {
    let address = server.address.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_lowercase(), serde_json::from_str(body).unwrap())
}

fn within(received: &Receiver<Asked>) -> Asked {
    received.recv_timeout(Duration::from_secs(30)).expect("a request in time")
}

/// All spans of these exports.
fn spans(received: &Receiver<Asked>, count: usize) -> Vec<Value> {
    let mut spans = Vec::new();
    while spans.len() < count {
        let export = within(received);
        assert_eq!(export.path, "/v1/traces");
        let resource = &export.body["resourceSpans"][0];
        let name = &resource["resource"]["attributes"][0]["value"]["stringValue"];
        assert_eq!(name, "steadfast");
        let told = resource["scopeSpans"][0]["spans"].as_array().expect("spans");
        spans.extend(told.iter().cloned());
    }
    spans
}

fn named<'a>(spans: &'a [Value], name: &str) -> &'a Value {
    let found: Vec<&Value> = spans.iter().filter(|span| span["name"] == name).collect();
    assert_eq!(found.len(), 1, "`{name}` in {spans:#?}");
    found[0]
}

fn pay(server: &Server, headers: &str) -> (String, Value) {
    let create = r#"{"intent":"i1","amount":"12.50","currency":"CHF"}"#;
    post(server, "/v1/payments/merchant/create_intent", "", create);
    post(server, "/v1/payments/merchant/pay", headers, r#"{"intent":"i1","charge":"c1"}"#)
}

fn serve(name: &str, network: &str, told: &str, more: &[&str]) -> Server {
    let outside = format!("network={network}");
    let secret = format!("{told}={SECRET}");
    let mut words = vec!["payments", "--store", "memory:", "--outside", &outside];
    words.extend(["--webhook", told, "--webhook-secret", &secret]);
    words.extend(more);
    Server::start(&folder(name), &words)
}

#[test]
fn one_trace_leads_from_the_request_to_whoever_is_told_of_it() {
    let (network, calls) = receiver();
    let (told, events) = receiver();
    let (collector, exports) = receiver();
    let server = serve("traces-recorded", &network, &told, &["--otlp", &collector]);
    let headers = format!("traceparent: 00-{TRACE}-{CALLER}-01\r\ntracestate: congo=t61\r\n");
    let (head, _) = pay(&server, &headers);
    let (call, event) = (within(&calls), within(&events));

    let spans = spans(&exports, 4);
    let first = named(&spans, "POST /v1/payments/merchant/create_intent");
    assert!(first["parentSpanId"].is_null(), "nobody sent a trace with it: it began one");
    let step = named(&spans, "POST /v1/payments/merchant/pay");
    assert_eq!((&step["traceId"], &step["parentSpanId"]), (&TRACE.into(), &CALLER.into()));
    assert_eq!((&step["kind"], &step["traceState"]), (&2.into(), &"congo=t61".into()));
    let id = step["spanId"].as_str().unwrap();
    assert!(head.contains(&format!("traceresponse: 00-{TRACE}-{id}-01")), "{head}");

    let out = named(&spans, "POST network.authorize");
    assert_eq!((&out["traceId"], &out["parentSpanId"]), (&TRACE.into(), &id.into()));
    assert_eq!(call.path, "/authorize");
    assert_eq!(call.parent(), (TRACE, out["spanId"].as_str().unwrap()));
    assert_eq!(call.header("tracestate"), Some("congo=t61"));
    assert_eq!(call.header("ce-traceparent"), Some(&*format!("00-{TRACE}-{id}-01")));

    let sent = named(&spans, "send PaymentSucceeded");
    assert_eq!((&sent["traceId"], &sent["parentSpanId"]), (&TRACE.into(), &id.into()));
    assert_eq!(event.parent(), (TRACE, sent["spanId"].as_str().unwrap()));
    assert_eq!(event.body["traceparent"], format!("00-{TRACE}-{id}-01"));
    for span in [step, out, sent] {
        let nanos = |name: &str| span[name].as_str().unwrap().parse::<u128>().unwrap();
        assert!(nanos("startTimeUnixNano") <= nanos("endTimeUnixNano"));
        let status = span["attributes"].as_array().unwrap().iter();
        let status = status.filter(|one| one["key"] == "http.response.status_code");
        assert_eq!(
            status.map(|one| one["value"]["intValue"].as_str().unwrap()).next_back(),
            Some("200")
        );
    }
}

#[test]
fn without_a_collector_the_trace_is_handed_on_as_it_came() {
    let (network, calls) = receiver();
    let (told, events) = receiver();
    let server = serve("traces-handed-on", &network, &told, &[]);
    let headers = format!("traceparent: 00-{TRACE}-{CALLER}-01\r\n");
    let (head, _) = pay(&server, &headers);
    assert!(head.contains(&format!("traceresponse: 00-{TRACE}-{CALLER}-01")), "{head}");
    assert_eq!(within(&calls).parent(), (TRACE, CALLER));
    let event = within(&events);
    assert_eq!(event.parent(), (TRACE, CALLER));
    assert_eq!(event.body["traceparent"], format!("00-{TRACE}-{CALLER}-01"));
    let again = r#"{"intent":"i1","charge":"c2"}"#;
    let (_, refused) = post(&server, "/v1/payments/merchant/pay", &headers, again);
    assert_eq!((&refused["guard"], &refused["trace"]), (&"open".into(), &TRACE.into()));
}

#[test]
fn what_is_malformed_is_as_if_it_were_not_there() {
    let (network, calls) = receiver();
    let (told, _events) = receiver();
    let server = serve("traces-malformed", &network, &told, &[]);
    let headers = format!("traceparent: 00-{TRACE}-{CALLER}-1\r\ntracestate: congo=t61\r\n");
    let (head, answer) = pay(&server, &headers);
    assert!(head.contains(" 200 ") && !head.contains("traceresponse"), "{head} {answer}");
    let call = within(&calls);
    assert_eq!((call.header("traceparent"), call.header("tracestate")), (None, None));
}

#[test]
fn a_quiet_trace_stays_quiet_and_a_broken_one_begins_anew() {
    let (network, calls) = receiver();
    let (told, _events) = receiver();
    let (collector, exports) = receiver();
    let server =
        serve("traces-quiet", &network, &told, &["--otlp", &collector, "--otlp-share", "0"]);
    let (head, _) = pay(&server, &format!("traceparent: 00-{TRACE}-{CALLER}-00\r\n"));
    assert!(head.contains(&format!("traceresponse: 00-{TRACE}-{CALLER}-00")), "{head}");
    assert_eq!(within(&calls).parent(), (TRACE, CALLER));
    let got = exports.recv_timeout(Duration::from_millis(1_500));
    assert!(got.is_err(), "nothing is recorded");
    drop(server);
    let server = serve("traces-anew", &network, &told, &["--otlp", &collector]);
    let (head, _) = pay(&server, "traceparent: 00-what-is-this-01\r\ntracestate: congo=t61\r\n");
    let call = within(&calls);
    let (trace, _) = call.parent();
    assert!(trace != TRACE && head.contains(&format!("traceresponse: 00-{trace}-")), "{head}");
    assert_eq!(call.header("tracestate"), None, "it belonged to the trace that broke off");
}
