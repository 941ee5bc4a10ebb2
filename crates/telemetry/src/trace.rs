//! The trace context: `traceparent` and `tracestate`.

use crate::ids;

/// What is kept of `tracestate`; a longer one is left out, as it may be.
pub const STATE_BYTES_MAX: usize = 512;
const MEMBERS_MAX: usize = 32;
/// `00-` 32 digits `-` 16 digits `-` 2 digits
const PARENT_BYTES: usize = 55;
const SAMPLED: u8 = 1;

/// Where in which trace something happens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    pub id: [u8; 16],
    /// the span that what happens next is a part of
    pub span: [u8; 8],
    flags: u8,
    /// what other systems keep with the trace, handed on as it came
    state: Box<str>,
}

impl Trace {
    /// A new trace, which is recorded.
    pub fn fresh() -> Trace {
        Trace { id: ids::trace(), span: ids::span(), flags: SAMPLED, state: Box::default() }
    }

    /// The context that came with a request. None: there was none, or none that can be read; then
    /// nothing of it is used, `tracestate` neither.
    pub fn read<'a>(
        parents: impl IntoIterator<Item = &'a [u8]>,
        states: impl IntoIterator<Item = &'a [u8]>,
    ) -> Option<Trace> {
        let mut parents = parents.into_iter();
        let parent = parents.next()?;
        // which of two would it be?
        if parents.next().is_some() {
            return None;
        }
        let (id, span, flags) = read_parent(parent)?;
        Some(Trace { id, span, flags, state: read_states(states) })
    }

    /// One `traceparent` alone, such as in a message.
    pub fn of_parent(parent: &str) -> Option<Trace> {
        Trace::read([parent.as_bytes()], [])
    }

    /// The same place in the trace, for another span.
    #[must_use]
    pub fn within(&self, span: [u8; 8]) -> Trace {
        Trace { span, ..self.clone() }
    }

    /// Whoever began the trace wants it to be recorded.
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// The header `traceparent`.
    pub fn parent(&self) -> String {
        let mut text = String::with_capacity(PARENT_BYTES);
        text.push_str("00-");
        hex(&mut text, &self.id);
        text.push('-');
        hex(&mut text, &self.span);
        text.push('-');
        hex(&mut text, &[self.flags]);
        text
    }

    /// The header `tracestate`; empty: none is sent.
    pub fn state(&self) -> &str {
        &self.state
    }

    pub fn id_text(&self) -> String {
        let mut text = String::with_capacity(32);
        hex(&mut text, &self.id);
        text
    }

    /// As it is stored.
    pub fn put(&self, out: &mut Vec<u8>) {
        out.push(self.flags);
        out.extend_from_slice(&self.id);
        out.extend_from_slice(&self.span);
        out.extend_from_slice(self.state.as_bytes());
    }

    pub fn take(bytes: &[u8]) -> Option<Trace> {
        let (flags, rest) = bytes.split_first()?;
        let (id, rest) = rest.split_first_chunk::<16>()?;
        let (span, state) = rest.split_first_chunk::<8>()?;
        let state = std::str::from_utf8(state).ok()?.into();
        Some(Trace { id: *id, span: *span, flags: *flags, state })
    }
}

pub fn hex(out: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.push(char::from(DIGITS[usize::from(byte >> 4)]));
        out.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

fn read_parent(bytes: &[u8]) -> Option<([u8; 16], [u8; 8], u8)> {
    let known = bytes.get(..PARENT_BYTES)?;
    let [version] = digits::<1>(&known[..2])?;
    let fits = match version {
        0 => bytes.len() == PARENT_BYTES,
        0xff => false,
        // a later version may say more, behind another dash
        _ => bytes.get(PARENT_BYTES).is_none_or(|next| *next == b'-'),
    };
    let dashes = [known[2], known[35], known[52]] == [b'-'; 3];
    let id = digits::<16>(&known[3..35])?;
    let span = digits::<8>(&known[36..52])?;
    let [flags] = digits::<1>(&known[53..])?;
    let good = fits && dashes && id != [0; 16] && span != [0; 8];
    // bits that are not defined yet are not handed on
    good.then_some((id, span, flags & SAMPLED))
}

/// Lower-case digits, two for each byte.
fn digits<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = (digit(pair[0])? << 4) | digit(pair[1])?;
    }
    Some(bytes)
}

/// All members in one line; nothing at all if one of them is wrong or there are too many.
fn read_states<'a>(lines: impl IntoIterator<Item = &'a [u8]>) -> Box<str> {
    let mut members: Vec<&str> = Vec::new();
    for line in lines {
        let Ok(line) = std::str::from_utf8(line) else { return Box::default() };
        for member in line.split(',').map(|member| member.trim_matches([' ', '\t'])) {
            if member.is_empty() {
                continue;
            }
            let Some((key, value)) = member.split_once('=') else { return Box::default() };
            let twice =
                members.iter().any(|known| known.split_once('=').map(|it| it.0) == Some(key));
            if !is_key(key) || !is_value(value) || twice || members.len() == MEMBERS_MAX {
                return Box::default();
            }
            members.push(member);
        }
    }
    let line = members.join(",");
    if line.len() > STATE_BYTES_MAX { Box::default() } else { line.into() }
}

fn is_key(key: &str) -> bool {
    let part = |part: &str, most: usize, first: fn(u8) -> bool| {
        let rest = |byte: u8| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-*/".contains(&byte)
        };
        (1..=most).contains(&part.len()) && first(part.as_bytes()[0]) && part.bytes().all(rest)
    };
    match key.split_once('@') {
        None => part(key, 256, |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()),
        Some((tenant, system)) => {
            part(tenant, 241, |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
                && part(system, 14, |byte| byte.is_ascii_lowercase())
        }
    }
}

fn is_value(value: &str) -> bool {
    (1..=256).contains(&value.len())
        && value.bytes().all(|byte| (0x20..0x7f).contains(&byte) && byte != b'=' && byte != b',')
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn read(parent: &str, states: &[&str]) -> Option<Trace> {
        Trace::read([parent.as_bytes()], states.iter().map(|state| state.as_bytes()))
    }

    #[test]
    fn what_is_read_is_written_the_same() {
        let trace = read(GOOD, &["congo=t61rcWkgMzE", " rojo=00f067aa0ba902b7 "]).unwrap();
        assert_eq!(trace.parent(), GOOD);
        assert_eq!(trace.state(), "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7");
        assert_eq!(trace.id_text(), "0af7651916cd43dd8448eb211c80319c");
        assert!(trace.is_sampled());
        assert!(!read(&GOOD.replace("-01", "-00"), &[]).unwrap().is_sampled());
        let inner = trace.within([1; 8]);
        assert_eq!(inner.parent(), "00-0af7651916cd43dd8448eb211c80319c-0101010101010101-01");
        assert_eq!(inner.state(), trace.state());
    }

    #[test]
    fn a_later_version_is_read_as_far_as_it_is_known() {
        for later in [GOOD.replacen("00", "01", 1), format!("cc{}-what-comes", &GOOD[2..])] {
            assert_eq!(read(&later, &[]).unwrap().parent(), GOOD, "{later}");
        }
        assert_eq!(read(&format!("cc{}.what", &GOOD[2..]), &[]), None);
        assert_eq!(read(&GOOD.replace("-01", "-ff"), &[]).unwrap().parent(), GOOD);
    }

    #[test]
    fn what_is_malformed_is_not_used_at_all() {
        let zeros = "0".repeat(32);
        for bad in [
            "",
            "00",
            &GOOD[..54],
            &format!("{GOOD}-"),
            &format!("{GOOD}0"),
            &format!("ff{}", &GOOD[2..]),
            &GOOD.to_uppercase(),
            &GOOD.replace("0af7651916cd43dd8448eb211c80319c", &zeros),
            &GOOD.replace("b7ad6b7169203331", &zeros[..16]),
            &GOOD.replace('-', "_"),
            &GOOD.replace("af", "ag"),
            &GOOD.replace("-01", "-0x"),
            &format!(" {}", &GOOD[..54]),
            "ÿÿ-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ] {
            assert_eq!(read(bad, &["congo=t61"]), None, "{bad}");
        }
        assert_eq!(Trace::read([GOOD.as_bytes(), GOOD.as_bytes()], []), None);
        assert_eq!(Trace::read([], [b"congo=t61".as_slice()]), None);
    }

    #[test]
    fn a_state_that_is_wrong_is_left_out_and_the_parent_is_not() {
        let many: Vec<String> = (0..33).map(|at| format!("k{at}=v")).collect();
        let long = format!("a={},b={},c={}", "x".repeat(200), "y".repeat(200), "z".repeat(200));
        for bad in [
            "foo",
            "=v",
            "foo=",
            "Foo=1",
            "foo=1,foo=2",
            "a@1b=1",
            "f oo=1",
            &many.join(","),
            &long,
        ] {
            let trace = read(GOOD, &[bad]).unwrap();
            assert_eq!((trace.parent().as_str(), trace.state()), (GOOD, ""), "{bad}");
        }
        for good in ["foo=1", "1foo@bar=1", "a/b*c-d_e=1 2", "foo=1,bar=2"] {
            assert_eq!(read(GOOD, &[good]).unwrap().state(), good);
        }
        assert_eq!(read(GOOD, &["a=1,,\t", "", "b=2"]).unwrap().state(), "a=1,b=2");
        assert_eq!(read(GOOD, &[&many[..32].join(",")]).unwrap().state().split(',').count(), 32);
    }

    #[test]
    fn it_is_stored_and_comes_back() {
        let trace = read(GOOD, &["congo=t61"]).unwrap();
        let mut bytes = Vec::new();
        trace.put(&mut bytes);
        assert_eq!(Trace::take(&bytes), Some(trace));
        assert_eq!(Trace::take(&bytes[..24]), None);
    }
}
