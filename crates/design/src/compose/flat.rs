//! A text that is put together from others; each piece of it knows where it was taken from.

use std::ops::Range;

use syntax::{FileId, Span};

/// One text without `use`.
#[derive(Clone, Debug, Default)]
pub struct Flat {
    pieces: Vec<Piece>,
    /// where each piece begins, and where the last one ends
    starts: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Piece {
    text: String,
    /// What it says there. Where the lengths differ, it is another word for what stands there.
    from: Span,
}

/// Something else instead of what stands in a range.
#[derive(Clone, Debug)]
pub struct Edit {
    pub range: Range<u32>,
    pub with: Flat,
}

impl Flat {
    /// A text as it was written.
    pub fn whole(file: FileId, text: &str) -> Flat {
        Flat::piece(text, Span::new(file, 0, text.len() as u32))
    }

    /// A text that stands for what was written at `from`.
    pub fn piece(text: impl Into<String>, from: Span) -> Flat {
        let mut flat = Flat::default();
        flat.push(text.into(), from);
        flat
    }

    pub fn push(&mut self, text: String, from: Span) {
        if text.is_empty() {
            return;
        }
        let end = self.len() + text.len() as u32;
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.starts.push(end);
        self.pieces.push(Piece { text, from });
    }

    pub fn append(&mut self, other: Flat) {
        for piece in other.pieces {
            self.push(piece.text, piece.from);
        }
    }

    pub fn len(&self) -> u32 {
        self.starts.last().copied().unwrap_or(0)
    }

    pub fn text(&self) -> String {
        self.pieces.iter().map(|piece| piece.text.as_str()).collect()
    }

    /// A part of it.
    pub fn slice(&self, range: Range<u32>) -> Flat {
        let mut part = Flat::default();
        let first = self.starts.partition_point(|start| *start <= range.start).saturating_sub(1);
        for (at, piece) in self.pieces.iter().enumerate().skip(first) {
            let start = self.starts[at];
            if start >= range.end {
                break;
            }
            let (begin, end) = (
                range.start.saturating_sub(start) as usize,
                piece.text.len().min((range.end - start) as usize),
            );
            let Some(text) = piece.text.get(begin..end) else { continue };
            let from = piece.part(begin as u32, end as u32);
            part.push(text.to_string(), from);
        }
        part
    }

    /// The same with these changes. They do not overlap; of those that begin together the first comes first.
    pub fn edited(&self, mut edits: Vec<Edit>) -> Flat {
        edits.sort_by_key(|edit| edit.range.start);
        let mut edited = Flat::default();
        let mut copied = 0;
        for edit in edits {
            if edit.range.start < copied {
                continue;
            }
            edited.append(self.slice(copied..edit.range.start));
            edited.append(edit.with);
            copied = edit.range.end.max(copied);
        }
        edited.append(self.slice(copied..self.len()));
        edited
    }

    /// Where what stands here was written. Of something that was put together, the part that its first letter
    /// belongs to.
    pub fn origin(&self, span: Span) -> Span {
        let Some(first) = self.piece_at(span.start) else {
            let last = self.pieces.last().map(|piece| piece.from).unwrap_or_default();
            return last.after();
        };
        let head = self.in_piece(first, span.start, span.end);
        let last = self.piece_at(span.end.saturating_sub(1).max(span.start)).unwrap_or(first);
        let tail = self.in_piece(last, span.start, span.end);
        if tail.file == head.file && tail.end >= head.start { head.to(tail) } else { head }
    }

    fn piece_at(&self, offset: u32) -> Option<usize> {
        let after = self.starts.partition_point(|start| *start <= offset);
        (after > 0 && after <= self.pieces.len()).then(|| after - 1)
    }

    fn in_piece(&self, at: usize, start: u32, end: u32) -> Span {
        let (piece, begin) = (&self.pieces[at], self.starts[at]);
        let last = begin + piece.text.len() as u32;
        piece.part(start.clamp(begin, last) - begin, end.clamp(begin, last) - begin)
    }
}

impl Piece {
    fn part(&self, start: u32, end: u32) -> Span {
        let length = self.from.end - self.from.start;
        if self.text.len() as u32 != length {
            return self.from;
        }
        Span::new(self.from.file, self.from.start + start, self.from.start + end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_together_knows_where_it_was_written() {
        let (one, two) = (FileId(0), FileId(1));
        let flat = Flat::whole(one, "hold the seat now");
        let edits = vec![
            Edit { range: 9..13, with: Flat::piece("ticket", Span::new(one, 9, 13)) },
            Edit { range: 5..5, with: Flat::piece("(paid) ", Span::new(two, 40, 47)) },
        ];
        let flat = flat.edited(edits);
        assert_eq!(flat.text(), "hold (paid) the ticket now");
        let at = |start, end| flat.origin(Span::new(FileId(9), start, end));
        assert_eq!(at(0, 4), Span::new(one, 0, 4));
        assert_eq!(at(6, 10), Span::new(two, 41, 45));
        assert_eq!(at(16, 22), Span::new(one, 9, 13), "another word for what stands there");
        assert_eq!(at(12, 26), Span::new(one, 5, 17), "from the first to the last");
        assert_eq!(at(0, 8), Span::new(one, 0, 5), "of two files, the first");
        assert_eq!(at(26, 26), Span::new(one, 17, 17), "the end");
        assert_eq!(flat.slice(6..10).text(), "paid");
        assert_eq!(flat.slice(6..10).origin(Span::new(one, 0, 2)), Span::new(two, 41, 43));
    }
}
