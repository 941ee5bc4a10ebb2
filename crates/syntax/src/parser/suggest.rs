//! "Did you mean …?"

/// The candidate nearest to what was written, if it is near enough to be meant.
pub(super) fn nearest<'c>(written: &str, candidates: &[&'c str]) -> Option<&'c str> {
    const LONGEST: usize = 32;
    if written.len() > LONGEST {
        return None;
    }
    let allowed = match written.len() {
        0..=2 => 0,
        3..=5 => 1,
        _ => 2,
    };
    let distances = candidates.iter().map(|c| (distance(written, c), *c));
    distances.filter(|(distance, _)| *distance <= allowed).min().map(|(_, candidate)| candidate)
}

/// How many letters to add, drop, change or swap.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().flat_map(char::to_lowercase).collect();
    let b: Vec<char> = b.chars().flat_map(char::to_lowercase).collect();
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            if i == 0 || j == 0 {
                rows[i][j] = i + j;
                continue;
            }
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut best =
                (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let words = ["step", "repair", "truth"];
        assert_eq!(nearest("stpe", &words), Some("step"));
        assert_eq!(nearest("Repiar", &words), Some("repair"));
        assert_eq!(nearest("thruth", &words), Some("truth"));
        assert_eq!(nearest("at", &words), None);
        assert_eq!(nearest("banana", &words), None);
    }
}
