//! The texts that come with the program: the catalog, and the pages of error codes. Whoever serves the pages has them.

use std::sync::Arc;

use design::Catalog;

/// A design of the catalog.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listed {
    /// `tickets`, `A08`
    pub name: String,
    /// `systems`
    pub folder: String,
    /// what it is called, and what it says of itself
    pub title: String,
}

/// Whoever has the texts.
pub trait Texts: Send + Sync {
    /// where `use A08 as Seat` finds A08
    fn catalog(&self) -> &dyn Catalog;

    fn listed(&self) -> Vec<Listed>;

    /// The text of a design by its name.
    fn text(&self, name: &str) -> Option<String>;

    /// The page of an error code, in Markdown.
    fn page(&self, code: &str) -> Option<String>;
}

#[derive(Clone)]
pub struct Shelf(pub Arc<dyn Texts>);

/// Nothing comes with the program.
pub struct NoTexts;

impl Texts for NoTexts {
    fn catalog(&self) -> &dyn Catalog {
        &design::NoCatalog
    }

    fn listed(&self) -> Vec<Listed> {
        Vec::new()
    }

    fn text(&self, _name: &str) -> Option<String> {
        None
    }

    fn page(&self, _code: &str) -> Option<String> {
        None
    }
}
