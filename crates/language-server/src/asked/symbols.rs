//! The outline of a text.

use gen_lsp_types::{DocumentSymbol, SymbolKind};
use syntax::Span;
use syntax::tree::{Item, ItemKind, Name, OperationKind, StateKind};

use crate::snapshot::Snapshot;

pub fn symbols(snapshot: &Snapshot) -> Vec<DocumentSymbol> {
    let outline = Outline { snapshot };
    snapshot.items().iter().filter_map(|item| outline.item(item)).collect()
}

struct Outline<'s> {
    snapshot: &'s Snapshot,
}

/// What an entry is called, what stands beside it, and where the name is.
struct Entry<'n> {
    name: &'n str,
    detail: String,
    kind: SymbolKind,
    at: Span,
    children: Vec<DocumentSymbol>,
}

fn entry<'n>(name: &'n Name, detail: impl Into<String>, kind: SymbolKind) -> Entry<'n> {
    Entry { name: &name.text, detail: detail.into(), kind, at: name.span, children: Vec::new() }
}

impl Outline<'_> {
    fn item(&self, item: &Item) -> Option<DocumentSymbol> {
        let found = match &item.kind {
            ItemKind::Design { name, .. } => entry(name, "design", SymbolKind::Module),
            ItemKind::Archetype { name, id, .. } => {
                entry(name, format!("archetype {}", id.text), SymbolKind::Module)
            }
            ItemKind::Use(used) => {
                entry(&used.noun, format!("use {}", used.archetype.text), SymbolKind::Package)
            }
            ItemKind::Actor(actor) => entry(&actor.name, "actor", SymbolKind::Interface),
            ItemKind::Subject(subject) => {
                let mut found = entry(&subject.name, "subject", SymbolKind::Class);
                let keys = subject.keys.iter();
                let keys = keys.map(|key| (entry(&key.name, "key", SymbolKind::Key), key.ty.span));
                let keys = keys.map(|(found, ty)| (found.at.to(ty), found));
                found.children.extend(keys.filter_map(|(span, found)| self.symbol(found, span)));
                for state in &subject.states {
                    let mut inner = entry(&state.name, state_word(&state.kind), SymbolKind::Struct);
                    inner.children = state
                        .attributes
                        .iter()
                        .filter_map(|attribute| {
                            let ty = self.snapshot.compiled.sources.text(attribute.ty.span);
                            let found = entry(&attribute.name, ty, SymbolKind::Field);
                            self.symbol(found, attribute.span)
                        })
                        .collect();
                    found.children.extend(self.symbol(inner, state.span));
                }
                found
            }
            ItemKind::Blob { name } => entry(name, "blob", SymbolKind::Object),
            ItemKind::Define(define) => entry(&define.name, "define", SymbolKind::Function),
            ItemKind::Operation(operation) => {
                let detail =
                    format!("{} of {}", operation_word(&operation.kind), operation.actor.text);
                let mut found = entry(&operation.name, detail, SymbolKind::Method);
                if let OperationKind::Event { event, .. } = &operation.kind {
                    found = entry(event, "on", SymbolKind::Event);
                }
                for clause in &operation.guard {
                    let name = clause.name.as_ref();
                    let inner = name.map(|name| entry(name, "clause", SymbolKind::Boolean));
                    let inner = inner.and_then(|inner| self.symbol(inner, clause.span));
                    found.children.extend(inner);
                }
                found
            }
            ItemKind::View(view) => entry(&view.name, "view", SymbolKind::Array),
            ItemKind::Protocol(protocol) => entry(&protocol.name, "protocol", SymbolKind::Operator),
            ItemKind::Invariant { name, .. } => entry(name, "invariant", SymbolKind::Constant),
            ItemKind::Recovers { name, .. } => entry(name, "recovers", SymbolKind::Constant),
            ItemKind::LeadsTo { name, .. } => entry(name, "leads_to", SymbolKind::Constant),
            ItemKind::Failure(failure) => Entry {
                name: &failure.title.value,
                detail: "failure".into(),
                kind: SymbolKind::String,
                at: failure.title.span,
                children: Vec::new(),
            },
            ItemKind::Test(test) => Entry {
                name: &test.title.value,
                detail: "test".into(),
                kind: SymbolKind::String,
                at: test.title.span,
                children: Vec::new(),
            },
            ItemKind::Hotspot(hotspot) => Entry {
                name: &hotspot.title.value,
                detail: "hotspot".into(),
                kind: SymbolKind::String,
                at: hotspot.title.span,
                children: Vec::new(),
            },
            ItemKind::Check(check) => match &check.named {
                Some(named) => entry(&named.name, "check", SymbolKind::Namespace),
                None => Entry {
                    name: "check",
                    detail: "the default world".into(),
                    kind: SymbolKind::Namespace,
                    at: Span::new(item.span.file, item.span.start, item.span.start + 5),
                    children: Vec::new(),
                },
            },
            ItemKind::Header { .. }
            | ItemKind::From(_)
            | ItemKind::Defence(_)
            | ItemKind::Error => return None,
        };
        self.symbol(found, item.span)
    }

    /// None: it has no name yet.
    fn symbol(&self, found: Entry<'_>, span: Span) -> Option<DocumentSymbol> {
        let Entry { name, detail, kind, at, children } = found;
        if name.trim().is_empty() {
            return None;
        }
        #[allow(deprecated, reason = "the field has to be filled")]
        Some(DocumentSymbol {
            name: name.to_string(),
            detail: Some(detail),
            kind,
            tags: None,
            deprecated: None,
            // the name must lie inside, also where the item could not be read to its end
            range: self.snapshot.range(span.to(at)),
            selection_range: self.snapshot.range(at),
            children: (!children.is_empty()).then_some(children),
        })
    }
}

pub fn state_word(kind: &StateKind) -> &'static str {
    match kind {
        StateKind::Truth => "truth",
        StateKind::Volatile => "volatile",
        StateKind::Log { .. } => "log",
        StateKind::Cache { .. } => "cache",
        StateKind::Ephemeral { .. } => "ephemeral",
    }
}

pub fn operation_word(kind: &OperationKind) -> &'static str {
    match kind {
        OperationKind::Step { .. } => "step",
        OperationKind::Repair { .. } => "repair",
        OperationKind::Effect => "effect",
        OperationKind::Read => "read",
        OperationKind::Event { .. } => "on",
    }
}
