//! Time, in steps of a part of a unit. A time is kept as its distance from now.

use std::collections::BTreeSet;

use design::model::{
    ArithmeticOp, AssignOp, AttrId, Const, Design, Expr, ExprKind, OperationId, StateKind,
    StmtKind, SubjectId, Type, Values, visit,
};

use super::world::has;

/// More units than this are not kept in proportion.
const UNITS_MAX: i64 = 64;

pub(super) struct Clock {
    /// steps of a unit
    pub steps: i64,
    /// milliseconds of a unit
    unit: i64,
    /// so many steps back, times are told apart
    pub horizon: i64,
    /// attributes that are times and that nothing reads
    pub unread: BTreeSet<(SubjectId, AttrId)>,
    /// what cannot be written down
    pub problems: Vec<String>,
}

impl Clock {
    pub fn of(design: &Design) -> Clock {
        let written = durations(design);
        let unit = written.iter().fold(0, |unit, ms| common(unit, *ms)).max(1);
        let setting = design.world.settings.iter().find(|(name, _)| name == "time");
        let steps = setting.map_or(2, |(_, value)| *value).max(1);
        let mut clock =
            Clock { steps, unit, horizon: 0, unread: unread(design), problems: Vec::new() };
        if written.last().copied().unwrap_or(0) / unit > UNITS_MAX {
            clock.problems.push(format!("durations of more than {UNITS_MAX} units"));
        }
        clock.horizon = match design.world.horizon {
            Some(units) => i64::from(units) * steps,
            None => clock.compared(design),
        };
        if compares_stored(design) {
            clock.problems.push("two stored times that are compared with each other".into());
        }
        if moves_on(design) {
            clock.problems.push("a stored time that is moved on".into());
        }
        clock
    }

    /// A duration in steps.
    pub fn duration(&self, milliseconds: i64) -> i64 {
        milliseconds / self.unit * self.steps
    }

    /// How long a unit is, in words.
    pub fn unit_name(&self) -> String {
        let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s"), (1, "ms")];
        let fits = |(size, _): &&(i64, &str)| self.unit % size == 0;
        let (size, name) = units.iter().find(fits).unwrap_or(&(1, "ms"));
        format!("{}{name}", self.unit / size)
    }

    /// The longest sum of durations that a time is compared with.
    fn compared(&self, design: &Design) -> i64 {
        let longest = self.longest(design);
        let mut most = 0;
        let mut look = |expr: &Expr, operation: Option<OperationId>| {
            visit::each(expr, &mut |part| match &part.kind {
                ExprKind::Compare { left, right, .. }
                    if is_time(left) || is_time(right) || *left.ty.required() == Type::Duration =>
                {
                    let sum = self.total(design, operation, left, longest)
                        + self.total(design, operation, right, longest);
                    most = most.max(sum);
                }
                ExprKind::Arithmetic { left, right, .. } if is_time(left) && is_time(right) => {
                    most = most.max(longest);
                }
                _ => {}
            });
        };
        for (index, operation) in design.operations.iter().enumerate() {
            let id = Some(OperationId::of(index));
            visit::operation_exprs(operation, &mut |expr| look(expr, id));
        }
        for goal in design.goals() {
            look(&goal.body, None);
        }
        most
    }

    fn longest(&self, design: &Design) -> i64 {
        let written = durations(design).last().map_or(0, |ms| self.duration(*ms));
        let given = design.world.params.iter().flatten().map(|values| self.most(values));
        given.fold(written, i64::max)
    }

    fn most(&self, values: &Values) -> i64 {
        match values {
            Values::Units(_, units) => i64::from(*units) * self.steps,
            Values::Listed(list) => list
                .iter()
                .map(|value| match value {
                    Const::Duration(ms) => self.duration(ms.abs()),
                    _ => 0,
                })
                .max()
                .unwrap_or(0),
            Values::OrNull(inner) => self.most(inner),
            _ => 0,
        }
    }

    /// The most that the durations in an expression add up to.
    fn total(
        &self,
        design: &Design,
        operation: Option<OperationId>,
        expr: &Expr,
        longest: i64,
    ) -> i64 {
        let total = |expr: &Expr| self.total(design, operation, expr, longest);
        match &expr.kind {
            ExprKind::Literal(Const::Duration(ms)) => self.duration(ms.abs()),
            ExprKind::Local(local) if *expr.ty.required() == Type::Duration => {
                let given = operation.and_then(|id| {
                    let params = &design.operations[id.index()].params;
                    let at = params.iter().position(|param| param.local == *local)?;
                    let values =
                        design.world.params.get(id.index())?.get(at).map(|v| self.most(v))?;
                    let default = match params[at].default {
                        Some(Const::Duration(ms)) => self.duration(ms.abs()),
                        _ => 0,
                    };
                    (values > 0 && !compares_durations(design)).then_some(values.max(default))
                });
                given.unwrap_or(longest)
            }
            ExprKind::Arithmetic { op: ArithmeticOp::Multiply, left, right } => {
                let factor = [left, right].iter().find_map(|side| match side.kind {
                    ExprKind::Literal(Const::Int(factor)) => Some(factor.abs()),
                    _ => None,
                });
                (total(left) + total(right)) * factor.unwrap_or(2)
            }
            ExprKind::Arithmetic { left, right, .. } => total(left) + total(right),
            _ if *expr.ty.required() == Type::Duration => longest,
            ExprKind::Min(list) | ExprKind::Max(list) => list.iter().map(total).max().unwrap_or(0),
            ExprKind::If { then, otherwise, .. } => total(then).max(total(otherwise)),
            ExprKind::Old(inner) => total(inner),
            _ => 0,
        }
    }
}

/// Is a duration compared with one that is written? Then callers give that one, too.
fn compares_durations(design: &Design) -> bool {
    let written = |side: &Expr| matches!(side.kind, ExprKind::Literal(Const::Duration(_)));
    let mut found = false;
    every_expr(design, &mut |expr| {
        found |= has(expr, &|part| match &part.kind {
            ExprKind::Compare { left, right, .. } => written(left) || written(right),
            _ => false,
        });
    });
    found
}

fn is_time(expr: &Expr) -> bool {
    *expr.ty.required() == Type::Time
}

fn mentions_now(expr: &Expr) -> bool {
    has(expr, &|part| matches!(part.kind, ExprKind::Now))
}

fn every_expr(design: &Design, look: &mut dyn FnMut(&Expr)) {
    for counter in design.subjects.iter().flat_map(|subject| &subject.counters) {
        counter.filter.iter().chain(&counter.value).for_each(&mut *look);
    }
    for operation in &design.operations {
        visit::operation_exprs(operation, look);
    }
    design.goals().for_each(|goal| look(&goal.body));
}

fn compares_stored(design: &Design) -> bool {
    let mut found = false;
    every_expr(design, &mut |expr| {
        found |= has(expr, &|part| match &part.kind {
            ExprKind::Compare { left, right, .. } => {
                is_time(left) && is_time(right) && !mentions_now(left) && !mentions_now(right)
            }
            ExprKind::Arithmetic { op: ArithmeticOp::Subtract, left, right } => {
                is_time(right) && !mentions_now(left) && !mentions_now(right)
            }
            _ => false,
        });
    });
    found
}

/// Is a time stored that was computed from a stored one?
fn moves_on(design: &Design) -> bool {
    let mut found = false;
    for operation in &design.operations {
        for body in visit::bodies(operation) {
            visit::each_statement(body, &mut |statement| {
                if let StmtKind::Assign { op, value, .. } = &statement.kind {
                    let moved = *op != AssignOp::Set && *value.ty.required() == Type::Duration;
                    let computed = is_time(value)
                        && has(value, &|part| match &part.kind {
                            ExprKind::Arithmetic { left, .. } => {
                                is_time(left) && !matches!(left.kind, ExprKind::Now)
                            }
                            _ => false,
                        });
                    found |= computed || moved && assigns_time(design, statement);
                }
            });
        }
    }
    found
}

fn assigns_time(design: &Design, statement: &design::model::Stmt) -> bool {
    let StmtKind::Assign { target: design::model::Target::Attr { base, attr }, .. } =
        &statement.kind
    else {
        return false;
    };
    base.ty.subject().is_some_and(|subject| {
        let held = &design.subjects[subject.index()].attributes[attr.index()];
        *held.ty.required() == Type::Time
    })
}

/// Attributes that are times and that nothing reads: neither a guard, nor a statement, nor a goal.
fn unread(design: &Design) -> BTreeSet<(SubjectId, AttrId)> {
    let mut read = BTreeSet::new();
    every_expr(design, &mut |expr| {
        visit::each(expr, &mut |part| {
            if let ExprKind::Attr { base, attr } = &part.kind
                && let Some(subject) = base.ty.subject()
            {
                read.insert((subject, *attr));
            }
        });
    });
    let mut unread = BTreeSet::new();
    for (index, subject) in design.subjects.iter().enumerate() {
        for (at, attribute) in subject.attributes.iter().enumerate() {
            let place = (SubjectId::of(index), AttrId::of(at));
            if *attribute.ty.required() == Type::Time
                && subject.states[attribute.state.index()].kind == StateKind::Truth
                && !read.contains(&place)
            {
                unread.insert(place);
            }
        }
    }
    unread
}

/// Every duration that is written where it matters.
fn durations(design: &Design) -> BTreeSet<i64> {
    let mut found = BTreeSet::new();
    every_expr(design, &mut |expr| {
        visit::each(expr, &mut |part| {
            if let ExprKind::Literal(Const::Duration(ms)) = part.kind {
                found.insert(ms.abs());
            }
        });
    });
    let attributes = design.subjects.iter().flat_map(|subject| &subject.attributes);
    let params = design.operations.iter().flat_map(|operation| &operation.params);
    let defaults = attributes.map(|a| &a.default).chain(params.map(|p| &p.default));
    for default in defaults.flatten() {
        if let Const::Duration(ms) = default {
            found.insert(ms.abs());
        }
    }
    for values in design.world.params.iter().flatten() {
        let inner = if let Values::OrNull(inner) = values { inner } else { values };
        if let Values::Listed(list) = inner {
            list.iter().for_each(|value| {
                if let Const::Duration(ms) = value {
                    found.insert(ms.abs());
                }
            });
        }
    }
    found.remove(&0);
    found
}

fn common(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { common(b, a % b) }
}
