//! As much of PostgreSQL's protocol as one client of a benchmark needs: a connection without a password, and statements
//! as text. One client holds connections to several databases, which `pgbench` cannot.

use std::io::{BufReader, Read, Write};
use std::net::TcpStream;

const PROTOCOL: u32 = 196_608;

pub struct Wire {
    stream: BufReader<TcpStream>,
}

/// A message as the server sends it.
struct Message {
    kind: u8,
    body: Vec<u8>,
}

impl Wire {
    pub fn connect(port: u16) -> Result<Wire, String> {
        let stream = TcpStream::connect(("127.0.0.1", port))
            .and_then(|stream| stream.set_nodelay(true).map(|()| stream))
            .map_err(|e| format!("cannot connect to PostgreSQL: {e}"))?;
        let mut wire = Wire { stream: BufReader::new(stream) };
        let mut body = PROTOCOL.to_be_bytes().to_vec();
        body.extend_from_slice(b"user\0bench\0database\0postgres\0\0");
        wire.put(&[], &body)?;
        wire.answer()?;
        Ok(wire)
    }

    /// Asks, and waits for the answer: the first column of the first row, if there is one.
    pub fn ask(&mut self, sql: &str) -> Result<Option<String>, String> {
        self.put(b"Q", &[sql.as_bytes(), &[0]].concat())?;
        self.answer().map_err(|why| format!("{why}: `{sql}`"))
    }

    fn put(&mut self, kind: &[u8], body: &[u8]) -> Result<(), String> {
        let length = (body.len() as u32 + 4).to_be_bytes();
        let message = [kind, &length, body].concat();
        self.stream.get_mut().write_all(&message).map_err(|e| format!("the connection ended: {e}"))
    }

    /// Up to where the server is ready again.
    fn answer(&mut self) -> Result<Option<String>, String> {
        let (mut row, mut wrong) = (None, None);
        loop {
            let message = self.take()?;
            match message.kind {
                b'D' if row.is_none() => row = first_column(&message.body),
                b'E' => wrong = Some(told(&message.body)),
                // anything but "ok" would ask for a password
                b'R' if message.body != [0; 4] => return Err("PostgreSQL asks who this is".into()),
                b'Z' => return wrong.map_or(Ok(row), Err),
                _ => {}
            }
        }
    }

    fn take(&mut self) -> Result<Message, String> {
        let ended = |e: std::io::Error| format!("the connection ended: {e}");
        let mut head = [0; 5];
        self.stream.read_exact(&mut head).map_err(ended)?;
        let [kind, length @ ..] = head;
        let length = u32::from_be_bytes(length).checked_sub(4).ok_or("a message without an end")?;
        let mut body = vec![0; length as usize];
        self.stream.read_exact(&mut body).map_err(ended)?;
        Ok(Message { kind, body })
    }
}

/// Of a row: a count of two bytes, then for each column its length and its text.
fn first_column(row: &[u8]) -> Option<String> {
    let length = i32::from_be_bytes(row.get(2..6)?.try_into().ok()?);
    let text = row.get(6..6 + usize::try_from(length).ok()?)?;
    Some(String::from_utf8_lossy(text).into_owned())
}

/// What an error says to people: fields, each with a letter before it and a zero behind.
fn told(body: &[u8]) -> String {
    let field = body.split(|byte| *byte == 0).find(|field| field.first() == Some(&b'M'));
    field.map_or("an error".into(), |field| String::from_utf8_lossy(&field[1..]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_errors_are_read() {
        assert_eq!(first_column(b"\0\x01\0\0\0\x0242").as_deref(), Some("42"));
        // null
        assert_eq!(first_column(b"\0\x01\xff\xff\xff\xff"), None);
        assert_eq!(first_column(b"\0"), None);
        assert_eq!(told(b"SERROR\0C22012\0Mdivision by zero\0\0"), "division by zero");
        assert_eq!(told(b""), "an error");
    }
}
