//! Views follow the feed, and building them anew gives the same.

use crate::support;

use runtime::{CallError, ViewQuery};
use serde_json::{Value, json};
use support::{Bench, ask, bench, compile, design};

fn query(view: &str) -> ViewQuery {
    ViewQuery { view: view.into(), ..ViewQuery::default() }
}

fn add_seat(bench: &Bench, seat: &str, section: &str) {
    let add = ask("organizer", "add_seat", "olga").with("seat", seat).with("section", section);
    bench.call(add).unwrap();
}

fn keys(answer: &Value) -> Vec<String> {
    let rows = answer["rows"].as_array().unwrap();
    rows.iter().map(|row| row["key"][0].as_str().unwrap().to_string()).collect()
}

#[test]
fn a_list_shows_a_group_in_order_page_by_page() {
    let bench = bench(design("systems/tickets"));
    for n in 0..25 {
        add_seat(&bench, &format!("s{:02}", 24 - n), if n % 5 == 0 { "B" } else { "A" });
    }
    bench.call(ask("buyer", "hold", "ann").with("seat", "s03").with("booking", "b")).unwrap();
    let mut available = query("Availability");
    available.params.insert("section".into(), json!("A"));
    available.limit = Some(8);
    let mut all = Vec::new();
    loop {
        let page = bench.runtime.view(&available).unwrap();
        assert_eq!(page["total"], 19);
        all.extend(keys(&page));
        match page["next"].as_str() {
            Some(next) => available.after = Some(next.into()),
            None => break,
        }
    }
    let expected: Vec<String> =
        (0..25).filter(|n| (24 - n) % 5 != 0 && *n != 3).map(|n| format!("s{n:02}")).collect();
    assert_eq!(all, expected);
    assert_eq!(bench.runtime.view(&query("SoldCount")).unwrap()["count"], 0);
    bench.call(ask("buyer", "confirm", "ann").with("booking", "b")).unwrap();
    let sold = bench.runtime.view(&query("SoldCount")).unwrap();
    assert_eq!((&sold["count"], &sold["revision"]), (&json!(1), &json!("0-28")));
}

const BOARD: &str = r#"
design Board
actor player
subject Player(name: text) { truth Score { points: int = 0, club: text = "", at: time? } }
step player[score(name: Player, club: text, points: int)] {
    Score.points := points
    Score.club := club
    Score.at := now
}
view Ranking(club: text) = rank Player by points desc top 3
view Points(club: text) = sum points of Player where points > 0
view Rate = window sum points of Player by at every 1m keep 2
check { name: 1 points: 0..1 club: 1 }
"#;

fn score(bench: &Bench, name: &str, club: &str, points: i64) {
    let call =
        ask("player", "score", name).with("name", name).with("club", club).with("points", points);
    bench.call(call).unwrap();
}

#[test]
fn a_rank_knows_the_top_the_position_and_the_neighbours() {
    let bench = bench(compile("board", BOARD));
    for n in 0..100 {
        score(&bench, &format!("p{n:02}"), "c", n * 10);
    }
    let mut ranking = query("Ranking");
    ranking.params.insert("club".into(), json!("c"));
    let top = bench.runtime.view(&ranking).unwrap();
    assert_eq!(keys(&top), ["p99", "p98", "p97"]);
    assert_eq!(top["rows"][0]["rank"], 1);
    ranking.around = Some(vec![json!("p50")]);
    let around = bench.runtime.view(&ranking).unwrap();
    assert_eq!(keys(&around), ["p51", "p50", "p49"]);
    assert_eq!(around["rows"][1]["rank"], 50);
    ranking.around = Some(vec![json!("nobody")]);
    assert!(matches!(bench.runtime.view(&ranking), Err(CallError::Bad(_))));
    let mut points = query("Points");
    points.params.insert("club".into(), json!("c"));
    assert_eq!(bench.runtime.view(&points).unwrap()["sum"], 49_500);
}

#[test]
fn a_window_keeps_its_last_stretches() {
    let bench = bench(compile("board", BOARD));
    for n in 0..4 {
        score(&bench, &format!("p{n}"), "c", 1 << n);
        bench.clock.advance(40_000);
    }
    let rate = bench.runtime.view(&query("Rate")).unwrap();
    assert_eq!(
        rate["stretches"],
        json!([
            { "start": "2023-11-14T22:14:00Z", "count": 2, "sum": 6 },
            { "start": "2023-11-14T22:15:00Z", "count": 1, "sum": 8 },
        ])
    );
}

/// Following and building anew lead to the same place, whatever happened.
#[test]
fn rebuild_equals_follow() {
    let bench = bench(compile("board", BOARD));
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    for round in 0..600 {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let (name, club) = (format!("p{}", seed % 40), format!("c{}", (seed >> 8) % 3));
        score(&bench, &name, &club, (seed >> 16) as i64 % 100);
        bench.clock.advance((seed >> 32) as i64 % 5_000);
        if round % 60 == 0 {
            let ask_all = || -> Vec<Value> {
                let mut answers = vec![bench.runtime.view(&query("Rate")).unwrap()];
                for club in ["c0", "c1", "c2"] {
                    for view in ["Ranking", "Points"] {
                        let mut asked = query(view);
                        asked.params.insert("club".into(), json!(club));
                        answers.push(bench.runtime.view(&asked).unwrap());
                    }
                }
                answers
            };
            let followed = ask_all();
            bench.runtime.rebuild_views().unwrap();
            assert_eq!(followed, ask_all(), "round {round}");
        }
    }
}
