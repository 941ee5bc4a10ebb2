//! Several designs of one server as one text: each is used under its own name, and what one hears of another is an
//! event of the whole.

use syntax::FileId;
use syntax::tree::{ItemKind, OperationKind};

use super::flat::{Edit, Flat};
use crate::Catalog;

/// The designs that are read together, beside the catalog that they use.
pub struct Together<'c> {
    /// the name of each, and its text
    designs: Vec<(String, String)>,
    catalog: &'c dyn Catalog,
}

impl<'c> Together<'c> {
    pub fn new(texts: &[&str], catalog: &'c dyn Catalog) -> Together<'c> {
        let named = texts.iter().map(|text| (name_of(text), (*text).to_string()));
        Together { designs: named.collect(), catalog }
    }

    /// The text that uses all of them.
    pub fn text(&self) -> String {
        let names: Vec<&str> = self.designs.iter().map(|(name, _)| name.as_str()).collect();
        let uses: Vec<String> =
            names.iter().map(|name| format!("use {name} as {name}\n")).collect();
        let title = format!("{}, together", names.join(" and "));
        format!("design {} \"{title}\"\n\n{}", names.concat(), uses.concat())
    }

    pub fn names(&self) -> Vec<String> {
        self.designs.iter().map(|(name, _)| name.clone()).collect()
    }
}

impl Catalog for Together<'_> {
    fn archetype(&self, id: &str) -> Option<&str> {
        let own = self.designs.iter().find(|(name, _)| name == id);
        own.map(|(_, text)| text.as_str()).or_else(|| self.catalog.archetype(id))
    }

    fn ids(&self) -> Vec<String> {
        self.names().into_iter().chain(self.catalog.ids()).collect()
    }
}

/// What a text calls itself; nothing if it does not say.
fn name_of(text: &str) -> String {
    let items = syntax::parse(text, FileId(0)).tree.items;
    let name = items.into_iter().find_map(|item| match item.kind {
        ItemKind::Design { name, .. } | ItemKind::Archetype { name, .. } => Some(name.text),
        _ => None,
    });
    name.unwrap_or_default()
}

/// `on Tickets.BookingConfirmed(…)` is `on TicketsBookingConfirmed(…)`, which is what the event is called here.
pub fn hear_each_other(flat: &Flat, designs: &[String]) -> Flat {
    let items = syntax::parse(&flat.text(), FileId(0)).tree.items;
    let edits = items.iter().filter_map(|item| {
        let ItemKind::Operation(operation) = &item.kind else { return None };
        let OperationKind::Event { of: Some(of), event } = &operation.kind else { return None };
        if !designs.contains(&of.text) {
            return None;
        }
        let span = of.span.to(event.span);
        let name = format!("{}{}", of.text, event.text);
        Some(Edit { range: span.start..span.end, with: Flat::piece(name, flat.origin(span)) })
    });
    flat.edited(edits.collect())
}
