//! Tree to text: one layout, no options.
//!
//! - `builder.rs` walks an item's tokens in order while the tree says what they are, and
//!   makes a document of groups and possible line ends (`doc.rs`); one construct, one file.
//! - `render.rs` decides which groups stay on one line.
//! - `comments.rs` keeps each comment at the place between two lines where it was written, or at
//!   the one before the innermost element around it.
//! - `file.rs` puts the items together; `verify.rs` holds the result against what was written.
//!   What has an error inside, and what does not pass, stays as it was written.

mod builder;
mod check;
mod comments;
mod composition;
mod doc;
mod earlier;
mod expr;
mod failure;
mod file;
mod item;
mod list;
mod operation;
mod protocol;
mod quantifier;
mod render;
mod stmt;
mod subject;
mod test;
mod tokens;
mod types;
mod verify;
mod view;

use crate::{Diagnostic, FileId, Parsed, parse};
use file::Layout;
use verify::Read;

/// A formatted source, and what is wrong with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Formatted {
    pub text: String,
    /// what parsing the source had to say; items with an error inside are left as they are
    pub diagnostics: Vec<Diagnostic>,
}

/// Lays a source out. Never fails: what cannot be laid out safely stays as it was written.
pub fn format(source: &str) -> Formatted {
    let parsed = parse(source, FileId::default());
    let text = lay_out(source, &parsed)
        // Around errors the parser goes by where lines begin, and so may see more, or less, once
        // they begin elsewhere. Such a file is left alone until its errors are mended.
        .filter(|text| {
            parsed.diagnostics.is_empty()
                || lay_out(text, &parse(text, FileId::default())).as_ref() == Some(text)
        })
        .unwrap_or_else(|| source.to_string());
    Formatted { text, diagnostics: parsed.diagnostics }
}

/// The text laid out; or nothing if that would change what it says.
fn lay_out(source: &str, parsed: &Parsed) -> Option<String> {
    let text = Layout::new(source, parsed).text();
    let again = parse(&text, FileId::default());
    let (before, after) = (Read { source, parsed }, Read { source: &text, parsed: &again });
    verify::same(before, after).then_some(text)
}
