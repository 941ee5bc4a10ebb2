//! Does an expression mention a local?

use design::model::{Domain, Expr, ExprKind, LocalId};

pub(super) fn local(expr: &Expr, id: LocalId) -> bool {
    let mut found = matches!(expr.kind, ExprKind::Local(other) if other == id);
    parts(expr, &mut |part| found = found || local(part, id));
    found
}

/// Calls `each` with every expression that stands directly in this one.
fn parts(expr: &Expr, each: &mut dyn FnMut(&Expr)) {
    match &expr.kind {
        ExprKind::Literal(_)
        | ExprKind::Local(_)
        | ExprKind::Memory(_)
        | ExprKind::Me
        | ExprKind::Now
        | ExprKind::WorldArg { .. }
        | ExprKind::Error => {}
        ExprKind::Attr { base, .. }
        | ExprKind::KeyPart { base, .. }
        | ExprKind::LogEnd { base, .. }
        | ExprKind::LogStart { base, .. }
        | ExprKind::Exists { base, .. }
        | ExprKind::Counter { base, .. } => each(base),
        ExprKind::LogSlice { base, from, limit, .. } => {
            each(base);
            each(from);
            each(limit);
        }
        ExprKind::Stored(inner)
        | ExprKind::IsNull(inner)
        | ExprKind::Not(inner)
        | ExprKind::Negate(inner)
        | ExprKind::Old(inner)
        | ExprKind::Size(inner) => each(inner),
        ExprKind::And(list)
        | ExprKind::Or(list)
        | ExprKind::Min(list)
        | ExprKind::Max(list)
        | ExprKind::Set(list)
        | ExprKind::List(list) => list.iter().for_each(each),
        ExprKind::View { args, .. } => args.iter().for_each(each),
        ExprKind::Implies(left, right)
        | ExprKind::Compare { left, right, .. }
        | ExprKind::Arithmetic { left, right, .. } => {
            each(left);
            each(right);
        }
        ExprKind::In { item, collection } => {
            each(item);
            each(collection);
        }
        ExprKind::If { condition, then, otherwise } => {
            each(condition);
            each(then);
            each(otherwise);
        }
        ExprKind::Let { value, body, .. } => {
            each(value);
            each(body);
        }
        ExprKind::Quantifier { domain, filter, body, .. } => {
            domain_parts(domain, each);
            filter.iter().for_each(|filter| each(filter));
            each(body);
        }
        ExprKind::Aggregate { domain, filter, value, .. } => {
            domain_parts(domain, each);
            filter.iter().for_each(|filter| each(filter));
            value.iter().for_each(|value| each(value));
        }
        ExprKind::Index { base, index } => {
            each(base);
            each(index);
        }
        ExprKind::Record(fields) => fields.iter().for_each(|(_, field)| each(field)),
    }
}

fn domain_parts(domain: &Domain, each: &mut dyn FnMut(&Expr)) {
    match domain {
        Domain::Children { parent, .. } => each(parent),
        Domain::Elements(collection) => each(collection),
        Domain::All(_) | Domain::World(_) => {}
    }
}
