//! A server in this process, and a client that speaks plain HTTP over one connection.

#![allow(dead_code, reason = "each test uses another part of it")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use runtime::{Runtime, Settings};
use serde_json::Value;
use server::{Config, Running, Service};

pub const TICKETS: &str = include_str!("../../../../designs/systems/tickets.design");
pub const LEASE: &str = include_str!("../../../../designs/infra/I02.design");

pub fn service(name: &str, text: &str) -> Service {
    let compiled = design::compile(name, text, &design::NoCatalog);
    let design = compiled.design.expect("the design compiles");
    let store = Arc::new(store::Memory::new());
    let runtime = Runtime::open(design, store, Settings::default()).expect("it opens");
    Service::new(name, text, Arc::new(runtime))
}

/// On any free port of the loopback.
pub fn config() -> Config {
    Config { listen: SocketAddr::from(([127, 0, 0, 1], 0)), ..Config::default() }
}

pub fn serve(services: Vec<Service>) -> Running {
    server::start(config(), services).expect("it starts")
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

    /// Nothing more comes: the other side has closed.
    pub fn is_closed(&mut self) -> bool {
        matches!(self.stream.read(&mut [0; 1]), Ok(0) | Err(_))
    }
}
