//! The alphabet of tokens: base64url without padding. One text for each sequence of bytes: anything
//! else that other decoders would take is refused, so that a token has one spelling.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

pub fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
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
