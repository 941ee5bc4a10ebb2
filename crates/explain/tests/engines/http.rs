//! One HTTP request, as much of it as a local server needs.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

/// Status and body.
pub fn post(port: u16, target: &str, body: &Value) -> (u16, Value) {
    let body = body.to_string();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let request = format!(
        "POST / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\
         Content-Type: application/x-amz-json-1.0\r\nX-Amz-Target: DynamoDB_20120810.{target}\r\n\
         X-Amz-Date: 20260101T000000Z\r\nAuthorization: AWS4-HMAC-SHA256 \
         Credential=local/20260101/local/dynamodb/aws4_request, \
         SignedHeaders=host;x-amz-date;x-amz-target, Signature=00\r\n\
         Content-Length: {}\r\n\r\n{body}",
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
            let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
            if bytes.len() >= end + 4 + length {
                return String::from_utf8(bytes).unwrap();
            }
        }
        let count = stream.read(&mut piece).unwrap();
        assert!(count > 0, "the server closed the connection within its answer");
        bytes.extend_from_slice(&piece[..count]);
    }
}
