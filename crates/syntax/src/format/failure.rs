//! Failures and hotspots.

use super::builder::Builder;
use super::list::List;
use crate::tree::{
    DefenceItem, FailureItem, FailureProof, FailureProofKind, HeaderValue, HotspotItem,
    WithoutKind, WithoutTarget,
};
use crate::{Span, TokenKind};

impl Builder<'_, '_> {
    /// `failure "…" { … }`
    pub fn failure(&mut self, failure: &FailureItem) {
        self.lead("failure");
        self.solid(failure.title.span);
        self.space();
        self.list(List::BLOCK, &failure.proofs, Self::proof);
    }

    fn proof(&mut self, proof: &FailureProof) {
        match &proof.kind {
            FailureProofKind::Without { targets, breaks, in_depth } => {
                self.lead("without");
                self.row(targets, Self::target);
                self.space();
                self.lead("breaks");
                self.solid(breaks.span);
                if *in_depth {
                    self.space();
                    self.lead("in");
                    self.word("depth");
                }
            }
            FailureProofKind::Compiler { code, items } => {
                self.lead("refused");
                self.lead("by");
                self.lead("compiler");
                self.solid(code.span);
                if self.at(TokenKind::OpenBrace) {
                    self.space();
                    self.list(List::BLOCK, items, Self::item);
                }
            }
            FailureProofKind::Measured { value, above } => {
                self.lead("measured");
                self.lead("by");
                self.expr(value);
                self.space();
                self.lead("above");
                self.expr(above);
            }
            FailureProofKind::Error => self.lost = true,
        }
    }

    fn target(&mut self, target: &WithoutTarget) {
        match &target.kind {
            WithoutKind::Clause { operation, clause } => {
                self.solid(operation.span);
                self.expect(TokenKind::Dot);
                self.solid(clause.span);
            }
            WithoutKind::Repair { name } => {
                self.lead("repair");
                self.solid(name.span);
            }
            WithoutKind::Assignment { operation, target } => {
                self.lead("assignment");
                self.solid(operation.span);
                self.expect(TokenKind::Dot);
                self.expr(target);
            }
            WithoutKind::Outbox { operation }
            | WithoutKind::Key { operation }
            | WithoutKind::Keyed { operation }
            | WithoutKind::AtLeast { operation } => {
                self.expect(TokenKind::Word);
                self.space();
                self.lead("of");
                self.solid(operation.span);
            }
        }
    }

    /// `defence commit.once "…"`
    pub fn defence(&mut self, defence: &DefenceItem) {
        self.lead("defence");
        self.solid(defence.operation.span);
        self.expect(TokenKind::Dot);
        self.solid(defence.clause.span);
        self.space();
        self.solid(defence.reason.span);
    }

    /// `hotspot "…" on Seat { mitigate shard, "…" }`
    pub fn hotspot(&mut self, hotspot: &HotspotItem) {
        self.lead("hotspot");
        self.solid(hotspot.title.span);
        self.space();
        self.lead("on");
        self.expr(&hotspot.on);
        if self.at(TokenKind::OpenBrace) {
            self.space();
            let rows = self.rows(&hotspot.mitigate);
            self.list(List::BLOCK, &rows, |b, values| {
                b.lead("mitigate");
                b.row(values, Self::header_value);
            });
        }
    }

    /// Values, divided where no comma stands between them.
    fn rows<'v>(&self, values: &'v [HeaderValue]) -> Vec<&'v [HeaderValue]> {
        let follows_comma = |value: &HeaderValue| {
            let first = self.start_of(value_span(value));
            first > 0 && self.tokens.sigs[first - 1].kind == TokenKind::Comma
        };
        values.chunk_by(|_, next| follows_comma(next)).collect()
    }

    pub fn header_value(&mut self, value: &HeaderValue) {
        self.solid(value_span(value));
    }
}

fn value_span(value: &HeaderValue) -> Span {
    match value {
        HeaderValue::Word(name) => name.span,
        HeaderValue::Text(text) => text.span,
    }
}
