//! A program with other archetypes than the one that stored a design: it says what changes, and follows or refuses.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use runtime::{Request, Runtime, Settings, SystemClock, Writing};
use store::Store;
use store_embedded::Embedded;

use crate::cli::serving::Server;
use crate::cli::support::{command, folder, root};

const THEATRE: &str = "design Theatre\n\nuse A08 as Seat\n";

/// An archetype as it was in an earlier program.
struct Earlier(String);

impl design::Catalog for Earlier {
    fn archetype(&self, id: &str) -> Option<&str> {
        (id == "A08").then_some(&*self.0)
    }

    fn ids(&self) -> Vec<String> {
        vec!["A08".into()]
    }
}

/// The archetype of the catalog, with something else in it.
fn earlier(from: &str, to: &str) -> Earlier {
    let text = fs::read_to_string(root().join("designs/product/A08.design")).unwrap();
    assert!(text.contains(from), "{from}");
    Earlier(text.replace(from, to))
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
    stored_by(&folder, &earlier("ttl: duration = 10m", "ttl: duration = 5m"));
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
    let earlier =
        earlier("        section: text,\n", "        section: text,\n        row: int = 7,\n");
    stored_by(
        &folder,
        &Earlier(earlier.0.replace(
            "{ XInventoryState.section := section }",
            "{\n    XInventoryState.section := section\n    XInventoryState.row := 8\n}",
        )),
    );
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
