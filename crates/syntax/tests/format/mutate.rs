//! Spoils a source at random, from a seed.

use syntax::{FileId, TokenKind, lex};

/// A small generator of numbers (splitmix64): the same seed, the same numbers.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// One change, at a place given as a fraction of the source's tokens.
#[derive(Clone, Copy, Debug)]
pub struct Mutation {
    pub kind: Kind,
    pub place: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// a comment at the end of the line
    Trailing,
    /// a comment on its own line
    OwnLine,
    Wide,
    Tight,
    Newline,
    BlankLines,
    CarriageReturn,
    /// no line break where there is one
    Join,
    Delete,
    Double,
    Swap,
    Garbage,
}

/// What leaves the tokens alone.
pub const BLANKS: &[Kind] = &[Kind::Wide, Kind::Tight];
pub const LINES: &[Kind] = &[
    Kind::Trailing,
    Kind::OwnLine,
    Kind::Wide,
    Kind::Wide,
    Kind::Tight,
    Kind::Newline,
    Kind::BlankLines,
    Kind::CarriageReturn,
    Kind::Join,
];
pub const ERRORS: &[Kind] = &[
    Kind::Delete,
    Kind::Double,
    Kind::Swap,
    Kind::Garbage,
    Kind::Trailing,
    Kind::OwnLine,
    Kind::Newline,
    Kind::Join,
    Kind::Wide,
];

pub fn some(random: &mut Random, kinds: &[Kind], most: usize) -> Vec<Mutation> {
    let count = 1 + random.below(most);
    let one = |random: &mut Random| {
        let kind = kinds[random.below(kinds.len())];
        Mutation { kind, place: random.next() }
    };
    (0..count).map(|_| one(random)).collect()
}

/// A token and what stands before it.
struct Piece {
    before: String,
    text: String,
    comment: bool,
}

pub fn apply(source: &str, mutations: &[Mutation]) -> String {
    let (tokens, _) = lex(source, FileId(0));
    let mut end = 0;
    let mut pieces: Vec<Piece> = Vec::new();
    for token in &tokens {
        let span = token.span;
        pieces.push(Piece {
            before: source[end..span.start as usize].to_string(),
            text: span.text(source).to_string(),
            comment: token.kind == TokenKind::Comment,
        });
        end = span.end as usize;
    }
    for (number, mutation) in mutations.iter().enumerate() {
        mutate(&mut pieces, mutation, number);
    }
    let mut out = String::new();
    for (index, piece) in pieces.iter().enumerate() {
        let after_comment = index > 0 && pieces[index - 1].comment;
        if after_comment && !piece.before.contains('\n') {
            out.push('\n');
        }
        out.push_str(&piece.before);
        out.push_str(&piece.text);
    }
    out
}

fn mutate(pieces: &mut Vec<Piece>, mutation: &Mutation, number: usize) {
    let at = (mutation.place % pieces.len() as u64) as usize;
    let other = (mutation.place / 7 % pieces.len() as u64) as usize;
    let comment = |before: &str| Piece {
        before: before.to_string(),
        text: format!("// {number} {}", ["why", "", "a  b   c", "// {"][number % 4]),
        comment: true,
    };
    match mutation.kind {
        Kind::Trailing => pieces.insert(at, comment(" ")),
        Kind::OwnLine => pieces.insert(at, comment("\n  ")),
        Kind::Wide => pieces[at].before.push_str("   "),
        Kind::Tight => {
            let joins = |c: char| c.is_alphanumeric() || "_\"/|-:=<>!.+".contains(c);
            let last = at.checked_sub(1).and_then(|before| pieces[before].text.chars().last());
            let first = pieces[at].text.chars().next();
            let apart = last.is_some_and(joins) && first.is_some_and(joins);
            if !apart && !pieces[at].before.contains('\n') {
                pieces[at].before.clear();
            }
        }
        Kind::Newline => pieces[at].before.push('\n'),
        Kind::BlankLines => pieces[at].before.push_str("\n\n \n"),
        Kind::CarriageReturn => pieces[at].before.push_str(" \t\r\n"),
        Kind::Join => pieces[at].before = " ".to_string(),
        Kind::Delete => {
            if pieces.len() > 1 {
                pieces.remove(at);
            }
        }
        Kind::Double => {
            let Piece { text, comment, .. } = &pieces[at];
            let (text, comment) = (text.clone(), *comment);
            pieces.insert(at, Piece { before: " ".to_string(), text, comment });
        }
        Kind::Swap => pieces.swap(at, other),
        Kind::Garbage => {
            let text = ["}", "{", ")", "]", "step", "\"open", "§", "/* x", ",", "#"][other % 10];
            let piece = Piece { before: " ".into(), text: text.into(), comment: text == "\"open" };
            pieces.insert(at, piece);
        }
    }
}
