//! Operands: prefixes, literals, names, and what follows them.

use super::Parser;
use super::expr::{Built, level};
use super::words::RESERVED;
use crate::lexer::unescape;
use crate::tree::{DurationUnit, Expr, ExprKind};
use crate::{Diagnostic, Span, TokenKind};

impl Parser<'_> {
    /// An operand with what stands before it.
    pub(super) fn prefix(&mut self, loosest: u8) -> Built {
        let start = self.span();
        if self.at(TokenKind::Minus) {
            self.bump();
            let (operand, height) = self.binary(level::NEGATE);
            return self.grown(start, ExprKind::Negate(Box::new(operand)), height);
        }
        match self.word(0) {
            "not" => {
                self.bump();
                let (operand, height) = self.binary(loosest.max(level::NOT));
                self.grown(start, ExprKind::Not(Box::new(operand)), height)
            }
            "if" => self.conditional(start),
            "let" => self.binding(start),
            "all" | "any" if self.nth(1) == TokenKind::Word && self.word(2) == "in" => {
                self.quantifier(start)
            }
            _ => self.operand(),
        }
    }

    /// `if c then a else b`
    fn conditional(&mut self, start: Span) -> Built {
        self.bump();
        let (condition, first) = self.boxed();
        self.expect_word("then", "after the condition of `if`");
        let (then, second) = self.boxed();
        if !self.lost && !self.at_word("else") {
            let found = self.found();
            let message = format!("expected `else` after the first branch of `if`, found {found}");
            let help = "in an expression both branches are written: `if c then a else b`";
            self.fail(Diagnostic::error("E0122", self.here(), message).help(help));
        }
        self.eat_word("else");
        let (otherwise, third) = self.boxed();
        let kind = ExprKind::If { condition, then, otherwise };
        self.grown(start, kind, first.max(second).max(third))
    }

    /// `let n = e in body`
    fn binding(&mut self, start: Span) -> Built {
        self.bump();
        let name = self.name("a name after `let`");
        self.expect(TokenKind::Equal, "=", "after the name of `let`");
        let outside = std::mem::replace(&mut self.in_ends, true);
        let (value, first) = self.boxed();
        self.in_ends = outside;
        self.expect_word("in", "after the value of `let`");
        let (body, second) = self.boxed();
        let kind = ExprKind::Let { name, value, body };
        self.grown(start, kind, first.max(second))
    }

    /// A primary expression and its postfixes: `.name`, `[index]`, `present`, `absent`.
    pub(super) fn operand(&mut self) -> Built {
        let start = self.span();
        let mut built = self.primary();
        while !self.lost {
            built = match self.kind() {
                TokenKind::Dot => {
                    self.bump();
                    let name = self.name("a name after `.`");
                    let (base, height) = built;
                    let base = Box::new(base);
                    self.grown(start, ExprKind::Field { base, name }, height)
                }
                TokenKind::OpenBracket => {
                    let open = self.at;
                    self.bump();
                    let (index, its_height) = self.bracketed(open, Self::boxed);
                    self.close(open, "");
                    let (base, height) = built;
                    let base = Box::new(base);
                    let kind = ExprKind::Index { base, index };
                    self.grown(start, kind, height.max(its_height))
                }
                TokenKind::Word if self.at_presence() => {
                    let present = self.at_word("present");
                    self.bump();
                    let (of, height) = built;
                    let of = Box::new(of);
                    self.grown(start, ExprKind::Presence { of, present }, height)
                }
                TokenKind::OpenParen if matches!(built.0.kind, ExprKind::Field { .. }) => {
                    let message = "only a plain name can be called";
                    let help = "what comes before the `.` is an argument: `f(x, y)`";
                    self.fail(Diagnostic::error("E0107", self.span(), message).help(help));
                    self.error_expr()
                }
                _ => break,
            };
        }
        built
    }

    /// `present` and `absent` after an operand, unless they name what comes next.
    fn at_presence(&self) -> bool {
        if !matches!(self.word(0), "present" | "absent") {
            return false;
        }
        match self.nth(1) {
            TokenKind::Colon => self.colon_ends,
            TokenKind::Assign
            | TokenKind::PlusAssign
            | TokenKind::MinusAssign
            | TokenKind::Dot
            | TokenKind::OpenBracket => false,
            _ => true,
        }
    }

    fn primary(&mut self) -> Built {
        let start = self.span();
        match self.kind() {
            TokenKind::Word => self.word_operand(start),
            TokenKind::Int | TokenKind::Decimal | TokenKind::Duration | TokenKind::Text => {
                let kind = self.literal();
                self.leaf(start, kind)
            }
            TokenKind::OpenParen => {
                let open = self.at;
                self.bump();
                let (mut inner, height) = self.bracketed(open, |p| p.binary(level::LEADS_TO));
                self.close(open, "");
                inner.span = self.since(start);
                (inner, height)
            }
            TokenKind::OpenBracket => {
                let mut below = 0;
                let items = self.list(|p| p.measured(&mut below));
                self.grown(start, ExprKind::List(items), below)
            }
            TokenKind::OpenBrace => self.braces(start),
            _ => self.no_operand(),
        }
    }

    fn leaf(&mut self, start: Span, kind: ExprKind) -> Built {
        self.grown(start, kind, 0)
    }

    /// An expression, adding its height to the greatest so far.
    pub(super) fn measured(&mut self, greatest: &mut usize) -> Expr {
        let (expr, height) = self.binary(level::IMPLIES);
        *greatest = (*greatest).max(height);
        expr
    }

    fn word_operand(&mut self, start: Span) -> Built {
        let word = self.word(0);
        let call = self.nth(1) == TokenKind::OpenParen;
        let simple = match word {
            "true" => Some(ExprKind::Bool(true)),
            "false" => Some(ExprKind::Bool(false)),
            "null" => Some(ExprKind::Null),
            "now" => Some(ExprKind::Now),
            "me" => Some(ExprKind::Me),
            _ => None,
        };
        if let Some(kind) = simple {
            self.bump();
            return self.leaf(start, kind);
        }
        if word == "old" {
            return self.old(start);
        }
        let next_line = self.piece(0).line_start
            && self.nth(1) == TokenKind::Colon
            && !self.colon_ends
            && self.at > 0;
        if RESERVED.contains(&word) || next_line || self.at_item_start() {
            return self.no_operand();
        }
        if matches!(word, "count" | "sum") && call {
            return self.aggregate(start);
        }
        let name = self.take_name();
        if call {
            let mut below = 0;
            let leads = lead_words(&name.text);
            let mut place: usize = 0;
            let args = self.list(|p| {
                let lead = place.checked_sub(1).and_then(|at| leads.get(at));
                place += 1;
                if let Some(lead) = lead {
                    p.lead_word(lead);
                }
                p.measured(&mut below)
            });
            let function = name;
            return self.grown(start, ExprKind::Call { function, args }, below);
        }
        self.leaf(start, ExprKind::Name(name))
    }

    /// The word that an argument begins with: it says what the argument is there for.
    fn lead_word(&mut self, word: &str) {
        if !self.lost && !self.at_word(word) {
            let found = self.found();
            let message = format!("expected `{word}` before this argument, found {found}");
            let help = "`verified(signature, by key, over digest)`, \
                        `included(leaf, in root, by proof)`";
            self.report(Diagnostic::error("E0125", self.here(), message).help(help));
        }
        // one of the others is there instead of it
        if self.at_word(word) || matches!(self.word(0), "by" | "over") {
            self.bump();
        }
    }

    fn old(&mut self, start: Span) -> Built {
        self.bump();
        let open = self.at;
        if !self.expect(TokenKind::OpenParen, "(", "after `old`") {
            return self.error_expr();
        }
        let (inner, height) = self.bracketed(open, Self::boxed);
        self.close(open, "");
        self.grown(start, ExprKind::Old(inner), height)
    }

    /// `{ a: 1 }` is a record, `{a, b}` a set; `{}` is both and is read as a record.
    fn braces(&mut self, start: Span) -> Built {
        let record = self.nth(1) == TokenKind::CloseBrace
            || self.nth(1) == TokenKind::Word && self.nth(2) == TokenKind::Colon;
        if record {
            let mut below = 0;
            let fields = self.measured_fields(&mut below);
            return self.grown(start, ExprKind::Record(fields), below);
        }
        let mut below = 0;
        let items = self.list(|p| p.measured(&mut below));
        self.grown(start, ExprKind::Set(items), below)
    }

    pub(super) fn no_operand(&mut self) -> Built {
        let found = self.found();
        let mut diagnostic = Diagnostic::error(
            "E0104",
            self.here(),
            format!("expected an expression, found {found}"),
        );
        diagnostic.help.extend(self.operator_hint().map(String::from));
        self.fail(diagnostic);
        self.error_expr()
    }

    fn literal(&mut self) -> ExprKind {
        let piece = self.bump();
        let written = piece.span.text(self.source);
        match piece.kind {
            TokenKind::Text => ExprKind::Text(unescape(written)),
            TokenKind::Int => ExprKind::Int(written.replace('_', "")),
            TokenKind::Decimal => ExprKind::Decimal(written.replace('_', "")),
            _ => duration(written),
        }
    }
}

/// What the second and the third argument begin with: two values of one kind are not mixed up.
fn lead_words(function: &str) -> &'static [&'static str] {
    match function {
        "verified" => &["by", "over"],
        "included" => &["in", "by"],
        _ => &[],
    }
}

/// A duration as written; the lexer has complained about one with another unit.
fn duration(written: &str) -> ExprKind {
    let letters = written.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_');
    let number = written[..written.len() - letters.len()].replace('_', "");
    let unit = match letters {
        "ms" => DurationUnit::Millisecond,
        "s" => DurationUnit::Second,
        "m" => DurationUnit::Minute,
        "h" => DurationUnit::Hour,
        "d" => DurationUnit::Day,
        _ => return ExprKind::Error,
    };
    ExprKind::Duration { number, unit }
}
