//! What cannot be read or found, and `steadfast error`.

use std::fs;

use crate::cli::support::{SOUND, folder, folder_with, root, run, run_in};

#[test]
fn a_name_that_is_nearly_right_is_suggested() {
    run(&["check", "tickts"])
        .exits(2)
        .says("error: no design `tickts` in the catalog\n")
        .says("help: did you mean `tickets`?");
    run(&["show", "A80"]).exits(2).says("help: did you mean `A08`?");
}

#[test]
fn a_file_that_is_not_there_is_named_with_its_neighbour() {
    let folder = folder_with("missing", "shop.design", "design Shop \"x\"\n");
    run_in(&folder, &["check", "shpo.design"])
        .exits(2)
        .says("error: cannot read `shpo.design`: there is no such file")
        .says("help: did you mean `shop.design`?");
    run_in(&folder, &["check", "shop"]).exits(2).says("did you mean the file `shop.design`?");
    run_in(&folder, &["check", "./tickets.design"])
        .exits(2)
        .says("the catalog has one that is called `tickets`");
}

#[test]
fn what_cannot_be_read_says_why() {
    let folder = folder("unreadable");
    fs::create_dir(folder.join("folder.design")).unwrap();
    run_in(&folder, &["check", "folder.design"]).exits(2).says("`folder.design`: it is a folder");
    fs::write(folder.join("bytes.design"), b"design D \"x\"\n\n\xff\xfe\n").unwrap();
    run_in(&folder, &["check", "bytes.design"])
        .exits(2)
        .says("cannot read `bytes.design`: line 3 is not UTF-8 text");
    run_in(&folder, &["fmt", "bytes.design"]).exits(2).says("line 3 is not UTF-8 text");
}

#[test]
fn every_code_has_a_page() {
    let list = run(&["error"]).exits(0);
    let codes: Vec<&str> =
        list.out.lines().filter_map(|line| line.split_once("  ")).map(|(code, _)| code).collect();
    assert!(codes.contains(&"E0001"), "{}", list.out);
    for code in codes {
        let page = run(&["error", &code.to_lowercase()]).exits(0);
        assert!(page.out.len() > 40, "{code}: {}", page.out);
    }
    let value = run(&["error", "--json"]).exits(0).json();
    assert_eq!(value[0]["code"], "E0001");
}

#[test]
fn an_unknown_code_leads_to_the_list() {
    run(&["error", "E9999"])
        .exits(2)
        .says("error: no error code `E9999`")
        .says("help: `steadfast error` lists all codes");
}

#[test]
fn a_command_without_a_design_says_what_a_design_is() {
    for word in ["serve", "dev", "check"] {
        run(&[word]).exits(2).says("<DESIGN>").says("`tickets`").says("`steadfast list`");
    }
    // a mistyped command is not about designs
    let ran = run(&["sevre", "tickets"]).exits(2).says("serve");
    assert!(!ran.err.contains("steadfast list"), "{}", ran.err);
}

#[test]
fn two_designs_of_one_name_are_told_apart_by_their_files() {
    let folder = folder_with("one-name", "tickets.design", SOUND);
    let words =
        ["serve", "tickets", "tickets.design", "--store", "memory:", "--listen", "127.0.0.1:0"];
    run_in(&folder, &words)
        .exits(2)
        .says("error: two designs are called `tickets`")
        .says("help: a design is called by its file");
    fs::write(folder.join("other.design"), SOUND).unwrap();
    let words =
        ["serve", "tickets.design", "other.design", "--store", "data", "--listen", "127.0.0.1:0"];
    run_in(&folder, &words)
        .exits(2)
        .says("`tickets` and `other` both begin with `design ")
        .says("write another one in one of the two");
    assert!(!folder.join("data").exists(), "nothing is stored");
}

#[test]
fn a_port_that_is_taken_leads_to_one_that_is_free() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap().to_string();
    run(&["serve", "tickets", "--store", "memory:", "--listen", &listen])
        .exits(2)
        .says("cannot listen on")
        .says("`--listen 127.0.0.1:0` takes any port that is free");
}

/// Whatever `steadfast call … --help` shows can be called.
#[test]
fn the_calls_in_the_help_and_in_the_documents_are_those_of_the_catalog() {
    let help = run(&["call", "--help"]).exits(0).out;
    let page = fs::read_to_string(root().join("docs/commands.md")).unwrap();
    let mut seen = 0;
    for line in help.lines().chain(page.lines()).map(str::trim) {
        let line = line.strip_prefix("$ ").unwrap_or(line);
        let Some(rest) = line.strip_prefix("steadfast call ") else { continue };
        let words: Vec<&str> = rest.split_whitespace().collect();
        let [design, actor, operation, ref given @ ..] = words[..] else { panic!("{line}") };
        let text = run(&["show", design]).exits(0).out;
        let compiled = steadfast::load(design, &text).unwrap();
        let found = compiled.operations.iter().find(|known| {
            known.name == operation && compiled.actors[known.actor.index()].name == actor
        });
        let found = found.unwrap_or_else(|| panic!("{line}"));
        for param in found.params.iter().filter(|param| param.default.is_none()) {
            let named = given.iter().any(|word| word.starts_with(&format!("{}=", param.name)));
            assert!(named, "`{line}` gives no `{}`", param.name);
        }
        seen += 1;
    }
    assert!(seen >= 5, "{seen} calls");
}
