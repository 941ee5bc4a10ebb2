//! Rust source without its comments, so that a word in a comment is not taken for a use of it.

/// What a stretch of source is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Piece {
    Comment,
    /// A string or a character, with its quotes.
    Quoted,
    Code,
}

/// Replaces every comment by blanks and keeps everything else, line by line, where it was.
pub fn without_comments(source: &str) -> String {
    keeping(source, |piece| piece != Piece::Comment)
}

/// The same, with strings and characters replaced by blanks too.
pub fn without_comments_and_strings(source: &str) -> String {
    keeping(source, |piece| piece == Piece::Code)
}

fn keeping(source: &str, keep: impl Fn(Piece) -> bool) -> String {
    let bytes = source.as_bytes();
    let mut kept = String::with_capacity(source.len());
    let mut at = 0;
    while at < bytes.len() {
        let rest = &source[at..];
        let (length, piece) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), Piece::Comment)
        } else if rest.starts_with("/*") {
            (block_comment(rest), Piece::Comment)
        } else if let Some(length) = raw_string(source, at) {
            (length, Piece::Quoted)
        } else if rest.starts_with('"') {
            (string(rest), Piece::Quoted)
        } else if let Some(length) = character(rest) {
            (length, Piece::Quoted)
        } else {
            (rest.chars().next().map_or(1, char::len_utf8), Piece::Code)
        };
        let text = &rest[..length];
        if keep(piece) {
            kept.push_str(text);
        } else {
            kept.extend(text.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        }
        at += length;
    }
    kept
}

/// The length of a block comment; they nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if text[at..].starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The length of a string in quotes, with its escapes.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

/// The length of `r"…"` or `r#"…"#`, unless the `r` ends a longer word.
fn raw_string(source: &str, at: usize) -> Option<usize> {
    let text = &source[at..];
    let after = text.strip_prefix('r')?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let before = source[..at].chars().next_back();
    if !after[hashes..].starts_with('"') || before.is_some_and(|c| c != 'b' && c.is_alphanumeric())
    {
        return None;
    }
    let close = format!("\"{}", "#".repeat(hashes));
    let body = 1 + hashes + 1;
    Some(text[body..].find(&close).map_or(text.len(), |end| body + end + close.len()))
}

/// The length of a character in quotes; a lifetime is none.
fn character(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('\'')?;
    let mut chars = inner.char_indices();
    let (_, first) = chars.next()?;
    if first == '\\' {
        let (_, escaped) = chars.next()?;
        let from = 1 + escaped.len_utf8();
        return inner[from..].find('\'').map(|end| 1 + from + end + 1);
    }
    let (end, close) = chars.next()?;
    (close == '\'').then_some(1 + end + 1)
}

#[cfg(test)]
mod tests {
    use super::{without_comments, without_comments_and_strings};

    fn check(source: &str, expected: &str) {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(&without_comments(source)), expected);
        assert_eq!(without_comments(source).lines().count(), source.lines().count());
    }

    #[test]
    fn comments_go_and_code_stays() {
        check("a // b\nc", "a c");
        check("a /* b /* c */ d */ e", "a e");
        check("/// doc\nfn f() {}", "fn f() {}");
        check("a /* never closed", "a");
    }

    #[test]
    fn a_comment_inside_a_string_is_no_comment() {
        check(r#"x = "a // b"; // c"#, r#"x = "a // b";"#);
        check(r#"x = "\" // b"; // c"#, r#"x = "\" // b";"#);
        check("x = r#\"a \" // b\"#; // c", "x = r#\"a \" // b\"#;");
        check(r#"'"' // b"#, r#"'"'"#);
        check(r"'\'' // b", r"'\''");
    }

    #[test]
    fn strings_go_where_only_code_is_wanted() {
        let code = without_comments_and_strings("a(\"use b\", '\"'); // c\nr#\"d\"#.e()");
        assert_eq!(code.split_whitespace().collect::<Vec<_>>(), ["a(", ",", ");", ".e()"]);
    }

    #[test]
    fn a_lifetime_is_no_character() {
        check("fn f<'a>(x: &'a str) {} // b", "fn f<'a>(x: &'a str) {}");
    }

    #[test]
    fn text_beyond_ascii_is_kept() {
        check("\"é→\" // ü\n'→'", "\"é→\" '→'");
    }
}
