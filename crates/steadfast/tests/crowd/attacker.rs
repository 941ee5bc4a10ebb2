//! Clients that hold on to a server in ten ways.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// connects and says nothing
    Silent,
    /// sends its head byte by byte
    SlowHead,
    /// sends its body byte by byte
    SlowBody,
    /// asks for pages and reads none
    PagesUnread,
    /// asks for steps and reads no answer
    StepsUnread,
    /// follows the feed and does not read it
    FeedUnread,
    /// opens a socket and sends pings, and reads nothing
    PingsUnread,
    /// speaks something else
    Noise,
    /// begins to upload, and stops
    Upload,
    /// connects, says half of something and comes again
    Restless,
}

pub const KINDS: [Kind; 10] = [
    Kind::Silent,
    Kind::SlowHead,
    Kind::SlowBody,
    Kind::PagesUnread,
    Kind::StepsUnread,
    Kind::FeedUnread,
    Kind::PingsUnread,
    Kind::Noise,
    Kind::Upload,
    Kind::Restless,
];

const STEP: &str = "POST /v1/tickets/organizer/add_seat HTTP/1.1\r\nhost: localhost\r\n\
                    content-type: application/json\r\n";

pub struct Attacker {
    kind: Kind,
    address: String,
    /// none: it was let go, and comes again
    stream: Option<TcpStream>,
    pressed: usize,
}

impl Attacker {
    pub fn begin(kind: Kind, address: &str) -> Attacker {
        let mut attacker =
            Attacker { kind, address: address.to_string(), stream: None, pressed: 0 };
        attacker.press();
        attacker
    }

    /// Does a little more of what it does.
    pub fn press(&mut self) {
        self.pressed += 1;
        if self.stream.is_none() || self.kind == Kind::Restless {
            self.stream = TcpStream::connect(&self.address).ok();
            let Some(stream) = &mut self.stream else { return };
            let _ = stream.set_nonblocking(true);
            let _ = stream.write(first(self.kind).as_bytes());
            return;
        }
        let more = more(self.kind, self.pressed);
        let Some(stream) = &mut self.stream else { return };
        let gone = match self.kind {
            // who does not read does not see the end, either
            Kind::PagesUnread | Kind::StepsUnread | Kind::FeedUnread | Kind::PingsUnread => false,
            _ => matches!(stream.read(&mut [0; 4_096]), Ok(0)),
        };
        let refused = match more {
            None => false,
            Some(bytes) => match stream.write(&bytes) {
                Ok(_) => false,
                Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
            },
        };
        if gone || refused {
            self.stream = None;
        }
    }
}

fn first(kind: Kind) -> String {
    match kind {
        Kind::Silent => String::new(),
        Kind::SlowHead => "POST /v1/tick".into(),
        Kind::SlowBody => format!("{STEP}content-length: 900000\r\n\r\n{{\"seat\":"),
        Kind::PagesUnread => "GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(20),
        Kind::StepsUnread => format!("{STEP}content-length: 2\r\n\r\n{{}}").repeat(20),
        Kind::FeedUnread => {
            "GET /v1/tickets/feed?from=start HTTP/1.1\r\nhost: localhost\r\n\r\n".into()
        }
        Kind::PingsUnread => {
            "GET /v1/socket HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\n\
                              upgrade: websocket\r\nsec-websocket-version: 13\r\n\
                              sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
                .into()
        }
        Kind::Noise => "\u{16}\u{3}\u{1} EHLO nobody\r\n\r\n".into(),
        Kind::Upload => format!(
            "POST /v1/i14/blobs HTTP/1.1\r\nhost: localhost\r\n\
             content-type: application/octet-stream\r\ncontent-length: 16000000\r\n\r\n{}",
            "x".repeat(60_000)
        ),
        Kind::Restless => "GET /v1/tickets/Seat/A".into(),
    }
}

fn more(kind: Kind, pressed: usize) -> Option<Vec<u8>> {
    match kind {
        Kind::SlowHead | Kind::SlowBody => pressed.is_multiple_of(10).then(|| b"x".to_vec()),
        Kind::PagesUnread | Kind::StepsUnread if pressed < 50 => Some(first(kind).into_bytes()),
        // masked with zeros
        Kind::PingsUnread if pressed < 50 => Some([0x89, 0x80, 0, 0, 0, 0].repeat(200)),
        Kind::Noise => Some(first(kind).into_bytes()),
        Kind::Upload if pressed < 20 => Some(vec![b'x'; 60_000]),
        _ => None,
    }
}
