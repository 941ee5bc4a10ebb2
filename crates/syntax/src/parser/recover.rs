//! Messages, and finding the way again after one.

use super::Parser;
use super::words::OPERATOR_WORDS;
use crate::lexer::shorten;
use crate::{Diagnostic, MAX_DEPTH, Span, TokenKind};

impl Parser<'_> {
    /// Says it, unless the parser is lost already.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        if self.lost {
            return;
        }
        if self.piece(0).excused {
            self.lost = true;
            return;
        }
        self.diagnostics.push(diagnostic);
    }

    /// Says it, and is lost from here on.
    pub(super) fn fail(&mut self, diagnostic: Diagnostic) {
        self.report(diagnostic);
        self.lost = true;
    }

    /// What stands here, for a message.
    pub(super) fn found(&self) -> String {
        let piece = self.piece(0);
        match piece.kind {
            TokenKind::End => "the end of the text".into(),
            TokenKind::Text => "a text".into(),
            _ => format!("`{}`", shorten(piece.span.text(self.source))),
        }
    }

    /// Where to point when something is expected: at the token that stands here instead, or right
    /// after the one before it if this one belongs to another line.
    pub(super) fn here(&self) -> Span {
        let piece = self.piece(0);
        let elsewhere = piece.line_start || piece.kind == TokenKind::End;
        if elsewhere && self.at > 0 { self.before() } else { piece.span }
    }

    /// What was probably meant by an operator or a word that does not belong here.
    pub(super) fn operator_hint(&self) -> Option<&'static str> {
        match self.kind() {
            TokenKind::FatArrow => {
                Some("for \"greater or equal\" write `>=`, for \"then\" `implies`")
            }
            TokenKind::Assign => Some("in an expression, equality is written `=`"),
            TokenKind::Arrow | TokenKind::BranchArrow => Some("arrows belong into a `protocol`"),
            TokenKind::Word if self.at_word("limit") => Some(
                "a limit stands between head and body: `step user[try_pin(…) {…}] limit 5 per 1m per me {…}`",
            ),
            TokenKind::Word if self.at_word("keyed") => {
                Some("`keyed` stands between head and body: `step user[pay(…) {…}] keyed {…}`")
            }
            _ => None,
        }
    }

    /// A token that must stand here; `true` if it did.
    pub(super) fn expect(&mut self, kind: TokenKind, spelling: &str, place: &str) -> bool {
        if self.eat(kind) {
            return true;
        }
        self.fail_expected(spelling, place);
        false
    }

    pub(super) fn expect_word(&mut self, word: &str, place: &str) -> bool {
        if self.eat_word(word) {
            return true;
        }
        self.fail_expected(word, place);
        false
    }

    fn fail_expected(&mut self, spelling: &str, place: &str) {
        let found = self.found();
        self.fail(Diagnostic::error(
            "E0122",
            self.here(),
            format!("expected `{spelling}` {place}, found {found}"),
        ));
    }

    pub(super) fn fail_too_deep(&mut self) {
        if !self.too_deep {
            self.too_deep = true;
            self.fail(
                Diagnostic::error(
                    "E0112",
                    self.here(),
                    format!("this is nested more than {MAX_DEPTH} levels deep"),
                )
                .help("give a part of it a name with `define` or `let`"),
            );
        }
        self.lost = true;
    }

    /// A closing bracket that is not here. It is taken as written, and parsing goes on, except
    /// where the text or the item ends: there everything around it is closed without a word.
    pub(super) fn unclosed(&mut self, open: usize) {
        let end_of_text = self.at(TokenKind::End);
        if end_of_text && (self.cut_off || self.too_deep) {
            self.lost = true;
            return;
        }
        self.cut_off |= end_of_text;
        let opener = self.pieces[open];
        let (opening, closing) = spelling(opener.kind);
        let end = self.before();
        self.report(
            Diagnostic::error("E0102", end, format!("missing `{closing}`"))
                .label(format!("expected `{closing}` here"))
                .also(opener.span, format!("to close this `{opening}`")),
        );
        if end_of_text || self.at_item_start() {
            self.lost = true;
        }
    }

    /// After the contents of brackets: the closing one, or what to do without it. `instead` says
    /// what else could stand here: `,` in a list.
    pub(super) fn close(&mut self, open: usize, instead: &str) {
        let opener = self.pieces[open].kind;
        if self.eat(closing(opener)) {
            return;
        }
        let end = self.closer_ahead(open);
        if !self.lost {
            // braces span lines, so where a line begins the brace is more likely to be missing
            let broken = opener == TokenKind::OpenBrace && self.piece(0).line_start;
            if end.is_none() || broken {
                self.unclosed(open);
                return;
            }
            let (_, wanted) = spelling(opener);
            let message = format!("expected {instead}`{wanted}`, found {}", self.found());
            let mut diagnostic = Diagnostic::error("E0122", self.here(), message);
            diagnostic.help.extend(self.operator_hint().map(String::from));
            self.fail(diagnostic);
        }
        if let Some(end) = end {
            self.at = end + 1;
            self.lost = false;
        }
    }

    /// The index of the bracket that closes this one, if it is still to come.
    pub(super) fn closer_ahead(&self, open: usize) -> Option<usize> {
        self.closers[open].filter(|end| *end >= self.at)
    }

    /// Lost in a list of things that begin on lines of their own or after a comma, the last of
    /// them at `start`: goes to the next such place at this level for which `begins` holds, or to
    /// the list's end. Stays lost where the list itself is broken.
    pub(super) fn resync(&mut self, open: usize, start: usize, begins: impl Fn(&Self) -> bool) {
        let end = self.closer_ahead(open);
        while end != Some(self.at) {
            if self.at(TokenKind::End) || self.at_item_start() {
                return;
            }
            let fresh = self.piece(0).line_start
                || self.at > 0 && self.pieces[self.at - 1].kind == TokenKind::Comma;
            if self.at > start && fresh && begins(self) {
                break;
            }
            // what stands in brackets is passed over whole
            self.at = self.closers[self.at].map_or(self.at, |closer| closer) + 1;
        }
        self.lost = false;
    }

    /// Whether an item begins here, on a line of its own.
    pub(super) fn at_item_start(&self) -> bool {
        self.item_start(self.at)
    }

    pub(super) fn item_start(&self, index: usize) -> bool {
        self.pieces[index].line_start && self.item_like(index)
    }

    /// Whether what stands here looks like the beginning of an item, rather than like an
    /// attribute or a name that is spelled as an item's word.
    pub(super) fn item_like(&self, index: usize) -> bool {
        self.ticks.set(self.ticks.get() + 1);
        let piece = |ahead: usize| self.pieces.get(index + ahead).copied();
        let kind = |ahead: usize| piece(ahead).map_or(TokenKind::End, |p| p.kind);
        let word = |ahead: usize| match piece(ahead) {
            Some(p) if p.kind == TokenKind::Word => self.text_of(&p),
            _ => "",
        };
        let name_next = kind(1) == TokenKind::Word && !OPERATOR_WORDS.contains(&word(1));
        match word(0) {
            "design" | "archetype" | "use" | "blob" | "define" | "view" | "protocol"
            | "invariant" | "recovers" | "leads_to" => name_next,
            // `actor user is buyer` is a line of a `use`, and so is one that lacks its `is`
            "actor" | "subject" => {
                let same_line = piece(2).is_some_and(|p| !p.line_start);
                let more = same_line && kind(2) == TokenKind::Word;
                name_next && (!more || matches!(word(2), "continues" | "apart"))
            }
            "family" | "ownership" | "trust" | "input" | "output" | "decorates" => {
                name_next || kind(1) == TokenKind::Text
            }
            "step" | "repair" | "effect" | "read" => {
                let head = matches!(
                    kind(2),
                    TokenKind::OpenBracket
                        | TokenKind::Word
                        | TokenKind::OpenParen
                        | TokenKind::OpenBrace
                );
                name_next && head && word(2) != "breaks"
            }
            // `on ok` is an answer of an effect
            "on" => {
                let event = word(1).starts_with(|first: char| first.is_uppercase());
                let head =
                    matches!(kind(2), TokenKind::OpenParen | TokenKind::Dot | TokenKind::OpenBrace);
                event && head
            }
            "failure" | "hotspot" | "from" | "test" => kind(1) == TokenKind::Text,
            "defence" => name_next && kind(2) == TokenKind::Dot,
            "check" => {
                kind(1) == TokenKind::OpenBrace
                    || name_next && self.world_name_ends(index + 1).is_some()
            }
            _ => false,
        }
    }

    /// Pairs up the brackets. A bracket left open does not spoil the others: a closing bracket of
    /// another kind, or the beginning of the next item, passes it over.
    pub(super) fn match_brackets(&self) -> Vec<Option<usize>> {
        let mut closers = vec![None; self.pieces.len()];
        let mut open: Vec<usize> = Vec::new();
        let mut waiting = [0usize; 3];
        // the braces of `refused by compiler CODE { items }` and of `instead { step … }`, which items do not
        // pass over
        let mut holding_items: Vec<usize> = Vec::new();
        for index in 0..self.pieces.len() {
            let kind = self.pieces[index].kind;
            if let Some(class) = opening_class(kind) {
                if self.holds_items(index) {
                    holding_items.push(open.len());
                }
                open.push(index);
                waiting[class] += 1;
            } else if let Some(class) = closing_class(kind) {
                if waiting[class] == 0 {
                    continue;
                }
                while let Some(opener) = open.pop() {
                    let Some(its_class) = opening_class(self.pieces[opener].kind) else {
                        continue;
                    };
                    waiting[its_class] -= 1;
                    if its_class == class {
                        closers[opener] = Some(index);
                        break;
                    }
                }
            } else if kind == TokenKind::Word && self.item_start(index) {
                let keep = holding_items.last().map_or(0, |depth| depth + 1);
                while open.len() > keep {
                    let dropped = open.pop().map(|opener| self.pieces[opener].kind);
                    if let Some(class) = dropped.and_then(opening_class) {
                        waiting[class] -= 1;
                    }
                }
            }
            while holding_items.last().is_some_and(|depth| *depth >= open.len()) {
                holding_items.pop();
            }
        }
        closers
    }

    fn holds_items(&self, brace: usize) -> bool {
        let is = |back: usize, word: &str| {
            let piece = brace.checked_sub(back).map(|index| &self.pieces[index]);
            piece.is_some_and(|it| it.kind == TokenKind::Word && self.text_of(it) == word)
        };
        let opens = self.pieces[brace].kind == TokenKind::OpenBrace;
        opens && (is(2, "compiler") || is(1, "instead"))
    }
}

fn opening_class(kind: TokenKind) -> Option<usize> {
    match kind {
        TokenKind::OpenBrace => Some(0),
        TokenKind::OpenBracket => Some(1),
        TokenKind::OpenParen => Some(2),
        _ => None,
    }
}

fn closing_class(kind: TokenKind) -> Option<usize> {
    match kind {
        TokenKind::CloseBrace => Some(0),
        TokenKind::CloseBracket => Some(1),
        TokenKind::CloseParen => Some(2),
        _ => None,
    }
}

pub(super) fn closing(kind: TokenKind) -> TokenKind {
    match kind {
        TokenKind::OpenBracket => TokenKind::CloseBracket,
        TokenKind::OpenParen => TokenKind::CloseParen,
        _ => TokenKind::CloseBrace,
    }
}

fn spelling(kind: TokenKind) -> (&'static str, &'static str) {
    match kind {
        TokenKind::OpenBracket => ("[", "]"),
        TokenKind::OpenParen => ("(", ")"),
        _ => ("{", "}"),
    }
}
