//! How `next(schedule, after)` is taken in the small world: no calendar is looked at. Each time that it is asked, it
//! is any whole number of units later, up to a bound, or null; the schedule makes no difference.

use design::model::{Design, ExprKind, visit};
use engine::{NULL, Word};

/// What `check` calls the bound.
const SETTING: &str = "schedules";
/// In units, where `check` says nothing.
const DEFAULT: Word = 2;

/// Is the next instant of a schedule asked for anywhere?
pub(crate) fn has_next(design: &Design) -> bool {
    let mut found = false;
    for operation in &design.operations {
        visit::operation_exprs(operation, &mut |expr| {
            visit::each(expr, &mut |part| found |= matches!(part.kind, ExprKind::NextOf { .. }));
        });
    }
    found
}

/// Turns the bound into words.
pub(crate) fn lower(design: &mut Design, per_unit: Word) {
    if !has_next(design) {
        return;
    }
    let units = design.world.setting(SETTING).unwrap_or(DEFAULT);
    design.world.settings.retain(|(name, _)| name != SETTING);
    design.world.settings.push((SETTING.into(), units * per_unit));
}

/// The longest one, in words. 0: nothing asks.
pub(crate) fn longest(design: &Design) -> Word {
    if has_next(design) { design.world.setting(SETTING).unwrap_or(0) } else { 0 }
}

/// How much later the next instant may be, each in words; null: there is none. Empty: nothing asks.
pub(crate) fn gaps(design: &Design, per_unit: Word) -> Vec<Word> {
    let units = longest(design) / per_unit;
    let later = (1..=units).map(|units| units * per_unit);
    if units == 0 { Vec::new() } else { later.chain([NULL]).collect() }
}
