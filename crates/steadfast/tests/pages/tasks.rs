//! Three tasks of a new user, done with nothing but what the documents print.

use std::fs;

use crate::cli::support::root;
use crate::database::Server;
use crate::pages::parts::{Part, pages, parts};
use crate::pages::session::Session;

pub const MOVING: &str = "docs/how-to/move-to-postgres.md";

/// A page of the documents, in parts.
fn page(name: &str) -> Vec<Part> {
    let text = fs::read_to_string(root().join(name)).unwrap();
    parts(&text).unwrap_or_else(|| panic!("{name} has no commands"))
}

/// Whether a document prints a command like this one. Names of records and callers are the user's own.
fn printed(command: &str) -> bool {
    let shape = |line: &str| -> Vec<String> {
        let own = ["mon-18", "tue-07", "ann", "bob", "mia"];
        let line = own.iter().fold(line.to_string(), |line, name| line.replace(name, "NAME"));
        line.split_whitespace().map(String::from).collect()
    };
    pages().iter().any(|(_, page)| {
        let typed = page.lines().filter_map(|line| line.strip_prefix("$ "));
        typed.map(shape).any(|typed| typed == shape(command))
    })
}

fn does(session: &mut Session, command: &str) -> String {
    assert!(printed(command), "no document prints `{command}`");
    session.run(command)
}

/// Book a laundry slot: the design of the tutorial, served; another hour and another tenant.
#[test]
fn a_new_user_books_a_slot() {
    let mut session = Session::new("task-book");
    let all = page("docs/tutorial.md");
    // up to the server that runs: the file, the check, the change, the check, `dev`
    let serving = all.iter().position(|part| match part {
        Part::Type(typed) => typed.iter().any(|shown| shown.command.starts_with("steadfast dev")),
        _ => false,
    });
    session.follow(&all[..=serving.expect("`dev`")]).unwrap();
    let book = |name: &str| {
        format!(
            "curl --json '{{\"slot\": \"tue-07\"}}' -H 'steadfast-as: {name}' \
             http://127.0.0.1:7070/v1/laundry/tenant/book"
        )
    };
    let told = does(&mut session, &book("mia"));
    assert!(told.contains("\"outcome\":\"done\"") && told.contains("\"by\":\"mia\""), "{told}");
    let told = does(&mut session, &book("bob"));
    assert!(told.contains("\"status\":409") && told.contains("double booking"), "{told}");
    let told = does(&mut session, "steadfast get laundry Slot tue-07");
    assert!(told.contains("by mia"), "{told}");
}

/// Find why a design is violated, and mend it: the trace names the step and the value that it did not
/// look at.
#[test]
fn a_new_user_finds_why_a_design_is_violated() {
    let mut session = Session::new("task-why");
    let all = page("docs/how-to/read-a-trace.md");
    session.follow(&all[..1]).unwrap();
    let told = does(&mut session, "steadfast check laundry.design");
    // from the bottom up, as the page says: the last step, and what it changed
    let last = told.lines().take_while(|line| !line.contains("so: `kept`")).collect::<Vec<_>>();
    let [.., step, change] = last[..] else { panic!("{told}") };
    assert!(step.contains("tenant-2 calls book(slot-1)"), "{step}");
    assert!(change.contains("started true → false"), "{change}");
    let told = does(&mut session, "steadfast break laundry.design kept");
    assert!(told.contains("`kept` is broken, in what is stored"), "{told}");
    let mended = all.iter().filter(|part| matches!(part, Part::Change { .. }));
    for change in mended {
        session.follow(std::slice::from_ref(change)).unwrap();
    }
    let told = does(&mut session, "steadfast check laundry.design | head -1");
    assert!(told.starts_with("laundry.design: proved"), "{told}");
}

/// Move a service that has something in it to PostgreSQL, and sell there what was held here.
#[test]
fn a_new_user_moves_to_postgres() {
    let database = Server::start();
    let mut session = Session::new("task-move");
    session.has_database(database.port);
    session.follow(&page(MOVING)).unwrap();
    // nothing of the copy that was tried is left, and the other store was not changed
    let told = session.run("steadfast verify ./steadfast-data");
    assert!(told.contains("sound Tickets: 2 transitions"), "{told}");
    let told = session.run("steadfast get tickets Seat A1");
    assert!(told.contains("status SOLD"), "{told}");
    let told = session.run("psql shop -At -c '\\dn' | cut -d'|' -f1");
    assert_eq!(told.lines().collect::<Vec<_>>(), ["public", "steadfast"]);
}
