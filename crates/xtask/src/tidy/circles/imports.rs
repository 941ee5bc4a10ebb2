//! What one Rust file declares and imports, read from its tokens.

use crate::tidy::code_text::without_comments_and_strings;

/// One name of a `use`, written out.
#[derive(Debug, PartialEq, Eq)]
pub struct Import {
    /// The modules inside the file that the `use` stands in, outermost first.
    pub inside: Vec<String>,
    /// Its segments; the last may be `*`.
    pub path: Vec<String>,
    /// `pub use`: others may import it from here.
    pub exported: bool,
}

#[derive(Debug, Default)]
pub struct Imports {
    /// `mod name;`: the names of the files below.
    pub declared: Vec<String>,
    pub imports: Vec<Import>,
}

pub fn read(source: &str) -> Imports {
    let code = without_comments_and_strings(source);
    let tokens = tokens(&code);
    let mut reader = Reader { tokens: &tokens, at: 0 };
    let mut found = Imports::default();
    reader.items(&mut Vec::new(), &mut found);
    found
}

/// Words, `::`, and every other mark by itself.
fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while !rest.is_empty() {
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let length = match word {
            0 if rest.starts_with("::") => 2,
            0 => rest.chars().next().map_or(1, char::len_utf8),
            word => word,
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

const ONLY_IN_TESTS: &[&str] = &["#", "[", "cfg", "(", "test", ")", "]"];

struct Reader<'a> {
    tokens: &'a [&'a str],
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self, ahead: usize) -> &'a str {
        self.tokens.get(self.at + ahead).copied().unwrap_or_default()
    }

    /// Up to the brace that closes the module, or the end. Other braces are only counted: a `use`
    /// inside a function is an import of the file too.
    fn items(&mut self, inside: &mut Vec<String>, found: &mut Imports) {
        let mut depth = 0;
        while self.at < self.tokens.len() {
            if self.tokens[self.at..].starts_with(ONLY_IN_TESTS) {
                self.at += ONLY_IN_TESTS.len();
                self.skip_item();
                continue;
            }
            match (self.peek(0), self.peek(2)) {
                ("mod", ";") => {
                    if inside.is_empty() {
                        found.declared.push(self.peek(1).to_owned());
                    }
                    self.at += 3;
                }
                ("mod", "{") => {
                    inside.push(self.peek(1).to_owned());
                    self.at += 3;
                    self.items(inside, found);
                    inside.pop();
                }
                // `impl Iterator + use<'_>` says what is captured
                ("use", _) if self.peek(1) != "<" => {
                    let exported = self.is_exported();
                    self.at += 1;
                    self.tree(&mut Vec::new(), &mut |path| {
                        found.imports.push(Import { inside: inside.clone(), path, exported });
                    });
                }
                (mark, _) => {
                    self.at += 1;
                    match mark {
                        "{" => depth += 1,
                        "}" if depth == 0 => return,
                        "}" => depth -= 1,
                        _ => {}
                    }
                }
            }
        }
    }

    /// Whether `pub` or `pub(…)` stands before this token.
    fn is_exported(&self) -> bool {
        let before = &self.tokens[..self.at];
        match before.last() {
            Some(&"pub") => true,
            Some(&")") => {
                let open = before.iter().rposition(|token| *token == "(");
                open.is_some_and(|open| open > 0 && before[open - 1] == "pub")
            }
            _ => false,
        }
    }

    /// An item with its attributes: up to a `;`, or the end of its braces.
    fn skip_item(&mut self) {
        let mut depth = 0_usize;
        while self.at < self.tokens.len() {
            let token = self.peek(0);
            self.at += 1;
            match token {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 && token == "}" {
                        return;
                    }
                }
                ";" if depth == 0 => return,
                _ => {}
            }
        }
    }

    /// One tree of a `use`; tells every path in it.
    fn tree(&mut self, prefix: &mut Vec<String>, tell: &mut dyn FnMut(Vec<String>)) {
        let length = prefix.len();
        let mut group = false;
        while self.at < self.tokens.len() {
            match self.peek(0) {
                "{" => {
                    group = true;
                    self.at += 1;
                    while self.at < self.tokens.len() && !matches!(self.peek(0), "}" | ";") {
                        self.tree(prefix, tell);
                        if self.peek(0) == "," {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                }
                "as" => self.at += 2,
                "," | "}" | ";" => break,
                "::" => self.at += 1,
                segment => {
                    prefix.push(segment.to_owned());
                    self.at += 1;
                }
            }
        }
        if !group && prefix.len() > length {
            tell(prefix.clone());
        }
        prefix.truncate(length);
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    fn paths(source: &str) -> Vec<String> {
        read(source).imports.iter().map(|import| import.path.join("::")).collect()
    }

    #[test]
    fn a_group_is_written_out() {
        let source = "use crate::{a::{self, B as C}, d::*, E};\nuse super::f;";
        assert_eq!(
            paths(source),
            ["crate::a::self", "crate::a::B", "crate::d::*", "crate::E", "super::f"]
        );
    }

    #[test]
    fn a_use_inside_a_function_counts_and_one_in_a_string_or_comment_does_not() {
        let source =
            "fn f() { if x { use super::a; } }\n// use super::b;\nlet s = \"use super::c;\";";
        assert_eq!(paths(source), ["super::a"]);
    }

    #[test]
    fn what_is_captured_is_no_import() {
        let source =
            "fn f(x: &X) -> impl Iterator<Item = u8> + use<'_> { g(); h() }\nuse super::a;";
        assert_eq!(paths(source), ["super::a"]);
        assert_eq!(paths("use a::{b; c};"), ["a::b"], "what is not Rust ends, too");
    }

    #[test]
    fn what_only_tests_need_is_left_out() {
        let source = "#[cfg(test)]\nmod tests { use super::*; fn f() {} }\n\
                      #[cfg(test)]\nuse super::a;\n#[cfg(test)]\n#[path = \"x.rs\"]\nmod x;\n\
                      use super::b;";
        assert_eq!(paths(source), ["super::b"]);
        assert!(read(source).declared.is_empty());
    }

    #[test]
    fn a_module_inside_the_file_is_remembered() {
        let found = read("mod a { mod b { use super::c; } }\nmod d;\nuse self::d::E;");
        assert_eq!(found.declared, ["d"]);
        assert_eq!(found.imports[0].inside, ["a", "b"]);
        assert!(found.imports[1].inside.is_empty());
    }

    #[test]
    fn a_re_export_is_told_from_an_import() {
        let source = "pub use a::A;\npub(crate) use b::B;\nfn f(x: u8) {}\nuse c::C;";
        let exported: Vec<bool> = read(source).imports.iter().map(|i| i.exported).collect();
        assert_eq!(exported, [true, true, false]);
    }
}
