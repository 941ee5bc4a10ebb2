//! Who calls: a few principals for each actor that anybody can be.

use design::model::{
    ActorId, Design, Fault, Goal, OperationId, OperationKind, World as CheckWorld, visit,
};
use store::Seeded;

/// So many can act as one actor.
const EACH: usize = 3;

pub struct Person {
    pub name: String,
    pub actor: ActorId,
    /// the steps and reads that it may call
    pub operations: Vec<OperationId>,
}

/// A principal may do whatever the actors of its chain may. The last one of each chain is the same person in all of them.
pub fn people(design: &Design) -> Vec<Person> {
    let callable = callable(design);
    let mut people = Vec::new();
    for at in 0..design.actors.len() {
        let actor = ActorId::of(at);
        if root(design, actor) != actor {
            continue;
        }
        let of = |id: &&OperationId| root(design, design.operations[id.index()].actor) == actor;
        let operations: Vec<OperationId> = callable.iter().filter(of).copied().collect();
        if operations.is_empty() {
            continue;
        }
        for number in 1..=EACH {
            // Who is not apart from others may be the same person as they are.
            let is_one_of_many = number == EACH && design.actors[at].apart.is_empty();
            let kind = if is_one_of_many { "person" } else { &design.actors[at].name };
            let name = format!("{kind}-{number}");
            people.push(Person { name, actor, operations: operations.clone() });
        }
    }
    people
}

/// Steps and reads that somebody may call. What messages and events call is called by nobody else.
pub fn callable(design: &Design) -> Vec<OperationId> {
    let messages = visit::message_targets(design);
    let operations = (0..design.operations.len()).map(OperationId::of);
    operations
        .filter(|id| {
            let operation = &design.operations[id.index()];
            match operation.kind {
                OperationKind::Step { .. } => !messages[id.index()] && operation.hears.is_none(),
                // a search needs an engine that not every build has
                OperationKind::Read { .. } => !visit::searches(design, operation),
                _ => false,
            }
        })
        .collect()
}

fn root(design: &Design, mut actor: ActorId) -> ActorId {
    // the compiler refuses a chain that comes back to itself
    while let Some(base) = design.actors[actor.index()].continues {
        actor = base;
    }
    actor
}

/// What callers have to stand, in one of the worlds that a design is checked in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stands {
    pub lost_replies: bool,
    /// a call arrives twice, each time under a key of its own
    pub duplicates: bool,
    pub crashes: bool,
    pub clock_steps: bool,
}

impl Stands {
    fn of(world: &CheckWorld) -> Stands {
        let has = |fault: Fault| world.faults.iter().any(|setting| setting.fault == fault);
        Stands {
            lost_replies: has(Fault::LostReply),
            duplicates: has(Fault::Duplicate),
            crashes: has(Fault::Crash),
            clock_steps: has(Fault::ClockStep),
        }
    }

    /// One of the worlds, by chance. What none of them names is not done to anybody.
    pub fn draw(design: &Design, seeded: &mut Seeded) -> Stands {
        let at = seeded.below(design.worlds.len() as u64 + 1) as usize;
        Stands::of(design.worlds.get(at).map_or(&design.world, |named| &named.world))
    }

    /// Was this goal judged where at least so much may happen?
    pub fn is_judged(self, design: &Design, goal: Goal) -> bool {
        let named = design.worlds.iter().find(|named| named.goals.contains(&goal));
        let judged = Stands::of(named.map_or(&design.world, |named| &named.world));
        (!self.lost_replies || judged.lost_replies)
            && (!self.duplicates || judged.duplicates)
            && (!self.crashes || judged.crashes)
            && (!self.clock_steps || judged.clock_steps)
    }
}
