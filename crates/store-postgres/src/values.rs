//! Values as PostgreSQL is given them and gives them.

use std::error::Error;

use bytes::{BufMut, Bytes, BytesMut};
use store::{Token, Version};
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

/// A number of 128 bits as a `uuid`.
#[derive(Clone, Copy, Debug)]
pub struct Uuid(pub u128);

impl From<Token> for Uuid {
    fn from(token: Token) -> Self {
        Uuid(token.0)
    }
}

impl ToSql for Uuid {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.put_u128(self.0);
        Ok(IsNull::No)
    }

    fn accepts(of: &Type) -> bool {
        *of == Type::UUID
    }

    to_sql_checked!();
}

/// A version as it is stored. What never was one is equal to none.
pub fn version(version: Version) -> i64 {
    match i64::try_from(version.0) {
        Ok(0) | Err(_) => -1,
        Ok(version) => version,
    }
}

/// The entries of one commit, each after its length.
pub fn pack(entries: &[Bytes]) -> Option<Vec<u8>> {
    if entries.is_empty() {
        return None;
    }
    let mut packed = Vec::with_capacity(entries.iter().map(|entry| entry.len() + 4).sum());
    for entry in entries {
        packed.put_u32(entry.len() as u32);
        packed.extend_from_slice(entry);
    }
    Some(packed)
}

/// None: it is no list of entries.
pub fn unpack(packed: &[u8]) -> Option<Vec<Bytes>> {
    let packed = Bytes::copy_from_slice(packed);
    let (mut entries, mut at) = (Vec::new(), 0);
    while at < packed.len() {
        let length = packed.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)? as usize;
        at += 4;
        if at + length > packed.len() {
            return None;
        }
        entries.push(packed.slice(at..at + length));
        at += length;
    }
    Some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_as_they_were() {
        let cases: [&[&str]; 4] = [&["one"], &["", ""], &["a", "", "bc"], &[""]];
        for case in cases {
            let entries: Vec<Bytes> =
                case.iter().map(|text| Bytes::copy_from_slice(text.as_bytes())).collect();
            assert_eq!(unpack(&pack(&entries).unwrap()), Some(entries));
        }
        assert_eq!(pack(&[]), None);
        for wrong in [&[0, 0][..], &[0, 0, 0, 2, 1], &[255; 8]] {
            assert_eq!(unpack(wrong), None);
        }
    }

    #[test]
    fn no_version_is_taken_for_absence() {
        assert_eq!(version(Version(7)), 7);
        assert_eq!(version(Version(0)), -1);
        assert_eq!(version(Version(u64::MAX)), -1);
    }
}
