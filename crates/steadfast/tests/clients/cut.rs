//! A network between a client and a server that loses one answer: the request arrives and is carried out, and then the
//! connection is cut.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};

pub struct Network {
    pub url: String,
    shared: Arc<Shared>,
    /// an answer was lost
    pub lost: mpsc::Receiver<()>,
}

struct Shared {
    /// where the server is; none: it is not there
    server: Mutex<Option<String>>,
    /// the answer to the first request with these words in it is lost
    words: [&'static str; 2],
    is_armed: AtomicBool,
    lost: mpsc::Sender<()>,
}

impl Network {
    pub fn start(words: [&'static str; 2]) -> Network {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, lost) = mpsc::channel();
        let (server, is_armed) = (Mutex::new(None), AtomicBool::new(true));
        let shared = Arc::new(Shared { server, words, is_armed, lost: sender });
        let held = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&held);
                std::thread::spawn(move || shared.carry(stream));
            }
        });
        Network { url, shared, lost }
    }

    /// `server`: host and port.
    pub fn lead_to(&self, server: Option<&str>) {
        *self.shared.server.lock().unwrap() = server.map(str::to_string);
    }
}

impl Shared {
    fn carry(self: Arc<Shared>, client: TcpStream) -> Option<()> {
        let at = self.server.lock().unwrap().clone()?;
        let server = TcpStream::connect(at).ok()?;
        let loses = Arc::new(AtomicBool::new(false));
        let (mut back, mut from) = (client.try_clone().ok()?, server.try_clone().ok()?);
        let (shared, lost) = (Arc::clone(&self), Arc::clone(&loses));
        std::thread::spawn(move || {
            let mut bytes = [0; 16_384];
            while let Ok(count @ 1..) = from.read(&mut bytes) {
                if lost.load(Ordering::SeqCst) {
                    let _ = shared.lost.send(());
                    break;
                }
                if back.write_all(&bytes[..count]).is_err() {
                    break;
                }
            }
            let _ = back.shutdown(Shutdown::Both);
            let _ = from.shutdown(Shutdown::Both);
        });
        let mut to = server;
        let mut reader = BufReader::new(client);
        loop {
            let mut head = Vec::new();
            let mut length = 0;
            loop {
                let start = head.len();
                if reader.read_until(b'\n', &mut head).ok()? == 0 {
                    let _ = to.shutdown(Shutdown::Both);
                    return None;
                }
                let line = String::from_utf8_lossy(&head[start..]).to_lowercase();
                if let Some(told) = line.strip_prefix("content-length:") {
                    length = told.trim().parse().ok()?;
                }
                if line.trim().is_empty() {
                    break;
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).ok()?;
            head.extend(body);
            let text = String::from_utf8_lossy(&head);
            if self.words.iter().all(|word| text.contains(word))
                && self.is_armed.swap(false, Ordering::SeqCst)
            {
                loses.store(true, Ordering::SeqCst);
            }
            to.write_all(&head).ok()?;
        }
    }
}
