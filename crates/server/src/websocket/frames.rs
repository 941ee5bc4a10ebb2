//! Frames: what came, read where it lies, and what is said, one behind the other.

use bytes::{Buf, BytesMut};

const FIN: u8 = 0x80;
const CONTINUED: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

const MASKED: u8 = 0x80;
const CONTROL_BYTES_MAX: usize = 125;

/// Why a connection ends, as the standard numbers it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wrong {
    pub code: u16,
    pub reason: &'static str,
}

const PROTOCOL: u16 = 1002;

/// A message of the other side.
#[derive(PartialEq, Eq, Debug)]
pub enum Came<'a> {
    Text(&'a str),
    Binary,
    /// to be answered with the same
    Ping(&'a [u8]),
    Pong,
    /// with the number that it gives as its reason
    Close(Option<u16>),
}

/// What was read and is still to be looked at.
pub struct Frames {
    pub read: BytesMut,
    /// so many bytes at its beginning were looked at
    past: usize,
    /// a message that comes in pieces: its kind, and what has come
    pieces: Option<(u8, Vec<u8>)>,
    /// pieces that were put together, while they are looked at
    whole: Vec<u8>,
    bytes_max: usize,
}

/// A frame that is there as a whole.
struct Frame {
    is_last: bool,
    kind: u8,
    start: usize,
    end: usize,
}

impl Frames {
    pub fn new(bytes_max: usize) -> Frames {
        let read = BytesMut::new();
        Frames { read, past: 0, pieces: None, whole: Vec::new(), bytes_max }
    }

    /// The next message; none: not all of it has come.
    pub fn next(&mut self) -> Result<Option<Came<'_>>, Wrong> {
        self.read.advance(std::mem::take(&mut self.past));
        loop {
            let Some(frame) = self.frame()? else { return Ok(None) };
            let Frame { is_last, kind, start, end } = frame;
            match (kind, is_last, &mut self.pieces) {
                (CLOSE | PING | PONG, ..) => {
                    self.past = end;
                    return control(kind, &self.read[start..end]).map(Some);
                }
                (TEXT | BINARY, true, None) => {
                    self.past = end;
                    return message(kind, &self.read[start..end]).map(Some);
                }
                (TEXT | BINARY, false, pieces @ None) => {
                    *pieces = Some((kind, self.read[start..end].to_vec()));
                }
                (CONTINUED, _, Some((kind, pieces))) => {
                    if pieces.len() + (end - start) > self.bytes_max {
                        return Err(too_large());
                    }
                    pieces.extend_from_slice(&self.read[start..end]);
                    if is_last {
                        let kind = *kind;
                        self.whole = self.pieces.take().map_or_else(Vec::new, |(_, all)| all);
                        self.past = end;
                        return message(kind, &self.whole).map(Some);
                    }
                }
                _ => return Err(wrong("a frame of a kind that does not belong here")),
            }
            self.read.advance(end);
        }
    }

    /// The frame at the beginning, with its mask taken off.
    fn frame(&mut self) -> Result<Option<Frame>, Wrong> {
        let [first, second, rest @ ..] = &*self.read else { return Ok(None) };
        let (is_last, kind) = (first & FIN != 0, first & 0x0f);
        let is_control = kind & 0x08 != 0;
        if first & 0x70 != 0 {
            return Err(wrong("a bit that was not agreed on"));
        }
        if second & MASKED == 0 {
            return Err(wrong("a frame without a mask"));
        }
        let (length, head) = match second & !MASKED {
            126 => match rest.first_chunk::<2>() {
                Some(bytes) => (u64::from(u16::from_be_bytes(*bytes)), 4),
                None => return Ok(None),
            },
            127 => match rest.first_chunk::<8>() {
                Some(bytes) => (u64::from_be_bytes(*bytes), 10),
                None => return Ok(None),
            },
            short => (u64::from(short), 2),
        };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if is_control && (length > CONTROL_BYTES_MAX || !is_last) {
            return Err(wrong("a control frame that is too long, or in pieces"));
        }
        if length > self.bytes_max {
            return Err(too_large());
        }
        let (start, end) = (head + 4, head + 4 + length);
        if self.read.len() < end {
            self.read.reserve(end - self.read.len());
            return Ok(None);
        }
        let (before, payload) = self.read[..end].split_at_mut(start);
        if let Some(mask) = before.last_chunk::<4>() {
            unmask(payload, *mask);
        }
        // what is looked at a second time has no mask any more
        self.read[head..start].fill(0);
        Ok(Some(Frame { is_last, kind, start, end }))
    }
}

fn unmask(payload: &mut [u8], mask: [u8; 4]) {
    if mask == [0; 4] {
        return;
    }
    let (words, rest) = payload.as_chunks_mut::<4>();
    for word in words {
        *word = (u32::from_ne_bytes(*word) ^ u32::from_ne_bytes(mask)).to_ne_bytes();
    }
    for (byte, mask) in rest.iter_mut().zip(mask) {
        *byte ^= mask;
    }
}

fn message(kind: u8, bytes: &[u8]) -> Result<Came<'_>, Wrong> {
    if kind == BINARY {
        return Ok(Came::Binary);
    }
    let text = std::str::from_utf8(bytes);
    text.map(Came::Text).map_err(|_| Wrong { code: 1007, reason: "a text that is not UTF-8" })
}

fn control(kind: u8, bytes: &[u8]) -> Result<Came<'_>, Wrong> {
    match (kind, bytes) {
        (PING, _) => Ok(Came::Ping(bytes)),
        (PONG, _) => Ok(Came::Pong),
        (_, []) => Ok(Came::Close(None)),
        (_, [high, low, reason @ ..]) => {
            let code = u16::from_be_bytes([*high, *low]);
            let is_code = matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999);
            if !is_code || std::str::from_utf8(reason).is_err() {
                return Err(wrong("a close for no reason"));
            }
            Ok(Came::Close(Some(code)))
        }
        _ => Err(wrong("a close with half a reason")),
    }
}

fn wrong(reason: &'static str) -> Wrong {
    Wrong { code: PROTOCOL, reason }
}

fn too_large() -> Wrong {
    Wrong { code: 1009, reason: "a message that is too large" }
}

/// Says a text.
pub fn text(out: &mut Vec<u8>, text: &[u8]) {
    put(out, TEXT, text);
}

pub fn pong(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, PONG, bytes);
}

/// Says that this is the end, and why.
pub fn close(out: &mut Vec<u8>, why: Option<(u16, &str)>) {
    let mut bytes = Vec::new();
    if let Some((code, reason)) = why {
        bytes.extend_from_slice(&code.to_be_bytes());
        bytes.extend_from_slice(reason.as_bytes());
    }
    put(out, CLOSE, &bytes);
}

fn put(out: &mut Vec<u8>, kind: u8, payload: &[u8]) {
    out.push(FIN | kind);
    match payload.len() {
        short @ ..=125 => out.push(short as u8),
        long => match u16::try_from(long) {
            Ok(long) => {
                out.push(126);
                out.extend_from_slice(&long.to_be_bytes());
            }
            Err(_) => {
                out.push(127);
                out.extend_from_slice(&(long as u64).to_be_bytes());
            }
        },
    }
    out.extend_from_slice(payload);
}

#[cfg(test)]
mod tests {
    use super::*;

    const MASK: [u8; 4] = [1, 2, 3, 4];

    fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        put(&mut bytes, 0, payload);
        bytes[0] = first;
        bytes[1] |= MASKED;
        let head = bytes.len() - payload.len();
        bytes.splice(head..head, MASK);
        for (at, byte) in bytes[head + 4..].iter_mut().enumerate() {
            *byte ^= MASK[at % 4];
        }
        bytes
    }

    fn frames(bytes: &[u8]) -> Frames {
        let mut frames = Frames::new(100_000);
        frames.read.extend_from_slice(bytes);
        frames
    }

    #[test]
    fn texts_of_every_length_come_whole_however_they_are_cut() {
        for length in [0, 1, 3, 125, 126, 1_000, 65_535, 65_536, 99_999] {
            let sent = "x".repeat(length);
            let bytes = frame(0x81, sent.as_bytes());
            let mut frames = Frames::new(100_000);
            for piece in bytes.chunks(bytes.len() / 3 + 1) {
                assert_eq!(frames.next(), Ok(None));
                frames.read.extend_from_slice(piece);
            }
            assert_eq!(frames.next(), Ok(Some(Came::Text(&sent))), "{length}");
            assert_eq!(frames.next(), Ok(None));
            assert!(frames.read.is_empty());
        }
    }

    #[test]
    fn messages_come_in_pieces_and_control_frames_between_them() {
        let mut bytes = frame(0x01, "ä".as_bytes().split_at(1).0);
        bytes.extend(frame(0x89, b"ping"));
        bytes.extend(frame(0x00, "ä".as_bytes().split_at(1).1));
        bytes.extend(frame(0x80, b"!"));
        bytes.extend(frame(0x82, b"binary"));
        bytes.extend(frame(0x8a, b""));
        bytes.extend(frame(0x88, &1000_u16.to_be_bytes()));
        bytes.extend(frame(0x88, b""));
        let mut frames = frames(&bytes);
        for expected in [
            Came::Ping(b"ping"),
            Came::Text("ä!"),
            Came::Binary,
            Came::Pong,
            Came::Close(Some(1000)),
            Came::Close(None),
        ] {
            assert_eq!(frames.next(), Ok(Some(expected)));
        }
        assert_eq!(frames.next(), Ok(None));
    }

    #[test]
    fn what_the_standard_forbids_ends_the_connection() {
        let large = vec![b'x'; 60_000];
        let mut too_much = frame(0x01, &large);
        too_much.extend(frame(0x80, &large));
        let mut twice = frame(0x01, b"a");
        twice.extend(frame(0x81, b"b"));
        for (bytes, code) in [
            (vec![0x81, 0x01, b'x'], 1002),
            (frame(0xc1, b"x"), 1002),
            (frame(0x83, b"x"), 1002),
            (frame(0x80, b"x"), 1002),
            (frame(0x09, b"x"), 1002),
            (frame(0x89, &[b'x'; 126]), 1002),
            (frame(0x88, b"x"), 1002),
            (frame(0x88, &1005_u16.to_be_bytes()), 1002),
            (twice, 1002),
            (frame(0x81, &[0xff]), 1007),
            (frame(0x81, &vec![b'x'; 100_001]), 1009),
            (too_much, 1009),
        ] {
            let mut frames = frames(&bytes);
            let said = frames.next().map_err(|wrong| wrong.code);
            assert_eq!(said, Err(code), "{:?}", &bytes[..2]);
        }
    }

    #[test]
    fn a_length_that_nobody_means_to_send_takes_no_room() {
        let mut frames = frames(&[0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
        assert_eq!(frames.next().map_err(|wrong| wrong.code), Err(1009));
    }
}
