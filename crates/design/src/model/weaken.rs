//! A design as if its author had left something out.

use super::{
    ClauseRef, Const, Design, Expr, ExprKind, FailureProof, Operation, OperationId, OperationKind,
    Protection, Stmt, StmtId, StmtKind, Type,
};

impl Design {
    /// Every clause that is written in a guard, as `STEP.CLAUSE`.
    pub fn clauses(&self) -> Vec<(String, Protection)> {
        let mut all = Vec::new();
        for (at, operation) in self.operations.iter().enumerate() {
            for (clause, number) in operation.guard.iter().zip(0..) {
                let protection = Protection::Clause {
                    operation: OperationId::of(at),
                    clause: ClauseRef::Named(number),
                };
                all.push((format!("{}.{}", operation.name, clause.name), protection));
            }
        }
        all
    }

    /// The titles of the failures that a protection prevents.
    pub fn prevented_by(&self, protection: &Protection) -> Vec<String> {
        let titles = self.failures.iter().filter(|failure| {
            failure.proofs.iter().any(|proof| {
                matches!(proof, FailureProof::Without { protections, .. } if protections.contains(protection))
            })
        });
        titles.map(|failure| failure.title.clone()).collect()
    }

    /// The design without these protections. Everything keeps its number. Fails on what no design can be
    /// written without.
    pub fn without(&self, protections: &[Protection]) -> Result<Design, &'static str> {
        let mut weak = self.clone();
        for protection in protections {
            match protection {
                Protection::Clause { operation, clause: ClauseRef::Named(at) } => {
                    let clause = &mut weak.operations[operation.index()].guard[*at as usize];
                    clause.body = always(true, &clause.body);
                }
                Protection::Clause { clause: ClauseRef::Exists, .. } => {
                    return Err("that a record must exist is not written anywhere");
                }
                Protection::Clause { clause: ClauseRef::Fresh, .. } => {
                    return Err("that a new record must not be there is not written anywhere");
                }
                Protection::Assignment { operation, statements } => {
                    for body in bodies(&mut weak.operations[operation.index()]) {
                        remove(body, statements);
                    }
                }
                Protection::Repair { operation } => {
                    let guard = &mut weak.operations[operation.index()].guard;
                    let Some(first) = guard.first_mut() else {
                        return Err("a repair without a guard is always due");
                    };
                    first.body = always(false, &first.body);
                }
                Protection::Keyed { operation } => {
                    if let OperationKind::Step { keyed } =
                        &mut weak.operations[operation.index()].kind
                    {
                        *keyed = false;
                    }
                }
                Protection::Outbox { .. } => return Err("effects always go through the outbox"),
                Protection::Key { .. } => {
                    return Err("attempts of one effect always have the same key");
                }
                Protection::AtLeast { .. } => return Err("reads are never older than asked for"),
            }
        }
        Ok(weak)
    }
}

fn always(value: bool, of: &Expr) -> Expr {
    Expr { kind: ExprKind::Literal(Const::Bool(value)), ty: Type::Bool, span: of.span }
}

/// Where statements stand in an operation.
fn bodies(operation: &mut Operation) -> Vec<&mut Vec<Stmt>> {
    let mut all = vec![&mut operation.body];
    if let OperationKind::Effect(effect) = &mut operation.kind {
        let effect = effect.as_mut();
        all.push(&mut effect.on_ok.body);
        all.push(&mut effect.on_refused.body);
        all.push(&mut effect.on_unknown.body);
    }
    all
}

fn remove(body: &mut Vec<Stmt>, gone: &[StmtId]) {
    body.retain(|statement| !gone.contains(&statement.id));
    for statement in body {
        match &mut statement.kind {
            StmtKind::For { body, .. } => remove(body, gone),
            StmtKind::If { then, otherwise, .. } => {
                remove(then, gone);
                remove(otherwise, gone);
            }
            _ => {}
        }
    }
}
