//! Every page with a `console` does what it shows.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::pages::parts::{Part, pages, parts};
use crate::pages::session::Session;
use crate::pages::tasks::MOVING;

#[test]
fn pages_do_what_they_show() {
    // these have a test of their own
    let alone = ["docs/tutorial.md", MOVING];
    let all: Vec<(String, Vec<Part>)> = pages()
        .into_iter()
        .filter(|(name, _)| !alone.contains(&name.as_str()))
        .filter_map(|(name, page)| Some((name, parts(&page)?)))
        .collect();
    assert!(all.len() >= 6, "{} pages with commands", all.len());
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((name, parts)) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let folder = name.replace(['/', '.'], "-");
                    let mut session = Session::new(&folder);
                    if let Err(why) = session.follow(parts) {
                        wrong.lock().unwrap().push(format!("{name}: {why}"));
                    }
                    println!("{name}: {} commands in {:.1?}", session.commands, session.took);
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
