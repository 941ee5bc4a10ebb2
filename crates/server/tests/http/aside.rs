//! What could not be worked on is listed, counted and tried again over HTTP.

use std::sync::{Arc, Mutex};

use runtime::{Delivered, Delivery, Outside, Runtime, Settings, Worked};
use serde_json::{Value, json};
use store::{Commit, Key, Memory, Store, Write, block_on};

use crate::support::{Client, serve};
use gateway::Service;

const SHOP: &str = "design Shop\n\nactor keeper\nactor porter\n\nsubject Item(item: text) {\n    truth \
                    ItemState { sold: bool = false }\n}\n\nstep keeper[ship(item: Item)] { send \
                    porter.carry(item) }\n\neffect porter[carry(item: Item)] {\n    call POST \
                    \"{porter.url}/carry\" key item body { item }\n    on ok { ItemState.sold := true \
                    }\n    on refused { }\n    on unknown { }\n}\n";

/// Panics over the items that it is told to.
#[derive(Default)]
struct Porter(Mutex<Vec<String>>);

impl Outside for Porter {
    fn deliver(&self, delivery: &Delivery) -> Delivered {
        let name = delivery.body["item"].as_str().unwrap().to_string();
        let panics = self.0.lock().unwrap().contains(&name);
        assert!(!panics, "the porter stumbled over {name}");
        Delivered::Ok(Value::Null)
    }
}

fn deliver_all(runtime: &Runtime, porter: &Porter) {
    while !matches!(runtime.deliver_one(porter).unwrap(), Worked::Idle(_)) {}
}

#[test]
fn entries_set_aside_are_listed_counted_and_tried_again() {
    let store = Arc::new(Memory::new());
    let compiled = design::compile("shop", SHOP, &design::NoCatalog);
    let design = compiled.design.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
    let runtime = Runtime::open(design, store.clone(), Settings::default()).unwrap();
    let runtime = Arc::new(runtime);
    let server = serve(vec![Service::new("shop", SHOP, Arc::clone(&runtime))]);
    let mut client = Client::new(server.address());
    assert_eq!(client.get("/v1/shop/aside").json(), json!({ "entries": [] }));
    for name in ["a", "b"] {
        assert_eq!(client.post("/v1/shop/keeper/ship", &json!({ "item": name })).status, 200);
    }
    // a due repair that ends early, and an effect that panics
    let damaged = Write::Put(Key::new(b"\0\0t\0".to_vec()), Vec::new().into());
    block_on(store.commit(Commit { writes: vec![damaged], ..Commit::default() })).unwrap();
    let porter = Porter(Mutex::new(vec!["a".into()]));
    deliver_all(&runtime, &porter);
    runtime.fire_due().unwrap();
    assert_eq!(client.get("/v1/shop/Item/b").json()["truth"]["ItemState"]["sold"], true);

    let listed = client.get("/v1/shop/aside").json();
    let find = |space: &str| {
        let found = listed["entries"].as_array().unwrap().iter().find(|it| it["space"] == space);
        found.unwrap_or_else(|| panic!("no {space} in {listed}")).clone()
    };
    let (effect, due) = (find("outbox entry"), find("due repair"));
    assert_eq!((&effect["operation"], &effect["can_go_back"]), (&json!("carry"), &json!(true)));
    assert!(effect["reason"].as_str().unwrap().contains("stumbled over a"), "{effect}");
    assert_eq!(due["reason"], r"the due repair key `\x00\x00t\x00` is damaged: it ends too early");
    let metrics = client.get("/metrics").text();
    for line in [
        "steadfast_set_aside{design=\"shop\",space=\"outbox entry\"} 1\n",
        "steadfast_set_aside{design=\"shop\",space=\"due repair\"} 1\n",
        "steadfast_set_aside_total{design=\"shop\"} 2\n",
        "steadfast_trouble{design=\"shop\"} 0\n",
    ] {
        assert!(metrics.contains(line), "{line} in\n{metrics}");
    }
    assert_eq!(client.get("/readyz").status, 200);
    let page = client.get("/console/shop/aside").text();
    for part in ["stumbled over a", "it ends too early", "Try again", "carry"] {
        assert!(page.contains(part), "{part} in\n{page}");
    }

    // it goes back when somebody asks, and is delivered
    porter.0.lock().unwrap().clear();
    let at = |entry: &Value, what: &str| {
        format!("/v1/shop/aside/{}/{what}", entry["id"].as_str().unwrap())
    };
    let retried = client.post(&at(&effect, "retry"), &json!({}));
    assert_eq!((retried.status, &retried.json()["outcome"]), (200, &json!("in its queue again")));
    assert_eq!(client.post(&at(&effect, "retry"), &json!({})).status, 404);
    deliver_all(&runtime, &porter);
    assert_eq!(client.get("/v1/shop/Item/a").json()["truth"]["ItemState"]["sold"], true);

    // a form of the console does the same
    let form = format!("id={}", due["id"].as_str().unwrap());
    let headers =
        [("content-type", "application/x-www-form-urlencoded"), ("sec-fetch-site", "same-origin")];
    let sent = client.request("POST", "/console/shop/aside/retry", &headers, &form);
    assert_eq!(sent.status, 303, "{sent:?}");
    assert_eq!(client.get("/v1/shop/aside").json(), json!({ "entries": [] }));
    // it is as damaged as it was
    runtime.fire_due().unwrap();
    let again = client.get("/v1/shop/aside").json()["entries"][0].clone();
    assert_eq!((&again["id"], &again["reason"]), (&due["id"], &due["reason"]));
    assert_eq!(client.post(&at(&again, "discard"), &json!({})).status, 200);
    assert_eq!(client.get("/v1/shop/aside").json(), json!({ "entries": [] }));

    // only what says that it is JSON, and only with the right method
    assert_eq!(client.request("POST", &at(&due, "retry"), &[], "x").status, 415);
    assert_eq!(client.get(&at(&due, "retry")).status, 405);
    assert_eq!(client.post("/v1/shop/aside/nothing/retry", &json!({})).status, 404);
}
