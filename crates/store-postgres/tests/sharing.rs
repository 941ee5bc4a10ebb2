//! Several stores on one database, and what may stand in between.

use std::io::Write as _;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use store::{Commit, Cursor, Error, Key, Partition, Store, block_on, conformance};
use store_postgres::Postgres;

use crate::support::programs::program;
use crate::support::{fresh, open, shared};

fn increment(store: &Postgres) {
    let key = [Key::from("counter")];
    loop {
        let found = block_on(store.read(&key, None)).unwrap().records.remove(0);
        let (before, commit) = match found {
            Some(record) => {
                let before: u64 = String::from_utf8_lossy(&record.value).parse().unwrap();
                (before, Commit::new().expect("counter", record.version))
            }
            None => (0, Commit::new().absent("counter")),
        };
        let after = (before + 1).to_string();
        match block_on(store.commit(commit.put("counter", after.clone()).feed(after))) {
            Ok(_) => return,
            Err(Error::Conflict(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn two_stores_that_race_lose_nothing() {
    let server = shared();
    let address = server.address(&server.schema());
    let stores = [open(&address), open(&address)];
    thread::scope(|scope| {
        for client in 0..8 {
            let store = &stores[client % 2];
            scope.spawn(move || (0..40).for_each(|_| increment(store)));
        }
    });
    let start = Cursor::start(Partition::default());
    for store in &stores {
        let page = block_on(store.feed(start, 1_000)).unwrap();
        let told = page.commits.iter().flat_map(|commit| &commit.entries);
        let told: Vec<u64> = told.map(|it| String::from_utf8_lossy(it).parse().unwrap()).collect();
        assert_eq!(told, (1..=320).collect::<Vec<u64>>());
    }
}

#[test]
fn what_one_commits_the_other_hears_of_in_any_way_of_listening() {
    let server = shared();
    let address = server.address(&server.schema());
    let direct = format!("{address}&listen=127.0.0.1:{}", server.port);
    // whoever cannot listen polls; nobody answers there
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let deaf = format!("{address}&listen=127.0.0.1:{closed}");
    let listeners =
        [address.clone(), direct, format!("{address}&listen=off"), deaf].map(|it| open(&it));
    let speaker = open(&address);
    for n in 0..5 {
        let before = block_on(speaker.head(Partition::default())).unwrap();
        thread::scope(|scope| {
            let waiting: Vec<_> = listeners
                .iter()
                .map(|listener| scope.spawn(move || block_on(listener.changed(before))))
                .collect();
            let news = block_on(speaker.commit(Commit::new().put("n", n.to_string()))).unwrap();
            for waiting in waiting {
                assert!(waiting.join().unwrap().unwrap() >= news);
            }
        });
    }
}

#[test]
fn whoever_waits_for_news_is_told_that_the_store_is_closed() {
    let server = shared();
    let store = fresh(&server);
    let head = block_on(store.head(Partition::default())).unwrap();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| block_on(store.changed(head)));
        thread::sleep(Duration::from_millis(50));
        block_on(store.close()).unwrap();
        assert_eq!(waiting.join().unwrap(), Err(Error::Closed));
    });
}

/// In its mode `transaction`: a session is somebody else's with the next request.
struct Bouncer {
    process: Child,
    port: u16,
    folder: std::path::PathBuf,
}

impl Bouncer {
    fn start(to: u16) -> Bouncer {
        let bouncer = program("pgbouncer", &["/usr/sbin"], "pgbouncer");
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let name = format!("steadfast-bouncer-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let settings = folder.join("pgbouncer.ini");
        let mut file = std::fs::File::create(&settings).unwrap();
        write!(
            file,
            "[databases]\npostgres = host=127.0.0.1 port={to} user=steadfast pool_size=6\n[pgbouncer]\n\
             listen_addr=127.0.0.1\nlisten_port={port}\nunix_socket_dir=\nauth_type=any\n\
             pool_mode=transaction\nmax_client_conn=200\n"
        )
        .unwrap();
        let mut command = crate::support::database::as_user(&bouncer);
        command.arg(&settings).stdin(Stdio::null()).stdout(Stdio::null());
        let process = command.stderr(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(20), "pgbouncer does not answer");
            thread::sleep(Duration::from_millis(20));
        }
        Bouncer { process, port, folder }
    }
}

impl Drop for Bouncer {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.process.id().to_string()).status();
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn it_passes_the_suite_through_a_pooler_of_transactions() {
    let server = shared();
    let bouncer = Bouncer::start(server.port);
    conformance::run(&mut || {
        let address = server.address_at(bouncer.port, &server.schema());
        Box::new(open(&format!("{address}&listen=127.0.0.1:{}", server.port)))
    });
}
