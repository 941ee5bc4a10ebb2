//! What cannot be read or found, and `steadfast error`.

use std::fs;

use crate::cli::support::{folder, folder_with, run, run_in};

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
