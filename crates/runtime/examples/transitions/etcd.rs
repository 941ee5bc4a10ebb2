//! The same transition as a transaction of etcd, over its HTTP gateway: a put if the version of
//! the key is below a limit.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use store::Seeded;

use super::figures::{Figures, Load, Meter, PAYLOAD, Seen};

pub fn run(load: &Load, port: u16) -> Result<Figures, String> {
    let meter = Meter::new(load);
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..load.clients)
            .map(|number| {
                let meter = &meter;
                scope.spawn(move || {
                    let outcome = client(meter, load, port, number as u64);
                    outcome.map_err(|e| format!("etcd: {e}"))
                })
            })
            .collect();
        let measured = meter.measure(load, &|| 0);
        let seen = clients
            .into_iter()
            .map(|client| client.join().map_err(|_| "a client panicked".to_string())?)
            .collect::<Result<_, String>>()?;
        Figures::of(&measured, seen)
    })
}

fn client(meter: &Meter, load: &Load, port: u16, number: u64) -> std::io::Result<Seen> {
    let stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_nodelay(true)?;
    let mut answers = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    let (mut seeded, mut seen) = (Seeded::new(number), Seen::default());
    let value = base64(PAYLOAD.as_bytes());
    while meter.goes_on() {
        let key = base64(format!("register-{:08}", seeded.below(load.keys)).as_bytes());
        let body = format!(
            "{{\"compare\":[{{\"key\":\"{key}\",\"target\":\"VERSION\",\"result\":\"LESS\",\
             \"version\":\"1000000000\"}}],\"success\":[{{\"requestPut\":{{\"key\":\"{key}\",\
             \"value\":\"{value}\"}}}}]}}"
        );
        let head = format!(
            "POST /v3/kv/txn HTTP/1.1\r\nHost: etcd\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let begun = Instant::now();
        stream.write_all((head + &body).as_bytes())?;
        let answer = read_answer(&mut answers)?;
        if !answer.contains("\"succeeded\":true") {
            return Err(std::io::Error::other(answer));
        }
        meter.answered(begun, &mut seen);
    }
    Ok(seen)
}

fn read_answer(answers: &mut BufReader<TcpStream>) -> std::io::Result<String> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if answers.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().map_err(std::io::Error::other)?;
        }
    }
    let mut body = vec![0; length];
    answers.read_exact(&mut body)?;
    String::from_utf8(body).map_err(std::io::Error::other)
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for piece in bytes.chunks(3) {
        let three = [piece[0], *piece.get(1).unwrap_or(&0), *piece.get(2).unwrap_or(&0)];
        let bits = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        for at in 0..4 {
            if at <= piece.len() {
                text.push(LETTERS[(bits >> (18 - 6 * at) & 63) as usize] as char);
            } else {
                text.push('=');
            }
        }
    }
    text
}
