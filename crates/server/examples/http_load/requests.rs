//! What is sent: made once, with room for the keys, which change from request to request.

use crate::client::{BATCH, Kind, PIPELINE};

const VALUE: &str = "sixty-four bytes of payload, written again with every transition..";
const LIMIT: i64 = 1_000_000_000;
/// A key has so many places: numbers are padded with spaces, texts with leading zeros.
const PLACES: usize = 9;
const HOLE: &str = "#########";
/// A place that is not filled: of a number in an address, which has one spelling, it is left out.
const EMPTY: u8 = b'#';
/// Any nine digits, as they stand behind a point.
const DIGITS: &str = "$$$$$$$$$";

/// Takes the next job of the queue.
pub const CLAIM: &[u8] = b"POST /v1/work/worker/claim HTTP/1.1\r\nhost: localhost\r\n\
content-type: application/json\r\ncontent-length: 16\r\n\r\n{\"queue\":\"mail\"}";

pub struct Requests {
    bytes: Vec<u8>,
    /// where keys stand
    holes: Vec<usize>,
    /// where any digits stand
    digits: Vec<usize>,
    dice: Chance,
    /// what a short key is filled up with
    filler: u8,
    /// the request without places that are not filled
    short: Vec<u8>,
    keys: u64,
    next: Next,
}

/// The keys that stand in the requests.
enum Next {
    Chance(Chance),
    /// one after the other: each is new
    New(u64),
}

impl Requests {
    /// `seed`: another for each client, from 1; a client that makes new keys makes at most `rounds` of them.
    pub fn new(kind: Kind, keys: u64, seed: u64, rounds: u64) -> Requests {
        let bytes = template(kind, seed);
        let places = |hole: &str| -> Vec<usize> {
            let all = bytes.windows(PLACES).enumerate();
            all.filter(|(_, part)| *part == hole.as_bytes()).map(|(at, _)| at).collect()
        };
        let (holes, digits) = (places(HOLE), places(DIGITS));
        let filler = match kind {
            Kind::Restate | Kind::Fill | Kind::Take => b'0',
            Kind::Around => EMPTY,
            _ => b' ',
        };
        let next = match kind {
            Kind::Fill | Kind::Take => Next::New(0),
            Kind::Settle | Kind::Join => Next::New((seed - 1).saturating_mul(rounds)),
            _ => Next::Chance(Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)),
        };
        let dice = Chance(seed.wrapping_mul(0xd134_2543_de82_ef95) | 1);
        Requests { bytes, holes, digits, dice, filler, short: Vec::new(), keys, next }
    }

    /// The next one, with other keys.
    pub fn next(&mut self) -> &[u8] {
        for hole in &self.holes {
            let mut key = match &mut self.next {
                Next::Chance(chance) => chance.next() % self.keys,
                Next::New(number) => {
                    *number += 1;
                    *number - 1
                }
            };
            let place = &mut self.bytes[*hole..*hole + PLACES];
            place.fill(self.filler);
            for digit in place.iter_mut().rev() {
                *digit = b'0' + (key % 10) as u8;
                key /= 10;
                if key == 0 {
                    break;
                }
            }
        }
        for place in &self.digits {
            let digits = format!("{:0PLACES$}", self.dice.next() % 1_000_000_000);
            self.bytes[*place..*place + PLACES].copy_from_slice(digits.as_bytes());
        }
        if self.filler != EMPTY {
            return &self.bytes;
        }
        self.short.clear();
        self.short.extend(self.bytes.iter().filter(|byte| **byte != EMPTY));
        &self.short
    }
}

fn template(kind: Kind, client: u64) -> Vec<u8> {
    let step = format!("{{\"register\":{HOLE},\"limit\":{LIMIT},\"value\":\"{VALUE}\"}}");
    match kind {
        Kind::Bare => request("/", &step),
        Kind::Http => request("/v1/registers/writer/write", &step),
        Kind::Restate => {
            let body = format!("{{\"limit\":{LIMIT},\"value\":\"{VALUE}\"}}");
            request(&format!("/Register/{HOLE}/write"), &body)
        }
        Kind::Batch => {
            let step =
                format!("{{\"actor\":\"writer\",\"operation\":\"write\",\"params\":{step}}}");
            let steps = vec![step; BATCH].join(",");
            request("/v1/registers/batch", &format!("{{\"steps\":[{steps}]}}"))
        }
        Kind::Fill | Kind::Take => {
            // a job has a name that no other process and no other client gives
            let process = std::process::id();
            let job = format!("{{\"job\":\"{process}-{client}-{HOLE}\",\"queue\":\"mail\"}}");
            request("/v1/work/client/ask", &job)
        }
        Kind::Settle | Kind::Move => {
            let at = format!("[0.{DIGITS},0.{DIGITS}]");
            request("/v1/places/rider/move", &format!("{{\"courier\":{HOLE},\"at\":{at}}}"))
        }
        Kind::Near => get(&format!("/v1/places/views/Nearest?here=0.{DIGITS},0.{DIGITS}")),
        Kind::Join | Kind::Score => {
            // a number does not begin with a zero
            let points = format!("1{DIGITS}");
            request("/v1/board/game/score", &format!("{{\"player\":{HOLE},\"points\":{points}}}"))
        }
        Kind::Top => get("/v1/board/views/Best?limit=10"),
        Kind::Around => get(&format!("/v1/board/views/Best?limit=1&around={HOLE}")),
        Kind::Socket => (0..PIPELINE).flat_map(|id| message(id, &step)).collect(),
    }
}

fn get(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").into_bytes()
}

fn request(path: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// A masked text of 126 to 65,535 bytes; a mask of zeros leaves it as it is.
fn message(id: usize, step: &str) -> Vec<u8> {
    let text = format!(
        "{{\"id\":{id},\"design\":\"registers\",\"actor\":\"writer\",\"operation\":\"write\",\
         \"params\":{step}}}"
    );
    let mut frame = vec![0x81, 0x80 | 126];
    frame.extend_from_slice(&(text.len() as u16).to_be_bytes());
    frame.extend_from_slice(&[0; 4]);
    frame.extend_from_slice(text.as_bytes());
    frame
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
