//! From a text to what became of it: written out, compiled, and told in the places where things were written.

use syntax::{Diagnostic, Span};

use crate::compile::{Reading, analyse, item_around, stands_beside};
use crate::compose::{
    Composed, Origins, Together, Used, compose, compose_hearing, writes_of_others,
};
use crate::model::{Design, OperationId, Use, ViewId};
use crate::{Catalog, Compiled, Source};

pub fn run(name: &str, text: &str, catalog: &dyn Catalog) -> Compiled {
    compiled(name, compose(name, text, catalog))
}

/// Several designs as one. Also gives the text that uses them.
pub fn together(texts: &[&str], catalog: &dyn Catalog) -> (String, Compiled) {
    let designs = Together::new(texts, catalog);
    let text = designs.text();
    let composed = compose_hearing("together", &text, &designs, &designs.names());
    let compiled = compiled("together", composed);
    (text, compiled)
}

fn compiled(name: &str, composed: Composed) -> Compiled {
    let Composed { flat, mut sources, written, diagnostics: mut said, used } = composed;
    let (parsed, origins, flat_text) = match flat {
        None => (written, None, None),
        Some(flat) => {
            let text = flat.text();
            let file = sources.add(Source::new(format!("{name} (flat)"), text.clone()));
            let parsed = syntax::parse(&text, file);
            let origins = Origins { file, flat };
            said.extend(lost(written.diagnostics, &parsed.diagnostics, &origins, &used));
            (parsed, Some(origins), Some(text))
        }
    };
    let items = parsed.tree.items;
    let mut outcome = analyse(&items, sources, Reading::Whole);
    let mut diagnostics = parsed.diagnostics;
    let unread: Vec<Span> = diagnostics
        .iter()
        .filter(|problem| problem.is_error())
        .map(|problem| item_around(&items, problem.primary.span))
        .collect();
    if said.iter().any(Diagnostic::is_error) {
        // what follows from a `use` that could not be carried out is not said as well
        outcome.diagnostics.clear();
    } else if !unread.is_empty() {
        outcome.diagnostics.retain(|problem| stands_beside(problem, &unread));
    }
    diagnostics.append(&mut outcome.diagnostics);
    let mut analysis = outcome.analysis;
    if let Some(origins) = origins {
        if !diagnostics.iter().any(Diagnostic::is_error) {
            diagnostics.extend(writes_of_others(&outcome.design, &used, &origins));
        }
        let told = diagnostics.into_iter().map(|problem| origins.told(problem, &used));
        diagnostics = told.collect();
        analysis.place(|span| origins.of(span));
        let names = used.iter().flat_map(|held| &held.names);
        names.for_each(|(span, name)| analysis.mention(*span, name));
        let all = used.into_iter().map(|held| in_model(held, &outcome.design, &origins));
        outcome.design.uses = all.collect();
        outcome.sources.put_origins(origins);
    }
    diagnostics.extend(said);
    diagnostics.sort_by_key(|d| (d.primary.span.file, d.primary.span.start));
    diagnostics.dedup();
    let failed = diagnostics.iter().any(Diagnostic::is_error);
    analysis.diagnostics.clone_from(&diagnostics);
    Compiled {
        design: (!failed).then_some(outcome.design),
        tests: if failed { Vec::new() } else { outcome.tests },
        diagnostics,
        sources: outcome.sources,
        analysis,
        flat: flat_text,
    }
}

/// Mistakes of the text as it is written that its flat form does not have any more: where parts are joined, only what
/// could be read is carried over.
fn lost(
    mut written: Vec<Diagnostic>,
    flat: &[Diagnostic],
    origins: &Origins,
    used: &[Used],
) -> Vec<Diagnostic> {
    let place = |problem: &Diagnostic| (problem.code, problem.primary.span);
    let told: Vec<_> =
        flat.iter().map(|problem| place(&origins.told(problem.clone(), used))).collect();
    written.retain(|problem| problem.is_error() && !told.contains(&place(problem)));
    written
}

fn in_model(used: Used, design: &Design, origins: &Origins) -> Use {
    let here = |span: Span| used.files.contains(&origins.of(span).file.0);
    let operations = design.operations.iter().enumerate().filter(|(_, held)| here(held.span));
    let operations = operations.map(|(at, _)| OperationId::of(at)).collect();
    let views = design.views.iter().enumerate().filter(|(_, held)| here(held.span));
    let views = views.map(|(at, _)| ViewId::of(at)).collect();
    let Used { archetype, noun, scope, span, hidden, left_out, added, .. } = used;
    Use { archetype, noun, scope, hidden, left_out, added, operations, views, span }
}
