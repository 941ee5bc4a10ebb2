//! What the server chooses for a call: ids and secrets that nobody can guess.

use design::model::Generated;
use store::Surroundings;

/// Letters that are not taken for one another. Thirty-two of them: five bits each.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 130 bits.
const ID_LETTERS: usize = 26;
/// 160 bits.
const KEY_LETTERS: usize = 32;

/// None: it is not made up, but taken from a view.
pub fn choose(generated: &Generated, surroundings: &dyn Surroundings) -> Option<String> {
    Some(match generated {
        Generated::Id => letters(ID_LETTERS, surroundings),
        Generated::Key => letters(KEY_LETTERS, surroundings),
        Generated::Code(count) => digits(*count as usize, surroundings),
        Generated::Next(_) => return None,
    })
}

fn letters(count: usize, surroundings: &dyn Surroundings) -> String {
    let mut bytes = vec![0; count];
    surroundings.fill(&mut bytes);
    // a byte has eight times as many values as there are letters: each is as likely
    bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect()
}

fn digits(count: usize, surroundings: &dyn Surroundings) -> String {
    let mut text = String::with_capacity(count);
    let mut bytes = [0; 64];
    while text.len() < count {
        surroundings.fill(&mut bytes);
        // of 256 values the last six are left out, so that each digit is as likely
        let fair = bytes.iter().filter(|byte| **byte < 250).take(count - text.len());
        text.extend(fair.map(|byte| char::from(b'0' + byte % 10)));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn what_is_chosen_has_its_length_and_its_letters_and_differs() {
        let real = store::real_surroundings();
        for (generated, length, of) in [
            (Generated::Id, 26, &LETTERS[..]),
            (Generated::Key, 32, &LETTERS[..]),
            (Generated::Code(4), 4, b"0123456789"),
            (Generated::Code(64), 64, b"0123456789"),
        ] {
            let mut met = BTreeSet::new();
            let mut different = BTreeSet::new();
            // until each letter was met, however long chance takes
            while met.len() < of.len() {
                let text = choose(&generated, &*real).unwrap();
                assert_eq!(text.len(), length);
                assert!(text.bytes().all(|byte| of.contains(&byte)), "{text}");
                met.extend(text.bytes());
                different.insert(text);
            }
            assert!(different.len() > 1 || length > 60);
        }
    }

    /// Zeros, then what makes a biased choice if it is taken.
    #[test]
    fn a_byte_that_would_favour_a_digit_is_not_taken() {
        #[derive(Debug)]
        struct Highest;
        impl Surroundings for Highest {
            fn now(&self) -> store::Moment {
                unreachable!()
            }
            fn time_ms(&self) -> u64 {
                0
            }
            fn chance(&self) -> u64 {
                0
            }
            fn fill(&self, bytes: &mut [u8]) {
                bytes.fill(255);
                bytes[7] = 249;
            }
            fn sleep(&self, _: std::time::Duration) -> store::Sleep {
                unreachable!()
            }
            fn wait(
                &self,
                _: std::pin::Pin<&mut dyn Future<Output = ()>>,
                _: Option<std::time::Duration>,
            ) -> bool {
                unreachable!()
            }
            fn spawn(&self, _: &str, _: store::Step) -> std::io::Result<store::Task> {
                unreachable!()
            }
        }
        assert_eq!(choose(&Generated::Code(6), &Highest).as_deref(), Some("999999"));
    }
}
