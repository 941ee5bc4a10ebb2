//! Small random designs of nodes that send each other messages and keep copies. The same seed
//! gives the same design.

use std::fmt::Write;

/// A small generator of numbers that look random (SplitMix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }

    /// True in so many of a hundred cases.
    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Fault {
    Lost,
    Doubled,
    Partition,
    Evict,
    Stale,
    Crash,
}

impl Fault {
    pub const ALL: [Fault; 6] =
        [Fault::Lost, Fault::Doubled, Fault::Partition, Fault::Evict, Fault::Stale, Fault::Crash];

    fn name(self) -> &'static str {
        match self {
            Fault::Lost => "lost_message",
            Fault::Doubled => "doubled_message",
            Fault::Partition => "partition",
            Fault::Evict => "evict",
            Fault::Stale => "stale",
            Fault::Crash => "crash",
        }
    }
}

/// A number that a step can name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    Constant(i64),
    /// of the node it is about
    Own,
    /// of the message
    Given,
    /// of the caller's copy
    Copied,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Test {
    Less(Number, Number),
    Equal(Number, Number),
    Flag(bool),
    Cached(bool),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    Set(Number),
    Add,
    Flag(bool),
    Flip,
    /// the copy becomes what the number is by now
    Copy(Number),
    /// to the other node
    Send(Number),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    pub name: String,
    /// it names another node too
    pub other: bool,
    pub guard: Vec<Test>,
    pub body: Vec<Change>,
}

/// Said of every node; a pair is before and after a transition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Invariant {
    AtMost(i64),
    NotBoth(i64),
    OneFlag,
    NeverLess,
    KeepsFlag,
}

pub struct Design {
    seed: u64,
    pub nodes: usize,
    pub peers: usize,
    pub messages: usize,
    pub steps: Vec<Step>,
    /// takes a message with a number
    pub hear: Option<Step>,
    pub invariants: Vec<Invariant>,
    /// none: any number of times
    pub faults: Vec<(Fault, Option<u32>)>,
    cached: bool,
}

/// The largest number there is.
pub const MOST: i64 = 2;

pub fn design(seed: u64) -> Design {
    let mut dice = Dice(seed);
    let sends = dice.chance(75);
    let cached = !sends || dice.chance(40);
    let mut steps = Vec::new();
    if sends {
        steps.push(step(&mut dice, "talk", true, false, false));
        let send = sent(&mut dice, false);
        steps[0].body.push(Change::Send(send));
    }
    if cached {
        let body = vec![Change::Copy(Number::Own)];
        let guard = if dice.chance(60) { vec![Test::Cached(false)] } else { Vec::new() };
        steps.push(Step { name: "fill".into(), other: false, guard, body });
        let mut used = step(&mut dice, "use", false, false, true);
        used.guard.insert(0, Test::Cached(true));
        if dice.chance(40) {
            used.body.push(Change::Copy(Number::Own));
        }
        steps.push(used);
    }
    if !sends || dice.chance(50) {
        steps.push(step(&mut dice, "act", false, false, false));
    }
    let hear = sends.then(|| {
        let mut hear = step(&mut dice, "hear", dice_other(seed), true, false);
        if hear.other {
            let send = sent(&mut dice, true);
            hear.body.push(Change::Send(send));
        }
        hear
    });
    let mut faults = Vec::new();
    for fault in Fault::ALL {
        let fits = match fault {
            Fault::Lost | Fault::Doubled | Fault::Partition => sends,
            Fault::Evict | Fault::Stale | Fault::Crash => cached,
        };
        if fits && dice.chance(35) {
            faults.push((fault, dice.chance(60).then_some(1)));
        }
    }
    let mut invariants = Vec::new();
    for _ in 0..2 {
        invariants.push(match dice.below(5) {
            0 => Invariant::AtMost(dice.below(2) as i64),
            1 => Invariant::NotBoth(dice.below(3) as i64),
            2 => Invariant::OneFlag,
            3 => Invariant::NeverLess,
            _ => Invariant::KeepsFlag,
        });
    }
    let (peers, messages) = (1 + dice.below(2), 1 + dice.below(2));
    Design { seed, nodes: 2, peers, messages, steps, hear, invariants, faults, cached }
}

/// Does what hears a message send one on?
fn dice_other(seed: u64) -> bool {
    Dice(seed ^ 0x5555).chance(30)
}

fn number(dice: &mut Dice, given: bool, cached: bool) -> Number {
    match dice.below(4) {
        0 | 1 if given => Number::Given,
        0 | 1 if cached => Number::Copied,
        2 => Number::Own,
        _ => Number::Constant(dice.below(3) as i64),
    }
}

fn sent(dice: &mut Dice, given: bool) -> Number {
    if given && dice.chance(50) { Number::Given } else { Number::Own }
}

fn step(dice: &mut Dice, name: &str, other: bool, given: bool, cached: bool) -> Step {
    let mut guard = Vec::new();
    for _ in 0..dice.below(3) {
        guard.push(match dice.below(4) {
            0 => Test::Flag(dice.chance(50)),
            1 => Test::Equal(Number::Own, number(dice, given, cached)),
            2 => Test::Less(number(dice, given, cached), Number::Own),
            _ => Test::Less(Number::Own, number(dice, given, cached)),
        });
    }
    let mut body = Vec::new();
    for _ in 0..1 + dice.below(2) {
        body.push(match dice.below(6) {
            0 | 1 => Change::Add,
            2 | 3 => Change::Set(number(dice, given, cached)),
            4 => Change::Flip,
            _ => Change::Flag(dice.chance(60)),
        });
    }
    Step { name: name.into(), other, guard, body }
}

impl Design {
    pub fn text(&self) -> String {
        let mut text = format!("design Network{} \"A random design\"\n\nactor peer\n\n", self.seed);
        let copy = if self.cached { "\n    cache Copy at peer { x: int = 0 }" } else { "" };
        let state = "truth State { n: int = 0, flag: bool = false }";
        let _ = writeln!(text, "subject Node(node: text) at node {{\n    {state}{copy}\n}}\n");
        for step in &self.steps {
            let other = if step.other { ", other: Node" } else { "" };
            self.step(&mut text, step, &format!("site: Node{other}"));
        }
        if let Some(hear) = &self.hear {
            let other = if hear.other { ", other: Node" } else { "" };
            self.step(&mut text, hear, &format!("site: Node, given: int{other}"));
        }
        for (number, invariant) in self.invariants.iter().enumerate() {
            let said = match invariant {
                Invariant::AtMost(most) => format!("all x in Node: x.n <= {most}"),
                Invariant::NotBoth(n) => format!("not (all x in Node: x.n = {n} and x.flag)"),
                Invariant::OneFlag => "count(x in Node where x.flag) <= 1".into(),
                Invariant::NeverLess => "all x in Node: x.n >= old(x.n)".into(),
                Invariant::KeepsFlag => "all x in Node: old(x.flag) implies x.flag".into(),
            };
            let _ = writeln!(text, "invariant i{number}: {said}");
        }
        let mut entries = vec![format!("node: {}", self.nodes), format!("State.n: 0..{MOST}")];
        if self.cached {
            entries.push(format!("peer: {}", self.peers));
        }
        if self.hear.is_some() {
            entries.push(format!("given: 0..{MOST}"));
            entries.push(format!("messages: {}", self.messages));
        }
        let faults: Vec<String> = self
            .faults
            .iter()
            .map(|(fault, budget)| match budget {
                Some(budget) => format!("{} {budget}", fault.name()),
                None => fault.name().to_string(),
            })
            .collect();
        if !faults.is_empty() {
            entries.push(format!("faults: {}", faults.join(", ")));
        }
        let _ = writeln!(text, "\ncheck {{ {} }}", entries.join("  "));
        text
    }

    fn step(&self, text: &mut String, step: &Step, params: &str) {
        let number = |number: Number| match number {
            Number::Constant(value) => value.to_string(),
            Number::Own => "site.n".into(),
            Number::Given => "given".into(),
            Number::Copied => "Copy.x".into(),
        };
        let mut guard = String::new();
        for (clause, test) in step.guard.iter().enumerate() {
            let said = match test {
                Test::Less(left, right) => format!("{} < {}", number(*left), number(*right)),
                Test::Equal(left, right) => format!("{} = {}", number(*left), number(*right)),
                Test::Flag(true) => "site.flag".into(),
                Test::Flag(false) => "not site.flag".into(),
                Test::Cached(true) => "Copy present".into(),
                Test::Cached(false) => "Copy absent".into(),
            };
            let _ = writeln!(guard, "    c{clause}: {said}");
        }
        let guard = if guard.is_empty() { guard } else { format!(" {{\n{guard}}}") };
        let _ = writeln!(text, "step peer[{}({params}){guard}] {{", step.name);
        for change in &step.body {
            let said = match change {
                Change::Set(value) => format!("site.n := {}", number(*value)),
                Change::Add => "site.n += 1".into(),
                Change::Flag(value) => format!("site.flag := {value}"),
                Change::Flip => "site.flag := not site.flag".into(),
                Change::Copy(value) => format!("Copy := {{ x: {} }}", number(*value)),
                Change::Send(value) if self.hear.as_ref().is_some_and(|hear| hear.other) => {
                    format!("send peer.hear(other, {}, site)", number(*value))
                }
                Change::Send(value) => format!("send peer.hear(other, {})", number(*value)),
            };
            let _ = writeln!(text, "    {said}");
        }
        text.push_str("}\n\n");
    }
}
