//! The failures of the catalog, carried out over HTTP as `designs/SHOWN.md` says: without its protection each
//! happens, with it something stands in the way.

use std::fs;
use std::path::{Path, PathBuf};

use design::model::Design;
use model_checker::render::Kept;
use model_checker::sample::claims;
use steadfast::broken::{Not, carry_out, is_of, read, result};

fn designs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../designs");
    let mut found = Vec::new();
    for folder in ["infra", "product", "systems"] {
        for file in fs::read_dir(root.join(folder)).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "design") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn compiled(path: &Path) -> (String, Design) {
    let text = fs::read_to_string(path).unwrap();
    let design = steadfast::load(&path.display().to_string(), &text).unwrap();
    (text, design)
}

/// Every history that is kept beside a design, and what is said of it.
fn histories(path: &Path, design: &Design) -> Vec<(Kept, String)> {
    let beside = fs::read_to_string(path.with_extension("traces")).unwrap_or_default();
    read(design, &beside).unwrap_or_else(|line| panic!("{}: {line}", path.display()))
}

/// Which part of the catalog: the tests of one program run beside each other.
fn carried_out(part: usize, parts: usize) {
    let mut wrong = Vec::new();
    let (mut shown, mut all) = (0, 0);
    for path in designs().into_iter().skip(part).step_by(parts) {
        let (text, design) = compiled(&path);
        let name = path.file_stem().unwrap().to_string_lossy().to_lowercase();
        let claims = claims(&design);
        for (history, said) in histories(&path, &design) {
            all += 1;
            let claim = claims.iter().find(|claim| is_of(&history, claim));
            let Some(claim) = claim else {
                wrong.push(format!("{name}: no such claim: {}", history.claim));
                continue;
            };
            let carried = carry_out(&name, &text, claim, &history.trace);
            shown += usize::from(carried.is_ok());
            let now = result(&carried);
            if now != said || matches!(carried, Err(Not::TheSame(_))) {
                wrong.push(format!(
                    "{name}: {}: {}\n  kept {said}\n  now  {now}",
                    claim.title, claim.claim
                ));
            }
        }
    }
    println!("{shown} of {all} histories carried out");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(shown * 10 >= all * 9 && shown > 0, "only {shown} of {all} were carried out");
}

#[test]
fn failures_of_the_catalog_happen_without_their_protections_first_half() {
    carried_out(0, 2);
}

#[test]
fn failures_of_the_catalog_happen_without_their_protections_second_half() {
    carried_out(1, 2);
}

/// Every failure that the verdict calls load-bearing has its history beside it.
#[test]
fn every_load_bearing_protection_has_its_history() {
    for path in designs() {
        let (_, design) = compiled(&path);
        let verdict = fs::read_to_string(path.with_extension("verdict")).unwrap();
        let mut load_bearing: Vec<String> = verdict
            .lines()
            .filter(|line| line.contains(": load-bearing in "))
            .filter_map(|line| line.strip_prefix("failure \""))
            .map(|line| line.split(": load-bearing in ").next().unwrap().replacen('"', "", 1))
            .collect();
        let mut kept: Vec<String> = histories(&path, &design)
            .iter()
            .map(|(history, _)| format!("{}: {}", history.title, history.claim))
            .collect();
        load_bearing.sort();
        kept.sort();
        assert_eq!(kept, load_bearing, "{}", path.display());
        let mark = |text: &str| text.lines().next().unwrap_or_default().to_owned();
        let traces = fs::read_to_string(path.with_extension("traces")).unwrap();
        assert_eq!(mark(&traces), mark(&verdict), "{}: of another text", path.display());
    }
}

const SEATS: &str = "
design Seats
actor buyer
subject Seat(seat: text) { truth Hold { by: actor?, count: int = 0 } }
step buyer[add(seat: new Seat)] { Hold.count := 0 }
step buyer[hold(seat: Seat) { free: Hold.by = null }] { Hold.by := me  Hold.count += 1 }
invariant one: all s in Seat: s.count <= 1
failure \"double booking\" { without hold.free breaks one }
check { seat: 1  buyer: 2  Hold.count: 0..3 }
";

fn seats(text: &str, claim_of: usize) -> Result<steadfast::broken::Carried, Not> {
    let design = steadfast::load("seats", text).unwrap();
    let options = model_checker::Options { threads: 1, ..model_checker::Options::default() };
    let report = model_checker::check(&design, &options, &mut |_| ()).unwrap();
    let found = model_checker::render::histories(&report);
    let claim = match claims(&design).into_iter().nth(claim_of) {
        Some(claim) => claim,
        None => model_checker::sample::goal_claim(&design, "one").unwrap(),
    };
    let history = found.iter().find(|kept| is_of(kept, &claim)).expect("it breaks");
    carry_out("seats", text, &claim, &history.trace)
}

#[test]
fn a_guard_that_is_taken_away_shows_its_damage_and_refuses_when_it_is_there() {
    let carried = seats(SEATS, 0).unwrap_or_else(|not| panic!("{not:?}"));
    assert_eq!(carried.without.end, replay::End::Breaks);
    assert_eq!(carried.with.unwrap().end, replay::End::Refused("free".into()));
    assert_eq!(carried.without.lines.len(), 3);
}

/// A goal that breaks as written is shown as it breaks, with nothing taken away.
#[test]
fn a_goal_that_breaks_as_written_breaks_on_the_server() {
    let text = SEATS
        .replace(" { free: Hold.by = null }", "")
        .replace("failure \"double booking\" { without hold.free breaks one }\n", "");
    let carried = seats(&text, 0).unwrap_or_else(|not| panic!("{not:?}"));
    assert_eq!(carried.without.end, replay::End::Breaks);
    assert!(carried.with.is_none());
}
