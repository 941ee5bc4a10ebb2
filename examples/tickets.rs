//! A ticket shop inside one program: seats are held and sold, a second buyer is told why not, and
//! everything that happened is read back from the feed.
//!
//!     cargo run --release -p steadfast --example tickets
//!
//! Run it twice: the seats of the first run are still sold.

use std::error::Error;

use serde_json::{Map, Value, json};
use steadfast::{CallError, Request, Settings, ViewQuery, block_on, load, open_store, start};

fn main() -> Result<(), Box<dyn Error>> {
    let design = load("tickets", include_str!("../designs/systems/tickets.design"))?;
    let directory = std::env::temp_dir().join("steadfast-tickets-example");
    let store = open_store(&format!("embedded:{}", directory.display()))?;
    let shop = start(design, store, Settings::default())?;

    for seat in ["A1", "A2", "A3"] {
        let add = Request::new("organizer", "add_seat", "olga").with("seat", seat);
        match shop.call(&add.with("section", "stalls")) {
            Ok(_) => println!("{seat} is on sale"),
            Err(CallError::Refused(refused)) if refused.clause == "fresh" => {
                println!("{seat} was there already");
            }
            Err(error) => return Err(error.into()),
        }
    }

    for (seat, buyer) in [("A1", "ann"), ("A1", "bob"), ("A2", "bob")] {
        let booking = format!("{seat}-{buyer}");
        let hold = Request::new("buyer", "hold", buyer)
            .with("seat", seat)
            .with("booking", booking.as_str())
            .with("ttl", "10m");
        match shop.call(&hold) {
            Ok(reply) => println!("{buyer} holds {seat} as of revision {}", reply.revision),
            Err(CallError::Refused(refused)) => {
                println!(
                    "{buyer} cannot hold {seat}: `{}` does not hold (it prevents: {})",
                    refused.clause,
                    refused.prevents.join(", ")
                );
                continue;
            }
            Err(error) => return Err(error.into()),
        }
        shop.call(&Request::new("buyer", "confirm", buyer).with("booking", booking.as_str()))?;
        println!("{buyer} has bought {seat}");
    }

    let params = Map::from_iter([("section".to_string(), json!("stalls"))]);
    let left =
        shop.view(&ViewQuery { view: "Availability".into(), params, ..ViewQuery::default() })?;
    let left: Vec<&Value> =
        left["rows"].as_array().into_iter().flatten().map(|r| &r["key"][0]).collect();
    println!("still to be had: {left:?}");

    let (history, _) = block_on(shop.feed(None, 1_000))?;
    println!("the feed has {} transitions; the last one:", history.len());
    if let Some((revision, transition)) = history.last() {
        println!("{revision} {}", transition.to_json());
    }
    Ok(())
}
