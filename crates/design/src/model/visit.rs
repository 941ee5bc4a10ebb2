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
        | ExprKind::Counter { base, .. }
        | ExprKind::Field { base, .. } => visit(base),
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
        | ExprKind::Hash(parts)
        | ExprKind::Keyed { key: parts, .. }
        | ExprKind::View { args: parts, .. } => parts.iter().for_each(visit),
        ExprKind::Verified { signature: a, key: b, over: c }
        | ExprKind::Included { leaf: a, root: b, proof: c } => {
            visit(a);
            visit(b);
            visit(c);
        }
        ExprKind::Implies(left, right)
        | ExprKind::Compare { left, right, .. }
        | ExprKind::Arithmetic { left, right, .. } => {
            visit(left);
            visit(right);
        }
        ExprKind::NextOf { schedule, after } => {
            visit(schedule);
            visit(after);
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
        ExprKind::Remembered { principal, of, .. } => {
            visit(principal);
            if let Some(of) = of {
                visit(of);
            }
        }
        ExprKind::Record(fields) => fields.iter().for_each(|(_, value)| visit(value)),
    }
}

fn domain_children<'e>(domain: &'e Domain, visit: &mut dyn FnMut(&'e Expr)) {
    match domain {
        Domain::Children { parent, .. } => visit(parent),
        Domain::Elements(collection) => visit(collection),
        Domain::All(_)
        | Domain::World(_)
        | Domain::Principals(_)
        | Domain::Messages(_)
        | Domain::Outbox(_) => {}
    }
}

/// This expression and everything below it.
pub fn each<'e>(value: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    visit(value);
    children(value, &mut |child| each(child, visit));
}

/// This expression and everything below it, to be changed.
pub fn each_mut(value: &mut Expr, visit: &mut dyn FnMut(&mut Expr)) {
    visit(value);
    children_mut(value, &mut |child| each_mut(child, visit));
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

/// The same, to be changed, those of the statements inside it among them.
fn statement_exprs_mut(statement: &mut Stmt, visit: &mut dyn FnMut(&mut Expr)) {
    match &mut statement.kind {
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
            keys.iter_mut().for_each(&mut *visit);
            fields.iter_mut().for_each(|(_, value)| visit(value));
        }
        StmtKind::Delete { target } => visit(target),
        StmtKind::Append { base, fields, .. } => {
            visit(base);
            fields.iter_mut().for_each(|(_, value)| visit(value));
        }
        StmtKind::Emit { fields, .. } => fields.iter_mut().for_each(|(_, value)| visit(value)),
        StmtKind::Send { args, .. } => args.iter_mut().for_each(visit),
        StmtKind::For { domain, body, .. } => {
            visit(domain);
            body.iter_mut().for_each(|inner| statement_exprs_mut(inner, visit));
        }
        StmtKind::If { condition, then, otherwise } => {
            visit(condition);
            then.iter_mut().chain(otherwise).for_each(|inner| statement_exprs_mut(inner, visit));
        }
    }
}

/// Which operations are called by messages, and by nothing else: every step that something sends to.
pub fn message_targets(design: &Design) -> Vec<bool> {
    let mut targets = vec![false; design.operations.len()];
    for operation in &design.operations {
        for body in bodies(operation) {
            each_statement(body, &mut |statement| {
                if let StmtKind::Send { operation, .. } = &statement.kind
                    && let OperationKind::Step { .. } = design.operations[operation.index()].kind
                {
                    targets[operation.index()] = true;
                }
            });
        }
    }
    targets
}

/// For each operation: may it be called from outside? Repairs and effects are the engine's own, and what is sent as a
/// message was checked under the guard of its sender: who calls it with other arguments would be somebody that the
/// proof does not know.
pub fn callable(design: &Design) -> Vec<bool> {
    let targets = message_targets(design);
    let each = design.operations.iter().zip(targets);
    each.map(|(operation, is_target)| match operation.kind {
        OperationKind::Step { .. } => operation.hears.is_none() && !is_target,
        OperationKind::Read { .. } => true,
        _ => false,
    })
    .collect()
}

/// The bodies of an operation: of a step or a repair one, of an effect one for each answer too.
pub fn bodies(operation: &Operation) -> Vec<&[Stmt]> {
    let mut bodies: Vec<&[Stmt]> = vec![&operation.body];
    if let OperationKind::Effect(effect) = &operation.kind {
        let answers = [&effect.on_ok, &effect.on_refused, &effect.on_unknown];
        bodies.extend(answers.map(|answer| &answer.body[..]));
    }
    bodies
}

/// The same, to be changed.
pub fn bodies_mut(operation: &mut Operation) -> Vec<&mut Vec<Stmt>> {
    let mut bodies = vec![&mut operation.body];
    if let OperationKind::Effect(effect) = &mut operation.kind {
        let answers = [&mut effect.on_ok, &mut effect.on_refused, &mut effect.on_unknown];
        bodies.extend(answers.map(|answer| &mut answer.body));
    }
    bodies
}

/// Does this operation ask a view that searches for words?
pub fn searches(design: &Design, operation: &Operation) -> bool {
    let mut found = false;
    operation_exprs(operation, &mut |value| {
        each(value, &mut |part| {
            if let ExprKind::View { view, .. } = &part.kind {
                found |= matches!(design.views[view.index()].form, ViewForm::Search { .. });
            }
        });
    });
    found
}

/// Every expression of an operation, outermost ones only.
pub fn operation_exprs<'o>(operation: &'o Operation, visit: &mut dyn FnMut(&'o Expr)) {
    operation.guard.iter().for_each(|clause| visit(&clause.body));
    for body in bodies(operation) {
        each_statement(body, &mut |statement| statement_exprs(statement, visit));
    }
    match &operation.kind {
        OperationKind::Effect(effect) => {
            effect.key.iter().for_each(&mut *visit);
            effect.body.iter().for_each(|(_, value)| visit(value));
            effect.sign.iter().for_each(|sign| {
                visit(&sign.digest);
                visit(&sign.key);
            });
        }
        OperationKind::Read { result } => visit(result),
        OperationKind::Step { .. } | OperationKind::Repair { .. } => {}
    }
}

/// The same, to be changed.
pub fn operation_exprs_mut(operation: &mut Operation, visit: &mut dyn FnMut(&mut Expr)) {
    operation.guard.iter_mut().for_each(|clause| visit(&mut clause.body));
    for body in bodies_mut(operation) {
        body.iter_mut().for_each(|statement| statement_exprs_mut(statement, visit));
    }
    match &mut operation.kind {
        OperationKind::Effect(effect) => {
            effect.key.iter_mut().for_each(&mut *visit);
            effect.body.iter_mut().for_each(|(_, value)| visit(value));
            effect.sign.iter_mut().for_each(|sign| {
                visit(&mut sign.digest);
                visit(&mut sign.key);
            });
        }
        OperationKind::Read { result } => visit(result),
        OperationKind::Step { .. } | OperationKind::Repair { .. } => {}
    }
}

/// Every outermost expression of everything that is evaluated, to be changed.
pub fn design_exprs_mut(design: &mut Design, visit: &mut dyn FnMut(&mut Expr)) {
    for counter in design.subjects.iter_mut().flat_map(|subject| &mut subject.counters) {
        counter.filter.iter_mut().for_each(&mut *visit);
        counter.value.iter_mut().for_each(&mut *visit);
    }
    for operation in &mut design.operations {
        operation_exprs_mut(operation, visit);
    }
    for goal in design.goals_mut() {
        visit(&mut goal.body);
    }
    for failure in &mut design.failures {
        for proof in &mut failure.proofs {
            if let FailureProof::Measured { value, .. } = proof {
                visit(value);
            }
        }
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

/// The expressions right below this one, to be changed.
pub fn children_mut(value: &mut Expr, visit: &mut dyn FnMut(&mut Expr)) {
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
        | ExprKind::Counter { base, .. }
        | ExprKind::Field { base, .. } => visit(base),
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
        | ExprKind::Hash(parts)
        | ExprKind::Keyed { key: parts, .. }
        | ExprKind::View { args: parts, .. } => parts.iter_mut().for_each(visit),
        ExprKind::Verified { signature: a, key: b, over: c }
        | ExprKind::Included { leaf: a, root: b, proof: c } => {
            visit(a);
            visit(b);
            visit(c);
        }
        ExprKind::Implies(left, right)
        | ExprKind::Compare { left, right, .. }
        | ExprKind::Arithmetic { left, right, .. } => {
            visit(left);
            visit(right);
        }
        ExprKind::NextOf { schedule, after } => {
            visit(schedule);
            visit(after);
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
        ExprKind::Remembered { principal, of, .. } => {
            visit(principal);
            if let Some(of) = of {
                visit(of);
            }
        }
        ExprKind::Record(fields) => fields.iter_mut().for_each(|(_, value)| visit(value)),
    }
}

fn domain_children_mut(domain: &mut Domain, visit: &mut dyn FnMut(&mut Expr)) {
    match domain {
        Domain::Children { parent, .. } => visit(parent),
        Domain::Elements(collection) => visit(collection),
        Domain::All(_)
        | Domain::World(_)
        | Domain::Principals(_)
        | Domain::Messages(_)
        | Domain::Outbox(_) => {}
    }
}

/// Does a clause look at anything but the operation's own records: another record that it refers to, however it is
/// named on the way, or content?
pub fn looks_elsewhere(operation: &Operation, clause: &Expr) -> bool {
    let mut own: Vec<LocalId> = operation.params.iter().map(|param| param.local).collect();
    each(clause, &mut |part| {
        if let ExprKind::Let { local, value, .. } = &part.kind
            && matches!(value.kind, ExprKind::Local(of) if own.contains(&of))
        {
            own.push(*local);
        }
    });
    let mut found = false;
    each(clause, &mut |part| {
        found |= match &part.kind {
            ExprKind::Attr { base, .. }
            | ExprKind::Exists { base, .. }
            | ExprKind::Counter { base, .. }
            | ExprKind::LogStart { base, .. }
            | ExprKind::LogEnd { base, .. } => {
                !matches!(base.kind, ExprKind::Local(of) if own.contains(&of))
            }
            ExprKind::Stored(_) => true,
            _ => false,
        };
    });
    found
}
