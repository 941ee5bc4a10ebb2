//! Random histories with kills: following, building anew and counting by hand give the same, for every form.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use runtime::{ManualClock, Request, Runtime, Settings, ViewQuery};
use serde_json::{Value, json};
use store::Store;
use store_embedded::{Embedded, Options};

use crate::support::{Chance, START, ask, compile};
use crate::view_forms::{DESIGN, of_team, query};

const USERS: [&str; 3] = ["ann", "bob", "cid"];
const TEAMS: [&str; 2] = ["t", "u"];

/// Steps by chance.
struct Steps(Chance);

impl Steps {
    fn below(&mut self, most: u64) -> u64 {
        self.0.below(most)
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }

    fn step(&mut self) -> Request {
        let file = format!("f{}", self.below(5));
        let share = format!("s{}", self.below(12));
        let folder = format!("d{}", self.below(3));
        let word = format!("w{}", self.below(9));
        let weight = format!("{}.{:02}", self.below(9) as i64 - 3, self.below(100));
        let reference = |it: &String, none: bool| if none { Value::Null } else { json!(it) };
        let none = self.below(4) == 0;
        let to = self.of(&USERS);
        let by = |operation: &str| ask("user", operation, "ann");
        match self.below(10) {
            0 => by("name").with("folder", folder).with("name", word),
            1 => {
                let put = by("put").with("file", file).with("path", word).with("size", 1);
                put.with("folder", reference(&folder, none))
            }
            2 => by("move").with("file", file).with("path", word),
            3 => by("drop").with("file", file),
            4 | 5 => {
                let hits = if none { Value::Null } else { json!(self.below(7) as i64 - 3) };
                let made = by("share").with("share", share).with("file", reference(&file, none));
                made.with("to", to)
                    .with("team", self.of(&TEAMS))
                    .with("weight", weight)
                    .with("hits", hits)
            }
            6 => by("weigh").with("share", share).with("weight", weight),
            7 => by("hand").with("share", share).with("to", to),
            8 => by("point").with("share", share).with("file", reference(&file, none)),
            _ => by("unshare").with("share", share),
        }
    }
}

/// Everything that the views say, by question.
fn answers(runtime: &Runtime) -> BTreeMap<String, Value> {
    let mut asked: Vec<ViewQuery> =
        ["MostHits", "Latest", "LongestWait", "MeanHits", "Top"].map(query).into();
    for team in TEAMS {
        asked.extend(["Heaviest", "Lightest", "Mean", "Listed"].map(|view| of_team(view, team)));
    }
    for user in USERS {
        let mut own: Vec<ViewQuery> = ["Mine", "MyCount", "MyBest"].map(query).into();
        own.extend(TEAMS.map(|team| of_team("MyTeam", team)));
        for mut one in own {
            one.me = Some(user.into());
            asked.push(one);
        }
    }
    let named = |one: &ViewQuery| format!("{} {:?} {:?}", one.view, one.params, one.me);
    asked.iter().map(|one| (named(one), runtime.view(one).unwrap())).collect()
}

/// A share, as its record says.
struct Share {
    key: String,
    truth: Value,
    weight: i64,
}

fn hundredths(text: &str) -> i64 {
    text.replace('.', "").parse().unwrap()
}

/// What the answers must be, counted from the records one by one.
fn by_hand(runtime: &Runtime) -> BTreeMap<String, Value> {
    let get = |subject: &str, key: &str| {
        let found = store::block_on(runtime.get(subject, &[json!(key)])).unwrap();
        found.map(|found| found.truth)
    };
    let mut shares: Vec<Share> = Vec::new();
    for at in 0..12 {
        let key = format!("s{at}");
        let Some(truth) = get("Share", &key) else { continue };
        let truth = truth["ShareState"].clone();
        let weight = hundredths(truth["weight"].as_str().unwrap());
        shares.push(Share { key, truth, weight });
    }
    let mut found = BTreeMap::new();
    let keys = |rows: &[&Share]| json!(rows.iter().map(|row| &row.key).collect::<Vec<_>>());
    let text = |hundredths: i64| {
        let sign = if hundredths < 0 { "-" } else { "" };
        json!(format!("{sign}{}.{:02}", hundredths.abs() / 100, hundredths.abs() % 100))
    };
    for team in TEAMS {
        let mut rows: Vec<&Share> = shares.iter().filter(|row| row.truth["team"] == team).collect();
        let greatest = rows.iter().map(|row| row.weight).max();
        let least = rows.iter().map(|row| row.weight).filter(|weight| *weight > 0).min();
        found.insert(format!("max {team}"), greatest.map_or(Value::Null, text));
        found.insert(format!("min {team}"), least.map_or(Value::Null, text));
        let sum: i64 = rows.iter().map(|row| row.weight).sum();
        found.insert(
            format!("avg {team}"),
            half_even(sum, rows.len() as i64).map_or(Value::Null, text),
        );
        rows.sort_by_key(|row| (-row.weight, row.key.clone()));
        let shown: Vec<Value> = rows
            .iter()
            .map(|row| {
                let file = row.truth["file"].as_str().and_then(|file| get("File", file));
                let Some(file) = file else { return json!([row.key, null, null]) };
                // a folder is always there
                let folder = file["FileState"]["folder"].as_str();
                let folder = folder.map(|folder| match get("Folder", folder) {
                    Some(truth) => truth["FolderState"]["name"].clone(),
                    None => json!(""),
                });
                json!([row.key, file["FileState"]["path"], folder])
            })
            .collect();
        found.insert(format!("listed {team}"), json!(shown));
    }
    for user in USERS {
        let mut rows: Vec<&Share> = shares.iter().filter(|row| row.truth["to"] == user).collect();
        found.insert(format!("count {user}"), json!(rows.len()));
        let best = rows.iter().map(|row| row.weight).filter(|weight| *weight > 100).max();
        found.insert(format!("best {user}"), best.map_or(Value::Null, text));
        rows.sort_by_key(|row| (row.weight, row.key.clone()));
        found.insert(format!("mine {user}"), keys(&rows));
    }
    let hits = shares.iter().filter_map(|row| row.truth["hits"].as_i64()).max();
    found.insert("hits".into(), json!(hits));
    found
}

/// The quotient as a whole number; what lies in the middle, to the even one.
fn half_even(sum: i64, count: i64) -> Option<i64> {
    if count == 0 {
        return None;
    }
    let (down, rest) = (sum.div_euclid(count), sum.rem_euclid(count));
    let up = 2 * rest > count || 2 * rest == count && down % 2 != 0;
    Some(down + i64::from(up))
}

/// The same questions, of what the views answered.
fn of_views(answers: &BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    let one = |view: &str, about: &str| {
        let mut fitting = answers
            .iter()
            .filter(|(asked, _)| asked.split(' ').next() == Some(view) && asked.contains(about));
        fitting.next().expect("it was asked").1
    };
    let rows = |page: &Value| page["rows"].as_array().unwrap().clone();
    let keys =
        |page: &Value| json!(rows(page).iter().map(|row| &row["key"][0]).collect::<Vec<_>>());
    let mut found = BTreeMap::new();
    for team in TEAMS {
        let about = format!("String(\"{team}\")");
        found.insert(format!("max {team}"), one("Heaviest", &about)["max"].clone());
        found.insert(format!("min {team}"), one("Lightest", &about)["min"].clone());
        found.insert(format!("avg {team}"), one("Mean", &about)["avg"].clone());
        let shown: Vec<Value> = rows(one("Listed", &about))
            .iter()
            .map(|row| {
                let with = &row["with"];
                json!([row["key"][0], with["file.path"], with["file.folder.name"]])
            })
            .collect();
        found.insert(format!("listed {team}"), json!(shown));
    }
    for user in USERS {
        let about = format!("Some(\"{user}\")");
        found.insert(format!("count {user}"), one("MyCount", &about)["count"].clone());
        found.insert(format!("best {user}"), one("MyBest", &about)["max"].clone());
        found.insert(format!("mine {user}"), keys(one("Mine", &about)));
    }
    found.insert("hits".into(), one("MostHits", "")["max"].clone());
    found
}

fn directory(seed: u64) -> PathBuf {
    std::env::temp_dir().join(format!("steadfast-views-{seed}-{}", std::process::id()))
}

#[test]
fn following_building_anew_and_counting_by_hand_agree_through_kills() {
    for seed in 1..=4_u64 {
        let directory = directory(seed);
        let clock = Arc::new(ManualClock::new(START));
        let open = || {
            let store: Arc<dyn Store> =
                Arc::new(Embedded::open(&directory, Options::default()).unwrap());
            let design = compile("files", DESIGN);
            Runtime::open_with_clock(design, store, Settings::default(), clock.clone()).unwrap()
        };
        let mut chance = Steps(Chance::new(seed));
        let mut runtime = open();
        let (mut done, mut kills) = (0, 0);
        for round in 0..240 {
            done += usize::from(runtime.call(&chance.step()).is_ok());
            clock.advance(chance.below(3_000) as i64);
            // views follow now and then, so that what they missed meanwhile varies
            if chance.below(3) == 0 {
                runtime.follow_views().unwrap();
            }
            if chance.below(15) == 0 {
                // the last step is decided, and whether it is durable nobody has waited for
                drop(runtime.begin(&chance.step()).map(|(ticket, _)| ticket));
                drop(runtime);
                runtime = open();
                kills += 1;
            }
            if round % 20 == 19 {
                let followed = answers(&runtime);
                assert_eq!(of_views(&followed), by_hand(&runtime), "seed {seed}, round {round}");
                runtime.rebuild_views().unwrap();
                assert_eq!(followed, answers(&runtime), "seed {seed}, round {round}");
            }
        }
        assert!(done > 60 && kills > 3, "seed {seed}: {done} steps, {kills} kills");
        drop(runtime);
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
