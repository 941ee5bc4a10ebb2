//! An edit is tried before it is offered: the text is compiled with it, and what became of it is compared.

use design::{Catalog, Compiled};
use gen_lsp_types::{TextEdit, Uri, WorkspaceEdit};
use syntax::Span;

use crate::snapshot::{Snapshot, TEXT};

/// A stretch of the text, and what stands there instead.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Edit {
    pub start: u32,
    pub end: u32,
    pub text: String,
}

impl Edit {
    pub fn replace(span: Span, text: impl Into<String>) -> Edit {
        Edit { start: span.start, end: span.end, text: text.into() }
    }

    pub fn insert(at: u32, text: impl Into<String>) -> Edit {
        Edit { start: at, end: at, text: text.into() }
    }
}

/// Edits of one text, in order and apart from each other.
pub struct Edits(Vec<Edit>);

impl Edits {
    pub fn of(mut edits: Vec<Edit>) -> Edits {
        edits.sort();
        edits.dedup();
        let mut end = 0;
        edits.retain(|edit| {
            let apart = edit.start >= end;
            end = end.max(edit.end);
            apart
        });
        Edits(edits)
    }

    pub fn apply(&self, text: &str) -> String {
        let mut made = String::with_capacity(text.len());
        let mut from = 0;
        for edit in &self.0 {
            made.push_str(text.get(from..edit.start as usize).unwrap_or_default());
            made.push_str(&edit.text);
            from = edit.end as usize;
        }
        made.push_str(text.get(from..).unwrap_or_default());
        made
    }

    /// Where an offset of the text is afterwards.
    pub fn moved(&self, offset: u32) -> u32 {
        let before = self.0.iter().take_while(|edit| edit.end <= offset && edit.start < offset);
        before.fold(offset, |at, edit| at + edit.text.len() as u32 - (edit.end - edit.start))
    }

    /// A word that becomes a field and its value, `note: remark`: how far the value stands behind the field.
    pub fn value_behind(&self, start: u32) -> u32 {
        let edit = self.0.iter().find(|edit| edit.start == start && edit.end > start);
        let value = edit.and_then(|edit| edit.text.find(": "));
        value.map_or(0, |at| at as u32 + 2)
    }

    pub fn compiled(&self, snapshot: &Snapshot, catalog: &dyn Catalog) -> Compiled {
        design::compile("this text", &self.apply(&snapshot.text), catalog)
    }

    pub fn for_editor(&self, snapshot: &Snapshot, uri: &Uri) -> WorkspaceEdit {
        let edits = self.0.iter().map(|edit| TextEdit {
            range: snapshot.range(Span::new(TEXT, edit.start, edit.end)),
            new_text: edit.text.clone(),
        });
        let changes = [(uri.clone(), edits.collect())].into_iter().collect();
        WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_move_with_what_is_written_before_them() {
        let edit = |start, end, text: &str| Edit { start, end, text: text.into() };
        let edits =
            Edits::of(vec![edit(4, 5, "xyz"), edit(0, 1, ""), edit(4, 5, "xyz"), edit(4, 6, "q")]);
        assert_eq!(edits.apply("a b c d"), " b xyz d");
        for (before, after) in [(0, 0), (2, 1), (4, 3), (6, 7)] {
            assert_eq!(edits.moved(before), after, "{before}");
        }
    }
}
