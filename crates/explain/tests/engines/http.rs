//! One HTTP request, as much of it as a local server needs.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

/// What every request to DynamoDB says of itself.
const DYNAMODB: &str = "Content-Type: application/x-amz-json-1.0\r\n\
    X-Amz-Date: 20260101T000000Z\r\nAuthorization: AWS4-HMAC-SHA256 \
    Credential=local/20260101/local/dynamodb/aws4_request, \
    SignedHeaders=host;x-amz-date;x-amz-target, Signature=00\r\n";

/// Status and body of one call to DynamoDB.
pub fn dynamodb(port: u16, target: &str, body: &Value) -> (u16, Value) {
    let head = format!("{DYNAMODB}X-Amz-Target: DynamoDB_20120810.{target}\r\n");
    post(port, "/", &head, body)
}

/// Status and body.
pub fn post(port: u16, path: &str, head: &str, body: &Value) -> (u16, Value) {
    let body = body.to_string();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{head}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let answer = answer(&mut stream);
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let text = answer.split_once("\r\n\r\n").map_or("", |(_, text)| text);
    let start = text.find('{').unwrap_or(0);
    let end = text.rfind('}').map_or(0, |at| at + 1);
    (status, serde_json::from_str(&text[start..end]).unwrap_or(Value::Null))
}

/// Reads as much as the server said it would send: the connection stays open, so that the server
/// need not reset it while the answer is on its way.
fn answer(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut piece = [0; 16_384];
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let whole = match length {
                Some(length) => bytes.len() >= end + 4 + length.trim().parse::<usize>().unwrap(),
                // In pieces: the last one is empty.
                None => bytes.ends_with(b"\r\n0\r\n\r\n"),
            };
            if whole {
                let body = if length.is_some() {
                    bytes[end + 4..].to_vec()
                } else {
                    joined(&bytes[end + 4..])
                };
                return String::from_utf8([&bytes[..end + 4], &body].concat()).unwrap();
            }
        }
        let count = stream.read(&mut piece).unwrap();
        assert!(count > 0, "the server closed the connection within its answer");
        bytes.extend_from_slice(&piece[..count]);
    }
}

/// The pieces of an answer whose length was not known when it began.
fn joined(mut pieces: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let end = pieces.windows(2).position(|two| two == b"\r\n").unwrap();
        let length = std::str::from_utf8(&pieces[..end]).unwrap();
        let length = usize::from_str_radix(length, 16).unwrap();
        if length == 0 {
            return body;
        }
        body.extend_from_slice(&pieces[end + 2..end + 2 + length]);
        pieces = &pieces[end + 4 + length..];
    }
}
