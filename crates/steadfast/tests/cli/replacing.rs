//! A design is replaced under a server that serves, and under one that is killed.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::cli::serving::Server;
use crate::cli::support::folder;

const DOOR: &str = r#"design Door "A door that counts"

actor keeper

subject Door(door: text) {
    truth DoorState { opened: int = 0, note: text = "" }
}

step keeper[open(door: Door)] { DoorState.opened += 1 }
step keeper[note(door: Door, note: text)] { DoorState.note := note }
"#;

/// Calls and replacements side by side, the files in turn, until there were enough of both; then the server is
/// killed, while both are at it. Gives the number of calls that were answered.
fn killed_at_it(
    server: Server,
    files: [&str; 2],
    more: &[&str],
    enough: impl Fn(u64, u64) -> bool,
) -> u64 {
    let over = AtomicBool::new(false);
    let (count, replaced) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let ran = server.run(&["call", "door", "keeper", "open", "door=d"]);
                if ran.code == 0 {
                    count.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        scope.spawn(|| {
            for file in files.iter().cycle().take_while(|_| !over.load(Ordering::Relaxed)) {
                let words = [&["replace", "door", file][..], more].concat();
                if server.run(&words).code == 0 {
                    replaced.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        while !enough(count.load(Ordering::Relaxed), replaced.load(Ordering::Relaxed)) {
            std::thread::yield_now();
        }
        let pid = server.process.0.id();
        let killed = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status();
        assert!(killed.unwrap().success());
        over.store(true, Ordering::Relaxed);
    });
    server.kill();
    count.into_inner()
}

/// Forty records, so that a replacement takes a while.
fn note_forty(server: &Server) {
    for n in 0..40 {
        let door = format!("door=x{n}");
        server.run(&["call", "door", "keeper", "note", &door, "note=n"]).exits(0);
    }
}

fn write(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).unwrap();
}

#[test]
fn a_design_is_replaced_while_it_serves_or_the_reason_is_told() {
    let folder = folder("replacing");
    write(&folder, "door.design", DOOR);
    let wider = DOOR.replace("opened: int = 0,", "width: int = 9, opened: int = 0,");
    write(&folder, "wider.design", &wider);
    let bare = wider.replace(", note: text = \"\"", "");
    let bare: String =
        bare.lines().filter(|l| !l.contains("[note")).map(|l| format!("{l}\n")).collect();
    write(&folder, "bare.design", &bare);
    write(&folder, "broken.design", "design Door\nactor\n");
    let server = Server::start(&folder, &["door.design"]);
    let note = ["call", "door", "keeper", "note", "door=d1", "note=mine"];
    server.run(&note).exits(0);
    server.run(&["replace", "door", "wider.design"]).exits(0).says("replaced");
    server.run(&["get", "door", "Door", "d1"]).exits(0).says("width 9").says("note mine");
    let refused = server.run(&["replace", "door", "bare.design"]).exits(1);
    refused.says("Door.DoorState.note is gone, and holds something").says("Door d1").says("--drop");
    server.run(&note).exits(0);
    server.run(&["replace", "door", "broken.design"]).exits(2).says("does not compile");
    let dropped = ["replace", "door", "bare.design", "--drop", "Door.DoorState.note", "--json"];
    assert_eq!(server.run(&dropped).exits(0).json()["outcome"], "replaced");
    server.run(&note).exits(2);
    server.run(&["call", "door", "keeper", "open", "door=d1"]).exits(0);
}

/// Calls go on while the design is replaced back and forth, and the server is killed in the middle:
/// every call that was answered counts, and the design is one of the two.
#[test]
fn a_crash_in_the_middle_leaves_the_one_or_the_other() {
    let folder = folder("replacing-killed");
    write(&folder, "door.design", DOOR);
    let wider = DOOR.replace("opened: int = 0,", "width: int = 9, opened: int = 0,");
    write(&folder, "wider.design", &wider);
    let mut answered = 0;
    for round in 0..6_u64 {
        let server = Server::start(&folder, &["door.design", "--replace"]);
        if round == 0 {
            note_forty(&server);
        }
        let until = Instant::now() + Duration::from_millis(300 + round * 170);
        let files = ["wider.design", "door.design"];
        answered += killed_at_it(server, files, &[], |_, _| Instant::now() >= until);
        let server = Server::start(&folder, &["door.design", "--replace"]);
        let found = server.run(&["get", "door", "Door", "d", "--json"]).exits(0).json();
        let opened = found["truth"]["DoorState"]["opened"].as_u64().unwrap();
        assert!(opened >= answered, "{opened} of {answered} that were answered");
        assert!(opened <= answered + 6, "{opened}, and {answered} were answered");
        answered = opened;
        server.run(&["get", "door", "Door", "x39"]).exits(0).says("note n");
    }
}

/// The same with records whose attributes have other names and values: no record is half of the one version and half
/// of the other.
#[test]
fn a_crash_while_records_are_renamed_and_converted_leaves_the_one_or_the_other() {
    let folder = folder("renaming-killed");
    let version = |text: &str| {
        let compiled = design::compile("door", text, &design::NoCatalog);
        runtime::version(&compiled.design.expect("sound"))
    };
    let renamed = DOOR
        .replace("opened: int = 0, note: text", "count: int = 0, half: int = 0, remark: text")
        .replace("DoorState.opened", "DoorState.count")
        .replace("DoorState.note", "DoorState.remark");
    let there = format!(
        "{renamed}\nfrom \"{}\" {{\n    rename DoorState.opened as count\n    rename DoorState.note as remark\n    \
         convert DoorState.half(opened: int) = opened / 2\n}}\n",
        version(DOOR)
    );
    let back = format!(
        "{DOOR}\nfrom \"{}\" {{\n    rename DoorState.count as opened\n    rename DoorState.remark as note\n}}\n",
        version(&renamed)
    );
    write(&folder, "door.design", &back);
    // under the same name
    fs::create_dir(folder.join("there")).unwrap();
    write(&folder, "there/door.design", &there);
    let drop = ["--drop", "Door.DoorState.half"];
    let mut answered = 0;
    for round in 0..6_u64 {
        // whichever of the two is stored, a start with `--replace` makes it the first
        let server = Server::start(&folder, &["door.design", "--replace"]);
        if round == 0 {
            note_forty(&server);
        }
        // after so many replacements and calls, in the middle of whatever comes next
        let enough = |calls, replaced| replaced > round % 3 && calls >= 3;
        let files = ["there/door.design", "door.design"];
        answered += killed_at_it(server, files, &drop, enough);
        // what holds something in `half` may be lost on the way back: a server that runs is told so
        let stored = Server::start(&folder, &["there/door.design", "--replace"]);
        let found = stored.run(&["get", "door", "Door", "d", "--json"]).exits(0).json();
        let counted = found["truth"]["DoorState"]["count"].as_u64().unwrap();
        assert!(counted >= answered, "{counted} of {answered} that were answered");
        assert!(counted <= answered + 6, "{counted}, and {answered} were answered");
        answered = counted;
        stored.run(&["get", "door", "Door", "x39"]).exits(0).says("remark n");
        let words = [&["replace", "door", "door.design"][..], &drop[..]].concat();
        stored.run(&words).exits(0);
        stored.run(&["get", "door", "Door", "x39"]).exits(0).says("note n");
        stored.kill();
    }
}
