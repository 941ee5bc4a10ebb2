//! The way from items to a design. Each file does one construct; this one has the order.

mod access;
mod actor;
mod aggregate;
mod apart;
mod arithmetic;
mod assign;
mod calendar;
mod call;
mod check;
mod check_domains;
mod check_settings;
mod compare;
mod declare;
mod defence;
mod domain;
mod earlier;
mod effect;
mod expr;
mod failure;
mod family;
mod frame;
mod hearing;
mod hotspot;
mod keyed;
mod leads;
mod literal;
mod memory;
mod missing;
mod names;
mod operation;
mod orphans;
mod path;
mod proofs;
mod protocol;
mod range;
mod reach;
mod readable;
mod refer;
mod relevance;
mod rounding;
mod rules;
mod secrets;
mod sending_each;
mod sent_to;
mod stmt;
mod structs;
mod subject;
mod taking;
mod test;
mod test_value;
mod types;
mod unknown;
mod view;
mod view_parts;

use rustc_hash::{FxHashMap, FxHashSet};
use syntax::tree::{self, ItemKind};
use syntax::{Diagnostic, Span};

use crate::analysis::{Analysis, Recorder};
use crate::model::*;
use crate::{Source, Sources};

pub use family::families;
pub(crate) use missing::{item_around, stands_beside};
use names::Names;

/// Everything that is known so far.
struct Compiler {
    sources: Sources,
    design: Design,
    names: Names,
    diagnostics: Vec<Diagnostic>,
    /// names and types as they are resolved, for whoever asks about the text
    known: Recorder,
    enumerations: FxHashMap<Vec<String>, EnumId>,
    /// for each enumeration where its words are written first
    constants: Vec<Vec<Span>>,
    /// for each operation where its name is written
    operation_names: Vec<Span>,
    defines: Vec<tree::DefineItem>,
    /// subjects that some step makes
    made: FxHashSet<SubjectId>,
    /// in the body that is being compiled
    found_each: Vec<sending_each::Found>,
    each_actor: Option<ActorId>,
    missing: missing::Missing,
    tests: Vec<Test>,
    /// compiling the snippet of a `refused by compiler`: such failures are not followed again
    nested: bool,
}

/// An archetype, compiled by itself.
pub(crate) struct Alone {
    pub text: String,
    pub items: Vec<tree::Item>,
    pub design: Design,
    pub analysis: Analysis,
    pub diagnostics: Vec<Diagnostic>,
    pub sources: Sources,
}

pub(crate) fn alone(text: String) -> Alone {
    let mut sources = Sources::default();
    let file = sources.add(Source::new("archetype", text.clone()));
    let parsed = syntax::parse(&text, file);
    let items = parsed.tree.items;
    let outcome = analyse(&items, sources, Reading::Whole);
    let mut diagnostics = parsed.diagnostics;
    diagnostics.extend(outcome.diagnostics);
    let Outcome { design, analysis, sources, .. } = outcome;
    Alone { text, items, design, analysis, diagnostics, sources }
}

/// What the names in a snippet that must not compile stand for: from the use of a name to where it is declared.
pub(crate) fn analyse_snippet(
    items: &[tree::Item],
    snippet: &[tree::Item],
    sources: &Sources,
) -> Vec<(Span, Span)> {
    let all: Vec<tree::Item> = items.iter().chain(snippet).cloned().collect();
    let analysis = analyse(&all, sources.clone(), Reading::Snippet).analysis;
    let inside = |span: Span| {
        snippet.iter().any(|item| item.span.start <= span.start && span.end <= item.span.end)
    };
    let references = analysis.references().iter().filter(|reference| inside(reference.span));
    references
        .map(|reference| (reference.span, analysis.definition(reference.definition).span))
        .collect()
}

/// What is compiled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// a design
    Whole,
    /// with a snippet that must not compile
    Nested,
    /// the same, and what its names stand for is recorded
    Snippet,
}

pub(crate) struct Outcome {
    pub design: Design,
    pub tests: Vec<Test>,
    pub diagnostics: Vec<Diagnostic>,
    pub sources: Sources,
    pub analysis: Analysis,
}

pub(crate) fn analyse(items: &[tree::Item], sources: Sources, mode: Reading) -> Outcome {
    let mut compiler = Compiler {
        sources,
        design: empty_design(),
        names: Names::default(),
        diagnostics: Vec::new(),
        known: if mode == Reading::Nested { Recorder::nothing() } else { Recorder::of(items) },
        enumerations: FxHashMap::default(),
        constants: Vec::new(),
        operation_names: Vec::new(),
        defines: Vec::new(),
        made: FxHashSet::default(),
        found_each: Vec::new(),
        each_actor: None,
        missing: missing::Missing::default(),
        tests: Vec::new(),
        nested: mode != Reading::Whole,
    };
    compiler.declare(items);
    compiler.actors(items);
    compiler.apart_actors(items);
    compiler.subjects(items);
    // who takes from a view must know its rows; else what is missing is told where a step names it
    let taking = taking::takes(items);
    if taking {
        compiler.view_heads(items);
    }
    compiler.operation_heads(items);
    compiler.find_made_subjects(items);
    if !taking {
        compiler.view_heads(items);
    }
    compiler.check_defines();
    compiler.visibility(items);
    compiler.operations(items);
    compiler.each_has_its_own_key();
    compiler.events_call_their_handlers(items);
    compiler.views(items);
    compiler.pages_have_rows(items);
    compiler.times_of_callers(items);
    compiler.takes_from_lists();
    compiler.earlier_versions(items);
    compiler.goals(items);
    compiler.protocols(items);
    compiler.failures(items);
    compiler.defences(items);
    compiler.hotspots(items);
    compiler.volatile_states();
    compiler.rules();
    let before = compiler.diagnostics.len();
    let sound = !compiler.diagnostics.iter().any(Diagnostic::is_error);
    compiler.check_world(items);
    if !sound {
        // what needs a size is known once everything else is
        let sized = compiler.diagnostics.split_off(before);
        let beside =
            sized.into_iter().filter(|problem| !["E0701", "E0702"].contains(&problem.code));
        compiler.diagnostics.extend(beside);
    }
    compiler.tests(items);
    compiler.keep_what_is_missing();
    Outcome {
        analysis: compiler.known.finish(&compiler.design),
        design: compiler.design,
        tests: compiler.tests,
        diagnostics: compiler.diagnostics,
        sources: compiler.sources,
    }
}

impl Compiler {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn text(&self, span: Span) -> String {
        self.sources.text(span).to_string()
    }

    fn goals(&mut self, items: &[tree::Item]) {
        for item in items {
            match &item.kind {
                ItemKind::Invariant { name, body } => {
                    if let Some(goal) = self.goal(name, body, frame::Mode::Invariant) {
                        self.design.invariants.push(goal);
                    }
                }
                ItemKind::Recovers { name, body } => {
                    if let Some(goal) = self.goal(name, body, frame::Mode::Goal) {
                        self.design.recoveries.push(goal);
                    }
                }
                ItemKind::LeadsTo { name, body, by } => self.leads_to(name, body, by),
                _ => {}
            }
        }
    }
}

fn empty_design() -> Design {
    Design {
        kind: DesignKind::Design,
        name: String::new(),
        title: String::new(),
        header: Header::default(),
        uses: Vec::new(),
        earlier: Vec::new(),
        actors: Vec::new(),
        enumerations: Vec::new(),
        blobs: Vec::new(),
        subjects: Vec::new(),
        events: Vec::new(),
        operations: Vec::new(),
        views: Vec::new(),
        defines: Vec::new(),
        protocols: Vec::new(),
        invariants: Vec::new(),
        recoveries: Vec::new(),
        leads: Vec::new(),
        failures: Vec::new(),
        defences: Vec::new(),
        hotspots: Vec::new(),
        world: World::default(),
        worlds: Vec::new(),
        span: Span::default(),
    }
}
