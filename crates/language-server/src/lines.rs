//! Between offsets in bytes, as the compiler counts, and lines and columns, as an editor does: lines from 0, columns in
//! units of UTF-16. A line ends with `\n`, `\r\n` or `\r`, whatever the compiler makes of it.

use gen_lsp_types::{Position, Range};
use syntax::Span;

/// Where the lines of a text begin.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    starts: Vec<u32>,
}

impl Lines {
    pub fn of(text: &str) -> Lines {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            let ends = match byte {
                b'\n' => true,
                b'\r' => bytes.get(at + 1) != Some(&b'\n'),
                _ => false,
            };
            if ends {
                starts.push(at as u32 + 1);
            }
        }
        Lines { starts }
    }

    /// An offset inside of a character counts as its beginning; one behind the text as its end.
    pub fn position(&self, text: &str, offset: u32) -> Position {
        let offset = floor(text, offset as usize);
        let line = self.starts.partition_point(|start| *start as usize <= offset) - 1;
        let before = &text[self.starts[line] as usize..offset];
        let character = before.chars().map(char::len_utf16).sum::<usize>();
        Position { line: line as u32, character: character as u32 }
    }

    pub fn range(&self, text: &str, span: Span) -> Range {
        let start = self.position(text, span.start);
        let end = self.position(text, span.end.max(span.start));
        Range { start, end }
    }

    /// A column behind the end of its line is the end; one between the halves of a character is its beginning; a line
    /// behind the text is the end of the text.
    pub fn offset(&self, text: &str, position: Position) -> u32 {
        let Some(start) = self.starts.get(position.line as usize) else {
            return text.len() as u32;
        };
        let end =
            self.starts.get(position.line as usize + 1).map_or(text.len(), |end| *end as usize);
        let line = text[*start as usize..end].trim_end_matches(['\r', '\n']);
        let mut left = position.character as usize;
        for (at, character) in line.char_indices() {
            let units = character.len_utf16();
            if left < units {
                return start + at as u32;
            }
            left -= units;
        }
        start + line.len() as u32
    }
}

/// The nearest place at or before `at` where a character begins.
pub fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn columns_are_units_of_utf_16() {
        let text = "aé😀b\nß";
        let lines = Lines::of(text);
        // a: 1 byte, é: 2 bytes and 1 unit, 😀: 4 bytes and 2 units
        for (offset, position) in [
            (0, at(0, 0)),
            (1, at(0, 1)),
            (3, at(0, 2)),
            (7, at(0, 4)),
            (8, at(0, 5)),
            (9, at(1, 0)),
            (11, at(1, 1)),
        ] {
            assert_eq!(lines.position(text, offset), position, "{offset}");
            assert_eq!(lines.offset(text, position), offset, "{position:?}");
        }
        // inside of a character, on both sides
        assert_eq!(lines.position(text, 5), at(0, 2));
        assert_eq!(lines.offset(text, at(0, 3)), 3);
    }

    #[test]
    fn what_lies_outside_is_the_nearest_end() {
        let text = "ab\ncd";
        let lines = Lines::of(text);
        assert_eq!(lines.offset(text, at(0, 99)), 2);
        assert_eq!(lines.offset(text, at(9, 0)), 5);
        assert_eq!(lines.position(text, 99), at(1, 2));
        let empty = Lines::of("");
        assert_eq!(empty.position("", 0), at(0, 0));
        assert_eq!(empty.offset("", at(0, 7)), 0);
    }

    #[test]
    fn lines_end_as_the_protocol_says() {
        let text = "a\r\nb\rc\nd";
        let lines = Lines::of(text);
        let begins: Vec<u32> = (0..4).map(|line| lines.offset(text, at(line, 0))).collect();
        assert_eq!(begins, [0, 3, 5, 7]);
        assert_eq!(lines.offset(text, at(0, 9)), 1, "the end of a line is before its line break");
        assert_eq!(lines.position(text, 4), at(1, 1));
    }
}
