//! The items of a file, one below the other.

use std::ops::Range;

use super::builder::Builder;
use super::comments::Slot;
use super::render::render;
use super::tokens::Tokens;
use super::verify::same_tokens;
use crate::tree::{Item, ItemKind};
use crate::{Diagnostic, Parsed, TokenKind};

/// The parts of a file, in order: items, and what belongs to no item.
pub(super) struct Layout<'s> {
    source: &'s str,
    tokens: Tokens<'s>,
    parts: Vec<Part<'s>>,
}

struct Part<'s> {
    tokens: Range<usize>,
    /// what kind of item it is; nothing for what stays as it was written
    class: Option<Class>,
    /// comments from inside the item that had to move before it
    hoisted: Vec<&'s str>,
    text: String,
}

/// Items of one class may stand on lines that follow each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Title,
    Header,
    Use,
    From,
    Actor,
    Subject,
    Define,
    Operation,
    View,
    Protocol,
    Property,
    Failure,
    Check,
    Test,
}

impl<'s> Layout<'s> {
    pub fn new(source: &'s str, parsed: &Parsed) -> Layout<'s> {
        let tokens = Tokens::new(source, &parsed.tokens);
        let bad = bad_tokens(&tokens, &parsed.diagnostics);
        let mut parts: Vec<Part<'s>> = Vec::new();
        let mut next = 0;
        for item in &parsed.tree.items {
            let range = tokens.inside(item.span);
            if range.is_empty() || range.start < next {
                continue;
            }
            if next < range.start {
                parts.push(kept(next..range.start));
            }
            next = range.end;
            let laid_out = if bad[range.start] == bad[range.end] {
                lay_out(&tokens, range.clone(), item)
            } else {
                None
            };
            parts.push(laid_out.unwrap_or_else(|| kept(range)));
        }
        let end = tokens.sigs.len() - 1;
        if next < end {
            parts.push(kept(next..end));
        }
        let mut layout = Layout { source, tokens, parts };
        layout.join();
        layout
    }

    /// What belongs to no item stays together with what stands on the same line.
    fn join(&mut self) {
        let mut joined: Vec<Part<'s>> = Vec::with_capacity(self.parts.len());
        for part in self.parts.drain(..) {
            let first = &self.tokens.sigs[part.tokens.start];
            match joined.last_mut() {
                Some(last)
                    if first.newlines == 0
                        && first.comments.is_empty()
                        && (last.class.is_none() || part.class.is_none()) =>
                {
                    *last = kept(last.tokens.start..part.tokens.end);
                }
                _ => joined.push(part),
            }
        }
        for part in joined.iter_mut().filter(|part| part.class.is_none()) {
            let start = self.tokens.sigs[part.tokens.start].span.start as usize;
            let end = self.tokens.sigs[part.tokens.end - 1].span.end as usize;
            // How far it is indented says where it ends, if a bracket is missing.
            let before = &self.source[..start];
            let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
            let indentation = if line.trim().is_empty() { line } else { "" };
            part.text = indentation.to_string() + &self.source[start..end].replace("\r\n", "\n");
        }
        self.parts = joined;
    }

    pub fn text(&self) -> String {
        let mut out = String::with_capacity(self.source.len());
        let mut last: Option<&Part<'s>> = None;
        for part in &self.parts {
            let mut slot = self.slot(part.tokens.start, last.is_none());
            for comment in &part.hoisted {
                slot.hoist(comment);
            }
            if last.is_some_and(|last| apart(last, part)) && !slot.has_blank() {
                slot.add_first_blank();
            }
            write_slot(&mut out, &slot);
            out.push_str(&part.text);
            if !self.runs_to_the_end(part) {
                out.push('\n');
            }
            last = Some(part);
        }
        let mut slot = self.slot(self.tokens.sigs.len() - 1, last.is_none());
        slot.blank = false;
        write_slot(&mut out, &slot);
        out
    }

    /// Whether a part ends in something that the end of the text alone has closed, such as `/*`: a
    /// line break after it would belong to it.
    fn runs_to_the_end(&self, part: &Part<'_>) -> bool {
        let last = &self.tokens.sigs[part.tokens.end - 1];
        last.kind == TokenKind::Unknown && last.span.end as usize == self.source.len()
    }

    /// The comments before a token at the top level.
    fn slot(&self, token: usize, first: bool) -> Slot<'s> {
        let sig = &self.tokens.sigs[token];
        let mut slot = Slot::default();
        for (index, comment) in self.tokens.comments[sig.comments.clone()].iter().enumerate() {
            if index == 0 && comment.newlines == 0 && !first {
                slot.trailing = Some(comment.text);
            } else {
                slot.own.push((comment.text, comment.newlines > 1));
            }
        }
        slot.blank = sig.newlines > 1;
        if first {
            slot.drop_first_blank();
        }
        slot
    }
}

/// A part that stays as it was written.
fn kept<'s>(tokens: Range<usize>) -> Part<'s> {
    Part { tokens, class: None, hoisted: Vec::new(), text: String::new() }
}

fn lay_out<'s>(tokens: &Tokens<'s>, range: Range<usize>, item: &Item) -> Option<Part<'s>> {
    let class = class(item)?;
    let mut builder = Builder::new(tokens, range.start, range.end);
    builder.item(item);
    let (docs, slots) = builder.finish()?;
    let text = render(&docs, 0, &slots);
    let hoisted: Vec<&'s str> = slots.get(0).own.iter().map(|&(comment, _)| comment).collect();
    let whole = hoisted.iter().fold(String::new(), |all, comment| all + comment + "\n") + &text;
    let inside = tokens.sigs[range.start].comments.end..tokens.sigs[range.end - 1].comments.end;
    let same = same_tokens(&whole, &tokens.sigs[range.clone()], &tokens.comments[inside]);
    same.then_some(Part { tokens: range, class: Some(class), hoisted, text })
}

fn class(item: &Item) -> Option<Class> {
    Some(match &item.kind {
        ItemKind::Design { .. } | ItemKind::Archetype { .. } => Class::Title,
        ItemKind::Header { .. } => Class::Header,
        ItemKind::Use(_) => Class::Use,
        ItemKind::From(_) => Class::From,
        ItemKind::Actor(_) => Class::Actor,
        ItemKind::Subject(_) | ItemKind::Blob { .. } => Class::Subject,
        ItemKind::Define(_) => Class::Define,
        ItemKind::Operation(_) => Class::Operation,
        ItemKind::View(_) => Class::View,
        ItemKind::Protocol(_) => Class::Protocol,
        ItemKind::Invariant { .. } | ItemKind::Recovers { .. } | ItemKind::LeadsTo { .. } => {
            Class::Property
        }
        ItemKind::Failure(_) | ItemKind::Defence(_) | ItemKind::Hotspot(_) => Class::Failure,
        ItemKind::Check(_) => Class::Check,
        ItemKind::Test(_) => Class::Test,
        ItemKind::Error => return None,
    })
}

/// Whether a blank line must stand between two items: they are of different kinds, or one of them
/// is a block of several lines.
fn apart(above: &Part<'_>, below: &Part<'_>) -> bool {
    let (Some(first), Some(second)) = (above.class, below.class) else {
        return false;
    };
    let block = |part: &Part<'_>| part.text.contains('\n') && part.class != Some(Class::Property);
    first != second || block(above) || block(below)
}

fn write_slot(out: &mut String, slot: &Slot<'_>) {
    if let Some(comment) = slot.trailing {
        if out.ends_with('\n') {
            out.pop();
        }
        out.push_str("  ");
        out.push_str(comment);
        out.push('\n');
    }
    for &(comment, blank) in &slot.own {
        if blank {
            out.push('\n');
        }
        out.push_str(comment);
        out.push('\n');
    }
    if slot.blank {
        out.push('\n');
    }
}

/// For each token, how many tokens before it have something wrong with them.
fn bad_tokens(tokens: &Tokens<'_>, diagnostics: &[Diagnostic]) -> Vec<usize> {
    let mut change = vec![0isize; tokens.sigs.len() + 1];
    let spans = diagnostics.iter().flat_map(|one| {
        std::iter::once(one.primary.span).chain(one.secondary.iter().map(|label| label.span))
    });
    for span in spans {
        // An empty span says what is missing after the token that it touches.
        let first = tokens.sigs.partition_point(|sig| sig.span.end <= span.start);
        let end = tokens.sigs.partition_point(|sig| sig.span.start < span.end);
        let first = if span.start == span.end { end.saturating_sub(1) } else { first };
        if first < end {
            change[first] += 1;
            change[end] -= 1;
        }
    }
    let (mut open, mut sum) = (0, 0);
    let mut before = Vec::with_capacity(change.len());
    for one in change {
        before.push(sum);
        open += one;
        sum += usize::from(open > 0);
    }
    before
}
