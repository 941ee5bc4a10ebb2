//! Content over HTTP, and steps that only messages call.

use std::time::{Duration, Instant};

use crate::support::{Client, TICKETS, config, serve, service};
use gateway::Collecting;
use serde_json::json;
use server::Config;

pub const GALLERY: &str = "\
design Gallery
actor painter
actor porter
blob Picture
subject Frame(frame: text) { truth FrameState { picture: Picture? } }
subject Room(room: text, house: text) at house { truth RoomState { frames: int = 0 } }
step painter[hang(frame: Frame, picture: Picture, room: Room) { uploaded: stored(picture) }] {
    FrameState.picture := picture
    send porter.carry(room)
}
step porter[carry(room: Room)] { RoomState.frames += 1 }
check { frame: 1 picture: 1 room: 1 house: 1 RoomState.frames: 0..1 }
";

pub const CONTENT: [(&str, &str); 1] = [("content-type", "application/octet-stream")];

#[test]
fn content_is_stored_referred_to_and_given_back() {
    let server = serve(vec![service("gallery", GALLERY), service("tickets", TICKETS)]);
    let mut client = Client::new(server.address());
    let hang = |digest: &str| json!({ "frame": "f", "picture": digest, "room": ["r", "h"] });
    let early = client.post("/v1/gallery/painter/hang", &hang(&"0".repeat(64)));
    assert_eq!((early.status, &early.json()["guard"]), (409, &json!("uploaded")));
    let stored = client.request("POST", "/v1/gallery/blobs", &CONTENT, "sunflowers");
    assert_eq!((stored.status, &stored.json()["bytes"]), (200, &json!(10)), "{stored:?}");
    let digest = stored.json()["digest"].as_str().unwrap().to_string();
    let again = client.request("POST", "/v1/gallery/blobs", &CONTENT, "sunflowers");
    assert_eq!(again.json()["digest"], digest.as_str());
    assert_eq!(client.post("/v1/gallery/painter/hang", &hang(&digest)).status, 200);
    let back = client.get(&format!("/v1/gallery/blobs/{digest}"));
    assert_eq!((back.status, back.text().as_str()), (200, "sunflowers"));
    assert_eq!(back.header("content-type"), Some("application/octet-stream"));

    let unsaid = client.post("/v1/gallery/blobs", &json!({}));
    assert_eq!(unsaid.status, 415, "a page of another origin could send that: {unsaid:?}");
    for path in ["/v1/gallery/blobs/none", "/v1/tickets/blobs/none"] {
        assert_eq!(client.get(path).status, 404, "{path}");
    }
    assert_eq!(client.request("POST", "/v1/tickets/blobs", &CONTENT, "x").status, 404);
    assert_eq!(client.get("/v1/gallery/blobs").header("allow"), Some("POST"));
    let paths = client.get("/openapi.json").json()["paths"].clone();
    assert!(paths["/v1/gallery/blobs"]["post"].is_object(), "{paths}");
    assert!(paths["/v1/tickets/blobs"].is_null(), "{paths}");
}

#[test]
fn what_messages_call_is_not_called_from_outside() {
    let server = serve(vec![service("gallery", GALLERY)]);
    let mut client = Client::new(server.address());
    let carried = client.post("/v1/gallery/porter/carry", &json!({ "room": ["r", "h"] }));
    assert_eq!(carried.status, 404, "{carried:?}");
    let document = client.get("/openapi.json").json();
    assert!(document["paths"]["/v1/gallery/porter/carry"].is_null());
    assert!(document["paths"]["/v1/gallery/painter/hang"].is_object());
}

fn upload(client: &mut Client, content: &str) -> String {
    let stored = client.request("POST", "/v1/gallery/blobs", &CONTENT, content);
    assert_eq!(stored.status, 200, "{stored:?}");
    stored.json()["digest"].as_str().unwrap().to_string()
}

#[test]
fn content_that_nothing_mentions_goes_after_its_grace() {
    let grace_ms = 2_500;
    let collecting = Some(Collecting { every_ms: 50, grace_ms });
    let services = vec![service("gallery", GALLERY), service("tickets", TICKETS)];
    let server = server::start(Config { collecting, ..config() }, services).unwrap();
    let mut client = Client::new(server.address());
    let status = |client: &mut Client, digest: &str| {
        client.get(&format!("/v1/gallery/blobs/{digest}")).status
    };
    let begun = Instant::now();
    let shown = upload(&mut client, "shown");
    let hang = json!({ "frame": "f", "picture": shown, "room": ["r", "h"] });
    assert_eq!(client.post("/v1/gallery/painter/hang", &hang).status, 200);
    let loose = upload(&mut client, "loose");
    let wanted = upload(&mut client, "wanted");
    // a second upload of what lies there unused: it has begun, and takes its time
    let mut slow = Client::new(server.address());
    slow.send(
        b"POST /v1/gallery/blobs HTTP/1.1\r\nhost: localhost\r\n\
          content-type: application/octet-stream\r\ncontent-length: 6\r\n\r\nwan",
    );
    assert_eq!(status(&mut client, &loose), 200, "it is not taken at once");
    while status(&mut client, &loose) != 404 || status(&mut client, &wanted) != 404 {
        assert!(begun.elapsed() < Duration::from_secs(30), "it is never taken");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(begun.elapsed() >= Duration::from_millis(grace_ms), "it was taken too early");
    slow.send(b"ted");
    assert_eq!(slow.answer(false).json()["digest"], wanted.as_str());
    assert_eq!(status(&mut client, &wanted), 200, "what was just stored is there");
    let hang = json!({ "frame": "g", "picture": wanted, "room": ["r", "h"] });
    assert_eq!(client.post("/v1/gallery/painter/hang", &hang).status, 200);
    // many collections later
    std::thread::sleep(Duration::from_millis(2 * grace_ms));
    assert_eq!((status(&mut client, &shown), status(&mut client, &wanted)), (200, 200));
    let metrics = client.get("/metrics").text();
    for line in [
        "steadfast_blobs_collected_total{design=\"gallery\"} 2",
        "steadfast_blobs{design=\"gallery\"} 2",
        "steadfast_blobs_failed_total{design=\"gallery\"} 0",
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
    assert!(!metrics.contains("steadfast_blobs{design=\"tickets\"}"), "it has none");
}
