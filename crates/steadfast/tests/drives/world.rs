//! A service of the world outside, as designs call it: what is asked under one key it does once. One
//! that holds keys is a keystore, and signs for real.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use engine::HashPart;
use runtime::proofs;
use serde_json::Value;

use crate::drives::script::Manner;

pub struct Service {
    pub url: String,
    told: Arc<Mutex<Told>>,
}

struct Told {
    manner: Manner,
    keys: HashSet<String>,
    done: Vec<Value>,
    /// by the public half
    held: HashMap<String, Ed25519KeyPair>,
    /// the latest digest, and what was made of it
    signed: Option<(String, String)>,
}

impl Service {
    pub fn start() -> std::io::Result<Service> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}", listener.local_addr()?);
        let first = Told {
            manner: Manner::Answers,
            keys: HashSet::new(),
            done: Vec::new(),
            held: HashMap::new(),
            signed: None,
        };
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

    /// Makes a key of this name, and gives its public half. The private one stays here.
    pub fn hold(&self, name: &str) -> String {
        let seed = proofs::hash(&[HashPart::Text], &[0], &|_| name.as_bytes());
        let pair = Ed25519KeyPair::from_seed_unchecked(seed.as_bytes()).unwrap();
        let public = hex(pair.public_key().as_ref());
        lock(&self.told).held.insert(public.clone(), pair);
        public
    }

    /// The latest digest that it signed, and the signature.
    pub fn signed(&self) -> Option<(String, String)> {
        lock(&self.told).signed.clone()
    }

    /// Everything it did, by the body that asked for it.
    pub fn done(&self) -> Vec<Value> {
        lock(&self.told).done.clone()
    }
}

impl Told {
    /// What it answers. A keystore signs with the keys that it holds and no others.
    fn does(&mut self, key: String, body: &Value) -> Option<String> {
        let mut says = "{}".to_string();
        if let (Some(digest), Some(public)) = (body["digest"].as_str(), body["public_key"].as_str())
        {
            let bytes = proofs::bytes_of::<32>(digest.as_bytes())?;
            let bytes = if self.manner == Manner::Lies { [0; 32] } else { bytes };
            let signature = hex(self.held.get(public)?.sign(&bytes).as_ref());
            says = Value::from(signature.as_str()).to_string();
            self.signed = Some((digest.to_string(), signature));
        }
        if self.keys.insert(key) {
            self.done.push(body.clone());
        }
        Some(says)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
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
    let said = {
        let mut told = lock(told);
        match told.manner {
            Manner::Answers | Manner::Lies => told.does(key, &body),
            Manner::Refuses => None,
            // nothing is said: the connection ends
            Manner::LosesAnswers => return told.does(key, &body).and(None),
            Manner::Down => return None,
        }
    };
    let (status, said) = match said {
        Some(said) => ("200 OK", said),
        None => ("422 Unprocessable Content", "{}".to_string()),
    };
    let mut stream = stream;
    let head = "content-type: application/json\r\nconnection: close";
    let length = said.len();
    write!(stream, "HTTP/1.1 {status}\r\n{head}\r\ncontent-length: {length}\r\n\r\n{said}").ok()
}
