//! Bytes as text, for what cannot be printed.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for piece in bytes.chunks(3) {
        let byte = |n: usize| u32::from(piece.get(n).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for n in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * n)) as usize & 63];
            text.push(if n <= piece.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

/// Nothing comes of a text that no bytes are encoded as.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    if !text.len().is_multiple_of(4) || text.len() - digits.len() > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for piece in digits.chunks(4) {
        let mut bits = 0;
        for n in 0..4 {
            let value = match piece.get(n) {
                Some(digit) => DIGITS.iter().position(|known| known == digit)?,
                None => 0,
            };
            bits = bits << 6 | value as u32;
        }
        let whole = bits.to_be_bytes();
        bytes.extend_from_slice(&whole[1..piece.len()]);
    }
    (encode(&bytes) == text).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_leads_back_to_the_bytes() {
        let check = |bytes: &[u8], text: &str| {
            assert_eq!(encode(bytes), text);
            assert_eq!(decode(text).as_deref(), Some(bytes));
        };
        check(b"", "");
        check(b"f", "Zg==");
        check(b"fo", "Zm8=");
        check(b"foo", "Zm9v");
        check(b"\xff\xfe\xfd\0", "//79AA==");
        for wrong in ["Z", "Zg", "Zg=", "Zh==", "Z===", "Zm9v=", "Z!==", "===="] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}
