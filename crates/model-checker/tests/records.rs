//! Lists of records in the small world: every list of every record, names in them exchanged like others.

use crate::support::text::compiled;
use model_checker::{FailureStatus, Options, Report, Verdict, check, render};

const ORDERS: &str = "design Orders
actor buyer
subject Item(item: text) { truth StockState { left: int = 3 } }
subject Order(order: text) {
    truth OrderState { status: OPEN | PLACED = OPEN, lines: list { sku: text, qty: int 1..3 } max 2 }
    truth SoldState { item: Item? }
}
step buyer[place(order: Order, item: Item, lines: list { sku: text, qty: int 1..3 } max 2) {
    open: OrderState.status = OPEN
    in_stock: sum(qty of lines) <= item.left
    apart: not any a in lines: count(b in lines where b.sku = a.sku) > 1
}] {
    OrderState := { status: PLACED, lines: lines }
    SoldState.item := item
    item.left -= sum(line.qty of line in lines)
}
invariant conserved: all i in Item:
    i.left + sum(sum(l.qty of l in o.lines) of o in Order where o.item = i) = 3
invariant not_oversold: all i in Item: i.left >= 0
invariant each_once: all o in Order: all a in o.lines: count(b in o.lines where b.sku = a.sku) = 1
failure \"more is sold than there is\" { without place.in_stock breaks not_oversold }
failure \"two lines for one thing\" { without place.apart breaks each_once }
check { item: 1  order: 2  lines.sku: 2  list: 2  StockState.left: -6..3 }
";

fn with(text: &str, options: &Options) -> Report {
    check(&compiled(text), options, &mut |_| ()).unwrap()
}

fn checked(text: &str) -> Report {
    with(text, &Options { threads: 1, ..Options::default() })
}

fn verdict<'r>(report: &'r Report, name: &str) -> &'r Verdict {
    &report.goals.iter().find(|goal| goal.name == name).unwrap().verdict
}

#[test]
fn what_guards_say_of_the_records_is_proved_and_needed() {
    let report = checked(ORDERS);
    let shown = render::golden(&report);
    assert!(report.ok() && report.closed(), "{shown}");
    for goal in &report.goals {
        assert!(matches!(goal.verdict, Verdict::Proved), "{shown}");
    }
    for failure in &report.failures {
        assert!(matches!(failure.status, FailureStatus::LoadBearing(_)), "{shown}");
    }
    // the world says what callers give
    assert!(shown.contains("lines: lists of at most 2 of {sku: 2, qty: 1..3}"), "{shown}");
}

#[test]
fn texts_in_records_are_exchanged_and_the_words_stay() {
    let of = |symmetry: bool, text: &str| {
        with(text, &Options { threads: 1, symmetry, ..Options::default() })
    };
    // only a list with another sku than the first breaks it
    let broken = ORDERS.replace(
        "invariant not_oversold",
        "invariant alike: all o in Order: all a in o.lines: all b in o.lines: a.sku = b.sku\n\
         invariant not_oversold",
    );
    for text in [ORDERS, &broken] {
        let (plain, exchanged) = (of(false, text), of(true, text));
        for (one, other) in plain.goals.iter().zip(&exchanged.goals) {
            let same =
                std::mem::discriminant(&one.verdict) == std::mem::discriminant(&other.verdict);
            assert!(same, "{}: {:?} and {:?}", one.name, one.verdict, other.verdict);
        }
        assert!(exchanged.base.states <= plain.base.states);
    }
    assert!(of(true, ORDERS).base.states < of(false, ORDERS).base.states);
    assert!(matches!(verdict(&of(true, &broken), "alike"), Verdict::Violated(_)));
}

#[test]
fn lists_that_are_cut_are_named_and_nothing_is_proved() {
    let cut = ORDERS.replace("list: 2", "list: 1");
    let report = checked(&cut);
    for goal in &report.goals {
        match &goal.verdict {
            Verdict::Holds(bounds) => {
                assert!(
                    bounds.iter().any(|bound| bound.contains("list: 1 elements, in place")),
                    "{bounds:?}"
                );
            }
            other => panic!("{}: {other:?}", goal.name),
        }
    }
}

#[test]
fn a_literal_that_a_field_is_compared_with_is_given() {
    let text = ORDERS.replace(
        "invariant not_oversold",
        "invariant never: all o in Order: not any l in o.lines: l.sku = \"gold\"\n\
         invariant not_oversold",
    );
    assert!(matches!(verdict(&checked(&text), "never"), Verdict::Violated(_)));
}

/// What is only summed decides, too: one number would not stand for all.
#[test]
fn a_list_that_is_only_summed_needs_its_values() {
    let sums = |of: &str, value: &str, size: &str| {
        format!(
            "design Sums
actor user
subject Box(box: text) {{ truth BoxState {{ full: bool = false }} }}
step user[fill(box: Box, parts: list {of} max 2) {{ heavy: sum({value} of p in parts) > 5 }}] {{
    BoxState.full := true
}}
invariant empty: all b in Box: not b.full
check {{ box: 1  {size} list: 2 }}
"
        )
    };
    for (of, value, size) in
        [("int", "p", "parts: {1, 4}"), ("{ n: int }", "p.n", "parts.n: {1, 4}")]
    {
        let without = design::compile("sums", &sums(of, value, ""), &design::NoCatalog);
        assert!(
            without.diagnostics.iter().any(|it| it.code == "E0701"),
            "{:?}",
            without.diagnostics
        );
        let report = checked(&sums(of, value, size));
        assert!(matches!(verdict(&report, "empty"), Verdict::Violated(_)));
    }
}
