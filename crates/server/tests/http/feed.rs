//! Following the feed.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::support::{Client, TICKETS, config, service, service_on, tickets};
use serde_json::{Value, json};

/// What a browser's EventSource does, and no more: it keeps the last id, and says it when it comes
/// back.
struct EventSource {
    address: SocketAddr,
    path: String,
    last_id: Option<String>,
    connection: Option<Client>,
}

impl EventSource {
    fn new(address: SocketAddr, path: &str) -> EventSource {
        EventSource { address, path: path.into(), last_id: None, connection: None }
    }

    fn lose_connection(&mut self) {
        self.connection = None;
    }

    fn open(&mut self) -> &mut Client {
        let (address, path, last) = (self.address, &self.path, &self.last_id);
        self.connection.get_or_insert_with(|| {
            let mut client = Client::new(address);
            let last = last.as_ref().map_or(String::new(), |id| format!("last-event-id: {id}\r\n"));
            client.send(format!("GET {path} HTTP/1.1\r\nhost: x\r\n{last}\r\n").as_bytes());
            let (status, headers) = client.head();
            assert_eq!(status, 200, "{headers:?}");
            let media = headers.iter().find(|(name, _)| name == "content-type");
            assert_eq!(media.map(|(_, value)| value.as_str()), Some("text/event-stream"));
            client
        })
    }

    /// The data of the next event; lost connections are made anew.
    fn next(&mut self) -> Value {
        loop {
            let Some(event) = self.open().event() else {
                self.lose_connection();
                continue;
            };
            let field = |name: &str| {
                event.iter().find(|(its, _)| its == name).map(|(_, value)| value.as_str())
            };
            if let Some(id) = field("id") {
                self.last_id = Some(id.to_string());
            }
            if let Some(data) = field("data") {
                assert_eq!(field("event"), Some("transition"));
                return serde_json::from_str(data).unwrap();
            }
        }
    }
}

#[test]
fn a_client_that_loses_its_connection_misses_nothing_and_sees_nothing_twice() {
    let server = tickets();
    let address = server.address();
    let mut source = EventSource::new(address, "/v1/tickets/feed?from=start");
    source.open();
    const SEATS: usize = 400;
    let writer = thread::spawn(move || {
        let mut client = Client::new(address);
        for at in 0..SEATS {
            let body = json!({ "seat": format!("A{at}"), "section": "s" });
            assert_eq!(client.post("/v1/tickets/organizer/add_seat", &body).status, 200);
        }
    });
    for at in 0..SEATS {
        let transition = source.next();
        assert_eq!(transition["changes"][0]["key"], json!([format!("A{at}")]), "in order");
        assert_eq!(transition["operation"], "add_seat");
        assert_eq!(transition["revision"].as_str(), source.last_id.as_deref());
        if at % 37 == 0 {
            source.lose_connection();
        }
    }
    writer.join().unwrap();
}

/// They share the pages that they are told, wherever they begin and however often they come back.
#[test]
fn many_who_follow_are_told_everything_each_in_order() {
    let server = tickets();
    let address = server.address();
    const SEATS: usize = 300;
    let followers: Vec<_> = (0..40)
        .map(|follower| {
            thread::spawn(move || {
                let narrow = if follower % 8 == 0 { "&subject=Seat" } else { "" };
                let path = format!("/v1/tickets/feed?from=start{narrow}");
                let mut source = EventSource::new(address, &path);
                for at in 0..SEATS {
                    let transition = source.next();
                    let key = json!([format!("A{at}")]);
                    assert_eq!(transition["changes"][0]["key"], key, "follower {follower}");
                    if follower > 0 && at % (follower + 20) == 0 {
                        source.lose_connection();
                    }
                }
            })
        })
        .collect();
    let mut client = Client::new(address);
    for at in 0..SEATS {
        let body = json!({ "seat": format!("A{at}"), "section": "s" });
        assert_eq!(client.post("/v1/tickets/organizer/add_seat", &body).status, 200);
    }
    followers.into_iter().for_each(|follower| follower.join().unwrap());
}

/// A network that cuts every connection after so many bytes of the answer, wherever that is.
fn cutting(server: SocketAddr, mut bytes: usize) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let cuts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&cuts);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (Ok(mut client), Ok(mut upstream)) = (stream, TcpStream::connect(server)) else {
                return;
            };
            // all that a follower sends is the head of its request
            let mut head = [0; 4096];
            let length = client.read(&mut head).unwrap_or(0);
            let _ = upstream.write_all(&head[..length]);
            let _ = std::io::copy(&mut (&upstream).take(bytes as u64), &mut client);
            let _ = upstream.shutdown(Shutdown::Both);
            let _ = client.shutdown(Shutdown::Both);
            counted.fetch_add(1, Ordering::Relaxed);
            // in the middle of a line, of an event, of a number
            bytes = bytes * 7 % 4_999 + 600;
        }
    });
    (address, cuts)
}

#[test]
fn a_connection_that_is_cut_in_the_middle_of_an_event_costs_nothing() {
    let server = tickets();
    let (network, cuts) = cutting(server.address(), 900);
    let mut source = EventSource::new(network, "/v1/tickets/feed?from=start");
    const SEATS: usize = 300;
    let address = server.address();
    let writer = thread::spawn(move || {
        let mut client = Client::new(address);
        for at in 0..SEATS {
            let body = json!({ "seat": format!("A{at}"), "section": "s" });
            assert_eq!(client.post("/v1/tickets/organizer/add_seat", &body).status, 200);
        }
    });
    for at in 0..SEATS {
        let transition = source.next();
        assert_eq!(transition["changes"][0]["key"], json!([format!("A{at}")]), "in order");
    }
    writer.join().unwrap();
    assert!(cuts.load(Ordering::Relaxed) >= 20, "{cuts:?} cuts");
}

#[test]
fn a_feed_can_be_narrowed_to_a_subject_and_a_key() {
    let server = tickets();
    let mut client = Client::new(server.address());
    for seat in ["A1", "A2"] {
        let body = json!({ "seat": seat, "section": "s" });
        client.post("/v1/tickets/organizer/add_seat", &body);
    }
    let mut bookings =
        EventSource::new(server.address(), "/v1/tickets/feed?from=start&subject=Booking");
    let mut second =
        EventSource::new(server.address(), "/v1/tickets/feed?from=start&subject=Seat&key=A2");
    assert_eq!(second.next()["operation"], "add_seat");
    let hold = json!({ "seat": "A2", "booking": "b" });
    assert_eq!(client.post("/v1/tickets/buyer/hold", &hold).status, 200);
    let told = bookings.next();
    let changes = told["changes"].as_array().unwrap();
    assert!(!changes.is_empty() && changes.iter().all(|change| change["subject"] == "Booking"));
    assert_eq!(second.next()["operation"], "hold");
    for (query, status) in [
        ("subject=Nothing", 422),
        ("key=A1", 422),
        ("from=yesterday", 422),
        ("from=0-999999", 400),
        ("until=now", 422),
    ] {
        assert_eq!(client.get(&format!("/v1/tickets/feed?{query}")).status, status, "{query}");
    }
}

#[test]
fn below_the_floor_the_client_is_told_where_to_begin() {
    let store = Arc::new(store::Memory::new());
    let server =
        server::start(config(), vec![service_on("tickets", TICKETS, store.clone())]).unwrap();
    let mut client = Client::new(server.address());
    for at in 0..5 {
        let body = json!({ "seat": format!("A{at}"), "section": "s" });
        client.post("/v1/tickets/organizer/add_seat", &body);
    }
    let head = store::block_on(store::Store::head(&*store, store::Partition::default())).unwrap();
    let floor = store::block_on(store::Store::trim(&*store, head)).unwrap();
    let answer = client.get("/v1/tickets/feed?from=0-1");
    assert_eq!(answer.status, 410, "{answer:?}");
    assert_eq!(answer.json()["floor"], floor.to_string());
    // who asks for the beginning means that of what is kept
    let mut source = EventSource::new(server.address(), "/v1/tickets/feed?from=start");
    let following = source.open();
    client.post("/v1/tickets/organizer/add_seat", &json!({ "seat": "B", "section": "s" }));
    let told = loop {
        let event = following.event().expect("the feed goes on");
        if let Some((_, data)) = event.into_iter().find(|(field, _)| field == "data") {
            break data;
        }
    };
    assert!(told.contains("\"B\""), "{told}");
}

#[test]
fn a_quiet_feed_gives_a_sign_of_life_and_a_stalled_reader_is_let_go() {
    let mut config = config();
    config.limits.heartbeat_ms = 20;
    config.limits.stall_ms_max = 100;
    let server = server::start(config, vec![service("tickets", TICKETS)]).unwrap();
    let address = server.address();
    let mut source = EventSource::new(address, "/v1/tickets/feed");
    for _ in 0..3 {
        let event = source.open().event().unwrap();
        let id = event.iter().find(|(field, _)| field == "id");
        source.last_id = Some(id.unwrap_or_else(|| panic!("{event:?}")).1.clone());
    }
    source.lose_connection();
    // who comes back to where a sign of life said it was misses nothing
    let seat = json!({ "seat": "A", "section": "s" });
    Client::new(address).post("/v1/tickets/organizer/add_seat", &seat);
    assert_eq!(source.next()["changes"][0]["key"], json!(["A"]));
    source.lose_connection();
    let mut stalled = EventSource::new(address, "/v1/tickets/feed?from=start");
    stalled.open();
    let mut client = Client::new(address);
    // far more than the buffers of a connection hold
    let section = "s".repeat(100_000);
    for at in 0..120 {
        let body = json!({ "seat": format!("A{at}"), "section": section });
        client.post("/v1/tickets/organizer/add_seat", &body);
    }
    for _ in 0..200 {
        if client.get("/metrics").text().contains("steadfast_followers 0\n") {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("a reader that does not read is still followed for");
}
