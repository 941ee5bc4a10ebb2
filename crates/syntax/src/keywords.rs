//! The words that have a role somewhere in the language.

/// Every word that the parser looks for, in order. None of them is reserved everywhere: a word is a keyword by its place,
/// and an actor may be called `repair`. Editors colour them.
pub const KEYWORDS: &[&str] = &[
    "above",
    "absent",
    "actor",
    "after",
    "again",
    "all",
    "also",
    "and",
    "answer",
    "any",
    "apart",
    "append",
    "archetype",
    "as",
    "asc",
    "assignment",
    "at",
    "at_least",
    "avg",
    "batch",
    "because",
    "blob",
    "body",
    "breaks",
    "by",
    "cache",
    "call",
    "caller",
    "check",
    "compiler",
    "continues",
    "convert",
    "count",
    "crash",
    "decorates",
    "default",
    "defence",
    "define",
    "delete",
    "deliver",
    "depth",
    "desc",
    "design",
    "down",
    "each",
    "effect",
    "else",
    "emit",
    "ephemeral",
    "every",
    "expect",
    "failure",
    "false",
    "family",
    "first",
    "for",
    "from",
    "gives",
    "goal",
    "half_even",
    "half_up",
    "hide",
    "hotspot",
    "if",
    "implies",
    "in",
    "included",
    "input",
    "instead",
    "into",
    "invariant",
    "is",
    "keep",
    "key",
    "keyed",
    "leads_to",
    "let",
    "limit",
    "list",
    "log",
    "lose",
    "map",
    "max",
    "me",
    "measured",
    "min",
    "mismatch",
    "mitigate",
    "money",
    "near",
    "new",
    "not",
    "nothing",
    "now",
    "null",
    "of",
    "ok",
    "old",
    "on",
    "or",
    "order",
    "outbox",
    "output",
    "over",
    "ownership",
    "paged",
    "per",
    "present",
    "protocol",
    "rank",
    "read",
    "recovers",
    "refused",
    "rename",
    "repair",
    "retain",
    "round",
    "search",
    "send",
    "set",
    "sign",
    "step",
    "subject",
    "sum",
    "test",
    "then",
    "to",
    "top",
    "true",
    "trust",
    "truth",
    "ttl",
    "twice",
    "unanswered",
    "unknown",
    "up",
    "use",
    "verified",
    "view",
    "visible",
    "volatile",
    "where",
    "window",
    "with",
    "within",
    "without",
];

#[cfg(test)]
mod tests {
    use super::KEYWORDS;

    /// Units of durations and lengths, which stand at a number.
    const UNITS: [&str; 6] = ["d", "h", "km", "m", "ms", "s"];

    /// What stands in quotes in the parser and is a plain word.
    fn quoted(source: &str) -> impl Iterator<Item = &str> {
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let parts = lines.flat_map(|line| line.split('"').skip(1).step_by(2));
        parts.filter(|word| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '_')
        })
    }

    #[test]
    fn every_word_that_the_parser_knows_is_a_keyword() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/parser");
        let mut found: Vec<String> = Vec::new();
        for file in std::fs::read_dir(folder).unwrap() {
            let source = std::fs::read_to_string(file.unwrap().path()).unwrap();
            found.extend(quoted(&source).map(str::to_string));
        }
        found.sort();
        found.dedup();
        found.retain(|word| !UNITS.contains(&word.as_str()));
        assert_eq!(found, KEYWORDS);
    }
}
