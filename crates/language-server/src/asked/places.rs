//! Where names are defined and used, also in the archetypes that a text uses.

use std::collections::BTreeSet;

use gen_lsp_types::{DocumentHighlight, Location, Range, Uri};
use syntax::Span;
use syntax::tree::ItemKind;

use crate::lines::Lines;
use crate::server::Server;
use crate::snapshot::{Snapshot, TEXT};

/// A place that an editor can go to. None: it lies in a text that was made, and stands nowhere.
pub fn location(
    server: &Server<'_>,
    uri: &Uri,
    snapshot: &Snapshot,
    span: Span,
) -> Option<Location> {
    if span.file == TEXT {
        return Some(Location { uri: uri.clone(), range: snapshot.range(span) });
    }
    let source = snapshot.compiled.sources.get(span.file)?;
    // `A08 as Seat`
    let id = source.name.split(' ').next()?;
    let text = server.settings.catalog.archetype(id)?;
    if text != source.text {
        return None;
    }
    let uri = archetype(server, id, text)?;
    Some(Location { uri, range: Lines::of(text).range(text, span) })
}

fn archetype(server: &Server<'_>, id: &str, text: &str) -> Option<Uri> {
    server.shelf.place("archetypes", &format!("{}.design", id.to_uppercase()), text)
}

pub fn definitions(
    server: &Server<'_>,
    uri: &Uri,
    snapshot: &Snapshot,
    offset: u32,
) -> Vec<Location> {
    if let Some(place) = used_archetype(server, snapshot, offset) {
        return vec![place];
    }
    let mut found = Vec::new();
    for id in snapshot.definitions_at(offset) {
        let place = location(server, uri, snapshot, snapshot.definition(id).span);
        found.extend(place.filter(|place| !found.contains(place)));
    }
    found
}

/// The `A08` of `use A08 as Seat`.
fn used_archetype(server: &Server<'_>, snapshot: &Snapshot, offset: u32) -> Option<Location> {
    let uses = snapshot.items().iter().filter_map(|item| match &item.kind {
        ItemKind::Use(used) => Some(&used.archetype),
        _ => None,
    });
    let mut here = uses.filter(|name| name.span.start <= offset && offset <= name.span.end);
    let id = &here.next()?.text;
    let text = server.settings.catalog.archetype(id)?;
    Some(Location { uri: archetype(server, id, text)?, range: Range::default() })
}

pub fn references(
    server: &Server<'_>,
    uri: &Uri,
    snapshot: &Snapshot,
    offset: u32,
    itself: bool,
) -> Vec<Location> {
    let spans = spans(snapshot, offset, itself);
    spans.into_iter().filter_map(|span| location(server, uri, snapshot, span)).collect()
}

/// In this file alone.
pub fn highlights(snapshot: &Snapshot, offset: u32) -> Vec<DocumentHighlight> {
    let here = spans(snapshot, offset, true).into_iter().filter(|span| span.file == TEXT);
    here.map(|span| DocumentHighlight { range: snapshot.range(span), kind: None }).collect()
}

/// Every use of what stands at this place, each once, in the order of the text.
fn spans(snapshot: &Snapshot, offset: u32, itself: bool) -> BTreeSet<Span> {
    let analysis = snapshot.analysis();
    let mut spans = BTreeSet::new();
    for id in snapshot.definitions_at(offset) {
        spans.extend(analysis.references_to(id));
        if itself {
            spans.insert(snapshot.definition(id).span);
        }
    }
    spans
}
