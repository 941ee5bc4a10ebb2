//! A client in another language, generated from the document, that holds a seat.

use std::process::Command;

use crate::openapi::python::{programs, run};
use crate::openapi::served::{Served, catalog, folder};

const HOLDS_A_SEAT: &str = r#"
import sys
from steadfast_client import Client
from steadfast_client.api.tickets import tickets_organizer_add_seat, tickets_buyer_hold, tickets_get_seat
from steadfast_client.models import TicketsOrganizerAddSeatBody, TicketsBuyerHoldBody

client = Client(base_url=sys.argv[1], headers={"steadfast-as": "ann"})
add = TicketsOrganizerAddSeatBody(seat="A1", section="stalls")
added = tickets_organizer_add_seat.sync_detailed(client=client, body=add)
assert added.status_code == 200, added
hold = TicketsBuyerHoldBody(seat="A1", booking="b1")
held = tickets_buyer_hold.sync_detailed(client=client, body=hold)
assert held.status_code == 200, held
assert held.parsed.outcome == "done", held.parsed
second = tickets_buyer_hold.sync_detailed(client=client, body=TicketsBuyerHoldBody(seat="A1", booking="b2"))
assert second.status_code == 409, second
assert second.parsed.guard == "free" and second.parsed.prevents[0] == "seat: oversell", second.parsed
seat = tickets_get_seat.sync(client=client, seat="A1")
print(seat.truth.to_dict()["SeatInventoryState"]["status"])
"#;

#[test]
fn a_client_generated_from_the_document_holds_a_seat() {
    let mut designs = catalog();
    designs.retain(|design| design.name == "tickets");
    let served = Served::start(&designs);
    let url = &served.url;
    let folder = folder("generated");
    let configuration = folder.join("configuration.yaml");
    let names = "project_name_override: steadfast-client\npackage_name_override: steadfast_client\n\
                 post_hooks: []\n";
    std::fs::write(&configuration, names).unwrap();
    run(Command::new(programs().join("openapi-python-client"))
        .current_dir(&folder)
        .args(["generate", "--url", &format!("{url}/openapi.json"), "--meta", "none"])
        .args(["--output-path", "steadfast_client", "--config"])
        .arg(&configuration));
    std::fs::write(folder.join("holds_a_seat.py"), HOLDS_A_SEAT).unwrap();
    let said = run(Command::new(programs().join("python"))
        .current_dir(&folder)
        .args(["holds_a_seat.py", url]));
    assert_eq!(said.trim(), "HELD");
}
