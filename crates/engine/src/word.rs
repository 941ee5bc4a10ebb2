//! Every scalar is one word.

/// The value of a scalar:
///
/// | type | word |
/// | --- | --- |
/// | `int` | itself |
/// | `bool` | 0 or 1 |
/// | enumeration | the index of the constant |
/// | `decimal` | millionths |
/// | `time`, `duration` | milliseconds |
/// | `actor` | the number of the principal |
/// | a reference | the handle of the record's key |
/// | `text`, `bytes`, `json`, `document`, `point`, digests, signatures, keys, proofs | a handle into the caller's pool |
///
/// Handles are compared for equality alone: the same content has the same handle. `T?` is the
/// word of `T` or [`NULL`].
///
/// A collection is stored inline: its length, then room for as many elements as its bound allows
/// (a set: sorted, without doubles; a map: pairs of key and value, sorted by key), unused room
/// filled with 0. An optional collection that is null has the length [`NULL`].
pub type Word = i64;

/// No value. Arithmetic never yields it: that is an overflow.
pub const NULL: Word = i64::MIN;
