//! What stands between brackets: elements on one line, or one on each line.

use super::builder::{At, Builder};
use crate::TokenKind;

/// How the elements of a list stand.
#[derive(Clone, Copy)]
pub(super) struct List {
    /// between the brackets and the elements, on one line
    pub pad: &'static str,
    /// a comma after each element; the last has one only if it ends a line
    pub commas: bool,
    /// where the author ended a line, every element gets a line of its own
    pub keep: bool,
}

impl List {
    /// `(a, b)`, `[a, b]`, `{a, b}`
    pub const TIGHT: List = List { pad: "", commas: true, keep: false };
    /// `(a)`: what has no comma
    pub const SINGLE: List = List { pad: "", commas: false, keep: false };
    /// `{ a: 1, b: 2 }`
    pub const FIELDS: List = List { pad: " ", commas: true, keep: true };
    /// `{ a := 1  b := 2 }`
    pub const BLOCK: List = List { pad: " ", commas: false, keep: true };

    fn between(self) -> &'static str {
        if self.commas { " " } else { "  " }
    }
}

impl Builder<'_, '_> {
    /// From the opening bracket to the closing one.
    pub fn list<T>(&mut self, list: List, elements: &[T], each: impl FnMut(&mut Self, &T)) {
        self.group(|b| b.open_list(list, elements, each));
    }

    /// A list whose lines belong to the group around it. Says whether the author broke it.
    pub fn open_list<T>(
        &mut self,
        list: List,
        elements: &[T],
        mut each: impl FnMut(&mut Self, &T),
    ) -> bool {
        let Some(close) = self.peek().and_then(|sig| sig.partner) else {
            self.lost = true;
            return false;
        };
        let mut ended = false;
        self.scope(|b| {
            b.token();
            let Some((first, others)) = elements.split_first() else {
                if b.pos != close || !b.tokens.sigs[close].comments.is_empty() {
                    b.list_line(List::SINGLE, At::Close, "");
                }
                return b.close(close);
            };
            b.indent(|b| {
                ended |= b.list_line(list, At::Open, list.pad);
                each(b, first);
                for other in others {
                    if list.commas {
                        b.text(",");
                    }
                    ended |= b.list_line(list, At::Between, list.between());
                    each(b, other);
                }
            });
            if list.commas {
                b.if_broken(",");
            }
            ended |= b.list_line(list, At::Close, list.pad);
            b.close(close);
        });
        ended
    }

    /// Where the line may end; the commas that were written here are replaced by the list's own.
    fn list_line(&mut self, list: List, at: At, flat: &'static str) -> bool {
        self.pass_commas();
        if list.keep {
            return self.line(at, flat);
        }
        self.soft_line(at, flat);
        false
    }

    fn close(&mut self, close: usize) {
        if self.pos == close {
            self.token();
        } else {
            self.lost = true;
        }
    }

    /// `a, b, c` without brackets, on one line.
    pub fn row<T>(&mut self, elements: &[T], mut each: impl FnMut(&mut Self, &T)) {
        for (index, element) in elements.iter().enumerate() {
            if index > 0 {
                self.expect(TokenKind::Comma);
                self.space();
            }
            each(self, element);
        }
    }
}
