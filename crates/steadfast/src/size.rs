//! Numbers as people write them on a command line.

/// `5000000`, `5_000_000`, `5M`
pub fn count(text: &str) -> Result<usize, String> {
    let (digits, unit) = divided(text);
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" => 1,
        "k" => 1_000,
        "m" => 1_000_000,
        "g" => 1_000_000_000,
        _ => return Err("write a number such as 5000000 or 5M".into()),
    };
    times(digits, factor).ok_or_else(|| "write a number such as 5000000 or 5M".into())
}

/// `512MB`, `4GB`, `2GiB`, or a number of bytes
pub fn bytes(text: &str) -> Result<usize, String> {
    let (digits, unit) = divided(text);
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return Err("write a size such as 512MB or 4GB".into()),
    };
    times(digits, factor).ok_or_else(|| "write a size such as 512MB or 4GB".into())
}

/// At least one.
pub fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=1024) => Ok(number),
        _ => Err("write a number from 1 to 1024".into()),
    }
}

fn divided(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

fn times(digits: &str, factor: usize) -> Option<usize> {
    let number: usize = digits.replace('_', "").parse().ok()?;
    number.checked_mul(factor).filter(|product| *product > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        assert_eq!(bytes("512MB"), Ok(512_000_000));
        assert_eq!(bytes("2 GiB"), Ok(2 << 30));
        assert_eq!(bytes("100"), Ok(100));
        assert_eq!(count("5_000_000"), Ok(5_000_000));
        assert_eq!(count("5M"), Ok(5_000_000));
        for wrong in ["", "MB", "-1", "1.5GB", "0", "4XB", "99999999999999999999GB"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
        assert!(threads("0").is_err() && threads("x").is_err() && threads("2") == Ok(2));
    }
}
