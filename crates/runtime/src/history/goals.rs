//! Which goals a history is held to, and when each is looked at.

use std::cell::RefCell;

use design::model::{Design, Domain, Expr, ExprKind, Goal, Invariant, SubjectId, visit};
use engine::Scratch;
use layout::Pool;

use super::world::World;
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
}

/// The goals of a design that no history can be held to, and why.
pub fn unwatched(design: &Design) -> Vec<Unwatched> {
    Goals::of(design).unwatched
}

struct Looked {
    goal: Goal,
    /// it speaks of each record of a subject by itself: only those that changed can break it
    of_each: Option<SubjectId>,
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
    pub fn of(design: &Design) -> Goals {
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
                    let (goal, of_each) = (Goal::Invariant(at), of_each(goal));
                    goals.invariants.push(Looked { goal, of_each, next: 0, looks: 0, skipped: 0 });
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
            let of_each = looked.of_each.filter(|_| !all);
            let changed = of_each.map(|subject| (subject, world.changed_of(subject)));
            let only = changed.as_ref().map(|(subject, keys)| (*subject, &keys[..]));
            if only.is_some_and(|(_, keys)| keys.is_empty()) {
                continue;
            }
            if only.is_none() && !all {
                if count < looked.next {
                    looked.skipped += 1;
                    continue;
                }
                let Goal::Invariant(at) = looked.goal else { continue };
                let body = &schema.design.invariants[at as usize].body;
                looked.next = count + (cost(body, world) / COST).max(1);
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

/// `all x in S: …` that reads nothing but the record itself.
fn of_each(goal: &Invariant) -> Option<SubjectId> {
    let ExprKind::Quantifier { all: true, local, domain, filter, body } = &goal.body.kind else {
        return None;
    };
    let Domain::All(subject) = **domain else { return None };
    let mut own = true;
    for part in filter.iter().map(|filter| &**filter).chain([&**body]) {
        visit::each(part, &mut |part| {
            own &= match &part.kind {
                ExprKind::Attr { base, .. } => {
                    matches!(base.kind, ExprKind::Local(it) if it == *local)
                }
                ExprKind::Quantifier { domain, .. } | ExprKind::Aggregate { domain, .. } => {
                    matches!(**domain, Domain::Elements(_))
                }
                // time passes also where nothing changes
                ExprKind::Now
                | ExprKind::Exists { .. }
                | ExprKind::Remembered { .. }
                | ExprKind::Counter { .. }
                | ExprKind::LogEnd { .. }
                | ExprKind::LogStart { .. }
                | ExprKind::Stored(_) => false,
                _ => true,
            };
        });
    }
    own.then_some(subject)
}

/// About how much there is to look at.
fn cost(part: &Expr, world: &World) -> u64 {
    let mut within: u64 = 0;
    visit::children(part, &mut |child| within = within.saturating_add(cost(child, world)));
    let times = match domain(part) {
        Some(Domain::All(subject) | Domain::Children { child: subject, .. }) => {
            world.records_of(*subject)
        }
        Some(Domain::Principals(actor)) => world.principals_of(*actor),
        Some(Domain::World(effect)) => world.done_of(*effect),
        Some(Domain::Elements(_)) => 4,
        _ => 1,
    };
    within.saturating_add(1).saturating_mul(times as u64)
}
