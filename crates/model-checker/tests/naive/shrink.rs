//! Makes a design smaller as long as something stays so.

use super::ast::*;

/// The smallest design found by leaving things out, one after another, while `differs` holds.
pub fn shrink(design: Design, differs: &dyn Fn(&Design) -> bool) -> Design {
    let mut design = design;
    'again: loop {
        for smaller in smaller(&design) {
            if is_sound(&smaller) && differs(&smaller) {
                design = smaller;
                continue 'again;
            }
        }
        return design;
    }
}

/// What some step makes is still made by one: otherwise its text says that it is there from the start.
fn is_sound(design: &Design) -> bool {
    fn makes(body: &[Stmt], subject: usize) -> bool {
        body.iter().any(|stmt| match stmt {
            Stmt::New(made, ..) => *made == subject,
            Stmt::If(_, then, otherwise) => makes(then, subject) || makes(otherwise, subject),
            Stmt::For(_, _, body) => makes(body, subject),
            _ => false,
        })
    }
    let is_made = |at: usize| design.ops.iter().any(|op| makes(&op.body, at));
    design.subjects.iter().enumerate().all(|(at, subject)| !subject.made || is_made(at))
}

fn smaller(design: &Design) -> Vec<Design> {
    let mut list = Vec::new();
    let mut with = |change: &dyn Fn(&mut Design)| {
        let mut next = design.clone();
        change(&mut next);
        list.push(next);
    };
    for at in 0..design.failures.len() {
        with(&|next| {
            next.failures.remove(at);
        });
    }
    if design.other.is_some() {
        with(&|next| next.other = None);
    }
    for at in 0..design.goals.len() {
        let alone = design.other.is_none();
        if alone && design.goals.len() > 1 && !design.failures.iter().any(|held| held.breaks == at)
        {
            with(&|next| {
                next.goals.remove(at);
                for failure in &mut next.failures {
                    failure.breaks -= usize::from(failure.breaks > at);
                }
            });
        }
    }
    for at in 0..design.goals.len() {
        for step in 0..design.goals[at].leads.as_ref().map_or(0, Vec::len) {
            with(&|next| {
                next.goals[at].leads.as_mut().map(|by| by.remove(step));
            });
        }
    }
    for at in 0..design.check.faults.len() {
        with(&|next| {
            next.check.faults.remove(at);
        });
    }
    for at in 0..design.ops.len() {
        if design.ops.len() > 1 && !named(design, at) {
            with(&|next| {
                next.ops.remove(at);
                renumber(next, at);
            });
        }
    }
    for at in 0..design.ops.len() {
        for clause in 0..design.ops[at].guard.len() {
            let kept = design.ops[at].kind == Kind::Repair && design.ops[at].guard.len() == 1
                || design.failures.iter().any(|held| {
                    matches!(held.without, Without::Clause(op, number) if op == at && number >= clause)
                });
            if !kept {
                with(&|next| drop(next.ops[at].guard.remove(clause)));
            }
            for part in parts(&design.ops[at].guard[clause].1) {
                with(&|next| next.ops[at].guard[clause].1 = part.clone());
            }
        }
        for stmt in 0..design.ops[at].body.len() {
            with(&|next| drop(next.ops[at].body.remove(stmt)));
            if let Stmt::If(_, then, otherwise) = &design.ops[at].body[stmt] {
                for branch in [then, otherwise].into_iter().filter(|branch| !branch.is_empty()) {
                    with(&|next| {
                        next.ops[at].body.splice(stmt..=stmt, branch.clone());
                    });
                }
            }
        }
        for param in 1..design.ops[at].params.len() {
            let last = param + 1 == design.ops[at].params.len();
            let op = &design.ops[at];
            if last && op.kind == Kind::Step && !super::steps::uses(op, param) {
                with(&|next| drop(next.ops[at].params.pop()));
            }
            if design.ops[at].params[param].default.is_some() {
                with(&|next| next.ops[at].params[param].default = None);
            }
        }
        if design.ops[at].keyed {
            with(&|next| next.ops[at].keyed = false);
        }
    }
    for at in 0..design.goals.len() {
        if let Expr::Quant { body, .. } = &design.goals[at].body
            && design.goals[at].leads.is_none()
        {
            for part in parts(body) {
                with(&|next| {
                    if let Expr::Quant { body, .. } = &mut next.goals[at].body {
                        **body = part.clone();
                    }
                    let old = |held: &Expr| matches!(held, Expr::Old(_));
                    next.goals[at].uses_old = super::flow::anywhere(&next.goals[at].body, &old);
                });
            }
        }
    }
    for at in 0..design.subjects.len() {
        if design.subjects[at].count > 1 && !design.subjects[at].place {
            with(&|next| next.subjects[at].count = 1);
        }
    }
    for at in 0..design.subjects.len() {
        for attr in 0..design.subjects[at].attrs.len() {
            if design.subjects[at].attrs[attr].volatile {
                with(&|next| next.subjects[at].attrs[attr].volatile = false);
            }
            if design.subjects[at].attrs[attr].range.is_some() {
                with(&|next| next.subjects[at].attrs[attr].range = None);
            }
        }
    }
    for at in 0..design.actors.len() {
        if design.actors[at].count > 1 {
            with(&|next| next.actors[at].count = 1);
        }
    }
    for at in 0..design.check.faults.len() {
        if design.check.faults[at].1.is_none() {
            with(&|next| next.check.faults[at].1 = Some(1));
        }
    }
    list
}

/// Conditions that a condition is made of.
fn parts(expr: &Expr) -> Vec<Expr> {
    match expr {
        Expr::And(parts) | Expr::Or(parts) => parts.clone(),
        Expr::Implies(left, right) => vec![(**left).clone(), (**right).clone()],
        _ => Vec::new(),
    }
}

fn sends(body: &[Stmt], to: usize) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Tell(op, _) => *op == to,
        Stmt::If(_, then, otherwise) => sends(then, to) || sends(otherwise, to),
        _ => false,
    })
}

/// Does anything else speak of this operation?
pub(super) fn named(design: &Design, at: usize) -> bool {
    let others = design.ops.iter().enumerate().filter(|(number, _)| *number != at);
    let told = others.into_iter().any(|(_, op)| sends(&op.body, at));
    let of = |failure: &Failure| {
        matches!(failure.without,
            Without::Clause(op, _) | Without::Exists(op) | Without::Fresh(op) | Without::Repair(op)
                | Without::Outbox(op)
                | Without::Keyed(op) if op == at)
    };
    let makes = design.ops[at].params.first().is_some_and(|param| param.new)
        || design.ops[at].body.iter().any(|stmt| matches!(stmt, Stmt::New(..)));
    let owed = design.goals.iter().filter_map(|goal| goal.leads.as_ref());
    let owed = owed.into_iter().any(|by| by.contains(&at));
    told || makes || owed || design.failures.iter().any(of)
}

pub(super) fn renumber(design: &mut Design, gone: usize) {
    fn body(stmts: &mut [Stmt], gone: usize) {
        for stmt in stmts {
            match stmt {
                Stmt::Tell(op, _) => *op -= usize::from(*op > gone),
                Stmt::If(_, then, otherwise) => {
                    body(then, gone);
                    body(otherwise, gone);
                }
                _ => {}
            }
        }
    }
    for op in &mut design.ops {
        body(&mut op.body, gone);
    }
    for by in design.goals.iter_mut().filter_map(|goal| goal.leads.as_mut()) {
        by.iter_mut().for_each(|op| *op -= usize::from(*op > gone));
    }
    for failure in &mut design.failures {
        match &mut failure.without {
            Without::Clause(op, _)
            | Without::Exists(op)
            | Without::Fresh(op)
            | Without::Repair(op)
            | Without::Outbox(op)
            | Without::Keyed(op) => *op -= usize::from(*op > gone),
            Without::Key(_) => {}
        }
    }
}
