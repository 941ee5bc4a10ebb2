//! Nobody but its owner reads a store.

use crate::place;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use place::Place;
use store::{Commit, Store, block_on};
use store_embedded::{Embedded, Options};

fn modes(directory: &Path) -> Vec<(String, u32)> {
    let mut modes = vec![(String::new(), mode(directory))];
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        modes.push((name, mode(&entry.path())));
        if entry.path().is_dir() {
            modes.extend(modes_below(&entry.path()));
        }
    }
    modes
}

fn modes_below(directory: &Path) -> Vec<(String, u32)> {
    modes(directory).split_off(1)
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn fill(directory: &Path) -> Embedded {
    let store = Embedded::open(directory, Options::small()).unwrap();
    block_on(store.commit(Commit::new().put("key", "value"))).unwrap();
    block_on(async {
        let mut writer = store.blobs().begin().await?;
        writer.write("content".into()).await?;
        writer.finish(None).await
    })
    .unwrap();
    store.snapshot().unwrap();
    store
}

#[test]
fn what_is_written_is_for_its_owner_alone() {
    let place = Place::new("modes");
    let directory = place.path().join("store");
    let store = fill(&directory);
    store.backup(place.path().join("backup")).unwrap();
    assert_eq!(store.notes(), [""; 0]);
    for written in [directory, place.path().join("backup")] {
        for (name, mode) in modes(&written) {
            assert_eq!(mode & 0o077, 0, "{name} of {}: {mode:o}", written.display());
        }
    }
}

#[test]
fn a_store_that_others_could_read_is_mended_and_that_is_said() {
    let place = Place::new("loose");
    let directory = place.path().join("store");
    drop(fill(&directory));
    let manifest = directory.join("manifest");
    fs::set_permissions(&directory, Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&manifest, Permissions::from_mode(0o644)).unwrap();
    let store = Embedded::open(&directory, Options::small()).unwrap();
    assert_eq!((mode(&directory), mode(&manifest)), (0o700, 0o600));
    let said = store.notes().join("\n");
    assert!(said.contains("0755") && said.contains("manifest"), "{said}");
}
