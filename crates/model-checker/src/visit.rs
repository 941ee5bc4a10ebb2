//! Walking typed expressions and statements.

use design::model::{
    Answer, Design, Domain, Expr, ExprKind, FailureProof, OperationKind, Stmt, StmtKind, Target,
};

macro_rules! walkers {
    ($children:ident, $statement:ident, $domain:ident, $($mut:tt)?) => {
        /// Calls `f` with each expression directly inside this one.
        pub(crate) fn $children<'a>(expr: &'a $($mut)? Expr, f: &mut dyn FnMut(&'a $($mut)? Expr)) {
            match &$($mut)? expr.kind {
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
                | ExprKind::Counter { base, .. } => f(base),
                ExprKind::LogSlice { base, from, limit, .. } => {
                    f(base);
                    f(from);
                    f(limit);
                }
                ExprKind::Stored(inner)
                | ExprKind::IsNull(inner)
                | ExprKind::Not(inner)
                | ExprKind::Negate(inner)
                | ExprKind::Old(inner)
                | ExprKind::Size(inner) => f(inner),
                ExprKind::And(list)
                | ExprKind::Or(list)
                | ExprKind::Min(list)
                | ExprKind::Max(list)
                | ExprKind::Set(list)
                | ExprKind::List(list)
                | ExprKind::View { args: list, .. } => {
                    for expr in list {
                        f(expr);
                    }
                }
                ExprKind::Implies(left, right)
                | ExprKind::Compare { left, right, .. }
                | ExprKind::Arithmetic { left, right, .. }
                | ExprKind::In { item: left, collection: right }
                | ExprKind::Index { base: left, index: right }
                | ExprKind::Let { value: left, body: right, .. } => {
                    f(left);
                    f(right);
                }
                ExprKind::If { condition, then, otherwise } => {
                    f(condition);
                    f(then);
                    f(otherwise);
                }
                ExprKind::Quantifier { domain, filter, body, .. } => {
                    $domain(domain, f);
                    if let Some(filter) = filter {
                        f(filter);
                    }
                    f(body);
                }
                ExprKind::Aggregate { domain, filter, value, .. } => {
                    $domain(domain, f);
                    if let Some(filter) = filter {
                        f(filter);
                    }
                    if let Some(value) = value {
                        f(value);
                    }
                }
                ExprKind::Record(fields) => {
                    for (_, expr) in fields {
                        f(expr);
                    }
                }
            }
        }

        fn $domain<'a>(domain: &'a $($mut)? Domain, f: &mut dyn FnMut(&'a $($mut)? Expr)) {
            match domain {
                Domain::Children { parent, .. } => f(parent),
                Domain::Elements(expr) => f(expr),
                Domain::All(_) | Domain::World(_) => {}
            }
        }

        /// Calls `f` with each expression directly in this statement, those of nested statements
        /// among them.
        pub(crate) fn $statement<'a>(stmt: &'a $($mut)? Stmt, f: &mut dyn FnMut(&'a $($mut)? Expr)) {
            match &$($mut)? stmt.kind {
                StmtKind::Assign { target, value, .. } => {
                    match target {
                        Target::Attr { base, .. } => f(base),
                        Target::Element { base, key, .. } => {
                            f(base);
                            f(key);
                        }
                        Target::Memory(_) => {}
                    }
                    f(value);
                }
                StmtKind::Let { value, .. } => f(value),
                StmtKind::New { keys, fields, .. } => {
                    for key in keys {
                        f(key);
                    }
                    for (_, expr) in fields {
                        f(expr);
                    }
                }
                StmtKind::Delete { target } => f(target),
                StmtKind::Append { base, fields, .. } => {
                    f(base);
                    for (_, expr) in fields {
                        f(expr);
                    }
                }
                StmtKind::Emit { fields, .. } => {
                    for (_, expr) in fields {
                        f(expr);
                    }
                }
                StmtKind::Send { args, .. } => {
                    for expr in args {
                        f(expr);
                    }
                }
                StmtKind::For { domain, body, .. } => {
                    f(domain);
                    for stmt in body {
                        $statement(stmt, f);
                    }
                }
                StmtKind::If { condition, then, otherwise } => {
                    f(condition);
                    for stmt in then {
                        $statement(stmt, f);
                    }
                    for stmt in otherwise {
                        $statement(stmt, f);
                    }
                }
            }
        }
    };
}

walkers!(children, statement, domain,);
walkers!(children_mut, statement_mut, domain_mut, mut);

/// Calls `f` with this expression and every one inside it.
pub(crate) fn deep<'a>(expr: &'a Expr, f: &mut dyn FnMut(&'a Expr)) {
    f(expr);
    children(expr, &mut |child| deep(child, f));
}

pub(crate) fn deep_mut(expr: &mut Expr, f: &mut dyn FnMut(&mut Expr)) {
    f(expr);
    children_mut(expr, &mut |child| deep_mut(child, f));
}

/// Calls `f` with every statement, nested ones after the one that holds them.
pub(crate) fn statements<'a>(stmts: &'a [Stmt], f: &mut dyn FnMut(&'a Stmt)) {
    for stmt in stmts {
        f(stmt);
        match &stmt.kind {
            StmtKind::For { body, .. } => statements(body, f),
            StmtKind::If { then, otherwise, .. } => {
                statements(then, f);
                statements(otherwise, f);
            }
            _ => {}
        }
    }
}

/// The bodies of an operation: of a step or a repair one, of an effect one for each answer.
pub(crate) fn bodies(operation: &design::model::Operation) -> Vec<&[Stmt]> {
    let mut bodies: Vec<&[Stmt]> = vec![&operation.body];
    if let OperationKind::Effect(effect) = &operation.kind {
        for answer in [&effect.on_ok, &effect.on_refused, &effect.on_unknown] {
            bodies.push(&answer.body);
        }
    }
    bodies
}

/// Every expression of an operation, outermost ones only.
pub(crate) fn of_operation<'a>(
    operation: &'a design::model::Operation,
    f: &mut dyn FnMut(&'a Expr),
) {
    for clause in &operation.guard {
        f(&clause.body);
    }
    for body in bodies(operation) {
        for stmt in body {
            statement(stmt, f);
        }
    }
    match &operation.kind {
        OperationKind::Effect(effect) => {
            effect.key.iter().for_each(&mut *f);
            effect.body.iter().for_each(|(_, expr)| f(expr));
        }
        OperationKind::Read { result } => f(result),
        OperationKind::Step { .. } | OperationKind::Repair { .. } => {}
    }
}

/// Every outermost expression of everything that is evaluated.
pub(crate) fn of_design_mut(design: &mut Design, f: &mut dyn FnMut(&mut Expr)) {
    for subject in &mut design.subjects {
        for counter in &mut subject.counters {
            counter.filter.iter_mut().for_each(&mut *f);
            counter.value.iter_mut().for_each(&mut *f);
        }
    }
    for operation in &mut design.operations {
        for clause in &mut operation.guard {
            f(&mut clause.body);
        }
        for stmt in &mut operation.body {
            statement_mut(stmt, f);
        }
        match &mut operation.kind {
            OperationKind::Effect(effect) => {
                effect.key.iter_mut().for_each(&mut *f);
                effect.body.iter_mut().for_each(|(_, expr)| f(expr));
                for Answer { body, .. } in
                    [&mut effect.on_ok, &mut effect.on_refused, &mut effect.on_unknown]
                {
                    for stmt in body {
                        statement_mut(stmt, f);
                    }
                }
            }
            OperationKind::Read { result } => f(result),
            OperationKind::Step { .. } | OperationKind::Repair { .. } => {}
        }
    }
    for goal in design.invariants.iter_mut().chain(&mut design.recoveries) {
        f(&mut goal.body);
    }
    for failure in &mut design.failures {
        for proof in &mut failure.proofs {
            if let FailureProof::Measured { value, .. } = proof {
                f(value);
            }
        }
    }
}
