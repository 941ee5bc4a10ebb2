//! Every name in the designs of the catalog.

use design::Compiled;
use syntax::Span;
use syntax::tree::*;

use super::FILE;
use crate::common::{compiled, designs};

/// Collects the names that stand in guards and effects.
#[derive(Default)]
struct Names(Vec<Name>);

impl Names {
    fn block(&mut self, block: &Block) {
        for statement in &block.statements {
            match &statement.kind {
                StmtKind::Assign { target, value, .. } => {
                    self.expr(target);
                    // the fields of a record for a whole state are its attributes
                    if let ExprKind::Record(fields) = &value.kind {
                        self.0.extend(fields.iter().map(|field| field.name.clone()));
                    }
                    self.expr(value);
                }
                StmtKind::Let { name, value } => {
                    self.0.push(name.clone());
                    self.expr(value);
                }
                StmtKind::New { subject, keys, fields } => {
                    self.0.push(subject.clone());
                    keys.iter().for_each(|key| self.expr(key));
                    self.0.extend(fields.iter().map(|field| field.name.clone()));
                    self.fields(fields);
                }
                StmtKind::Delete { target } => self.expr(target),
                StmtKind::Append { log, fields } => {
                    self.expr(log);
                    self.0.extend(fields.iter().map(|field| field.name.clone()));
                    self.fields(fields);
                }
                StmtKind::Emit { event, fields } => {
                    self.0.push(event.clone());
                    self.fields(fields);
                }
                StmtKind::Send { each, actor, operation, args } => {
                    if let Some(each) = each {
                        self.0.push(each.var.clone());
                        self.domain(&each.domain);
                        each.filter.iter().for_each(|filter| self.expr(filter));
                    }
                    self.0.extend([actor.clone(), operation.clone()]);
                    args.iter().for_each(|arg| self.expr(arg));
                }
                StmtKind::For { var, domain, body } => {
                    self.0.push(var.clone());
                    self.domain(domain);
                    self.block(body);
                }
                StmtKind::If { condition, then, otherwise } => {
                    self.expr(condition);
                    self.block(then);
                    otherwise.iter().for_each(|block| self.block(block));
                }
                StmtKind::Error => {}
            }
        }
    }

    fn fields(&mut self, fields: &[FieldValue]) {
        for field in fields {
            match &field.value {
                Some(value) => self.expr(value),
                None => self.0.push(field.name.clone()),
            }
        }
    }

    fn domain(&mut self, domain: &Domain) {
        self.expr(&domain.of_what);
        domain.parent.iter().for_each(|parent| self.expr(parent));
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(name) => self.0.push(name.clone()),
            ExprKind::Field { base, name } => {
                self.expr(base);
                self.0.push(name.clone());
            }
            ExprKind::Call { function, args } => {
                self.0.push(function.clone());
                args.iter().for_each(|arg| self.expr(arg));
            }
            ExprKind::Index { base: left, index: right } | ExprKind::Binary { left, right, .. } => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Presence { of: inner, .. }
            | ExprKind::Old(inner)
            | ExprKind::Not(inner)
            | ExprKind::Round { of: inner, .. }
            | ExprKind::Negate(inner) => self.expr(inner),
            ExprKind::And(parts)
            | ExprKind::Or(parts)
            | ExprKind::Set(parts)
            | ExprKind::List(parts) => parts.iter().for_each(|part| self.expr(part)),
            ExprKind::If { condition, then, otherwise } => {
                [condition, then, otherwise].into_iter().for_each(|part| self.expr(part));
            }
            ExprKind::Let { name, value, body } => {
                self.0.push(name.clone());
                self.expr(value);
                self.expr(body);
            }
            ExprKind::Quantifier { var, domain, filter, body, .. } => {
                self.0.push(var.clone());
                self.domain(domain);
                filter.iter().for_each(|filter| self.expr(filter));
                self.expr(body);
            }
            ExprKind::Aggregate { value, var, domain, filter, .. } => {
                self.0.extend(var.clone());
                self.domain(domain);
                value.iter().chain(filter).for_each(|part| self.expr(part));
            }
            ExprKind::Record(fields) => self.fields(fields),
            _ => {}
        }
    }

    fn operation(&mut self, operation: &OperationItem) {
        self.0.push(operation.actor.clone());
        for clause in &operation.guard {
            self.0.extend(clause.name.clone());
            self.expr(&clause.body);
        }
        match &operation.body {
            OperationBody::Statements(block) => self.block(block),
            OperationBody::Read { result, memory, .. } => {
                self.expr(result);
                self.block(memory);
            }
            OperationBody::Effect(effect) => {
                if let Some(call) = &effect.call {
                    call.key.iter().for_each(|key| self.expr(key));
                    call.body.iter().for_each(|fields| self.fields(fields));
                }
                if let Some(sign) = &effect.sign {
                    self.expr(&sign.digest);
                    self.expr(&sign.key);
                }
                for answer in &effect.answers {
                    self.block(&answer.body);
                }
            }
            OperationBody::Missing => {}
        }
    }
}

/// Words that the language gives a meaning: functions, and what every log has.
const BUILT_IN: [&str; 11] = [
    "min", "max", "size", "stored", "slice", "hash", "verified", "included", "start", "end", "next",
];

/// Where the text uses something.
fn uses(items: &[Item]) -> Vec<Span> {
    let uses = items.iter().filter(|item| matches!(item.kind, ItemKind::Use(_)));
    uses.map(|item| item.span).collect()
}

pub fn inside(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// The names of the guards and effects that lead nowhere, and those that lead to another name.
fn lost(compiled: &Compiled, items: &[Item]) -> (usize, Vec<String>) {
    let mut names = Names::default();
    for item in items {
        match &item.kind {
            ItemKind::Operation(operation) => names.operation(operation),
            ItemKind::Define(define) => names.expr(&define.body),
            // a family of goals is put in place as a text of its own
            ItemKind::Invariant { body, .. } | ItemKind::Recovers { body, .. }
                if !matches!(body.kind, ExprKind::Call { .. }) =>
            {
                names.expr(body);
            }
            _ => {}
        }
    }
    let mut lost = Vec::new();
    for name in &names.0 {
        let found = compiled.analysis.definitions_at(name.span.file, name.span.start);
        let leads = !found.is_empty()
            && found.iter().all(|id| {
                let definition = compiled.analysis.definition(*id);
                // what is used is defined in its own text, under the name that it has there
                let used = definition.span.file != FILE
                    || uses(items).iter().any(|item| inside(*item, definition.span));
                definition.name == name.text
                    && (used || compiled.sources.text(definition.span) == name.text)
            });
        let world = ["world", "messages", "outbox"].contains(&name.text.as_str());
        if !leads && !BUILT_IN.contains(&name.text.as_str()) && !world {
            let at = compiled.sources.position(name.span);
            lost.push(format!("{}:{} `{}`", at.line, at.column, name.text));
        }
    }
    (names.0.len(), lost)
}

#[test]
fn every_name_in_the_catalog_leads_to_a_definition_of_that_name() {
    let (mut designs_seen, mut names_seen) = (0, 0);
    for (path, text) in designs() {
        let compiled = compiled(&text);
        let items = syntax::parse(&text, FILE).tree.items;
        let (names, lost) = lost(&compiled, &items);
        assert_eq!(lost, [""; 0], "{path}");
        // what is used has other names there, and in the lines that change it
        let uses = uses(&items);
        let own = |span: Span| span.file == FILE && !uses.iter().any(|item| inside(*item, span));
        for reference in compiled.analysis.references() {
            if !own(reference.span) {
                continue;
            }
            let definition = compiled.analysis.definition(reference.definition);
            assert_eq!(compiled.sources.text(reference.span), definition.name, "{path}");
        }
        designs_seen += 1;
        names_seen += names;
    }
    assert!(designs_seen > 20 && names_seen > 3_000, "{designs_seen} designs, {names_seen} names");
}
