use super::super::{facts, outline, verdict};
use super::*;
use crate::repo;

const DESIGN: &str = "\
archetype I02 Claim \"Claim\"

subject Resource(resource: text) {
    truth ClaimState { owner_id: actor? }
    truth LeaseState { expiry_at: time? }
}

step claimant[claim(resource: Resource) { free: ClaimState.owner_id = null }] { ClaimState.owner_id := me }

repair reaper[reclaim(resource: Resource) { expired: LeaseState.expiry_at < now }] {}

protocol main { claimant[claim] -> reaper[reclaim] => done }

hotspot \"hot key\" on Resource
";

const VERDICT: &str = "\
formatted yes
design Claim: proved
states 12
failure \"duplicate claim\": without claim.free breaks one: load-bearing in 2 steps
";

/// The cells of the one archetype, and what it lacks.
fn check(design: &str, verdict: &str, cells: &str, missing: &[&str]) {
    check_driven(&["main"], design, verdict, cells, missing);
}

fn check_driven(driven: &[&str], design: &str, verdict: &str, cells: &str, missing: &[&str]) {
    let page = written(driven, design, verdict, ("", ""));
    found(&page, &format!("{cells} | - | - | 1 / 2"), missing);
}

/// The ledger of one archetype that has a design, and of another that has none.
fn written(driven: &[&str], design: &str, verdict: &str, (pairs, notes): (&str, &str)) -> String {
    let table = |name: &str, rows: &str| {
        repo::file(&format!("designs/facts/{name}.tsv"), &format!("head\n{rows}"))
    };
    let files = [
        table("archetypes", "A05\tView\nI02\tClaim\n"),
        table("states", "I02\tClaimState\towner_id\t-\nI02\tLeases\texpiry_at\tLeaseState\n"),
        table(
            "protocols",
            "I02\tmain\t1\t1\tclaimant\tclaim\tClaimState.owner_id\t-\n\
             I02\tmain\t1\t2\treaper\treclaim\tLeaseState.expiry_at\tdone\n",
        ),
        table("failures", "A05\tlag\nI02\tduplicate claim\n"),
        table("hotspots", "I02\thot key\n"),
        table("pairs", pairs),
        table("kinds", "family\ttext\ngroup\ttext\nunit\tlist\n"),
        table("notes", &format!("I02\tgroup\tcontrol\nI02\tunit\tclaim\n{notes}")),
        table("actions/I02", "write\tclaim\tclaimant[claim]\nwrite\texpire\treaper[reclaim]\n"),
        repo::file("crates/explain/tests/data/actions.tsv", "head\n"),
    ];
    let facts = facts::read(&files).unwrap();
    let design = Design {
        id: "I02".into(),
        outline: outline::outline(design),
        verdict: verdict::read(verdict),
        carried: Vec::new(),
        driven: driven.iter().map(|name| (*name).to_owned()).collect(),
    };
    page(&facts, &[design])
}

fn found(page: &str, cells: &str, missing: &[&str]) {
    let row = format!("| [I02](infra/I02.design) Claim | {cells} |\n");
    assert!(page.contains(&row), "{cells}\n{page}");
    let (_, lacks) = page.split_once("## What designs still lack").unwrap();
    let found: Vec<&str> = lacks.lines().filter_map(|line| line.strip_prefix("- ")).collect();
    assert_eq!(found, missing);
}

fn changed(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from:?}");
    text.replacen(from, to, 1)
}

#[test]
fn a_whole_design_lacks_nothing() {
    check(
        DESIGN,
        VERDICT,
        "2 / 2 | 2 / 2 | - | 1 / 1 | 2 / 2 | 1 / 1 | 1 / 1 | 0 | - | 1 / 1",
        &[],
    );
}

#[test]
fn a_state_counts_with_its_attributes() {
    check(
        &changed(DESIGN, "owner_id: actor?", "owner: actor?"),
        VERDICT,
        "1 / 2 | 2 / 2 | - | 1 / 1 | 2 / 2 | 1 / 1 | 1 / 1 | 0 | - | 1 / 1",
        &["state `ClaimState`: `owner_id`"],
    );
}

#[test]
fn an_action_counts_when_it_was_seen_to_happen() {
    check(
        DESIGN,
        &format!("{VERDICT}never seen: reclaim runs\n"),
        "2 / 2 | 1 / 2 | - | 1 / 1 | 2 / 2 | 1 / 1 | 1 / 1 | 0 | - | 1 / 1",
        &["action: expire"],
    );
}

#[test]
fn a_protocol_counts_with_its_actors_its_outcome_and_what_its_guards_read() {
    check(
        &changed(DESIGN, "=> done", "=> retry"),
        VERDICT,
        "2 / 2 | 2 / 2 | - | 0 / 1 | 2 / 2 | 0 / 1 | 1 / 1 | 0 | - | 1 / 1",
        &[
            "protocol `main`: no path `claimant[claim] -> reaper[reclaim]`",
            "protocol `main`: not driven over HTTP",
        ],
    );
    check(
        &changed(DESIGN, "{ free: ClaimState.owner_id = null }", ""),
        VERDICT,
        "2 / 2 | 2 / 2 | - | 0 / 1 | 1 / 2 | 1 / 1 | 1 / 1 | 0 | - | 1 / 1",
        &["protocol `main`: `claimant[claim]` does not read `ClaimState.owner_id`"],
    );
    check(
        &DESIGN.replace("reaper[", "sweeper["),
        VERDICT,
        "2 / 2 | 1 / 2 | - | 0 / 1 | 1 / 2 | 0 / 1 | 1 / 1 | 0 | - | 1 / 1",
        &[
            "action: expire",
            "protocol `main`: no `reaper[reclaim]`; no path `claimant[claim] -> reaper[reclaim]`",
            "protocol `main`: not driven over HTTP",
        ],
    );
}

#[test]
fn a_protocol_is_driven_when_the_script_names_it() {
    let cells = "2 / 2 | 2 / 2 | - | 1 / 1 | 2 / 2 | 0 / 1 | 1 / 1 | 0 | - | 1 / 1";
    let missing = ["protocol `main`: not driven over HTTP"];
    check_driven(&[], DESIGN, VERDICT, cells, &missing);
    check_driven(&["other"], DESIGN, VERDICT, cells, &missing);
}

#[test]
fn the_own_protocols_are_driven_where_none_are_known() {
    let tables = ["states", "protocols", "failures", "hotspots", "pairs", "kinds", "notes"];
    let mut files: Vec<repo::File> =
        tables.map(|name| repo::file(&format!("designs/facts/{name}.tsv"), "head\n")).into();
    files.push(repo::file("designs/facts/archetypes.tsv", "head\nA02\tRelation\n"));
    files.push(repo::file("crates/explain/tests/data/actions.tsv", "head\n"));
    let facts = facts::read(&files).unwrap();
    let ledger = |driven: &[&str]| {
        let design = Design {
            id: "A02".into(),
            outline: outline::outline(DESIGN),
            verdict: verdict::read(VERDICT),
            carried: Vec::new(),
            driven: driven.iter().map(|name| (*name).to_owned()).collect(),
        };
        page(&facts, &[design])
    };
    let row = |driven: &str| {
        format!(
            "| [A02](product/A02.design) Relation | - | - | - | - | - | {driven} | - | 0 | - | - | - | \
             - | - |\n"
        )
    };
    assert!(ledger(&["main"]).contains(&row("1 / 1")));
    let none = ledger(&[]);
    assert!(none.contains(&row("0 / 1")), "{none}");
    assert!(none.contains("- protocol `main`: not driven over HTTP\n"), "{none}");
}

#[test]
fn a_failure_counts_only_when_it_is_shown() {
    let said = "load-bearing in 2 steps";
    let whole = "2 / 2 | 2 / 2 | - | 1 / 1 | 2 / 2 | 1 / 1 | 1 / 1";
    let lacking = "2 / 2 | 2 / 2 | - | 1 / 1 | 2 / 2 | 1 / 1 | 0 / 1";
    let lacks = ["failure: duplicate claim"];
    for (status, cells, missing) in [
        ("redundant, covered by x, as declared: defence in depth", format!("{whole} | 0"), &[][..]),
        ("refused, does not compile: E0401", format!("{whole} | 0"), &[][..]),
        ("measured, a quantity, watched at run time", format!("{whole} | 1"), &[][..]),
        ("redundant, covered by x", format!("{lacking} | 0"), &lacks[..]),
        ("vacuous, free never refused", format!("{lacking} | 0"), &lacks[..]),
        ("unknown, too many states", format!("{lacking} | 0"), &lacks[..]),
        (
            "load-bearing in 2 steps; declared in depth, yet nothing covers it",
            format!("{lacking} | 0"),
            &lacks[..],
        ),
    ] {
        let verdict = changed(VERDICT, said, status);
        check(DESIGN, &verdict, &format!("{cells} | - | 1 / 1"), missing);
    }
    let other = changed(VERDICT, "\"duplicate claim\"", "\"double claim\"");
    check(DESIGN, &other, &format!("{lacking} | 0 | - | 1 / 1"), &lacks);
}

#[test]
fn a_hotspot_counts_under_its_name() {
    check(
        &changed(DESIGN, "\"hot key\"", "\"warm key\""),
        VERDICT,
        "2 / 2 | 2 / 2 | - | 1 / 1 | 2 / 2 | 1 / 1 | 1 / 1 | 0 | - | 0 / 1",
        &["hotspot: hot key"],
    );
}

#[test]
fn a_pair_counts_with_its_prevention_and_its_repair() {
    let check = |by: &str, verdict: &str, cells: &str, missing: &[&str]| {
        let pairs = format!("I02\tduplicate claim\tone claim\ttake it back\t{by}\n");
        let page = written(&["main"], DESIGN, verdict, (&pairs, ""));
        found(&page, &format!("{cells} | - | 1 / 2"), missing);
    };
    let rest = "2 / 2 | 2 / 2 | - | 1 / 1 | 2 / 2 | 1 / 1";
    let (with, without) = (
        format!("{rest} | 1 / 1 | 0 | - | 1 / 1 | 1 / 1"),
        format!("{rest} | 1 / 1 | 0 | - | 1 / 1 | 0 / 1"),
    );
    check("reaper[reclaim]", VERDICT, &with, &[]);
    let lacks = "pair: duplicate claim: its repair was not seen: `reaper[bury]`";
    check("reaper[reclaim] reaper[bury]", VERDICT, &without, &[lacks]);
    check("-", VERDICT, &without, &["pair: duplicate claim: nothing repairs it: take it back"]);
    let unproven = changed(VERDICT, "load-bearing in 2 steps", "redundant, covered by x");
    check(
        "reaper[reclaim]",
        &unproven,
        &format!("{rest} | 0 / 1 | 0 | - | 1 / 1 | 0 / 1"),
        &["failure: duplicate claim", "pair: duplicate claim: its prevention is not proven"],
    );
}

#[test]
fn a_family_counts_when_a_goal_is_written_with_it() {
    let notes = "I02\tinvariant_families\tprogress_never_regresses; drift_eventually_corrected\n";
    let design = format!("{DESIGN}\ninvariant up: progress_never_regresses(Resource, current)\n");
    let page = written(&["main"], &design, VERDICT, ("", notes));
    let rest = "2 / 2 | 2 / 2 | - | 1 / 1 | 2 / 2 | 1 / 1 | 1 / 1 | 0 | - | 1 / 1 | -";
    let lacks = "family of invariants: `drift_eventually_corrected`, in no goal";
    found(&page, &format!("{rest} | 1 / 2 | 1 / 2"), &[lacks]);
}

#[test]
fn an_archetype_without_a_design_covers_nothing_and_is_named() {
    let page = written(&["main"], DESIGN, VERDICT, ("", ""));
    let row = "| A05 View, not written yet | - | - | - | - | - | - | 0 / 1 | 0 | - | - | - | - | 0 / 2 |\n";
    assert!(page.contains(row), "{page}");
    assert!(page.contains("## What has no design yet\n\n- A05 View\n"), "{page}");
}

#[test]
fn a_view_counts_as_a_state_that_is_derived() {
    let view = "view LeaseState = count Resource\n";
    let design = changed(DESIGN, "    truth LeaseState { expiry_at: time? }\n", "");
    let design = design.replace("LeaseState.expiry_at", "expiry_at");
    let lacks = |design: &str| {
        let page = written(&["main"], design, VERDICT, ("", ""));
        page.lines().any(|line| line == "- state `Leases`")
    };
    assert!(lacks(&design));
    assert!(!lacks(&format!("{design}\n{view}")));
}

/// A quantity is measured; what can be proven is proven.
#[test]
fn at_most_one_failure_in_eight_is_measured() {
    let root = repo::root().unwrap();
    let facts = facts::read(&repo::files(&root).unwrap()).unwrap();
    let all: usize = facts.archetypes.iter().map(|archetype| archetype.failures.len()).sum();
    let ledger = std::fs::read_to_string(root.join("designs/LEDGER.md")).unwrap();
    let last = ledger.lines().find(|line| line.starts_with("| all |")).unwrap();
    let measured: usize = last.split('|').map(str::trim).nth(9).unwrap().parse().unwrap();
    assert!(measured * 8 <= all, "{measured} of {all} failures are measured");
}
