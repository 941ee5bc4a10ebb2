//! What a design offers to whoever calls it: derived once, so that the OpenAPI document of a server and the clients that
//! are generated from a design say the same.
//!
//! Nothing here is read from a file or sent anywhere: a design comes in, and plain data or text goes out.

mod calls;
mod module;
mod names;
mod python;
mod refusals;
mod shape;
mod typescript;

use design::model::Design;

pub use calls::{Call, Handed, calls, changed, handed_out};
pub use engine::FAULTS;
pub use refusals::{Refusals, refusals};

/// A language that clients are written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    TypeScript,
    Python,
}

impl Language {
    /// How files of the language end.
    pub fn ending(self) -> &'static str {
        match self {
            Language::TypeScript => "ts",
            Language::Python => "py",
        }
    }
}

/// A client of a design: the text of one file that needs no other. `service` is how paths of the server call the
/// design: the name of its file, without its ending.
pub fn client(design: &Design, service: &str, language: Language) -> String {
    let module = module::Module::of(design, service);
    match language {
        Language::TypeScript => typescript::written(&module),
        Language::Python => python::written(&module),
    }
}
