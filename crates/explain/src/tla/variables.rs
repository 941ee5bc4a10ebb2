//! The variables of a module: what a state is.

use design::model::{ActorId, AttrId, Fault, MemoryId, StateId, StateKind, SubjectId, Type};

use super::flow::root;
use super::text::set;
use super::world::World;

pub(super) struct Memory {
    pub name: String,
    pub older: Option<String>,
    pub of: Option<SubjectId>,
}

/// Their names, in groups, and what they are at the start.
pub(super) struct Variables {
    /// truth, memory, outbox, world outside, messages: what operations change
    pub steps: Vec<String>,
    /// older memory, calls in flight, what is left of each fault, which places are cut off
    pub faults: Vec<String>,
    /// those whose values are times
    pub times: Vec<String>,
    pub memory: Vec<Memory>,
    /// each with its first value
    pub init: Vec<(String, String)>,
    /// each with what it is
    pub about: Vec<(String, String)>,
    /// messages are kept as a set: each may be delivered any number of times
    pub message_set: bool,
}

impl Variables {
    pub fn left(fault: Fault) -> String {
        format!("Left_{}", fault.name())
    }

    pub fn older(memory: &str) -> String {
        format!("{memory}_older")
    }

    pub fn of(world: &World<'_>) -> Variables {
        let mut all = Variables {
            steps: Vec::new(),
            faults: Vec::new(),
            times: Vec::new(),
            memory: Vec::new(),
            init: Vec::new(),
            about: Vec::new(),
            message_set: world.on(Fault::DoubledMessage)
                && world.budget(Fault::DoubledMessage).is_none(),
        };
        all.truth(world);
        all.remembered(world);
        for effect in world.effects() {
            let name = &world.design.operations[effect.index()].name;
            all.step(
                world.outbox(effect),
                "<<>>".into(),
                format!("open calls to `{name}`: key to arguments"),
            );
            all.step(
                world.outside(effect),
                "<<>>".into(),
                format!("what the world outside has made of each key of `{name}`"),
            );
        }
        if world.targets.contains(&true) {
            let empty = if all.message_set { "{}" } else { "EmptyBag" };
            all.step("Messages".into(), empty.into(), "on their way".into());
        }
        if world.on(Fault::Late) || world.on(Fault::Duplicate) {
            all.fault("InFlight".into(), "EmptyBag".into(), "calls that left, and may land".into());
        }
        if world.on(Fault::Partition) {
            all.fault(
                "CutOff".into(),
                "{}".into(),
                "the places that the others do not hear".into(),
            );
        }
        for setting in &world.design.world.faults {
            if let Some(budget) = setting.budget {
                let about = format!("how often `{}` may still strike", setting.fault.name());
                all.fault(Variables::left(setting.fault), budget.to_string(), about);
            }
        }
        all
    }

    fn step(&mut self, name: String, init: String, about: String) {
        self.steps.push(name.clone());
        self.init.push((name.clone(), init));
        self.about.push((name, about));
    }

    fn fault(&mut self, name: String, init: String, about: String) {
        self.faults.push(name.clone());
        self.init.push((name.clone(), init));
        self.about.push((name, about));
    }

    fn truth(&mut self, world: &World<'_>) {
        for (index, subject) in world.design.subjects.iter().enumerate() {
            let id = SubjectId::of(index);
            let keys = world.keys(id);
            let of = |value: &str| format!("[k \\in {keys} |-> {value}]");
            if !subject.implicit {
                let about = format!("is there such a {}?", subject.name);
                self.step(world.there(id), of("FALSE"), about);
            }
            for (at, attribute) in subject.attributes.iter().enumerate() {
                let attr = AttrId::of(at);
                if !world.kept(id, attr) {
                    continue;
                }
                let name = world.attr(id, attr);
                let state = &subject.states[attribute.state.index()].name;
                self.step(
                    name.clone(),
                    of(&world.blank(id, attr)),
                    format!("{state}.{}", attribute.name),
                );
                if attribute.ty.fields().is_some() {
                    world.refuse("lists of records");
                }
                match attribute.ty.required() {
                    Type::Time => self.times.push(name),
                    Type::List { of, .. } | Type::Set { of, .. } | Type::Map { value: of, .. }
                        if *of.required() == Type::Time =>
                    {
                        world.refuse("collections of times");
                    }
                    _ => {}
                }
            }
            for (at, state) in subject.states.iter().enumerate() {
                if let StateKind::Log { .. } = state.kind {
                    for end in [false, true] {
                        let about =
                            format!("where {} {}", state.name, if end { "ends" } else { "begins" });
                        self.step(world.log(id, StateId::of(at), end), of("0"), about);
                    }
                }
                if let StateKind::Cache { .. } = state.kind {
                    world.refuse("caches");
                }
            }
        }
    }

    fn remembered(&mut self, world: &World<'_>) {
        let pause = world.on(Fault::Pause);
        let carried = world.on(Fault::Late) || world.on(Fault::Duplicate);
        for index in 0..world.design.actors.len() {
            let actor = ActorId::of(index);
            if root(world.design, actor) != actor {
                continue;
            }
            let held = &world.design.actors[index];
            for (at, field) in held.memory.iter().enumerate() {
                let name = world.memory(actor, MemoryId::of(at));
                let who = set(&world.principals(actor));
                let init = match field.of {
                    Some(of) => format!("[k \\in {who} \\X {} |-> Null]", world.keys(of)),
                    None => format!("[k \\in {who} |-> Null]"),
                };
                let about = format!("what a {} remembers: {}", held.name, field.name);
                self.step(name.clone(), init.clone(), about);
                let older = pause.then(|| Variables::older(&name));
                if let Some(older) = &older {
                    self.fault(older.clone(), init, "what it remembered before".into());
                }
                if *field.ty.required() == Type::Time {
                    self.times.push(name.clone());
                    self.times.extend(older.clone());
                    if carried {
                        world.refuse("a remembered time that travels with a call");
                    }
                }
                self.memory.push(Memory { name, older, of: field.of });
            }
        }
    }
}
