//! What the store's keeper has to know is told by readiness, metrics and console.

use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::support::{Client, config, service};
use gateway::{Admin, AdminError, AdminHandle, StoreState};
use server::Config;

struct Keeper(Arc<Mutex<StoreState>>);

impl Admin for Keeper {
    fn backup(&self, _: &Path) -> Result<serde_json::Value, AdminError> {
        Err(AdminError::Cannot("not here".into()))
    }

    fn store(&self) -> StoreState {
        self.0.lock().unwrap().clone()
    }
}

const DOOR: &str = "design Door\n\nactor keeper\n\nsubject Door(door: text) {\n    truth DoorState { \
                    opened: int = 0 }\n}\n\nstep keeper[open(door: Door)] { DoorState.opened += 1 }\n";

#[test]
fn trouble_of_the_store_is_told_and_passes() {
    let state = Arc::new(Mutex::new(StoreState::default()));
    let admin = AdminHandle(Arc::new(Keeper(Arc::clone(&state))));
    let config = Config { admin: Some(admin), ..config() };
    let server = crate::support::start(config, vec![service("door", DOOR)]).unwrap();
    let mut client = Client::new(server.address());
    let check = |client: &mut Client, now: StoreState, status: u16, told: &str, metric: &str| {
        *state.lock().unwrap() = now;
        let ready = client.get("/readyz");
        assert_eq!(ready.status, status, "{ready:?}");
        assert!(ready.text().contains(told), "{ready:?}");
        let metrics = client.get("/metrics").text();
        assert!(metrics.contains(&format!("{metric}\n")), "{metrics}");
    };
    let well = StoreState::default;
    check(&mut client, well(), 200, "ready", "steadfast_store_refuses 0");
    let full = StoreState { refuses: Some("the store has no room"), ..well() };
    check(&mut client, full, 503, "no room", "steadfast_store_refuses 1");
    let console = client.get("/console").text();
    assert!(console.contains("The store has no room"), "{console}");
    check(&mut client, well(), 200, "ready", "steadfast_store_refuses 0");
    let damaged = StoreState { damaged_files: 2, ..well() };
    check(&mut client, damaged, 200, "damaged or missing: 2", "steadfast_store_damaged_files 2");
}
