//! "Did you mean".

/// The candidate nearest to `word`, if one is near enough to be meant.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = match word.chars().count() {
        0..=1 => 0,
        2 => 1,
        3..=5 => 2,
        _ => 3,
    };
    candidates
        .into_iter()
        .filter(|candidate| *candidate != word)
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Edits (insert, delete, replace, swap of neighbours) between two words; case counts little.
fn distance(a: &str, b: &str) -> usize {
    if a.eq_ignore_ascii_case(b) {
        return 0;
    }
    let a: Vec<char> = a.chars().take(64).collect();
    let b: Vec<char> = b.chars().take(64).collect();
    let width = b.len() + 1;
    let mut table = vec![0; (a.len() + 1) * width];
    for (j, cell) in table.iter_mut().enumerate().take(width) {
        *cell = j;
    }
    for i in 1..=a.len() {
        table[i * width] = i;
        for j in 1..=b.len() {
            let same = usize::from(!a[i - 1].eq_ignore_ascii_case(&b[j - 1]));
            let mut best = (table[(i - 1) * width + j] + 1)
                .min(table[i * width + j - 1] + 1)
                .min(table[(i - 1) * width + j - 1] + same);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(table[(i - 2) * width + j - 2] + 1);
            }
            table[i * width + j] = best;
        }
    }
    table[a.len() * width + b.len()]
}

/// `did you mean `x`?`, or nothing.
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(word, candidates).map(|candidate| format!("did you mean `{candidate}`?"))
}

/// What there is instead of `word`: the name that was meant, if one is near; or all of them.
pub fn instead<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = candidates.into_iter().collect();
    match did_you_mean(word, known.iter().copied()) {
        Some(near) => near,
        None if known.is_empty() => "there is none".into(),
        None => format!("there is {}", list(&known)),
    }
}

/// `a`, `b` and `c`, shortened when there are many.
pub fn list<S: AsRef<str>>(words: &[S]) -> String {
    const MOST: usize = 8;
    let mut shown: Vec<String> =
        words.iter().take(MOST).map(|word| format!("`{}`", word.as_ref())).collect();
    if words.len() > MOST {
        shown.push(format!("{} more", words.len() - MOST));
    }
    match shown.len() {
        0 => "none".into(),
        1 => shown.remove(0),
        _ => {
            let last = shown.pop().unwrap_or_default();
            format!("{} and {last}", shown.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_word_that_was_meant() {
        let words = ["ClaimState", "LeaseState", "OwnerEpoch"];
        assert_eq!(nearest("ClaimSate", words), Some("ClaimState"));
        assert_eq!(nearest("ownerepoch", words), Some("OwnerEpoch"));
        assert_eq!(nearest("Nothing", words), None);
        assert_eq!(nearest("fre", ["free", "fred"]), Some("fred"));
        assert_eq!(nearest("rseource", ["resource"]), Some("resource"));
    }

    #[test]
    fn says_what_there_is_instead() {
        assert_eq!(instead("holdd", ["hold", "confirm"]), "did you mean `hold`?");
        assert_eq!(instead("x", ["hold", "confirm"]), "there is `hold` and `confirm`");
        assert_eq!(instead("x", []), "there is none");
    }

    #[test]
    fn lists_read_well() {
        assert_eq!(list::<&str>(&[]), "none");
        assert_eq!(list(&["a"]), "`a`");
        assert_eq!(list(&["a", "b", "c"]), "`a`, `b` and `c`");
    }
}
