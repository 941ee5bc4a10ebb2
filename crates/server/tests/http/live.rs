//! Following a view: as it is, then as it changes.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::security::{guarded_with, post};
use crate::support::{Client, config, service};

const BOARD: &str = r#"
design Board

actor player
actor judge

subject Club(club: text) { truth ClubState { name: text = "" } }
subject Score(score: text) {
    truth ScoreState { points: int = 0, by: actor, club: Club? }
        visible to player where by = me
        visible to judge
}

step judge[name(club: Club, name: text)] { ClubState.name := name }
step judge[put(score: new Score, points: int, by: actor, club: Club?)] {
    ScoreState := { points: points, by: by, club: club }
}
step judge[mark(score: Score, points: int)] { ScoreState.points := points }
step judge[drop(score: Score)] { delete score }

view Table = list Score with club.name order by points desc
view Top = rank Score by points desc top 3
view Most = max points of Score
view Mine of player = list Score where by = me order by points

read judge[table] = Table()
"#;

/// Who follows a view, and has made of it what it was told.
struct Follower {
    client: Client,
    rows: Vec<Value>,
    answer: Value,
    id: String,
    events: Vec<String>,
}

impl Follower {
    fn open(address: SocketAddr, path: &str, headers: &str) -> Follower {
        let mut client = Client::new(address);
        client.send(format!("GET {path} HTTP/1.1\r\nhost: x\r\n{headers}\r\n").as_bytes());
        let (status, headers) = client.head();
        assert_eq!(status, 200, "{headers:?}");
        let (rows, events) = (Vec::new(), Vec::new());
        Follower { client, rows, answer: Value::Null, id: String::new(), events }
    }

    /// Takes in what is told next. False: it has ended.
    fn step(&mut self) -> bool {
        let Some(event) = self.client.event() else { return false };
        let field =
            |name: &str| event.iter().find(|(its, _)| its == name).map(|(_, value)| value.as_str());
        if let Some(id) = field("id") {
            self.id = id.to_string();
        }
        let Some(data) = field("data") else { return true };
        let data: Value = serde_json::from_str(data).unwrap();
        self.events.push(field("event").unwrap().to_string());
        if field("event") == Some("snapshot") {
            self.rows = data["rows"].as_array().cloned().unwrap_or_default();
        } else {
            let gone = data["gone"].as_array().unwrap();
            let put = data["put"].as_array().unwrap();
            self.rows.retain(|row| {
                !gone.contains(&row["key"]) && !put.iter().any(|it| it["row"]["key"] == row["key"])
            });
            for it in put {
                self.rows.insert(it["at"].as_u64().unwrap() as usize, it["row"].clone());
            }
        }
        self.answer = data;
        true
    }

    fn until(&mut self, revision: &str) {
        let number = |text: &str| text.split('-').nth(1).and_then(|it| it.parse::<u64>().ok());
        while number(&self.id) < number(revision) {
            assert!(self.step(), "it goes on");
        }
    }
}

fn without_rank(page: &Value) -> Vec<Value> {
    let mut rows = page["rows"].as_array().unwrap().clone();
    rows.iter_mut().for_each(|row| drop(row.as_object_mut().unwrap().remove("rank")));
    rows
}

#[test]
fn what_is_followed_is_what_the_view_says_through_random_changes() {
    let mut config = config();
    // so that who has seen everything is told how far that is
    config.limits.heartbeat_ms = 50;
    let server = server::start(config, vec![service("board", BOARD)]).unwrap();
    let address = server.address();
    let mut client = Client::new(address);
    let paths = ["Table?limit=5", "Top?limit=3", "Most?"].map(|it| {
        let (view, query) = it.split_once('?').unwrap();
        (format!("/v1/board/views/{view}/live?{query}"), format!("/v1/board/views/{it}"))
    });
    let mut followers: Vec<Follower> =
        paths.iter().map(|(live, _)| Follower::open(address, live, "")).collect();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |most: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 11) % most
    };
    for round in 0..60 {
        let mut revision = String::new();
        for _ in 0..=below(4) {
            let (score, club) = (format!("s{}", below(9)), format!("c{}", below(2)));
            let (operation, body) = match below(5) {
                0 => ("name", json!({ "club": club, "name": format!("n{}", below(9)) })),
                1 | 2 => (
                    "put",
                    json!({ "score": score, "points": below(6), "by": "ann", "club": club }),
                ),
                3 => ("mark", json!({ "score": score, "points": below(6) })),
                _ => ("drop", json!({ "score": score })),
            };
            let done = client.post(&format!("/v1/board/judge/{operation}"), &body);
            if done.status == 200 {
                revision = done.json()["revision"].as_str().unwrap().to_string();
            }
        }
        if revision.is_empty() {
            continue;
        }
        for ((live, whole), follower) in paths.iter().zip(&mut followers) {
            follower.until(&revision);
            let said = client.get(whole).json();
            match said["rows"].is_array() {
                true => assert_eq!(follower.rows, without_rank(&said), "round {round}: {live}"),
                false => assert_eq!(follower.answer["max"], said["max"], "round {round}: {live}"),
            }
            if round % 17 == 16 {
                // it comes back, and has the whole again, nothing earlier than it had
                let header = format!("last-event-id: {}\r\n", follower.id);
                *follower = Follower::open(address, live, &header);
                follower.until(&revision);
                assert_eq!(follower.events[0], "snapshot");
            }
        }
    }
    assert!(followers[0].events.iter().any(|event| event == "change"));
    assert!(followers[2].events.iter().all(|event| event == "snapshot"), "a number is told whole");
}

#[test]
fn a_follower_is_told_its_own_rows_and_let_go_with_its_token() {
    let guarded = guarded_with(vec![service("board", BOARD)]);
    let address = guarded.server.address();
    let mut client = guarded.client();
    let judge = guarded.token("olga", "judge");
    let bob = guarded.issue("bob", identity::Roles::some(["player"]));
    let bearer = format!("authorization: Bearer {}\r\n", bob.text);
    let mut mine = Follower::open(address, "/v1/board/views/Mine/live", &bearer);
    let mut table = Follower::open(address, "/v1/board/views/Table/live", &bearer);
    assert!(mine.step() && table.step());
    for (score, by) in [("a", "ann"), ("b", "bob"), ("c", "ann"), ("d", "bob")] {
        let body = json!({ "score": score, "points": 1, "by": by });
        assert_eq!(post(&mut client, &judge, "/v1/board/judge/put", &body).status, 200);
    }
    for follower in [&mut mine, &mut table] {
        while follower.rows.len() < 2 {
            assert!(follower.step());
        }
        let keys: Vec<&Value> = follower.rows.iter().map(|row| &row["key"][0]).collect();
        assert_eq!(keys, ["b", "d"]);
        assert!(!follower.answer.to_string().contains("ann"));
    }
    guarded.tool.revoke(identity::Target::Principal("bob"), identity::now_s()).unwrap();
    while mine.step() {}
    let turned = client.request(
        "GET",
        "/v1/board/views/Mine/live",
        &[("authorization", &format!("Bearer {}", bob.text))],
        "",
    );
    assert_eq!(turned.status, 401);
    let wrong = crate::security::get(&mut client, &judge, "/v1/board/views/Mine/live");
    assert_eq!(wrong.status, 403, "{wrong:?}");
}

#[test]
fn what_cannot_be_followed_has_a_status_and_who_does_not_read_is_let_go() {
    let mut config = config();
    config.limits.stall_ms_max = 100;
    config.limits.wait_ms_max = 100;
    let server = server::start(config, vec![service("board", BOARD)]).unwrap();
    let mut client = Client::new(server.address());
    for (path, status) in [
        ("views/Nothing/live", 404),
        ("views/Table/live?after=00", 422),
        ("views/Table/live?around=a", 422),
        ("views/Table/live?limit=0", 422),
        ("views/Table/live?room=r", 422),
        ("views/Table/live?at_least=0-999", 503),
    ] {
        assert_eq!(client.get(&format!("/v1/board/{path}")).status, status, "{path}");
    }
    let mut idle = Client::new(server.address());
    idle.send(b"GET /v1/board/views/Table/live HTTP/1.1\r\nhost: x\r\n\r\n");
    assert_eq!(idle.head().0, 200);
    let following = |client: &mut Client| {
        let metrics = client.get("/metrics").text();
        let line = metrics
            .lines()
            .find(|line| line.starts_with("steadfast_followers "))
            .map(str::to_string);
        line.unwrap_or_else(|| panic!("{metrics}"))
    };
    assert!(following(&mut client).ends_with(" 1"));
    // much is told, and nothing is read
    let name = "n".repeat(60_000);
    let club = json!({ "club": "c", "name": name });
    assert_eq!(client.post("/v1/board/judge/name", &club).status, 200);
    for at in 0..400 {
        let body = json!({ "score": format!("s{at}"), "points": at, "by": "ann", "club": "c" });
        assert_eq!(client.post("/v1/board/judge/put", &body).status, 200);
        if following(&mut client).ends_with(" 0") {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("it still follows");
}
