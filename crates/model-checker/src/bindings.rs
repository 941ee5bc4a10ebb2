//! Where locals live, and what is bound to them.

use design::model::{Design, Expr, ExprKind, LocalId, StmtKind, visit};
use rustc_hash::FxHashMap;

use crate::world::flow::Scope;

/// What is bound to each local by a `let`, or as the argument of a `define`.
pub(crate) type Bindings<'d> = FxHashMap<(Scope, LocalId), Vec<&'d Expr>>;

/// Every expression, and where its locals live.
pub(crate) fn each_expr<'d>(design: &'d Design, look: &mut dyn FnMut(&'d Expr, Scope)) {
    for (index, operation) in design.operations.iter().enumerate() {
        visit::operation_exprs(operation, &mut |expr| look(expr, Scope::Operation(index as u32)));
    }
    for (index, goal) in design.goals().enumerate() {
        look(&goal.body, Scope::Goal(index as u32));
    }
}

pub(crate) fn bindings(design: &Design) -> Bindings<'_> {
    let mut bound = Bindings::default();
    each_expr(design, &mut |expr, scope| {
        visit::each(expr, &mut |part| {
            if let ExprKind::Let { local, value, .. } = &part.kind {
                bound.entry((scope, *local)).or_default().push(value);
            }
        });
    });
    for (index, operation) in design.operations.iter().enumerate() {
        let scope = Scope::Operation(index as u32);
        for body in visit::bodies(operation) {
            visit::each_statement(body, &mut |stmt| {
                if let StmtKind::Let { local, value } = &stmt.kind {
                    bound.entry((scope, *local)).or_default().push(value);
                }
            });
        }
    }
    bound
}
