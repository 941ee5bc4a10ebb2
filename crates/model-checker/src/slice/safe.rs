//! Statements that can never refuse their step: leaving one out changes nothing but what it writes.

use design::model::{
    AssignOp, AttrId, Design, Expr, ExprKind, Operation, OperationKind, StateKind, Stmt, StmtKind,
    SubjectId, Target, Type, visit,
};

/// Can this statement, by itself, never refuse? (Not the statements in it.)
pub(crate) fn never_refuses(design: &Design, operation: &Operation, stmt: &Stmt) -> bool {
    // What was deleted cannot be read or changed any more.
    if visit::bodies(operation).into_iter().any(|body| may_delete_before(body, stmt)) {
        return false;
    }
    match &stmt.kind {
        StmtKind::Assign { target, op: AssignOp::Set, value } => match target {
            Target::Attr { base, attr } => {
                let Some(subject) = base.ty.subject() else { return false };
                let attribute = &design.subjects[subject.index()].attributes[attr.index()];
                let fits = attribute.ty.is_optional() || !may_be_null(value);
                is_there(design, operation, base)
                    && is_truth(design, base, *attr)
                    && is_plain(design, operation, value)
                    && fits
                    && attribute.range.is_none()
                    && is_scalar(&attribute.ty)
            }
            Target::Memory(_) => is_plain(design, operation, value) && is_scalar(&value.ty),
            Target::Element { .. } => false,
        },
        StmtKind::Let { value, .. } => is_plain(design, operation, value),
        StmtKind::Emit { fields, .. } => {
            fields.iter().all(|(_, value)| is_plain(design, operation, value))
        }
        StmtKind::Append { base, fields, .. } => {
            is_there(design, operation, base)
                && fields
                    .iter()
                    .all(|(_, value)| is_plain(design, operation, value) && !may_be_null(value))
        }
        StmtKind::If { condition, .. } => is_plain(design, operation, condition),
        StmtKind::Assign { .. }
        | StmtKind::New { .. }
        | StmtKind::Delete { .. }
        | StmtKind::Send { .. }
        | StmtKind::For { .. } => false,
    }
}

/// Is it always known whether this holds? A clause that follows a reference to nothing refuses without being
/// false.
pub(crate) fn is_always_told(design: &Design, operation: &Operation, clause: &Expr) -> bool {
    is_plain(design, operation, clause)
}

/// Can the result of a read always be told?
pub(crate) fn is_plain_result(design: &Design, operation: &Operation, result: &Expr) -> bool {
    match &result.kind {
        ExprKind::Record(fields) => {
            fields.iter().all(|(_, value)| is_plain_result(design, operation, value))
        }
        ExprKind::View { args, .. } => args.iter().all(|arg| is_plain(design, operation, arg)),
        ExprKind::LogSlice { base, from, limit, .. } => {
            is_there(design, operation, base)
                && is_plain(design, operation, from)
                && is_plain(design, operation, limit)
        }
        _ => is_plain(design, operation, result),
    }
}

/// Is the value of a field of a new record plain, so that it can be left out?
pub(crate) fn is_plain_value(design: &Design, operation: &Operation, value: &Expr) -> bool {
    // whether the records of a list fit is asked when they are written
    is_plain(design, operation, value) && !may_be_null(value) && value.ty.fields().is_none()
}

fn is_scalar(ty: &Type) -> bool {
    !matches!(ty.required(), Type::List { .. } | Type::Set { .. } | Type::Map { .. })
}

/// May something be deleted before this statement is carried out? In a loop there is no before.
fn may_delete_before(body: &[Stmt], stmt: &Stmt) -> bool {
    let (mut deletes, mut before) = (false, true);
    visit::each_statement(body, &mut |other| {
        before &= other.id != stmt.id;
        deletes |= before && matches!(other.kind, StmtKind::Delete { .. });
        if let StmtKind::For { body, .. } = &other.kind {
            visit::each_statement(body, &mut |inner| {
                deletes |= matches!(inner.kind, StmtKind::Delete { .. });
            });
        }
    });
    deletes
}

/// A record that a parameter names is there, or the step is refused by its guard. What a part of its key names is there
/// if such records are there from the start.
fn is_there(design: &Design, operation: &Operation, base: &Expr) -> bool {
    if let ExprKind::KeyPart { base: child, .. } = &base.kind {
        let from_the_start = |subject: SubjectId| design.subjects[subject.index()].implicit;
        return base.ty.subject().is_some_and(from_the_start) && is_there(design, operation, child);
    }
    let ExprKind::Local(local) = base.kind else { return false };
    // An effect names records that may be gone by the time it is answered.
    !matches!(operation.kind, OperationKind::Effect(_))
        && operation.params.iter().any(|param| {
            param.local == local
                && !param.new
                && param.ty.subject().is_some()
                && !param.ty.is_optional()
        })
}

fn is_truth(design: &Design, base: &Expr, attr: AttrId) -> bool {
    base.ty.subject().is_some_and(|subject| {
        let held = &design.subjects[subject.index()];
        held.states[held.attributes[attr.index()].state.index()].kind == StateKind::Truth
    })
}

/// No arithmetic, nothing followed but what a parameter names.
fn is_plain(design: &Design, operation: &Operation, expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(_)
        | ExprKind::Local(_)
        | ExprKind::Me
        | ExprKind::Now
        | ExprKind::Memory(_) => true,
        // There may be no copy in a cache.
        ExprKind::Attr { base, attr } => {
            is_there(design, operation, base) && is_truth(design, base, *attr)
        }
        ExprKind::KeyPart { base, .. }
        | ExprKind::LogEnd { base, .. }
        | ExprKind::LogStart { base, .. } => is_there(design, operation, base),
        ExprKind::IsNull(_)
        | ExprKind::Not(_)
        | ExprKind::And(_)
        | ExprKind::Or(_)
        | ExprKind::Implies(..)
        | ExprKind::Compare { .. }
        | ExprKind::If { .. }
        | ExprKind::Let { .. } => {
            let mut plain = true;
            visit::children(expr, &mut |child| plain &= is_plain(design, operation, child));
            plain
        }
        _ => false,
    }
}

fn may_be_null(value: &Expr) -> bool {
    value.ty.is_optional()
        || matches!(value.kind, ExprKind::Memory(_) | ExprKind::If { .. } | ExprKind::Let { .. })
}
