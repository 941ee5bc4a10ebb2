//! A client that asks, reads its answer, and asks again.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// Adds seats, each durable before the next is asked for. Gives how many were answered.
pub fn run(
    address: &str,
    (round, client): (usize, usize),
    requests: usize,
    reconnect: usize,
) -> usize {
    let mut stream = connect(address);
    for at in 0..requests {
        if at % reconnect == reconnect - 1 {
            stream = connect(address);
        }
        let body = format!("{{\"seat\":\"r{round}c{client}n{at}\",\"section\":\"s{client}\"}}");
        let text = format!(
            "POST /v1/tickets/organizer/add_seat HTTP/1.1\r\nhost: localhost\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.get_mut().write_all(text.as_bytes()).expect("an honest client is heard");
        let mut line = String::new();
        stream.read_line(&mut line).expect("an honest client is answered");
        assert!(line.starts_with("HTTP/1.1 200 "), "an honest client is refused: {line:?}");
        let mut length = 0;
        while line != "\r\n" {
            line.clear();
            stream.read_line(&mut line).expect("a head has an end");
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        stream.read_exact(&mut vec![0; length]).expect("a body comes");
    }
    requests
}

fn connect(address: &str) -> BufReader<TcpStream> {
    let stream = TcpStream::connect(address).expect("an honest client is let in");
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    BufReader::new(stream)
}
