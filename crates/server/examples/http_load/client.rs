//! Clients: each sends, waits for all answers, and sends again.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::Settings;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Bare,
    Http,
    Batch,
    Socket,
}

/// Steps in one request of a batch, and messages at a time over a socket.
const BATCH: usize = 64;
const PIPELINE: usize = 16;
const VALUE: &str = "sixty-four bytes of payload, written again with every transition..";
const LIMIT: i64 = 1_000_000_000;

impl Kind {
    /// Steps that are answered together.
    fn width(self) -> usize {
        match self {
            Kind::Bare | Kind::Http => 1,
            Kind::Batch => BATCH,
            Kind::Socket => PIPELINE,
        }
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
            read_head(&mut stream, &mut Vec::new()).await?;
        }
        clients.push((stream, Chance(at as u64 * 0x9e37_79b9_7f4a_7c15 + 1)));
    }
    let before = cpu_us(settings.pid);
    let started = Instant::now();
    let end = started + Duration::from_secs_f64(settings.seconds);
    let tasks: Vec<_> = clients
        .into_iter()
        .map(|(stream, chance)| tokio::spawn(client(stream, chance, settings.keys, kind, end)))
        .collect();
    let mut took = Vec::new();
    for task in tasks {
        took.extend(task.await.map_err(std::io::Error::other)??);
    }
    let seconds = started.elapsed().as_secs_f64();
    let cpu = cpu_us(settings.pid) - before;
    took.sort_unstable();
    let count = (took.len() * kind.width()).max(1) as f64;
    let at = |share: f64| took.get((share * took.len() as f64) as usize).copied().unwrap_or(0);
    Ok(json!({
        "per_second": count / seconds,
        "cpu_us_each": cpu as f64 / count,
        "p50_us": at(0.50),
        "p99_us": at(0.99),
        "bytes_each": 0,
    })
    .to_string())
}

/// How long each round took, in microseconds.
async fn client(
    mut stream: TcpStream,
    mut chance: Chance,
    keys: u64,
    kind: Kind,
    end: Instant,
) -> std::io::Result<Vec<u64>> {
    let mut took = Vec::new();
    let mut request = Vec::new();
    let mut answer = Vec::new();
    while Instant::now() < end {
        request.clear();
        write_request(&mut request, kind, keys, &mut chance);
        let started = Instant::now();
        stream.write_all(&request).await?;
        match kind {
            Kind::Socket => {
                answer.clear();
                for _ in 0..PIPELINE {
                    read_frame(&mut stream, &mut answer).await?;
                }
            }
            _ => read_answer(&mut stream, &mut answer).await?,
        }
        took.push(started.elapsed().as_micros() as u64);
    }
    Ok(took)
}

fn write_request(out: &mut Vec<u8>, kind: Kind, keys: u64, chance: &mut Chance) {
    let step = |chance: &mut Chance| {
        let key = chance.next() % keys;
        format!("{{\"register\":{key},\"limit\":{LIMIT},\"value\":\"{VALUE}\"}}")
    };
    let (path, body) = match kind {
        Kind::Bare => ("/", step(chance)),
        Kind::Http => ("/v1/registers/writer/write", step(chance)),
        Kind::Batch => {
            let steps: Vec<String> = (0..BATCH)
                .map(|_| {
                    let params = step(chance);
                    format!("{{\"actor\":\"writer\",\"operation\":\"write\",\"params\":{params}}}")
                })
                .collect();
            ("/v1/registers/batch", format!("{{\"steps\":[{}]}}", steps.join(",")))
        }
        Kind::Socket => {
            for id in 0..PIPELINE {
                let params = step(chance);
                let text = format!(
                    "{{\"id\":{id},\"design\":\"registers\",\"actor\":\"writer\",\
                     \"operation\":\"write\",\"params\":{params}}}"
                );
                // a masked text of 126 to 65,535 bytes; a mask of zeros leaves it as it is
                out.extend_from_slice(&[0x81, 0x80 | 126]);
                out.extend_from_slice(&(text.len() as u16).to_be_bytes());
                out.extend_from_slice(&[0; 4]);
                out.extend_from_slice(text.as_bytes());
            }
            return;
        }
    };
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(body.as_bytes());
}

const UPGRADE: &[u8] = b"GET /v1/socket HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\n\
upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/// Reads until the head has ended; what was read beyond it stays behind it. Gives its length.
async fn read_head(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> std::io::Result<usize> {
    buffer.clear();
    loop {
        if let Some(at) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            return Ok(at + 4);
        }
        if stream.read_buf(buffer).await? == 0 {
            return Err(std::io::Error::other("the server closed the connection"));
        }
    }
}

async fn read_answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> std::io::Result<()> {
    let head = read_head(stream, buffer).await?;
    let text = String::from_utf8_lossy(&buffer[..head]).to_lowercase();
    if !text.starts_with("http/1.1 200") {
        return Err(std::io::Error::other(text));
    }
    let length = text.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
    let length: usize = length.and_then(|text| text.parse().ok()).unwrap_or(0);
    while buffer.len() < head + length {
        if stream.read_buf(buffer).await? == 0 {
            return Err(std::io::Error::other("the answer broke off"));
        }
    }
    Ok(())
}

/// Takes one frame off the front of the buffer, reading more if it must.
async fn read_frame(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> std::io::Result<()> {
    loop {
        if let [_, length, rest @ ..] = buffer.as_slice() {
            let (head, length) = match (length & 0x7f, rest) {
                (126, [high, low, ..]) => (4, usize::from(u16::from_be_bytes([*high, *low]))),
                (126, _) => (usize::MAX, 0),
                (short, _) => (2, usize::from(short)),
            };
            if head != usize::MAX && buffer.len() >= head + length {
                if !buffer[head..head + length].windows(12).any(|part| part == b"\"status\":200") {
                    let text = String::from_utf8_lossy(&buffer[head..head + length]).into_owned();
                    return Err(std::io::Error::other(text));
                }
                buffer.drain(..head + length);
                return Ok(());
            }
        }
        if stream.read_buf(buffer).await? == 0 {
            return Err(std::io::Error::other("the server closed the socket"));
        }
    }
}

/// User and system time of a process.
fn cpu_us(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<u64> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .map(|field| field.parse().unwrap_or(0))
        .collect();
    let ticks = fields.get(11).copied().unwrap_or(0) + fields.get(12).copied().unwrap_or(0);
    ticks * 10_000
}

struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
