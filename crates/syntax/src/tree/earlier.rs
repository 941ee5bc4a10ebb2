//! What becomes of truth that an earlier version stored.

use super::*;
use crate::Span;

/// `from "3f9a2c7104be" { rename … }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FromItem {
    /// names the version that stored it
    pub version: Text,
    pub lines: Vec<FromLine>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FromLine {
    pub kind: FromLineKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FromLineKind {
    /// `rename Item as Product`, `rename ItemState.note as remark`, `rename ItemState.status.SHOWN as VISIBLE`:
    /// the words of the earlier version, and the name here
    Rename {
        path: Vec<Name>,
        to: Name,
    },
    /// `default ProductState.size = 1`
    Default {
        path: Vec<Name>,
        value: Expr,
    },
    /// `convert ProductState.price(price: int) = price * 100`: the parameters are what was stored
    Convert {
        path: Vec<Name>,
        params: Vec<Param>,
        value: Expr,
    },
    Error,
}
