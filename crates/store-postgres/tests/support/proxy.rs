//! Between a store and its database: cuts or holds back a commit on its way. Other crates' tests use this file as well.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What happens to the next request that commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trap {
    /// So many bytes of it pass; then both sides find the connection closed.
    Request(usize),
    /// It passes, and so many bytes of the answer.
    Answer(usize),
    /// It passes, and nothing of the answer ever does: the connection stays open.
    Silence,
    /// Whoever sent it finds the connection closed, and it passes when it is let go.
    Hold,
}

/// What a request that commits contains.
const COMMITS: &[u8] = b".commit_4(";

/// Bytes that are kept back, and where they go when they are let go.
type Held = Option<(TcpStream, Vec<u8>)>;

pub struct Proxy {
    pub port: u16,
    trap: Arc<Mutex<Option<Trap>>>,
    held: Arc<Mutex<Held>>,
}

impl Proxy {
    pub fn start(to: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let proxy = Proxy { port, trap: Arc::default(), held: Arc::default() };
        let (trap, held) = (Arc::clone(&proxy.trap), Arc::clone(&proxy.held));
        thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(client) = client else { return };
                let Ok(server) = TcpStream::connect(("127.0.0.1", to)) else { continue };
                let cut = Arc::new(Mutex::new(None));
                let (from, into) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                let seen = Arc::clone(&cut);
                thread::spawn(move || answers(from, into, &seen));
                let (trap, held) = (Arc::clone(&trap), Arc::clone(&held));
                thread::spawn(move || requests(client, server, &trap, &held, &cut));
            }
        });
        proxy
    }

    pub fn set(&self, trap: Trap) {
        *self.trap.lock().unwrap() = Some(trap);
    }

    /// Whether the trap was met.
    pub fn is_sprung(&self) -> bool {
        self.trap.lock().unwrap().is_none()
    }

    /// What was held back arrives.
    pub fn let_go(&self) {
        let (mut server, request) = self.held.lock().unwrap().take().expect("something is held");
        server.write_all(&request).unwrap();
        // until the database has closed or answered
        server.shutdown(Shutdown::Write).unwrap();
        let _ = server.read_to_end(&mut Vec::new());
    }
}

/// What becomes of the next answer on a connection.
#[derive(Clone, Copy)]
enum Fate {
    CutAfter(usize),
    Swallowed,
}

type Cut = Arc<Mutex<Option<Fate>>>;

fn requests(
    mut client: TcpStream,
    mut server: TcpStream,
    trap: &Mutex<Option<Trap>>,
    held: &Mutex<Held>,
    cut: &Cut,
) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = match client.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(count) => count,
        };
        let bytes = &buffer[..count];
        let commits = bytes.windows(COMMITS.len()).any(|part| part == COMMITS);
        let sprung = if commits { trap.lock().unwrap().take() } else { None };
        match sprung {
            Some(Trap::Request(most)) => {
                let _ = server.write_all(&bytes[..most.min(count)]);
                let _ = server.shutdown(Shutdown::Both);
                break;
            }
            Some(Trap::Hold) => {
                *held.lock().unwrap() = Some((server.try_clone().unwrap(), bytes.to_vec()));
                let _ = client.shutdown(Shutdown::Both);
                return;
            }
            Some(Trap::Answer(most)) => *cut.lock().unwrap() = Some(Fate::CutAfter(most)),
            Some(Trap::Silence) => *cut.lock().unwrap() = Some(Fate::Swallowed),
            None => {}
        }
        if server.write_all(bytes).is_err() {
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
}

fn answers(mut server: TcpStream, mut client: TcpStream, cut: &Cut) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = match server.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(count) => count,
        };
        match *cut.lock().unwrap() {
            None => {
                let _ = client.write_all(&buffer[..count]);
            }
            Some(Fate::Swallowed) => {}
            Some(Fate::CutAfter(most)) => {
                let _ = client.write_all(&buffer[..most.min(count)]);
                let _ = server.shutdown(Shutdown::Both);
                break;
            }
        }
    }
    let _ = client.shutdown(Shutdown::Both);
}
