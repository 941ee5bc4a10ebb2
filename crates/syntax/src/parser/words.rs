//! Words that have a role in some place.

/// Words that begin an item.
pub(super) const ITEM_WORDS: &[&str] = &[
    "design",
    "archetype",
    "family",
    "ownership",
    "trust",
    "input",
    "output",
    "decorates",
    "use",
    "from",
    "actor",
    "subject",
    "blob",
    "define",
    "step",
    "repair",
    "effect",
    "on",
    "read",
    "view",
    "protocol",
    "invariant",
    "recovers",
    "leads_to",
    "failure",
    "defence",
    "hotspot",
    "check",
    "test",
];

/// Words that begin a state.
pub(super) const STATE_WORDS: &[&str] = &["truth", "volatile", "log", "cache", "ephemeral"];

/// Words that stand between or after operands, and so begin no operand.
pub(super) const OPERATOR_WORDS: &[&str] =
    &["and", "or", "implies", "in", "then", "else", "where", "of", "present", "absent"];

/// Operator words that cannot be the name of something in an expression.
pub(super) const RESERVED: &[&str] = &[
    "and", "or", "implies", "in", "then", "else", "where", "of", "true", "false", "null", "now",
    "me", "old", "not", "if", "let",
];
