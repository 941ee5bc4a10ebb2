//! Time is dense, and the checker's regions are exact: random designs over three stored times, held
//! against an oracle that knows nothing of regions.
//!
//! The oracle tries every sequence of steps. A sequence can happen if there are moments for its
//! steps: each guard is a difference between two of them, so this is a question of shortest paths.

use std::fmt::Write;

use model_checker::{Options, Verdict, check};

const CLOCKS: [&str; 3] = ["x", "y", "z"];
const PLACES: usize = 4;
/// Steps after the first one.
const LENGTH: usize = 5;

/// A time plus so many seconds.
#[derive(Clone, Copy)]
struct Term {
    /// none: now
    clock: Option<usize>,
    plus: i64,
}

#[derive(Clone, Copy)]
struct Guard {
    left: Term,
    right: Term,
    strict: bool,
}

struct Step {
    from: usize,
    to: usize,
    guards: Vec<Guard>,
    sets: Vec<(usize, Term)>,
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        // xorshift: good enough to draw cases, and the same everywhere
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    fn term(&mut self, clock: Option<usize>) -> Term {
        Term { clock, plus: [0, 0, 1, 2, 3, 5][self.below(6)] }
    }

    fn guard(&mut self) -> Guard {
        let one = Some(self.below(CLOCKS.len()));
        // mostly against now, sometimes two stored times with each other
        let other = (self.below(3) == 0).then(|| self.below(CLOCKS.len()));
        let (one, other) = if self.below(2) == 0 { (one, other) } else { (other, one) };
        Guard { left: self.term(one), right: self.term(other), strict: self.below(2) == 0 }
    }

    fn step(&mut self) -> Step {
        let guards = (0..self.below(3)).map(|_| self.guard()).collect();
        let sets = (0..self.below(3))
            .map(|_| {
                let to = self.below(CLOCKS.len());
                let from = (self.below(4) == 0).then(|| self.below(CLOCKS.len()));
                let plus = if from.is_some() { 0 } else { [0, 0, 0, 2][self.below(4)] };
                (to, Term { clock: from, plus })
            })
            .collect();
        Step { from: self.below(PLACES - 1), to: self.below(PLACES), guards, sets }
    }
}

fn shown(term: Term) -> String {
    let name = term.clock.map_or("now".to_string(), |clock| format!("S.{}", CLOCKS[clock]));
    if term.plus == 0 { name } else { format!("{name} + {}s", term.plus) }
}

fn text(steps: &[Step]) -> String {
    let mut text = String::from(
        "design D
actor p
subject A(a: text) {
    truth S { x: time?, y: time?, z: time?, at: NONE | P0 | P1 | P2 | P3 = NONE, n: int = 0 }
}
step p[begin(a: A) { first: S.at = NONE }] { S := { x: now, y: now, z: now, at: P0 } }
",
    );
    for (number, step) in steps.iter().enumerate() {
        let mut guard = format!("    from: S.at = P{}\n    room: S.n < {LENGTH}\n", step.from);
        for (at, held) in step.guards.iter().enumerate() {
            let operator = if held.strict { "<" } else { "<=" };
            let (left, right) = (shown(held.left), shown(held.right));
            writeln!(guard, "    g{at}: {left} {operator} {right}").unwrap();
        }
        let mut body = String::new();
        for (to, from) in &step.sets {
            writeln!(body, "    S.{} := {}", CLOCKS[*to], shown(*from)).unwrap();
        }
        write!(
            text,
            "step p[s{number}(a: A) {{\n{guard}}}] {{\n{body}    S.at := P{}\n    S.n += 1\n}}\n",
            step.to
        )
        .unwrap();
    }
    let last = PLACES - 1;
    write!(
        text,
        "invariant never: all a in A: a.at != P{last}\ncheck {{ a: 1  S.n: 0..{LENGTH} }}\n"
    )
    .unwrap();
    text
}

/// Upper bounds of differences between moments: `of[i][j]` bounds moment i minus moment j. A bound
/// is doubled, and one less if it is strict.
#[derive(Clone)]
struct Moments {
    of: Vec<Vec<i64>>,
}

const NONE: i64 = i64::MAX / 4;

/// The sum of two bounds: strict if one of them is.
fn both(a: i64, b: i64) -> i64 {
    if a == NONE || b == NONE {
        return NONE;
    }
    let strict = a.rem_euclid(2) + b.rem_euclid(2);
    a + b + strict - i64::from(strict > 0)
}

impl Moments {
    /// One more moment, not before the last.
    fn later(&self) -> Moments {
        let mut of = self.of.clone();
        for row in &mut of {
            row.push(NONE);
        }
        of.push(vec![NONE; of.len() + 1]);
        let last = of.len() - 1;
        of[last][last] = 0;
        if last > 0 {
            of[last - 1][last] = 0;
        }
        Moments { of }
    }

    /// Whether there are such moments.
    fn exist(&mut self) -> bool {
        let n = self.of.len();
        for k in 0..n {
            for i in 0..n {
                for j in 0..n {
                    self.of[i][j] = self.of[i][j].min(both(self.of[i][k], self.of[k][j]));
                }
            }
        }
        (0..n).all(|i| self.of[i][i] >= 0)
    }
}

/// A stored time: which moment, and how much later.
type Stored = (usize, i64);

/// Can the last place be reached?
fn reached(steps: &[Step], at: usize, left: usize, clocks: [Stored; 3], moments: &Moments) -> bool {
    if at == PLACES - 1 {
        return true;
    }
    if left == 0 {
        return false;
    }
    steps.iter().filter(|step| step.from == at).any(|step| {
        let mut later = moments.later();
        let now = later.of.len() - 1;
        let value = |term: Term, clocks: &[Stored; 3]| {
            let (moment, plus) = term.clock.map_or((now, 0), |clock| clocks[clock]);
            (moment, plus + term.plus)
        };
        for guard in &step.guards {
            let (left, right) = (value(guard.left, &clocks), value(guard.right, &clocks));
            // left moment - right moment (<, <=) the rest
            let bound = 2 * (right.1 - left.1) - i64::from(guard.strict);
            let held = &mut later.of[left.0][right.0];
            *held = bound.min(*held);
        }
        if !later.exist() {
            return false;
        }
        let mut clocks = clocks;
        for (to, from) in &step.sets {
            clocks[*to] = value(*from, &clocks);
        }
        reached(steps, step.to, left - 1, clocks, &later)
    })
}

#[test]
fn regions_agree_with_moments() {
    let quick = std::env::var_os("STEADFAST_QUICK").is_some();
    let options = Options { threads: 1, failures: false, free: false, ..Options::default() };
    let (mut yes, mut no) = (0, 0);
    let mut wrong = Vec::new();
    for seed in 1_u64..=if quick { 100 } else { 600 } {
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        let steps: Vec<Step> = (0..4 + dice.below(4)).map(|_| dice.step()).collect();
        let start = Moments { of: vec![vec![0]] };
        let expected = reached(&steps, 0, LENGTH, [(0, 0); 3], &start);
        let text = text(&steps);
        let compiled = design::compile("dense", &text, &design::NoCatalog);
        let design =
            compiled.design.unwrap_or_else(|| panic!("{:?}\n{text}", compiled.diagnostics));
        let report = check(&design, &options, &mut |_| {}).expect("the small world is finite");
        let right = match &report.goals[0].verdict {
            Verdict::Proved => !expected,
            Verdict::Violated(_) => expected,
            Verdict::Holds(_) | Verdict::Unknown(_) => false,
        };
        if !right {
            let found = &report.goals[0].verdict;
            wrong.push(format!("seed {seed}: reached: {expected}, found {found:?}\n{text}"));
        }
        *(if expected { &mut yes } else { &mut no }) += 1;
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong[0]);
    assert!(yes * 10 > no && no * 10 > yes, "{yes} reach the last place, {no} do not");
}
