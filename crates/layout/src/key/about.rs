//! Keys that are a text after their space: content, actors, followers, the design itself.

use std::borrow::Cow;

use super::{parse, take_all};
use crate::bytes::Reader;
use crate::damaged::{Damaged, Wrong};
use crate::space::{DesignNumber, Space};

fn bytes_of(space: Space, design: DesignNumber, parts: [&[u8]; 2]) -> Vec<u8> {
    let mut out = space.prefix(design).to_vec();
    parts.iter().for_each(|part| out.extend_from_slice(part));
    out
}

fn take_text<'k>(reader: &mut Reader<'k>) -> Result<&'k str, Wrong> {
    str::from_utf8(take_all(reader)).map_err(|_| Wrong::NotUtf8)
}

/// Says that the content of a digest is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ContentKey<'k> {
    pub design: DesignNumber,
    /// in hexadecimal digits
    pub digest: &'k [u8],
}

impl<'k> ContentKey<'k> {
    pub fn to_bytes(&self) -> Vec<u8> {
        bytes_of(Space::Blob, self.design, [self.digest, &[]])
    }

    pub fn parse(key: &'k [u8]) -> Result<ContentKey<'k>, Damaged> {
        let take =
            |design, reader: &mut Reader<'k>| Ok(ContentKey { design, digest: take_all(reader) });
        parse(key, Space::Blob, take)
    }
}

/// Says that a principal has acted as an actor that is apart from others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ActedKey<'k> {
    pub design: DesignNumber,
    /// a hash of its name
    pub principal: [u8; 16],
    pub actor: &'k str,
}

impl<'k> ActedKey<'k> {
    pub fn to_bytes(&self) -> Vec<u8> {
        bytes_of(Space::Apart, self.design, [&self.principal, self.actor.as_bytes()])
    }

    pub fn parse(key: &'k [u8]) -> Result<ActedKey<'k>, Damaged> {
        parse(key, Space::Apart, |design, reader| {
            Ok(ActedKey { design, principal: reader.array()?, actor: take_text(reader)? })
        })
    }
}

/// How far a follower of the feed is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FollowerKey<'k> {
    pub design: DesignNumber,
    pub name: &'k str,
}

impl<'k> FollowerKey<'k> {
    pub fn to_bytes(&self) -> Vec<u8> {
        bytes_of(Space::Follower, self.design, [self.name.as_bytes(), &[]])
    }

    pub fn parse(key: &'k [u8]) -> Result<FollowerKey<'k>, Damaged> {
        parse(key, Space::Follower, |design, reader| {
            Ok(FollowerKey { design, name: take_text(reader)? })
        })
    }
}

/// What is kept of a design besides its truth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum About {
    /// of no design: the list of all of them
    Numbers,
    /// how its truth is laid out, in words
    Layout,
    /// the design, as JSON
    Design,
    /// its text
    Text,
    /// the text with everything that it uses written out, if it uses something
    Flat,
    /// what was found when it was checked
    Verdict,
    /// which text of it has the say, where there may be several servers
    Epoch,
    /// a server that works on it, where there may be several, by the number that it chose when it started
    Server(u64),
}

/// What the names of all servers begin with.
const SERVER: &str = "server ";

impl About {
    const ALL: [About; 7] = [
        About::Numbers,
        About::Layout,
        About::Design,
        About::Text,
        About::Flat,
        About::Verdict,
        About::Epoch,
    ];

    fn name(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            About::Numbers => "",
            About::Layout => "layout",
            About::Design => "design",
            About::Text => "text",
            About::Flat => "flat",
            About::Verdict => "verdict",
            About::Epoch => "epoch",
            About::Server(number) => return Cow::Owned(format!("{SERVER}{number:016x}")),
        })
    }

    fn of(name: &str) -> Option<About> {
        if let Some(digits) = name.strip_prefix(SERVER) {
            let server = u64::from_str_radix(digits, 16).ok().map(About::Server);
            return server.filter(|server| server.name() == name);
        }
        About::ALL.into_iter().find(|about| about.name() == name)
    }
}

/// Something that is kept of a design.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MetaKey {
    pub design: DesignNumber,
    pub about: About,
}

impl MetaKey {
    /// Which designs the store holds.
    pub const NUMBERS: MetaKey = MetaKey { design: DesignNumber::NOBODYS, about: About::Numbers };

    /// How the keys of all servers that work on a design begin.
    pub fn servers(design: DesignNumber) -> Vec<u8> {
        bytes_of(Space::Meta, design, [SERVER.as_bytes(), &[]])
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        bytes_of(Space::Meta, self.design, [self.about.name().as_bytes(), &[]])
    }

    pub fn parse(key: &[u8]) -> Result<MetaKey, Damaged> {
        parse(key, Space::Meta, |design, reader| {
            let name = take_text(reader)?;
            Ok(MetaKey { design, about: About::of(name).ok_or(Wrong::UnknownChoice)? })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_of_a_design_is_found_by_its_name() {
        let design = DesignNumber(3);
        for about in About::ALL.into_iter().chain([About::Server(0), About::Server(u64::MAX)]) {
            let key = MetaKey { design, about };
            assert_eq!(MetaKey::parse(&key.to_bytes()), Ok(key));
        }
        let server = MetaKey { design, about: About::Server(9) }.to_bytes();
        assert!(server.starts_with(&MetaKey::servers(design)));
        assert!(MetaKey::parse(&server[..server.len() - 1]).is_err());
    }
}
