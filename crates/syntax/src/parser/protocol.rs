//! Protocols: paths through the steps.

use super::Parser;
use crate::tree::{ItemKind, Path, PathStep, ProtocolItem};
use crate::{Diagnostic, TokenKind};

impl Parser<'_> {
    /// `protocol main { … }`
    pub(super) fn protocol(&mut self) -> ItemKind {
        self.bump();
        let name = self.scoped_name("the name of the protocol");
        let open = self.at;
        let mut paths = Vec::new();
        if self.open_body("the steps of the protocol", |p| p.nth(1) == TokenKind::OpenBracket) {
            paths = self.paths(Some(open));
            self.close_body(open);
        }
        ItemKind::Protocol(ProtocolItem { name, paths })
    }

    /// The paths in braces that were opened at `open`, or those of a whole text.
    pub(crate) fn paths(&mut self, open: Option<usize>) -> Vec<Path> {
        let mut paths = Vec::new();
        loop {
            while self.eat(TokenKind::Comma) {}
            let end = self.at(TokenKind::End);
            let closed = open.is_some() && (self.at(TokenKind::CloseBrace) || self.at_item_start());
            if end || closed {
                return paths;
            }
            let start = self.at;
            paths.push(self.path());
            if self.lost {
                match open {
                    Some(open) => self.resync(open, start, Self::at_path_step),
                    None => self.skip_to_path(start),
                }
                if self.lost {
                    return paths;
                }
            }
        }
    }

    /// The same for a text that is nothing but paths.
    fn skip_to_path(&mut self, start: usize) {
        while !self.at(TokenKind::End) {
            if self.at > start && self.piece(0).line_start && self.at_path_step() {
                self.lost = false;
                return;
            }
            self.bump();
        }
    }

    fn at_path_step(&self) -> bool {
        self.at(TokenKind::Word) && self.nth(1) == TokenKind::OpenBracket
    }

    /// `a[x] -> b[y] => outcome |-> c[z] => outcome`
    fn path(&mut self) -> Path {
        let first = self.span();
        let mut path = self.path_segment();
        while self.eat(TokenKind::BranchArrow) {
            path.branches.push(self.path_segment());
        }
        path.span = self.since(first);
        path
    }

    /// Steps up to an outcome or to where no arrow leads on.
    fn path_segment(&mut self) -> Path {
        let first = self.span();
        let mut steps = vec![self.path_step()];
        while self.eat(TokenKind::Arrow) {
            steps.push(self.path_step());
        }
        let outcome = self
            .eat(TokenKind::FatArrow)
            .then(|| self.name("an outcome, such as `done` or `retry`"));
        if outcome.is_some() && !self.lost && self.at(TokenKind::Arrow) {
            let message = "a path ends with its outcome";
            let help = "write `|->` for a branch, or put the outcome after the last step";
            self.fail(Diagnostic::error("E0118", self.span(), message).help(help));
        }
        Path { steps, outcome, branches: Vec::new(), span: self.since(first) }
    }

    /// `actor[operation {guard}] refused CLAUSE`
    fn path_step(&mut self) -> PathStep {
        let first = self.span();
        if self.lost || !self.at_path_step() || self.at_item_start() {
            let found = self.found();
            let message = format!("expected a step `actor[operation]`, found {found}");
            let help = "a path is `actor[operation] -> actor[operation] => outcome`";
            self.fail(Diagnostic::error("E0118", self.here(), message).help(help));
            let (actor, operation) = (self.missing_name(), self.missing_name());
            let span = self.since(first);
            return PathStep { actor, operation, guard: Vec::new(), refused: None, span };
        }
        let actor = self.take_name();
        let open = self.at;
        self.bump();
        let operation = self.name("the operation");
        let guard = self.guard();
        self.path_step_end(open);
        let refused = self.eat_word("refused").then(|| self.name("the clause that refuses"));
        PathStep { actor, operation, guard, refused, span: self.since(first) }
    }

    fn path_step_end(&mut self, open: usize) {
        let leads_on = matches!(
            self.kind(),
            TokenKind::Arrow | TokenKind::BranchArrow | TokenKind::FatArrow | TokenKind::CloseBrace
        );
        if !self.lost && (leads_on || self.at_word("refused")) {
            self.unclosed(open);
        } else {
            self.close(open, "");
        }
    }
}
