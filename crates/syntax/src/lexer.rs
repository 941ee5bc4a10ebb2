//! Text to tokens. Nothing is lost: what the language does not use becomes an `Unknown` token
//! with a diagnostic, and lexing goes on.

use crate::diagnostic::Diagnostic;
use crate::span::{FileId, Span};
use crate::token::{Token, TokenKind};

/// The longest source that is read, in bytes.
pub const MAX_SOURCE_BYTES: usize = 16 * 1024 * 1024;

/// Operators of other languages, and what they are called here.
pub(crate) const FOREIGN: &[(&str, &str)] = &[
    ("==", "="),
    ("&&", "and"),
    ("||", "or"),
    ("!", "not"),
    ("<>", "!="),
    ("≤", "<="),
    ("≥", ">="),
    ("≠", "!="),
    ("→", "->"),
    ("⇒", "=>"),
];

/// Longest first, so that `|->` is not read as `|` and `->`.
const PUNCTUATION: &[(&str, TokenKind)] = &[
    ("|->", TokenKind::BranchArrow),
    (":=", TokenKind::Assign),
    ("+=", TokenKind::PlusAssign),
    ("-=", TokenKind::MinusAssign),
    ("!=", TokenKind::NotEqual),
    ("<=", TokenKind::LessEqual),
    (">=", TokenKind::GreaterEqual),
    ("->", TokenKind::Arrow),
    ("=>", TokenKind::FatArrow),
    ("..", TokenKind::DotDot),
    ("{", TokenKind::OpenBrace),
    ("}", TokenKind::CloseBrace),
    ("[", TokenKind::OpenBracket),
    ("]", TokenKind::CloseBracket),
    ("(", TokenKind::OpenParen),
    (")", TokenKind::CloseParen),
    (",", TokenKind::Comma),
    (":", TokenKind::Colon),
    ("=", TokenKind::Equal),
    ("<", TokenKind::Less),
    (">", TokenKind::Greater),
    ("+", TokenKind::Plus),
    ("-", TokenKind::Minus),
    ("*", TokenKind::Star),
    ("/", TokenKind::Slash),
    ("|", TokenKind::Pipe),
    (".", TokenKind::Dot),
    ("?", TokenKind::Question),
];

/// Cuts a source into tokens. The last token is always `End`.
pub fn lex(source: &str, file: FileId) -> (Vec<Token>, Vec<Diagnostic>) {
    if source.len() > MAX_SOURCE_BYTES {
        let start = Span::new(file, 0, 0);
        let end = Token { kind: TokenKind::End, span: start, newlines_before: 0 };
        let diagnostic = Diagnostic::error(
            "E0008",
            start,
            format!(
                "the source has {} bytes, more than the {MAX_SOURCE_BYTES} that are read",
                source.len()
            ),
        )
        .help("divide the design into several files");
        return (vec![end], vec![diagnostic]);
    }
    let mut lexer = Lexer {
        source,
        file,
        at: if source.starts_with('\u{feff}') { 3 } else { 0 },
        newlines: 0,
        tokens: Vec::with_capacity(source.len() / 4),
        diagnostics: Vec::new(),
    };
    lexer.run();
    (lexer.tokens, lexer.diagnostics)
}

struct Lexer<'s> {
    source: &'s str,
    file: FileId,
    at: usize,
    newlines: u32,
    tokens: Vec<Token>,
    diagnostics: Vec<Diagnostic>,
}

impl<'s> Lexer<'s> {
    fn run(&mut self) {
        loop {
            self.skip_blanks();
            let Some(first) = self.rest().chars().next() else {
                break;
            };
            let start = self.at;
            let kind = self.token(first);
            self.push(kind, start);
        }
        self.push(TokenKind::End, self.at);
    }

    fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        self.tokens.push(Token { kind, span: self.span(start), newlines_before: self.newlines });
        self.newlines = 0;
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.file, start as u32, self.at as u32)
    }

    fn report(&mut self, code: &'static str, span: Span, message: String, help: String) {
        self.diagnostics.push(Diagnostic::error(code, span, message).help(help));
    }

    fn skip_blanks(&mut self) {
        while let Some(c) = self.rest().chars().next() {
            if !c.is_whitespace() {
                break;
            }
            self.newlines += u32::from(c == '\n');
            self.at += c.len_utf8();
        }
    }

    /// Reads one token that begins with `first`; moves past it.
    fn token(&mut self, first: char) -> TokenKind {
        let rest = self.rest();
        if first.is_ascii_digit() {
            return self.number();
        }
        if starts_word(first) {
            return self.word();
        }
        match first {
            '"' => return self.text(),
            '\'' => return self.single_quoted(),
            '#' => return self.foreign_comment(),
            _ if rest.starts_with("//") => {
                self.at += line_length(rest);
                return TokenKind::Comment;
            }
            _ if rest.starts_with("/*") => return self.foreign_comment(),
            _ => {}
        }
        let punctuation = PUNCTUATION.iter().find(|(text, _)| rest.starts_with(text));
        if let Some((foreign, ours)) = foreign_operator(rest)
            && punctuation.is_none_or(|(text, _)| text.len() < foreign.len())
        {
            let start = self.at;
            self.at += foreign.len();
            self.report(
                "E0007",
                self.span(start),
                format!("`{foreign}` is not an operator here"),
                format!("write `{ours}`"),
            );
            return TokenKind::Unknown;
        }
        match punctuation {
            Some((text, kind)) => {
                self.at += text.len();
                *kind
            }
            None => self.unknown(),
        }
    }

    fn word(&mut self) -> TokenKind {
        let start = self.at;
        let rest = self.rest();
        let length = rest.find(|c| !continues_word(c)).unwrap_or(rest.len());
        self.at += length;
        let word = &rest[..length];
        if !word.is_ascii() {
            self.report(
                "E0003",
                self.span(start),
                format!("the name `{}` has a letter outside a–z", shorten(word)),
                "names are made of the letters a–z and A–Z, digits and `_`".into(),
            );
        }
        TokenKind::Word
    }

    fn number(&mut self) -> TokenKind {
        let start = self.at;
        self.digits();
        let mut kind = TokenKind::Int;
        let mut after = self.rest().chars();
        if after.next() == Some('.') && after.next().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
            self.digits();
            kind = TokenKind::Decimal;
        }
        let rest = self.rest();
        let length = rest.find(|c| !continues_word(c)).unwrap_or(rest.len());
        if length == 0 {
            return kind;
        }
        let unit = &rest[..length];
        self.at += length;
        let known = matches!(unit, "ms" | "s" | "m" | "h" | "d");
        if known && kind == TokenKind::Int {
            return TokenKind::Duration;
        }
        if unit == "km" && kind == TokenKind::Int {
            return TokenKind::Length;
        }
        let span = self.span(start);
        let written = shorten(span.text(self.source));
        let (message, help) = if known {
            (
                format!("the duration `{written}` is not a whole number"),
                "write it in a smaller unit, such as `1500ms` for one and a half seconds".into(),
            )
        } else {
            (
                format!("`{written}` is neither a number nor a duration"),
                format!(
                    "`{}` is no unit; the units are `ms`, `s`, `m`, `h` and `d`, one in a duration",
                    shorten(unit)
                ),
            )
        };
        self.report("E0005", span, message, help);
        TokenKind::Duration
    }

    /// `1`, `1_000`: an underscore stands between two digits.
    fn digits(&mut self) {
        let bytes = self.source.as_bytes();
        let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        while digit(self.at) || bytes.get(self.at) == Some(&b'_') && digit(self.at + 1) {
            self.at += 1;
        }
    }

    fn text(&mut self) -> TokenKind {
        let start = self.at;
        self.at += 1;
        loop {
            let rest = self.rest();
            let Some(c) = rest.chars().next().filter(|c| *c != '\n') else {
                let span = self.span(start);
                self.report(
                    "E0001",
                    span,
                    "the text has no closing `\"` on its line".into(),
                    "close it with `\"`; a line break inside a text is written `\\n`".into(),
                );
                return TokenKind::Text;
            };
            match c {
                '"' => {
                    self.at += 1;
                    return TokenKind::Text;
                }
                '\\' => self.escape(rest),
                _ => self.at += c.len_utf8(),
            }
        }
    }

    fn escape(&mut self, rest: &str) {
        let start = self.at;
        match escape_at(rest) {
            Some((length, _)) => self.at += length,
            None => {
                let second = rest.chars().nth(1).filter(|c| *c != '\n');
                self.at += 1 + second.filter(|c| *c != '"').map_or(0, char::len_utf8);
                let written = self.span(start).text(self.source).to_string();
                self.report(
                    "E0002",
                    self.span(start),
                    format!("`{written}` is not an escape"),
                    "the escapes are `\\\"`, `\\\\`, `\\n`, `\\t` and `\\u{…}`".into(),
                );
            }
        }
    }

    fn single_quoted(&mut self) -> TokenKind {
        let start = self.at;
        let rest = self.rest();
        let inside = &rest[1..];
        let close = match inside.find(['\'', '\n']) {
            Some(close) if inside[close..].starts_with('\'') => close,
            _ => return self.unknown(),
        };
        self.at += close + 2;
        self.report(
            "E0006",
            self.span(start),
            "a text stands in double quotes".into(),
            format!("write `\"{}\"`", shorten(&inside[..close])),
        );
        TokenKind::Text
    }

    /// `# …` and `/* … */`: passed over as one piece, so that one mistake gives one message.
    fn foreign_comment(&mut self) -> TokenKind {
        let start = self.at;
        let rest = self.rest();
        let first_line = line_length(rest);
        self.at += match rest.strip_prefix("/*") {
            Some(inside) => inside.find("*/").map_or(rest.len(), |end| end + 4),
            None => first_line,
        };
        let span = Span::new(self.file, start as u32, (start + first_line) as u32);
        let span = if span.end as usize > self.at { self.span(start) } else { span };
        self.report(
            "E0009",
            span,
            "this is not how a comment is written".into(),
            "a comment begins with `//` and ends with its line".into(),
        );
        TokenKind::Unknown
    }

    /// A run of characters that the language does not use: one token, one diagnostic.
    fn unknown(&mut self) -> TokenKind {
        let start = self.at;
        let rest = self.rest();
        let mut length = 0;
        for (index, c) in rest.char_indices() {
            if index > 0 && used(c, &rest[index..]) {
                break;
            }
            length = index + c.len_utf8();
        }
        self.at += length;
        let written = shorten(&rest[..length]).escape_debug().to_string();
        let help = match rest.chars().next() {
            Some(';') => "statements and clauses need no separator; leave it out".to_string(),
            Some('“' | '”' | '„' | '‘' | '’' | '\'' | '`') => {
                "a text stands in plain double quotes: `\"…\"`".to_string()
            }
            Some('–' | '—' | '−') => "write `-`".to_string(),
            _ => "leave it out, or put it into a text: `\"…\"`".to_string(),
        };
        let message = format!("`{written}` has no meaning here");
        self.report("E0004", self.span(start), message, help);
        TokenKind::Unknown
    }
}

fn starts_word(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

fn continues_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Whether a run of unused characters ends before `c`, which begins `rest`.
fn used(c: char, rest: &str) -> bool {
    c.is_whitespace()
        || starts_word(c)
        || c.is_ascii_digit()
        || matches!(c, '"' | '\'' | '#')
        || foreign_operator(rest).is_some()
        || PUNCTUATION.iter().any(|(text, _)| rest.starts_with(text))
}

fn foreign_operator(rest: &str) -> Option<(&'static str, &'static str)> {
    FOREIGN.iter().copied().find(|(foreign, _)| rest.starts_with(foreign))
}

/// The bytes up to the end of the line, the line break not counted.
fn line_length(rest: &str) -> usize {
    let end = rest.find('\n').unwrap_or(rest.len());
    rest[..end].trim_end_matches('\r').len()
}

/// The user's own text in a message stays short.
pub(crate) fn shorten(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// The escape at the start of `rest`: how many bytes it takes and what it stands for.
fn escape_at(rest: &str) -> Option<(usize, char)> {
    let after = rest.strip_prefix('\\')?;
    let simple = match after.chars().next()? {
        '"' => '"',
        '\\' => '\\',
        'n' => '\n',
        't' => '\t',
        'u' => {
            let digits = after.strip_prefix("u{")?;
            let end = digits.char_indices().take(9).find(|(_, c)| *c == '}')?.0;
            let value = u32::from_str_radix(&digits[..end], 16).ok()?;
            return Some((4 + end, char::from_u32(value)?));
        }
        _ => return None,
    };
    Some((2, simple))
}

/// What a text token stands for: quotes removed, escapes replaced.
pub(crate) fn unescape(token: &str) -> String {
    let quote = token.chars().next().unwrap_or('"');
    let inside = token.strip_prefix(quote).unwrap_or(token);
    let mut value = String::with_capacity(inside.len());
    let mut at = 0;
    while let Some(c) = inside[at..].chars().next() {
        if c == quote {
            break;
        }
        match escape_at(&inside[at..]) {
            Some((length, c)) => {
                value.push(c);
                at += length;
            }
            None => {
                value.push(c);
                at += c.len_utf8();
            }
        }
    }
    value
}
