//! The life of the keys that secrets are kept with.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use identity::{Identity, NoSecret};

use crate::support::Folder;

fn key_files(folder: &Folder) -> Vec<std::path::PathBuf> {
    let files = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|ending| ending == "secrets")).collect()
}

#[test]
fn the_first_secret_makes_the_key_and_another_process_knows_it() {
    let folder = Folder::make();
    let server = Identity::open(folder.path(), true).unwrap();
    let tool = Identity::open(folder.path(), false).unwrap();
    assert_eq!(server.secret_keys().unwrap(), []);
    assert_eq!(key_files(&folder).len(), 0);
    let stored = server.hash_secret([1; 16], b"1234").unwrap();
    assert_eq!(server.is_secret(&stored, b"1234"), Ok(true));
    assert_eq!(server.is_secret(&stored, b"1235"), Ok(false));
    assert_eq!(tool.is_secret(&stored, b"1234"), Ok(true), "it looks at the ledger");
    // two at once make one key
    let again = tool.hash_secret([2; 16], b"1234").unwrap();
    assert_eq!(stored[..9], again[..9]);
    assert_ne!(stored[9..25], again[9..25], "each has its salt");
    assert_ne!(stored[25..], again[25..], "and the hash depends on it");
    let files = key_files(&folder);
    assert_eq!(files.len(), 1);
    assert_eq!(fs::metadata(&files[0]).unwrap().permissions().mode() & 0o777, 0o600);
    for damaged in [&stored[..56], b"", &[0; 57]] {
        assert_eq!(server.is_secret(damaged, b"1234"), Err(NoSecret::Damaged));
    }
}

#[test]
fn a_key_is_rotated_and_retired_apart_from_those_of_tokens() {
    let folder = Folder::make();
    let server = Identity::open(folder.path(), true).unwrap();
    let tool = Identity::open(folder.path(), false).unwrap();
    let old = server.hash_secret([1; 16], b"1234").unwrap();
    let print = server.secret_fingerprints(b"message").unwrap();
    let first = server.secret_keys().unwrap()[0].id.clone();
    assert!(tool.retire_secrets(&first).is_err(), "it is in use");
    // the keys of tokens are others
    let token_key = tool.rotate().unwrap();
    let before = tool.keys().unwrap().into_iter().find(|key| !key.current).unwrap().id;
    tool.retire(&before).unwrap();
    assert_eq!(server.is_secret(&old, b"1234"), Ok(true));
    let second = tool.rotate_secrets().unwrap();
    assert_ne!(second, token_key);
    let new = server.hash_secret([1; 16], b"1234").unwrap();
    assert_ne!(old[..9], new[..9], "the new key is used at once");
    for stored in [&old, &new] {
        assert_eq!(server.is_secret(stored, b"1234"), Ok(true));
    }
    let prints = server.secret_fingerprints(b"message").unwrap();
    assert_eq!((prints.len(), prints[1]), (2, print[0]), "the newest first");
    let states: Vec<_> = tool.secret_keys().unwrap().iter().map(|key| key.current).collect();
    assert_eq!(states, [false, true]);
    tool.retire_secrets(&first).unwrap();
    assert!(tool.retire_secrets(&first).is_err() && tool.retire_secrets("none").is_err());
    assert_eq!(server.is_secret(&old, b"1234"), Err(NoSecret::UnknownKey(first)));
    assert_eq!(server.is_secret(&new, b"1234"), Ok(true));
    assert_eq!(key_files(&folder).len(), 1);
}

#[test]
fn a_key_that_is_gone_or_open_is_a_refusal_that_names_the_file() {
    let folder = Folder::make();
    let server = Identity::open(folder.path(), true).unwrap();
    server.hash_secret([1; 16], b"1234").unwrap();
    let file = key_files(&folder).remove(0);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let error = Identity::open(folder.path(), false).err().unwrap().to_string();
    assert!(error.contains(".secrets") && error.contains("others"), "{error}");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace('\n', "")).unwrap();
    let error = Identity::open(folder.path(), false).err().unwrap().to_string();
    assert!(error.contains(".secrets") && error.contains("damaged"), "{error}");
    fs::remove_file(&file).unwrap();
    let error = Identity::open(folder.path(), false).err().unwrap().to_string();
    assert!(error.contains(".secrets") && error.contains("no such file"), "{error}");
}

#[test]
fn keys_in_memory_keep_secrets_too() {
    let keys = Identity::in_memory().unwrap();
    let stored = keys.hash_secret([1; 16], b"1234").unwrap();
    assert_eq!(keys.is_secret(&stored, b"1234"), Ok(true));
    assert!(keys.rotate_secrets().is_err());
    let other = Identity::in_memory().unwrap();
    assert!(matches!(other.is_secret(&stored, b"1234"), Err(NoSecret::UnknownKey(_))));
}
