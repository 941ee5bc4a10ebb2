//! Steps and truth over HTTP.

use crate::support::{Client, tickets};
use serde_json::json;

#[test]
fn a_seat_is_held_and_read_back() {
    let server = tickets();
    let mut client = Client::new(server.address());
    let added =
        client.post("/v1/tickets/organizer/add_seat", &json!({ "seat": "A1", "section": "s" }));
    assert_eq!(added.status, 200, "{added:?}");
    assert_eq!(added.json()["outcome"], "done");
    let held =
        client.post_as("ann", "/v1/tickets/buyer/hold", &json!({ "seat": "A1", "booking": "b1" }));
    assert_eq!(held.status, 200, "{held:?}");
    let seat = client.get("/v1/tickets/Seat/A1");
    assert_eq!(seat.json()["truth"]["SeatInventoryState"]["status"], "HELD");
    let booking = client.get("/v1/tickets/Booking/b1");
    assert_eq!(booking.json()["truth"]["BookingState"]["buyer"], "ann");
    let left = client.get("/v1/tickets/views/Availability?section=s");
    assert_eq!(left.json()["total"], 0, "{left:?}");
    assert_eq!(client.get("/healthz").status, 200);
    assert_eq!(client.get("/readyz").status, 200);
}

#[test]
fn what_is_not_there_is_a_problem_that_says_so() {
    let server = tickets();
    let mut client = Client::new(server.address());
    for path in [
        "/nothing",
        "/v1/nothing/buyer/hold",
        "/v1/tickets/buyer/fly",
        "/v1/tickets/sweeper/release",
        "/v1/tickets/Seat/none",
        "/v1/tickets/views/None",
    ] {
        let answer = client.get(path);
        assert_eq!(answer.status, 404, "{path}: {answer:?}");
        assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{path}");
        assert_eq!(answer.json()["status"], 404, "{path}");
    }
    let answer = client.get("/v1/tickets/buyer/hold");
    assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")));
}
