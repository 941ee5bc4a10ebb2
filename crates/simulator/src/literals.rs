//! What stands in a design as it is: callers and the world outside say it, too.

use std::collections::BTreeSet;

use design::model::{Const, Design, Expr, ExprKind, Range, Type, quantity_text, visit};
use serde_json::{Value, json};
use store::Seeded;

/// Texts and numbers of a design, each once.
pub struct Literals {
    texts: Vec<String>,
    numbers: Vec<i64>,
}

impl Literals {
    pub fn of(design: &Design) -> Literals {
        let (mut texts, mut numbers) = (BTreeSet::new(), BTreeSet::new());
        for operation in &design.operations {
            visit::operation_exprs(operation, &mut |value| {
                visit::each(value, &mut |part: &Expr| match &part.kind {
                    ExprKind::Literal(Const::Text(text)) => drop(texts.insert(text.clone())),
                    ExprKind::Literal(Const::Int(number)) => drop(numbers.insert(*number)),
                    _ => {}
                });
            });
        }
        Literals { texts: texts.into_iter().collect(), numbers: numbers.into_iter().collect() }
    }

    /// A text of the design, or a number at one of its numbers or beside it; none: it has none that fits.
    pub fn near(&self, ty: &Type, range: Option<Range>, seeded: &mut Seeded) -> Option<Value> {
        match ty {
            Type::Text if !self.texts.is_empty() => Some(json!(pick(&self.texts, seeded))),
            Type::Int | Type::Decimal | Type::Money(_) if !self.numbers.is_empty() => {
                let step = if *ty == Type::Int { 1 } else { 1_000_000 };
                let beside = seeded.below(3) as i64 - 1;
                let number = pick(&self.numbers, seeded).checked_add(beside * step)?;
                let fits = range.is_none_or(|range| range.contains(number));
                let written = match ty {
                    Type::Int => json!(number),
                    ty => json!(quantity_text(ty, number)),
                };
                fits.then_some(written)
            }
            _ => None,
        }
    }
}

fn pick<'t, T>(of: &'t [T], seeded: &mut Seeded) -> &'t T {
    &of[seeded.below(of.len() as u64) as usize]
}
