//! Loops over the records of a subject that one equality picks: `count(b in Booking where b.seat = s)`. A world that
//! keeps an index need not look at all of them.

use design::model::{CompareOp, Expr, ExprKind, LocalId};

use crate::layout::{Layout, width_of};

/// A part of records by which they can be looked up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Column {
    /// one word of the record, at this offset
    Word(u32),
    /// a part of the key
    Part(u32),
}

/// What such an equality says.
pub struct Equality<'e> {
    /// of the record that the variable stands for
    pub own: &'e Expr,
    /// another variable
    pub other: &'e Expr,
}

/// The equality without which an element makes no difference: of what picks elements, and of the body of `all` or
/// `any`. Its other side is a variable, which can always be evaluated.
pub fn equality<'e>(
    local: LocalId,
    filter: Option<&'e Expr>,
    body: Option<(&'e Expr, bool)>,
) -> Option<Equality<'e>> {
    let of_body = || {
        let (body, all) = body?;
        match (&body.kind, all) {
            (ExprKind::Implies(condition, _), true) => among(local, condition),
            (ExprKind::Or(list), true) => {
                list.iter().find_map(|part| compared(local, part, CompareOp::NotEqual))
            }
            (_, false) => among(local, body),
            _ => None,
        }
    };
    filter.and_then(|filter| among(local, filter)).or_else(of_body)
}

fn among(local: LocalId, condition: &Expr) -> Option<Equality<'_>> {
    match &condition.kind {
        ExprKind::And(list) => list.iter().find_map(|part| among(local, part)),
        _ => compared(local, condition, CompareOp::Equal),
    }
}

fn compared(local: LocalId, condition: &Expr, wanted: CompareOp) -> Option<Equality<'_>> {
    let ExprKind::Compare { op, left, right } = &condition.kind else { return None };
    if *op != wanted {
        return None;
    }
    let is_own = |side: &Expr| match &side.kind {
        ExprKind::Attr { base, .. } | ExprKind::KeyPart { base, .. } => {
            matches!(base.kind, ExprKind::Local(held) if held == local)
        }
        _ => false,
    };
    let is_other = |side: &Expr| {
        matches!(side.kind, ExprKind::Local(held) if held != local) && side.ty.subject().is_some()
    };
    if is_own(left) && is_other(right) {
        Some(Equality { own: left, other: right })
    } else if is_own(right) && is_other(left) {
        Some(Equality { own: right, other: left })
    } else {
        None
    }
}

/// Where what is compared stands in a record of this form.
pub fn column(own: &Expr, layout: &Layout) -> Option<Column> {
    match &own.kind {
        ExprKind::Attr { attr, .. } if width_of(&own.ty) == 1 => {
            layout.attribute(*attr).map(|field| Column::Word(field.offset))
        }
        ExprKind::KeyPart { part, .. } => Some(Column::Part(*part)),
        _ => None,
    }
}
