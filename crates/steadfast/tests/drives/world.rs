//! A service of the world outside, as designs call it: what is asked under one key it does once.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::script::Manner;

pub struct Service {
    pub url: String,
    told: Arc<Mutex<Told>>,
}

struct Told {
    manner: Manner,
    keys: HashSet<String>,
    done: Vec<Value>,
}

impl Service {
    pub fn start() -> std::io::Result<Service> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}", listener.local_addr()?);
        let first = Told { manner: Manner::Answers, keys: HashSet::new(), done: Vec::new() };
        let told = Arc::new(Mutex::new(first));
        let shared = Arc::clone(&told);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || answer(stream, &shared));
            }
        });
        Ok(Service { url, told })
    }

    pub fn behave(&self, manner: Manner) {
        lock(&self.told).manner = manner;
    }

    /// Everything it did, by the body that asked for it.
    pub fn done(&self) -> Vec<Value> {
        lock(&self.told).done.clone()
    }
}

fn lock(told: &Mutex<Told>) -> MutexGuard<'_, Told> {
    told.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One request; the connection is closed after it.
fn answer(stream: TcpStream, told: &Mutex<Told>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut key, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim().to_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("idempotency-key:") {
            key = value.trim().to_string();
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let manner = {
        let mut told = lock(told);
        let does = matches!(told.manner, Manner::Answers | Manner::LosesAnswers);
        if does && told.keys.insert(key) {
            told.done.push(body);
        }
        told.manner
    };
    let status = match manner {
        Manner::Answers => "200 OK",
        Manner::Refuses => "422 Unprocessable Content",
        // nothing is said: the connection ends
        Manner::LosesAnswers | Manner::Down => return None,
    };
    let mut stream = stream;
    let head = "content-type: application/json\r\ncontent-length: 2\r\nconnection: close";
    write!(stream, "HTTP/1.1 {status}\r\n{head}\r\n\r\n{{}}").ok()
}
