//! Fields that are written as their name alone, `emit Taken { seat }`: the name of the field and its value are one word,
//! so that another name for one of them makes two words of it.

use rustc_hash::FxHashSet;
use syntax::tree::*;

/// Where they stand, by the beginning of the word.
pub fn short_fields(items: &[Item]) -> FxHashSet<u32> {
    let mut found = Found::default();
    items.iter().for_each(|item| found.item(item));
    found.0
}

#[derive(Default)]
struct Found(FxHashSet<u32>);

impl Found {
    fn item(&mut self, item: &Item) {
        match &item.kind {
            ItemKind::Operation(operation) => self.operation(operation),
            ItemKind::Define(define) => self.expr(&define.body),
            ItemKind::Invariant { body, .. }
            | ItemKind::Recovers { body, .. }
            | ItemKind::LeadsTo { body, .. } => self.expr(body),
            ItemKind::Use(used) => used.changes.iter().for_each(|change| match &change.kind {
                UseChangeKind::Effects(more) => self.block(&more.body),
                UseChangeKind::Clauses { clauses, .. } => {
                    clauses.iter().for_each(|clause| self.expr(&clause.body));
                }
                UseChangeKind::Instead { items, .. } => {
                    items.iter().for_each(|item| self.item(item));
                }
                _ => {}
            }),
            _ => {}
        }
    }

    fn operation(&mut self, operation: &OperationItem) {
        operation.guard.iter().for_each(|clause| self.expr(&clause.body));
        match &operation.body {
            OperationBody::Statements(block) => self.block(block),
            OperationBody::Effect(effect) => {
                if let Some(call) = &effect.call {
                    call.key.iter().for_each(|key| self.expr(key));
                    call.body.iter().for_each(|fields| self.fields(fields));
                }
                effect.answers.iter().for_each(|answer| self.block(&answer.body));
            }
            OperationBody::Read { result, memory, .. } => {
                self.expr(result);
                self.block(memory);
            }
            OperationBody::Missing => {}
        }
    }

    fn block(&mut self, block: &Block) {
        for statement in &block.statements {
            match &statement.kind {
                StmtKind::Assign { value, .. } | StmtKind::Let { value, .. } => self.expr(value),
                StmtKind::New { keys, fields, .. } => {
                    keys.iter().for_each(|key| self.expr(key));
                    self.fields(fields);
                }
                StmtKind::Append { fields, .. } | StmtKind::Emit { fields, .. } => {
                    self.fields(fields);
                }
                StmtKind::Send { args, .. } => args.iter().for_each(|arg| self.expr(arg)),
                StmtKind::For { body, .. } => self.block(body),
                StmtKind::If { condition, then, otherwise } => {
                    self.expr(condition);
                    self.block(then);
                    otherwise.iter().for_each(|block| self.block(block));
                }
                StmtKind::Delete { .. } | StmtKind::Error => {}
            }
        }
    }

    fn fields(&mut self, fields: &[FieldValue]) {
        for field in fields {
            match &field.value {
                Some(value) => self.expr(value),
                None => drop(self.0.insert(field.name.span.start)),
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Record(fields) => self.fields(fields),
            ExprKind::Field { base: inner, .. }
            | ExprKind::Old(inner)
            | ExprKind::Not(inner)
            | ExprKind::Negate(inner)
            | ExprKind::Round { of: inner, .. }
            | ExprKind::Presence { of: inner, .. } => self.expr(inner),
            ExprKind::Index { base: left, index: right } | ExprKind::Binary { left, right, .. } => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Call { args: parts, .. }
            | ExprKind::And(parts)
            | ExprKind::Or(parts)
            | ExprKind::Set(parts)
            | ExprKind::List(parts) => parts.iter().for_each(|part| self.expr(part)),
            ExprKind::If { condition, then, otherwise } => {
                [condition, then, otherwise].into_iter().for_each(|part| self.expr(part));
            }
            ExprKind::Let { value, body, .. } => {
                self.expr(value);
                self.expr(body);
            }
            ExprKind::Quantifier { filter, body, .. } => {
                filter.iter().for_each(|filter| self.expr(filter));
                self.expr(body);
            }
            ExprKind::Aggregate { value, filter, .. } => {
                value.iter().chain(filter).for_each(|part| self.expr(part));
            }
            ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Decimal(_)
            | ExprKind::Text(_)
            | ExprKind::Duration { .. }
            | ExprKind::Now
            | ExprKind::Me
            | ExprKind::Name(_)
            | ExprKind::Error => {}
        }
    }
}
