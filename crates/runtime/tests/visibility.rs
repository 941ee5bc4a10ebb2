//! What a role may not see leaks through nothing: not through reads, answers, refusals, the feed,
//! views or soft state.

use crate::support;

use runtime::{CallError, Request, Roles, Transition, ViewQuery, Viewer};
use serde_json::{Value, json};
use support::{Bench, ask, bench, compile, design};

/// Each secret is a text of its own, so that a leak is found wherever it is.
const CLINIC: &str = r#"
design Clinic

actor desk
actor patient { seen: int? of Case }
actor doctor
actor chief continues doctor
actor auditor
actor cleaner

subject Ward(ward: text) {
    truth WardState { head: actor?, beds: int = 0 }
}
subject Case(case: text) {
    truth Admission { ward: Ward, patient: actor, bed: int = 0 }
        visible to desk
        visible to patient where patient = me
        visible to doctor where ward.head = me
    truth Notes { text: text = "", severity: int = 0, version: int = 0 }
        visible to patient where patient = me
        visible to doctor where ward.head = me
    truth Bill { amount: int = 0 } visible to desk, patient, auditor
    log Visits { by: actor, what: text }
        visible to doctor where ward.head = me
    ephemeral Presence { note: text } visible to doctor where ward.head = me
}

step desk[build(ward: new Ward, head: actor, beds: int)] {
    WardState := { head: head, beds: beds }
}
step desk[admit(case: new Case, ward: Ward, patient: actor, bed: int) {
    room: ward.beds > 0
}] {
    Admission := { ward: ward, patient: patient, bed: bed }
    ward.beds -= 1
}
step desk[charge(case: Case, amount: int) { once: Bill.amount = 0 }] {
    Bill.amount := amount
    emit Charged { case: case, amount: Bill.amount, who: me }
}
step doctor[examine(case: Case, finding: text, severity: int) {
    yours: Admission.ward.head = me
    worse: severity >= Notes.severity
}] {
    Notes.text := finding
    Notes.severity := severity
    Notes.version += 1
    append Visits { by: me, what: finding }
    Presence.note := finding
    emit Examined { case: case, finding: Notes.text }
}
step doctor[forget(case: Case) { yours: Admission.ward.head = me }] { delete case }
step patient[consent(case: Case) { current: Notes.version = seen }] { Notes.version += 1 }
step cleaner[mop(ward: Ward) { dirty: WardState.beds < 0 }] { WardState.beds += 1 }

read patient[mine(case: Case)] = Notes { seen := Notes.version }
read patient[some_of(case: Case)] = { bed: Admission.bed, text: Notes.text, fee: Bill.amount }
read doctor[visits(case: Case)] = slice(Visits, 0, 10)
read doctor[gravest] = BySeverity()
read auditor[fee(case: Case)] = Bill.amount

view BySeverity = list Case where severity > 0 order by severity desc
view ByBed = list Case order by bed
view Grave = count Case where severity > 5
view Fees = sum amount of Case
view TopFees = rank Case by amount desc top 5

"#;

/// Two wards, a case in each, examined and charged.
fn clinic() -> Bench {
    let bench = bench(compile("clinic", CLINIC));
    for (ward, head) in [("w1", "dora"), ("w2", "dirk")] {
        let build = ask("desk", "build", "olga").with("ward", ward).with("head", head);
        bench.call(build.with("beds", 5)).unwrap();
    }
    for (case, ward, patient, bed) in [("c1", "w1", "ann", 11), ("c2", "w2", "bob", 22)] {
        let admit = ask("desk", "admit", "olga").with("case", case).with("ward", ward);
        bench.call(admit.with("patient", patient).with("bed", bed)).unwrap();
    }
    for (case, who, finding, severity) in
        [("c1", "dora", "SECRET-ANN", 7), ("c2", "dirk", "SECRET-BOB", 9)]
    {
        let examine = ask("doctor", "examine", who).with("case", case).with("finding", finding);
        bench.call(examine.with("severity", severity)).unwrap();
    }
    for (case, amount) in [("c1", 1111), ("c2", 2222)] {
        let charge = ask("desk", "charge", "olga").with("case", case).with("amount", amount);
        bench.call(charge).unwrap();
    }
    bench
}

fn viewer(who: &str, role: &str) -> Viewer {
    Viewer::with_roles(who, [role])
}

fn get(bench: &Bench, case: &str, viewer: &Viewer) -> Value {
    let key = [json!(case)];
    let found = bench.runtime.get_as("Case", &key, Some(viewer));
    store::block_on(found).unwrap().map_or(Value::Null, |found| found.truth)
}

fn states(truth: &Value) -> Vec<&str> {
    truth.as_object().map_or(Vec::new(), |object| object.keys().map(String::as_str).collect())
}

fn feed(bench: &Bench, viewer: &Viewer) -> Vec<Transition> {
    let all = store::block_on(bench.runtime.feed_as(None, 100, Some(viewer))).unwrap().0;
    all.into_iter().map(|(_, transition)| transition).collect()
}

/// Everything that is said, as a text to look for secrets in.
fn said(feed: &[Transition]) -> String {
    feed.iter().map(|transition| transition.to_json().to_string()).collect()
}

fn view(bench: &Bench, name: &str, viewer: &Viewer) -> Result<Value, CallError> {
    let query = ViewQuery { view: name.into(), ..ViewQuery::default() };
    bench.runtime.view_as(&query, Some(viewer))
}

fn keys(answer: &Value) -> Vec<&str> {
    let rows = answer["rows"].as_array().unwrap();
    rows.iter().map(|row| row["key"][0].as_str().unwrap()).collect()
}

#[test]
fn truth_is_read_by_those_it_is_visible_to() {
    let bench = clinic();
    for (who, role, case, expected) in [
        ("ann", "patient", "c1", vec!["Admission", "Bill", "Notes"]),
        ("ann", "patient", "c2", vec!["Bill"]),
        ("bob", "patient", "c2", vec!["Admission", "Bill", "Notes"]),
        ("dora", "doctor", "c1", vec!["Admission", "Notes", "Visits"]),
        ("dora", "doctor", "c2", vec![]),
        // the same principals under another name
        ("dirk", "chief", "c2", vec!["Admission", "Notes", "Visits"]),
        ("olga", "desk", "c1", vec!["Admission", "Bill"]),
        // the right principal in the wrong role
        ("dora", "patient", "c1", vec!["Bill"]),
        ("ann", "doctor", "c1", vec![]),
        ("ann", "auditor", "c1", vec!["Bill"]),
        ("ann", "cleaner", "c1", vec![]),
        ("ann", "nobody", "c1", vec![]),
    ] {
        let truth = get(&bench, case, &viewer(who, role));
        assert_eq!(states(&truth), expected, "{who} as {role} on {case}");
        // not to be told from a record that is not there
        assert_eq!(truth.is_null(), expected.is_empty());
    }
    let both = Viewer::with_roles("dora", ["doctor", "desk"]);
    assert_eq!(states(&get(&bench, "c2", &both)), ["Admission", "Bill"]);
    assert_eq!(states(&get(&bench, "c1", &both)).len(), 4);
    let operator = Viewer { principal: "x".into(), roles: Roles::All };
    assert_eq!(states(&get(&bench, "c2", &operator)).len(), 4);
    assert!(states(&get(&bench, "c9", &both)).is_empty());
}

#[test]
fn an_answer_shows_what_its_caller_may_see() {
    let bench = clinic();
    let admit = |case: &str| {
        ask("desk", "admit", "olga")
            .with("case", case)
            .with("ward", "w1")
            .with("patient", "eve")
            .with("bed", 33)
    };
    let reply = bench.call(admit("c3").seen_by(viewer("olga", "desk"))).unwrap();
    let seen: Vec<(&str, Vec<&str>)> = reply
        .truth
        .as_array()
        .unwrap()
        .iter()
        .map(|record| (record["subject"].as_str().unwrap(), states(&record["truth"])))
        .collect();
    assert!(seen.contains(&("Case", vec!["Admission", "Bill"])), "{seen:?}");
    assert!(seen.contains(&("Ward", vec!["WardState"])), "{seen:?}");
    // the same under a key, at once and again
    let keyed = admit("c4").keyed("k").seen_by(viewer("olga", "desk"));
    let first = bench.call(keyed.clone()).unwrap();
    let again = bench.call(keyed).unwrap();
    assert!(again.replayed);
    assert_eq!(first.truth, again.truth);
    assert!(!first.truth.to_string().contains("Notes"), "{}", first.truth);
    assert!(first.truth.to_string().contains("Admission"));
}

#[test]
fn a_refusal_shows_what_its_caller_may_see() {
    let bench = clinic();
    let refused = |request: Request| match bench.call(request) {
        Err(CallError::Refused(refused)) => *refused,
        other => panic!("{other:?}"),
    };
    let examine = |who: &str, severity: i64| {
        ask("doctor", "examine", who)
            .with("case", "c2")
            .with("finding", "x")
            .with("severity", severity)
            .seen_by(viewer(who, "doctor"))
    };
    let other = refused(examine("dora", 9));
    assert_eq!(other.clause, "yours");
    let text = other.truth.to_string();
    assert!(!text.contains("SECRET") && !text.contains("bob") && !text.contains("22"), "{text}");
    let own = refused(examine("dirk", 1));
    assert_eq!(own.clause, "worse");
    assert!(own.truth.to_string().contains("SECRET-BOB"));
    assert!(!own.truth.to_string().contains("2222"), "the bill is not the doctor's");
    // with and without such a record, nothing more is said of it
    let missing = refused(
        ask("doctor", "forget", "dora").with("case", "c9").seen_by(viewer("dora", "doctor")),
    );
    assert_eq!((missing.clause.as_str(), missing.truth), ("exists", json!([])));
}

#[test]
fn a_read_leaves_out_what_is_not_visible() {
    let bench = clinic();
    let read = |operation: &str, case: &str, who: &str, role: &str| {
        let asked = ask(role, operation, who).with("case", case).seen_by(viewer(who, role));
        bench.call(asked).unwrap().result
    };
    assert_eq!(read("mine", "c1", "ann", "patient")["text"], "SECRET-ANN");
    assert_eq!(read("mine", "c2", "ann", "patient"), Value::Null);
    let own = json!({ "bed": 11, "text": "SECRET-ANN", "fee": 1111 });
    assert_eq!(read("some_of", "c1", "ann", "patient"), own);
    assert_eq!(read("some_of", "c2", "ann", "patient"), json!({ "fee": 2222 }));
    assert_eq!(read("visits", "c1", "dora", "doctor")[0]["what"], "SECRET-ANN");
    assert_eq!(read("visits", "c2", "dora", "doctor"), Value::Null);
    assert_eq!(read("fee", "c1", "x", "auditor"), 1111);
    let gravest = |who: &str| {
        bench.call(ask("doctor", "gravest", who).seen_by(viewer(who, "doctor"))).unwrap().result
    };
    assert_eq!(keys(&gravest("dora")), ["c1"]);
    assert_eq!(keys(&gravest("dirk")), ["c2"]);
    // for a program that embeds the runtime nothing is left out
    let all = bench.call(ask("patient", "mine", "ann").with("case", "c2")).unwrap();
    assert_eq!(all.result["text"], "SECRET-BOB");
}

#[test]
fn the_feed_tells_each_what_is_theirs() {
    let bench = clinic();
    let ann = feed(&bench, &viewer("ann", "patient"));
    let text = said(&ann);
    assert!(text.contains("SECRET-ANN"), "{text}");
    for secret in ["SECRET-BOB", "\"bob\"", "dirk", "dora", "olga", "WardState", "Visits"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    let told: Vec<&str> = ann.iter().map(|it| it.operation.as_str()).collect();
    // of the other case only the bill is seen: that it was examined is not told
    assert_eq!(told, ["admit", "admit", "examine", "charge", "charge"]);
    assert_eq!(states(ann[1].changes[0].truth.as_ref().unwrap()), ["Bill"]);
    assert!(ann.iter().all(|it| it.events.is_empty()), "events tell of what ann may not see");

    let dora = feed(&bench, &viewer("dora", "doctor"));
    assert!(!said(&dora).contains("SECRET-BOB"));
    let examined = dora.iter().find(|it| it.operation == "examine").unwrap();
    assert_eq!(examined.principal, "dora", "who acted is told to themselves");
    assert!(dora.iter().filter(|it| it.operation != "examine").all(|it| it.principal.is_empty()));

    // nothing of it is seen: it is not there
    assert!(feed(&bench, &viewer("x", "nobody")).is_empty());
    let cleaner = feed(&bench, &viewer("carl", "cleaner"));
    assert!(cleaner.iter().all(|it| it.changes.iter().all(|change| change.subject == "Ward")));
    assert!(!cleaner.is_empty());
    // the operator sees it all
    let all = feed(&bench, &Viewer::operator("x"));
    assert_eq!(all.len(), 8);
    assert!(all.iter().any(|it| it.events
        == [("Charged".into(), json!({ "case": "c1", "amount": 1111, "who": "olga" }))]));
}

#[test]
fn a_deleted_record_leaves_no_trace_for_those_who_did_not_see_it() {
    let bench = clinic();
    let forget = ask("doctor", "forget", "dora").with("case", "c1");
    let reply = bench.call(forget.seen_by(viewer("dora", "doctor"))).unwrap();
    assert_eq!(reply.truth, json!([]), "what it would say can no longer be asked");
    let last = |who: &str, role: &str| {
        feed(&bench, &viewer(who, role)).last().map(|it| it.operation.clone())
    };
    assert_eq!(last("dirk", "doctor").as_deref(), Some("examine"));
    assert_eq!(last("dora", "doctor").as_deref(), Some("forget"), "her own doing");
    // the desk sees every admission, and so that one is gone
    assert_eq!(last("olga", "desk").as_deref(), Some("forget"));
}

#[test]
fn rows_are_filtered_and_what_counts_hidden_rows_is_not_answered() {
    let bench = clinic();
    let dora = view(&bench, "BySeverity", &viewer("dora", "doctor")).unwrap();
    assert_eq!(keys(&dora), ["c1"]);
    assert_eq!(dora.get("total"), None, "it would count what is hidden");
    assert!(!dora.to_string().contains("Bill"));
    // the desk sees that there are cases, and not how grave they are
    let desk = viewer("olga", "desk");
    assert_eq!(keys(&view(&bench, "BySeverity", &desk).unwrap()), [""; 0]);
    let beds = view(&bench, "ByBed", &desk).unwrap();
    assert_eq!((keys(&beds), &beds["total"]), (vec!["c1", "c2"], &json!(2)));
    assert!(!beds.to_string().contains("SECRET"));
    for (name, role, allowed) in [
        ("Grave", "desk", false),
        ("Grave", "doctor", false),
        ("Grave", "auditor", false),
        ("Fees", "auditor", true),
        ("Fees", "desk", true),
        ("Fees", "doctor", false),
    ] {
        let answer = view(&bench, name, &viewer("dora", role));
        match allowed {
            true => assert_eq!(answer.unwrap()["sum"], 3333, "{name} as {role}"),
            false => assert!(matches!(answer, Err(CallError::Hidden(_))), "{name} as {role}"),
        }
    }
    assert_eq!(view(&bench, "Grave", &Viewer::operator("x")).unwrap()["count"], 2);
    // a rank is told where every row may be counted
    let fees = view(&bench, "TopFees", &viewer("x", "auditor")).unwrap();
    assert_eq!((keys(&fees), &fees["rows"][0]["rank"]), (vec!["c2", "c1"], &json!(1)));
    assert_eq!(states(&fees["rows"][0]["truth"]), ["Bill"]);
    // a record that is not seen is not in the view
    let mut around = ViewQuery { view: "BySeverity".into(), ..ViewQuery::default() };
    around.around = Some(vec![json!("c2")]);
    let hidden = bench.runtime.view_as(&around, Some(&viewer("dora", "doctor"))).unwrap_err();
    around.around = Some(vec![json!("c9")]);
    let missing = bench.runtime.view_as(&around, Some(&viewer("dora", "doctor"))).unwrap_err();
    assert_eq!(hidden, missing);
}

#[test]
fn pages_of_what_is_seen_are_whole() {
    let bench = clinic();
    for n in 0..30 {
        let (ward, who) = if n % 3 == 0 { ("w1", "dora") } else { ("w2", "dirk") };
        let case = format!("d{n:02}");
        let admit = ask("desk", "admit", "olga").with("case", case.as_str()).with("ward", ward);
        let admit = admit.with("patient", "eve").with("bed", n);
        if n % 3 == 0 && n >= 9 {
            continue;
        }
        if bench.call(admit).is_err() {
            continue;
        }
        let examine = ask("doctor", "examine", who).with("case", case.as_str());
        bench.call(examine.with("finding", "x").with("severity", 1)).unwrap();
    }
    let mut seen = Vec::new();
    let mut query = ViewQuery { view: "BySeverity".into(), ..ViewQuery::default() };
    query.limit = Some(2);
    loop {
        let page = bench.runtime.view_as(&query, Some(&viewer("dora", "doctor"))).unwrap();
        seen.extend(keys(&page).iter().map(ToString::to_string));
        match page["next"].as_str() {
            Some(next) => query.after = Some(next.into()),
            None => break,
        }
    }
    assert_eq!(seen, ["c1", "d00", "d03", "d06"]);
}

#[test]
fn soft_state_follows_its_record() {
    let bench = clinic();
    let soft = |viewer: &Viewer| {
        bench.runtime.ephemeral_as("Case", &[json!("c1")], "Presence", Some(viewer)).unwrap()
    };
    assert_eq!(soft(&viewer("dora", "doctor")), Some(json!({ "note": "SECRET-ANN" })));
    for (who, role) in [("dirk", "doctor"), ("ann", "patient"), ("olga", "desk")] {
        assert_eq!(soft(&viewer(who, role)), None, "{who}");
    }
}

#[test]
fn roles_are_actors_and_a_chain_of_them_is_one() {
    let bench = clinic();
    let allows = |role: &str, actor: &str| bench.runtime.allows(&viewer("x", role), actor);
    assert_eq!(allows("doctor", "doctor"), Some(true));
    assert_eq!(allows("doctor", "chief"), Some(true));
    assert_eq!(allows("chief", "doctor"), Some(true));
    assert_eq!(allows("patient", "doctor"), Some(false));
    assert_eq!(allows("doctor", "nobody"), None);
    assert_eq!(bench.runtime.allows(&Viewer::operator("x"), "desk"), Some(true));
}

/// In the catalog's own design a buyer's booking is the buyer's.
#[test]
fn who_holds_a_seat_is_not_told_to_others() {
    let bench = bench(design("systems/tickets"));
    bench
        .call(ask("organizer", "add_seat", "olga").with("seat", "A1").with("section", "A"))
        .unwrap();
    let hold = |booking: &str, who: &str| {
        ask("buyer", "hold", who)
            .with("seat", "A1")
            .with("booking", booking)
            .seen_by(viewer(who, "buyer"))
    };
    bench.call(hold("b1", "ann-the-buyer")).unwrap();
    let bob = viewer("bob", "buyer");
    let Err(CallError::Refused(refused)) = bench.call(hold("b2", "bob")) else { panic!() };
    assert!(!refused.truth.to_string().contains("ann-the-buyer"));
    let seen = feed(&bench, &bob);
    assert!(!said(&seen).contains("ann-the-buyer"), "{}", said(&seen));
    assert!(seen.iter().any(|it| it.operation == "hold"), "that the seat is held is seen");
}

#[test]
fn pages_of_records_do_not_tell_of_those_that_are_not_seen() {
    let bench = clinic();
    // c2 is hidden from dora; so is what comes before, between and after
    for (case, ward) in [("a0", "w2"), ("c9", "w1"), ("d0", "w2"), ("d1", "w2")] {
        let admit = ask("desk", "admit", "olga").with("case", case).with("ward", ward);
        bench.call(admit.with("patient", "eve").with("bed", 1)).unwrap();
    }
    let pages = |who: &Viewer, limit: usize| {
        let mut pages = Vec::new();
        let mut after: Option<Vec<Value>> = None;
        loop {
            let page = bench.runtime.records_as("Case", after.as_deref(), limit, Some(who));
            let page = store::block_on(page).unwrap();
            let keys: Vec<String> =
                page.records.iter().map(|(key, _)| key[0].as_str().unwrap().to_string()).collect();
            after = page.records.last().map(|(key, _)| key.clone());
            pages.push((keys, page.more));
            if !page.more {
                return pages;
            }
        }
    };
    let page =
        |keys: &[&str], more| (keys.iter().map(ToString::to_string).collect::<Vec<_>>(), more);
    let dora = viewer("dora", "doctor");
    assert_eq!(pages(&dora, 1), [page(&["c1"], true), page(&["c9"], false)]);
    assert_eq!(pages(&dora, 2), [page(&["c1", "c9"], false)]);
    assert_eq!(pages(&viewer("carl", "cleaner"), 2), [page(&[], false)]);
    let olga = viewer("olga", "desk");
    let all = pages(&olga, 4);
    assert_eq!(all, [page(&["a0", "c1", "c2", "c9"], true), page(&["d0", "d1"], false)]);
}

#[test]
fn the_past_tells_each_what_is_theirs() {
    let bench = clinic();
    let past = |who: &Viewer, of: Option<(&str, &[Value])>, limit: usize| {
        let mut all = Vec::new();
        let mut before = None;
        loop {
            let page = bench.runtime.past_as(of, before.as_deref(), limit, Some(who));
            let page = store::block_on(page).unwrap();
            assert!(page.transitions.len() <= limit);
            all.extend(page.transitions.into_iter().map(|(_, transition)| transition));
            match page.older {
                Some(older) => before = Some(older),
                None => return all,
            }
        }
    };
    for limit in [1, 2, 100] {
        for (who, role) in [("ann", "patient"), ("dora", "doctor"), ("carl", "cleaner")] {
            let who = viewer(who, role);
            let mut forward = feed(&bench, &who);
            forward.reverse();
            assert_eq!(past(&who, None, limit), forward, "{who:?}, {limit} at a time");
            assert!(!said(&forward).contains("SECRET-BOB"), "{forward:?}");
        }
        // the case of another ward has no past for dora, whoever asks for it by its key
        let key = [json!("c2")];
        let of_c2 = past(&viewer("dora", "doctor"), Some(("Case", &key)), limit);
        assert_eq!(of_c2, [], "{limit} at a time");
        let of_c2 = past(&viewer("dirk", "doctor"), Some(("Case", &key)), limit);
        assert!(said(&of_c2).contains("SECRET-BOB"), "{of_c2:?}");
    }
}
