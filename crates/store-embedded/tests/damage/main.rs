//! Files of a store are cut, deleted, swapped, zeroed, flipped, replaced by older or foreign ones: it
//! is opened with everything that was acknowledged, or it is refused and the message names the file.

mod damages;
use crate::place;
mod victim;

use std::path::{Path, PathBuf};

use damages::{Damage, FileKind};
use place::Place;
use store::Seeded;
use victim::{Truth, Victim};

/// What became of a damaged store.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Whole,
    Refused(String),
}

/// Opens a damaged copy. Anything but the whole truth or a refusal fails.
fn judge(what: &str, directory: &Path, truth: &Truth) -> Outcome {
    match victim::read(directory) {
        Ok(found) => {
            assert_eq!(found.position, truth.position, "{what}: something acknowledged is lost");
            assert!(found == *truth, "{what}: other records, feed or content");
            Outcome::Whole
        }
        Err(error) => Outcome::Refused(error),
    }
}

/// The refusal names the file that was damaged, or one that is missed because of it.
fn names_a_file(message: &str, damaged: &[PathBuf]) -> bool {
    damaged.iter().any(|path| message.contains(&*path.file_name().unwrap().to_string_lossy()))
}

fn try_all(victim: &Victim, place: &Place, killed: bool) -> (usize, usize) {
    let (mut whole, mut refused) = (0, 0);
    for kind in FileKind::ALL {
        for damage in Damage::ALL {
            let what = format!("{damage:?} of {kind:?}, killed: {killed}");
            let copy = place.path().join("copy");
            victim.copy_to(&copy, killed);
            let Some(touched) = damages::inflict(damage, kind, &copy, victim, killed) else {
                continue;
            };
            match judge(&what, &copy, &victim.truth) {
                Outcome::Whole => {
                    let harmless = damages::may_be_harmless(damage, kind);
                    assert!(harmless, "{what}: it went unnoticed");
                    whole += 1;
                }
                Outcome::Refused(message) => {
                    assert!(names_a_file(&message, &touched), "{what}: {message}");
                    assert!(message.contains("help: "), "{what}: {message}");
                    refused += 1;
                }
            }
        }
    }
    (whole, refused)
}

#[test]
fn a_damaged_store_is_whole_or_refused_by_the_name_of_the_file() {
    let place = Place::new("damage");
    let victim = Victim::new(&place);
    for killed in [false, true] {
        let (whole, refused) = try_all(&victim, &place, killed);
        println!("killed: {killed}: {refused} refused, {whole} whole");
        assert!(whole + refused >= 60, "only {} kinds of damage", whole + refused);
        assert!(refused >= 50, "only {refused} refused");
    }
}

/// One bit anywhere in any file, and one sector of zeros anywhere in any file.
#[test]
fn no_bit_and_no_sector_of_any_file_is_lost_unseen() {
    let place = Place::new("bits");
    let victim = Victim::new(&place);
    let rounds = if std::env::var_os("STEADFAST_QUICK").is_some() { 10 } else { 60 };
    let mut refused = 0;
    for seed in 0..rounds {
        let mut seeded = Seeded::new(seed);
        for kind in FileKind::ALL {
            let copy = place.path().join("copy");
            victim.copy_to(&copy, seed % 2 == 0);
            let path = damages::path(kind, &copy, victim.killed_or_closed(seed % 2 == 0)).unwrap();
            let what = damages::scar(&path, &mut seeded);
            let what = format!("seed {seed}: {what} in {kind:?}");
            match judge(&what, &copy, &victim.truth) {
                Outcome::Whole => {}
                Outcome::Refused(message) => {
                    assert!(names_a_file(&message, &[path]), "{what}: {message}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > rounds, "only {refused} of {rounds} rounds were refused");
}

/// The last 512 bytes that were used: the seal stood there, beside what it vouched for.
#[test]
fn the_last_sector_is_vouched_for_from_elsewhere() {
    let place = Place::new("last-sector");
    let victim = Victim::new(&place);
    let copy = place.path().join("copy");
    victim.copy_to(&copy, true);
    let path = damages::path(FileKind::Active, &copy, victim.killed_or_closed(true)).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    bytes[end.saturating_sub(512)..end].fill(0);
    std::fs::write(&path, bytes).unwrap();
    let Outcome::Refused(message) = judge("the last sector", &copy, &victim.truth) else {
        panic!("it went unnoticed");
    };
    assert!(message.contains("is damaged at offset"), "{message}");
}

/// An older list of a log that has grown since: what it does not name is not passed over.
#[test]
fn commits_that_an_older_list_does_not_name_are_no_reason_to_go_on_without_them() {
    let place = Place::new("older-list");
    let directory = place.path().join("store");
    let store = victim::open(&directory);
    (0..12).for_each(|n| victim::put(&store, n, "ours"));
    let older = std::fs::read(directory.join("manifest")).unwrap();
    (12..40).for_each(|n| victim::put(&store, n, "ours"));
    drop(store);
    std::fs::write(directory.join("manifest"), older).unwrap();
    let message = victim::read(&directory).unwrap_err();
    assert!(message.contains("`manifest` is older than the log"), "{message}");
}
