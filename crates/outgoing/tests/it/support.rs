//! The other side: notes what comes, and answers from a script.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use runtime::{Runtime, Settings};
use serde_json::Value;

#[derive(Clone, Debug)]
pub struct Received {
    /// `POST /authorize`
    pub line: String,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Received {
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }
}

#[derive(Default)]
struct Script {
    received: Vec<Received>,
    answers: VecDeque<String>,
}

#[derive(Clone)]
pub struct OtherSide {
    pub url: String,
    script: Arc<(Mutex<Script>, Condvar)>,
}

impl OtherSide {
    /// Gives these answers one after the other, and then 204 for ever. `drop` answers nothing.
    pub fn new(answers: &[&str]) -> OtherSide {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let script = Script {
            answers: answers.iter().map(ToString::to_string).collect(),
            ..Script::default()
        };
        let side = OtherSide { url, script: Arc::new((Mutex::new(script), Condvar::new())) };
        let serving = side.clone();
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let serving = serving.clone();
                std::thread::spawn(move || serving.serve(connection));
            }
        });
        side
    }

    fn serve(&self, connection: TcpStream) {
        let mut reader = BufReader::new(connection.try_clone().unwrap());
        let mut writer = connection;
        while let Some(received) = read(&mut reader) {
            let answer = {
                let mut script = self.script.0.lock().unwrap();
                script.received.push(received);
                self.script.1.notify_all();
                script.answers.pop_front()
            };
            let answer = answer.unwrap_or_else(|| "204\n".into());
            if answer == "drop" {
                return;
            }
            let (head, body) = answer.split_once('\n').unwrap_or((&answer, ""));
            let mut lines = head.split('|');
            let status = lines.next().unwrap_or("204");
            let extra: String = lines.map(|line| format!("{line}\r\n")).collect();
            let kind = if body.is_empty() { "" } else { "content-type: application/json\r\n" };
            let length = body.len();
            let text = format!(
                "HTTP/1.1 {status} X\r\n{kind}{extra}content-length: {length}\r\n\r\n{body}"
            );
            if writer.write_all(text.as_bytes()).is_err() {
                return;
            }
        }
    }

    /// Waits for so many requests and gives all there are.
    #[track_caller]
    pub fn received(&self, at_least: usize) -> Vec<Received> {
        let script = self.script.0.lock().unwrap();
        let waited = self.script.1.wait_timeout_while(script, Duration::from_secs(60), |script| {
            script.received.len() < at_least
        });
        let (script, _) = waited.unwrap();
        assert!(script.received.len() >= at_least, "only {:?}", script.received);
        script.received.clone()
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Received> {
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        headers.push((name.to_lowercase(), value.to_string()));
    }
    let line = line.rsplit_once(' ')?.0.to_string();
    let mut received = Received { line, headers, body: Vec::new() };
    let length = received.header("content-length").parse().unwrap_or(0);
    received.body.resize(length, 0);
    reader.read_exact(&mut received.body).ok()?;
    Some(received)
}

pub fn open(text: &str) -> Arc<Runtime> {
    let compiled = design::compile("test", text, &design::NoCatalog);
    let said: Vec<_> = compiled.diagnostics.iter().map(|problem| &problem.message).collect();
    let design = compiled.design.unwrap_or_else(|| panic!("{said:?}"));
    let settings = Settings {
        outbox: engine::outbox::Policy {
            backoff_first_ms: 10,
            backoff_max_ms: 50,
            attempts_max: 6,
        },
        ..Settings::default()
    };
    Arc::new(Runtime::open(design, Arc::new(store::Memory::new()), settings).unwrap())
}

/// Looks until it is so.
#[track_caller]
pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !so() {
        assert!(Instant::now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
