//! How a text is cut into tokens.

use syntax::{FileId, TokenKind, lex};

/// Each token as `Kind:text`, and the codes of the messages.
fn cut(text: &str) -> (String, Vec<&'static str>) {
    let (tokens, diagnostics) = lex(text, FileId(0));
    let shown: Vec<String> = tokens
        .iter()
        .filter(|token| token.kind != TokenKind::End)
        .map(|token| format!("{:?}:{}", token.kind, token.span.text(text)))
        .collect();
    (shown.join(" "), diagnostics.iter().map(|d| d.code).collect())
}

#[test]
fn clean_texts() {
    for (text, tokens) in [
        ("", ""),
        ("\u{feff}a_1 Z", "Word:a_1 Word:Z"),
        ("1 1_000 1.50 1..3", "Int:1 Int:1_000 Decimal:1.50 Int:1 DotDot:.. Int:3"),
        (
            "10m 100ms 1_000s 2h 7d",
            "Duration:10m Duration:100ms Duration:1_000s Duration:2h Duration:7d",
        ),
        ("a.b x.0", "Word:a Dot:. Word:b Word:x Dot:. Int:0"),
        ("\"a \\\"b\\\" {x}\"c", "Text:\"a \\\"b\\\" {x}\" Word:c"),
        ("a // b \"c\r\n//d", "Word:a Comment:// b \"c Comment://d"),
        (
            "|->|=>=:=:<=<",
            "BranchArrow:|-> Pipe:| FatArrow:=> Equal:= Assign::= Colon:: LessEqual:<= Less:<",
        ),
        ("a-b -= ->", "Word:a Minus:- Word:b MinusAssign:-= Arrow:->"),
        ("!=", "NotEqual:!="),
    ] {
        assert_eq!(cut(text), (tokens.to_string(), vec![]), "{text:?}");
    }
}

#[test]
fn texts_with_something_to_say() {
    for (text, tokens, codes) in [
        ("a;;@b", "Word:a Unknown:;;@ Word:b", &["E0004"][..]),
        ("\"a\nb", "Text:\"a Word:b", &["E0001"]),
        ("\"a\\", "Text:\"a\\", &["E0002", "E0001"]),
        ("\"\\u{d800}\\x\"", "Text:\"\\u{d800}\\x\"", &["E0002", "E0002"]),
        ("größe", "Word:größe", &["E0003"]),
        ("3x 1h30m 1.5s 1_", "Duration:3x Duration:1h30m Duration:1.5s Duration:1_", &["E0005"; 4]),
        ("'a' don't", "Text:'a' Word:don Unknown:' Word:t", &["E0006", "E0004"]),
        ("a == b<>c", "Word:a Unknown:== Word:b Unknown:<> Word:c", &["E0007", "E0007"]),
        (
            "a # b\nc /* d\ne */ f",
            "Word:a Unknown:# b Word:c Unknown:/* d\ne */ Word:f",
            &["E0009", "E0009"],
        ),
        ("/* never closed", "Unknown:/* never closed", &["E0009"]),
    ] {
        assert_eq!(cut(text), (tokens.to_string(), codes.to_vec()), "{text:?}");
    }
}

#[test]
fn line_breaks_are_counted_before_each_token() {
    let (tokens, _) = lex("a\n\nb c // d\n\n\ne\n", FileId(0));
    let counted: Vec<u32> = tokens.iter().map(|token| token.newlines_before).collect();
    assert_eq!(counted, [0, 2, 0, 0, 3, 1]);
}

#[test]
fn a_long_run_of_anything_is_cut_in_linear_time() {
    // quadratic work on these would take minutes
    for piece in [
        "'", "' ", "\"", "\\", "#", "/*", "/*\n", "!", "&", "é", "1", "1_", "a", "\"\\u{", "\r",
        "→",
    ] {
        let text = piece.repeat(200_000 / piece.len());
        let (tokens, _) = lex(&text, FileId(0));
        assert_eq!(tokens.last().map(|token| token.kind), Some(TokenKind::End), "{piece:?}");
    }
}
