//! `actor[operation(parameters) {guard}] { effects }`

use super::Parser;
use super::suggest::nearest;
use crate::tree::{
    EVENT_ACTOR, Generated, ItemKind, Name, OperationBody, OperationItem, OperationKind, Param,
    Rate, handler_name,
};
use crate::{Diagnostic, Span, TokenKind};

impl Parser<'_> {
    pub(super) fn operation(&mut self, word: &str) -> ItemKind {
        self.bump();
        let first = self.span();
        let actor = self.name("the actor");
        let open = self.head_bracket();
        let name = self.name("the operation");
        let messages = self.diagnostics.len();
        let params = self.optional_params();
        let guard = if self.head_cut_off(open) { Vec::new() } else { self.guard() };
        self.head_end(open, self.diagnostics.len() > messages);
        let head = self.since(first);
        let mut kind = match word {
            "step" => OperationKind::Step { keyed: false },
            "repair" => OperationKind::Repair { after: None, every: None, batch: None },
            "effect" => OperationKind::Effect,
            _ => OperationKind::Read,
        };
        let rate = self.modifiers(&mut kind, word);
        let body = self.operation_body(&kind, word);
        let operation = OperationItem { kind, rate, actor, name, params, guard, body, head };
        ItemKind::Operation(Box::new(operation))
    }

    /// `on Tickets.BookingConfirmed(parameters) {guard} { effects }`
    pub(super) fn handler(&mut self) -> ItemKind {
        let actor = Name { text: EVENT_ACTOR.into(), span: self.span() };
        self.bump();
        let first = self.span();
        let mut event = self.name("the event");
        let mut of = None;
        if !self.lost && self.at(TokenKind::Dot) {
            self.bump();
            of = Some(std::mem::replace(&mut event, self.name("the event of that design")));
        }
        let params = self.optional_params();
        // of two pairs of braces the first is the guard
        let guarded = !self.lost
            && self.at(TokenKind::OpenBrace)
            && self.closers[self.at]
                .and_then(|end| self.pieces.get(end + 1))
                .is_some_and(|next| next.kind == TokenKind::OpenBrace);
        let guard = if guarded { self.guard() } else { Vec::new() };
        let head = self.since(first);
        let text = handler_name(of.as_ref().map(|of| of.text.as_str()), &event.text);
        let text = if event.text.is_empty() { String::new() } else { text };
        let name = Name { text, span: event.span };
        let kind = OperationKind::Event { of, event };
        let body = self.operation_body(&kind, "on");
        let operation = OperationItem { kind, rate: None, actor, name, params, guard, body, head };
        ItemKind::Operation(Box::new(operation))
    }

    /// `[`; without it the operation may follow all the same. Returns its place.
    fn head_bracket(&mut self) -> Option<usize> {
        let open = self.at;
        if self.eat(TokenKind::OpenBracket) {
            return Some(open);
        }
        let found = self.found();
        let message = format!("expected `[` and the operation after the actor, found {found}");
        let help = "write `actor[operation(parameters) {guard}] { effects }`";
        let diagnostic = Diagnostic::error("E0108", self.here(), message).help(help);
        if self.at(TokenKind::Word) && !self.piece(0).line_start {
            self.report(diagnostic);
        } else {
            self.fail(diagnostic);
        }
        None
    }

    /// `]`
    fn head_end(&mut self, open: Option<usize>, message_given: bool) {
        match open {
            Some(open) if message_given => {
                self.lost |= !self.at(TokenKind::CloseBracket);
                self.close(open, "");
            }
            Some(open) if !self.lost && !self.at(TokenKind::CloseBracket) => {
                self.head_unfinished(open);
            }
            Some(open) => self.close(open, ""),
            None => {
                // the message about `[` is enough
                if self.at(TokenKind::CloseBracket) {
                    self.bump();
                    self.lost = false;
                }
            }
        }
    }

    /// The `]` is missing and the braces here are the body, not a guard: nothing that belongs
    /// after a guard follows them.
    fn head_cut_off(&self, open: Option<usize>) -> bool {
        let unclosed = open.is_none_or(|open| self.closers[open].is_none());
        if self.lost || !unclosed || !self.at(TokenKind::OpenBrace) {
            return false;
        }
        let Some(next) = self.closers[self.at].and_then(|end| self.pieces.get(end + 1)) else {
            return false;
        };
        match next.kind {
            TokenKind::OpenBrace | TokenKind::Equal | TokenKind::CloseBracket => false,
            TokenKind::Word => next.line_start,
            _ => true,
        }
    }

    fn head_unfinished(&mut self, open: usize) {
        let body = matches!(self.kind(), TokenKind::OpenBrace | TokenKind::Equal);
        if body || self.closer_ahead(open).is_none() {
            self.unclosed(open);
            return;
        }
        self.close(open, "`(`, `{` or ");
    }

    /// `(name: new Type = default, …)`, or nothing
    pub(super) fn optional_params(&mut self) -> Vec<Param> {
        if self.lost || !self.at(TokenKind::OpenParen) {
            return Vec::new();
        }
        let open = self.at;
        let params = self.named_list(|p| {
            let first = p.span();
            let name = p.name("the name of a parameter");
            p.label_colon();
            let new = !p.lost && p.at_word("new") && p.nth(1) == TokenKind::Word;
            if new {
                p.bump();
            }
            let ty = p.ty();
            let from_caller = p.whose_time();
            let (mut default, mut generated) = (None, None);
            if p.eat(TokenKind::Equal) {
                if !p.lost && p.at_word("new") {
                    generated = Some(p.generated());
                } else {
                    default = Some(p.expr());
                }
            }
            Param { name, new, ty, from_caller, default, generated, span: p.since(first) }
        });
        let swallowed = params.last().is_some_and(|param| param.default.is_some());
        if swallowed && self.closers[open].is_none() {
            // the default took what belongs after the missing `)`
            self.lost = true;
        }
        params
    }

    /// `from caller`, behind the type of a parameter
    fn whose_time(&mut self) -> Option<Span> {
        if self.lost || !self.at_word("from") || self.nth(1) == TokenKind::Colon {
            return None;
        }
        let start = self.span();
        self.bump();
        if !self.at_word("caller") {
            let found = self.found();
            self.fail(
                Diagnostic::error(
                    "E0342",
                    self.here(),
                    format!("expected `caller`, found {found}"),
                )
                .help("a time that a caller gives is written `at: time from caller`"),
            );
            return None;
        }
        self.bump();
        Some(self.since(start))
    }

    /// `new id`, `new code(6)`
    fn generated(&mut self) -> Generated {
        let first = self.span();
        self.bump();
        let kind = self.name("`id`, `key` or `code(6)`");
        let open = self.at;
        let size = (!self.lost && self.eat(TokenKind::OpenParen)).then(|| {
            let size = self.sum_level();
            self.close(open, "");
            size
        });
        Generated { kind, size, span: self.since(first) }
    }

    /// What may stand between the head and the body.
    fn modifiers(&mut self, kind: &mut OperationKind, word: &str) -> Option<Rate> {
        let mut rate = None;
        while !self.lost && self.at(TokenKind::Word) && !self.piece(0).line_start {
            let here = self.span();
            let twice = match (self.word(0), &mut *kind) {
                ("keyed", OperationKind::Step { keyed }) => {
                    self.bump();
                    std::mem::replace(keyed, true)
                }
                ("after", OperationKind::Repair { after, .. }) => {
                    self.bump();
                    after.replace(self.sum_level()).is_some()
                }
                ("every", OperationKind::Repair { every, .. }) => {
                    self.bump();
                    every.replace(self.sum_level()).is_some()
                }
                ("batch", OperationKind::Repair { batch, .. }) => {
                    self.bump();
                    batch.replace(self.sum_level()).is_some()
                }
                ("limit", OperationKind::Step { .. } | OperationKind::Read) => {
                    let said = self.rate();
                    let twice = rate.is_some();
                    rate = said.or(rate);
                    twice
                }
                // a body whose brace is missing
                _ if self.at_statement_start() || self.at_answer() => return rate,
                (found, _) => {
                    self.unknown_modifier(found, word);
                    return rate;
                }
            };
            if twice {
                let message = format!("`{}` is said twice", here.text(self.source));
                self.report(
                    Diagnostic::error("E0116", here, message).help("leave one of them out"),
                );
            }
        }
        rate
    }

    /// `limit 5 per 1m per me`
    fn rate(&mut self) -> Option<Rate> {
        self.bump();
        let count = self.sum_level();
        if !self.rate_word("per") {
            return None;
        }
        let per = self.sum_level();
        (self.rate_word("per") && self.rate_word("me")).then_some(Rate { count, per })
    }

    fn rate_word(&mut self, word: &str) -> bool {
        if self.lost {
            return false;
        }
        if self.at_word(word) {
            self.bump();
            return true;
        }
        let message = format!("expected `{word}`, found {}", self.found());
        let help = "a limit is written `limit 5 per 1m per me`";
        self.fail(Diagnostic::error("E0116", self.here(), message).help(help));
        self.skip_to_body();
        false
    }

    fn unknown_modifier(&mut self, found: &str, word: &str) {
        let known: &[&str] = match word {
            "step" => &["keyed", "limit"],
            "repair" => &["after", "every", "batch"],
            "read" => &["limit"],
            _ => &[],
        };
        let message = format!("`{found}` does not belong after the head of `{word}`");
        let diagnostic = Diagnostic::error("E0116", self.span(), message);
        let help = match (nearest(found, known), known) {
            (Some(meant), _) => format!("did you mean `{meant}`?"),
            (None, []) => format!("the body of `{word}` follows its head"),
            (None, _) => format!("it may be {}", known.join(", ")),
        };
        self.fail(diagnostic.help(help));
        self.skip_to_body();
    }

    fn operation_body(&mut self, kind: &OperationKind, word: &str) -> OperationBody {
        if self.lost {
            return OperationBody::Missing;
        }
        match kind {
            OperationKind::Read => {
                if !self.eat(TokenKind::Equal) {
                    self.missing_body("`=` and what is read", "`read a[get(s: S)] = State.value`");
                    return OperationBody::Missing;
                }
                let result = self.value();
                let here = self.span();
                let paged = self.eat_word("paged").then_some(here);
                let unopened = self.at(TokenKind::Word) && self.nth(1) == TokenKind::Assign;
                let braces = !self.lost && (self.at(TokenKind::OpenBrace) || unopened);
                let memory = if braces { self.block() } else { Default::default() };
                OperationBody::Read { result, paged, memory }
            }
            OperationKind::Effect if self.at_body(Self::at_answer) => {
                OperationBody::Effect(self.effect_body())
            }
            OperationKind::Step { .. }
            | OperationKind::Repair { .. }
            | OperationKind::Event { .. }
                if self.at_body(Self::at_statement_start) =>
            {
                OperationBody::Statements(self.block())
            }
            _ => {
                let help = match kind {
                    OperationKind::Event { .. } => {
                        "`on Event(field: type) {guard} { … }`".to_string()
                    }
                    _ => format!("`{word} actor[operation {{guard}}] {{ … }}`"),
                };
                self.missing_body("`{` and what it does", &help);
                OperationBody::Missing
            }
        }
    }

    fn at_body(&self, begins: impl Fn(&Self) -> bool) -> bool {
        self.at(TokenKind::OpenBrace) || !self.at_item_start() && begins(self)
    }

    fn missing_body(&mut self, what: &str, example: &str) {
        let found = self.found();
        let message = format!("expected {what} after the head, found {found}");
        let diagnostic = Diagnostic::error("E0109", self.here(), message);
        self.fail(diagnostic.help(format!("write {example}")));
    }

    /// `{`. If only it is missing (what `begins` expects stands here), its contents are read all
    /// the same. `false`: there is no body.
    pub(super) fn open_body(&mut self, what: &str, begins: impl Fn(&Self) -> bool) -> bool {
        if self.eat(TokenKind::OpenBrace) {
            return true;
        }
        let found = self.found();
        let message = format!("expected `{{` and {what}, found {found}");
        let diagnostic = Diagnostic::error("E0109", self.here(), message);
        if !self.lost && begins(self) && !self.at_item_start() {
            self.report(diagnostic.help("put `{` before it"));
            return !self.lost;
        }
        self.fail(diagnostic);
        false
    }

    /// The `}` of a body; `open` is where its `{` stands or should stand.
    pub(super) fn close_body(&mut self, open: usize) {
        if self.pieces[open].kind == TokenKind::OpenBrace {
            self.close(open, "");
        } else {
            self.eat(TokenKind::CloseBrace);
        }
    }
}
