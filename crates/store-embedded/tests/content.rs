//! Content that comes piece by piece: what breaks off leaves nothing on the disk.

use std::fs;
use std::path::Path;

use crate::place::Place;
use store::{Hash, Store, block_on};
use store_embedded::{Embedded, Options};

/// The files below a directory.
fn files(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            found.extend(files(&entry.path()));
        } else {
            found.push(entry.file_name().into_string().unwrap());
        }
    }
    found
}

#[test]
fn what_breaks_off_leaves_no_file() {
    let place = Place::new("broken-off");
    let store = Embedded::open(place.path(), Options::small()).unwrap();
    let blobs = place.path().join("blobs");
    let mut writer = block_on(store.blobs().begin()).unwrap();
    block_on(writer.write(vec![b'x'; 100_000].into())).unwrap();
    assert_eq!(files(&blobs).len(), 1, "it is under way");
    drop(writer);
    assert_eq!(files(&blobs), [""; 0]);
    // nor does what turns out to be something else
    let mut writer = block_on(store.blobs().begin()).unwrap();
    block_on(writer.write("something".into())).unwrap();
    assert!(block_on(writer.finish(Some(Hash::of(b"else")))).is_err());
    assert_eq!(files(&blobs), [""; 0]);
    // what is whole is there under its name alone
    let mut writer = block_on(store.blobs().begin()).unwrap();
    block_on(writer.write("whole".into())).unwrap();
    block_on(writer.finish(None)).unwrap();
    assert_eq!(files(&blobs), [Hash::of(b"whole").to_string()]);
}
