//! What was called proved and is not: each with a small design that can be gone through by hand.

use crate::support::text::{proved, report, violated};

#[track_caller]
fn is_violated(text: &str) {
    assert!(!violated(&report(text), "goal").steps.is_empty(), "{text}");
}

// ---- records that share the key of an effect

fn posting(key: &str, kind: &str) -> String {
    format!(
        "design Post
actor clerk
actor bank
subject Bill(bill: text) {{ truth S {{ status: NEW | ASKED | DONE = NEW }} }}
step clerk[pay(bill: Bill) {{ new: S.status = NEW }}] {{
    S.status := ASKED
    send bank.charge(bill, {kind})
}}
effect bank[charge(bill: Bill, kind: int)] {{
    call POST \"{{bank.url}}/charge\" {key} body {{ kind }}
    on ok {{ S.status := DONE }}
    on refused {{ S.status := DONE }}
    on unknown {{}}
}}
recovers goal: all b in Bill: b.status != ASKED
check {{ bill: 2  clerk: 1  unknowns: 0 }}
"
    )
}

/// The second call takes the place of the first: nobody tells the first bill what became of it.
#[test]
fn calls_of_two_records_with_one_key_meet() {
    is_violated(&posting("key kind", "1"));
    proved(&report(&posting("key bill", "1")), "goal");
    proved(&report(&posting("key bill.bill", "1")), "goal");
}
