//! Clients: each sends, waits for all answers, and sends again. They share the cores with what they
//! measure, so they make their requests once and change only the keys in them.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::Settings;
use crate::answers;
use crate::requests::{self, Requests};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Bare,
    Http,
    Batch,
    Socket,
    Restate,
    /// puts jobs into a queue, as many as there are keys
    Fill,
    /// takes the next job of the queue and puts in a new one
    Take,
    /// gives each courier a place, as many as there are keys
    Settle,
    /// moves a courier
    Move,
    /// asks for the ten nearest within two kilometres
    Near,
    /// gives each player points, as many as there are keys
    Join,
    /// gives a player other points
    Score,
    /// asks for the first ten
    Top,
    /// asks for the rank of a player
    Around,
}

/// Steps in one request of a batch, and messages at a time over a socket.
pub const BATCH: usize = 64;
pub const PIPELINE: usize = 16;

/// A queue is filled by then.
const FILL_S: f64 = 600.0;

impl Kind {
    /// Steps that are answered together.
    pub fn width(self) -> usize {
        match self {
            Kind::Batch => BATCH,
            Kind::Socket => PIPELINE,
            _ => 1,
        }
    }

    /// Makes as many records as there are keys, and ends.
    fn prepares(self) -> bool {
        matches!(self, Kind::Fill | Kind::Settle | Kind::Join)
    }
}

pub fn run(settings: &Settings, kind: Kind) -> Result<String, String> {
    let threads = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let threads = threads.map_err(|e| e.to_string())?;
    threads.block_on(measure(settings, kind)).map_err(|error| error.to_string())
}

async fn measure(settings: &Settings, kind: Kind) -> std::io::Result<String> {
    let mut clients = Vec::new();
    for at in 0..settings.clients {
        let mut stream = TcpStream::connect(("127.0.0.1", settings.port)).await?;
        stream.set_nodelay(true)?;
        if kind == Kind::Socket {
            stream.write_all(UPGRADE).await?;
            answers::read_head(&mut stream, &mut Vec::new()).await?;
        }
        let rounds = match kind.prepares() {
            true => (settings.keys as usize).div_ceil(settings.clients),
            false => usize::MAX,
        };
        let requests = Requests::new(kind, settings.keys, at as u64 + 1, rounds as u64);
        let (took, answer) = (Vec::new(), Vec::new());
        clients.push(Client { stream, requests, kind, rounds, took, answer });
    }
    let ours = std::process::id();
    let begun = cpu_us(&settings.pids);
    let begun_here = cpu_us(&[ours]);
    let started = Instant::now();
    let seconds = if kind.prepares() { FILL_S } else { settings.seconds };
    let end = started + Duration::from_secs_f64(seconds);
    let tasks: Vec<_> = clients.into_iter().map(|client| tokio::spawn(client.run(end))).collect();
    let mut took = Vec::new();
    for task in tasks {
        took.extend(task.await.map_err(std::io::Error::other)??);
    }
    let seconds = started.elapsed().as_secs_f64();
    let cpu = cpu_us(&settings.pids) - begun;
    let cpu_here = cpu_us(&[ours]) - begun_here;
    took.sort_unstable();
    let count = (took.len() * kind.width()).max(1) as f64;
    let at = |share: f64| took.get((share * took.len() as f64) as usize).copied().unwrap_or(0);
    Ok(json!({
        "per_second": count / seconds,
        "cpu_us_each": cpu as f64 / count,
        "client_cpu_us_each": cpu_here as f64 / count,
        "p50_us": at(0.50),
        "p99_us": at(0.99),
        "bytes_each": 0,
    })
    .to_string())
}

struct Client {
    stream: TcpStream,
    requests: Requests,
    kind: Kind,
    /// the most that are made
    rounds: usize,
    /// how long each round took, in microseconds
    took: Vec<u32>,
    answer: Vec<u8>,
}

impl Client {
    async fn run(mut self, end: Instant) -> std::io::Result<Vec<u32>> {
        let mut now = Instant::now();
        while now < end && self.took.len() < self.rounds {
            let started = now;
            if self.kind == Kind::Take {
                self.stream.write_all(requests::CLAIM).await?;
                answers::read(&mut self.stream, &mut self.answer).await?;
            }
            self.stream.write_all(self.requests.next()).await?;
            match self.kind {
                Kind::Socket => {
                    answers::read_frames(&mut self.stream, &mut self.answer, PIPELINE).await?;
                }
                _ => {
                    let body = answers::read(&mut self.stream, &mut self.answer).await?;
                    if self.kind == Kind::Batch {
                        self.check(body)?;
                    }
                }
            }
            now = Instant::now();
            self.took.push((now - started).as_micros() as u32);
        }
        Ok(self.took)
    }

    /// Looking through every answer of every batch would cost more than half of the client: the
    /// first of each and all of every sixteenth are looked at.
    fn check(&self, body: usize) -> std::io::Result<()> {
        let answer = &self.answer[body..];
        let good = answer.starts_with(b"{\"answers\":[{\"status\":200,");
        let all = !self.took.len().is_multiple_of(16)
            || answer.windows(12).filter(|part| part == b"\"status\":200").count() == BATCH;
        if good && all {
            return Ok(());
        }
        Err(std::io::Error::other(String::from_utf8_lossy(answer).into_owned()))
    }
}

const UPGRADE: &[u8] = b"GET /v1/socket HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\n\
upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/// User and system time of processes.
fn cpu_us(pids: &[u32]) -> u64 {
    pids.iter().map(|pid| ticks(*pid)).sum::<u64>() * 10_000
}

fn ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<u64> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .map(|field| field.parse().unwrap_or(0))
        .collect();
    fields.get(11).copied().unwrap_or(0) + fields.get(12).copied().unwrap_or(0)
}
