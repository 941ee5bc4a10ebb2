//! What an actor remembers, as it travels: bound to everything it must not be used apart from.
//!
//! The bytes are canonical: the same claims have the same bytes, and different claims have
//! different ones (each part is preceded by its length). They are what is signed; signing is the
//! caller's.

/// The first bytes of every token; a new form has a new name.
const FORM: &[u8] = b"steadfast memory 1\n";

/// What a memory token says. Keys and values are in the caller's canonical bytes, because
/// handles mean nothing on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Claims<'a> {
    /// the design's name
    pub design: &'a str,
    /// the actor at the root of the chain
    pub actor: &'a str,
    pub principal: &'a str,
    /// the subject's name, empty for memory that belongs to the actor alone
    pub subject: &'a str,
    /// the canonical bytes of the record's key
    pub key: &'a [u8],
    /// the name of the memory field
    pub field: &'a str,
    pub value: &'a [u8],
}

/// In what a presented token does not fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Misfit {
    Design,
    Actor,
    Principal,
    Subject,
    Key,
    Field,
}

impl Misfit {
    /// Stable: part of the wire format.
    pub fn name(self) -> &'static str {
        match self {
            Misfit::Design => "design",
            Misfit::Actor => "actor",
            Misfit::Principal => "principal",
            Misfit::Subject => "subject",
            Misfit::Key => "key",
            Misfit::Field => "field",
        }
    }
}

impl<'a> Claims<'a> {
    fn parts(&self) -> [&'a [u8]; 7] {
        [
            self.design.as_bytes(),
            self.actor.as_bytes(),
            self.principal.as_bytes(),
            self.subject.as_bytes(),
            self.key,
            self.field.as_bytes(),
            self.value,
        ]
    }

    /// Appends the bytes that are signed.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(FORM);
        for part in self.parts() {
            out.extend_from_slice(&(part.len() as u64).to_be_bytes());
            out.extend_from_slice(part);
        }
    }

    /// The claims that these bytes make; `None`: they are not what `write` writes.
    pub fn read(bytes: &'a [u8]) -> Option<Claims<'a>> {
        let mut rest = bytes.strip_prefix(FORM)?;
        let mut part = || {
            let (length, after) = rest.split_first_chunk::<8>()?;
            let length = usize::try_from(u64::from_be_bytes(*length)).ok()?;
            let (part, after) = after.split_at_checked(length)?;
            rest = after;
            Some(part)
        };
        let text = |bytes| str::from_utf8(bytes).ok();
        let claims = Claims {
            design: text(part()?)?,
            actor: text(part()?)?,
            principal: text(part()?)?,
            subject: text(part()?)?,
            key: part()?,
            field: text(part()?)?,
            value: part()?,
        };
        rest.is_empty().then_some(claims)
    }

    /// May this token be used where `wanted` is asked for? Its value is what it brings; that of
    /// `wanted` is not looked at.
    pub fn fits(&self, wanted: &Claims<'_>) -> Result<&'a [u8], Misfit> {
        let checks = [
            (self.design == wanted.design, Misfit::Design),
            (self.actor == wanted.actor, Misfit::Actor),
            (self.principal == wanted.principal, Misfit::Principal),
            (self.subject == wanted.subject, Misfit::Subject),
            (self.key == wanted.key, Misfit::Key),
            (self.field == wanted.field, Misfit::Field),
        ];
        match checks.into_iter().find(|(fits, _)| !fits) {
            Some((_, misfit)) => Err(misfit),
            None => Ok(self.value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAIMS: Claims<'static> = Claims {
        design: "Claim",
        actor: "claimant",
        principal: "alice",
        subject: "Resource",
        key: b"disk-7",
        field: "my_epoch",
        value: b"3",
    };

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = Vec::new();
        CLAIMS.write(&mut bytes);
        assert_eq!(Claims::read(&bytes), Some(CLAIMS));
        for end in 0..bytes.len() {
            assert_eq!(Claims::read(&bytes[..end]), None);
        }
        bytes.push(0);
        assert_eq!(Claims::read(&bytes), None);
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        let mut one = Vec::new();
        let mut two = Vec::new();
        Claims { actor: "ab", principal: "c", ..CLAIMS }.write(&mut one);
        Claims { actor: "a", principal: "bc", ..CLAIMS }.write(&mut two);
        assert_ne!(one, two);
    }

    #[test]
    fn a_length_beyond_the_end_is_refused() {
        let mut bytes = FORM.to_vec();
        bytes.extend_from_slice(&u64::MAX.to_be_bytes());
        assert_eq!(Claims::read(&bytes), None);
    }

    #[test]
    fn a_token_fits_only_where_it_came_from() {
        let wanted = Claims { value: b"", ..CLAIMS };
        assert_eq!(CLAIMS.fits(&wanted), Ok(&b"3"[..]));
        let others = [
            (Claims { design: "Other", ..wanted }, Misfit::Design),
            (Claims { actor: "reaper", ..wanted }, Misfit::Actor),
            (Claims { principal: "bob", ..wanted }, Misfit::Principal),
            (Claims { subject: "Seat", ..wanted }, Misfit::Subject),
            (Claims { key: b"disk-8", ..wanted }, Misfit::Key),
            (Claims { field: "other", ..wanted }, Misfit::Field),
        ];
        for (wanted, misfit) in others {
            assert_eq!(CLAIMS.fits(&wanted), Err(misfit));
            assert!(!misfit.name().is_empty());
        }
    }
}
