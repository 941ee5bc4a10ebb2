//! Random designs of two parts: two small designs in one text, which have nothing in common but their callers,
//! the clock and the faults, or only a little: a clause that reads the other part, a step that writes to both,
//! a message or a repair that hangs on a record of the other.

use super::ast::*;
use super::dice::Dice;
use super::explore::explore;
use super::generate::{self, MENDER, USER};
use super::links;
use super::world::World;

/// A part by itself has at most so many states.
const PART_STATES_MAX: usize = 25;

/// Both together have at most so many.
const STATES_MAX: usize = 300;

/// Designs that are put together have at most so many goals, and failures, each.
const GOALS_MAX: usize = 3;
const FAILURES_MAX: usize = 1;

/// The same seed gives the same design.
pub fn design(seed: u64) -> Design {
    let mut dice = Dice::new(seed ^ 0x2_0a27);
    loop {
        let wanted = dice.pick(&WANTED);
        let first = small(&mut dice, &wanted);
        let second = small(&mut dice, &|second| fits(&first, second));
        let mut joined = join(first, second, seed, &mut dice);
        let count = dice.pick(&[0, 0, 1, 1, 2]);
        if count > 0 {
            without_places(&mut joined.design);
        }
        links::link(&mut joined, count, &mut dice);
        // What one part is for decides what of the other is left out.
        if dice.chance(70) {
            joined.goals_of_one_part(&mut dice);
        }
        links::heard(&mut joined, &mut dice);
        links::stutter(&mut joined, &mut dice);
        if states(&joined.design, STATES_MAX).is_some() {
            return joined.design;
        }
    }
}

/// What the first part has; few random designs have some of these.
pub(super) const WANTED: [fn(&Design) -> bool; 8] = [
    |_| true,
    |_| true,
    has_messages,
    has_messages,
    |design| design.ops.iter().any(|op| op.kind == Kind::Repair),
    |design| design.ops.iter().any(|op| op.kind == Kind::Repair),
    |design| !design.effects.is_empty(),
    |design| design.has(Fault::ClockStep),
];

/// A design of two parts, and where the second begins.
pub struct Joined {
    pub design: Design,
    /// the subjects of the second part
    pub from: usize,
    /// its goals
    pub(super) goals_from: usize,
}

impl Joined {
    /// Leaves out the goals of one part.
    fn goals_of_one_part(&mut self, dice: &mut Dice) {
        let all = std::mem::take(&mut self.design.goals);
        let second = dice.chance(50);
        let kept = |goal: usize| (goal >= self.goals_from) == second;
        let shift = if second { self.goals_from } else { 0 };
        self.design.failures.retain(|failure| kept(failure.breaks));
        self.design.failures.iter_mut().for_each(|failure| failure.breaks -= shift);
        let goals = all.into_iter().enumerate().filter(|(at, _)| kept(*at));
        self.design.goals = goals.map(|(_, goal)| goal).collect();
    }

    /// The subjects of the part that this one is not of.
    pub fn across(&self, subject: usize) -> std::ops::Range<usize> {
        match subject < self.from {
            true => self.from..self.design.subjects.len(),
            false => 0..self.from,
        }
    }
}

pub(super) fn states(design: &Design, max: usize) -> Option<u64> {
    let fine = design.check.time.unwrap_or_else(|| {
        let world = World::new(design, 1, None);
        world.stored_times() as i64 + 1
    });
    explore(&World::new(design, fine, None), max).map(|found| found.states)
}

/// A random design that is small enough to be a part.
pub(super) fn small(dice: &mut Dice, fits: &dyn Fn(&Design) -> bool) -> Design {
    loop {
        let mut made = generate::made(dice.below(1 << 40) as u64, false);
        made.other = None;
        let mut kept: Vec<usize> = (0..made.goals.len()).collect();
        while kept.len() > GOALS_MAX {
            kept.remove(dice.below(kept.len()));
        }
        let failures = made.failures.iter().filter_map(|held| {
            let breaks = kept.iter().position(|goal| *goal == held.breaks)?;
            Some(Failure { without: held.without.clone(), breaks })
        });
        made.failures = failures.take(FAILURES_MAX).collect();
        made.goals = kept.iter().map(|goal| made.goals[*goal].clone()).collect();
        // A copy of a number with a range would need a bound of its own.
        let ranges =
            made.subjects.iter().flat_map(|held| &held.attrs).any(|held| held.range.is_some());
        if has_copies(&made) && ranges {
            continue;
        }
        if fits(&made) && states(&made, PART_STATES_MAX).is_some_and(|states| states > 1) {
            return made;
        }
    }
}

pub(super) fn has_messages(design: &Design) -> bool {
    design.ops.iter().any(|op| op.kind == Kind::Heard)
}

pub(super) fn has_places(design: &Design) -> bool {
    design.subjects.iter().any(|subject| subject.place)
}

/// A step touches one place: what reaches across the parts has none.
fn without_places(design: &mut Design) {
    for subject in design.subjects.iter_mut().filter(|subject| subject.place) {
        subject.place = false;
        subject.attrs.iter_mut().for_each(|attr| attr.volatile = false);
    }
    design.check.faults.retain(|(fault, _)| *fault != Fault::Partition);
}

pub(super) fn has_copies(design: &Design) -> bool {
    design.subjects.iter().any(|subject| subject.copies.is_some())
}

fn has_times(design: &Design) -> bool {
    World::new(design, 1, None).has_time
}

/// The interpreter knows places, and copies, of one subject.
pub(super) fn fits(first: &Design, second: &Design) -> bool {
    let both = |has: fn(&Design) -> bool| has(first) && has(second);
    if both(has_places) || both(has_copies) {
        return false;
    }
    // One clock for both.
    !both(has_times) || first.check.time == second.check.time
}

/// The numbers that things of the second part have in both.
struct Shift {
    subjects: usize,
    ops: usize,
    effects: usize,
    /// of what the user remembers
    fields: usize,
    actors: Vec<usize>,
}

pub(super) fn join(first: Design, mut second: Design, seed: u64, dice: &mut Dice) -> Joined {
    let mut design = first;
    design.seed = seed;
    let from = design.subjects.len();
    let shared = dice.chance(50);
    let mut shift = Shift {
        subjects: from,
        ops: design.ops.len(),
        effects: design.effects.len(),
        fields: if shared { design.actors[USER].fields.len() } else { 0 },
        actors: Vec::new(),
    };
    let people = std::mem::take(&mut second.actors);
    for (at, held) in people.iter().enumerate() {
        let number = if at == MENDER || at == USER && shared { at } else { design.actors.len() };
        shift.actors.push(number);
        let fields = held.fields.iter().map(|field| shift.field(field));
        if number < design.actors.len() {
            design.actors[number].fields.extend(fields);
            continue;
        }
        let name = match held.name {
            "user" => "guest",
            "boss" => "chief",
            "bank" => "mint",
            other => panic!("`{other}` has no other name"),
        };
        let apart = held.apart.map(|other| shift.actors[other]);
        design.actors.push(Actor { name, count: held.count, fields: fields.collect(), apart });
    }
    check(&mut design, &second, &shift, dice);
    // A message names records that whoever sends it does not read, and the interpreter takes their time.
    if has_messages(&design) || has_messages(&second) {
        design.check.faults.retain(|(fault, _)| *fault != Fault::ClockStep);
    }
    shift.design(&mut second);
    let goals = design.goals.len();
    design.subjects.extend(second.subjects);
    design.ops.extend(second.ops);
    design.effects.extend(second.effects);
    design.goals.extend(second.goals);
    design.failures.extend(second.failures.into_iter().map(|held| {
        let breaks = held.breaks + goals;
        Failure { breaks, ..held }
    }));
    Joined { design, from, goals_from: goals }
}

/// One world for both.
fn check(design: &mut Design, second: &Design, shift: &Shift, dice: &mut Dice) {
    let other = &second.check;
    if !has_times(design) {
        design.check.time = other.time;
    }
    // A time that is moved on needs one.
    design.check.horizon = design.check.horizon.max(other.horizon);
    if !has_places(design) {
        design.check.messages = other.messages;
    }
    if design.check.to.is_none() {
        design.check.to = other.to.map(|actor| shift.actors[actor]);
    }
    design.check.never_unknown |= other.never_unknown;
    for (fault, budget) in &other.faults {
        if !design.has(*fault) && dice.chance(70) {
            design.check.faults.push((*fault, *budget));
        }
    }
    design.check.faults.sort_unstable();
    if design.has(Fault::ClockStep) {
        design.subjects.iter_mut().for_each(|subject| subject.count = 1);
    }
}

impl Shift {
    fn field(&self, field: &Field) -> Field {
        Field { name: "my_m", ty: self.ty(&field.ty), of: field.of + self.subjects }
    }

    fn ty(&self, ty: &Ty) -> Ty {
        match ty {
            Ty::Ref(subject) => Ty::Ref(subject + self.subjects),
            Ty::Set(subject) => Ty::Set(subject + self.subjects),
            other => other.clone(),
        }
    }

    fn design(&self, design: &mut Design) {
        let one = design.has(Fault::ClockStep);
        for subject in &mut design.subjects {
            self.subject(subject);
            subject.count = if one { 1 } else { subject.count };
        }
        for op in &mut design.ops {
            op.name = format!("{}_2", op.name);
            op.actor = self.actors[op.actor];
            self.params(&mut op.params);
            op.guard.iter_mut().for_each(|(_, clause)| self.expr(clause));
            self.body(&mut op.body);
        }
        for effect in &mut design.effects {
            effect.name = format!("{}_2", effect.name);
            effect.actor = self.actors[effect.actor];
            self.params(&mut effect.params);
            effect.guard.iter_mut().for_each(|(_, clause)| self.expr(clause));
            for body in [&mut effect.on_ok, &mut effect.on_refused, &mut effect.on_unknown] {
                self.body(body);
            }
        }
        for goal in &mut design.goals {
            goal.name = format!("{}_2", goal.name);
            goal.leads.iter_mut().flatten().for_each(|op| *op += self.ops);
            self.expr(&mut goal.body);
        }
        for failure in &mut design.failures {
            match &mut failure.without {
                Without::Clause(op, _)
                | Without::Exists(op)
                | Without::Fresh(op)
                | Without::Repair(op)
                | Without::Outbox(op)
                | Without::Keyed(op) => *op += self.ops,
                Without::Key(effect) => *effect += self.effects,
            }
        }
    }

    fn subject(&self, subject: &mut Subject) {
        (subject.name, subject.low) = match subject.name {
            "Alpha" => ("Gamma", "c"),
            "Beta" => ("Delta", "d"),
            other => panic!("`{other}` has no other name"),
        };
        subject.parent = subject.parent.map(|parent| parent + self.subjects);
        subject.copies = subject.copies.map(|actor| self.actors[actor]);
        for (at, attr) in subject.attrs.iter_mut().enumerate() {
            attr.name = format!("{}_{at}", subject.low);
            attr.ty = self.ty(&attr.ty);
        }
    }

    fn params(&self, params: &mut [Param]) {
        for param in params {
            param.ty = self.ty(&param.ty);
            match &param.name[..] {
                "a" => param.name = "c".into(),
                "b" => param.name = "d".into(),
                _ => {}
            }
        }
    }

    fn body(&self, body: &mut [Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Assign(record, subject, _, _, value) => {
                    *subject += self.subjects;
                    self.expr(record);
                    self.expr(value);
                }
                Stmt::Remember(field, _, value) => {
                    *field += self.fields;
                    self.expr(value);
                }
                Stmt::Copy(_, value) => self.expr(value),
                Stmt::New(subject, parent, own) => {
                    *subject += self.subjects;
                    parent.iter_mut().for_each(|parent| self.expr(parent));
                    self.expr(own);
                }
                Stmt::Delete(record) => self.expr(record),
                Stmt::Append(record, subject) => {
                    *subject += self.subjects;
                    self.expr(record);
                }
                Stmt::Tell(op, args) => {
                    *op += self.ops;
                    args.iter_mut().for_each(|arg| self.expr(arg));
                }
                Stmt::Ask(effect, args) => {
                    *effect += self.effects;
                    args.iter_mut().for_each(|arg| self.expr(arg));
                }
                Stmt::If(condition, then, otherwise) => {
                    self.expr(condition);
                    self.body(then);
                    self.body(otherwise);
                }
                Stmt::For(_, over, inner) => {
                    self.expr(over);
                    self.body(inner);
                }
            }
        }
    }

    fn row(&self, row: &mut Row) {
        match row {
            Row::Message(op) => *op += self.ops,
            Row::Entry(effect) => *effect += self.effects,
        }
    }

    fn domain(&self, over: &mut Domain) {
        match over {
            Domain::Subject(subject) => *subject += self.subjects,
            Domain::Children(subject, inner) => {
                *subject += self.subjects;
                self.expr(inner);
            }
            Domain::Elements(inner) => self.expr(inner),
            Domain::People(actor) => *actor = self.actors[*actor],
            Domain::Rows(row) => self.row(row),
        }
    }

    fn expr(&self, expr: &mut Expr) {
        match expr {
            Expr::Lit(_)
            | Expr::Param(_)
            | Expr::Local(_)
            | Expr::Me
            | Expr::Now
            | Expr::Copied(_)
            | Expr::CopyThere(_) => {}
            Expr::Memory(field, _) => *field += self.fields,
            Expr::Keyed(subject, parent, own) => {
                *subject += self.subjects;
                parent.iter_mut().for_each(|parent| self.expr(parent));
                self.expr(own);
            }
            Expr::Attr(inner, subject, _)
            | Expr::Own(inner, subject)
            | Expr::Parent(inner, subject)
            | Expr::LogEnd(inner, subject)
            | Expr::LogStart(inner, subject) => {
                *subject += self.subjects;
                self.expr(inner);
            }
            Expr::Old(inner)
            | Expr::Not(inner)
            | Expr::IsNull(inner)
            | Expr::Field(_, _, inner)
            | Expr::Next(inner)
            | Expr::Size(inner) => self.expr(inner),
            Expr::And(parts) | Expr::Or(parts) | Expr::SetOf(parts) => {
                parts.iter_mut().for_each(|part| self.expr(part));
            }
            Expr::Implies(left, right)
            | Expr::Cmp(_, left, right)
            | Expr::Plus(left, right)
            | Expr::Minus(left, right)
            | Expr::Min(left, right)
            | Expr::Max(left, right)
            | Expr::Line(left, right)
            | Expr::In(left, right) => {
                self.expr(left);
                self.expr(right);
            }
            Expr::If(condition, then, otherwise) => {
                self.expr(condition);
                self.expr(then);
                self.expr(otherwise);
            }
            Expr::Quant { over, filter, body, .. } => {
                self.domain(over);
                filter.iter_mut().for_each(|filter| self.expr(filter));
                self.expr(body);
            }
            Expr::Total { over, filter, value, .. } => {
                self.domain(over);
                filter.iter_mut().chain(value).for_each(|held| self.expr(held));
            }
            Expr::Done(effect, inner) => {
                *effect += self.effects;
                self.expr(inner);
            }
            Expr::Remembered(_, who, field, inner) => {
                *who = self.actors[*who];
                *field += self.fields;
                self.expr(inner);
            }
            Expr::Arg(_, row, _) => self.row(row),
            Expr::View(subject, ..) => *subject += self.subjects,
        }
    }
}
