//! Types and constants.

use serde::{Deserialize, Serialize};
use syntax::Span;

use super::{BlobId, Currency, EnumId, SubjectId};

#[derive(Clone, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub enum Type {
    Int,
    Bool,
    Text,
    Bytes,
    /// exact: a whole number of millionths
    Decimal,
    /// a decimal that is an amount of this currency
    Money(Currency),
    Time,
    Duration,
    /// when something is due again, by a calendar or at equal distances
    Schedule,
    /// opaque
    Json,
    /// text under concurrent edits; opaque to guards
    Document,
    Point,
    /// a principal
    Actor,
    Enum(EnumId),
    /// a reference to a record
    Ref(SubjectId),
    /// the hash of a blob's content
    Digest(BlobId),
    /// what `hash` gives
    Hash,
    /// made by a keystore, and by nothing else
    Signature,
    PublicKey,
    /// that a digest is part of another
    Proof,
    /// stored as a keyed hash, compared with what a caller gives, and never told
    Secret,
    Optional(Box<Type>),
    List {
        of: Box<Type>,
        max: u32,
    },
    Set {
        of: Box<Type>,
        max: u32,
    },
    Map {
        key: Box<Type>,
        value: Box<Type>,
        max: u32,
    },
    /// one of the records that a list holds, and nothing else does: single values only
    Struct(Vec<StructField>),
    /// only in results, events and bodies of calls: never stored in truth
    Record(Vec<(String, Type)>),
    /// rows of a view, only as the result of a read
    Rows(super::ViewId),
    /// the type of `null` where nothing says more
    Null,
    /// something was wrong and has been reported
    Error,
}

/// A field of the records in a list: `qty: int 1..99`.
#[derive(Clone, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct StructField {
    pub name: String,
    pub ty: Type,
    pub range: Option<super::Range>,
}

impl Type {
    /// The fields of the records that a list holds; none: it holds single values, or is no list.
    pub fn fields(&self) -> Option<&[StructField]> {
        match self.required() {
            Type::List { of, .. } => match &**of {
                Type::Struct(fields) => Some(fields),
                _ => None,
            },
            _ => None,
        }
    }

    /// Does a field of the records that a list holds have a range?
    pub fn has_ranges(&self) -> bool {
        self.fields().unwrap_or(&[]).iter().any(|field| field.range.is_some())
    }

    /// The type without its `?`.
    pub fn required(&self) -> &Type {
        match self {
            Type::Optional(inner) => inner,
            other => other,
        }
    }

    pub fn is_optional(&self) -> bool {
        matches!(self, Type::Optional(_) | Type::Null)
    }

    /// Kept in millionths.
    pub fn is_decimal(&self) -> bool {
        matches!(self, Type::Decimal | Type::Money(_))
    }

    /// Ordered with `<`; everything else can only be told apart.
    pub fn is_ordered(&self) -> bool {
        matches!(
            self.required(),
            Type::Int | Type::Decimal | Type::Money(_) | Type::Time | Type::Duration
        )
    }

    /// Its content is kept by whoever evaluates; the engine sees a handle of it.
    pub fn is_opaque(&self) -> bool {
        matches!(
            self,
            Type::Text
                | Type::Bytes
                | Type::Schedule
                | Type::Json
                | Type::Document
                | Type::Point
                | Type::Digest(_)
                | Type::Hash
                | Type::Signature
                | Type::PublicKey
                | Type::Proof
                | Type::Secret
        )
    }

    pub fn is_secret(&self) -> bool {
        *self.required() == Type::Secret
    }

    pub fn subject(&self) -> Option<SubjectId> {
        match self.required() {
            Type::Ref(subject) => Some(*subject),
            _ => None,
        }
    }
}

/// `A | B | C`. Two attributes with the same constants in the same order share one enumeration.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Enumeration {
    /// how messages call it: the attribute that first declared it
    pub name: String,
    pub constants: Vec<String>,
    pub span: Span,
}

/// A value known when the design is compiled.
#[derive(Clone, PartialEq, Eq, Debug, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Const {
    Null,
    Bool(bool),
    Int(i64),
    /// in millionths
    Decimal(i64),
    Text(String),
    /// in milliseconds
    Duration(i64),
    Enum(EnumId, u32),
    /// sorted, without doubles
    Set(Vec<Const>),
    List(Vec<Const>),
    Map(Vec<(Const, Const)>),
}
