//! Who may not see a record is not told of it: by no row, number, order or mark.

use runtime::{CallError, Runtime, Viewer};
use serde_json::{Value, json};

use crate::support::{Chance, in_memory, keys, query};

const MAIL: &str = r#"
design Mail

actor user
actor clerk

subject Letter(letter: text) {
    truth LetterState { to: actor, title: text = "", folder: text = "" }
        visible to user where to = me
        visible to clerk
    truth Note { note: text = "" } visible to clerk
}

step clerk[bring(letter: new Letter, to: actor, title: text, folder: text, note: text)] {
    LetterState := { to: to, title: title, folder: folder }
    Note.note := note
}

view All = search Letter on title
view Noted = search Letter on note
view Mine of user = search Letter on title where to = me
"#;

fn bring(runtime: &Runtime, letter: &str, to: &str, title: &str, note: &str) {
    let call = runtime::Request::new("clerk", "bring", "cid").with("letter", letter);
    let call = call.with("to", to).with("title", title).with("folder", format!("of {to}"));
    runtime.call(&call.with("note", note)).unwrap();
}

fn user(name: &str) -> Viewer {
    Viewer::with_roles(name, ["user"])
}

fn clerk() -> Viewer {
    Viewer::with_roles("cid", ["clerk"])
}

#[test]
fn rows_totals_and_facets_are_of_what_is_seen() {
    let runtime = in_memory(MAIL);
    bring(&runtime, "a", "ann", "secret plans of ann", "boring");
    bring(&runtime, "b", "bob", "secret", "boring");
    bring(&runtime, "c", "bob", "plans", "exciting");
    let ask = |words: &str, viewer: &Viewer| runtime.view_as(&query("All", words), Some(viewer));
    let whole = ask("secret", &clerk()).unwrap();
    assert_eq!((keys(&whole).len(), &whole["total"]), (2, &json!(2)));
    assert!(whole["rows"][0]["score"].is_f64());
    let part = ask("secret", &user("bob")).unwrap();
    assert_eq!(keys(&part), ["b"]);
    assert!(part.get("total").is_none() && part["rows"][0].get("score").is_none(), "{part}");
    assert_eq!(part["next"], Value::Null, "that there is another hit is not told");
    assert_eq!(keys(&ask("secret plans", &user("bob")).unwrap()), [""; 0]);
    let mut counted = query("All", "secret");
    counted.params.insert("facet".into(), "folder".into());
    let told = runtime.view_as(&counted, Some(&clerk())).unwrap();
    assert_eq!(told["facets"]["folder"].as_array().unwrap().len(), 2);
    let hidden = runtime.view_as(&counted, Some(&user("bob")));
    assert!(matches!(hidden, Err(CallError::Hidden(_))), "{hidden:?}");
}

#[test]
fn what_is_found_by_a_text_that_is_not_seen_is_not_found() {
    let runtime = in_memory(MAIL);
    bring(&runtime, "a", "bob", "hello", "dismissed");
    let ask = |viewer: &Viewer| runtime.view_as(&query("Noted", "dismissed"), Some(viewer));
    assert_eq!(keys(&ask(&clerk()).unwrap()), ["a"]);
    assert_eq!(keys(&ask(&user("bob")).unwrap()), [""; 0], "bob sees the letter, not the note");
}

#[test]
fn the_rows_of_a_caller_are_counted_for_it_by_what_it_sees() {
    let runtime = in_memory(MAIL);
    bring(&runtime, "a", "ann", "plans", "");
    bring(&runtime, "b", "bob", "plans", "");
    let mut asked = query("Mine", "plans");
    asked.params.insert("facet".into(), "folder".into());
    let page = runtime.view_as(&asked, Some(&user("bob"))).unwrap();
    assert_eq!((keys(&page), &page["total"]), (vec!["b".to_string()], &json!(1)));
    assert_eq!(page["facets"]["folder"], json!([{ "value": "of bob", "count": 1 }]));
    asked.params.insert("facet".into(), "note".into());
    let hidden = runtime.view_as(&asked, Some(&user("bob")));
    assert!(matches!(hidden, Err(CallError::Hidden(_))), "{hidden:?}");
    let not_one = runtime.view_as(&query("Mine", "plans"), Some(&clerk()));
    assert!(matches!(not_one, Err(CallError::Hidden(_))), "{not_one:?}");
}

/// The answers to one user, with and without letters of others.
#[test]
fn letters_of_others_change_nothing_of_what_a_user_is_told() {
    for seed in 1..=4 {
        let told = |others: bool| {
            let mut chance = Chance::of_seed(seed);
            let runtime = in_memory(MAIL);
            for at in 0..60 {
                let title = chance.text(8);
                let to = chance.of(&["bob", "ann", "ann"]);
                if others || to == "bob" {
                    bring(&runtime, &format!("l{at}"), to, &title, "");
                }
            }
            let mut told = Vec::new();
            for view in ["All", "Mine"] {
                for words in ["blue", "bike blue", "b*", "red -blue", "\"blue red\""] {
                    let mut asked = query(view, words);
                    asked.limit = Some(4);
                    loop {
                        let mut page = runtime.view_as(&asked, Some(&user("bob"))).unwrap();
                        page["revision"] = Value::Null;
                        asked.after = page["next"].as_str().map(str::to_string);
                        told.push(page);
                        if asked.after.is_none() {
                            break;
                        }
                    }
                }
            }
            told
        };
        let (with, without) = (told(true), told(false));
        assert!(without.iter().map(|page| keys(page).len()).sum::<usize>() > 20, "seed {seed}");
        assert_eq!(with, without, "seed {seed}");
    }
}
