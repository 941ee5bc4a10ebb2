//! The alphabet of tokens: base64url without padding. One text for each sequence of bytes: anything
//! else that other decoders would take is refused, so that a token has one spelling.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

pub fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut group = 0u32;
        for at in 0..3 {
            group = group << 8 | u32::from(chunk.get(at).copied().unwrap_or(0));
        }
        for at in 0..=chunk.len() {
            out.push(char::from(ALPHABET[(group >> (18 - 6 * at)) as usize & 63]));
        }
    }
    out
}

pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for chunk in text.as_bytes().chunks(4) {
        if chunk.len() == 1 {
            return None;
        }
        let mut group = 0u32;
        for byte in chunk {
            group = group << 6 | value(*byte)?;
        }
        group <<= 6 * (4 - chunk.len());
        let [_, a, b, c] = group.to_be_bytes();
        let (kept, spilled) = match chunk.len() {
            2 => (&[a][..], b | c),
            3 => (&[a, b][..], c),
            _ => (&[a, b, c][..], 0),
        };
        if spilled != 0 {
            return None;
        }
        out.extend_from_slice(kept);
    }
    Some(out)
}

fn value(byte: u8) -> Option<u32> {
    Some(u32::from(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'-' => 62,
        b'_' => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_comes_back_and_has_one_spelling() {
        let bytes: Vec<u8> = (0..=255).collect();
        for length in 0..bytes.len() {
            let text = encode(&bytes[..length]);
            assert_eq!(decode(&text).as_deref(), Some(&bytes[..length]));
        }
        assert_eq!(encode(&[0xfb, 0xff, 0xfe]), "-__-");
        // padding, the other alphabet, a lone letter, bits beyond the end
        for bad in ["QQ==", "+//+", "A", "QR", "QUJ", "Q Q", "QQ\n"] {
            assert_eq!(decode(bad), None, "{bad}");
        }
        assert_eq!(decode("QQ").as_deref(), Some(&b"A"[..]));
    }
}
