//! The designs that are compiled into the binary.

use std::sync::LazyLock;

use syntax::tree::ItemKind;
use syntax::{FileId, parse};

pub(crate) mod embedded {
    include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
}

/// One design of the catalog.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// `systems/tickets.design`
    pub path: &'static str,
    pub text: &'static str,
}

/// What a design says of itself in its first line.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Header {
    /// of an archetype
    pub id: Option<String>,
    pub name: String,
    pub title: String,
}

impl Entry {
    /// How a user calls it: `tickets`, `I02`.
    pub fn name(&self) -> &'static str {
        let file = self.path.rsplit('/').next().unwrap_or_default();
        file.strip_suffix(".design").unwrap_or(file)
    }

    /// `infra`, `product` or `systems`.
    pub fn folder(&self) -> &'static str {
        self.path.split_once('/').map_or("", |(folder, _)| folder)
    }

    pub fn header(&self) -> Header {
        header(self.text)
    }

    /// The files of its page, by their names below the folder that they lie in.
    pub fn page(&self) -> Vec<(&'static str, &'static [u8])> {
        let folder = self.path.strip_suffix(".design").unwrap_or(self.path);
        let below = |path: &'static str| path.strip_prefix(folder)?.strip_prefix(".app/");
        let files = embedded::PAGES.iter();
        files.filter_map(|(path, content)| Some((below(path)?, *content))).collect()
    }
}

/// What a text says that it holds.
pub fn header(text: &str) -> Header {
    let items = parse(text, FileId::default()).tree.items;
    items
        .into_iter()
        .find_map(|item| match item.kind {
            ItemKind::Design { name, title } => Some((None, name, title)),
            ItemKind::Archetype { id, name, title } => Some((Some(id.text), name, title)),
            _ => None,
        })
        .map(|(id, name, title)| Header {
            id,
            name: name.text,
            title: title.map(|title| title.value).unwrap_or_default(),
        })
        .unwrap_or_default()
}

/// The whole catalog, by folder and name.
pub fn entries() -> impl Iterator<Item = Entry> {
    embedded::DESIGNS.iter().map(|(path, text)| Entry { path, text })
}

/// By file name, archetype id or declared name, whatever the case: `tickets`, `i02`, `Hold`.
pub fn find(word: &str) -> Option<Entry> {
    entries().find(|entry| same(entry.name(), word)).or_else(|| {
        entries().find(|entry| {
            let header = entry.header();
            same(&header.name, word) || header.id.is_some_and(|id| same(&id, word))
        })
    })
}

fn same(name: &str, word: &str) -> bool {
    let plain = |text: &str| text.replace(['-', '_'], "").to_lowercase();
    plain(name) == plain(word)
}

/// The pages of the error codes: (code, text).
pub fn error_pages() -> impl Iterator<Item = (&'static str, &'static str)> {
    embedded::ERRORS
        .iter()
        .map(|(path, text)| (path.strip_suffix(".md").unwrap_or(path), *text))
        .filter(|(code, _)| *code != "README")
}

/// The catalog as `use A08 as Ticket` sees it.
pub struct Embedded;

/// Every archetype by its id. An editor asks with each key: the headers are read once.
static ARCHETYPES: LazyLock<Vec<(String, &str)>> = LazyLock::new(|| {
    entries().filter_map(|entry| Some((entry.header().id?, entry.text))).collect()
});

impl design::Catalog for Embedded {
    fn archetype(&self, id: &str) -> Option<&str> {
        let found = ARCHETYPES.iter().find(|(its, _)| its.eq_ignore_ascii_case(id));
        found.map(|(_, text)| *text)
    }

    fn ids(&self) -> Vec<String> {
        ARCHETYPES.iter().map(|(id, _)| id.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_found_whatever_their_case() {
        for word in ["tickets", "Tickets", "TICKETS"] {
            assert_eq!(find(word).map(|entry| entry.path), Some("systems/tickets.design"));
        }
        assert_eq!(find("i02").map(|entry| entry.name()), Some("I02"));
        assert_eq!(find("hold").map(|entry| entry.name()), Some("A08"));
        assert!(find("nothing of the kind").is_none());
    }

    #[test]
    fn no_two_designs_answer_to_one_name() {
        let mut names = BTreeSet::new();
        for entry in entries() {
            assert!(names.insert(entry.name().to_lowercase()), "{}", entry.path);
        }
    }

    #[test]
    fn every_design_says_what_it_is() {
        for entry in entries() {
            let header = entry.header();
            assert!(!header.name.is_empty() && !header.title.is_empty(), "{}", entry.path);
        }
    }
}
