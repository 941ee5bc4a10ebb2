//! Pieces of TLA+, put together with as few parentheses as can be.

/// How tightly an expression holds together, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Tight {
    /// `\A …`, `IF …`, `LET …`
    Open,
    Or,
    And,
    Not,
    Compare,
    Sum,
    Product,
    Whole,
}

/// An expression, with what must hold for it to have a value at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Term {
    pub text: String,
    tight: Tight,
    /// in the order in which they are met
    pub needs: Vec<String>,
    /// can it be `Null`?
    pub nullable: bool,
}

impl Term {
    pub fn new(text: impl Into<String>, tight: Tight) -> Term {
        Term { text: text.into(), tight, needs: Vec::new(), nullable: false }
    }

    pub fn whole(text: impl Into<String>) -> Term {
        Term::new(text, Tight::Whole)
    }

    pub fn needing(mut self, needs: Vec<String>) -> Term {
        self.needs = needs;
        self
    }

    pub fn nullable(mut self, nullable: bool) -> Term {
        self.nullable = nullable;
        self
    }

    /// As part of something that holds together this tightly.
    pub fn within(&self, tight: Tight) -> String {
        if self.tight >= tight && self.tight != Tight::Open {
            self.text.clone()
        } else {
            format!("({})", self.text)
        }
    }

    /// Where nothing stands beside it.
    pub fn alone(&self) -> String {
        self.text.clone()
    }

    pub fn is(&self, text: &str) -> bool {
        self.text == text
    }

    /// That it has a value, and (it is a condition) holds.
    pub fn holds(&self) -> String {
        if self.needs.is_empty() {
            return self.text.clone();
        }
        let mut all: Vec<String> = self.needs.iter().map(|need| in_junction(need)).collect();
        if !self.is("TRUE") || all.is_empty() {
            all.push(self.within(Tight::Not));
        }
        all.join(" /\\ ")
    }
}

/// Parentheses, unless the text is a single name or application, or has its own.
pub(super) fn in_junction(text: &str) -> String {
    let loose = ["/\\", "\\/", "=>", "\\A", "\\E", "IF ", "LET "];
    if loose.iter().any(|word| text.contains(word)) && !enclosed(text) {
        format!("({text})")
    } else {
        text.to_owned()
    }
}

/// Does its first parenthesis close at its very end?
fn enclosed(text: &str) -> bool {
    if !text.starts_with('(') {
        return false;
    }
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1 == text.len();
        }
    }
    false
}

pub(super) fn and(parts: &[String]) -> String {
    match parts {
        [] => "TRUE".into(),
        [one] => one.clone(),
        all => all.iter().map(|part| in_junction(part)).collect::<Vec<_>>().join(" /\\ "),
    }
}

pub(super) fn or(parts: &[String]) -> String {
    match parts {
        [] => "FALSE".into(),
        [one] => one.clone(),
        all => all.iter().map(|part| in_junction(part)).collect::<Vec<_>>().join(" \\/ "),
    }
}

/// `if` holds only where `condition` does.
pub(super) fn implies(condition: &str, then: &str) -> String {
    format!("({} => {})", in_junction(condition), in_junction(then))
}

pub(super) fn tuple(parts: &[String]) -> String {
    format!("<<{}>>", parts.join(", "))
}

pub(super) fn set(parts: &[String]) -> String {
    format!("{{{}}}", parts.join(", "))
}

pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            // TLC reads plain ASCII
            letter if letter.is_ascii() && !letter.is_ascii_control() => out.push(letter),
            letter => out.push_str(&format!("u{:04x}", u32::from(letter))),
        }
    }
    out.push('"');
    out
}

/// How often `name` stands in a text as a word of its own.
pub(super) fn occurrences(text: &str, name: &str) -> usize {
    let inside = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.match_indices(name)
        .filter(|(at, _)| {
            let before = text[..*at].chars().next_back();
            let after = text[at + name.len()..].chars().next();
            !before.is_some_and(inside) && !after.is_some_and(inside)
        })
        .count()
}

/// A conjunction or disjunction with one part on each line. What follows the first line of a part is
/// moved as far as the part.
pub(super) fn junction(word: &str, indent: usize, parts: &[String]) -> String {
    let margin = " ".repeat(indent);
    let inner = " ".repeat(indent + word.len() + 1);
    parts
        .iter()
        .map(|part| {
            let part = part.replace('\n', &format!("\n{inner}"));
            format!("{margin}{word} {part}")
        })
        .collect::<Vec<_>>()
        .join("\n")
}
