//! `from VERSION { … }`

use super::builder::Builder;
use super::list::List;
use crate::TokenKind;
use crate::tree::{FromItem, FromLine, FromLineKind, Name};

impl Builder<'_, '_> {
    /// `from "3f9a2c7104be" { … }`
    pub fn earlier_version(&mut self, from: &FromItem) {
        self.lead("from");
        self.solid(from.version.span);
        self.space();
        self.list(List::BLOCK, &from.lines, Self::earlier_line);
    }

    fn earlier_line(&mut self, line: &FromLine) {
        match &line.kind {
            FromLineKind::Rename { path, to } => {
                self.lead("rename");
                self.path_of(path);
                self.space();
                self.lead("as");
                self.solid(to.span);
            }
            FromLineKind::Default { path, value } => {
                self.lead("default");
                self.path_of(path);
                self.space();
                self.expect(TokenKind::Equal);
                self.hanging(value);
            }
            FromLineKind::Convert { path, params, value } => {
                self.lead("convert");
                self.path_of(path);
                self.params(params);
                self.space();
                self.expect(TokenKind::Equal);
                self.hanging(value);
            }
            FromLineKind::Error => self.lost = true,
        }
    }

    fn path_of(&mut self, path: &[Name]) {
        for (at, name) in path.iter().enumerate() {
            if at > 0 {
                self.expect(TokenKind::Dot);
            }
            self.solid(name.span);
        }
    }
}
