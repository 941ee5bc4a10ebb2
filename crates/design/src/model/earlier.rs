//! What becomes of truth that an earlier version of a design stored.

use serde::{Deserialize, Serialize};
use syntax::Span;

use super::*;

/// `from "3f9a2c7104be" { … }`: from that version straight to this one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Earlier {
    /// the version, or how it begins: hexadecimal digits in small letters
    pub version: String,
    pub renames: Vec<Rename>,
    pub given: Vec<Given>,
    pub conversions: Vec<ConversionOf>,
    pub span: Span,
}

/// `rename ItemState.note as remark`: the words of that version, and the name here. What the words stand for
/// is known only where that version is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Rename {
    pub old: Vec<String>,
    pub new: String,
    pub span: Span,
}

/// `default ItemState.size = 1`: what stored records get for an attribute that is new.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Given {
    pub subject: SubjectId,
    pub attr: AttrId,
    pub value: Const,
    pub span: Span,
}

/// `convert ItemState.price(price: int) = price * 100`: a value from what was stored of the record.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ConversionOf {
    pub subject: SubjectId,
    pub attr: AttrId,
    /// what that version calls them, with the types that they are read as
    pub params: Vec<Param>,
    /// parameters first
    pub locals: Vec<Local>,
    pub value: Expr,
    pub span: Span,
}
