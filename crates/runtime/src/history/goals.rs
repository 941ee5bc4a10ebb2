//! Which goals a history is held to, and when each is looked at.

use std::cell::RefCell;

use design::model::{
    Design, Domain, Expr, ExprKind, Goal, Invariant, LocalId, Subject, SubjectId, visit,
};
use engine::{Column, Equality, Program, Scratch};
use layout::Pool;

use super::world::{Each, World};
use crate::core::Schema;

/// A goal that costs up to so much is looked at after every transition; one that costs more, so much more rarely. So
/// a long history takes a time that grows with its length, not with its square.
const COST: u64 = 256;

/// A goal that does not hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broken {
    pub goal: String,
    /// it could not be evaluated: an overflow, or a division by zero
    pub trouble: Option<&'static str>,
}

/// A goal that no history can be held to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unwatched {
    pub goal: String,
    pub why: &'static str,
}

/// A goal, and at how many transitions it was looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Watched {
    pub goal: String,
    pub looks: u64,
    /// after every one that could break it
    pub always: bool,
    /// after every one for the records that it changed, though time alone may break it for others
    pub each: bool,
}

/// The goals of a design that no history can be held to, and why.
pub fn unwatched(design: &Design) -> Vec<Unwatched> {
    Goals::of(design, &Program::new(design)).unwatched
}

struct Looked {
    goal: Goal,
    /// it speaks of each record of a subject by itself, of those that refer to it, and of those that it refers to
    of_each: Option<Each>,
    /// it speaks of the time: it may break where nothing changes, so that now and then all records are looked at
    timed: bool,
    next: u64,
    looks: u64,
    skipped: u64,
}

pub struct Goals {
    invariants: Vec<Looked>,
    recoveries: Vec<Goal>,
    unwatched: Vec<Unwatched>,
    reads_outside: bool,
    scratch: Scratch,
}

impl Goals {
    pub fn of(design: &Design, program: &Program) -> Goals {
        let mut goals = Goals {
            invariants: Vec::new(),
            recoveries: Vec::new(),
            unwatched: Vec::new(),
            reads_outside: false,
            scratch: Scratch::new(),
        };
        let unwatched = |goal: &Invariant, why| Unwatched { goal: goal.name.clone(), why };
        for (at, goal) in (0..).zip(&design.invariants) {
            match never_watched(design, goal) {
                Some(why) => goals.unwatched.push(unwatched(goal, why)),
                None => {
                    goals.reads_outside |= any(goal, &reads_outside);
                    goals.invariants.push(Looked {
                        goal: Goal::Invariant(at),
                        of_each: of_each(design, program, goal),
                        timed: any(goal, &|part| matches!(part.kind, ExprKind::Now)),
                        next: 0,
                        looks: 0,
                        skipped: 0,
                    });
                }
            }
        }
        for (at, goal) in (0..).zip(&design.recoveries) {
            match never_watched(design, goal) {
                Some(why) => goals.unwatched.push(unwatched(goal, why)),
                None => {
                    goals.reads_outside |= any(goal, &reads_outside);
                    goals.recoveries.push(Goal::Recovery(at));
                }
            }
        }
        for leads in &design.leads {
            let why = "a `leads_to` speaks of what comes, and a history ends";
            goals.unwatched.push(unwatched(&leads.goal, why));
        }
        goals
    }

    pub fn of_feed_alone(&mut self, design: &Design) {
        self.reads_outside = false;
        let declared = |goal: Goal| match goal {
            Goal::Invariant(at) => &design.invariants[at as usize],
            Goal::Recovery(at) => &design.recoveries[at as usize],
            Goal::LeadsTo(at) => &design.leads[at as usize].goal,
        };
        let unwatched = &mut self.unwatched;
        let mut in_the_feed = |goal: Goal| {
            let goal = declared(goal);
            let why = if any(goal, &reads_outside) {
                "what the world outside did is not in the feed"
            } else if any(goal, &reads_memory) {
                "what callers remember of reads is not in the feed"
            } else {
                return true;
            };
            unwatched.push(Unwatched { goal: goal.name.clone(), why });
            false
        };
        self.invariants.retain(|looked| in_the_feed(looked.goal));
        self.recoveries.retain(|goal| in_the_feed(*goal));
    }

    /// Only these are looked at.
    pub fn keep(&mut self, is_kept: impl Fn(Goal) -> bool) {
        self.invariants.retain(|looked| is_kept(looked.goal));
        self.recoveries.retain(|goal| is_kept(*goal));
    }

    /// What records are to be looked up by.
    pub fn columns(&self) -> impl Iterator<Item = (SubjectId, Column)> {
        let each = self.invariants.iter().filter_map(|looked| looked.of_each.as_ref());
        each.flat_map(|each| each.follows.iter().map(|(column, _)| (each.subject, *column)))
    }

    pub fn read_the_outside(&self) -> bool {
        self.reads_outside
    }

    pub fn unwatched(&self) -> &[Unwatched] {
        &self.unwatched
    }

    pub fn watched(&self, design: &Design) -> Vec<Watched> {
        let watched = self.invariants.iter().map(|looked| Watched {
            goal: name(design, looked.goal),
            looks: looked.looks,
            always: looked.skipped == 0,
            each: looked.of_each.is_some(),
        });
        watched.collect()
    }

    pub fn broken(
        &mut self,
        schema: &Schema,
        world: &World,
        pool: &RefCell<Pool>,
        count: u64,
        all: bool,
    ) -> Vec<Broken> {
        let mut broken = Vec::new();
        for looked in &mut self.invariants {
            // one that speaks of the time is looked at for what changed, and now and then for all
            let whole = all || looked.timed && count >= looked.next;
            let of_each = looked.of_each.as_ref().filter(|_| !whole);
            let changed = of_each.map(|each| (each.subject, world.affected(each)));
            let only = changed.as_ref().map(|(subject, keys)| (*subject, &keys[..]));
            if only.is_some_and(|(_, keys)| keys.is_empty()) {
                continue;
            }
            looked.skipped += u64::from(looked.timed && !whole);
            if only.is_none() && !all {
                if count < looked.next {
                    looked.skipped += 1;
                    continue;
                }
                let Goal::Invariant(at) = looked.goal else { continue };
                let body = &schema.design.invariants[at as usize].body;
                looked.next = count + (cost(body, &schema.design, world) / COST).max(1);
            }
            looked.looks += 1;
            let (new, old) = (world.view(pool, false, only), world.view(pool, true, only));
            let held =
                engine::holds(&schema.program, looked.goal, &new, Some(&old), &mut self.scratch);
            broken.extend(told(&schema.design, looked.goal, held));
        }
        broken
    }

    pub fn not_recovered(
        &mut self,
        schema: &Schema,
        world: &World,
        pool: &RefCell<Pool>,
    ) -> Vec<Broken> {
        let mut broken = Vec::new();
        for goal in &self.recoveries {
            let new = world.view(pool, false, None);
            let held = engine::holds(&schema.program, *goal, &new, None::<&_>, &mut self.scratch);
            broken.extend(told(&schema.design, *goal, held));
        }
        broken
    }
}

fn told(design: &Design, goal: Goal, held: Result<bool, engine::Refusal>) -> Option<Broken> {
    match held {
        Ok(true) => None,
        Ok(false) => Some(Broken { goal: name(design, goal), trouble: None }),
        Err(refusal) => {
            let trouble = Some(refusal.reason.name());
            Some(Broken { goal: name(design, goal), trouble })
        }
    }
}

fn name(design: &Design, goal: Goal) -> String {
    match goal {
        Goal::Invariant(at) => design.invariants[at as usize].name.clone(),
        Goal::Recovery(at) => design.recoveries[at as usize].name.clone(),
        Goal::LeadsTo(at) => design.leads[at as usize].goal.name.clone(),
    }
}

fn any(goal: &Invariant, is: &dyn Fn(&Expr) -> bool) -> bool {
    let mut found = false;
    visit::each(&goal.body, &mut |part| found |= is(part));
    found
}

fn domain(part: &Expr) -> Option<&Domain> {
    match &part.kind {
        ExprKind::Quantifier { domain, .. } | ExprKind::Aggregate { domain, .. } => Some(domain),
        _ => None,
    }
}

fn reads_outside(part: &Expr) -> bool {
    matches!(domain(part), Some(Domain::World(_)))
}

fn reads_memory(part: &Expr) -> bool {
    matches!(part.kind, ExprKind::Remembered { .. })
}

/// Why a served history says nothing about a goal.
fn never_watched(design: &Design, goal: &Invariant) -> Option<&'static str> {
    let queued =
        |part: &Expr| matches!(domain(part), Some(Domain::Messages(_) | Domain::Outbox(_)));
    let copied = |part: &Expr| match &part.kind {
        ExprKind::Attr { base, attr } => base.ty.subject().is_some_and(|subject| {
            let subject = &design.subjects[subject.index()];
            let state = subject.attributes[attr.index()].state;
            !matches!(subject.states[state.index()].kind, design::model::StateKind::Truth)
        }),
        ExprKind::Exists { cache, .. } => cache.is_some(),
        _ => false,
    };
    if any(goal, &queued) {
        return Some("messages that are on their way are not in the feed");
    }
    if any(goal, &copied) {
        return Some("a server keeps no copies, and what is ephemeral is in no feed");
    }
    None
}

/// `all x in S: …` that reads nothing but the record itself, records that refer to it, and those that it refers to.
fn of_each(design: &Design, program: &Program, goal: &Invariant) -> Option<Each> {
    let ExprKind::Quantifier { all: true, local, domain, filter, body } = &goal.body.kind else {
        return None;
    };
    let Domain::All(subject) = **domain else { return None };
    let mut confined = Confined {
        design,
        program,
        each: Each { subject, through: Vec::new(), follows: Vec::new() },
        of: *local,
        own: vec![*local],
    };
    let parts = filter.iter().map(|filter| &**filter).chain([&**body]);
    let is = parts.into_iter().all(|part| confined.reads(part));
    is.then_some(confined.each)
}

/// Whether a goal reads nothing but one record, records that refer to it, and those that it refers to.
struct Confined<'d> {
    design: &'d Design,
    program: &'d Program,
    each: Each,
    /// the variable that stands for the record
    of: LocalId,
    /// it, and those that stand for records that refer to it
    own: Vec<LocalId>,
}

impl Confined<'_> {
    fn reads(&mut self, part: &Expr) -> bool {
        let refers = match &part.kind {
            ExprKind::Attr { base, .. } => {
                let own = matches!(base.kind, ExprKind::Local(it) if self.own.contains(&it));
                return own || self.follows(base);
            }
            ExprKind::Exists { .. }
            | ExprKind::Remembered { .. }
            | ExprKind::Counter { .. }
            | ExprKind::LogEnd { .. }
            | ExprKind::LogStart { .. }
            | ExprKind::Stored(_) => return false,
            ExprKind::Quantifier { all, local, domain, filter, body } => {
                let equal = || engine::equality(*local, filter.as_deref(), Some((body, *all)));
                self.refers(*local, domain, &equal)
            }
            ExprKind::Aggregate { local, domain, filter, .. } => {
                self.refers(*local, domain, &|| engine::equality(*local, filter.as_deref(), None))
            }
            _ => true,
        };
        let mut within = refers;
        visit::children(part, &mut |child| within = within && self.reads(child));
        within
    }

    /// Is this a record that the one that the goal is about refers to?
    fn follows(&mut self, base: &Expr) -> bool {
        let (ExprKind::Attr { base: of, .. } | ExprKind::KeyPart { base: of, .. }) = &base.kind
        else {
            return false;
        };
        let subject = self.each.subject;
        let column = engine::column(base, self.program.layout(subject));
        let (Some(column), Some(other)) = (column, base.ty.subject()) else { return false };
        let implicit = self.design.subjects[subject.index()].implicit;
        if !matches!(of.kind, ExprKind::Local(it) if it == self.of)
            || implicit && matches!(column, Column::Word(_))
        {
            return false;
        }
        if !self.each.follows.contains(&(column, other)) {
            self.each.follows.push((column, other));
        }
        true
    }

    /// Does this variable stand for records that refer to the one that the goal is about?
    fn refers<'e>(
        &mut self,
        local: LocalId,
        domain: &Domain,
        equal: &dyn Fn() -> Option<Equality<'e>>,
    ) -> bool {
        let is_of = |expr: &Expr| matches!(expr.kind, ExprKind::Local(it) if it == self.of);
        let (other, column) = match domain {
            Domain::Elements(_) => return true,
            Domain::Children { child, parent } if is_of(parent) => (*child, Some(Column::Part(0))),
            Domain::All(other) => {
                let found = equal().filter(|found| is_of(found.other));
                let layout = self.program.layout(*other);
                (*other, found.and_then(|found| engine::column(found.own, layout)))
            }
            _ => return false,
        };
        let Some(column) = column.filter(|_| other != self.each.subject) else { return false };
        let implicit = self.design.subjects[other.index()].implicit;
        if implicit && matches!(column, Column::Word(_)) {
            return false;
        }
        self.own.push(local);
        self.each.through.push((other, column));
        true
    }
}

/// Does an equality pick the records that make a difference?
fn is_looked_up(part: &Expr, subject: &Subject) -> bool {
    let found = match &part.kind {
        ExprKind::Quantifier { all, local, filter, body, .. } => {
            engine::equality(*local, filter.as_deref(), Some((body, *all)))
        }
        ExprKind::Aggregate { local, filter, .. } => {
            engine::equality(*local, filter.as_deref(), None)
        }
        _ => None,
    };
    // a record that nobody has written has its defaults, and stands in no index by them
    let in_key = |own: &Expr| matches!(own.kind, ExprKind::KeyPart { .. });
    found.is_some_and(|found| !subject.implicit || in_key(found.own))
}

/// About how much there is to look at.
fn cost(part: &Expr, design: &Design, world: &World) -> u64 {
    let mut within: u64 = 0;
    visit::children(part, &mut |child| within = within.saturating_add(cost(child, design, world)));
    let times = match domain(part) {
        // an index tells which, and they are few
        Some(Domain::All(subject)) if is_looked_up(part, &design.subjects[subject.index()]) => 4,
        Some(Domain::Children { .. }) => 4,
        Some(Domain::All(subject)) => world.records_of(*subject),
        Some(Domain::Principals(actor)) => world.principals_of(*actor),
        Some(Domain::World(effect)) => world.done_of(*effect),
        Some(Domain::Elements(_)) => 4,
        _ => 1,
    };
    within.saturating_add(1).saturating_mul(times as u64)
}

#[cfg(test)]
mod tests {
    use engine::Word;

    use super::*;

    fn shop(goal: &str) -> Design {
        let text = format!(
            "design Shop
actor buyer
subject Seat(seat: text) {{ truth Sold {{ sold: bool = false, to: Booking? }} }}
subject Booking(booking: text) {{ truth Hold {{ seat: Seat, open: bool = true }} }}
step buyer[add(seat: new Seat)] {{ Sold.sold := false }}
step buyer[book(seat: Seat, booking: new Booking)] {{ Hold := {{ seat: seat, open: true }} }}
invariant it: {goal}
check {{ seat: 1  booking: 1  buyer: 1 }}
"
        );
        let compiled = design::compile("shop", &text, &design::NoCatalog);
        compiled.design.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics))
    }

    fn each(goal: &str) -> Option<Vec<(SubjectId, Column)>> {
        let design = shop(goal);
        let found = of_each(&design, &Program::new(&design), &design.invariants[0]);
        found.map(|each| each.through)
    }

    #[test]
    fn a_goal_of_each_record_may_read_those_that_refer_to_it_and_no_others() {
        assert_eq!(each("all s in Seat: s.sold or not s.sold"), Some(vec![]));
        for goal in [
            "all s in Seat: count(b in Booking where b.seat = s and b.open) <= 1",
            "all s in Seat: all b in Booking: b.seat = s implies b.open or s.sold",
            "all s in Seat: all b in Booking: b.seat != s or b.open",
            "all s in Seat: s.sold or not any b in Booking: b.seat = s and b.open",
        ] {
            let through = each(goal).unwrap_or_else(|| panic!("{goal}"));
            assert!(matches!(through[..], [(_, Column::Word(_))]), "{goal}: {through:?}");
        }
        assert_eq!(each("all s in Seat: s.to = null or s.to.open"), Some(vec![]));
        for goal in [
            "all s in Seat: s.to = null or s.to.seat.sold",
            "all s in Seat: count(b in Booking where b.open) <= 1 or s.sold",
            "all s in Seat: all b in Booking: b.seat = s or b.open",
            "all a in Seat: all b in Seat: a = b or a.sold or b.sold",
            "all s in Seat: all b in Booking: b.seat = s implies b.seat.sold",
        ] {
            assert_eq!(each(goal), None, "{goal}");
        }
    }

    /// Beside a look at all records after every change: what a change breaks is found by a look at those alone that it
    /// could break it for.
    #[test]
    fn what_a_change_breaks_is_found_where_it_could_break_it() {
        let goals = [
            "all s in Seat: count(b in Booking where b.seat = s and b.open) <= 1",
            "all s in Seat: s.to = null or s.to.open",
            "all b in Booking: b.open implies b.seat.sold",
            "all b in Booking: old(b.seat.sold) implies b.seat.sold or not b.open",
            "all s in Seat: s.to = null or s.to.open or not any b in Booking: b.seat = s and b.open",
        ];
        let mut found = 0;
        for goal in goals {
            let schema = Schema::new(shop(goal), layout::DesignNumber(0)).unwrap();
            let (seat, booking) = (SubjectId::of(0), SubjectId::of(1));
            let each = of_each(&schema.design, &schema.program, &schema.design.invariants[0]);
            let each = each.unwrap_or_else(|| panic!("{goal}"));
            let pool = RefCell::new(Pool::new(schema.program.texts()));
            let mut scratch = Scratch::new();
            for seed in 0..60 {
                let mut chance = store::Seeded::new(seed);
                let mut world = World::new(&schema.design, &schema.program);
                for (column, _) in &each.follows {
                    world.index_by(each.subject, *column);
                }
                let key = |subject: SubjectId, number: u64| -> Word {
                    let text = pool.borrow_mut().text(format!("k{number}").as_bytes());
                    crate::core::Handles(&pool).key_of(subject, &[text])
                };
                for number in 0..4 {
                    let words = [vec![1, engine::NULL], vec![key(seat, number), 0]];
                    for (of, words) in [seat, booking].into_iter().zip(words) {
                        world.set((of, key(of, number)), Some(words.into()), 0, &|_| 0);
                    }
                }
                for now in 1..60 {
                    world.begin(now);
                    for _ in 0..=chance.below(2) {
                        let (of, other) = match chance.below(2) {
                            0 => (seat, booking),
                            _ => (booking, seat),
                        };
                        let own = key(of, chance.below(4));
                        let yes = Word::from(chance.percent(50));
                        let to = match of == seat && chance.percent(30) {
                            true => engine::NULL,
                            false => key(other, chance.below(4)),
                        };
                        let words = if of == seat { vec![yes, to] } else { vec![to, yes] };
                        world.set((of, own), Some(words.into()), now, &|_| 0);
                    }
                    let mut holds = |only: Option<&[Word]>| {
                        let only = only.map(|keys| (each.subject, keys));
                        let (new, old) =
                            (world.view(&pool, false, only), world.view(&pool, true, only));
                        let goal = Goal::Invariant(0);
                        engine::holds(&schema.program, goal, &new, Some(&old), &mut scratch)
                    };
                    let affected = world.affected(&each);
                    let (all, some) = (holds(None), holds(Some(&affected)));
                    if all == Ok(true) {
                        assert_eq!(some, Ok(true), "{goal}, seed {seed}, {now}");
                        continue;
                    }
                    // it held before: this change has broken it
                    assert_ne!(some, Ok(true), "{goal}, seed {seed}, {now}: {affected:?}");
                    found += 1;
                    break;
                }
            }
        }
        assert!(found > 100, "{found}");
    }
}
