//! Durations become ticks: one unit of the checker's clock.

use design::model::{Const, Design, ExprKind, OperationKind, Retention, StateKind, Values, visit};

/// The same design with every duration in ticks, as its `check` says. A duration that `check`
/// does not mention is one tick.
pub(crate) fn in_ticks(design: &Design) -> Design {
    let durations = design.world.durations.clone();
    let ticks = |milliseconds: i64| {
        if milliseconds == 0 {
            return 0;
        }
        durations
            .iter()
            .find(|(written, _)| *written == milliseconds.abs())
            .map_or(1, |(_, ticks)| i64::from(*ticks))
            * milliseconds.signum()
    };
    let mut design = design.clone();
    each_duration(&mut design, &ticks);
    design
}

/// Changes every duration of a design that the checker looks at.
pub(crate) fn each_duration(design: &mut Design, ticks: &dyn Fn(i64) -> i64) {
    visit::design_exprs_mut(design, &mut |expr| {
        visit::each_mut(expr, &mut |expr| {
            if let ExprKind::Literal(value) = &mut expr.kind {
                lower(value, ticks);
            }
        });
    });
    for subject in &mut design.subjects {
        for attribute in &mut subject.attributes {
            attribute.default.iter_mut().for_each(|value| lower(value, ticks));
        }
        for state in &mut subject.states {
            if let StateKind::Log { retain } = &mut state.kind
                && let Retention::Age(age) = retain
            {
                *age = ticks(*age);
            }
        }
    }
    for operation in &mut design.operations {
        for param in &mut operation.params {
            param.default.iter_mut().for_each(|value| lower(value, ticks));
        }
        if let OperationKind::Repair { after, every, .. } = &mut operation.kind {
            after.iter_mut().for_each(|wait| *wait = ticks(*wait));
            every.iter_mut().for_each(|wait| *wait = ticks(*wait));
        }
    }
    for values in design.world.params.iter_mut().flatten() {
        lower_values(values, ticks);
    }
    for values in design.world.answers.iter_mut().flatten() {
        lower_values(values, ticks);
    }
}

fn lower_values(values: &mut Values, ticks: &dyn Fn(i64) -> i64) {
    match values {
        Values::Listed(list) => list.iter_mut().for_each(|value| lower(value, ticks)),
        Values::OrNull(inner) | Values::SetOf(inner, _) => lower_values(inner, ticks),
        Values::Opaque(_)
        | Values::Range(..)
        | Values::Whole
        | Values::Refs(_)
        | Values::Principals
        | Values::Ticks(_)
        | Values::Irrelevant => {}
    }
}

fn lower(value: &mut Const, ticks: &dyn Fn(i64) -> i64) {
    match value {
        Const::Duration(duration) => *duration = ticks(*duration),
        Const::Set(list) | Const::List(list) => {
            list.iter_mut().for_each(|value| lower(value, ticks));
        }
        Const::Map(pairs) => pairs.iter_mut().for_each(|(key, value)| {
            lower(key, ticks);
            lower(value, ticks);
        }),
        Const::Null
        | Const::Bool(_)
        | Const::Int(_)
        | Const::Decimal(_)
        | Const::Text(_)
        | Const::Enum(..) => {}
    }
}
