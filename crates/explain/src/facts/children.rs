//! What stands directly inside an expression.

use design::model::{Domain, Expr, ExprKind};

/// Calls `visit` with each expression that stands directly inside.
pub fn children<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    match &expr.kind {
        ExprKind::Attr { base: e, .. }
        | ExprKind::KeyPart { base: e, .. }
        | ExprKind::LogEnd { base: e, .. }
        | ExprKind::LogStart { base: e, .. }
        | ExprKind::Exists { base: e, .. }
        | ExprKind::Counter { base: e, .. }
        | ExprKind::Stored(e)
        | ExprKind::IsNull(e)
        | ExprKind::Not(e)
        | ExprKind::Negate(e)
        | ExprKind::Old(e)
        | ExprKind::Size(e) => visit(e),
        ExprKind::LogSlice { base, from, limit, .. } => {
            [base, from, limit].into_iter().for_each(|e| visit(e))
        }
        ExprKind::And(list)
        | ExprKind::Or(list)
        | ExprKind::Min(list)
        | ExprKind::Max(list)
        | ExprKind::Set(list)
        | ExprKind::List(list)
        | ExprKind::View { args: list, .. } => list.iter().for_each(visit),
        ExprKind::Implies(left, right)
        | ExprKind::Compare { left, right, .. }
        | ExprKind::Arithmetic { left, right, .. } => {
            visit(left);
            visit(right);
        }
        ExprKind::In { item, collection } => {
            visit(item);
            visit(collection);
        }
        ExprKind::Index { base, index } => {
            visit(base);
            visit(index);
        }
        ExprKind::If { condition, then, otherwise } => {
            [condition, then, otherwise].into_iter().for_each(|e| visit(e));
        }
        ExprKind::Let { value, body, .. } => {
            visit(value);
            visit(body);
        }
        ExprKind::Quantifier { domain, filter, body, .. } => {
            of_domain(domain, visit);
            filter.iter().for_each(|e| visit(e));
            visit(body);
        }
        ExprKind::Aggregate { domain, filter, value, .. } => {
            of_domain(domain, visit);
            filter.iter().for_each(|e| visit(e));
            value.iter().for_each(|e| visit(e));
        }
        ExprKind::Record(fields) => fields.iter().for_each(|(_, e)| visit(e)),
        ExprKind::Literal(_)
        | ExprKind::Local(_)
        | ExprKind::Memory(_)
        | ExprKind::Me
        | ExprKind::Now
        | ExprKind::WorldArg { .. }
        | ExprKind::Error => {}
    }
}

fn of_domain<'a>(domain: &'a Domain, visit: &mut dyn FnMut(&'a Expr)) {
    match domain {
        Domain::Children { parent: e, .. } | Domain::Elements(e) => visit(e),
        Domain::All(_) | Domain::World(_) => {}
    }
}
