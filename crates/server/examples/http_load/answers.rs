//! What comes back. Anything but a step that was carried out ends the measurement.

use std::io::{Error, Result};

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

/// Reads until the head has ended; what was read beyond it stays behind it. Gives its length.
pub async fn read_head(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<usize> {
    buffer.clear();
    let mut seen = 0;
    loop {
        if let Some(at) = buffer[seen..].windows(4).position(|window| window == b"\r\n\r\n") {
            return Ok(seen + at + 4);
        }
        seen = buffer.len().saturating_sub(3);
        more(stream, buffer).await?;
    }
}

/// Reads one answer; gives where its body begins.
pub async fn read(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<usize> {
    let head = read_head(stream, buffer).await?;
    let length = length(&buffer[..head]);
    let Some(length) = length.filter(|_| buffer.starts_with(b"HTTP/1.1 200")) else {
        return Err(Error::other(String::from_utf8_lossy(buffer).into_owned()));
    };
    while buffer.len() < head + length {
        more(stream, buffer).await?;
    }
    Ok(head)
}

fn length(head: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"content-length:";
    let line = head.split(|byte| *byte == b'\n').find(|line| {
        line.get(..NAME.len()).is_some_and(|start| start.eq_ignore_ascii_case(NAME))
    })?;
    std::str::from_utf8(&line[NAME.len()..]).ok()?.trim().parse().ok()
}

/// Reads so many texts of a WebSocket.
pub async fn read_frames(stream: &mut TcpStream, buffer: &mut Vec<u8>, count: usize) -> Result<()> {
    buffer.clear();
    let (mut at, mut read) = (0, 0);
    while read < count {
        match frame(&buffer[at..]) {
            None => more(stream, buffer).await?,
            Some((head, end)) => {
                let text = &buffer[at + head..at + end];
                // it stands right behind the identity
                let start = &text[..text.len().min(32)];
                if !start.windows(12).any(|part| part == b"\"status\":200") {
                    return Err(Error::other(String::from_utf8_lossy(text).into_owned()));
                }
                at += end;
                read += 1;
            }
        }
    }
    Ok(())
}

/// Where the text of the first frame begins and ends; none: it has not come whole.
fn frame(bytes: &[u8]) -> Option<(usize, usize)> {
    let (head, length) = match bytes {
        [_, 126, high, low, ..] => (4, usize::from(u16::from_be_bytes([*high, *low]))),
        [_, short @ 0..126, ..] => (2, usize::from(*short)),
        _ => return None,
    };
    (bytes.len() >= head + length).then_some((head, head + length))
}

async fn more(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<()> {
    buffer.reserve(16 << 10);
    match stream.read_buf(buffer).await? {
        0 => Err(Error::other("the server closed the connection")),
        _ => Ok(()),
    }
}
