//! Holds a layout against what was written: the same tokens, the same comments, the same tree.

use std::fmt::Write;
use std::hash::{DefaultHasher, Hasher};

use super::tokens::{Comment, Sig, Tokens};
use crate::tree::Item;
use crate::{FileId, Parsed, TokenKind, lex};

/// Whether a text has just these tokens and comments. Commas do not count, the tree shows whether
/// one was needed; nor does the order of comments.
pub(super) fn same_tokens(text: &str, sigs: &[Sig<'_>], comments: &[Comment<'_>]) -> bool {
    let (tokens, _) = lex(text, FileId::default());
    let tokens = Tokens::new(text, &tokens);
    same_sigs(&tokens.sigs, sigs) && same_comments(&tokens.comments, comments)
}

fn same_sigs(one: &[Sig<'_>], other: &[Sig<'_>]) -> bool {
    let kept = |sig: &&Sig<'_>| !matches!(sig.kind, TokenKind::Comma | TokenKind::End);
    // only what is not understood has several lines
    let text = |sig: &Sig<'_>| (sig.kind, sig.text.replace("\r\n", "\n"));
    one.iter().filter(kept).map(text).eq(other.iter().filter(kept).map(text))
}

fn same_comments(one: &[Comment<'_>], other: &[Comment<'_>]) -> bool {
    let mut one: Vec<&str> = one.iter().map(|comment| comment.text).collect();
    let mut other: Vec<&str> = other.iter().map(|comment| comment.text).collect();
    one.sort_unstable();
    other.sort_unstable();
    one == other
}

/// A source and what was read of it.
#[derive(Clone, Copy)]
pub(super) struct Read<'s> {
    pub source: &'s str,
    pub parsed: &'s Parsed,
}

/// Whether two sources hold the same tokens and comments, the same tree and the same complaints.
pub(super) fn same(one: Read<'_>, other: Read<'_>) -> bool {
    let tokens = Tokens::new(one.source, &one.parsed.tokens);
    let others = Tokens::new(other.source, &other.parsed.tokens);
    let (one, other) = (one.parsed, other.parsed);
    same_sigs(&tokens.sigs, &others.sigs)
        && same_comments(&tokens.comments, &others.comments)
        && one.diagnostics.len() == other.diagnostics.len()
        && one.diagnostics.iter().zip(&other.diagnostics).all(|(a, b)| a.code == b.code)
        && one.tree.items.len() == other.tree.items.len()
        && one.tree.items.iter().zip(&other.tree.items).all(|(a, b)| same_shape(a, b))
}

/// Whether two trees are the same but for where things stand. The tokens are compared as well, so
/// numbers say nothing more: the shapes are hashed without them, and so without spans.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn same_texts(one: &str, other: &str) -> bool {
        let (before, after) = (parse(one, FileId::default()), parse(other, FileId::default()));
        let whole =
            same(Read { source: one, parsed: &before }, Read { source: other, parsed: &after });
        let tokens = Tokens::new(one, &before.tokens);
        assert!(!whole || same_tokens(other, &tokens.sigs, &tokens.comments));
        whole
    }

    #[test]
    fn white_space_commas_and_the_order_of_comments_may_change() {
        let text = "actor a { n: int, m: text } // one\n// two\n";
        for other in [
            "actor a {\n  n: int, m: text,\n}\n// two\n// one",
            "actor a {\r\n n: int\r\n m: text } // one\r\n// two  ",
        ] {
            assert!(same_texts(text, other), "{other}");
        }
    }

    #[test]
    fn nothing_else_may_change() {
        let text = "actor a { n: int, m: text } // one\ninvariant i: (x) = 10\n";
        for other in [
            "actor a { n: int, m: text }\ninvariant i: (x) = 10\n",
            "actor a { n: int, m: text } // one\n// one\ninvariant i: (x) = 10\n",
            "actor a { n: int, m: text } // One\ninvariant i: (x) = 10\n",
            "actor a { n: int } // one\ninvariant i: (x) = 10\n",
            "actor a { n: int m: text } // one\ninvariant i: (x) = 10\n",
            "actor a { n: int, m: text } // one\ninvariant i: x = 10\n",
            "actor a { n: int, m: text } // one\ninvariant i: (x) = 11\n",
            "actor a { n: int, m: text } // one\n",
            "invariant i: (x) = 10\nactor a { n: int, m: text } // one\n",
        ] {
            assert!(!same_texts(text, other), "{other}");
        }
    }

    /// `lease-backed` is one word, `lease - backed` an error: the tokens alone do not tell.
    #[test]
    fn the_tree_counts_as_well() {
        assert!(!same_texts("trust lease-backed\n", "trust lease - backed\n"));
    }
}
