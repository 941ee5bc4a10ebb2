//! A goal in its slice has the verdict that it has in the whole design.

use std::path::{Path, PathBuf};

use crate::support::text::compiled;
use design::model::Design;
use model_checker::{FailureStatus, Options, Report, Verdict, WitnessKind, check};

fn designs(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder of designs")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "design"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{}", folder.display());
    files
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Proved => "proved",
        Verdict::Holds(_) => "holds",
        Verdict::Violated(_) => "violated",
        Verdict::Unknown(_) => "not known",
    }
}

fn status(status: &FailureStatus) -> &'static str {
    match status {
        FailureStatus::LoadBearing(_) => "load-bearing",
        FailureStatus::Redundant { .. } => "redundant",
        FailureStatus::Vacuous { .. } => "vacuous",
        FailureStatus::Unknown { .. } => "not known",
        FailureStatus::Compiler { .. } => "compiler",
        FailureStatus::Measured => "measured",
    }
}

/// What the two say, where it is not the same. In a slice less may be cut, so what held within bounds may be
/// proved; and a bound that ended one search may not end the other.
fn differences(sliced: &Report, whole: &Report) -> Vec<String> {
    let mut all = Vec::new();
    for (one, other) in sliced.goals.iter().zip(&whole.goals) {
        let (is, was) = (word(&one.verdict), word(&other.verdict));
        let better = matches!((is, was), ("proved", "holds") | (_, "not known"));
        if is != was && !better {
            all.push(format!("{} is {is} in its slice, {was} in the whole", one.name));
        }
    }
    for (one, other) in sliced.failures.iter().zip(&whole.failures) {
        let (is, was) = (status(&one.status), status(&other.status));
        if is != was && was != "not known" {
            all.push(format!("{}: {is} in its slice, {was} in the whole", one.claim));
        }
    }
    let mut seen: Vec<&String> = sliced.unwitnessed.iter().collect();
    let mut known: Vec<&String> = whole.unwitnessed.iter().collect();
    seen.sort();
    known.sort();
    if seen != known {
        all.push(format!("never seen {seen:?} in slices, {known:?} in the whole"));
    }
    all
}

fn compared(design: &Design) -> Vec<String> {
    let options = Options { free: false, max_states: 200_000, ..Options::default() };
    let whole = Options { slices: false, ..options.clone() };
    let whole = check(design, &whole, &mut |_| ()).expect("a world");
    let in_pieces = Options { at_once: 0, ..options.clone() };
    let mut all = Vec::new();
    for options in [options, in_pieces] {
        let sliced = check(design, &options, &mut |_| ()).expect("a world");
        let told = |what| format!("{what}, of {} at once", options.at_once);
        all.extend(differences(&sliced, &whole).into_iter().map(told));
    }
    all
}

#[test]
fn slices_say_what_the_whole_design_says() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for folder in ["planted", "verdicts"] {
        for path in designs(folder) {
            let text = std::fs::read_to_string(&path).expect("a design");
            let compiled = design::compile("slices", &text, &design::NoCatalog);
            let Some(design) = compiled.design else { continue };
            count += 1;
            let name = path.file_stem().expect("a name").to_string_lossy().to_string();
            wrong.extend(compared(&design).into_iter().map(|what| format!("{name}: {what}")));
        }
    }
    assert!(count > 200, "{count} designs");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The items of a design of the catalog and what stands in its `check`.
fn parts(path: &str) -> (String, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../designs").join(path);
    let text = std::fs::read_to_string(&path).expect("a design of the catalog");
    let heads =
        ["archetype", "design", "family", "ownership", "trust", "input", "output", "decorates"];
    let is_head = |line: &&str| heads.iter().any(|head| line.starts_with(head));
    let start = text.find("\ncheck {").expect("a world");
    let items: Vec<&str> = text[..start].lines().filter(|line| !is_head(line)).collect();
    let world = text[start..].trim().trim_start_matches("check {");
    let world = world[..world.find('}').expect("its end")].to_string();
    (items.join("\n"), world)
}

/// Several designs in one file. Only the faults of the first count: they are the same in all.
fn together(designs: &[(String, String)]) -> Design {
    let mut items = String::new();
    let mut world = String::new();
    for (number, (own, check)) in designs.iter().enumerate() {
        items.push_str(&own.replace("protocol ", &format!("protocol of_{number}_")));
        let check = match (number, check.find("faults:")) {
            (0, _) | (_, None) => check,
            (_, Some(at)) => &check[..at],
        };
        // What a caller gives is named by its step, the faults stand last.
        world = format!("{check}\n{world}");
    }
    compiled(&format!("design Together \"Several designs\"\n{items}\ncheck {{ {world} }}"))
}

fn goals_alone() -> Options {
    Options { failures: false, free: false, ..Options::default() }
}

fn cost(report: &Report) -> u64 {
    report.searches.iter().map(|search| search.states).sum()
}

const INVENTORY: &str = "
    actor clerk
    actor shopper { seen: int? of Item }
    subject Item(item: text) { truth Stock { on_hand: int 0..2 = 0, reserved: int 0..2 = 0 } }
    step clerk[receive(item: Item) { room: Stock.on_hand < 2 }] { Stock.on_hand += 1 }
    step shopper[reserve(item: Item) { enough: Stock.reserved < Stock.on_hand }] {
        Stock.reserved += 1
        seen := Stock.on_hand
    }
    step shopper[take(item: Item) { mine: seen != null  held: Stock.reserved > 0 }] {
        Stock.reserved -= 1
        Stock.on_hand -= 1
        seen := null
    }
    invariant not_oversold: all i in Item: i.reserved <= i.on_hand
";

#[test]
fn designs_in_one_file_cost_what_they_cost_alone() {
    let inventory = (INVENTORY.to_string(), "item: 2  shopper: 2".to_string());
    let designs = [parts("infra/I12.design"), inventory];
    let mut alone = Vec::new();
    for (number, (items, world)) in designs.iter().enumerate() {
        // All have the same faults, as they do in one file.
        let faults = if number == 1 { "  faults: crash, lost_reply, duplicate" } else { "" };
        let design = together(&[(items.clone(), format!("{world}{faults}"))]);
        alone.push(check(&design, &goals_alone(), &mut |_| ()).expect("a world"));
    }
    let all = check(&together(&designs), &goals_alone(), &mut |_| ()).expect("a world");
    for report in &alone {
        for goal in &report.goals {
            let held = all.goal(&goal.name).expect("the same goal");
            assert_eq!(word(&held.verdict), word(&goal.verdict), "{}", goal.name);
            assert_eq!(held.states, goal.states, "{}", goal.name);
        }
    }
    let apart: u64 = alone.iter().map(cost).sum();
    assert!(cost(&all) * 10 <= apart * 13, "{} states together, {apart} alone", cost(&all));
    let never: usize = alone.iter().map(|report| report.unwitnessed.len()).sum();
    assert_eq!(all.unwitnessed.len(), never, "{:?}", all.unwitnessed);
}

/// A lock, strengthened by a clause that reads something large.
fn strengthened(clause: &str, goal: &str, quotas: u32) -> Design {
    compiled(&format!(
        "design Strengthened \"A lock that a quota was added to\"
         actor user
         actor clerk
         subject Lock(lock: text) {{ truth L {{ held: bool = false, taken: int 0..9 = 0 }} }}
         subject Quota(quota: text) {{ truth Q {{ a: int 0..20 = 0, b: int 0..20 = 0, open: bool = false }} }}
         step clerk[more_a(quota: Quota) {{ room: Q.a < 20 }}] {{ Q.a += 1 }}
         step clerk[more_b(quota: Quota) {{ room: Q.b < 20 }}] {{ Q.b += 1 }}
         step clerk[unlock(quota: Quota) {{ much: Q.a >= 1  also: Q.b >= 1 }}] {{ Q.open := true }}
         step user[take(lock: Lock, quota: Quota) {{
             {clause}
         }}] {{ L.held := true  L.taken := 1 }}
         invariant goal: {goal}
         check {{ lock: 1  quota: {quotas} }}"
    ))
}

fn with_states(max_states: usize) -> Options {
    Options { max_states, threads: 1, open: true, ..goals_alone() }
}

#[test]
fn a_clause_that_reads_other_records_is_left_open_where_the_goal_does_not_need_it() {
    let design =
        strengthened("free: not L.held  enough: quota.open", "all l in Lock: l.taken <= 1", 2);
    let report = check(&design, &with_states(2_000), &mut |_| ()).expect("a world");
    let goal = &report.goals[0];
    assert_eq!(word(&goal.verdict), "proved", "{:?}", goal.verdict);
    assert_eq!(goal.slice.as_deref(), Some("Lock; left open: take.enough"));
    assert!(goal.states < 10, "{} states", goal.states);
    let whole = Options { slices: false, ..with_states(2_000) };
    let report = check(&design, &whole, &mut |_| ()).expect("a world");
    assert_eq!(word(&report.goals[0].verdict), "not known");
}

#[test]
fn a_clause_that_the_goal_needs_joins_its_slice() {
    // Nothing can be taken: the quota is never open and closed at once.
    let clause = "never: quota.open and not quota.open";
    let design = strengthened(clause, "all l in Lock: not l.held", 1);
    let report = check(&design, &with_states(200_000), &mut |_| ()).expect("a world");
    assert_eq!(word(&report.goals[0].verdict), "proved", "{:?}", report.goals[0].verdict);
    let report = check(&design, &with_states(400), &mut |_| ()).expect("a world");
    assert_ne!(word(&report.goals[0].verdict), "violated", "left open, it could be taken");
}

#[test]
fn a_history_that_needs_something_elsewhere_is_told_whole() {
    let design =
        strengthened("free: not L.held  enough: quota.open", "all l in Lock: not l.held", 2);
    let report = check(&design, &with_states(2_000), &mut |_| ()).expect("a world");
    let Verdict::Violated(trace) = &report.goals[0].verdict else {
        panic!("{:?}", report.goals[0].verdict);
    };
    let steps: Vec<&str> = trace.steps.iter().map(|step| &step.name[..]).collect();
    assert_eq!(steps.last(), Some(&"take"));
    for step in ["more_a", "more_b", "unlock"] {
        assert!(steps.contains(&step), "{steps:?}");
    }
}

/// A log that the goal does not read ends the histories of the whole design, and not those of the slice.
#[test]
fn what_has_no_room_in_the_whole_design_is_no_defect() {
    let design = compiled(
        "design Full
         actor user { seen: int? of Alpha }
         subject Alpha(a: text) { truth S { n: int = 0 } log L { k: int } }
         step user[back(a: Alpha)] { a.n := a.seen }
         step user[look(a: Alpha) { some: a.n != 0 }] { append L { k: 1 } a.seen := a.n }
         step user[up(a: Alpha)] { append L { k: 1 } a.n += 1 }
         invariant grows: all v in Alpha: v.n >= old(v.n)
         check { user: 1  a: 1  S.n: 0..2  log: 2 }",
    );
    let report = check(&design, &goals_alone(), &mut |_| ()).expect("a world");
    let [grows] = &report.goals[..] else { panic!("{:?}", report.goals) };
    let Verdict::Holds(bounds) = &grows.verdict else { panic!("{:?}", grows.verdict) };
    assert!(bounds.iter().any(|bound| bound.contains("L: 2 entries")), "{bounds:?}");
    assert_eq!(grows.slice, None, "the whole design was looked at, and the line says so");
}

/// A literal that only another goal names is a value of the slice, and is called the same there.
#[test]
fn a_value_has_one_name_in_every_slice() {
    let design = compiled(
        r#"design Names
           actor user
           subject Alpha(a: text) { truth S { t: text = "" } }
           subject Beta(b: text) { truth B { t: text = "" } }
           step user[write(a: Alpha, b: Beta, name: text = "x")] { a.t := name b.t := name }
           invariant few: count(v in Beta where v.t != "y") <= 1
           recovers empty: all v in Alpha: v.t = "" or v.t = "x"
           check { user: 1  a: 1  b: 1  name: 1 }"#,
    );
    let report = check(&design, &goals_alone(), &mut |_| ()).expect("a world");
    let words: Vec<&str> = report.goals.iter().map(|goal| word(&goal.verdict)).collect();
    assert_eq!(words, ["proved", "violated"]);
}

/// A clause that follows a reference to nothing refuses, although it is never false.
#[test]
fn a_clause_that_cannot_be_told_is_not_free() {
    let design = compiled(
        "design Untold
         actor user
         subject Gamma(c: text) { truth G { on: bool = false } }
         subject Delta(d: text) { truth D { on: bool = false, under: Gamma? } }
         step user[up(d: Delta)] { d.on := true }
         step user[down(d: Delta) { asked: not d.under.on }] { d.on := false }
         invariant stays: all d in Delta: old(d.on) implies d.on
         check { c: 1  d: 1 }",
    );
    let report = check(&design, &Options { threads: 1, ..Options::default() }, &mut |_| ());
    let report = report.expect("a world");
    assert_eq!(word(&report.goals[0].verdict), "proved");
    assert_eq!(report.free, [], "without it `down` is accepted");
}

/// A crash takes what is volatile from a place. In the slice of another goal there is nothing of it to take.
#[test]
fn what_is_volatile_elsewhere_is_not_lost_in_a_slice() {
    let design = compiled(
        "design Elsewhere
         actor user
         subject Node(node: text) at node { truth N { on: bool = false } volatile Soft { n: int 0..1 = 0 } }
         subject Book(book: text) { truth B { open: bool = false } }
         step user[count(node: Node)] { node.n := 1 }
         step user[begin(book: Book)] { book.open := true }
         invariant stays: all b in Book: old(b.open) implies b.open
         check { node: 1  book: 1  faults: crash }",
    );
    let report = check(&design, &goals_alone(), &mut |_| ()).expect("a world");
    let [stays] = &report.goals[..] else { panic!("{:?}", report.goals) };
    assert_eq!(word(&stays.verdict), "proved", "{:?}", stays.verdict);
    assert_eq!(stays.slice.as_deref(), Some("Book"));
}

/// A path whose steps have nothing else in common is seen in one history, also where all else is explored in pieces.
#[test]
fn a_path_is_seen_in_one_piece() {
    let design = compiled(
        "design Path \"Two steps of one path\"
         actor user
         subject Door(door: text) { truth D { open: bool = false } }
         subject Lamp(lamp: text) { truth L { on: bool = false } }
         step user[enter(door: Door) { shut: not D.open }] { D.open := true }
         step user[light(lamp: Lamp) { dark: not L.on }] { L.on := true }
         protocol home { user[enter] -> user[light] => done }
         invariant one_door: count(Door where open) <= 1
         invariant one_lamp: count(Lamp where on) <= 1
         check { door: 1  lamp: 1  user: 1 }",
    );
    for at_once in [0, 400_000] {
        let options = Options { at_once, free: false, ..Options::default() };
        let report = check(&design, &options, &mut |_| ()).expect("a world");
        assert!(report.unwitnessed.is_empty(), "{:?}", report.unwitnessed);
        assert!(report.witnesses.iter().any(|seen| seen.kind == WitnessKind::Path));
    }
}
