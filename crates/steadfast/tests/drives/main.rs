//! Every archetype of infrastructure, and every other design with a script beside it, is served by the binary, on a
//! store in a directory, and driven over HTTP through its protocols by the script, `designs/infra/I02.drive`.

mod answers;
mod drive;
mod followed;
mod script;
pub mod served;
mod world;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use drive::Drive;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../designs").join(name)
}

/// All designs that are driven, or those that `STEADFAST_DRIVE` names.
fn designs() -> Vec<(String, PathBuf)> {
    let only = std::env::var("STEADFAST_DRIVE").unwrap_or_default();
    let mut found = Vec::new();
    for kind in ["infra", "product", "systems"] {
        for entry in fs::read_dir(folder(kind)).unwrap() {
            let path = entry.unwrap().path();
            let is = |ending: &str| path.extension().is_some_and(|held| held == ending);
            let driven = kind == "infra" || path.with_extension("drive").exists();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            if is("design") && driven && (only.is_empty() || only.contains(name.as_str())) {
                found.push((name, path));
            }
        }
    }
    found.sort();
    found
}

/// The text with all that it uses, so that a script can change its times.
fn flat(text: String) -> String {
    let compiled = design::compile("driven", &text, &steadfast::catalog::Embedded);
    compiled.flat.unwrap_or(text)
}

fn drive(name: &str, text: &str, script: &str) -> Result<Vec<String>, String> {
    drive_within(name, text, script, &[1, 5, 25])
}

/// What a script expects before a repair comes holds only on a machine that is fast enough for it. So a
/// drive that goes wrong is driven again with all its times so many times longer: what is wrong stays
/// wrong.
fn drive_within(
    name: &str,
    text: &str,
    script: &str,
    longer: &[u32],
) -> Result<Vec<String>, String> {
    let script = script::parse(script)?;
    let mut wrong = String::new();
    for longer in longer {
        let mut drive = Drive::new(text, &script, served::folder(name), *longer)?;
        match drive.run() {
            Ok(()) => return Ok(drive.protocols),
            Err(told) => {
                println!("{name}, with times {longer} times as long: {told}");
                wrong = told;
            }
        }
    }
    Err(wrong)
}

/// They mostly wait, so all of them wait at once.
#[test]
fn every_design_is_driven_through_its_protocols() {
    let designs = designs();
    assert!(!designs.is_empty());
    let driven: Vec<(String, Result<Vec<String>, String>, f64)> = std::thread::scope(|scope| {
        let threads: Vec<_> = designs
            .iter()
            .map(|(name, path)| {
                scope.spawn(move || {
                    let begun = Instant::now();
                    let text = flat(fs::read_to_string(path).unwrap());
                    let driven = match fs::read_to_string(path.with_extension("drive")) {
                        Ok(script) => drive(name, &text, &script),
                        Err(_) => Err(format!("there is no `{name}.drive`")),
                    };
                    (name.clone(), driven, begun.elapsed().as_secs_f64())
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut wrong = Vec::new();
    for (name, driven, seconds) in &driven {
        match driven {
            Ok(protocols) => println!("{name} {seconds:.1} s: {}", protocols.join(", ")),
            Err(told) => wrong.push(format!("{name} ({seconds:.1} s): {told}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // what they were answered is what their documents say
    let folders: Vec<PathBuf> = designs.iter().map(|(name, _)| served::kept(name)).collect();
    println!("{}", answers::hold_against_documents(&folders));
}

const DOOR: &str = r#"design Door
actor keeper { my_turn: int? of Door }
actor closer
actor bell
subject Door(door: text) { truth DoorState { open: bool = false, turn: int = 0, rung: bool = false } }
step keeper[open(door: Door) { shut: not DoorState.open }] {
    DoorState := { open: true, turn: DoorState.turn + 1 }
    my_turn := DoorState.turn
    send bell.ring(door)
}
step keeper[leave(door: Door) { yours: DoorState.turn = my_turn  open: DoorState.open }] {
    DoorState.open := false
}
effect bell[ring(door: Door)] {
    call POST "{bell.url}/ring" key door body { door }
    on ok { DoorState.rung := true }
    on refused {}
    on unknown {}
}
repair closer[close(door: Door) { left_open: DoorState.open }] after 1h { DoorState.open := false }
read keeper[look(door: Door)] = DoorState
protocol main { keeper[open] -> keeper[leave] => done }
protocol repair { keeper[open] -> closer[close] -> keeper[leave] refused open => retry }
check { door: 1 keeper: 1 }
"#;

const SOUND: &str = r#"
outside bell
serve
protocol main
ann under k1: keeper[open(door: front)]
ann under k1: keeper[open(door: front)] replayed
bob: keeper[open(door: front)] refused shut
bob: keeper[leave(door: front)] refused yours
await bell[ring] of Door[front]
Door[front] is { open: true, rung: true }
outside bell did { door: front } once
ann: keeper[leave(door: front)]
protocol repair
time 1h = 100ms
crash
ann: keeper[open(door: back)]
await closer[close] of Door[back]
ann: keeper[leave(door: back)] refused open
ann: keeper[look(door: back)] = { open: false, turn: 1 }
Door[none] is { open: false, turn: 0 }
"#;

const SEAL: &str = r#"design Seal
actor clerk
actor keystore
subject Letter(letter: text) {
    truth LetterState { key: public_key?, signature: signature?, root: digest?, opened: bool = false }
}
step clerk[post(letter: Letter, key: public_key)] {
    LetterState.key := key
    LetterState.root := hash(hash("first"), hash(letter))
    send keystore.seal(letter)
}
effect keystore[seal(letter: Letter)] {
    call POST "{keystore.url}/seal" key letter
    sign hash(letter) by LetterState.key
    on ok(signature: signature) { LetterState.signature := signature }
    on refused {}
    on unknown { send keystore.seal(letter) }
}
step clerk[open(letter: Letter, signature: signature, proof: proof) {
    genuine: verified(signature, by LetterState.key, over hash(letter))
    logged: included(hash(letter), in LetterState.root, by proof)
}] { LetterState.opened := true }
protocol main { clerk[post] -> keystore[seal] -> clerk[open] => done }
check { letter: 1  key: 1 }
"#;

const SEALED: &str = r#"
outside keystore
outside keystore holds k1
outside keystore signs something else
serve
protocol main
ann: clerk[post(letter: a, key: $k1)]
pass 1s
let lie = keystore signature
Letter[a] is { key: $k1, signature: null }
outside keystore answers
await keystore[seal] of Letter[a]
let sealed = keystore signature
let first = hash(first)
let leaf = keystore digest
let root = Letter[a] root
ann: clerk[open(letter: a, signature: $lie, proof: l$first)] refused genuine
ann: clerk[open(letter: a, signature: $sealed, proof: l$leaf)] refused logged
ann: clerk[open(letter: a, signature: $sealed, proof: l$first)]
Letter[a] is { signature: $sealed, root: $root, opened: true }
"#;

/// A sound script in which one thing is written as another fails, and says what was wrong.
fn told_when_changed(name: &str, design: &str, sound: &str, (from, to, told): &(&str, &str, &str)) {
    let script = sound.replacen(from, to, 1);
    assert_ne!(script, sound, "{from}");
    let wrong = drive_within(name, design, &script, &[1]).unwrap_err();
    assert!(wrong.contains(told), "{to}: {wrong}");
}

/// A keystore signs for real, with the keys that it holds, and what was told can be shown.
#[test]
fn signatures_and_proofs_of_a_drive_are_real() {
    assert_eq!(drive("sealed", SEAL, SEALED).unwrap(), ["main"]);
    let changes = [
        (
            "signature: $sealed, proof: l$first)]",
            "signature: $lie, proof: l$first)]",
            "answered 409",
        ),
        (
            "signature: $sealed, proof: l$first)]",
            "signature: $sealed, proof: r$first)]",
            "answered 409",
        ),
        ("let root = Letter[a] root", "let root = Letter[a] route", "line 16: it is 200"),
        ("signature: $lie", "signature: $liar", "nothing is named `$liar`"),
    ];
    for (at, change) in changes.iter().enumerate() {
        told_when_changed(&format!("unsealed-{at}"), SEAL, SEALED, change);
    }
}

/// A drive holds a served design to what it says: whatever is changed in a sound one is noticed.
#[test]
fn a_drive_that_says_something_else_fails() {
    assert_eq!(drive("sound", DOOR, SOUND).unwrap(), ["main", "repair"]);
    let changes = [
        ("refused shut", "refused yours", "line 7: answered 409"),
        (
            "bob: keeper[leave(door: front)] refused yours",
            "bob: keeper[leave(door: front)]",
            "line 8: answered 409",
        ),
        ("rung: true", "rung: false", "line 10: it is 200"),
        ("did { door: front } once", "did { door: front } never", "line 11: it was done 1 times"),
        (
            "ann under k1: keeper[open(door: front)] replayed",
            "ann under k2: keeper[open(door: front)]",
            "line 6: answered 409",
        ),
        (
            "ann: keeper[leave(door: front)]\n",
            "\n",
            "protocol main: `keeper[open] -> keeper[leave]` was not walked",
        ),
        ("{ open: false, turn: 1 }", "{ open: false, turn: 2 }", "line 19: answered 200"),
        ("Door[none] is { open: false, turn: 0 }", "Door[none] is absent", "line 20: it is 200"),
        ("time 1h", "time 2h", "the design has no `2h`"),
        ("protocol main", "protocol other", "the design has no protocol `other`"),
    ];
    for (at, change) in changes.iter().enumerate() {
        told_when_changed(&format!("unsound-{at}"), DOOR, SOUND, change);
    }
}
