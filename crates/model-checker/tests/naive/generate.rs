//! Small random designs. The same seed gives the same design.

use std::collections::BTreeSet;

use super::ast::*;
use super::dice::Dice;
use super::phrases::Phrases;
use super::reach::reach;

/// What a design is about; each draws its own features.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Theme {
    Truth,
    Memory,
    Time,
    Effects,
    Network,
    Copies,
}

pub(super) struct Maker {
    pub(super) dice: Dice,
    pub(super) design: Design,
    pub(super) theme: Theme,
    pub(super) spans: Vec<i64>,
    pub(super) locals: usize,
    pub(super) ranked: bool,
    /// each node sends once, so that there is room for all that clients send
    pub(super) once: bool,
    /// one node that tells itself, with room for one message: only a doubled one has none
    pub(super) lone: bool,
    /// two numbers of a record advance by themselves, so that the smaller may overtake the other
    race: bool,
    /// numbers have a range
    ranges: bool,
    /// some truth is a list of records
    pub(super) lines: bool,
}

pub(super) const USER: usize = 0;
pub(super) const MENDER: usize = 1;
pub(super) const BOSS: usize = 2;

pub fn design(seed: u64) -> Design {
    made(seed, true)
}

/// `lines`: may truth be a list of records? Designs that are put together of others have none, so that they
/// stay what they were.
pub fn made(seed: u64, lines: bool) -> Design {
    let mut dice = Dice::new(seed);
    let theme = match dice.below(100) {
        0..24 => Theme::Truth,
        24..46 => Theme::Memory,
        46..64 => Theme::Time,
        64..77 => Theme::Effects,
        77..91 => Theme::Network,
        _ => Theme::Copies,
    };
    let mut maker = Maker {
        dice,
        design: Design { seed, ..Design::default() },
        theme,
        spans: vec![1],
        locals: 100,
        ranked: false,
        once: false,
        lone: false,
        race: false,
        ranges: false,
        lines: false,
    };
    maker.once = theme == Theme::Network && maker.dice.chance(45);
    // Drawn aside, so that the other designs stay as they are.
    let mut aside = Dice::new(seed.wrapping_mul(0x9e37_79b9));
    maker.lone = maker.once && aside.chance(40);
    maker.race = aside.chance(40);
    maker.ranked = matches!(theme, Theme::Memory | Theme::Truth) && maker.dice.chance(45);
    maker.ranges = !maker.ranked && aside.chance(15);
    maker.lines = lines && theme == Theme::Truth && Dice::new(seed ^ 0x11e5).chance(35);
    maker.make();
    // other dice, so that the designs stay what they were
    if maker.theme == Theme::Network {
        soften(&mut maker.design, &mut Dice::new(seed ^ 0x50f7));
    }
    if maker.theme != Theme::Copies {
        reach(&mut maker.design, &mut Dice::new(seed ^ 0x5eac));
    }
    maker.dice = Dice::new(seed ^ 0x1ead);
    maker.leads_to();
    other_world(&mut maker.design, &mut Dice::new(seed ^ 0x0770));
    maker.design
}

/// Some places lose an attribute when they crash.
fn soften(design: &mut Design, dice: &mut Dice) {
    let attrs = design.subjects[0].attrs.len();
    if attrs < 2 || !dice.chance(60) {
        return;
    }
    let soft = dice.below(attrs);
    design.subjects[0].attrs[soft].volatile = true;
    if !design.has(Fault::Crash) {
        let budget = dice.chance(60).then_some(1);
        design.check.faults.push((Fault::Crash, budget));
    }
}

/// Some designs have a second world for some of their goals.
fn other_world(design: &mut Design, dice: &mut Dice) {
    if !dice.chance(20) {
        return;
    }
    let mut goals: BTreeSet<usize> = (0..design.goals.len()).filter(|_| dice.chance(50)).collect();
    if goals.is_empty() {
        goals.insert(dice.below(design.goals.len()));
    }
    let mut other = Other {
        goals,
        check: design.check.clone(),
        subjects: design.subjects.iter().map(|subject| subject.count).collect(),
        actors: design.actors.iter().map(|actor| actor.count).collect(),
    };
    other.check.bound.1 = 1 + dice.below(2) as i64;
    other.check.faults.retain(|_| dice.chance(60));
    for (at, subject) in design.subjects.iter().enumerate() {
        if !subject.place && dice.chance(50) {
            other.subjects[at] = 1;
        }
    }
    if other.actors[USER] > 0 {
        other.actors[USER] = 1 + dice.below(2);
    }
    design.other = Some(Box::new(other));
}

impl Maker {
    pub(super) fn phrases(&mut self) -> Phrases<'_> {
        Phrases {
            dice: &mut self.dice,
            design: &self.design,
            spans: self.spans.clone(),
            locals: self.locals,
            ranked: self.ranked,
        }
    }

    fn make(&mut self) {
        self.actors();
        self.subjects();
        self.sizes();
        self.remember();
        for at in 0..self.design.subjects.len() {
            if self.design.subjects[at].made {
                self.maker(at);
            }
        }
        if self.theme == Theme::Network {
            self.network();
        }
        if self.theme == Theme::Effects {
            self.effect();
        }
        let count = match self.theme {
            Theme::Network | Theme::Effects => 1,
            _ => 2 + self.dice.below(2),
        };
        for number in 0..count {
            self.op(number);
        }
        if self.race && self.ranked && self.numbers_meet(0) {
            self.advance(0);
            self.advance(1);
        }
        if self.theme != Theme::Copies && self.dice.chance(60) {
            self.repair();
        }
        if self.theme == Theme::Memory && self.dice.chance(50) {
            self.read();
        }
        let alone = self.design.subjects[0].count == 1 && self.design.check.horizon.is_some();
        if self.theme == Theme::Time && alone && self.dice.chance(30) {
            self.move_on();
        }
        self.goals();
        self.faults();
        self.failures();
        self.trim();
    }

    fn actors(&mut self) {
        let count = 1 + self.dice.below(2);
        let actor = |name, count| Actor { name, count, fields: Vec::new(), apart: None };
        self.design.actors = vec![actor("user", count), actor("mender", 0)];
        if self.theme == Theme::Truth && self.dice.chance(40) {
            let mut boss = actor("boss", 1);
            boss.apart = self.dice.chance(30).then_some(USER);
            self.design.actors.push(boss);
        }
        if self.theme == Theme::Effects {
            self.design.actors.push(actor("bank", 0));
        }
    }

    pub(super) fn has_boss(&self) -> bool {
        self.design.actors.get(BOSS).is_some_and(|actor| actor.name == "boss")
    }

    fn subjects(&mut self) {
        let network = self.theme == Theme::Network;
        let small = matches!(self.theme, Theme::Time | Theme::Effects | Theme::Memory);
        let one = |name, low| Subject {
            name,
            low,
            parent: None,
            count: 1,
            number_key: false,
            made: false,
            place: false,
            attrs: Vec::new(),
            log: false,
            retain: None,
            copies: None,
        };
        let mut alpha = one("Alpha", "a");
        alpha.count = if network || self.dice.chance(if small { 30 } else { 60 }) { 2 } else { 1 };
        if self.lone {
            alpha.count = 1;
        }
        alpha.place = network;
        alpha.made = !network && self.dice.chance(25);
        alpha.log = !network && self.dice.chance(20);
        alpha.retain = (alpha.log && self.dice.chance(40)).then_some(1);
        alpha.copies = (self.theme == Theme::Copies).then_some(USER);
        let made = alpha.made;
        self.design.subjects.push(alpha);
        if self.theme == Theme::Truth && self.dice.chance(60) {
            let mut beta = one("Beta", "b");
            beta.parent = self.dice.chance(60).then_some(0);
            beta.made = self.dice.chance(45) || beta.parent.is_some() && made;
            beta.number_key = beta.made && self.dice.chance(60);
            beta.count = 1 + self.dice.below(2);
            self.design.subjects.push(beta);
        }
        for at in 0..self.design.subjects.len() {
            let attrs = self.attrs(at);
            self.design.subjects[at].attrs = attrs;
        }
        if self.design.subjects.get(1).is_some_and(|beta| beta.number_key) && !self.int_there(0) {
            let last = self.design.subjects[0].attrs.last_mut().expect("there are some");
            (last.ty, last.optional, last.default) = (Ty::Int, false, Value::Int(0));
        }
    }

    fn attrs(&mut self, subject: usize) -> Vec<Attr> {
        let mut kinds = vec![Ty::Enum, Ty::Bool, Ty::Int, Ty::Int];
        let mut first = Ty::Int;
        match self.theme {
            Theme::Truth => {
                kinds.extend([Ty::Actor, Ty::Actor, Ty::Text, Ty::Text]);
                let others = self.design.subjects.len();
                if others > 1 {
                    kinds.extend([Ty::Ref(1 - subject), Ty::Set(1 - subject)]);
                }
                if self.dice.chance(30) {
                    kinds.push(Ty::List);
                }
                first = match self.lines && subject == 0 {
                    true => Ty::Lines,
                    false => self.dice.pick(&kinds),
                };
                if self.has_boss() && subject == 0 {
                    first = Ty::Actor;
                }
            }
            Theme::Time => {
                first = Ty::Time;
                kinds.extend([Ty::Time, Ty::Span]);
            }
            Theme::Effects => {
                first = Ty::Enum;
                kinds = vec![Ty::Int, Ty::Int, Ty::Bool];
            }
            Theme::Memory if self.dice.chance(15) => {
                first = Ty::Time;
                kinds = vec![Ty::Int, Ty::Bool];
            }
            _ => {}
        }
        if self.ranked && self.theme == Theme::Memory {
            first = Ty::Int;
            kinds = vec![Ty::Int];
        }
        let count = match self.theme {
            Theme::Network if self.once => 2,
            Theme::Truth => 2 + self.dice.below(2),
            _ => 1 + self.dice.below(2),
        };
        let low = self.design.subjects[subject].low;
        (0..count)
            .map(|at| {
                let ty = match at {
                    0 => first.clone(),
                    1 if self.once => Ty::Bool,
                    _ => self.dice.pick(&kinds),
                };
                let (optional, default) = match ty {
                    Ty::Bool => (false, Value::Bool(false)),
                    Ty::Int => (false, Value::Int(0)),
                    Ty::Enum => (false, Value::Enum(0)),
                    Ty::Text => (false, Value::Written("")),
                    Ty::Span => (false, Value::Span(1)),
                    Ty::Set(_) => (false, Value::Set(Default::default())),
                    Ty::List | Ty::Lines => (false, Value::List(Vec::new())),
                    Ty::Time | Ty::Actor | Ty::Ref(_) => (true, Value::Null),
                };
                let name = format!("{low}_{at}");
                let range = (ty == Ty::Int && self.ranges).then_some((0, 1));
                Attr { name, ty, optional, default, volatile: false, range }
            })
            .collect()
    }

    fn sizes(&mut self) {
        let low = -(self.dice.below(2) as i64);
        let check = &mut self.design.check;
        check.bound = (low, 1 + self.dice.below(2) as i64);
        check.given = (0, 1);
        check.texts = 1 + self.dice.below(2);
        check.spans = self.dice.pick(&[(1, 1), (2, 2), (1, 2)]);
        check.calls = if self.dice.chance(12) { 2 } else { 1 };
        check.messages = 1 + self.dice.below(2);
        check.list = 1 + self.dice.below(2);
        check.log = 1 + self.dice.below(2) as i64;
        check.never_unknown = self.dice.chance(20);
        if self.has_boss() && self.dice.chance(50) {
            self.design.check.to = Some(self.dice.pick(&[USER, BOSS]));
        }
        self.spans = self.dice.pick(&[vec![1], vec![1, 2], vec![2, 3]]);
        let timed = |attr: &Attr| matches!(attr.ty, Ty::Time | Ty::Span);
        if self.design.subjects.iter().flat_map(|held| &held.attrs).any(timed)
            && self.dice.chance(70)
        {
            let check = &mut self.design.check;
            check.time = Some(1 + self.dice.below(2) as i64);
            check.horizon = Some(self.dice.pick(&[3, 4, 5]));
        }
    }

    fn remember(&mut self) {
        let wanted = match self.theme {
            Theme::Memory => 100,
            Theme::Truth | Theme::Time => 20,
            _ => 0,
        };
        let numbers = self.design.subjects[0].attrs.iter();
        let mut kinds: Vec<Ty> = numbers.map(|attr| attr.ty.clone()).collect();
        kinds.retain(|ty| matches!(ty, Ty::Int));
        if !kinds.is_empty() && self.dice.chance(wanted) {
            let ty = self.dice.pick(&kinds);
            self.design.actors[USER].fields.push(Field { name: "my_n", ty, of: 0 });
        }
    }

    pub(super) fn record_param(&self, subject: usize, new: bool) -> Param {
        let held = &self.design.subjects[subject];
        Param { name: held.low.into(), ty: Ty::Ref(subject), new, default: None }
    }

    pub(super) fn push(&mut self, op: Op) {
        self.design.ops.push(op);
    }
}
