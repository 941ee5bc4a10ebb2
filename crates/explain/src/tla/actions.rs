//! What can happen: calls and what goes wrong with them, repairs, landings, faults, the clock.

use design::model::{Fault, LocalId, Operation, OperationId, OperationKind};

use super::expr::{Frame, Scope};
use super::run::Run;
use super::text::{junction, or, quoted, tuple};
use super::variables::Variables;
use super::world::World;

/// Names that stand for something in every module.
const TAKEN: [&str; 13] = [
    "me", "rest", "hears", "entry", "call", "message", "answer", "args", "child", "k", "r", "s",
    "p",
];

pub(super) struct Actions<'w> {
    pub world: &'w World<'w>,
    pub variables: &'w Variables,
    /// definitions, in the order in which they are written
    pub text: Vec<String>,
    /// the names of all that can happen
    pub next: Vec<String>,
}

/// How an operation is written down: its name and parameters.
struct Signature {
    name: String,
    personal: bool,
    params: Vec<String>,
    /// for each use of memory: where it is, as `[me, record]`
    at: Vec<String>,
    gives: bool,
    hears: bool,
    rest: bool,
}

impl<'w> Actions<'w> {
    pub fn on(&self, fault: Fault) -> bool {
        self.world.on(fault)
    }

    fn in_flight(&self) -> bool {
        self.on(Fault::Late) || self.on(Fault::Duplicate)
    }

    pub fn param_names(&self, operation: &Operation) -> Vec<(LocalId, String)> {
        let clashes = |name: &str| {
            let numbered = |prefix: &str| {
                name.strip_prefix(prefix)
                    .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
            };
            TAKEN.contains(&name)
                || numbered("x")
                || numbered("given")
                || (0..self.world.design.operations.len())
                    .any(|at| self.world.operation(OperationId::of(at)) == name)
        };
        let own = |name: &str| if clashes(name) { format!("{name}_") } else { name.to_owned() };
        operation.params.iter().map(|param| (param.local, own(&param.name))).collect()
    }

    fn signature(&self, id: OperationId) -> Signature {
        let operation = &self.world.design.operations[id.index()];
        let client = matches!(operation.kind, OperationKind::Step { .. })
            && !self.world.design.actors[operation.actor.index()].is_world
            && !self.world.targets[id.index()];
        let params = self.param_names(operation);
        let at = operation.memory.iter().map(|usage| match usage.of {
            Some(of) => {
                let record = params.iter().find(|(local, _)| *local == of);
                format!("[me, {}]", record.map_or("Null", |(_, name)| name))
            }
            None => "[me]".to_owned(),
        });
        let strange = self.in_flight() || self.on(Fault::Pause);
        Signature {
            name: self.world.operation(id),
            personal: self.world.is_personal(operation),
            at: at.collect(),
            params: params.into_iter().map(|(_, name)| name).collect(),
            gives: client && strange && operation.memory.iter().any(|usage| usage.read),
            hears: client
                && (strange || self.on(Fault::LostReply))
                && operation.memory.iter().any(|usage| usage.written),
            rest: self.world.targets[id.index()],
        }
    }

    /// The operation as a definition: its guard, then what it changes. `lost`: the calls to the world
    /// outside that it makes get lost.
    pub fn operation(&mut self, id: OperationId, lost: bool) {
        let world = self.world;
        let operation = &world.design.operations[id.index()];
        let signature = self.signature(id);
        let mut scope = Scope::of(world, false, Frame::This);
        scope.locals = self.param_names(operation).into_iter().collect();
        let mut heads: Vec<String> = Vec::new();
        if signature.personal {
            heads.push("me".into());
        }
        heads.extend(signature.params.clone());
        for (at, usage) in operation.memory.iter().enumerate() {
            let held = format!("{}{}", world.memory(usage.actor, usage.field), signature.at[at]);
            if signature.gives && usage.read {
                let name = format!("given{}", at + 1);
                heads.push(name.clone());
                scope.memory.push(name);
            } else {
                scope.memory.push(held);
            }
        }
        if signature.hears {
            heads.push("hears".into());
        }
        if signature.rest {
            heads.push("rest".into());
            scope.now.insert("Messages".into(), "rest".into());
        }
        let before = scope.memory.clone();
        let mut run = Run::of(scope, id);
        run.calls_lost = lost;
        run.guarded();
        run.body(&operation.body);
        if lost && let Some(sends) = run.sends() {
            run.need(sends);
        }
        if let Some(condition) = run.writes_memory()
            && condition != "TRUE"
            && world.budget(Fault::LostReply).is_some()
        {
            world.refuse(
                "memory that is written under a condition, while replies get lost so often",
            );
        }
        let memory = self.remembered(operation, &signature, &before, &run.scope.memory);
        let name = if lost { format!("{}_call_lost", signature.name) } else { signature.name };
        let parts = run.finish(&self.variables.steps, &memory);
        let head = if heads.is_empty() { name } else { format!("{name}({})", heads.join(", ")) };
        self.text.push(format!("{head} ==\n{}", junction("/\\", 4, &parts)));
    }

    /// What each variable of memory becomes.
    fn remembered(
        &self,
        operation: &Operation,
        signature: &Signature,
        before: &[String],
        after: &[String],
    ) -> Vec<(String, String)> {
        let mut changes: Vec<(String, Vec<String>)> = Vec::new();
        for (at, usage) in operation.memory.iter().enumerate() {
            if before[at] == after[at] {
                continue;
            }
            let name = self.world.memory(usage.actor, usage.field);
            let change = format!("!{} = {}", signature.at[at], after[at]);
            match changes.iter_mut().find(|(held, _)| *held == name) {
                Some((_, list)) => list.push(change),
                None => changes.push((name, vec![change])),
            }
        }
        let text = |name: &str, list: &[String]| {
            let made = format!("[{name} EXCEPT {}]", list.join(", "));
            if signature.hears { format!("IF hears THEN {made} ELSE {name}") } else { made }
        };
        changes.iter().map(|(name, list)| (name.clone(), text(name, list))).collect()
    }

    /// The operation applied: who, with which arguments and memory, and is the answer heard?
    fn applied(&self, signature: &Signature, given: &[String], hears: bool, lost: bool) -> String {
        let mut args: Vec<String> = Vec::new();
        if signature.personal {
            args.push("me".into());
        }
        args.extend(signature.params.clone());
        if signature.gives {
            args.extend_from_slice(given);
        }
        if signature.hears {
            args.push(if hears { "TRUE" } else { "FALSE" }.into());
        }
        let name =
            if lost { format!("{}_call_lost", signature.name) } else { signature.name.clone() };
        if args.is_empty() { name } else { format!("{name}({})", args.join(", ")) }
    }

    /// One way in which a call goes: what strikes, what is done, and what becomes of the rest.
    fn way(
        &self,
        conditions: &[String],
        charges: &[Fault],
        step: Option<String>,
        becomes: &[(String, String)],
    ) -> String {
        let mut parts = conditions.to_vec();
        let mut set: Vec<String> = becomes.iter().map(|(name, _)| name.clone()).collect();
        let mut last: Vec<String> =
            becomes.iter().map(|(name, text)| format!("{name}' = {text}")).collect();
        for fault in charges {
            if self.world.budget(*fault).is_some() {
                let left = Variables::left(*fault);
                parts.push(format!("{left} > 0"));
                last.push(format!("{left}' = {left} - 1"));
                set.push(left);
            }
        }
        match step {
            Some(step) => parts.push(step),
            None => parts.push(format!("UNCHANGED {}", tuple(&self.variables.steps))),
        }
        parts.append(&mut last);
        let same: Vec<String> =
            self.variables.faults.iter().filter(|name| !set.contains(name)).cloned().collect();
        if !same.is_empty() {
            parts.push(format!("UNCHANGED {}", tuple(&same)));
        }
        if parts.len() == 1 { parts.remove(0) } else { junction("/\\", 0, &parts) }
    }

    /// Everything that can come of a call to this operation.
    pub fn calls(&mut self, id: OperationId) {
        let world = self.world;
        let operation = &world.design.operations[id.index()];
        let signature = self.signature(id);
        let name_of = |at: usize| {
            let usage = &operation.memory[at];
            world.memory(usage.actor, usage.field)
        };
        let uses: Vec<usize> = (0..operation.memory.len()).collect();
        let read: Vec<usize> =
            uses.iter().copied().filter(|at| operation.memory[*at].read).collect();
        let written: Vec<usize> =
            uses.iter().copied().filter(|at| operation.memory[*at].written).collect();
        let current: Vec<String> =
            read.iter().map(|at| format!("{}{}", name_of(*at), signature.at[*at])).collect();
        let is_world = world.design.actors[operation.actor.index()].is_world;
        let client = matches!(operation.kind, OperationKind::Step { .. }) && !is_world;
        let keyed =
            operation.kind == (OperationKind::Step { keyed: true }) && !world.is_keyed_gone(id);
        let plain = || Some(self.applied(&signature, &current, true, false));
        let unheard = || Some(self.applied(&signature, &current, false, false));
        let flight = |memory: &[String]| {
            let me = if signature.personal { "me" } else { "Null" };
            let call = format!(
                "[step |-> {}, me |-> {me}, args |-> {}, memory |-> {}]",
                quoted(&operation.name),
                tuple(&signature.params),
                tuple(memory)
            );
            ("InFlight".to_owned(), format!("InFlight (+) SetToBag({{{call}}})"))
        };
        let room = format!("BagCardinality(InFlight) < {}", world.setting("calls", 1));
        let twice = self.on(Fault::Duplicate) && client && !keyed;
        let mut ways = vec![self.way(&[], &[], plain(), &[])];
        if world.is_outbox_gone(id) {
            let step = self.applied(&signature, &current, true, true);
            ways.push(format!(
                "\\* the calls to the world outside get lost\n{}",
                self.way(&[], &[], Some(step), &[])
            ));
        }
        if twice {
            let way = self.way(
                std::slice::from_ref(&room),
                &[Fault::Duplicate],
                plain(),
                &[flight(&current)],
            );
            ways.push(format!("\\* it will be delivered once more\n{way}"));
        }
        if self.on(Fault::LostReply) && client && !written.is_empty() {
            let way = self.way(&[], &[Fault::LostReply], unheard(), &[]);
            ways.push(format!("\\* its reply is lost\n{way}"));
            if twice {
                let charges = [Fault::LostReply, Fault::Duplicate];
                let way =
                    self.way(std::slice::from_ref(&room), &charges, unheard(), &[flight(&current)]);
                ways.push(format!(
                    "\\* its reply is lost, and it will be delivered once more\n{way}"
                ));
            }
        }
        if self.on(Fault::Pause) && !is_world && !written.is_empty() {
            let overwritten = |at: &usize| {
                let held = format!("{}{}", name_of(*at), signature.at[*at]);
                let next = format!("{}'{}", name_of(*at), signature.at[*at]);
                format!("{held} # Null /\\ {next} # {held}")
            };
            let mut older: Vec<(String, String)> = Vec::new();
            for at in &written {
                let (name, place) = (Variables::older(&name_of(*at)), &signature.at[*at]);
                let held = format!("{}{place}", name_of(*at));
                let kept = format!("IF {} THEN {held} ELSE @", overwritten(at));
                let change = format!("!{place} = {kept}");
                match older.iter_mut().find(|(held, _)| *held == name) {
                    Some((_, text)) => {
                        text.truncate(text.len() - 1);
                        text.push_str(&format!(", {change}]"));
                    }
                    None => older.push((name.clone(), format!("[{name} EXCEPT {change}]"))),
                }
            }
            let any: Vec<String> = written.iter().map(overwritten).collect();
            let step = plain().map(|step| junction("/\\", 0, &[step, or(&any)]));
            let way = self.way(&[], &[Fault::Pause], step.clone(), &older);
            ways.push(format!("\\* what it overwrites is kept, to be used once more\n{way}"));
            if twice {
                let mut both = older.clone();
                both.push(flight(&current));
                let way = self.way(
                    std::slice::from_ref(&room),
                    &[Fault::Pause, Fault::Duplicate],
                    step,
                    &both,
                );
                ways.push(format!("\\* the same, and it will be delivered once more\n{way}"));
            }
        }
        if self.on(Fault::Pause) && !is_world && !read.is_empty() && signature.gives {
            let old =
                |at: &usize| format!("{}{}", Variables::older(&name_of(*at)), signature.at[*at]);
            let given: Vec<String> = read
                .iter()
                .zip(&current)
                .map(|(at, held)| format!("OrElse({}, {held})", old(at)))
                .collect();
            let any: Vec<String> = read.iter().map(|at| format!("{} # Null", old(at))).collect();
            let mut spent: Vec<(String, String)> = Vec::new();
            for at in &read {
                let name = Variables::older(&name_of(*at));
                let change = format!("!{} = Null", signature.at[*at]);
                match spent.iter_mut().find(|(held, _)| *held == name) {
                    Some((_, text)) => {
                        text.truncate(text.len() - 1);
                        text.push_str(&format!(", {change}]"));
                    }
                    None => spent.push((name.clone(), format!("[{name} EXCEPT {change}]"))),
                }
            }
            let step = Some(self.applied(&signature, &given, false, false));
            let way = self.way(&[or(&any)], &[], step.clone(), &spent);
            ways.push(format!(
                "\\* it is made with older memory, once; its answer is not heard\n{way}"
            ));
            if twice {
                spent.push(flight(&given));
                let way = self.way(&[or(&any), room.clone()], &[Fault::Duplicate], step, &spent);
                ways.push(format!("\\* the same, and it will be delivered once more\n{way}"));
            }
        }
        if self.on(Fault::Late) && client {
            let way = self.way(&[room], &[Fault::Late], None, &[flight(&current)]);
            ways.push(format!("\\* it leaves, and lands later\n{way}"));
        }
        let name = format!("Call_{}", signature.name);
        let binders = self.binders(id, &signature);
        let text = if ways.len() == 1 {
            format!("{name} ==\n    {binders}\n        {}", ways[0].replace('\n', "\n        "))
        } else {
            format!("{name} ==\n    {binders}\n{}", junction("\\/", 8, &ways))
        };
        self.text.push(text);
        self.next.push(name);
    }

    fn binders(&self, id: OperationId, signature: &Signature) -> String {
        let operation = &self.world.design.operations[id.index()];
        let mut all = Vec::new();
        if signature.personal {
            all.push(format!("me \\in {}", self.world.callers(operation)));
        }
        for (at, name) in signature.params.iter().enumerate() {
            all.push(format!("{name} \\in {}", self.world.given(id, at)));
        }
        if all.is_empty() { String::new() } else { format!("\\E {} :", all.join(", ")) }
    }

    pub fn repair(&mut self, id: OperationId) {
        let signature = self.signature(id);
        let operation = &self.world.design.operations[id.index()];
        let name = format!("Repair_{}", operation.name);
        let Some(subject) = operation.params[0].ty.subject() else { return };
        let mut ways =
            vec![self.way(&[], &[], Some(self.applied(&signature, &[], true, false)), &[])];
        if self.world.is_outbox_gone(id) {
            let step = self.applied(&signature, &[], true, true);
            ways.push(self.way(&[], &[], Some(step), &[]));
        }
        let binder = format!("\\E {} \\in {} :", signature.params[0], self.world.keys(subject));
        self.text.push(format!("{name} ==\n    {binder}\n{}", junction("\\/", 8, &ways)));
        self.next.push(name);
    }

    /// Calls in flight land, or never do.
    pub fn landings(&mut self) {
        if !self.in_flight() {
            return;
        }
        let world = self.world;
        let mut ways = Vec::new();
        for (index, operation) in world.design.operations.iter().enumerate() {
            let id = OperationId::of(index);
            let is_world = world.design.actors[operation.actor.index()].is_world;
            let step = matches!(operation.kind, OperationKind::Step { .. });
            if !step || is_world || world.targets[index] {
                continue;
            }
            let signature = self.signature(id);
            let mut args: Vec<String> = Vec::new();
            if signature.personal {
                args.push("call.me".into());
            }
            args.extend((1..=signature.params.len()).map(|at| format!("call.args[{at}]")));
            if signature.gives {
                let read = operation.memory.iter().filter(|usage| usage.read).count();
                args.extend((1..=read).map(|at| format!("call.memory[{at}]")));
            }
            if signature.hears {
                args.push("FALSE".into());
            }
            let applied = if args.is_empty() {
                signature.name.clone()
            } else {
                format!("{}({})", signature.name, args.join(", "))
            };
            let is = format!("call.step = {}", quoted(&operation.name));
            ways.push(junction("/\\", 0, &[is, applied]));
        }
        let gone = ("InFlight".to_owned(), "InFlight (-) SetToBag({call})".to_owned());
        let land = self.way(&[], &[], Some(junction("\\/", 0, &ways)), std::slice::from_ref(&gone));
        let drop = self.way(&[], &[], None, &[gone]);
        for (name, about, way) in [
            ("Land", "A call in flight is accepted; its answer is not heard.", land),
            ("Drop", "A call in flight is refused, or never lands.", drop),
        ] {
            let way = way.replace('\n', "\n        ");
            self.text.push(format!(
                "\\* {about}\n{name} ==\n    \\E call \\in BagToSet(InFlight) :\n        {way}"
            ));
            self.next.push(name.into());
        }
    }

    /// A principal forgets everything; its calls in flight remain.
    pub fn crash(&mut self) {
        let memory = &self.variables.memory;
        if !self.on(Fault::Crash) || memory.is_empty() {
            return;
        }
        let mut becomes = Vec::new();
        let mut faults = Vec::new();
        let mut any = Vec::new();
        for held in memory {
            let (who, at) = if held.of.is_some() { ("k[1]", "k") } else { ("k", "k") };
            for name in std::iter::once(held.name.clone()).chain(held.older.clone()) {
                let text = format!(
                    "[{at} \\in DOMAIN {name} |-> IF {who} = p THEN Null ELSE {name}[{at}]]"
                );
                any.push(format!("\\E k \\in DOMAIN {name} : {who} = p /\\ {name}[k] # Null"));
                let change = (name.clone(), text);
                if Some(&name) == held.older.as_ref() {
                    faults.push(change)
                } else {
                    becomes.push(change)
                }
            }
        }
        let same: Vec<String> = self
            .variables
            .steps
            .iter()
            .filter(|name| !becomes.iter().any(|(held, _)| held == *name))
            .cloned()
            .collect();
        let mut step: Vec<String> =
            becomes.iter().map(|(name, text)| format!("{name}' = {text}")).collect();
        if !same.is_empty() {
            step.push(format!("UNCHANGED {}", tuple(&same)));
        }
        let any = [format!(
            "({})",
            any.iter().map(|part| format!("({part})")).collect::<Vec<_>>().join(" \\/ ")
        )];
        let way = self.way(&any, &[Fault::Crash], Some(junction("/\\", 0, &step)), &faults);
        let way = way.replace('\n', "\n        ");
        self.text.push(format!(
            "\\* A principal loses all its memory; its calls in flight remain.\nCrash ==\n    \\E p \\in Principals :\n        {way}"
        ));
        self.next.push("Crash".into());
    }

    /// Time passes: every time is one step further back.
    pub fn tick(&mut self) {
        if self.variables.times.is_empty() {
            return;
        }
        let is_time = |name: &String| self.variables.times.contains(name);
        let mut parts: Vec<String> = self
            .variables
            .times
            .iter()
            .map(|name| format!("{name}' = [k \\in DOMAIN {name} |-> Older({name}[k])]"))
            .collect();
        let all = self.variables.steps.iter().chain(&self.variables.faults);
        let same: Vec<String> = all.filter(|name| !is_time(name)).cloned().collect();
        if !same.is_empty() {
            parts.push(format!("UNCHANGED {}", tuple(&same)));
        }
        self.text
            .push(format!("\\* One step of time passes.\nTick ==\n{}", junction("/\\", 4, &parts)));
    }

    /// What else there is, for the outbox, messages and places.
    pub fn way_of(
        &self,
        conditions: &[String],
        charges: &[Fault],
        step: &str,
        becomes: &[(String, String)],
    ) -> String {
        self.way(conditions, charges, Some(step.to_owned()), becomes)
    }

    /// The rest of the variables of steps stays as it is.
    pub fn others(&self, but: &[&str]) -> String {
        let same: Vec<String> = self
            .variables
            .steps
            .iter()
            .filter(|name| !but.contains(&name.as_str()))
            .cloned()
            .collect();
        if same.is_empty() { "TRUE".into() } else { format!("UNCHANGED {}", tuple(&same)) }
    }
}
