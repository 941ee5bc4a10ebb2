//! A replacement that fails at any of its points leaves one version that serves, and no call is lost.

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use gateway::{
    Admin, AdminError, Auditor, Caller, Gateway, Prepared, Replaced, Replacement, Service,
    Settings, Terms,
};
use identity::Identity;
use runtime::Runtime;
use serde_json::{Value, json};

const DOOR: &str = "design Door
actor keeper
subject Door(door: text) { truth DoorState { opened: int = 0, note: text? = null } }
step keeper[open(door: Door)] { DoorState.opened += 1 }
step keeper[write(door: Door, note: text)] { DoorState.note := note }
";

/// The same, and stored in another way.
fn wider() -> String {
    DOOR.replace("opened: int = 0", "width: int = 9, opened: int = 0")
}

/// Without what is stored, and the step that writes it.
fn without_note() -> String {
    let text = wider().replace(", note: text? = null", "");
    let lines: Vec<&str> = text.lines().filter(|line| !line.contains("note")).collect();
    lines.join("\n") + "\n"
}

/// Where a replacement fails, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    Nowhere,
    Prepared,
    PreparedByPanic,
    /// the text drops what is stored
    Converting,
    Starting,
    StartingByPanic,
    SwitchedByPanic,
}

struct Failing {
    at: At,
    /// the points that were reached
    reached: Mutex<Vec<&'static str>>,
}

impl Failing {
    fn new(at: At) -> Failing {
        Failing { at, reached: Mutex::default() }
    }

    fn reach(&self, point: &'static str) {
        self.reached.lock().unwrap().push(point);
        // callers go on meanwhile
        thread::sleep(Duration::from_millis(60));
    }
}

impl Admin for Failing {
    fn backup(&self, _to: &Path) -> Result<Value, AdminError> {
        Err(AdminError::Cannot("not here".into()))
    }

    fn prepare(&self, old: &Service, with: &Replacement<'_>) -> Result<Prepared, AdminError> {
        self.reach("prepare");
        match self.at {
            At::Prepared => return Err(AdminError::Cannot("not prepared".into())),
            At::PreparedByPanic => panic!("not prepared"),
            _ => {}
        }
        let compiled = design::compile(&old.name, with.text, &design::NoCatalog);
        Ok(Prepared { design: compiled.design.expect("sound"), flat: None, word: None })
    }

    fn start(&self, _new: &Service) -> Result<(), AdminError> {
        self.reach("start");
        match self.at {
            At::Starting => Err(AdminError::Cannot("no threads".into())),
            At::StartingByPanic => panic!("no threads"),
            _ => Ok(()),
        }
    }

    fn switched(&self, _new: &Service) {
        self.reach("switched");
        assert!(self.at != At::SwitchedByPanic, "the verdict is not kept");
    }
}

fn gateway() -> Arc<Gateway> {
    let design = design::compile("door", DOOR, &design::NoCatalog).design.expect("sound");
    let store = Arc::new(store::Memory::new());
    let runtime = Runtime::open(design, store, runtime::Settings::default()).unwrap();
    let service = Service::new("door", DOOR, Arc::new(runtime));
    let identity = Arc::new(Identity::in_memory().unwrap());
    let auditor = Auditor::start(&identity).unwrap();
    Arc::new(Gateway::new(Settings::default(), vec![service], identity, auditor))
}

/// One call, as any door makes it.
async fn call(gateway: &Arc<Gateway>, caller: &Caller, step: &str, params: &Value) -> bool {
    let service = gateway.service("door").expect("it is served");
    let call = service.call("keeper", step).expect("a step");
    let params = params.to_string();
    let terms = Terms::default();
    let answer =
        gateway::answered(gateway, &service, call, caller, params.as_bytes(), &terms, Vec::new());
    match answer.await {
        Ok(_) => true,
        Err(problem) => panic!("no call fails: {problem:?}"),
    }
}

/// Calls until it is told to stop; how many were answered.
fn calls(gateway: &Arc<Gateway>, stop: &Arc<AtomicBool>) -> thread::JoinHandle<i64> {
    let (gateway, stop) = (Arc::clone(gateway), Arc::clone(stop));
    thread::spawn(move || {
        let threads = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let caller = gateway.by_name("ann").unwrap();
        let mut answered = 0;
        threads.block_on(async {
            while !stop.load(Ordering::Relaxed) {
                answered +=
                    i64::from(call(&gateway, &caller, "open", &json!({ "door": "d" })).await);
            }
        });
        answered
    })
}

fn opened(gateway: &Gateway) -> i64 {
    let service = gateway.service("door").unwrap();
    let found = store::block_on(service.runtime.get_as("Door", &[json!("d")], None)).unwrap();
    found.expect("there").truth["DoorState"]["opened"].as_i64().unwrap()
}

/// Replaces under load. What came of it (none: it panicked), and the points that were reached.
fn replaced(at: At) -> (Arc<Gateway>, Option<Result<Replaced, AdminError>>, Vec<&'static str>) {
    let gateway = gateway();
    let caller = gateway.by_name("ann").unwrap();
    let note = json!({ "door": "d", "note": "painted" });
    store::block_on(call(&gateway, &caller, "write", &note));
    let stop = Arc::new(AtomicBool::new(false));
    let callers: Vec<_> = (0..3).map(|_| calls(&gateway, &stop)).collect();
    thread::sleep(Duration::from_millis(60));
    let admin = Failing::new(at);
    let text = match at {
        At::Converting => without_note(),
        _ => wider(),
    };
    let old = gateway.service("door").unwrap();
    let with = Replacement { text: &text, drop: &[], unproved: false };
    let outcome =
        std::panic::catch_unwind(AssertUnwindSafe(|| gateway.replace(&admin, &old, &with, "ann")));
    let before = opened(&gateway);
    let patience = Instant::now() + Duration::from_secs(30);
    while opened(&gateway) == before {
        assert!(Instant::now() < patience, "{at:?}: calls go on after it");
        thread::sleep(Duration::from_millis(5));
    }
    stop.store(true, Ordering::Relaxed);
    let answered: i64 = callers.into_iter().map(|caller| caller.join().expect("answered")).sum();
    assert_eq!(opened(&gateway), answered, "{at:?}: each call is decided once");
    let reached = admin.reached.into_inner().unwrap();
    (gateway, outcome.ok(), reached)
}

/// Which version serves.
fn serves(gateway: &Gateway) -> &'static str {
    let service = gateway.service("door").unwrap();
    let stored = store::block_on(service.runtime.get_as("Door", &[json!("d")], None)).unwrap();
    let has_width = stored.unwrap().truth["DoorState"].get("width").is_some();
    assert_eq!(service.text.contains("width"), has_width, "the text and what is stored agree");
    if has_width { "new" } else { "old" }
}

#[test]
fn a_replacement_that_succeeds_passes_every_point() {
    let (gateway, outcome, reached) = replaced(At::Nowhere);
    assert!(matches!(outcome, Some(Ok(_))), "{outcome:?}");
    assert_eq!((serves(&gateway), reached), ("new", vec!["prepare", "start", "switched"]));
}

#[test]
fn what_is_not_prepared_leaves_the_old_version() {
    let (gateway, outcome, reached) = replaced(At::Prepared);
    assert!(matches!(outcome, Some(Err(AdminError::Cannot(_)))), "{outcome:?}");
    assert_eq!((serves(&gateway), reached), ("old", vec!["prepare"]));
    let (gateway, outcome, reached) = replaced(At::PreparedByPanic);
    assert!(outcome.is_none());
    assert_eq!((serves(&gateway), reached), ("old", vec!["prepare"]));
}

#[test]
fn what_cannot_be_converted_leaves_the_old_version() {
    let (gateway, outcome, reached) = replaced(At::Converting);
    assert!(matches!(outcome, Some(Err(AdminError::Unsafe { .. }))), "{outcome:?}");
    assert_eq!((serves(&gateway), reached), ("old", vec!["prepare"]));
}

#[test]
fn what_does_not_start_leaves_the_new_version_and_says_so() {
    let (gateway, outcome, reached) = replaced(At::Starting);
    assert!(matches!(outcome, Some(Err(AdminError::NotStarted(_)))), "{outcome:?}");
    assert_eq!((serves(&gateway), reached), ("new", vec!["prepare", "start", "switched"]));
    let (gateway, outcome, reached) = replaced(At::StartingByPanic);
    assert!(outcome.is_none());
    assert_eq!((serves(&gateway), reached), ("new", vec!["prepare", "start"]));
}

#[test]
fn what_fails_after_the_switch_leaves_the_new_version() {
    let (gateway, outcome, reached) = replaced(At::SwitchedByPanic);
    assert!(outcome.is_none());
    assert_eq!((serves(&gateway), reached), ("new", vec!["prepare", "start", "switched"]));
}

/// A version whose workers did not start is put in place once more, and then they do.
#[test]
fn a_version_that_did_not_start_can_be_put_in_place_again() {
    let gateway = gateway();
    let caller = gateway.by_name("ann").unwrap();
    store::block_on(call(&gateway, &caller, "open", &json!({ "door": "d" })));
    let text = wider();
    let with = Replacement { text: &text, drop: &[], unproved: false };
    let old = gateway.service("door").unwrap();
    assert!(gateway.replace(&Failing::new(At::Starting), &old, &with, "ann").is_err());
    let old = gateway.service("door").unwrap();
    gateway.replace(&Failing::new(At::Nowhere), &old, &with, "ann").unwrap();
    assert_eq!((serves(&gateway), opened(&gateway)), ("new", 1));
}

/// A server whose designs are replaced all day holds one version of each.
#[test]
fn a_version_is_gone_with_the_last_who_goes_on_with_it() {
    let gateway = gateway();
    let mut versions = Vec::new();
    for at in 0..5 {
        let old = gateway.service("door").unwrap();
        let text = format!("{}// version {at}\n", wider());
        let with = Replacement { text: &text, drop: &[], unproved: false };
        gateway.replace(&Failing::new(At::Nowhere), &old, &with, "ann").unwrap();
        versions.push(Arc::downgrade(&old));
        assert!(versions[at].upgrade().is_some(), "whoever has it may go on");
    }
    let kept = versions.iter().filter(|version| version.upgrade().is_some()).count();
    assert_eq!(kept, 0, "of {} earlier versions", versions.len());
}
