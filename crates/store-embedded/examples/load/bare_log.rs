//! A write-ahead log and nothing else: bytes are appended, synced together and answered.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};

use store::{Error, Progress};

use crate::clients::Durable;

const FILE_BYTES: u64 = 64 << 20;

pub struct BareLog {
    shared: Arc<Shared>,
    writer: Option<JoinHandle<()>>,
}

struct Shared {
    pending: Mutex<Pending>,
    work: Condvar,
    progress: Arc<Progress>,
}

#[derive(Default)]
struct Pending {
    bytes: Vec<u8>,
    position: u64,
    closed: bool,
}

impl BareLog {
    pub fn create(path: &Path) -> Self {
        let options = OpenOptions::new().write(true).create(true).truncate(true).clone();
        let file = options.open(path).expect("a file");
        let zeros = [0; 4 << 10];
        for offset in (0..FILE_BYTES).step_by(zeros.len()) {
            file.write_all_at(&zeros, offset).expect("room");
        }
        file.sync_all().expect("a sync");
        let shared = Arc::new(Shared {
            pending: Mutex::default(),
            work: Condvar::new(),
            progress: Arc::new(Progress::new(0)),
        });
        let writer = Some(thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.write(&file)
        }));
        BareLog { shared, writer }
    }

    pub fn append(&self, bytes: usize) -> u64 {
        let mut pending = self.shared.pending.lock().expect("a lock");
        if pending.bytes.is_empty() {
            self.shared.work.notify_one();
        }
        let length = pending.bytes.len() + bytes;
        pending.bytes.resize(length, b'x');
        pending.position += 1;
        pending.position
    }
}

impl Shared {
    fn write(&self, file: &File) {
        let mut offset = 0;
        let mut buffer = Vec::new();
        loop {
            let mut pending = self.pending.lock().expect("a lock");
            while pending.bytes.is_empty() && !pending.closed {
                pending = self.work.wait(pending).expect("a lock");
            }
            if pending.bytes.is_empty() {
                return;
            }
            buffer.clear();
            std::mem::swap(&mut buffer, &mut pending.bytes);
            let position = pending.position;
            drop(pending);
            if offset + buffer.len() as u64 > FILE_BYTES {
                offset = 0;
            }
            file.write_all_at(&buffer, offset).expect("room");
            file.sync_data().expect("a sync");
            offset += buffer.len() as u64;
            self.progress.advance(position);
        }
    }
}

impl Durable for BareLog {
    fn progress(&self) -> &Arc<Progress> {
        &self.shared.progress
    }
}

impl Drop for BareLog {
    fn drop(&mut self) {
        self.shared.pending.lock().expect("a lock").closed = true;
        self.shared.work.notify_one();
        if let Some(writer) = self.writer.take() {
            writer.join().expect("the writer panicked");
        }
        self.shared.progress.fail(Error::Closed);
    }
}
