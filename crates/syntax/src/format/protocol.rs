//! Paths through the steps.

use super::builder::{At, Builder};
use super::list::List;
use crate::TokenKind;
use crate::tree::{Path, PathStep, ProtocolItem};

impl Builder<'_, '_> {
    /// `protocol main { … }`: on one line, or each path and each branch on its own
    pub fn protocol(&mut self, protocol: &ProtocolItem) {
        self.lead("protocol");
        self.solid(protocol.name.span);
        self.space();
        self.group(|b| {
            let mut branched = false;
            let listed =
                b.open_list(List::BLOCK, &protocol.paths, |b, path| branched |= b.path(path));
            listed || branched
        });
    }

    /// Says whether the author gave a branch its own line.
    fn path(&mut self, path: &Path) -> bool {
        self.mainline(path);
        let mut ended = false;
        self.indent(|b| {
            for branch in &path.branches {
                ended |= b.line(At::Between, "  ");
                b.expect(TokenKind::BranchArrow);
                b.space();
                ended |= b.path(branch);
            }
        });
        ended
    }

    /// `a[x] -> b[y] => outcome`: on one line, or one step on each
    fn mainline(&mut self, path: &Path) {
        self.group(|b| {
            b.indent(|b| {
                for (index, step) in path.steps.iter().enumerate() {
                    if index > 0 {
                        b.soft_line(At::Between, " ");
                        b.expect(TokenKind::Arrow);
                        b.space();
                    }
                    b.path_step(step);
                }
                if let Some(outcome) = &path.outcome {
                    b.space();
                    b.expect(TokenKind::FatArrow);
                    b.space();
                    b.solid(outcome.span);
                }
            });
            false
        });
    }

    /// `actor[operation {guard}] refused CLAUSE`
    fn path_step(&mut self, step: &PathStep) {
        self.solid(step.actor.span);
        self.expect(TokenKind::OpenBracket);
        self.solid(step.operation.span);
        self.guard(&step.guard);
        self.expect(TokenKind::CloseBracket);
        if let Some(refused) = &step.refused {
            self.space();
            self.lead("refused");
            self.solid(refused.span);
        }
    }
}
