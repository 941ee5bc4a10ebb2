//! Checks beside the callers: of the version that is served, and of no other.

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use gateway::{
    Admin, AdminError, Auditor, Budget, Checking, Gateway, Prepared, Replacement, Service, Settings,
};
use identity::Identity;
use model_checker::Word;
use runtime::Runtime;
use serde_json::Value;

/// Its world has some sixteen million states.
const LARGE: &str = "design Box
actor clerk
subject Box(box: text) {
    truth Kept { a: int = 0, b: int = 0, c: int = 0, d: int = 0, e: int = 0, f: int = 0 }
}
step clerk[a(box: Box, by: int)] { Kept.a := by }
step clerk[b(box: Box, by: int)] { Kept.b := by }
step clerk[c(box: Box, by: int)] { Kept.c := by }
step clerk[d(box: Box, by: int)] { Kept.d := by }
step clerk[e(box: Box, by: int)] { Kept.e := by }
step clerk[f(box: Box, by: int)] { Kept.f := by }
step clerk[swap(one: Box, other: Box)] { one.a := other.b }
invariant fine: all b in Box: b.a + b.b + b.c + b.d + b.e + b.f < 99
check { box: 2  by: 0..3 }
";

struct Any;

impl Admin for Any {
    fn backup(&self, _to: &Path) -> Result<Value, AdminError> {
        Err(AdminError::Cannot("not here".into()))
    }

    fn prepare(&self, old: &Service, with: &Replacement<'_>) -> Result<Prepared, AdminError> {
        let compiled = design::compile(&old.name, with.text, &design::NoCatalog);
        Ok(Prepared { design: compiled.design.expect("sound"), flat: None, word: None })
    }
}

fn gateway() -> Arc<Gateway> {
    let design = design::compile("box", LARGE, &design::NoCatalog).design.expect("sound");
    let store = Arc::new(store::Memory::new());
    let runtime = Runtime::open(design, store, runtime::Settings::default()).unwrap();
    let service = Service::new("box", LARGE, Arc::new(runtime));
    let identity = Arc::new(Identity::in_memory().unwrap());
    let auditor = Auditor::start(&identity).unwrap();
    // a check does not end by itself before the test has looked at it
    let budget = Budget { states_max: usize::MAX, memory_bytes_max: 4 << 30 };
    let settings = Settings { checking: Some(budget), ..Settings::default() };
    Arc::new(Gateway::new(settings, vec![service], identity, auditor))
}

/// Looks until it is so; what is waited for takes seconds at most.
#[track_caller]
fn until(what: &str, so: impl Fn() -> bool) {
    let bound = Instant::now() + Duration::from_secs(300);
    while !so() {
        assert!(Instant::now() < bound, "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

fn explores(service: &Service) -> bool {
    matches!(&*service.checking(), Checking::Running { states, .. } if *states > 0)
}

#[test]
fn the_check_of_a_version_that_was_replaced_is_given_up() {
    let gateway = gateway();
    let old = gateway.service("box").unwrap();
    gateway::checking::begin(&gateway, &old);
    until("it explores", || explores(&old));
    let small = LARGE.replace("by: 0..3", "by: 0..1").replace("box: 2", "box: 1");
    let with = Replacement { text: &small, drop: &[], unproved: false };
    gateway.replace(&Any, &old, &with, "olga").unwrap();
    let new = gateway.service("box").unwrap();
    gateway::checking::begin(&gateway, &new);
    until("the new one is checked", || matches!(*new.checking(), Checking::Done(_)));
    assert_eq!(new.word(), Some(Word::Proved));
    until("the old one is given up", || matches!(*old.checking(), Checking::NotAsked));
    assert_eq!(old.word(), None, "nobody knows");
}

#[test]
fn a_server_that_stops_waits_for_no_check() {
    let gateway = gateway();
    let service = gateway.service("box").unwrap();
    gateway::checking::begin(&gateway, &service);
    until("it explores", || explores(&service));
    gateway.stop();
    until("it is given up", || matches!(*service.checking(), Checking::NotAsked));
}
