//! Derived, rebuildable answers.

use super::*;
use crate::Span;

/// `view N(params) of actor = form`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ViewItem {
    pub name: Name,
    pub params: Vec<Param>,
    /// the caller whose rows they are: `of user`
    pub of: Option<Name>,
    pub form: ViewForm,
    /// the subject whose records are the rows
    pub subject: Name,
    pub filter: Option<Expr>,
    /// what rows show of records that they refer to: `with file.path, file.size`
    pub with: Vec<Expr>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ViewForm {
    /// `count S where p`
    Count,
    /// `sum e of S where p`
    Sum { value: Expr },
    /// `max e of S where p`, `min e of S where p`
    Extreme { greatest: bool, value: Expr },
    /// `avg e round half_even to 2 of S where p`; the value is what is rounded, and how
    Average { value: Expr },
    /// `list S where p order by a desc, b limit 50`
    List { order: Vec<OrderKey>, limit: Option<Expr> },
    /// `rank S by e desc where p top 100`
    Rank { by: OrderKey, top: Option<Expr> },
    /// `search S on a, b where p`
    Search { on: Vec<Name> },
    /// `near S on position from here within 5km where p first 10`
    Near { on: Name, from: Name, within_m: Option<u32>, first: Option<Expr> },
    /// `window count of S by at every 1m where p keep 60`, `window sum e of S by at every 1m`
    Window { value: Option<Expr>, by: Expr, every: Expr, keep: Option<Expr> },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OrderKey {
    pub value: Expr,
    pub descending: bool,
    pub span: Span,
}
