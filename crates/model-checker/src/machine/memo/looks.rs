//! What a goal about states looks at, known beforehand.

use design::model::{Domain, Expr, ExprKind, LocalId, SubjectId, visit};

use super::super::Machine;
use super::Gather;

/// Goals that look at more bits are not worth a table.
const BITS_MAX: u32 = 16;

impl Machine {
    /// The slots that a goal about states looks at, if that is known beforehand: attributes of
    /// records that a quantifier ranges over.
    pub(crate) fn goal_slots(&self, goal: u32) -> Option<Gather> {
        let body = &self.design.invariants[goal as usize].body;
        let mut slots = Vec::new();
        self.ranged(body, &mut Vec::new(), &mut slots)?;
        slots.sort_unstable();
        slots.dedup();
        let gather = Gather::of(self, &slots);
        (gather.bits <= BITS_MAX).then_some(gather)
    }

    fn ranged(
        &self,
        expr: &Expr,
        locals: &mut Vec<(LocalId, SubjectId)>,
        slots: &mut Vec<u32>,
    ) -> Option<()> {
        match &expr.kind {
            ExprKind::Attr { base, attr } => {
                let ExprKind::Local(local) = base.kind else { return None };
                let (_, subject) = locals.iter().find(|(held, _)| *held == local)?;
                let field = self.program.layout(*subject).attribute(*attr)?;
                let record = &self.plan.records[subject.index()];
                for key in 0..self.universe.keys[subject.index()].len {
                    slots.extend(record.present(key));
                    let from = record.words(key).start;
                    slots.extend(field.range().map(|at| (from + at) as u32));
                }
                Some(())
            }
            ExprKind::Quantifier { local, domain, .. }
            | ExprKind::Aggregate { local, domain, .. } => {
                let Domain::All(subject) = **domain else { return None };
                locals.push((*local, subject));
                let record = &self.plan.records[subject.index()];
                for key in 0..self.universe.keys[subject.index()].len {
                    slots.extend(record.present(key));
                }
                self.ranged_inside(expr, locals, slots)
            }
            ExprKind::Counter { .. }
            | ExprKind::Exists { .. }
            | ExprKind::Memory(_)
            | ExprKind::LogEnd { .. }
            | ExprKind::LogStart { .. }
            | ExprKind::LogSlice { .. }
            | ExprKind::Stored(_)
            | ExprKind::Hash(_)
            | ExprKind::Verified { .. }
            | ExprKind::Included { .. }
            | ExprKind::WorldArg { .. }
            | ExprKind::Remembered { .. }
            | ExprKind::View { .. }
            | ExprKind::Old(_)
            | ExprKind::Now => None,
            _ => self.ranged_inside(expr, locals, slots),
        }
    }

    fn ranged_inside(
        &self,
        expr: &Expr,
        locals: &mut Vec<(LocalId, SubjectId)>,
        slots: &mut Vec<u32>,
    ) -> Option<()> {
        let mut fine = Some(());
        visit::children(expr, &mut |child| {
            fine = fine.and_then(|()| self.ranged(child, locals, slots));
        });
        fine
    }
}
