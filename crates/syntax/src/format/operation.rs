//! Steps, repairs, effects and reads.

use super::builder::{At, Builder};
use super::list::List;
use crate::TokenKind;
use crate::tree::{
    AnswerHandler, Clause, EffectBody, EffectCall, EffectSign, OperationBody, OperationItem,
    OperationKind, Rate,
};

/// What stands in the body of an effect.
enum Part<'e> {
    Call(&'e EffectCall),
    Sign(&'e EffectSign),
    Answer(&'e AnswerHandler),
}

impl Part<'_> {
    fn start(&self) -> u32 {
        match self {
            Part::Call(call) => call.span.start,
            Part::Sign(sign) => sign.span.start,
            Part::Answer(answer) => answer.span.start,
        }
    }
}

impl Builder<'_, '_> {
    pub fn operation(&mut self, operation: &OperationItem) {
        self.expect(TokenKind::Word);
        self.space();
        if let OperationKind::Event { of, event } = &operation.kind {
            if let Some(of) = of {
                self.solid(of.span);
                self.expect(TokenKind::Dot);
            }
            self.solid(event.span);
            self.params(&operation.params);
            if !operation.guard.is_empty() {
                self.guard(&operation.guard);
            }
        } else {
            self.solid(operation.actor.span);
            self.expect(TokenKind::OpenBracket);
            self.solid(operation.name.span);
            self.params(&operation.params);
            self.guard(&operation.guard);
            self.expect(TokenKind::CloseBracket);
            self.tuning(&operation.kind, operation.rate.as_ref());
        }
        match &operation.body {
            OperationBody::Statements(block) => {
                self.space();
                self.block(block);
            }
            OperationBody::Effect(body) => {
                self.space();
                self.effect_body(body);
            }
            OperationBody::Read { result, paged, memory } => {
                self.space();
                self.expect(TokenKind::Equal);
                self.hanging(result);
                if paged.is_some() {
                    self.space();
                    self.word("paged");
                }
                if self.at(TokenKind::OpenBrace) {
                    self.space();
                    self.block(memory);
                }
            }
            OperationBody::Missing => self.lost = true,
        }
    }

    /// ` { name: e  name: e }`, if it was written
    pub fn guard(&mut self, clauses: &[Clause]) {
        if !self.at(TokenKind::OpenBrace) {
            return;
        }
        self.space();
        self.list(List::BLOCK, clauses, |b, clause| match &clause.name {
            Some(name) => {
                b.solid(name.span);
                b.expect(TokenKind::Colon);
                b.hanging(&clause.body);
            }
            None => b.expr(&clause.body),
        });
    }

    /// `keyed`, `limit 5 per 1m per me`, `after 5s`, `every 30s`, `batch 100`: in the order in which
    /// they were written
    fn tuning(&mut self, kind: &OperationKind, rate: Option<&Rate>) {
        let values = match (kind, rate) {
            (OperationKind::Repair { after, every, batch }, _) => {
                [after.as_ref(), every.as_ref(), batch.as_ref()]
            }
            (_, Some(rate)) => [Some(&rate.count), Some(&rate.per), None],
            _ => [None, None, None],
        };
        while self.at(TokenKind::Word) && !self.lost {
            self.space();
            self.token();
            let value = values.into_iter().flatten().find(|it| self.start_of(it.span) == self.pos);
            if let Some(value) = value {
                self.space();
                self.expr(value);
            } else if matches!(kind, OperationKind::Repair { .. }) {
                // said twice: only the last one is in the tree
                self.space();
                self.token();
            }
        }
    }

    fn effect_body(&mut self, body: &EffectBody) {
        let calls = body.call.iter().map(Part::Call);
        let signs = body.sign.iter().map(Part::Sign);
        let answers = body.answers.iter().map(Part::Answer);
        let mut parts: Vec<Part<'_>> = calls.chain(signs).chain(answers).collect();
        parts.sort_by_key(Part::start);
        self.list(List::BLOCK, &parts, |b, part| match part {
            Part::Call(call) => b.effect_call(call),
            Part::Sign(sign) => b.effect_sign(sign),
            Part::Answer(answer) => b.answer(answer),
        });
    }

    /// `call POST "url" key e body { … }`: on one line, or each part after the address on its own
    fn effect_call(&mut self, call: &EffectCall) {
        self.lead("call");
        self.solid(call.method.span);
        if self.at(TokenKind::Text) {
            self.space();
            self.token();
        }
        let end = self.end_of(call.span);
        self.group(|b| {
            b.indent(|b| {
                while b.pos < end && !b.lost {
                    b.soft_line(At::Between, " ");
                    match (&call.key, &call.body) {
                        _ if b.at(TokenKind::Text) => b.token(),
                        (Some(key), _) if b.at_word("key") => {
                            b.lead("key");
                            b.expr(key);
                        }
                        (_, Some(body)) if b.at_word("body") => {
                            b.lead("body");
                            b.fields(body);
                        }
                        _ => b.lost = true,
                    }
                }
            });
            false
        });
    }

    /// `sign digest by key`
    fn effect_sign(&mut self, sign: &EffectSign) {
        self.lead("sign");
        self.expr(&sign.digest);
        self.space();
        self.lead("by");
        self.expr(&sign.key);
    }

    /// `on ok(answer: T) { … }`
    fn answer(&mut self, answer: &AnswerHandler) {
        self.lead("on");
        self.expect(TokenKind::Word);
        if let Some(param) = &answer.param {
            self.expect(TokenKind::OpenParen);
            match &param.ty {
                Some(ty) => self.typed(&param.name, ty),
                None => self.solid(param.name.span),
            }
            self.expect(TokenKind::CloseParen);
        }
        self.space();
        self.block(&answer.body);
    }
}
