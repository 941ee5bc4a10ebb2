//! Reads the text and every archetype it uses into one list of items.

use syntax::tree::{Item, ItemKind};
use syntax::{Diagnostic, FileId};

use crate::archetype::{has_placeholder, instantiate};
use crate::{Catalog, Source, Sources, suggest};

pub struct Expanded {
    pub items: Vec<Item>,
    pub sources: Sources,
    pub diagnostics: Vec<Diagnostic>,
}

/// An archetype may use others, but not for ever.
const MAX_NESTING: usize = 8;

pub fn expand(name: &str, text: &str, catalog: &dyn Catalog) -> Expanded {
    let mut expanded =
        Expanded { items: Vec::new(), sources: Sources::default(), diagnostics: Vec::new() };
    let file = expanded.sources.add(Source::new(name, text));
    read(&mut expanded, text, file, catalog, 0);
    expanded
}

fn read(expanded: &mut Expanded, text: &str, file: FileId, catalog: &dyn Catalog, depth: usize) {
    let parsed = syntax::parse(text, file);
    expanded.diagnostics.extend(parsed.diagnostics);
    for item in parsed.tree.items {
        let is_header = matches!(
            item.kind,
            ItemKind::Design { .. } | ItemKind::Archetype { .. } | ItemKind::Header { .. }
        );
        if depth > 0 && (is_header || matches!(item.kind, ItemKind::Check(_))) {
            // the archetype's own header and small world; the design that uses it has its own
            continue;
        }
        if let ItemKind::Use { archetype, noun } = &item.kind {
            let noun_text = noun.text.clone();
            if archetype.text.is_empty() || noun_text.is_empty() {
                continue; // it could not be read
            }
            let Some(found) = catalog.archetype(&archetype.text) else {
                let ids = catalog.ids();
                let mut problem = Diagnostic::error(
                    "E0801",
                    archetype.span,
                    format!("no archetype `{}` in the catalog", archetype.text),
                );
                problem =
                    match suggest::did_you_mean(&archetype.text, ids.iter().map(String::as_str)) {
                        Some(hint) => problem.help(hint),
                        None => problem.help("`steadfast list` prints the catalog"),
                    };
                expanded.diagnostics.push(problem);
                continue;
            };
            if !noun_text.starts_with(|first: char| first.is_ascii_uppercase()) {
                expanded.diagnostics.push(
                    Diagnostic::error(
                        "E0802",
                        noun.span,
                        format!("`{noun_text}` does not begin with a capital letter"),
                    )
                    .help("the noun becomes part of state names, as in `TicketHoldState`"),
                );
                continue;
            }
            if depth >= MAX_NESTING || expanded.sources.is_full() {
                expanded.diagnostics.push(
                    Diagnostic::error(
                        "E0803",
                        item.span,
                        format!("`{}` is used by an archetype that it uses itself", archetype.text),
                    )
                    .help("write the part that is needed into this design instead"),
                );
                continue;
            }
            if !has_placeholder(found) {
                expanded.diagnostics.push(
                    Diagnostic::warning(
                        "W0801",
                        archetype.span,
                        format!(
                            "`{}` has no placeholder `X`, so its names stay as they are",
                            archetype.text
                        ),
                    )
                    .help("use it once in a design, or write its items into this one"),
                );
            }
            let text = instantiate(found, &noun_text);
            let name = format!("{} as {}", archetype.text, noun_text);
            let inner = expanded.sources.add(Source::new(name, text.clone()));
            expanded.items.push(item);
            read(expanded, &text, inner, catalog, depth + 1);
            continue;
        }
        expanded.items.push(item);
    }
}
