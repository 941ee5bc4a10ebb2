//! Views, and what is to be shown of a design.

use crate::tree::item;
use crate::tree::show::show;
use syntax::tree::*;

#[test]
fn views_take_their_parts_in_any_order() {
    let view = |text: &str| match item(text) {
        ItemKind::View(view) => {
            let key =
                |k: &OrderKey| format!("{}{}", show(&k.value), if k.descending { "↓" } else { "" });
            let optional = |e: &Option<Expr>| e.as_ref().map_or("-".into(), show);
            let form = match &view.form {
                ViewForm::Count => "count".to_string(),
                ViewForm::Sum { value } => format!("sum {}", show(value)),
                ViewForm::Extreme { greatest, value } => {
                    format!("{} {}", if *greatest { "max" } else { "min" }, show(value))
                }
                ViewForm::Average { value } => format!("avg {}", show(value)),
                ViewForm::List { order, limit } => {
                    let order: Vec<String> = order.iter().map(key).collect();
                    format!("list {} {}", order.join(","), optional(limit))
                }
                ViewForm::Rank { by, top } => format!("rank {} {}", key(by), optional(top)),
                ViewForm::Search { on } => format!("search {}", on.len()),
                ViewForm::Near { on, from, within_m, first } => {
                    let within = within_m.map_or("-".into(), |metres| metres.to_string());
                    format!("near {} {} {within} {}", on.text, from.text, optional(first))
                }
                ViewForm::Window { value, by, every, keep } => format!(
                    "window {} {} {} {}",
                    optional(value),
                    show(by),
                    show(every),
                    optional(keep)
                ),
            };
            let of = view.of.as_ref().map_or(String::new(), |of| format!(" | of {}", of.text));
            let with: Vec<String> = view.with.iter().map(show).collect();
            let with =
                if with.is_empty() { String::new() } else { format!(" | with {}", with.join(",")) };
            format!("{form} | {} | {}{with}{of}", view.subject.text, optional(&view.filter))
        }
        other => panic!("not a view: {other:?}"),
    };
    for (text, tree) in [
        ("view V = count Seat where a = B", "count | Seat | (Equal a B)"),
        ("view V = sum a * 2 of Seat", "sum (Multiply a 2) | Seat | -"),
        (
            "view V(p: text) = list Seat where x order by a desc, b limit 50",
            "list a↓,b 50 | Seat | x",
        ),
        ("view V = list Seat limit 5 order by a where x", "list a 5 | Seat | x"),
        ("view V = rank Player by score desc where x top 100", "rank score↓ 100 | Player | x"),
        ("view V = search Page on title, body where x", "search 2 | Page | x"),
        ("view V = max a of Seat where x", "max a | Seat | x"),
        ("view V = min a + 1 of Seat", "min (Add a 1) | Seat | -"),
        (
            "view V = list Share with file.path, file.size where x order by a",
            "list a - | Share | x | with file.path,file.size",
        ),
        ("view V = rank Share top 3 with file.path by a", "rank a 3 | Share | - | with file.path"),
        ("view V of user = count Seat where a = me", "count | Seat | (Equal a me) | of user"),
        (
            "view V(p: text) of user = list Seat where a = me",
            "list  - | Seat | (Equal a me) | of user",
        ),
        ("view V(p: point) = near Shop on at from p", "near at p - - | Shop | -"),
        (
            "view V(p: point) = near Shop where x first 10 within 5km from p on at",
            "near at p 5000 10 | Shop | x",
        ),
        ("view V(p: point) = near Shop on at from p within 500m", "near at p 500 - | Shop | -"),
        (
            "view V = window count of Hit by at every 1m where x keep 60",
            "window - at 1:Minute 60 | Hit | x",
        ),
        ("view V = window sum n of Hit by at every 1h", "window n at 1:Hour - | Hit | -"),
    ] {
        assert_eq!(view(text), tree, "{text}");
    }
}

#[test]
fn protocols_are_paths_with_branches() {
    let ItemKind::Protocol(protocol) = item(
        "protocol repair {
            claimant[commit] refused fenced => retry
                |-> repair[reclaim {x < now}] -> a[b] => requeue
                |-> c[d]
            cache[fill] -> origin[read]
        }",
    ) else {
        panic!("not a protocol");
    };
    fn path(p: &Path) -> String {
        let step = |s: &PathStep| {
            let refused =
                s.refused.as_ref().map_or(String::new(), |name| format!("!{}", name.text));
            format!("{}.{}{}{refused}", s.actor.text, s.operation.text, "?".repeat(s.guard.len()))
        };
        let steps: Vec<String> = p.steps.iter().map(step).collect();
        let outcome = p.outcome.as_ref().map_or("", |name| &name.text);
        let branches: String = p.branches.iter().map(|b| format!(" |{}", path(b))).collect();
        format!("{}={outcome}{branches}", steps.join(">"))
    }
    let paths: Vec<String> = protocol.paths.iter().map(path).collect();
    assert_eq!(
        paths,
        [
            "claimant.commit!fenced=retry |repair.reclaim?>a.b=requeue |c.d=",
            "cache.fill>origin.read=",
        ]
    );
}

#[test]
fn failures_are_proven_in_three_ways() {
    let ItemKind::Failure(failure) = item(
        "failure \"f\" {
            without claim.free, repair reclaim, assignment claim.T.n, outbox of pay, key of authorize,
                at_least of get, keyed of pay breaks no_steal in depth
            refused by compiler E0301 { actor b invariant n: true }
            measured by feed.lag above 1000
        }",
    ) else {
        panic!("not a failure");
    };
    let FailureProofKind::Without { targets, breaks, in_depth } = &failure.proofs[0].kind else {
        panic!("not a `without`");
    };
    assert_eq!((breaks.text.as_str(), *in_depth), ("no_steal", true));
    let shown: Vec<String> = targets
        .iter()
        .map(|target| match &target.kind {
            WithoutKind::Clause { operation, clause } => {
                format!("{}.{}", operation.text, clause.text)
            }
            WithoutKind::Repair { name } => format!("repair {}", name.text),
            WithoutKind::Assignment { operation, target } => {
                format!("assignment {} {}", operation.text, show(target))
            }
            WithoutKind::Outbox { operation } => format!("outbox {}", operation.text),
            WithoutKind::Key { operation } => format!("key {}", operation.text),
            WithoutKind::AtLeast { operation } => format!("at_least {}", operation.text),
            WithoutKind::Keyed { operation } => format!("keyed {}", operation.text),
        })
        .collect();
    assert_eq!(
        shown,
        [
            "claim.free",
            "repair reclaim",
            "assignment claim T.n",
            "outbox pay",
            "key authorize",
            "at_least get",
            "keyed pay"
        ]
    );
    assert!(matches!(&failure.proofs[1].kind,
        FailureProofKind::Compiler { code, items } if code.text == "E0301" && items.len() == 2));
    assert!(matches!(&failure.proofs[2].kind,
        FailureProofKind::Measured { value, above } if show(value) == "feed.lag" && show(above) == "1000"));
}

#[test]
fn a_defence_names_a_clause_and_a_reason() {
    let ItemKind::Defence(defence) = item("defence commit.once \"a second writer\"") else {
        panic!("not a defence");
    };
    let said = [&defence.operation.text, &defence.clause.text, &defence.reason.value];
    assert_eq!(said, ["commit", "once", "a second writer"]);
}

#[test]
fn a_check_may_be_for_some_goals() {
    let ItemKind::Check(check) = item("check races for one_winner, in_time { seat: 2 }") else {
        panic!("not a check");
    };
    let named = check.named.expect("it has a name");
    let goals: Vec<&str> = named.goals.iter().map(|goal| goal.text.as_str()).collect();
    assert_eq!((named.name.text.as_str(), goals), ("races", vec!["one_winner", "in_time"]));
    assert_eq!(check.entries.len(), 1);
}

#[test]
fn a_check_describes_the_small_world() {
    let ItemKind::Check(check) = item(
        "check { seat: 2, 10m: 2  OwnerEpoch.current: 0..3, price: {1.50, -2}
            n: -1..1 faults: crash, pause 2, lost_reply, symmetry: off }",
    ) else {
        panic!("not a check");
    };
    let entries: Vec<String> = check
        .entries
        .iter()
        .map(|entry| {
            let key = match &entry.key {
                CheckKey::Name(names) => {
                    names.iter().map(|n| n.text.as_str()).collect::<Vec<_>>().join(".")
                }
                CheckKey::Duration(e) => show(e),
            };
            let value = match &entry.value {
                CheckValue::Number(e) => show(e),
                CheckValue::Range(from, to) => format!("{}..{}", show(from), show(to)),
                CheckValue::Values(list) => {
                    format!("{{{}}}", list.iter().map(show).collect::<Vec<_>>().join(" "))
                }
                CheckValue::Words(words) => words
                    .iter()
                    .map(|(word, n)| {
                        format!("{}{}", word.text, n.as_ref().map_or(String::new(), show))
                    })
                    .collect::<Vec<_>>()
                    .join(" "),
                CheckValue::Error => "ERROR".into(),
            };
            format!("{key}: {value}")
        })
        .collect();
    assert_eq!(
        entries,
        [
            "seat: 2",
            "10:Minute: 2",
            "OwnerEpoch.current: 0..3",
            "price: {1.50 (- 2)}",
            "n: (- 1)..1",
            "faults: crash pause2 lost_reply",
            "symmetry: off",
        ]
    );
}
