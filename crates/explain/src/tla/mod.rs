//! A design, its small world and its faults as a module of TLA+, for TLC.
//!
//! Written from the design and from what `docs/checker.md` says a state and a transition are; nothing of
//! the checker is used, so that the two can be held against each other.

mod actions;
mod assign;
mod bounds;
mod expr;
mod flow;
mod outside;
mod quantify;
mod run;
mod text;
mod time;
mod values;
mod variables;
mod world;

use design::model::{
    Design, Expr, ExprKind, Fault, Goal, Invariant, OperationId, OperationKind, Protection,
    StateKind, SubjectId, Type,
};

use actions::Actions;
use expr::{Frame, Scope};
use text::{junction, quoted, set};
use variables::Variables;
use world::{World, has};

/// A module, and what TLC is told about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tla {
    /// of the module, and of its file
    pub name: String,
    pub module: String,
    pub goals: Vec<TlaGoal>,
    bounded: bool,
}

/// A goal of the design in the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TlaGoal {
    /// in the design
    pub goal: Goal,
    /// in the module
    pub name: String,
    /// of every transition, not of every state
    pub of_steps: bool,
}

impl Tla {
    /// What TLC is asked: to look at every state, with these goals.
    pub fn config(&self, goals: &[&TlaGoal]) -> String {
        let mut text = String::from("SPECIFICATION Spec\nCONSTANT Null = Null\n");
        if self.bounded {
            text.push_str("CONSTRAINT WithinBounds\n");
        }
        for goal in goals {
            let word = if goal.of_steps { "PROPERTY" } else { "INVARIANT" };
            text.push_str(&format!("{word} {}\n", goal.name));
        }
        text
    }

    /// With all goals.
    pub fn whole_config(&self) -> String {
        self.config(&self.goals.iter().collect::<Vec<_>>())
    }
}

/// The design as a module, with these protections taken away. What has no translation is listed.
pub fn tla(design: &Design, without: &[Protection]) -> Result<Tla, Vec<String>> {
    let world = World::of(design, without);
    refuse_what_is_not_covered(&world);
    let variables = Variables::of(&world);
    let mut actions =
        Actions { world: &world, variables: &variables, text: Vec::new(), next: Vec::new() };
    happenings(&mut actions);
    let places = actions.places();
    let all = actions.all_variables();
    let (text, next) = (std::mem::take(&mut actions.text), std::mem::take(&mut actions.next));
    let mut module = Module { world: &world, variables: &variables, out: String::new() };
    let name = module_name(design);
    module.head(&name);
    module.domains(&places);
    module.state(&all);
    module.section("What can happen");
    for definition in &text {
        module.line(&format!("{definition}\n"));
    }
    module.next(&next);
    let goals = module.goals();
    let bounds = bounds::bounds(&world);
    if !bounds.is_empty() {
        module.section("How far to look");
        let about = "A state beyond a bound is judged, and what follows from it is not looked at.";
        module.line(&format!("\\* {about}\nWithinBounds ==\n{}\n", junction("/\\", 4, &bounds)));
    }
    module.line(&"=".repeat(78));
    let problems = world.problems();
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Tla { name, module: module.out, goals, bounded: !bounds.is_empty() })
}

fn module_name(design: &Design) -> String {
    let mut name: String =
        design.name.chars().filter(|letter| letter.is_ascii_alphanumeric()).collect();
    if !name.chars().next().is_some_and(|letter| letter.is_ascii_alphabetic()) {
        name.insert_str(0, "Design");
    }
    name
}

fn refuse_what_is_not_covered(world: &World<'_>) {
    let design = world.design;
    for problem in &world.clock.problems {
        world.refuse(problem.clone());
    }
    if !design.blobs.is_empty() {
        world.refuse("blobs");
    }
    for fault in [Fault::ClockStep, Fault::Evict, Fault::Stale] {
        if world.on(fault) {
            world.refuse(format!("the fault `{}`", fault.name()));
        }
    }
    if design.operations.iter().any(|operation| operation.hears.is_some()) {
        world.refuse("handlers of events");
    }
    if design.operations.iter().any(|operation| operation.each.is_some()) {
        world.refuse("`send each`");
    }
    let mut states = design.subjects.iter().flat_map(|subject| &subject.states);
    if world.on(Fault::Crash) && states.any(|state| state.volatile) {
        world.refuse("a crash of a place with `volatile` state");
    }
    for protection in world.without {
        if matches!(protection, Protection::AtLeast { .. }) {
            world.refuse("`without at_least`");
        }
    }
    let attributes = design.subjects.iter().flat_map(|subject| {
        let truth = |a: &&design::model::Attribute| {
            subject.states[a.state.index()].kind == StateKind::Truth
        };
        subject.attributes.iter().filter(truth)
    });
    let params = design.operations.iter().flat_map(|operation| &operation.params);
    for ty in attributes.map(|a| &a.ty).chain(params.map(|p| &p.ty)) {
        if let Type::Hash
        | Type::Signature
        | Type::Proof
        | Type::Digest(_)
        | Type::PublicKey
        | Type::Schedule = ty.required()
        {
            world.refuse(format!("values of the type {}", world::type_name(ty)));
        }
    }
    for subject in &design.subjects {
        for state in &subject.states {
            if let StateKind::Log { retain: design::model::Retention::Age(_) } = state.kind {
                world.refuse("a log whose entries are kept for a time");
            }
        }
    }
}

fn happenings(actions: &mut Actions<'_>) {
    let world = actions.world;
    for (index, operation) in world.design.operations.iter().enumerate() {
        let id = OperationId::of(index);
        match &operation.kind {
            OperationKind::Step { .. } => {
                actions.operation(id, false);
                if world.is_outbox_gone(id) {
                    actions.operation(id, true);
                }
                if !world.targets[index] {
                    actions.calls(id);
                }
            }
            // A read that hands out nothing changes nothing.
            OperationKind::Read { .. } if operation.body.is_empty() => {}
            OperationKind::Read { .. } => {
                actions.operation(id, false);
                actions.calls(id);
            }
            OperationKind::Repair { .. } if world.is_repair_gone(id) => {}
            OperationKind::Repair { .. } => {
                actions.operation(id, false);
                if world.is_outbox_gone(id) {
                    actions.operation(id, true);
                }
                actions.repair(id);
            }
            OperationKind::Effect(_) => {}
        }
    }
    actions.outbox();
    actions.messages();
    actions.landings();
    actions.crash();
    actions.tick();
}

struct Module<'w> {
    world: &'w World<'w>,
    variables: &'w Variables,
    out: String,
}

impl Module<'_> {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn section(&mut self, title: &str) {
        self.line(&format!("{}\n\\* {title}\n", "-".repeat(78)));
    }

    fn head(&mut self, name: &str) {
        let world = self.world;
        let dashes = "-".repeat(30);
        self.line(&format!("{dashes} MODULE {name} {dashes}"));
        self.line("\\* Written by `steadfast explain --format tla`; what a state is and what can happen is");
        self.line("\\* said in docs/checker.md. Symmetry and ranks are not used.");
        if !self.variables.times.is_empty() {
            let (steps, unit) = (world.clock.steps, world.clock.unit_name());
            self.line(&format!(
                "\\* A time is its distance from now, in steps of 1/{steps} of {unit}."
            ));
        }
        self.line("EXTENDS Integers, Sequences, FiniteSets, Bags, TLC\n");
        self.line("CONSTANT Null    \\* there is no value\n");
    }

    fn domains(&mut self, places: &[String]) {
        let world = self.world;
        self.section("The small world");
        self.line(&format!("Principals == {}", set(&world.all_principals())));
        let mut done: Vec<SubjectId> = Vec::new();
        for index in 0..world.design.subjects.len() {
            self.key_set(SubjectId::of(index), &mut done);
        }
        if world.on(Fault::Partition) {
            self.line(&format!("Places == {}", set(places)));
            let last = places.last().cloned().unwrap_or_else(|| quoted("nowhere"));
            self.line(&format!("LastPlace == {last}"));
        }
        self.line("");
        self.section("Words");
        self.line(
            "\\* A condition, not a choice: its parts are looked at in order, as far as needed.",
        );
        self.line("Holds(condition) == condition = TRUE");
        self.line("\\* What is compared with nothing is not less.");
        self.line("Less(a, b) == a # Null /\\ b # Null /\\ a < b");
        self.line("AtMost(a, b) == a # Null /\\ b # Null /\\ a <= b");
        self.line("Smaller(a, b) == IF a < b THEN a ELSE b");
        self.line("Larger(a, b) == IF a > b THEN a ELSE b");
        self.line("OrElse(a, b) == IF a # Null THEN a ELSE b");
        self.line("OrZero(a) == IF a # Null THEN a ELSE 0");
        self.line("Abs(a) == IF a < 0 THEN -a ELSE a");
        self.line("\\* Rounds towards zero.");
        self.line("Quotient(a, b) == IF (a < 0) = (b < 0) THEN Abs(a) \\div Abs(b) ELSE -(Abs(a) \\div Abs(b))");
        self.line("Elements(l) == {l[i] : i \\in 1..Len(l)}");
        self.line(
            "ElementAt(l, i) == IF i # Null /\\ i \\in 0..(Len(l) - 1) THEN l[i + 1] ELSE Null",
        );
        self.line("ValueAt(m, i) == IF i \\in DOMAIN m THEN m[i] ELSE Null");
        self.line("RECURSIVE Total(_)");
        self.line("Total(f) ==");
        self.line("    IF DOMAIN f = {} THEN 0");
        self.line("    ELSE LET i == CHOOSE i \\in DOMAIN f : TRUE");
        self.line("         IN  f[i] + Total([j \\in DOMAIN f \\ {i} |-> f[j]])");
        self.line("IsThere(f, i) == IF i \\in DOMAIN f THEN f[i] ELSE FALSE");
        self.line("Put(f, i, v) == (i :> v) @@ f");
        self.line("\\* An entry of the outbox: sending it again while it is open is a no-op.");
        self.line("Opened(box, i, a) == IF i \\in DOMAIN box THEN box ELSE (i :> a) @@ box");
        self.line("Closed(box, i) == [j \\in DOMAIN box \\ {i} |-> box[j]]");
        self.line("IsDecided(w, i, how) == i \\in DOMAIN w /\\ w[i].is = how");
        let post =
            if self.variables.message_set { "bag \\cup {m}" } else { "bag (+) SetToBag({m})" };
        self.line(&format!("Post(bag, m) == {post}"));
        if !self.variables.times.is_empty() {
            let oldest = -(world.clock.horizon + 1);
            self.line("\\* Times further back than this are one.");
            self.line(&format!("Oldest == {oldest}"));
            self.line(
                "Older(t) == IF t = Null THEN Null ELSE IF t > Oldest THEN t - 1 ELSE Oldest",
            );
        }
        self.line("");
    }

    /// After the keys that its own keys are made of.
    fn key_set(&mut self, id: SubjectId, done: &mut Vec<SubjectId>) {
        if done.contains(&id) {
            return;
        }
        done.push(id);
        for key in &self.world.subject(id).keys {
            if let Some(of) = key.ty.subject() {
                self.key_set(of, done);
            }
        }
        self.line(&format!("{} == {}", self.world.keys(id), self.world.key_set(id)));
    }

    fn state(&mut self, all: &str) {
        self.section("A state");
        self.line("VARIABLES");
        let last = self.variables.about.len().saturating_sub(1);
        for (at, (name, about)) in self.variables.about.iter().enumerate() {
            let comma = if at == last { "" } else { "," };
            self.out.push_str(&format!("    {:<40}\\* {about}\n", format!("{name}{comma}")));
        }
        self.line(&format!("\nvars == {all}\n"));
        if self.world.on(Fault::Partition) {
            self.line("\\* Can these two places not hear each other?");
            self.line(
                "Apart(a, b) == a # Null /\\ b # Null /\\ (a \\in CutOff) # (b \\in CutOff)\n",
            );
        }
        let init: Vec<String> =
            self.variables.init.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        self.line(&format!("Init ==\n{}\n", junction("/\\", 4, &init)));
    }

    fn next(&mut self, names: &[String]) {
        self.line(&format!("Act ==\n{}\n", junction("\\/", 4, names)));
        let ticks = if self.variables.times.is_empty() { "" } else { " \\/ Tick" };
        self.line(&format!("Next == Act{ticks}\n\nSpec == Init /\\ [][Next]_vars\n"));
    }

    fn goals(&mut self) -> Vec<TlaGoal> {
        self.section("Goals");
        let mut goals = Vec::new();
        for (index, invariant) in self.world.design.invariants.iter().enumerate() {
            // a name of TLA+ has no dot
            let name = format!("goal_{}", invariant.name.replace('.', "__"));
            if invariant.uses_old {
                self.of_steps(&name, invariant);
            } else {
                let text = self.goal(invariant, Frame::This);
                self.line(&format!("{name} ==\n    {text}\n"));
            }
            let goal = Goal::Invariant(index as u32);
            goals.push(TlaGoal { goal, name, of_steps: invariant.uses_old });
        }
        goals
    }

    /// A goal that speaks of the state before: of every transition.
    fn of_steps(&mut self, name: &str, invariant: &Invariant) {
        let step = self.goal(invariant, Frame::Next { ticked: false });
        let is_time = |part: &Expr| *part.ty.required() == Type::Time;
        let timed = has(&invariant.body, &|part| match &part.kind {
            ExprKind::Old(inner) => has(inner, &is_time),
            _ => false,
        });
        if !timed || self.variables.times.is_empty() {
            self.line(&format!("{name} ==\n    [][{step}]_vars\n"));
            return;
        }
        // what was a moment ago is one step further back after a tick
        let tick = self.goal(invariant, Frame::Next { ticked: true });
        self.line(&format!(
            "{name} ==\n    [][/\\ Act => ({step})\n       /\\ Tick => ({tick})]_vars\n"
        ));
    }

    fn goal(&self, invariant: &Invariant, frame: Frame) -> String {
        let term = Scope::of(self.world, true, frame).test(&invariant.body);
        if !term.needs.is_empty() {
            self.world.refuse("a goal that may have no value");
        }
        term.alone()
    }
}
