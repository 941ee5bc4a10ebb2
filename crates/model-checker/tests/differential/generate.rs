//! Small random designs, as text. The same seed gives the same text.

#[path = "children.rs"]
mod children;

use std::fmt::Write;

/// A small generator of numbers that look random (SplitMix64).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.roll() % end as u64) as usize
    }

    /// True in so many of a hundred cases.
    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Enum,
    Bool,
    Int,
    Time,
    Actor,
    Ref,
    Set,
}

#[derive(Clone, Debug)]
struct Attribute {
    name: String,
    kind: Kind,
}

#[derive(Clone, Debug, Default)]
struct Subject {
    name: &'static str,
    /// how a parameter is called
    low: &'static str,
    attributes: Vec<Attribute>,
    /// some step makes it
    explicit: bool,
    count: usize,
    child: bool,
}

/// What an expression may mention.
#[derive(Clone, Debug, Default)]
struct Scope {
    /// (how it is called, which subject)
    records: Vec<(String, usize)>,
    duration: bool,
    number: bool,
    flag: bool,
    me: bool,
    memory: bool,
}

struct Generator {
    dice: Dice,
    subjects: Vec<Subject>,
    memory: bool,
    users: usize,
    /// what the steps need a size for
    uses_number: bool,
    uses_duration: bool,
    uses_name: bool,
}

const CONSTANTS: [&str; 3] = ["P", "Q", "R"];

/// The text of the design with this seed.
pub fn design(seed: u64) -> String {
    let mut generator = Generator {
        dice: Dice::new(seed),
        subjects: Vec::new(),
        memory: false,
        users: 1,
        uses_number: false,
        uses_duration: false,
        uses_name: false,
    };
    generator.design(seed)
}

impl Generator {
    fn design(&mut self, seed: u64) -> String {
        self.users = 1 + self.dice.below(2);
        let two = self.dice.chance(65);
        let child = two && self.dice.chance(50);
        self.subjects.push(Subject {
            name: "Alpha",
            low: "a",
            explicit: self.dice.chance(35),
            count: 1 + self.dice.below(2),
            ..Subject::default()
        });
        if two {
            // A child that is there from the start has a parent that is.
            let explicit = self.dice.chance(45) || child && self.subjects[0].explicit;
            self.subjects.push(Subject {
                name: "Beta",
                low: "b",
                explicit,
                count: 1 + self.dice.below(2),
                child,
                ..Subject::default()
            });
        }
        for at in 0..self.subjects.len() {
            let attributes = self.attributes(at);
            self.subjects[at].attributes = attributes;
        }
        let ints = self.subjects[0].attributes.iter().any(|held| held.kind == Kind::Int);
        self.memory = ints && self.dice.chance(50);
        let mut steps = String::new();
        for at in 0..self.subjects.len() {
            if self.subjects[at].explicit {
                self.make_step(&mut steps, at);
            }
        }
        if child && self.subjects[1].explicit {
            self.child_steps(&mut steps);
        }
        let count = 3 + self.dice.below(3);
        for number in 0..count {
            self.step(&mut steps, number);
        }
        let mut goals = String::new();
        for number in 0..2 + self.dice.below(3) {
            self.invariant(&mut goals, number);
        }
        if steps.contains("repair mender") || self.dice.chance(30) {
            let subject = self.dice.below(self.subjects.len());
            let scope = Scope { records: vec![("x".to_string(), subject)], ..Scope::default() };
            let (name, condition) = (self.subjects[subject].name, self.condition(&scope, 1));
            writeln!(goals, "recovers r0: all x in {name}: {condition}")
                .expect("a string takes all");
        }
        let mut text = format!("design Random{seed} \"A random design\"\n\n");
        let memory = if steps.contains("my_n") { " { my_n: int? of Alpha }" } else { "" };
        writeln!(text, "actor user{memory}\nactor mender\n").expect("a string takes all");
        for at in 0..self.subjects.len() {
            self.subject(&mut text, at);
        }
        text.push_str(&steps);
        text.push_str(&goals);
        self.check(&mut text);
        text
    }

    fn attributes(&mut self, subject: usize) -> Vec<Attribute> {
        let mut kinds = vec![Kind::Enum, Kind::Bool, Kind::Int, Kind::Int, Kind::Time, Kind::Actor];
        if self.subjects.len() > 1 {
            kinds.push(Kind::Ref);
        }
        if self.dice.chance(30) {
            kinds.push(Kind::Set);
        }
        let low = self.subjects[subject].low;
        (0..2 + self.dice.below(2))
            .map(|at| {
                let kind = kinds[self.dice.below(kinds.len())];
                Attribute { name: format!("{low}_{at}"), kind }
            })
            .collect()
    }

    fn subject(&mut self, text: &mut String, at: usize) {
        let subject = &self.subjects[at];
        let (name, low) = (subject.name, subject.low);
        let parent = if subject.child { "alpha: Alpha, " } else { "" };
        let other = self.subjects[(at + 1) % self.subjects.len()].name;
        let attributes: Vec<String> = subject
            .attributes
            .iter()
            .map(|held| {
                let ty = match held.kind {
                    Kind::Enum => "P | Q | R = P".to_string(),
                    Kind::Bool => "bool = false".to_string(),
                    Kind::Int => "int = 0".to_string(),
                    Kind::Time => "time?".to_string(),
                    Kind::Actor => "actor?".to_string(),
                    Kind::Ref => format!("{other}?"),
                    Kind::Set => format!("set {other} max 2 = {{}}"),
                };
                format!("{}: {ty}", held.name)
            })
            .collect();
        writeln!(
            text,
            "subject {name}({parent}{low}k: text) {{\n    truth {name}State {{ {} }}\n}}\n",
            attributes.join(", ")
        )
        .expect("a string takes all");
    }

    fn make_step(&mut self, text: &mut String, at: usize) {
        let (name, low) = (self.subjects[at].name, self.subjects[at].low);
        let scope = Scope { records: vec![(low.to_string(), at)], ..Scope::default() };
        let mut body = String::new();
        let count = self.dice.below(2);
        self.statements(&mut body, &scope, count, "    ");
        if body.is_empty() {
            // A body may not be empty: it says again what is the default.
            let first = self.subjects[at].attributes[0].clone();
            let value = self.default_of(first.kind);
            body = format!("    {low}.{} := {value}\n", first.name);
        }
        writeln!(text, "step user[make_{low}({low}: new {name})] {{\n{body}}}\n")
            .expect("a string takes all");
    }

    fn default_of(&self, kind: Kind) -> &'static str {
        match kind {
            Kind::Enum => "P",
            Kind::Bool => "false",
            Kind::Int => "0",
            Kind::Time | Kind::Actor | Kind::Ref => "null",
            Kind::Set => "{}",
        }
    }

    fn step(&mut self, text: &mut String, number: usize) {
        let repair = number > 0 && self.dice.chance(25);
        let mut scope = Scope { me: true, ..Scope::default() };
        let first = self.dice.below(self.subjects.len());
        scope.records.push((self.subjects[first].low.to_string(), first));
        let mut params =
            vec![format!("{}: {}", self.subjects[first].low, self.subjects[first].name)];
        if !repair {
            if self.dice.chance(30) {
                // another one, perhaps the same
                let second = self.dice.below(self.subjects.len());
                let name = format!("{}2", self.subjects[second].low);
                params.push(format!("{name}: {}", self.subjects[second].name));
                scope.records.push((name, second));
            }
            scope.duration = self.dice.chance(35);
            scope.number = self.dice.chance(25);
            scope.flag = self.dice.chance(15);
            scope.memory =
                self.memory && scope.records.iter().filter(|record| record.1 == 0).count() == 1;
        }
        if repair {
            scope.me = false;
        }
        let mut body = String::new();
        let count = 1 + self.dice.below(2) + usize::from(number == 0);
        self.statements(&mut body, &scope, count, "    ");
        let deletes = self.dice.chance(15) && self.subjects[first].explicit;
        if deletes {
            writeln!(body, "    delete {}", scope.records[0].0).expect("a string takes all");
        }
        // The first step is not guarded, so that something happens.
        let guarded = repair || number > 0 && self.dice.chance(60);
        let clauses = usize::from(guarded) + usize::from(number > 0 && self.dice.chance(15));
        let mut clauses: Vec<String> = (0..clauses)
            .map(|at| format!("    c{at}: {}\n", self.condition(&scope, 1 + at)))
            .collect();
        if deletes && first == 0 && self.subjects.get(1).is_some_and(|subject| subject.child) {
            clauses.push(format!("    {}\n", self.no_children(self.subjects[0].low)));
        }
        let guard =
            if clauses.is_empty() { String::new() } else { format!(" {{\n{}}}", clauses.concat()) };
        let all = format!("{guard}{body}");
        if scope.duration && all.contains("ttl") {
            params.push("ttl: duration".to_string());
            self.uses_duration = true;
        }
        if scope.number && all.contains("num") {
            params.push("num: int".to_string());
            self.uses_number = true;
        }
        if scope.flag && all.contains("flag") {
            params.push("flag: bool".to_string());
        }
        let kind = if repair { "repair mender" } else { "step user" };
        writeln!(text, "{kind}[op_{number}({}){guard}] {{\n{body}}}\n", params.join(", "))
            .expect("a string takes all");
    }

    fn attribute_of(&mut self, scope: &Scope) -> (String, Kind) {
        let (name, subject) = scope.records[self.dice.below(scope.records.len())].clone();
        let attributes = &self.subjects[subject].attributes;
        let held = attributes[self.dice.below(attributes.len())].clone();
        (format!("{name}.{}", held.name), held.kind)
    }

    fn statements(&mut self, text: &mut String, scope: &Scope, count: usize, indent: &str) {
        for _ in 0..count {
            if self.dice.chance(15) && indent.len() < 8 {
                let condition = self.condition(scope, 1);
                let deeper = format!("{indent}    ");
                let mut body = String::new();
                self.statements(&mut body, scope, 1, &deeper);
                writeln!(text, "{indent}if {condition} {{\n{body}{indent}}}")
                    .expect("a string takes all");
                continue;
            }
            if scope.memory && self.dice.chance(35) {
                let numbers: Vec<String> = self.subjects[0]
                    .attributes
                    .iter()
                    .filter(|held| held.kind == Kind::Int)
                    .map(|held| held.name.clone())
                    .collect();
                let record = scope.records.iter().find(|record| record.1 == 0);
                let (record, at) = (&record.expect("memory is of Alpha").0, numbers.len());
                writeln!(text, "{indent}my_n := {record}.{}", numbers[self.dice.below(at)])
                    .expect("a string takes all");
                continue;
            }
            let (place, kind) = self.attribute_of(scope);
            let change = self.change(scope, &place, kind);
            writeln!(text, "{indent}{change}").expect("a string takes all");
        }
    }

    fn change(&mut self, scope: &Scope, place: &str, kind: Kind) -> String {
        let value = match kind {
            Kind::Enum => self.dice.pick(&CONSTANTS).to_string(),
            Kind::Bool if scope.flag && self.dice.chance(50) => "flag".to_string(),
            Kind::Bool => match self.dice.below(3) {
                0 => "true".to_string(),
                1 => "false".to_string(),
                _ => format!("not {place}"),
            },
            Kind::Int => match self.dice.below(8) {
                0..=2 => return format!("{place} += 1"),
                3 => return format!("{place} -= 1"),
                4 if scope.number => "num".to_string(),
                5 if scope.memory => "my_n".to_string(),
                6 => self.number(scope, 1),
                _ => self.dice.below(3).to_string(),
            },
            Kind::Time => match self.dice.below(4) {
                0 => "null".to_string(),
                1 if scope.duration => "now + ttl".to_string(),
                2 => "now".to_string(),
                _ => "now + 1s".to_string(),
            },
            Kind::Actor if scope.me && self.dice.chance(70) => "me".to_string(),
            Kind::Actor => "null".to_string(),
            Kind::Ref => self.reference(scope, place).unwrap_or_else(|| "null".to_string()),
            Kind::Set => match self.reference(scope, place) {
                Some(element) => {
                    let op = self.dice.pick(&["+=", "-="]);
                    return format!("{place} {op} {element}");
                }
                None => "{}".to_string(),
            },
        };
        format!("{place} := {value}")
    }

    /// A record of the other subject than the one this place is of.
    fn reference(&mut self, scope: &Scope, place: &str) -> Option<String> {
        let own = scope.records.iter().find(|record| place.starts_with(&format!("{}.", record.0)));
        let other = (own?.1 + 1) % self.subjects.len();
        let all: Vec<&String> = scope
            .records
            .iter()
            .filter(|record| record.1 == other)
            .map(|record| &record.0)
            .collect();
        if all.is_empty() || self.dice.chance(20) {
            return None;
        }
        Some(all[self.dice.below(all.len())].clone())
    }

    fn number(&mut self, scope: &Scope, depth: usize) -> String {
        let (place, kind) = self.attribute_of(scope);
        let other = self.dice.below(4);
        match self.dice.below(6) {
            0 if kind == Kind::Set => format!("size({place})"),
            1 if kind == Kind::Int && depth > 0 => format!("min({place} + 1, {other})"),
            2 if kind == Kind::Int && depth > 0 => format!("max({place}, {other}) - 1"),
            3 => self.counted(scope).unwrap_or_else(|| other.to_string()),
            _ if kind == Kind::Int => place,
            _ => other.to_string(),
        }
    }

    /// Something counted over the children of a record in scope.
    fn counted(&mut self, scope: &Scope) -> Option<String> {
        let child = self.subjects.get(1).filter(|subject| subject.child)?.clone();
        let parent = scope.records.iter().find(|record| record.1 == 0)?.0.clone();
        let ints: Vec<&Attribute> =
            child.attributes.iter().filter(|held| held.kind == Kind::Int).collect();
        if !ints.is_empty() && self.dice.chance(25) {
            let held = ints[self.dice.below(ints.len())];
            return Some(format!("sum(c.{} of c in Beta of {parent})", held.name));
        }
        let own = Scope { records: vec![("c".to_string(), 1)], ..Scope::default() };
        let condition = self.constant_condition(&own);
        Some(format!("count(c in Beta of {parent} where {condition})"))
    }

    /// Of one record and constants alone.
    fn constant_condition(&mut self, scope: &Scope) -> String {
        let (place, kind) = self.attribute_of(scope);
        let constant = self.dice.pick(&CONSTANTS);
        let number = self.dice.below(3);
        match kind {
            Kind::Enum => format!("{place} = {constant}"),
            Kind::Bool => place,
            Kind::Int => format!("{place} {} {number}", self.dice.pick(&["<", ">=", "=", "!="])),
            Kind::Time | Kind::Actor | Kind::Ref => {
                format!("{place} {} null", self.dice.pick(&["=", "!="]))
            }
            Kind::Set => format!("size({place}) >= {number}"),
        }
    }

    fn condition(&mut self, scope: &Scope, depth: usize) -> String {
        if depth > 0 && self.dice.chance(35) {
            let (left, right) =
                (self.condition(scope, depth - 1), self.condition(scope, depth - 1));
            return match self.dice.below(5) {
                0 | 1 => format!("({left} and {right})"),
                2 => format!("({left} or {right})"),
                3 => format!("({left} implies {right})"),
                _ => format!("not ({left})"),
            };
        }
        if self.dice.chance(12)
            && let Some(counted) = self.counted(scope)
        {
            let number = self.dice.below(3);
            return format!("{counted} {} {number}", self.dice.pick(&["<", "<=", "=", ">"]));
        }
        if scope.memory && self.dice.chance(20) {
            let numbers: Vec<&Attribute> =
                self.subjects[0].attributes.iter().filter(|held| held.kind == Kind::Int).collect();
            let name = numbers[self.dice.below(numbers.len())].name.clone();
            let record = scope.records.iter().find(|record| record.1 == 0);
            let record = &record.expect("memory is of Alpha").0;
            return format!("{record}.{name} {} my_n", self.dice.pick(&["=", "<=", "!="]));
        }
        let (place, kind) = self.attribute_of(scope);
        match kind {
            Kind::Enum if self.dice.chance(25) => format!("{place} in {{P, R}}"),
            Kind::Enum => {
                let op = self.dice.pick(&["=", "!="]);
                format!("{place} {op} {}", self.dice.pick(&CONSTANTS))
            }
            Kind::Bool => format!("{}{place}", self.dice.pick(&["", "not "])),
            Kind::Int => {
                let op = self.dice.pick(&["<", "<=", ">", ">=", "=", "!="]);
                let right = if scope.number && self.dice.chance(40) {
                    "num".to_string()
                } else {
                    self.number(scope, 1)
                };
                format!("{place} {op} {right}")
            }
            Kind::Time => match self.dice.below(5) {
                0 => format!("{place} = null"),
                1 => format!("{place} < now"),
                2 => format!("{place} >= now"),
                3 if scope.duration => format!("{place} < now + ttl"),
                _ => format!("{place} <= now - 1s"),
            },
            Kind::Actor if scope.me && self.dice.chance(60) => {
                format!("{place} {} me", self.dice.pick(&["=", "!="]))
            }
            Kind::Actor => format!("{place} {} null", self.dice.pick(&["=", "!="])),
            Kind::Ref => match self.reference(scope, &place) {
                Some(other) => format!("{place} {} {other}", self.dice.pick(&["=", "!="])),
                None => self.through(&place),
            },
            Kind::Set => match self.reference(scope, &place) {
                Some(other) => format!("{other} in {place}"),
                None => format!("size({place}) < {}", self.dice.below(3)),
            },
        }
    }

    /// A condition on what a reference refers to, if it refers to something.
    fn through(&mut self, place: &str) -> String {
        let own = usize::from(!(place.contains(".a_")));
        let other = (own + 1) % self.subjects.len();
        let scope = Scope { records: vec![(place.to_string(), other)], ..Scope::default() };
        let condition = self.constant_condition(&scope);
        if self.dice.chance(50) {
            return condition;
        }
        format!("({place} != null and {condition})")
    }

    fn invariant(&mut self, text: &mut String, number: usize) {
        let subject = self.dice.below(self.subjects.len());
        let name = self.subjects[subject].name;
        let scope = Scope { records: vec![("x".to_string(), subject)], ..Scope::default() };
        let body = match self.dice.below(6) {
            0 => format!("all x in {name}: {}", self.condition(&scope, 2)),
            1 => format!("any x in {name}: {}", self.condition(&scope, 1)),
            2 => {
                let condition = self.constant_condition(&scope);
                format!("count(x in {name} where {condition}) <= {}", self.dice.below(2))
            }
            _ => format!("all x in {name}: {}", self.change_condition(&scope)),
        };
        writeln!(text, "invariant i{number}: {body}").expect("a string takes all");
    }

    /// A condition on a transition.
    fn change_condition(&mut self, scope: &Scope) -> String {
        let (place, kind) = self.attribute_of(scope);
        let constant = self.dice.pick(&CONSTANTS);
        let other = self.dice.pick(&CONSTANTS);
        match kind {
            Kind::Enum => format!("old({place}) = {constant} implies {place} != {other}"),
            Kind::Bool => format!("old({place}) implies {place}"),
            Kind::Int if self.dice.chance(50) => format!("{place} >= old({place})"),
            Kind::Int => format!("{place} <= old({place}) + 1"),
            Kind::Time => match self.dice.below(3) {
                0 => format!("old({place}) < now or {place} = old({place})"),
                1 => format!("old({place}) = null or {place} >= old({place})"),
                _ => format!("{place} >= now or old({place}) = {place}"),
            },
            Kind::Actor | Kind::Ref | Kind::Set => {
                let condition = self.condition(scope, 1);
                format!("{place} = old({place}) or {condition}")
            }
        }
    }

    fn check(&mut self, text: &mut String) {
        let mut entries = vec!["horizon: 2".to_string()];
        if text.contains("me") {
            entries.push(format!("user: {}", self.users));
        }
        for subject in &self.subjects {
            entries.push(format!("{}k: {}", subject.low, subject.count));
            for held in subject.attributes.iter().filter(|held| held.kind == Kind::Int) {
                entries.push(format!("{}State.{}: -1..3", subject.name, held.name));
            }
        }
        if self.uses_duration {
            entries.push("ttl: 2".to_string());
        }
        if self.uses_name {
            entries.push(format!("name: {}", self.subjects[1].count));
        }
        if self.uses_number {
            entries.push("num: 0..2".to_string());
        }
        writeln!(text, "\ncheck {{ {} }}", entries.join("  ")).expect("a string takes all");
    }
}
