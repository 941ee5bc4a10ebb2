//! Where a verdict holds within bounds, the design says why the bound is enough, or what lies beyond.

/// The bounds that a verdict names and that are explained in no `check`: neither the design's own, nor that of
/// an archetype that it uses and that brought the bound with it.
pub fn missing(design: &str, used: &[&str], verdict: &str) -> Vec<String> {
    let cuts = verdict.lines().filter_map(|line| line.strip_prefix("cut "));
    cuts.flat_map(|line| line.split("; "))
        .filter(|bound| {
            !explained(design, bound) && !used.iter().any(|text| explained(text, bound))
        })
        .map(str::to_owned)
        .collect()
}

/// Does a comment in `check` stand right above the line of this bound, or name it?
fn explained(design: &str, bound: &str) -> bool {
    let Some(at) = design.find("\ncheck {") else { return false };
    let lines: Vec<&str> = design[at..].lines().map(str::trim).collect();
    let name = bound.split(':').next().unwrap_or(bound);
    // `Changes: 3 entries` is the setting `log: 3`
    let name = if bound.ends_with(" entries") { "log" } else { name };
    // `keys of Offset: 2` is the setting `offset: 0..1`
    let of_keys = name.strip_prefix("keys of ").map(str::to_lowercase);
    let name = of_keys.as_deref().unwrap_or(name);
    let own = name.rsplit('.').next().unwrap_or(name);
    let comment = |line: &&str| line.starts_with("//");
    let above = |at: usize| at > 0 && comment(&lines[at - 1]);
    let set = lines.iter().enumerate().any(|(at, line)| {
        line.strip_prefix(name).is_some_and(|rest| rest.starts_with(':')) && above(at)
    });
    let mut words = lines.iter().filter(|line| comment(line)).flat_map(|line| line.split(' '));
    set || words.any(|word| word.trim_matches([',', '.', ':']) == own)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DESIGN: &str = "design D\n// messages are nice\ncheck {\n    a: 1\n    // why\n    S.n: 0..2\n    \
                          S.m: 0..2\n    // up to most 4\n    messages: 2\n    log: 3\n}\n";

    #[test]
    fn a_bound_has_a_comment_above_it_or_one_that_names_it() {
        let none: [&str; 0] = [];
        assert_eq!(missing(DESIGN, &[], "cut S.n: 0..2; messages: 2\n"), none);
        assert_eq!(missing(DESIGN, &[], "cut S.most: 0..4\n"), none);
        assert_eq!(missing(DESIGN, &[], "states 3\n"), none);
    }

    #[test]
    fn a_bound_without_a_reason_is_named() {
        assert_eq!(missing(DESIGN, &[], "cut S.n: 0..2; S.m: 0..2\n"), ["S.m: 0..2"]);
        assert_eq!(missing(DESIGN, &[], "cut Moves: 3 entries\n"), ["Moves: 3 entries"]);
    }

    #[test]
    fn keys_are_explained_where_their_part_is_set() {
        let none: [&str; 0] = [];
        let text = DESIGN.replace("S.n: 0..2", "offset: 0..1");
        assert_eq!(missing(&text, &[], "cut keys of Offset: 2\n"), none);
        assert_eq!(missing(DESIGN, &[], "cut keys of Offset: 2\n"), ["keys of Offset: 2"]);
    }

    #[test]
    fn what_is_used_explains_the_bounds_that_it_brings() {
        let used = "archetype U\ncheck {\n    // why\n    log: 3\n}\n";
        let none: [&str; 0] = [];
        assert_eq!(missing(DESIGN, &[used], "cut Moves: 3 entries\n"), none);
        assert_eq!(missing(DESIGN, &[used], "cut S.m: 0..2\n"), ["S.m: 0..2"]);
    }
}
