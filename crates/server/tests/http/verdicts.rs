//! What is known of a design is told to clients, and decides what takes its place.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gateway::{Admin, AdminError, AdminHandle, Budget, Prepared, Replacement, Service, Standing};
use model_checker::Word;
use serde_json::json;
use server::{Config, Running};

use crate::support::{Client, config, service};

const DOOR: &str = "design Door
actor keeper
subject Door(door: text) { truth DoorState { open: bool = false } }
step keeper[open(door: Door) { shut: DoorState.open = false }] { DoorState.open := true }
step keeper[close(door: Door) { open: DoorState.open = true }] { DoorState.open := false }
invariant fine: all d in Door: d.open = true or d.open = false
check { door: 1  keeper: 1 }
";

/// Takes whatever is not violated, and notes what was checked.
#[derive(Default)]
struct Strict {
    checked: Mutex<Vec<(String, Word)>>,
}

impl Admin for Strict {
    fn backup(&self, _to: &std::path::Path) -> Result<serde_json::Value, AdminError> {
        Err(AdminError::Cannot("not here".into()))
    }

    fn prepare(&self, old: &Service, with: &Replacement<'_>) -> Result<Prepared, AdminError> {
        if !with.unproved {
            let standing = Standing::Known(Word::Violated);
            return Err(AdminError::Unproved { detail: "it breaks".into(), standing });
        }
        let compiled = design::compile(&old.name, with.text, &design::NoCatalog);
        let design = compiled.design.expect("sound");
        Ok(Prepared { design, flat: None, word: Some(Word::Violated) })
    }

    fn checked(&self, service: &Service, word: &Word) {
        self.checked.lock().unwrap().push((service.name.clone(), word.clone()));
    }
}

fn door(word: Option<Word>) -> Running {
    crate::support::start(config(), vec![service("door", DOOR).judged(word)]).unwrap()
}

fn metric(client: &mut Client, word: &str) -> Option<String> {
    let start = format!("steadfast_verdict{{design=\"door\",word=\"{word}\"}} ");
    let text = client.get("/metrics").text();
    text.lines().find_map(|line| line.strip_prefix(&start).map(str::to_string))
}

#[test]
fn a_client_is_told_what_is_known() {
    let holds = Word::Holds { bounds: vec!["log: 3 entries".into()] };
    let unknown = Word::NotKnown { why: "a <b>budget</b> ended".into() };
    for (word, label, form, page) in [
        (None, "not_checked", json!({ "word": "not_checked" }), "This design was not checked."),
        (Some(Word::Proved), "proved", json!({ "word": "proved" }), "Proved</strong>"),
        (
            Some(holds),
            "holds",
            json!({ "word": "holds", "bounds": ["log: 3 entries"] }),
            "Holds within</strong> log: 3 entries.",
        ),
        (
            Some(unknown),
            "not_known",
            json!({ "word": "not_known", "why": "a <b>budget</b> ended" }),
            "a &lt;b&gt;budget&lt;/b&gt; ended",
        ),
        (
            Some(Word::Violated),
            "violated",
            json!({ "word": "violated" }),
            "This design is violated.",
        ),
    ] {
        let running = door(word);
        let mut client = Client::new(running.address());
        let plain = client.get("/v1/door");
        assert_eq!((plain.text().as_str(), plain.header("steadfast-verdict")), (DOOR, Some(label)));
        let asked = client.request("GET", "/v1/door", &[("accept", "application/json")], "");
        assert_eq!((&asked.json()["verdict"], &asked.json()["text"]), (&form, &json!(DOOR)));
        for other in ["proved", "holds", "violated", "not_known", "not_checked"] {
            let expected = if other == label { "1" } else { "0" };
            assert_eq!(metric(&mut client, other).as_deref(), Some(expected), "{label} {other}");
        }
        let shown = client.get("/console/door").text();
        assert!(shown.contains(page), "{label}: {page}");
        let warned = shown.contains("note odd banner") || shown.contains("note bad banner");
        assert_eq!(warned, !matches!(label, "proved" | "holds"), "{label}");
        // on every page of the design, not on that one alone
        assert_eq!(
            client.get("/console/door/records").text().contains("banner"),
            warned,
            "{label}"
        );
    }
}

#[test]
fn a_design_whose_verdict_is_not_known_is_checked_beside_the_server() {
    let admin = Arc::new(Strict::default());
    let config = Config {
        checking: Some(Budget::default()),
        admin: Some(AdminHandle(Arc::clone(&admin) as Arc<dyn Admin>)),
        ..config()
    };
    let worldless = DOOR.lines().filter(|line| !line.starts_with("check")).collect::<Vec<_>>();
    let worldless = service("worldless", &worldless.join("\n"));
    let known = service("known", DOOR).judged(Some(Word::Violated));
    let services = vec![service("door", DOOR), worldless, known];
    let running = crate::support::start(config, services).unwrap();
    let mut client = Client::new(running.address());
    let until = Instant::now() + Duration::from_secs(60);
    while admin.checked.lock().unwrap().len() < 2 {
        assert!(Instant::now() < until, "{:?}", admin.checked.lock().unwrap());
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(metric(&mut client, "proved").as_deref(), Some("1"));
    assert!(client.get("/console/door/check").text().contains("class=\"report\""));
    let checked = admin.checked.lock().unwrap().clone();
    assert_eq!(checked[0], ("door".into(), Word::Proved));
    assert_eq!((checked[1].0.as_str(), checked[1].1.name()), ("worldless", "not_known"));
    assert_eq!(client.get("/v1/known").header("steadfast-verdict"), Some("violated"));
}

#[test]
fn a_violated_text_takes_a_designs_place_only_if_one_says_so() {
    let admin = AdminHandle(Arc::new(Strict::default()));
    let config = Config { admin: Some(admin), ..config() };
    let running = crate::support::start(config, vec![service("door", DOOR)]).unwrap();
    let mut client = Client::new(running.address());
    let refused = client.request("PUT", "/v1/door", &[], DOOR);
    assert_eq!(refused.status, 409);
    let said = refused.json();
    assert_eq!(
        (&said["type"], &said["detail"], &said["verdict"]),
        (&json!("/problems/unproved"), &json!("it breaks"), &json!({ "word": "violated" }))
    );
    assert_eq!(client.get("/problems/unproved").status, 200);
    for wrong in ["unproved=perhaps", "unproved", "proved=true"] {
        assert_eq!(client.request("PUT", &format!("/v1/door?{wrong}"), &[], DOOR).status, 400);
    }
    let done = client.request("PUT", "/v1/door?unproved=true", &[], DOOR);
    assert_eq!((done.status, &done.json()["verdict"]), (200, &json!({ "word": "violated" })));
    assert_eq!(client.get("/v1/door").header("steadfast-verdict"), Some("violated"));
}
