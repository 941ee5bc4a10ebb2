//! The body of an effect: the call and its three answers.

use super::Parser;
use super::suggest::nearest;
use crate::tree::{AnswerHandler, AnswerKind, AnswerParam, EffectBody, EffectCall, EffectSign};
use crate::{Diagnostic, Span, TokenKind};

const ANSWERS: &[&str] = &["ok", "refused", "unknown"];

impl Parser<'_> {
    /// `call`, `sign` or `on ANSWER`
    pub(super) fn at_answer(&self) -> bool {
        match self.word(0) {
            "call" | "sign" => self.nth(1) == TokenKind::Word,
            "on" => self.nth(1) == TokenKind::Word,
            _ => false,
        }
    }

    /// `{ call … on ok(answer: T) { … } on refused { … } on unknown { … } }`
    pub(super) fn effect_body(&mut self) -> EffectBody {
        let first = self.span();
        let open = self.at;
        let mut body = EffectBody { call: None, sign: None, answers: Vec::new(), span: first };
        if !self.open_body("what the effect does", Self::at_answer) {
            return body;
        }
        loop {
            while self.eat(TokenKind::Comma) {}
            if self.at(TokenKind::CloseBrace) || self.at(TokenKind::End) || self.at_item_start() {
                break;
            }
            let start = self.at;
            self.effect_part(&mut body);
            if self.lost {
                self.resync(open, start, Self::at_answer);
                if self.lost {
                    break;
                }
            }
        }
        self.close_body(open);
        body.span = self.since(first);
        body
    }

    fn effect_part(&mut self, body: &mut EffectBody) {
        let here = self.span();
        match self.word(0) {
            "call" => {
                let call = self.call();
                match &body.call {
                    Some(earlier) => {
                        let message = "an effect makes one call";
                        let diagnostic = Diagnostic::error("E0117", here, message)
                            .also(earlier.span, "the first one");
                        self.report(diagnostic);
                    }
                    None => body.call = Some(call),
                }
            }
            "sign" => {
                let sign = self.sign();
                match &body.sign {
                    Some(earlier) => {
                        let message = "an effect signs one digest";
                        let diagnostic = Diagnostic::error("E0117", here, message)
                            .also(earlier.span, "the first one");
                        self.report(diagnostic);
                    }
                    None => body.sign = Some(sign),
                }
            }
            "on" => {
                let Some(handler) = self.answer() else { return };
                let same = |earlier: &&AnswerHandler| earlier.answer == handler.answer;
                match body.answers.iter().find(same) {
                    Some(earlier) => self.duplicate_answer(handler.span, earlier.span),
                    None => body.answers.push(handler),
                }
            }
            _ => {
                let found = self.found();
                let message = format!("expected `call`, `sign` or `on`, found {found}");
                let help = "an effect makes a call and says what each answer changes: \
                            `on ok { … }  on refused { … }  on unknown { … }`";
                self.fail(Diagnostic::error("E0117", here, message).help(help));
            }
        }
    }

    fn duplicate_answer(&mut self, handler: Span, earlier: Span) {
        let line = |span: Span| {
            let text = span.text(self.source);
            let head = text.find(['{', '(']).unwrap_or(text.len());
            let end = span.start + text[..head].trim_end().len() as u32;
            Span::new(span.file, span.start, end)
        };
        let (here, there) = (line(handler), line(earlier));
        let message = format!("`{}` is answered twice", here.text(self.source));
        let diagnostic = Diagnostic::error("E0113", here, message)
            .also(there, "the first answer")
            .help("put the statements into one block");
        self.report(diagnostic);
    }

    /// `call POST "url" key e body { … }`: the parts after the method in any order
    fn call(&mut self) -> EffectCall {
        let first = self.span();
        self.bump();
        let method = self.name("the method of the call, such as `POST`");
        let mut call = EffectCall { method, url: None, key: None, body: None, span: first };
        while !self.lost {
            let part = self.span();
            let twice = if self.at(TokenKind::Text) {
                let text = self.optional_text();
                std::mem::replace(&mut call.url, text).is_some()
            } else if self.at_word("key") {
                self.bump();
                call.key.replace(self.expr()).is_some()
            } else if self.at_word("body") {
                self.bump();
                call.body.replace(self.fields("after `body`")).is_some()
            } else {
                break;
            };
            if twice {
                let message = "this part of the call is given twice";
                self.report(Diagnostic::error("E0117", part, message));
            }
        }
        call.span = self.since(first);
        call
    }

    /// `sign digest by key`
    fn sign(&mut self) -> EffectSign {
        let first = self.span();
        self.bump();
        let digest = self.expr();
        self.expect_word("by", "after what is signed");
        let key = self.expr();
        EffectSign { digest, key, span: self.since(first) }
    }

    /// `on ok(answer: T) { … }`
    fn answer(&mut self) -> Option<AnswerHandler> {
        let first = self.span();
        self.bump();
        let written = self.word(0);
        let known = ANSWERS.contains(&written);
        let meant = if known { Some(written) } else { nearest(written, ANSWERS) };
        if !known {
            let found = self.found();
            let message = format!("an effect is not answered with {found}");
            let help = match meant {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "the answers are `ok`, `refused` and `unknown`".into(),
            };
            let diagnostic = Diagnostic::error("E0117", self.here(), message).help(help);
            match meant {
                Some(_) => self.report(diagnostic),
                None => self.fail(diagnostic),
            }
        }
        let answer = match meant {
            Some("ok") => AnswerKind::Ok,
            Some("refused") => AnswerKind::Refused,
            _ => AnswerKind::Unknown,
        };
        if self.at(TokenKind::Word) && !self.lost {
            self.bump();
        }
        let param = self.answer_param();
        let body = self.block();
        let span = self.since(first);
        // what answers nothing is left out of the tree
        meant.map(|_| AnswerHandler { answer, param, body, span })
    }

    fn answer_param(&mut self) -> Option<AnswerParam> {
        if self.lost || !self.at(TokenKind::OpenParen) {
            return None;
        }
        let open = self.at;
        self.bump();
        let name = self.name("a name for the answer");
        let ty = self.eat(TokenKind::Colon).then(|| self.ty());
        self.close(open, "");
        Some(AnswerParam { name, ty })
    }
}
