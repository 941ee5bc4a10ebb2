//! Parents whose counters a child's change moves.

use design::model::{AttrId, Expr, ExprKind, SubjectId};

use crate::facts::{Facts, Unit, children};

/// The parent of this place's record, if a counter under it changes here.
pub fn parent(unit: &Unit<'_>, facts: &Facts<'_>, at: usize) -> Option<SubjectId> {
    let place = &facts.places[at];
    let design = unit.design;
    let parent = design.subjects[place.subject.index()].parent?;
    let counted = design.subjects[parent.index()].counters.iter().any(|counter| {
        let depends = |attr: AttrId| {
            [&counter.filter, &counter.value].into_iter().flatten().any(|e| mentions(e, attr))
        };
        counter.child == place.subject
            && (place.is_made()
                || facts.deletes.contains(&at)
                || facts.writes.iter().any(|write| write.place == at && depends(write.attr)))
    });
    counted.then_some(parent)
}

fn mentions(expr: &Expr, attr: AttrId) -> bool {
    let mut found = matches!(&expr.kind, ExprKind::Attr { attr: a, .. } if *a == attr);
    children(expr, &mut |child| found |= mentions(child, attr));
    found
}
