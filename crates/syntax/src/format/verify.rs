//! Holds a layout against what was written: the same tokens, the same comments, the same tree.

use std::fmt::Write;
use std::hash::{DefaultHasher, Hasher};

use super::tokens::{Comment, Sig, Tokens};
use crate::tree::{File, Item};
use crate::{FileId, Parsed, TokenKind, lex};

/// Whether a text has just these tokens and comments. Commas do not count, the tree shows whether
/// one was needed; nor does the order of comments.
pub(super) fn same_tokens(text: &str, sigs: &[Sig<'_>], comments: &[Comment<'_>]) -> bool {
    let (tokens, diagnostics) = lex(text, FileId::default());
    let tokens = Tokens::new(text, &tokens);
    let written = |sigs: &[Sig<'_>]| {
        let sigs = sigs.iter();
        let kept = sigs.filter(|sig| !matches!(sig.kind, TokenKind::Comma | TokenKind::End));
        kept.map(|sig| (sig.kind, sig.text.to_string())).collect::<Vec<_>>()
    };
    let said = |comments: &[Comment<'_>]| {
        let mut texts: Vec<String> = comments.iter().map(|one| one.text.to_string()).collect();
        texts.sort_unstable();
        texts
    };
    diagnostics.is_empty()
        && written(&tokens.sigs) == written(sigs)
        && said(&tokens.comments) == said(comments)
}

/// Whether two sources parse to the same tree and the same complaints.
pub(super) fn same(one: &Parsed, other: &Parsed) -> bool {
    one.tree.items.len() == other.tree.items.len()
        && one.diagnostics.len() == other.diagnostics.len()
        && one.diagnostics.iter().zip(&other.diagnostics).all(|(a, b)| a.code == b.code)
        && one.tree.items.iter().zip(&other.tree.items).all(|(a, b)| same_shape(a, b))
}

/// The items that came out differently; or nothing if they cannot be told apart.
pub(super) fn changed_items(one: &File, other: &File) -> Option<Vec<usize>> {
    if one.items.len() != other.items.len() {
        return None;
    }
    let pairs = one.items.iter().zip(&other.items).enumerate();
    let changed = pairs.filter(|(_, (a, b))| !same_shape(a, b));
    Some(changed.map(|(index, _)| index).collect())
}

/// Whether two trees are the same but for where things stand. The tokens have been compared
/// already, so numbers say nothing more: the shapes are hashed without them, and so without spans.
fn same_shape(one: &Item, other: &Item) -> bool {
    let shape = |item: &Item| {
        let mut shape = Shape { hasher: DefaultHasher::new(), length: 0 };
        write!(shape, "{item:?}").map(|()| (shape.hasher.finish(), shape.length))
    };
    shape(one) == shape(other)
}

struct Shape {
    hasher: DefaultHasher,
    length: usize,
}

impl Write for Shape {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for byte in text.bytes().filter(|byte| !byte.is_ascii_digit() && *byte != b'.') {
            self.hasher.write_u8(byte);
            self.length += 1;
        }
        Ok(())
    }
}
