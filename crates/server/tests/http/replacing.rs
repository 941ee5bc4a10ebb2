//! A design is replaced while its clients go on.

use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use crate::support::{Client, config, service};
use gateway::{Admin, AdminError, AdminHandle, Prepared, Replacement, Service};
use serde_json::json;
use server::Config;

const DOOR: &str = r#"design Door

actor keeper

subject Door(door: text) {
    truth DoorState { opened: int = 0 }
}

step keeper[open(door: Door)] { DoorState.opened += 1 }
view Opened = sum opened of Door
"#;

/// Takes its time between the moment at which the old version says no more and the one at which the
/// new one is there.
struct Slow {
    retired: Mutex<mpsc::Sender<()>>,
}

const GAP: Duration = Duration::from_millis(400);

impl Admin for Slow {
    fn backup(&self, _to: &std::path::Path) -> Result<serde_json::Value, AdminError> {
        Err(AdminError::Cannot("not here".into()))
    }

    fn prepare(&self, old: &Service, with: &Replacement<'_>) -> Result<Prepared, AdminError> {
        let compiled = design::compile(&old.name, with.text, &design::NoCatalog);
        Ok(Prepared { design: compiled.design.expect("sound"), flat: None, word: None })
    }

    fn start(&self, _new: &Service) -> Result<(), AdminError> {
        self.retired.lock().unwrap().send(()).unwrap();
        thread::sleep(GAP);
        Ok(())
    }
}

#[test]
fn whoever_calls_or_reads_meanwhile_waits_and_is_answered_by_the_new_version() {
    let (retired, is_retired) = mpsc::channel();
    let admin = AdminHandle(Arc::new(Slow { retired: Mutex::new(retired) }));
    let config = Config { admin: Some(admin), ..config() };
    let server = server::start(config, vec![service("door", DOOR)]).unwrap();
    let address = server.address();
    let open = json!({ "door": "d" });
    let mut client = Client::new(address);
    assert_eq!(client.post("/v1/door/keeper/open", &open).status, 200);
    let mut socket = Client::new(address);
    socket.upgrade("/v1/socket");
    let replacing = thread::spawn(move || {
        let wider = DOOR.replace("opened: int = 0", "width: int = 9, opened: int = 0");
        Client::new(address).request("PUT", "/v1/door", &[], &wider)
    });
    is_retired.recv_timeout(Duration::from_secs(20)).expect("the old version is out");
    for id in 0..3 {
        let step = json!({ "id": id, "design": "door", "actor": "keeper", "operation": "open",
                           "params": { "door": "d" } });
        socket.send_text(&step.to_string());
    }
    let others = [
        thread::spawn(move || {
            let step = json!({ "actor": "keeper", "operation": "open", "params": { "door": "d" } });
            let batch = json!({ "steps": [step, step] });
            let answer = Client::new(address).post("/v1/door/batch", &batch).json();
            let answers = answer["answers"].as_array().expect("answers").clone();
            assert_eq!(answers.len(), 2);
            assert!(answers.iter().all(|one| one["status"] == 200), "{answers:?}");
        }),
        thread::spawn(move || {
            let answer = Client::new(address).post("/v1/door/keeper/open", &json!({ "door": "d" }));
            assert_eq!(answer.status, 200, "{answer:?}");
        }),
        thread::spawn(move || {
            let answer = Client::new(address).get("/v1/door/Door/d");
            assert_eq!(answer.status, 200, "{answer:?}");
            assert_eq!(answer.json()["truth"]["DoorState"]["width"], 9);
        }),
        thread::spawn(move || {
            let answer = Client::new(address).get("/v1/door/views/Opened");
            assert_eq!(answer.status, 200, "{answer:?}");
        }),
    ];
    for id in 0..3 {
        let answer = socket.text_frame();
        assert_eq!((&answer["id"], &answer["status"]), (&json!(id), &json!(200)), "{answer}");
    }
    for other in others {
        other.join().unwrap();
    }
    let replaced = replacing.join().unwrap();
    assert_eq!(replaced.status, 200, "{replaced:?}");
    let door = client.get("/v1/door/Door/d").json();
    assert_eq!(door["truth"]["DoorState"]["opened"], 7, "each once: {door}");
}

const LOCK: &str = r#"design Lock

actor holder { my_turn: int? of Lock }

subject Lock(lock: text) {
    truth LockState { turn: int = 0, used: int = 0 }
}

step holder[take(lock: Lock)] {
    LockState.turn += 1
    my_turn := LockState.turn
}

step holder[use_it(lock: Lock) { fenced: LockState.turn = my_turn }] { LockState.used += 1 }
"#;

/// Memory that was handed out under the old names counts under the new ones, and nowhere else.
#[test]
fn memory_follows_a_rename_of_actor_subject_and_field() {
    let (retired, is_retired) = mpsc::channel();
    let admin = AdminHandle(Arc::new(Slow { retired: Mutex::new(retired) }));
    let config = Config { admin: Some(admin), ..config() };
    let server = server::start(config, vec![service("lock", LOCK)]).unwrap();
    let mut client = Client::new(server.address());
    let taken = client.post("/v1/lock/holder/take", &json!({ "lock": "l" }));
    assert_eq!(taken.status, 200, "{taken:?}");
    let token = taken.json()["memory"]["my_turn"].clone();
    let compiled = design::compile("lock", LOCK, &design::NoCatalog);
    let version = runtime::version(&compiled.design.expect("sound"));
    let renamed = LOCK
        .replace("holder", "owner")
        .replace("my_turn", "my_epoch")
        .replace("subject Lock(", "subject Bolt(")
        .replace("of Lock", "of Bolt")
        .replace("lock: Lock", "lock: Bolt")
        .replace("LockState", "BoltState");
    let lines = "rename holder as owner  rename holder.my_turn as my_epoch  rename Lock as Bolt  \
                 rename LockState as BoltState";
    let text = format!("{renamed}\nfrom \"{version}\" {{ {lines} }}\n");
    let replaced = client.request("PUT", "/v1/lock", &[], &text);
    assert_eq!(replaced.status, 200, "{replaced:?}");
    is_retired.recv_timeout(Duration::from_secs(20)).expect("the old version is out");
    assert_ne!(replaced.json()["version"], json!(version));
    let with = |lock: &str| json!({ "lock": lock, "my_epoch": token });
    let used = client.post("/v1/lock/owner/use_it", &with("l"));
    assert_eq!(used.status, 200, "{used:?}");
    let other = client.post("/v1/lock/owner/use_it", &with("m"));
    assert_eq!(other.status, 422, "{other:?}");
    let bolt = client.get("/v1/lock/Bolt/l").json();
    assert_eq!(bolt["truth"]["BoltState"], json!({ "turn": 1, "used": 1 }));
}
