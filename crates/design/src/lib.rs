//! From a tree to a design that makes sense: names resolved, types checked, rules held.
//!
//! [`compile`] takes a text and answers with a [`model::Design`] and every diagnostic there is,
//! in one run, and with an [`Analysis`] of names and types that is there even where the text has
//! errors. Knows nothing of stores, servers, or how a design is explored.

mod analysis;
mod archetype;
mod compile;
mod compose;
mod from_text;
mod hearing;
mod json;
pub mod mentions;
pub mod model;
mod scale;
mod sources;
mod suggest;

pub use analysis::{Analysis, Definition, DefinitionId, DefinitionKind, Reference};
pub use archetype::instantiate;
pub use compile::families;
pub use hearing::{Misheard, handlers_of, misheard};
pub use json::{from_bytes, from_json, to_bytes, to_json, to_value};
pub use scale::Scale;
pub use sources::{Catalog, NoCatalog, Position, Source, Sources};
pub use suggest::{did_you_mean, instead};

use syntax::Diagnostic;

/// What became of a text.
#[derive(Debug)]
pub struct Compiled {
    /// There is one whenever no diagnostic is an error.
    pub design: Option<model::Design>,
    /// The examples that stand in the text. They are no part of the design: nothing that is stored or served depends
    /// on them.
    pub tests: Vec<model::Test>,
    /// In the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// The text itself first, then the archetypes it uses; a span's `file` is an index here.
    pub sources: Sources,
    /// What is known of the text, whether or not there is a design.
    pub analysis: Analysis,
    /// Everything that it uses written out, if it uses something: what was compiled. The spans of the design
    /// point into it.
    pub flat: Option<String>,
}

impl Compiled {
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Compiles several designs of one server as one: each under its own name, as if a design used all of them, and what one
/// hears of another (`on Tickets.BookingConfirmed(…)`) is emitted there. Also gives the text that was made for it.
pub fn compile_together(texts: &[&str], catalog: &dyn Catalog) -> (String, Compiled) {
    from_text::together(texts, catalog)
}

/// Compiles `text`; `name` is how messages call it.
pub fn compile(name: &str, text: &str, catalog: &dyn Catalog) -> Compiled {
    from_text::run(name, text, catalog)
}
