//! Walking typed expressions and statements.

use syntax::Span;

use super::*;

/// The expressions right below this one.
pub fn children<'e>(value: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    match &value.kind {
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
        | ExprKind::Counter { base, .. } => visit(base),
        ExprKind::Stored(inner)
        | ExprKind::IsNull(inner)
        | ExprKind::Not(inner)
        | ExprKind::Negate(inner)
        | ExprKind::Old(inner)
        | ExprKind::Size(inner) => visit(inner),
        ExprKind::LogSlice { base, from, limit, .. } => {
            visit(base);
            visit(from);
            visit(limit);
        }
        ExprKind::And(parts)
        | ExprKind::Or(parts)
        | ExprKind::Min(parts)
        | ExprKind::Max(parts)
        | ExprKind::Set(parts)
        | ExprKind::List(parts)
        | ExprKind::View { args: parts, .. } => parts.iter().for_each(visit),
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
        ExprKind::If { condition, then, otherwise } => {
            visit(condition);
            visit(then);
            visit(otherwise);
        }
        ExprKind::Let { value, body, .. } => {
            visit(value);
            visit(body);
        }
        ExprKind::Quantifier { domain, filter, body, .. } => {
            domain_children(domain, visit);
            if let Some(filter) = filter {
                visit(filter);
            }
            visit(body);
        }
        ExprKind::Aggregate { domain, filter, value, .. } => {
            domain_children(domain, visit);
            if let Some(filter) = filter {
                visit(filter);
            }
            if let Some(value) = value {
                visit(value);
            }
        }
        ExprKind::Index { base, index } => {
            visit(base);
            visit(index);
        }
        ExprKind::Record(fields) => fields.iter().for_each(|(_, value)| visit(value)),
    }
}

fn domain_children<'e>(domain: &'e Domain, visit: &mut dyn FnMut(&'e Expr)) {
    match domain {
        Domain::Children { parent, .. } => visit(parent),
        Domain::Elements(collection) => visit(collection),
        Domain::All(_) | Domain::World(_) => {}
    }
}

/// This expression and everything below it.
pub fn each<'e>(value: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    visit(value);
    children(value, &mut |child| each(child, visit));
}

/// Every statement of a block and of the blocks in it, in the order written.
pub fn each_statement<'s>(body: &'s [Stmt], visit: &mut dyn FnMut(&'s Stmt)) {
    for statement in body {
        visit(statement);
        match &statement.kind {
            StmtKind::For { body, .. } => each_statement(body, visit),
            StmtKind::If { then, otherwise, .. } => {
                each_statement(then, visit);
                each_statement(otherwise, visit);
            }
            _ => {}
        }
    }
}

/// The expressions that stand directly in a statement, targets included.
pub fn statement_exprs<'s>(statement: &'s Stmt, visit: &mut dyn FnMut(&'s Expr)) {
    match &statement.kind {
        StmtKind::Assign { target, value, .. } => {
            match target {
                Target::Attr { base, .. } => visit(base),
                Target::Element { base, key, .. } => {
                    visit(base);
                    visit(key);
                }
                Target::Memory(_) => {}
            }
            visit(value);
        }
        StmtKind::Let { value, .. } => visit(value),
        StmtKind::New { keys, fields, .. } => {
            keys.iter().for_each(&mut *visit);
            fields.iter().for_each(|(_, value)| visit(value));
        }
        StmtKind::Delete { target } => visit(target),
        StmtKind::Append { base, fields, .. } => {
            visit(base);
            fields.iter().for_each(|(_, value)| visit(value));
        }
        StmtKind::Emit { fields, .. } => fields.iter().for_each(|(_, value)| visit(value)),
        StmtKind::Send { args, .. } => args.iter().for_each(visit),
        StmtKind::For { domain, .. } => visit(domain),
        StmtKind::If { condition, .. } => visit(condition),
    }
}

/// Equal but for where they stand.
pub fn same(a: &Expr, b: &Expr) -> bool {
    let (mut a, mut b) = (a.clone(), b.clone());
    forget_spans(&mut a);
    forget_spans(&mut b);
    a == b
}

fn forget_spans(value: &mut Expr) {
    value.span = Span::default();
    children_mut(value, &mut forget_spans);
}

fn children_mut(value: &mut Expr, visit: &mut dyn FnMut(&mut Expr)) {
    match &mut value.kind {
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
        | ExprKind::Counter { base, .. } => visit(base),
        ExprKind::Stored(inner)
        | ExprKind::IsNull(inner)
        | ExprKind::Not(inner)
        | ExprKind::Negate(inner)
        | ExprKind::Old(inner)
        | ExprKind::Size(inner) => visit(inner),
        ExprKind::LogSlice { base, from, limit, .. } => {
            visit(base);
            visit(from);
            visit(limit);
        }
        ExprKind::And(parts)
        | ExprKind::Or(parts)
        | ExprKind::Min(parts)
        | ExprKind::Max(parts)
        | ExprKind::Set(parts)
        | ExprKind::List(parts)
        | ExprKind::View { args: parts, .. } => parts.iter_mut().for_each(visit),
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
        ExprKind::If { condition, then, otherwise } => {
            visit(condition);
            visit(then);
            visit(otherwise);
        }
        ExprKind::Let { value, body, .. } => {
            visit(value);
            visit(body);
        }
        ExprKind::Quantifier { domain, filter, body, .. } => {
            domain_children_mut(domain, visit);
            if let Some(filter) = filter {
                visit(filter);
            }
            visit(body);
        }
        ExprKind::Aggregate { domain, filter, value, .. } => {
            domain_children_mut(domain, visit);
            if let Some(filter) = filter {
                visit(filter);
            }
            if let Some(value) = value {
                visit(value);
            }
        }
        ExprKind::Index { base, index } => {
            visit(base);
            visit(index);
        }
        ExprKind::Record(fields) => fields.iter_mut().for_each(|(_, value)| visit(value)),
    }
}

fn domain_children_mut(domain: &mut Domain, visit: &mut dyn FnMut(&mut Expr)) {
    match domain {
        Domain::Children { parent, .. } => visit(parent),
        Domain::Elements(collection) => visit(collection),
        Domain::All(_) | Domain::World(_) => {}
    }
}
