//! A program with other archetypes than the one that stored a design: it says what changes, and follows or refuses.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use runtime::{Request, Runtime, Settings, SystemClock, Writing};
use store::Store;
use store_embedded::Embedded;

use crate::cli::serving::Server;
use crate::cli::support::{command, folder, root};

const THEATRE: &str = "design Theatre\n\nuse A08 as Seat\n";

/// Archetypes as they were in an earlier program.
struct Earlier(BTreeMap<&'static str, String>);

impl design::Catalog for Earlier {
    fn archetype(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(String::as_str)
    }

    fn ids(&self) -> Vec<String> {
        self.0.keys().map(ToString::to_string).collect()
    }
}

/// The archetypes of the catalog, with something else in one of them.
fn earlier(changed: &'static str, changes: &[(&str, &str)]) -> Earlier {
    let read = |id: &'static str| {
        let text = fs::read_to_string(root().join(format!("designs/product/{id}.design"))).unwrap();
        (id, text)
    };
    let mut all: BTreeMap<&'static str, String> = ["A06", "A08"].map(read).into();
    let text = all.get_mut(changed).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        *text = text.replace(from, to);
    }
    Earlier(all)
}

/// What a server of the earlier program left behind: one seat.
fn stored_by(folder: &Path, earlier: &Earlier) {
    fs::write(folder.join("theatre.design"), THEATRE).unwrap();
    let compiled = design::compile("theatre", THEATRE, earlier);
    let said = format!("{:?}", compiled.diagnostics);
    let design = compiled.design.unwrap_or_else(|| panic!("{said}"));
    let path = folder.join("data");
    let store = Embedded::open(path, store_embedded::Options::default()).unwrap();
    let store: Arc<dyn Store> = Arc::new(store);
    let writing = Writing { text: THEATRE, flat: compiled.flat.as_deref() };
    let clock = Arc::new(SystemClock::default());
    let opened = Runtime::open_with_text(design, writing, store, Settings::default(), clock);
    let runtime = opened.unwrap();
    let add = Request::new("organizer", "add_seat", "olga").with("seat", "a1");
    runtime.call(&add.with("section", "a")).unwrap();
}

#[test]
fn what_changed_in_which_archetype_is_told_and_followed_when_asked() {
    let folder = folder("archetypes-followed");
    stored_by(&folder, &earlier("A08", &[("ttl: duration = 10m", "ttl: duration = 5m")]));
    let words =
        ["serve", "theatre.design", "--store", "embedded:./data", "--listen", "127.0.0.1:0"];
    let ran = command(&folder, &words).output().unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(1), "{said}");
    assert!(
        said.contains("it has not changed, but `A08 as Seat` is another in this program"),
        "{said}"
    );
    assert!(said.contains("ttl: duration = 5m") && said.contains("ttl: duration = 10m"), "{said}");
    assert!(said.contains("--replace"), "{said}");
    let server = Server::start(&folder, &["theatre.design", "--replace"]);
    server.run(&["get", "theatre", "Seat", "a1"]).exits(0).says("section a");
    server.kill();
    // from now on it is the stored one
    let server = Server::start(&folder, &["theatre.design"]);
    server.run(&["get", "theatre", "Seat", "a1"]).exits(0).says("section a");
}

#[test]
fn what_cannot_follow_a_newer_archetype_is_refused() {
    let folder = folder("archetypes-refused");
    // it changed in what the archetype uses itself
    let row = ("        section: text,\n", "        section: text,\n        row: int = 7,\n");
    let written = (
        "{ XInventoryState.section := section }",
        "{\n    XInventoryState.section := section\n    XInventoryState.row := 8\n}",
    );
    stored_by(&folder, &earlier("A06", &[row, written]));
    let words = [
        "serve",
        "theatre.design",
        "--replace",
        "--store",
        "embedded:./data",
        "--listen",
        "127.0.0.1:0",
    ];
    let ran = command(&folder, &words).output().unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(1), "{said}");
    assert!(said.contains("`A08 as Seat` is another in this program"), "{said}");
    assert!(
        said.contains("`Seat.SeatInventoryState.row` is gone, and holds something (Seat a1)"),
        "{said}"
    );
}
