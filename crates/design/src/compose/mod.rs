//! Designs made of designs: a text with `use` becomes one text without, before it is compiled.
//!
//! Each `use` gives way to the items of its archetype, with their names changed and with the lines of its block
//! written into them. Every piece of the flat text knows where it was written, so messages point there.

mod changes;
mod flat;
mod hiding;
mod joining;
mod naming;
mod origins;
mod together;
mod worlds;
mod writes;

use std::ops::Range;

use syntax::tree::{Item, ItemKind, UseChangeKind, UseItem};
use syntax::{Diagnostic, FileId, Parsed, Span};

pub use flat::Flat;
pub(crate) use origins::Origins;
pub(crate) use together::Together;
pub(crate) use writes::writes_of_others;

use crate::compile::{Alone, alone};
use crate::model::LeftOut;
use crate::{Catalog, Source, Sources, suggest};
use flat::Edit;
use naming::Naming;
use worlds::UsedWorld;

/// An archetype may use others, but not for ever.
const MAX_NESTING: usize = 8;

/// What became of a text with `use`.
pub struct Composed {
    /// none: it uses nothing, and is compiled as it is
    pub flat: Option<Flat>,
    /// the text itself first, then one for each `use`
    pub sources: Sources,
    /// the text as it is written
    pub written: Parsed,
    /// about `use`, in the places where things were written
    pub diagnostics: Vec<Diagnostic>,
    pub used: Vec<Used>,
}

/// One `use`, carried out.
#[derive(Clone, Debug)]
pub struct Used {
    pub archetype: String,
    pub noun: String,
    pub scope: String,
    /// the whole `use`
    pub span: Span,
    /// its sources: its own, and those of what it uses
    pub files: Range<u16>,
    /// operations that nobody may call
    pub hidden: Vec<String>,
    pub left_out: Vec<LeftOut>,
    /// clauses that the block adds, as `step.clause`
    pub added: Vec<String>,
    /// effects that the block adds
    pub effects: Vec<MoreWrites>,
    /// names in the block, and the definitions that they stand for
    pub names: Vec<(Span, String)>,
}

/// Effects that a `use` adds to an operation.
#[derive(Clone, Debug)]
pub struct MoreWrites {
    pub span: Span,
    /// it may write what the archetype has
    pub into: bool,
}

pub fn compose(name: &str, text: &str, catalog: &dyn Catalog) -> Composed {
    compose_hearing(name, text, catalog, &[])
}

/// The same, and these designs that it uses hear each other.
pub fn compose_hearing(
    name: &str,
    text: &str,
    catalog: &dyn Catalog,
    designs: &[String],
) -> Composed {
    let mut sources = Sources::default();
    let file = sources.add(Source::new(name, text));
    let mut composer =
        Composer { catalog, sources, diagnostics: Vec::new(), used: Vec::new(), stack: Vec::new() };
    let written = syntax::parse(text, file);
    let flat = composer.text(file, text, &written);
    let flat = flat.map(|flat| match designs {
        [] => flat,
        designs => together::hear_each_other(&flat, designs),
    });
    let Composer { sources, diagnostics, used, .. } = composer;
    Composed { flat, sources, written, diagnostics, used }
}

pub(super) struct Composer<'c> {
    catalog: &'c dyn Catalog,
    sources: Sources,
    diagnostics: Vec<Diagnostic>,
    used: Vec<Used>,
    /// the archetypes around what is read
    stack: Vec<String>,
}

/// What a `use` brings.
pub(super) struct Part {
    /// its items, without header and `check`
    flat: Flat,
    used: Used,
    /// subjects that are joined to another of their name
    bound_subjects: Vec<(String, Span)>,
    bound_actors: Vec<(String, Span)>,
    worlds: Vec<UsedWorld>,
    /// the names of its goals, in the order written
    goals: Vec<String>,
}

/// The `use` without the lines of its block that could not be read; none: all of them could.
fn readable(used: &UseItem, unread: &[Diagnostic]) -> Option<UseItem> {
    if unread.is_empty() {
        return None;
    }
    let mut read = used.clone();
    // what is wrong with a line may be said as far as the next one
    let begins: Vec<u32> = used.changes.iter().map(|change| change.span.start).collect();
    let mut at = 0;
    read.changes.retain(|change| {
        at += 1;
        let next = begins.get(at).copied().unwrap_or(u32::MAX);
        let wrong = |problem: &Diagnostic| {
            let place = problem.primary.span;
            change.span.start <= place.end && place.start < next
        };
        !unread.iter().any(wrong)
    });
    Some(read)
}

impl Composer<'_> {
    /// The text without `use`; none if it has none.
    fn text(&mut self, file: FileId, text: &str, parsed: &Parsed) -> Option<Flat> {
        let uses = || {
            parsed.tree.items.iter().filter_map(|item| match &item.kind {
                ItemKind::Use(used) => Some((item, used)),
                _ => None,
            })
        };
        uses().next()?;
        let mut edits = Vec::new();
        let mut parts = Vec::new();
        for (item, used) in uses() {
            let inside = |problem: &&Diagnostic| {
                let at = problem.primary.span.start;
                item.span.start <= at && at <= item.span.end
            };
            let unread: Vec<Diagnostic> =
                parsed.diagnostics.iter().filter(inside).cloned().collect();
            // what could be read of the block is carried out, so that the rest of the text still means something
            let read = readable(used, &unread);
            let said = self.diagnostics.len();
            let mut with = Flat::default();
            if let Some(part) = self.part(item, read.as_ref().unwrap_or(used), text) {
                let told = format!("// {} as {}\n", used.archetype.text, used.noun.text);
                with.push(told, item.span);
                with.append(part.flat.clone());
                with.push("\n".into(), item.span.after());
                parts.push(part);
            }
            if !unread.is_empty() {
                // what follows from lines that are missing is not said
                self.diagnostics.truncate(said);
                self.diagnostics.extend(unread);
            }
            edits.push(Edit { range: item.span.start..item.span.end, with });
        }
        let flat = Flat::whole(file, text).edited(edits);
        let flat = self.join_actors(flat, &parts);
        let flat = self.join_subjects(flat, &parts);
        let flat = self.join_worlds(flat, &parts);
        self.used.extend(parts.into_iter().map(|part| part.used));
        Some(flat)
    }

    /// What one `use` brings; none: it cannot be carried out, which was said.
    fn part(&mut self, item: &Item, used: &UseItem, text: &str) -> Option<Part> {
        let (id, noun) = (&used.archetype, &used.noun);
        if id.text.is_empty() || noun.text.is_empty() {
            return None; // it could not be read
        }
        let Some(found) = self.catalog.archetype(&id.text) else {
            self.no_archetype(id);
            return None;
        };
        if !noun.text.starts_with(|first: char| first.is_ascii_uppercase()) {
            self.diagnostics.push(
                Diagnostic::error(
                    "E0802",
                    noun.span,
                    format!("`{}` does not begin with a capital letter", noun.text),
                )
                .help("the noun becomes part of state names, as in `TicketHoldState`"),
            );
            return None;
        }
        if self.stack.len() >= MAX_NESTING
            || self.stack.contains(&id.text)
            || self.sources.is_full()
        {
            self.diagnostics.push(
                Diagnostic::error(
                    "E0803",
                    item.span,
                    format!("`{}` is used by an archetype that it uses itself", id.text),
                )
                .help("write the part that is needed into this design instead"),
            );
            return None;
        }
        let found = found.to_string();
        let called = format!("{} as {}", id.text, noun.text);
        let file = self.sources.add(Source::new(called, found.clone()));
        self.stack.push(id.text.clone());
        let (problems, inner) = (self.diagnostics.len(), self.used.len());
        let parsed = syntax::parse(&found, file);
        let flat = self.text(file, &found, &parsed).unwrap_or_else(|| Flat::whole(file, &found));
        self.stack.pop();
        let sound = !self.diagnostics[problems..].iter().any(Diagnostic::is_error);
        let inner: Vec<Used> = self.used.split_off(inner);
        let archetype = sound.then(|| self.alone(&flat, item))??;
        let files =
            file.0..file.0 + 1 + inner.iter().map(|used| used.files.len() as u16).sum::<u16>();
        let mut naming =
            Naming::new(&noun.text, &archetype.text, &archetype.items, &archetype.analysis);
        let done = Used {
            archetype: id.text.clone(),
            noun: noun.text.clone(),
            scope: naming.scope().to_string(),
            span: item.span,
            files,
            hidden: Vec::new(),
            left_out: inner
                .iter()
                .flat_map(|used| &used.left_out)
                .map(|left| LeftOut { goal: naming.scoped(&left.goal), ..left.clone() })
                .collect(),
            added: Vec::new(),
            effects: Vec::new(),
            names: Vec::new(),
        };
        let mut part = Part {
            flat: Flat::default(),
            used: done,
            bound_subjects: Vec::new(),
            bound_actors: Vec::new(),
            worlds: Vec::new(),
            goals: Vec::new(),
        };
        let before = self.diagnostics.len();
        self.names(used, &mut naming, &mut part, file);
        let renamed = naming.renamed(&flat, &archetype.sources);
        part.flat = self.changed(renamed.clone(), used, &naming, &mut part, (text, file));
        self.take_worlds(&mut part, &archetype.design, &naming, &renamed);
        let sound = !self.diagnostics[before..].iter().any(Diagnostic::is_error);
        sound.then_some(part)
    }

    /// The archetype by itself. It has errors only where the catalog has.
    fn alone(&mut self, flat: &Flat, item: &Item) -> Option<Alone> {
        let compiled = alone(flat.text());
        let errors: Vec<&Diagnostic> =
            compiled.diagnostics.iter().filter(|problem| problem.is_error()).collect();
        if errors.is_empty() {
            return Some(compiled);
        }
        for problem in errors {
            let mut problem = problem.clone();
            problem.primary.span = flat.origin(problem.primary.span);
            problem.secondary.iter_mut().for_each(|label| label.span = flat.origin(label.span));
            self.diagnostics.push(problem.also(item.span, "used here"));
        }
        None
    }

    fn no_archetype(&mut self, id: &syntax::tree::Name) {
        let ids = self.catalog.ids();
        let problem = Diagnostic::error(
            "E0801",
            id.span,
            format!("no archetype `{}` in the catalog", id.text),
        );
        self.diagnostics.push(
            match suggest::did_you_mean(&id.text, ids.iter().map(String::as_str)) {
                Some(hint) => problem.help(hint),
                None => problem.help("`steadfast list` prints the catalog"),
            },
        );
    }
}

/// Names, bindings and addresses that the block gives, as far as they are there.
fn is_named(kind: &UseChangeKind) -> bool {
    matches!(
        kind,
        UseChangeKind::Actor { .. } | UseChangeKind::Subject { .. } | UseChangeKind::Rename { .. }
    )
}
