//! What formatting must not change.

use syntax::{FileId, TokenKind, format, lex, parse};

/// The tree as text, without spans.
pub fn tree(source: &str) -> String {
    without_spans(&format!("{:?}", parse(source, FileId(0)).tree.items))
}

/// Drops every `12..34` that does not stand in a text.
fn without_spans(dump: &str) -> String {
    let mut out = String::with_capacity(dump.len());
    let mut rest = dump;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '"' => quoted(rest),
            '0'..='9' => {
                let digits =
                    |text: &str| text.len() - text.trim_start_matches(char::is_numeric).len();
                let first = digits(rest);
                if let Some(after) = rest[first..].strip_prefix("..") {
                    rest = &after[digits(after)..];
                    continue;
                }
                first
            }
            _ => c.len_utf8(),
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out
}

/// How long the quoted text at the start is.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (index, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return index + 1,
            _ => {}
        }
    }
    text.len()
}

/// Every token that is neither a comment nor a comma.
pub fn tokens(source: &str) -> Vec<String> {
    let dropped = |kind| matches!(kind, TokenKind::Comment | TokenKind::Comma | TokenKind::End);
    let (tokens, _) = lex(source, FileId(0));
    let kept = tokens.iter().filter(|token| !dropped(token.kind));
    // a foreign comment is one token of several lines
    kept.map(|token| token.span.text(source).replace("\r\n", "\n")).collect()
}

/// Every comment, in order of its text.
pub fn comments(source: &str) -> Vec<String> {
    let (tokens, _) = lex(source, FileId(0));
    let comments = tokens.iter().filter(|token| token.kind == TokenKind::Comment);
    let mut texts: Vec<String> =
        comments.map(|token| token.span.text(source).trim_end().to_string()).collect();
    texts.sort();
    texts
}

/// Formats a source and holds the result against all that formatting promises, whatever the source.
pub fn checked(source: &str) -> Result<String, String> {
    let formatted = format(source);
    let text = formatted.text;
    let fail =
        |what: &str| Err(format!("{what}\n--- source\n{source}\n--- formatted\n{text}\n---"));
    if comments(source) != comments(&text) {
        return fail("the comments differ");
    }
    if tokens(source) != tokens(&text) {
        return fail("the tokens differ");
    }
    if tree(source) != tree(&text) {
        return fail("the trees differ");
    }
    let again = format(&text).text;
    if again != text {
        return fail(&format!("formatted once more it changes:\n{again}"));
    }
    if formatted.diagnostics.is_empty() {
        if let Some(line) = text.lines().find(|line| !tidy(line)) {
            return fail(&format!("not laid out: {line}"));
        }
        if text.contains('\r') || text.contains("\n\n\n") || text.ends_with("\n\n") {
            return fail("blank lines or line ends are left over");
        }
        if !text.is_empty() && !text.ends_with('\n') {
            return fail("the last line does not end");
        }
    }
    Ok(text)
}

/// No tab, no blank at the end, and nowhere more than two blanks after the indentation.
fn tidy(line: &str) -> bool {
    let (code, comment) = line.split_at(line.find("//").unwrap_or(line.len()));
    let blanks = code.trim_start_matches(' ').trim_end_matches(' ').contains("   ");
    !(blanks || code.contains('\t') || line.ends_with(' ') && comment.is_empty())
}
