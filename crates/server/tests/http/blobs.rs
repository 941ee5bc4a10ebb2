//! Content over HTTP, and steps that only messages call.

use crate::support::{Client, TICKETS, serve, service};
use serde_json::json;

const GALLERY: &str = "\
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

const CONTENT: [(&str, &str); 1] = [("content-type", "application/octet-stream")];

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
