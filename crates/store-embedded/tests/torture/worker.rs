//! The process that is killed: clients that count, and a line for every commit that is
//! acknowledged.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use store::{Decision, LocalStore, Store, block_on};
use store_embedded::{Embedded, Options};

pub const CLIENTS: u64 = 8;
pub const MARK: &str = "@ ";

/// Each client counts its own counter up, one commit at a time, and a counter that all share. It
/// prints `client count total` when a commit is acknowledged, and goes on where the store is.
pub fn work(directory: &Path) {
    let options = Options { snapshot_after_bytes: 256 << 10, ..Options::small() };
    let store = Embedded::open(directory, options).expect("the store opens after every kill");
    let output = Mutex::new(BufWriter::new(io::stdout()));
    let head = block_on(store.head(Default::default())).expect("a head").position();
    say(&output, &format!("open {head}"));
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (store, output) = (&store, &output);
            scope.spawn(move || {
                loop {
                    let (count, total) = count_up(store, client);
                    say(output, &format!("{client} {count} {total}"));
                }
            });
        }
    });
}

fn count_up(store: &Embedded, client: u64) -> (u64, u64) {
    let own = format!("client/{client}");
    let mut counted = (0, 0);
    let ticket = store.transact(&mut |transaction| {
        let number = |key: &[u8]| {
            let value = transaction.get(key).map(|(_, value)| value.try_into());
            value.map_or(0, |bytes| u64::from_le_bytes(bytes.expect("eight bytes")))
        };
        counted = (number(own.as_bytes()) + 1, number(b"total") + 1);
        transaction.put(own.as_bytes(), &counted.0.to_le_bytes());
        transaction.put(b"total", &counted.1.to_le_bytes());
        transaction.put(format!("filler/{}", counted.1 % 500).as_bytes(), &[b'x'; 200]);
        transaction.feed(format!("{client} {}", counted.0).as_bytes());
        Decision::Commit
    });
    ticket.and_then(|ticket| ticket.wait()).expect("a disk that works");
    counted
}

/// One line, out of this process before anything else happens.
fn say(output: &Mutex<BufWriter<io::Stdout>>, line: &str) {
    let mut output = output.lock().expect("an output");
    // The mark tells it from what the test's own harness prints.
    writeln!(output, "\n{MARK}{line}").and_then(|()| output.flush()).expect("someone who listens");
}
