//! Which designs a store holds: a list by their numbers.

use crate::bytes::{Reader, put_bytes, put_number};
use crate::damaged::Wrong;

/// What a number is for. Kept as the name with a letter before it that no name begins with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Numbered {
    Current(String),
    /// it counted once
    Older(String),
    /// records are being copied to it
    Copying(String),
    /// never counted
    Dead,
}

pub fn put_numbers(list: &[Numbered]) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_number(&mut bytes, list.len() as u64);
    for numbered in list {
        let text = match numbered {
            Numbered::Current(name) => name.clone(),
            Numbered::Older(name) => format!("~{name}"),
            Numbered::Copying(name) => format!("+{name}"),
            Numbered::Dead => "-".into(),
        };
        put_bytes(&mut bytes, text.as_bytes());
    }
    bytes
}

pub fn take_numbers(bytes: &[u8]) -> Result<Vec<Numbered>, Wrong> {
    let mut reader = Reader::new(bytes);
    let count = reader.number()?;
    let mut list = Vec::new();
    for _ in 0..count {
        let text = std::str::from_utf8(reader.bytes()?).map_err(|_| Wrong::NotUtf8)?;
        list.push(match text.split_at_checked(1) {
            Some(("~", name)) => Numbered::Older(name.into()),
            Some(("+", name)) => Numbered::Copying(name.into()),
            Some(("-", _)) => Numbered::Dead,
            _ => Numbered::Current(text.into()),
        });
    }
    Ok(list)
}
