//! Due times against brute force: the guard evaluated at every moment.

use crate::support;

use design::model::*;
use engine::{Command, Due, NULL, Outcome, Program, Scratch, Word, due, guard};
use support::lease::{RECLAIM, lease};
use support::*;

const HORIZON: Word = 80;

/// A thing with two times, a number, a set of times and a thing that it refers to.
fn thing() -> Design {
    let mut design = design();
    design.subjects.push(subject(
        "Thing",
        &[("thing", Type::Text)],
        &[
            ("a", optional(Type::Time), None),
            ("b", Type::Time, None),
            ("n", Type::Int, None),
            ("times", set_of(Type::Time, 2), None),
            ("next", optional(Type::Ref(SubjectId(0))), None),
        ],
    ));
    design
}

fn repair(condition: Expr) -> Design {
    let mut design = thing();
    let mut operation = step("mend", &[("thing", Type::Ref(SubjectId(0)), false)]);
    local_of(&mut operation, Type::Time);
    local_of(&mut operation, Type::Duration);
    let mut operation = operation.when("due", condition);
    operation.kind = OperationKind::Repair { after: None, every: None, batch: None };
    design.operations.push(operation);
    design
}

/// Random guards of a repair; `wild` ones are beyond what is understood exactly.
struct Guards<'a> {
    random: &'a mut Random,
    wild: bool,
    in_loop: bool,
}

impl Guards<'_> {
    fn time(&mut self) -> Expr {
        let it = record(0, 0);
        match self.random.below(if self.in_loop { 4 } else { 3 }) {
            0 => attr(it, 0, optional(Type::Time)),
            1 => attr(it, 1, Type::Time),
            2 => attr(attr(it, 4, optional(Type::Ref(SubjectId(0)))), 1, Type::Time),
            _ => local(1, Type::Time),
        }
    }

    fn number(&mut self) -> Expr {
        match self.random.below(2) {
            0 => int(self.random.below(7) as Word - 3),
            _ => attr(record(0, 0), 2, Type::Int),
        }
    }

    /// A time, some way from the clock or from an attribute.
    fn moment(&mut self, depth: u32) -> Expr {
        let base = if self.random.chance(2) { now() } else { self.time() };
        if depth == 0 {
            return base;
        }
        match self.random.below(5) {
            0 => plus(base, duration(self.random.below(9) as Word - 4)),
            1 => arithmetic(
                ArithmeticOp::Subtract,
                base,
                duration(self.random.below(5) as Word),
                Type::Time,
            ),
            2 => {
                let parts = vec![self.moment(depth - 1), self.moment(depth - 1)];
                let kind =
                    if self.random.chance(2) { ExprKind::Min(parts) } else { ExprKind::Max(parts) };
                expr(kind, Type::Time)
            }
            3 if self.wild => {
                let (condition, then) = (Box::new(self.condition(0)), Box::new(self.moment(0)));
                expr(ExprKind::If { condition, then, otherwise: Box::new(base) }, Type::Time)
            }
            _ => base,
        }
    }

    fn comparison(&mut self) -> Expr {
        use CompareOp::*;
        let op = self.random.pick(&[Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual]);
        match self.random.below(6) {
            0 => compare(op, self.number(), int(1)),
            1 => {
                // what has passed, in steps of some length
                let passed = arithmetic(ArithmeticOp::Subtract, now(), self.time(), Type::Duration);
                let length = duration(self.random.pick(&[-3, 0, 1, 4, 7]));
                let steps = arithmetic(ArithmeticOp::Divide, passed, length, Type::Int);
                let total = plus(steps, self.number());
                compare(op, total, int(self.random.below(6) as Word))
            }
            2 => {
                let passed = arithmetic(ArithmeticOp::Subtract, now(), self.time(), Type::Duration);
                let times =
                    arithmetic(ArithmeticOp::Multiply, passed, self.number(), Type::Duration);
                compare(op, times, duration(self.random.below(30) as Word))
            }
            3 => compare(op, self.moment(1), self.time()),
            _ => {
                let depth = if self.wild { 2 } else { 0 };
                compare(op, self.moment(depth), self.moment(depth))
            }
        }
    }

    fn condition(&mut self, depth: u32) -> Expr {
        if depth == 0 {
            return self.comparison();
        }
        let pair =
            |guards: &mut Self| vec![guards.condition(depth - 1), guards.condition(depth - 1)];
        match self.random.below(8) {
            0 => and(pair(self)),
            1 => or(pair(self)),
            2 => not(self.condition(depth - 1)),
            3 => {
                let (one, two) =
                    (Box::new(self.condition(depth - 1)), Box::new(self.condition(depth - 1)));
                expr(ExprKind::Implies(one, two), Type::Bool)
            }
            4 if !self.in_loop => {
                self.in_loop = true;
                let times = attr(record(0, 0), 3, set_of(Type::Time, 2));
                let all = self.random.chance(2);
                let body = self.condition(depth - 1);
                self.in_loop = false;
                quantified(all, 1, Domain::Elements(times), body)
            }
            5 => {
                let value = arithmetic(ArithmeticOp::Subtract, now(), self.time(), Type::Duration);
                let limit = self.random.below(8) as Word;
                let it = || local(2, Type::Duration);
                let body = match self.random.below(2) {
                    0 => less(it(), duration(limit)),
                    _ => {
                        let steps = arithmetic(ArithmeticOp::Divide, it(), duration(3), Type::Int);
                        compare(CompareOp::Greater, steps, int(limit))
                    }
                };
                let kind = ExprKind::Let {
                    local: LocalId(2),
                    value: Box::new(value),
                    body: Box::new(or(vec![body, self.condition(depth - 1)])),
                };
                expr(kind, Type::Bool)
            }
            6 => equal(self.condition(depth - 1), self.condition(depth - 1)),
            _ => self.comparison(),
        }
    }
}

fn words(random: &mut Random) -> [Word; 7] {
    let time = |random: &mut Random| random.below(40) as Word;
    let (one, two) = (time(random), time(random) + 40);
    [
        if random.chance(4) { NULL } else { time(random) },
        time(random),
        random.below(7) as Word - 3,
        random.below(3) as Word,
        one,
        two,
        random.pick(&[NULL, 1, 2, 2, 3]),
    ]
}

fn first_by_force(program: &Program, truth: &MapTruth, now: Word) -> Option<Word> {
    let mut scratch = Scratch::new();
    (now..now + HORIZON).find(|moment| {
        let command = Command { now: *moment, ..command(0, &[1]) };
        guard(program, truth, &command, &mut scratch) == Outcome::Done
    })
}

fn compare_with_force(wild: bool, seeds: std::ops::Range<u64>) -> [u32; 4] {
    let mut counts = [0; 4];
    for seed in seeds {
        let mut random = Random::new(seed);
        let depth = random.below(4) as u32;
        let condition = Guards { random: &mut random, wild, in_loop: false }.condition(depth);
        let program = Program::new(&repair(condition));
        let mut truth = MapTruth::default();
        for key in [1, 2] {
            truth = truth.with(0, key, &words(&mut random));
            if random.chance(4) {
                truth.times.insert((SubjectId(0), key), random.below(30) as Word);
            }
        }
        let now = random.below(30) as Word;
        let found = due(&program, &truth, OperationId(0), 1, 1, now, &mut Scratch::new());
        match (found, first_by_force(&program, &truth, now)) {
            (Due::Now, Some(first)) if first == now => counts[0] += 1,
            (Due::At(at), Some(first)) if at == first && at > now => counts[1] += 1,
            (Due::At(at), None) if at >= now + HORIZON => counts[2] += 1,
            (Due::Never, None) => counts[2] += 1,
            // early, never late
            (Due::At(at), first) if wild && at > now && first.is_none_or(|first| at <= first) => {
                counts[3] += 1;
            }
            (found, first) => panic!("seed {seed}: now {now}, found {found:?}, first {first:?}"),
        }
    }
    counts
}

#[test]
fn simple_guards_are_exact() {
    let counts = compare_with_force(false, 0..15_000);
    assert!(counts[..3].iter().all(|count| *count > 500), "{counts:?}");
}

#[test]
fn wild_guards_are_never_late() {
    let counts = compare_with_force(true, 0..15_000);
    assert!(counts.iter().all(|count| *count > 200), "{counts:?}");
}

#[test]
fn the_lease_is_due_when_it_has_expired() {
    let program = Program::new(&lease());
    let ask = |words: &[Word], now| {
        let truth = MapTruth::default().with(0, 7, words);
        due(&program, &truth, OperationId(RECLAIM), 7, 1, now, &mut Scratch::new())
    };
    assert_eq!(ask(&[1, 150, 1, 0, 0], 100), Due::At(151));
    assert_eq!(ask(&[1, 150, 1, 0, 0], 151), Due::Now);
    assert_eq!(ask(&[NULL, 150, 1, 0, 0], 100), Due::Never);
    assert_eq!(ask(&[1, NULL, 1, 0, 0], 100), Due::Never);
}

#[test]
fn what_is_not_loaded_is_asked_for() {
    let next = attr(record(0, 0), 4, optional(Type::Ref(SubjectId(0))));
    let program = Program::new(&repair(less(attr(next, 1, Type::Time), now())));
    let mut truth = MapTruth::default().with(0, 1, &[NULL, 0, 0, 0, 0, 0, 2]);
    truth.unknown.insert((SubjectId(0), 2));
    let mut scratch = Scratch::new();
    assert_eq!(due(&program, &truth, OperationId(0), 1, 1, 5, &mut scratch), Due::Need);
    assert_eq!(scratch.needs(), [engine::Need::Record { subject: SubjectId(0), key: 2 }]);
}

#[test]
fn after_and_every_put_it_off() {
    assert_eq!(Due::Now.tuned(None, None, NULL, 100), Due::Now);
    assert_eq!(Due::Now.tuned(Some(5), None, NULL, 100), Due::At(105));
    assert_eq!(Due::Now.tuned(None, Some(30), 80, 100), Due::At(110));
    assert_eq!(Due::Now.tuned(None, Some(30), 60, 100), Due::Now);
    assert_eq!(Due::At(120).tuned(Some(5), Some(30), 80, 100), Due::At(125));
    assert_eq!(Due::Never.tuned(Some(5), Some(30), 80, 100), Due::Never);
}
