//! The short way held against the HTTP library: generated connections, most of whose requests are
//! steps and some of which are broken in any way, are answered by two servers with the same truth, one
//! with the short way and one without. Every byte of the answers is the same, but for the date and the
//! order of headers.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use axum::Router;
use gateway::{Auditor, Gateway, Service};
use identity::Identity;
use runtime::{ManualClock, Runtime, Settings};
use store::Seeded;
use tokio::io::{AsyncRead as _, AsyncReadExt, AsyncWriteExt, ReadBuf, duplex};

use crate::app::App;
use crate::config::Config;
use crate::{listen, routes};

const TEXT: &str = "
design Shelf
actor clerk
subject Box(name: text) { truth BoxState { count: int = 0, note: text? = null, size: SMALL | LARGE = SMALL } }
step clerk[put(box: Box, by: int, note: text?, size: SMALL | LARGE) { room: BoxState.count + by < 50 }] {
    BoxState.count += by
    BoxState.note := note
    BoxState.size := size
}
step clerk[take(box: Box) { some: BoxState.count > 0 }] { BoxState.count -= 1 }
step clerk[empty(box: Box)] keyed { BoxState.count := 0 }
";

/// So many are answered; `STEADFAST_QUICK` asks for a tenth.
const REQUESTS: u64 = 200_000;

fn served() -> (Arc<App>, Router) {
    let design = design::compile("shelf", TEXT, &design::NoCatalog).design.expect("it compiles");
    let clock = Arc::new(ManualClock::new(1_800_000_000_000));
    let store = Arc::new(store::Memory::new());
    let runtime =
        Runtime::open_with_clock(design, store, Settings::default(), clock).expect("it opens");
    let service = Service::new("shelf", TEXT, Arc::new(runtime));
    let identity = Arc::new(Identity::in_memory().expect("keys"));
    let auditor = Auditor::start(&identity).expect("a log");
    let mut config = Config::default();
    config.limits.body_bytes_max = 2_000;
    let gateway = Gateway::new(config.settings(), vec![service], identity, auditor);
    let app = Arc::new(App::new(Arc::new(gateway), crate::cors::Origins::default()));
    let router = routes::router(Arc::clone(&app), Router::new());
    (app, router)
}

/// One of these.
fn one<'a>(seeded: &mut Seeded, of: &[&'a str]) -> &'a str {
    of[seeded.below(of.len() as u64) as usize]
}

fn body(seeded: &mut Seeded) -> String {
    let name = one(seeded, &["a", "b", "c", "a\\u0062", "ü", "", "x y", "\\ud800"]);
    let by = one(seeded, &["1", "7", "60", "-3", "1.0", "1e2", "9223372036854775807", "\"1\""]);
    let note = one(seeded, &["null", "\"n\"", "\"\\n\\\"\"", "5", "[]", "{}"]);
    let size = one(seeded, &["\"SMALL\"", "\"LARGE\"", "\"small\"", "0", "null"]);
    match seeded.below(12) {
        0 => String::new(),
        1 => format!("{{\"box\":\"{name}\"}}"),
        2 => format!("[{{\"box\":\"{name}\"}}]"),
        3 => format!("{{\"box\":\"{name}\",\"by\":{by},\"size\":{size},\"by\":{by}}}"),
        4 => format!("{{\"box\":\"{name}\",\"by\":{by},\"size\":{size},\"more\":{note}}}"),
        5 => format!("{{\"box\":\"{}\"}}", "n".repeat(seeded.below(2_400) as usize)),
        6 => format!(" {{ \"box\" : [\"{name}\"] , \"by\":{by} , \"size\" : {size} }} "),
        7 => format!("{{\"box\":{{\"name\":\"{name}\"}},\"by\":{by}}}"),
        8 => format!("{{\"box\":\"{name}\",\"by\":{by},\"note\":{note},\"size\":{size}}}junk"),
        _ => format!("{{\"box\":\"{name}\",\"by\":{by},\"note\":{note},\"size\":{size}}}"),
    }
}

const STEPS: [&str; 3] = ["/v1/shelf/clerk/put", "/v1/shelf/clerk/take", "/v1/shelf/clerk/empty"];

/// A step whose parameters fit; it may still be refused.
fn right_step(seeded: &mut Seeded) -> (&'static str, String) {
    let name = seeded.below(30);
    match seeded.below(2) {
        0 => (STEPS[1], format!("{{\"box\":\"n{name}\"}}")),
        _ => {
            let by = one(seeded, &["1", "2", "-4", "60"]);
            (STEPS[0], format!("{{\"box\":\"n{name}\",\"by\":{by},\"size\":\"LARGE\"}}"))
        }
    }
}

/// One request, mostly a plain step.
fn request(seeded: &mut Seeded) -> Vec<u8> {
    let plain = seeded.percent(60);
    let right = plain && seeded.percent(70);
    let (step, body) = if right { right_step(seeded) } else { (one(seeded, &STEPS), body(seeded)) };
    let often = |seeded: &mut Seeded, usual: &'static str, others: &[&'static str]| {
        if plain || seeded.percent(70) { usual } else { one(seeded, others) }
    };
    let method = often(seeded, "POST", &["GET", "PUT", "post", "OPTIONS", "HEAD", "P OST", ""]);
    let others = [
        "/v1/shelf/clerk/puts",
        "/v1/shelf/clerk/put?x=y",
        "/v1/shelf/clerk/put#x",
        "/v1/shelf/clerk/p%75t",
        "/v1/shelf/clerk//put",
        "/v1/shelf/clerk/put/",
        "/v1/shelf/Box/a",
        "/v1/other/clerk/put",
        "http://localhost/v1/shelf/clerk/put",
        "/healthz",
        "*",
        "v1",
        "/v1/shelf/batch",
    ];
    let path = often(seeded, step, &others);
    let version = often(seeded, "HTTP/1.1", &["HTTP/1.0", "HTTP/2.0", "HTTP/1.2", "http/1.1", ""]);
    let mut text = format!("{method} {path} {version}\r\n").into_bytes();
    let header = |text: &mut Vec<u8>, line: &str| {
        text.extend_from_slice(line.as_bytes());
        text.extend_from_slice(b"\r\n");
    };
    header(&mut text, often(seeded, "host: localhost", &["", "host: elsewhere", "HOST: [::1]:80"]));
    let json = "content-type: application/json";
    let kinds = ["content-type: text/plain", "x: y", "Content-Type: APPLICATION/JSON;q=1"];
    header(&mut text, often(seeded, json, &kinds));
    let length = format!("content-length: {}", body.len());
    let short = format!("content-length: {}", body.len().saturating_sub(3));
    let long = format!("content-length: {}", body.len() + 3);
    let twice = format!("{length}\r\n{length}");
    let two = format!("{length}\r\n{short}");
    let chunked = format!("transfer-encoding: chunked\r\n{length}");
    let lengths = [
        short.as_str(),
        &long,
        &twice,
        &two,
        &chunked,
        "transfer-encoding: chunked",
        "content-length: +5",
        "content-length: ",
        "content-length: 99999999999999999999",
        "Content-Length: 0",
    ];
    let usual = plain || seeded.percent(80);
    header(&mut text, if usual { &length } else { one(seeded, &lengths) });
    let extra = [
        "steadfast-as: ann",
        "Steadfast-As: ",
        "idempotency-key: \"k1\"",
        "idempotency-key: k2",
        "idempotency-key: ",
        "if-match: \"1\"",
        "if-match: *",
        "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "tracestate: a=b",
        "user-agent: test",
        "accept: */*",
        "connection: Keep-Alive",
        "connection: close",
        "connection: upgrade\r\nupgrade: h2c",
        "authorization: Bearer nonsense",
        "expect: 100-continue",
        "x-tab:\ta\tb",
        "bad header",
        "name : value",
        "x: \u{7f}",
        " folded: line",
        "cookie: session=1",
        "origin: http://elsewhere",
    ];
    for _ in 0..seeded.below(if plain { 2 } else { 4 }) {
        let line = one(seeded, &extra);
        if !plain || !line.contains("bad") {
            header(&mut text, line);
        }
    }
    if !plain && seeded.percent(3) {
        (0..40).for_each(|at| header(&mut text, &format!("x-{at}: {at}")));
    }
    text.extend_from_slice(b"\r\n");
    text.extend_from_slice(body.as_bytes());
    // a byte that is lost, doubled or another
    if !plain && seeded.percent(10) {
        let at = seeded.below(text.len() as u64) as usize;
        match seeded.below(3) {
            0 => drop(text.remove(at)),
            1 => text.insert(at, text[at]),
            _ => text[at] = seeded.below(256) as u8,
        }
    }
    text
}

/// Sends all of it in these pieces, and gives what was answered until the end.
async fn answered(served: &(Arc<App>, Router), pieces: &[&[u8]], quick: bool) -> Vec<u8> {
    let (mut client, stream) = duplex(1 << 20);
    let (app, router) = (&served.0, served.1.clone());
    let seat = app.seats.take().expect("a place");
    let server = async {
        match quick {
            true => listen::serve(stream, app, router, &seat).await,
            false => listen::by_library(stream, app, router, &seat).await,
        }
    };
    let asked = async {
        for piece in pieces {
            // whoever has hung up is told nothing more
            if client.write_all(piece).await.is_err() {
                break;
            }
            tokio::task::yield_now().await;
        }
        let mut answer = Vec::new();
        // nothing is waited for but what was not sent: after some turns there is no more to come, and
        // only then does the client hang up, because the library gives up those who do
        let (mut quiet, mut room) = (0, [0; 4096]);
        while quiet < 20 {
            let mut filled = ReadBuf::new(&mut room);
            match poll_fn(|context| {
                Poll::Ready(Pin::new(&mut client).poll_read(context, &mut filled))
            })
            .await
            {
                Poll::Ready(Ok(())) if filled.filled().is_empty() => return answer,
                Poll::Ready(Ok(())) => {
                    answer.extend_from_slice(filled.filled());
                    quiet = 0;
                }
                Poll::Ready(Err(_)) => return answer,
                Poll::Pending => {
                    quiet += 1;
                    tokio::task::yield_now().await;
                }
            }
        }
        let _ = client.shutdown().await;
        let _ = client.read_to_end(&mut answer).await;
        answer
    };
    tokio::join!(server, asked).1
}

/// Answers one by one: the line, the headers in order without the date, the body.
fn answers(mut bytes: &[u8]) -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    while let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let mut lines: Vec<String> = head.split("\r\n").map(str::to_owned).collect();
        let length = lines.iter().find_map(|line| line.strip_prefix("content-length: "));
        let length = length.map_or(0, |text| text.parse::<usize>().expect("a length"));
        lines.retain(|line| !line.starts_with("date: "));
        lines[1..].sort();
        let rest = &bytes[end + 4..];
        // an answer to HEAD tells the length of what it leaves out
        let is_left_out = rest.is_empty() || rest.starts_with(b"HTTP/1.");
        let (body, after) = rest.split_at(if is_left_out { 0 } else { length });
        found.push((lines, String::from_utf8_lossy(body).into_owned()));
        bytes = after;
    }
    assert!(bytes.is_empty(), "{}", String::from_utf8_lossy(bytes));
    found
}

/// What the library itself says to what it cannot read; ours have a body.
fn is_of_library(lines: &[String], body: &str) -> bool {
    lines == ["HTTP/1.1 400 Bad Request", "connection: close", "content-length: 0"]
        && body.is_empty()
}

#[test]
fn whatever_is_asked_is_answered_the_same_by_both_ways() {
    let quick = std::env::var_os("STEADFAST_QUICK").is_some();
    let requests = if quick { REQUESTS / 10 } else { REQUESTS };
    let threads = tokio::runtime::Builder::new_current_thread().enable_all().build();
    threads.expect("a runtime").block_on(async {
        let (mut short, mut long) = (served(), served());
        let (mut told, mut done, mut connections, mut cut_short) = (0, 0, 0, 0);
        while told < requests {
            connections += 1;
            let mut seeded = Seeded::new(connections);
            let count = 1 + seeded.below(6);
            let text: Vec<u8> = (0..count).flat_map(|_| request(&mut seeded)).collect();
            let mut cuts: Vec<usize> =
                (0..seeded.below(3)).map(|_| seeded.below(text.len() as u64) as usize).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|two| &text[two[0]..two[1]]).collect();
            let mut ours = answers(&answered(&short, &pieces, true).await);
            let theirs = answers(&answered(&long, &pieces, false).await);
            // To a head that is broken at its end the library says 400, or nothing if that came in pieces.
            if cuts.len() > 2
                && ours.len() == theirs.len() + 1
                && ours.last().is_some_and(|(lines, body)| is_of_library(lines, body))
            {
                ours.pop();
            }
            let shown = || text.escape_ascii().to_string();
            // The library hangs up on whoever it refuses before it has all of the body. The short way
            // reads the body first, and goes on; what it hands over comes in other pieces.
            let (fewer, more) = match ours.len() < theirs.len() {
                true => (&ours, &theirs),
                false => (&theirs, &ours),
            };
            let hung_up = fewer.len() < more.len()
                && fewer.last().is_some_and(|(lines, _)| !lines[0].contains(" 200 "))
                && more.starts_with(fewer);
            if hung_up {
                (short, long) = (served(), served());
                cut_short += 1;
            } else {
                let how = format!("connection {connections}, in pieces {cuts:?}");
                assert_eq!(ours, theirs, "{how}:\n{}", shown());
            }
            done += ours.iter().filter(|(lines, _)| lines[0] == "HTTP/1.1 200 OK").count() as u64;
            told += ours.len() as u64;
        }
        println!(
            "{told} requests answered over {connections} connections, {done} of them done; the library hung up \
             on {cut_short}"
        );
        assert!(cut_short < connections / 200, "the library hung up on {cut_short}");
        assert!(done > told / 20, "only {done} of {told} were done");
    });
}
