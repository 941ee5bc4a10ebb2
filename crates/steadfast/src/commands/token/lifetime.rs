//! How long a token is good.

/// `90s`, `15m`, `12h` or `30d`, in seconds.
pub fn parse(text: &str) -> Result<i64, String> {
    let wrong = || format!("`{text}` is no lifetime, such as `90s`, `15m`, `12h` or `30d`");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let number: i64 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    number.checked_mul(seconds).filter(|seconds| *seconds > 0).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn lifetimes_have_a_unit() {
        for (text, seconds) in [("90s", 90), ("15m", 900), ("12h", 43_200), ("30d", 2_592_000)] {
            assert_eq!(parse(text), Ok(seconds));
        }
        for bad in ["", "s", "10", "0s", "-1h", "1w", "1.5h", "9999999999999999999d", "1 h", "hß"]
        {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
