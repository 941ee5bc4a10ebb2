//! A server in this process, and a client that speaks plain HTTP over one connection.

mod lag;

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use gateway::Service;
use runtime::{ManualClock, Runtime, Settings};
use serde_json::Value;
use server::{Config, Running, StartError};
use store::Store;

pub const TICKETS: &str = include_str!("../../../../../designs/systems/tickets.design");
pub const LEASE: &str = include_str!("../../../../../designs/infra/I02.design");

/// What these designs use.
pub const SHELF: [(&str, &str); 3] = [
    ("A06", include_str!("../../../../../designs/product/A06.design")),
    ("A07", include_str!("../../../../../designs/product/A07.design")),
    ("A08", include_str!("../../../../../designs/product/A08.design")),
];

pub use lag::lag;

pub fn service(name: &str, text: &str) -> Service {
    service_on(name, text, Arc::new(store::Memory::new()))
}

pub fn service_on(name: &str, text: &str, store: Arc<dyn Store>) -> Service {
    let compiled = design::compile(name, text, &SHELF);
    let design = compiled.design.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
    let runtime = Runtime::open(design, store, Settings::default()).expect("it opens");
    Service::new(name, text, Arc::new(runtime))
}

/// In memory, at a moment that does not pass.
pub fn service_at(name: &str, text: &str, now: i64) -> Service {
    service_by(name, text, Arc::new(ManualClock::new(now)))
}

/// In memory, by a clock of the test's.
pub fn service_by(name: &str, text: &str, clock: Arc<ManualClock>) -> Service {
    let compiled = design::compile(name, text, &SHELF);
    let design = compiled.design.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
    let store = Arc::new(store::Memory::new());
    let runtime = Runtime::open_with_clock(design, store, Settings::default(), clock);
    Service::new(name, text, Arc::new(runtime.expect("it opens")))
}

/// On any free port of the loopback.
pub fn config() -> Config {
    Config { listen: SocketAddr::from(([127, 0, 0, 1], 0)), ..Config::default() }
}

/// With the console, as the product has it.
pub fn start(config: Config, services: Vec<Service>) -> Result<Running, StartError> {
    server::start_with(config, services, Box::new(console::pages))
}

pub fn serve(services: Vec<Service>) -> Running {
    start(config(), services).expect("it starts")
}

pub fn tickets() -> Running {
    serve(vec![service("tickets", TICKETS)])
}

pub struct Client {
    stream: BufReader<TcpStream>,
}

#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(its, _)| its.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Client {
    pub fn new(address: SocketAddr) -> Client {
        let stream = TcpStream::connect(address).expect("it connects");
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Client { stream: BufReader::new(stream) }
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).expect("it is sent");
    }

    pub fn get(&mut self, path: &str) -> Response {
        self.request("GET", path, &[], "")
    }

    pub fn post(&mut self, path: &str, body: &Value) -> Response {
        self.request("POST", path, &[("content-type", "application/json")], &body.to_string())
    }

    pub fn post_as(&mut self, who: &str, path: &str, body: &Value) -> Response {
        let headers = [("content-type", "application/json"), ("steadfast-as", who)];
        self.request("POST", path, &headers, &body.to_string())
    }

    pub fn request(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response {
        let mut text = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n");
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() {
            text.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        text.push_str("\r\n");
        text.push_str(body);
        self.send(text.as_bytes());
        self.answer(method == "HEAD")
    }

    pub fn answer(&mut self, bodiless: bool) -> Response {
        let (status, headers) = self.head();
        let mut response = Response { status, headers, body: Vec::new() };
        let length = response.header("content-length").map_or(0, |text| text.parse().unwrap());
        if !bodiless && status != 304 {
            response.body.resize(length, 0);
            self.stream.read_exact(&mut response.body).expect("the body comes");
        }
        response
    }

    /// Status and headers; the body is still to come.
    pub fn head(&mut self) -> (u16, Vec<(String, String)>) {
        let first = self.line();
        let status = first.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no status in {first:?}"));
        let mut headers = Vec::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.to_string(), value.trim().to_string()));
        }
        (status, headers)
    }

    /// One line without its end; empty when the other side has closed, too.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("a line comes");
        line.trim_end().to_string()
    }

    /// A WebSocket from here on.
    pub fn upgrade(&mut self, path: &str) {
        self.upgrade_as(path, &[]);
    }

    /// The same with headers of its own.
    pub fn upgrade_as(&mut self, path: &str, own: &[(&str, &str)]) {
        let mut headers = vec![
            ("connection", "upgrade"),
            ("upgrade", "websocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        headers.extend(own);
        let answer = self.request("GET", path, &headers, "");
        assert_eq!(answer.status, 101, "{answer:?}");
    }

    /// One masked text frame.
    pub fn send_text(&mut self, text: &str) {
        let mut frame = vec![0x81];
        match text.len() {
            short @ ..=125 => frame.push(0x80 | short as u8),
            long => {
                frame.push(0x80 | 126);
                frame.extend_from_slice(&u16::try_from(long).unwrap().to_be_bytes());
            }
        }
        // a mask of zeros leaves the text as it is
        frame.extend_from_slice(&[0; 4]);
        frame.extend_from_slice(text.as_bytes());
        self.send(&frame);
    }

    /// The kind of one frame, and what it holds.
    pub fn frame(&mut self) -> (u8, Vec<u8>) {
        let mut head = [0; 2];
        self.stream.read_exact(&mut head).expect("a frame comes");
        let length = match head[1] & 0x7f {
            126 => {
                let mut long = [0; 2];
                self.stream.read_exact(&mut long).unwrap();
                usize::from(u16::from_be_bytes(long))
            }
            127 => panic!("a frame of more than 64 KiB"),
            short => usize::from(short),
        };
        let mut payload = vec![0; length];
        self.stream.read_exact(&mut payload).expect("all of it comes");
        (head[0] & 0x0f, payload)
    }

    pub fn text_frame(&mut self) -> Value {
        let (kind, payload) = self.frame();
        assert_eq!(kind, 1, "{payload:?}");
        serde_json::from_slice(&payload).unwrap()
    }

    /// One server-sent event as (field, value) pairs; none: the stream has ended.
    pub fn event(&mut self) -> Option<Vec<(String, String)>> {
        let mut event = Vec::new();
        loop {
            let mut line = String::new();
            if self.stream.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let line = line.trim_end_matches(['\r', '\n']);
            // lengths of chunks stand between the events
            let is_length = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_hexdigit());
            if is_length {
                if line.bytes().all(|byte| byte == b'0') {
                    return None;
                }
                continue;
            }
            match line.split_once(": ") {
                Some((field, value)) => event.push((field.to_string(), value.to_string())),
                None if line.is_empty() && !event.is_empty() => return Some(event),
                None => {}
            }
        }
    }

    /// Nothing more comes: the other side has closed.
    pub fn is_closed(&mut self) -> bool {
        match self.stream.read(&mut [0; 1]) {
            Ok(count) => count == 0,
            // a wait that ran out is no end
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
        }
    }
}
