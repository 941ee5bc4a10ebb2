//! What the studio of the console may begin with.

use std::sync::Arc;

use console::{Listed, Shelf, Texts};
use steadfast::catalog::{self, Embedded};

/// The catalog, and the pages of error codes.
pub fn shelf() -> Shelf {
    Shelf(Arc::new(Inside))
}

struct Inside;

impl Texts for Inside {
    fn catalog(&self) -> &dyn design::Catalog {
        &Embedded
    }

    fn listed(&self) -> Vec<Listed> {
        let listed = catalog::entries().map(|entry| {
            let header = entry.header();
            let title = format!("{}: {}", header.name, header.title);
            Listed { name: entry.name().to_owned(), folder: entry.folder().to_owned(), title }
        });
        listed.collect()
    }

    fn text(&self, name: &str) -> Option<String> {
        catalog::find(name).map(|entry| entry.text.to_owned())
    }

    fn page(&self, code: &str) -> Option<String> {
        let mut pages = catalog::error_pages();
        pages.find(|(known, _)| *known == code).map(|(_, page)| page.to_owned())
    }
}
