//! What comes over the network.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use store::Seeded;

use super::json::{self, one};
use super::{Place, spoil};

type Done = (u64, Result<(), String>);

const FEED: &[u8] = b"text/event-stream";

/// Nothing here takes as long as this, whatever else the machine does.
const PATIENCE: Duration = Duration::from_secs(120);

fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server listens");
    stream.set_nodelay(true).expect("an option");
    stream.set_read_timeout(Some(PATIENCE)).expect("an option");
    stream
}

/// Sends all of it, says that this is all, and reads until the server hangs up.
fn exchange(address: &str, sent: &[u8]) -> Result<Vec<u8>, String> {
    let mut stream = connect(address);
    let mut reading = stream.try_clone().map_err(|e| e.to_string())?;
    // both at once: who does not read while it sends waits for a server that waits, too
    std::thread::scope(|scope| {
        let writing = scope.spawn(move || {
            // a server that has heard enough hangs up
            let _ = stream.write_all(sent);
            let _ = stream.shutdown(Shutdown::Write);
        });
        let mut answer = Vec::new();
        let mut room = [0; 16 << 10];
        let read = loop {
            match reading.read(&mut room) {
                Ok(0) => break Ok(()),
                Ok(count) => answer.extend_from_slice(&room[..count]),
                Err(error) => break Err(error.kind()),
            }
            // a feed goes on for ever, and nothing after it is answered
            if answer.windows(FEED.len()).rev().take(32 << 10).any(|part| part == FEED) {
                break Ok(());
            }
        };
        let _ = reading.shutdown(Shutdown::Both);
        let _ = writing.join();
        match read {
            Err(std::io::ErrorKind::WouldBlock) => {
                Err("the server neither answers nor hangs up".into())
            }
            // reset, because it did not wait for all that was sent
            _ => Ok(answer),
        }
    })
}

/// The statuses in these answers; they stand nowhere else, since bodies hold no line that begins like that.
fn statuses(answer: &[u8]) -> Vec<u16> {
    let mark = b"HTTP/1.1 ";
    let at = (0..answer.len()).filter(|at| answer[*at..].starts_with(mark));
    at.filter_map(|at| std::str::from_utf8(answer.get(at + 9..at + 12)?).ok()?.parse().ok())
        .collect()
}

fn judged(answer: &[u8], sent: &[u8]) -> Result<u64, String> {
    let statuses = statuses(answer);
    match statuses.iter().position(|status| *status >= 500) {
        None => Ok(statuses.len() as u64),
        Some(at) => Err(format!(
            "answer {at} is {}:\n{}\nto\n{}",
            statuses[at],
            answer.escape_ascii(),
            sent.escape_ascii()
        )),
    }
}

fn sent(address: &str, text: &[u8], inputs: u64) -> Done {
    match exchange(address, text).and_then(|answer| judged(&answer, text)) {
        // what follows one that is broken is not looked at
        Ok(answered) => (answered.clamp(1, inputs), Ok(())),
        Err(wrong) => (inputs, Err(wrong)),
    }
}

pub fn status(address: &str, request: &str) -> Option<u16> {
    statuses(&exchange(address, request.as_bytes()).ok()?).first().copied()
}

const PATHS: [&str; 24] = [
    "/",
    "/healthz",
    "/readyz",
    "/metrics",
    "/problems/malformed",
    "/problems/%00",
    "/problems/tickets/hold/free",
    "/v1/tickets",
    "/v1/tickets/Seat/S1",
    "/v1/tickets/Seat/%ff",
    "/v1/tickets/Booking/b1",
    "/v1/i14/Blob/n1/x1",
    "/v1/tickets/views/Availability?section=t1",
    "/v1/tickets/views/Availability?section=t1&limit=0",
    "/v1/tickets/views/SoldCount?at_least=0-1",
    "/v1/tickets/views/SoldCount?at_least=%F0%9F",
    "/v1/tickets/feed?from=9-9-9",
    "/v1/tickets/aside",
    "/v1/i14/blobs/0000000000000000000000000000000000000000000000000000000000000000",
    "/v1/i14/blobs/..%2f..%2fkeys",
    "/v1/clock",
    "/v1//tickets",
    "/v1/tickets/buyer/hold/more",
    "/console/tickets",
];

const HEADERS: [&str; 16] = [
    "steadfast-as: ann",
    "steadfast-as: \u{fc}",
    "idempotency-key: \"k1\"",
    "idempotency-key: ",
    "if-match: \"1\"",
    "if-none-match: *",
    "range: bytes=5-",
    "accept: text/html",
    "accept-encoding: gzip",
    "expect: 100-continue",
    "origin: http://elsewhere",
    "sec-fetch-site: cross-site",
    "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "last-event-id: 0-1",
    "cookie: session=x",
    "transfer-encoding: chunked",
];

fn request(seeded: &mut Seeded) -> Vec<u8> {
    let (method, path, kind, body) = match seeded.below(20) {
        0..=11 => {
            let (design, actor, operation, body) = json::step(seeded);
            ("POST", format!("/v1/{design}/{actor}/{operation}"), "application/json", body)
        }
        12 => {
            let body = "c".repeat(seeded.below(200) as usize);
            ("POST", "/v1/i14/blobs".into(), "application/octet-stream", body)
        }
        13 => {
            let text = spoil::text(seeded, super::local::DESIGN);
            ("PUT", "/v1/i05?dry=true".into(), "text/plain", text)
        }
        _ => ("GET", one(seeded, &PATHS).to_string(), "application/json", String::new()),
    };
    let method = match seeded.percent(95) {
        true => method,
        false => one(seeded, &["DELETE", "OPTIONS", "HEAD", "PATCH", "POST", "TRACE"]),
    };
    let path = if seeded.percent(3) { spoil::text(seeded, &path) } else { path };
    let length = match seeded.percent(98) {
        true => body.len().to_string(),
        false => one(seeded, &["0", "1", "-1", "99999999999999999999999", "0x1", ""]).into(),
    };
    let mut text =
        format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {kind}\r\n");
    text.push_str(&format!("content-length: {length}\r\n"));
    for _ in 0..seeded.below(3) {
        if seeded.percent(30) {
            text.push_str(&format!("{}\r\n", one(seeded, &HEADERS)));
        }
    }
    text.push_str("\r\n");
    let mut bytes = text.into_bytes();
    bytes.extend_from_slice(body.as_bytes());
    if seeded.percent(3) {
        spoil::bytes(seeded, &mut bytes);
    }
    bytes
}

/// One connection with many requests, some of which are broken.
pub fn requests(place: &Place, seeded: &mut Seeded, most: u64) -> Done {
    let count = (1 + seeded.below(200)).min(most);
    let text: Vec<u8> = (0..count).flat_map(|_| request(seeded)).collect();
    sent(&place.open, &text, count)
}

/// A connection with batches; each step of one is an input.
pub fn batches(place: &Place, seeded: &mut Seeded, most: u64) -> Done {
    let (mut text, mut steps) = (Vec::new(), 0);
    while steps < most.min(200) {
        let lines: Vec<String> = (0..1 + seeded.below(20))
            .map(|_| {
                let (_, actor, operation, params) = json::step(seeded);
                match seeded.below(30) {
                    0 => json::wrong(seeded),
                    1 => format!("{{\"actor\":{},\"operation\":\"hold\"}}", json::wrong(seeded)),
                    2 => format!("{{\"actor\":\"buyer\",\"operation\":\"hold\",\"params\":{}}}", json::wrong(seeded)),
                    _ => format!(
                        "{{\"actor\":\"{actor}\",\"operation\":\"{operation}\",\"params\":{params}}}"
                    ),
                }
            })
            .collect();
        steps += lines.len() as u64;
        let mut body = match seeded.below(10) {
            0 => format!("[{}]", lines.join(",")),
            1 => format!("{{\"steps\":[{}],\"more\":1}}", lines.join(",")),
            _ => format!("{{\"steps\":[{}]}}", lines.join(",")),
        };
        if seeded.percent(3) {
            body = spoil::text(seeded, &body);
        }
        let head = format!(
            "POST /v1/tickets/batch HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n",
            body.len()
        );
        text.extend_from_slice(head.as_bytes());
        text.extend_from_slice(body.as_bytes());
    }
    match exchange(&place.open, &text) {
        Err(wrong) => (steps, Err(wrong)),
        Ok(answer) => (steps, judged(&answer, &text).and_then(|_| within(&answer, &text))),
    }
}

/// A socket with messages, the last of which may be anything.
pub fn messages(place: &Place, seeded: &mut Seeded, most: u64) -> Done {
    let mut text = b"GET /v1/socket HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
                     sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        .to_vec();
    let count = (1 + seeded.below(200)).min(most);
    for _ in 0..count {
        let (design, actor, operation, params) = json::step(seeded);
        let id = if seeded.percent(90) { seeded.below(9).to_string() } else { json::wrong(seeded) };
        let mut message = format!(
            "{{\"id\":{id},\"design\":\"{design}\",\"actor\":\"{actor}\",\"operation\":\"{operation}\",\
             \"params\":{params}}}"
        )
        .into_bytes();
        if seeded.percent(2) {
            spoil::bytes(seeded, &mut message);
        }
        // text; rarely binary, a ping, a part, an end, or a kind that there is not
        let first = match seeded.percent(97) {
            true => 0x81,
            false => [0x82, 0x89, 0x01, 0x80, 0x8a, 0x8b, 0xf1, 0x88][seeded.below(8) as usize],
        };
        frame(seeded, first, &message, &mut text);
    }
    if seeded.percent(30) {
        let tail = seeded.below(20);
        text.extend((0..tail).map(|_| seeded.below(256) as u8));
    }
    frame(seeded, 0x88, &[3, 232], &mut text);
    match exchange(&place.open, &text) {
        Err(wrong) => (count, Err(wrong)),
        Ok(answer) => (count, judged(&answer, &text).and_then(|_| within(&answer, &text))),
    }
}

/// What a batch or a socket tells of one step has its status beside it.
fn within(answer: &[u8], sent: &[u8]) -> Result<(), String> {
    let at_fault = answer.windows(11).any(|part| part.starts_with(b"\"status\":5"));
    if at_fault {
        return Err(format!("{}\nto\n{}", answer.escape_ascii(), sent.escape_ascii()));
    }
    Ok(())
}

/// A frame of a client, which is masked.
fn frame(seeded: &mut Seeded, first: u8, content: &[u8], out: &mut Vec<u8>) {
    out.push(first);
    let length = content.len();
    match length {
        0..=125 => out.push(0x80 | length as u8),
        126..=0xffff => {
            out.push(0x80 | 126);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        _ => {
            out.push(0x80 | 127);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    let mask = (seeded.number() as u32).to_be_bytes();
    out.extend_from_slice(&mask);
    out.extend(content.iter().enumerate().map(|(at, byte)| byte ^ mask[at % 4]));
}

/// A connection to the server that asks for tokens, with tokens that were spoilt. None is let in.
pub fn tokens(place: &Place, seeded: &mut Seeded, most: u64) -> Done {
    let count = (1 + seeded.below(100)).min(most);
    let mut text = Vec::new();
    for _ in 0..count {
        let mut token = spoil::text(seeded, &place.token);
        token.retain(|letter| !letter.is_control());
        if token.trim() == place.token {
            token.push('x');
        }
        let scheme = if seeded.percent(90) {
            "Bearer "
        } else {
            one(seeded, &["", "bearer", "Basic ", "Bearer\t"])
        };
        let (design, actor, operation, body) = json::step(seeded);
        text.extend_from_slice(
            format!(
                "POST /v1/{design}/{actor}/{operation} HTTP/1.1\r\nhost: localhost\r\nauthorization: {scheme}{token}\r\n\
                 content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            )
            .as_bytes(),
        );
    }
    match exchange(&place.guarded, &text) {
        Err(wrong) => (count, Err(wrong)),
        Ok(answer) => {
            let let_in = statuses(&answer).iter().any(|status| !matches!(*status, 400 | 401 | 431));
            let shown = || format!("{}\nto\n{}", answer.escape_ascii(), text.escape_ascii());
            (count, if let_in { Err(shown()) } else { Ok(()) })
        }
    }
}
