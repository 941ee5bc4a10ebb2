//! What the first page of the console is asked.

use std::sync::Arc;

use console::{Finder, Suggestion};
use steadfast::find::{Index, SHOWN};

/// The first page of the console answers as `steadfast find` does.
pub fn finder() -> Finder {
    Finder(Arc::new(|question| {
        let found = Index::of_catalog().find(question).answers.into_iter().take(SHOWN);
        let told = found.map(|answer| Suggestion {
            id: answer.id.to_owned(),
            name: answer.name.to_owned(),
            purpose: answer.purpose.to_owned(),
            found: answer.reasons(),
            next: answer.next(),
        });
        told.collect()
    }))
}
