//! Values outside their range: never taken, never left behind.

use crate::support;

use design::model::*;
use engine::{
    AnswerKind, Command, Due, NULL, Outcome, Outside, Place, Program, Reason, Refusal, Scratch,
    Word, due, refuses,
};
use support::*;

const TEXT: &str = "design D
actor a
actor b
subject S(s: int 0..9) {
    truth T { free: int = 0, n: int 1..64 = 4, m: int 0..3 = 0, d: duration 1s..10m?, other: S? }
    log L { k: int 1..2 }
    cache C at a { v: int 0..1 = 0 }
    ephemeral E { x: int 0..5? }
}
subject K(s: S, k: int 0..2) { truth KT { z: int -2..2 = 0 } }
step a[set(s: S, n: int 1..10, d: duration 1s..2s?)] { T.n := n T.d := d }
step a[add(s: S, by: int) { low: T.free < 5 }] { T.n += by T.m += by T.free += 1 }
step a[pass(s: S)] { T.n := 1000 T.n := 5 }
step a[note(s: S, k: int)] { append L { k: k } }
step a[copy(s: S, v: int)] { C.v := v }
step a[soft(s: S, x: int)] { E.x := x }
step a[make(s: S, k: int, z: int)] { new K(s, k) { z: z } }
step a[call_out(s: S, x: int)] { send b.out(s, x) }
step a[tell(s: S, x: int)] { send a.told(s, x) }
step a[told(s: S, x: int 1..3)] { T.free := x }
effect b[out(s: S, x: int 1..3)] {
    call POST \"u\" on ok(got: int 5..9?) { T.free := if got = null then -1 else got } on refused {} on unknown {}
}
repair a[mend(s: S) { up: T.free > 0 }] { T.m += 1 }
repair a[mend_late(s: S) { up: T.free > 0 }] { T.d := now - now + 1ms }
step a[many(few: set S max 4)] { for one in few { one.free += 1 } }
read a[get(s: S)] = T
";

struct Bench {
    design: Design,
    program: Program,
    truth: MapTruth,
    scratch: Scratch,
}

/// The words of `T`, the start and end of `L`.
fn record(n: Word, m: Word) -> [Word; 7] {
    [0, n, m, NULL, NULL, 0, 0]
}

impl Bench {
    fn new() -> Bench {
        let compiled = design::compile("text", TEXT, &design::NoCatalog);
        let design = compiled.design.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
        let program = Program::new(&design);
        let mut truth = MapTruth::default().with(0, 1, &record(4, 0));
        truth.single.insert(SubjectId(0));
        Bench { design, program, truth, scratch: Scratch::new() }
    }

    fn named(&self, name: &str) -> u32 {
        self.design.operations.iter().position(|operation| operation.name == name).unwrap() as u32
    }

    fn ask(&mut self, name: &str, params: &[Word]) -> Outcome {
        let command = command(self.named(name), params);
        engine::step(&self.program, &self.truth, &command, &mut self.scratch)
    }

    #[track_caller]
    fn done(&mut self, name: &str, params: &[Word]) {
        assert_eq!(self.ask(name, params), Outcome::Done, "{name} {params:?}");
    }

    /// What lies outside; nothing is changed then.
    #[track_caller]
    fn outside(&mut self, name: &str, params: &[Word]) -> Outside {
        let command = command(self.named(name), params);
        let asked = engine::step(&self.program, &self.truth, &command, &mut self.scratch);
        let Outcome::Refused(Refusal { reason: Reason::Range(outside), clause: None, .. }) = asked
        else {
            panic!("{name} {params:?}: {asked:?}");
        };
        let quick = refuses(&self.program, &self.truth, &command, &mut Scratch::new());
        assert_eq!(quick, None, "the quick no never says something else");
        outside
    }

    fn attr(&self, name: &str) -> Place {
        for (at, subject) in self.design.subjects.iter().enumerate() {
            if let Some(attr) = subject.attributes.iter().position(|attr| attr.name == name) {
                return Place::Attribute { subject: SubjectId::of(at), attr: AttrId::of(attr) };
            }
        }
        panic!("no {name}");
    }
}

#[test]
fn an_argument_outside_its_range_is_never_taken() {
    let mut bench = Bench::new();
    bench.done("set", &[1, 1, NULL]);
    bench.done("set", &[1, 10, 2_000]);
    for (params, param, value) in
        [([1, 0, NULL], 1, 0), ([1, 11, NULL], 1, 11), ([1, 5, 999], 2, 999)]
    {
        let found = bench.outside("set", &params);
        assert_eq!(found, Outside { place: Place::Param(param), value });
    }
}

#[test]
fn a_key_outside_its_range_is_never_taken() {
    let mut bench = Bench::new();
    let key = |value| Outside { place: Place::Key { subject: SubjectId(0), part: 0 }, value };
    for name in ["get", "pass"] {
        bench.done(name, &[9]);
        assert_eq!(bench.outside(name, &[10]), key(10));
    }
    bench.done("many", &[2, 1, 9, 0, 0]);
    assert_eq!(bench.outside("many", &[3, 1, 9, 12, 0]), key(12));
}

#[test]
fn a_step_leaves_no_value_outside_its_range_behind() {
    let mut bench = Bench::new();
    bench.done("add", &[1, 3]);
    // both lie outside: the first in the order of declaration is told
    assert_eq!(bench.outside("add", &[1, 100]), Outside { place: bench.attr("n"), value: 104 });
    assert_eq!(bench.outside("add", &[1, 4]), Outside { place: bench.attr("m"), value: 4 });
    assert_eq!(bench.outside("add", &[1, -4]), Outside { place: bench.attr("n"), value: 0 });
    // the clauses come first
    bench.truth = MapTruth { single: bench.truth.single.clone(), ..MapTruth::default() }.with(
        0,
        1,
        &[5, 4, 0, NULL, NULL, 0, 0],
    );
    assert_eq!(outcome(bench.ask("add", &[1, 100])), "clause");
    // on its way a value may be anything
    bench.done("pass", &[1]);
}

#[test]
fn logs_caches_and_soft_state_have_ranges_too() {
    let mut bench = Bench::new();
    for (name, attr, good, bad) in
        [("note", "k", 2, 3), ("copy", "v", 1, -1), ("soft", "x", 5, 6), ("soft", "x", 0, -1)]
    {
        bench.done(name, &[1, good]);
        let place = bench.attr(attr);
        assert_eq!(bench.outside(name, &[1, bad]), Outside { place, value: bad }, "{name}");
    }
}

#[test]
fn no_record_is_made_outside_the_range_of_its_key() {
    let mut bench = Bench::new();
    bench.done("make", &[1, 2, -2]);
    let key = Outside { place: Place::Key { subject: SubjectId(1), part: 1 }, value: 3 };
    assert_eq!(bench.outside("make", &[1, 3, 0]), key);
    // the key comes before the attributes
    assert_eq!(bench.outside("make", &[1, 3, 9]), key);
    assert_eq!(bench.outside("make", &[1, 2, 3]), Outside { place: bench.attr("z"), value: 3 });
}

#[test]
fn nothing_outside_its_range_is_sent_to_the_world() {
    let mut bench = Bench::new();
    bench.done("call_out", &[1, 3]);
    let operation = OperationId(bench.named("out"));
    let found = bench.outside("call_out", &[1, 4]);
    assert_eq!(found, Outside { place: Place::Sent { operation, param: 1 }, value: 4 });
    // a message is sent, and refused where it arrives
    bench.done("tell", &[1, 4]);
    let found = bench.outside("told", &[1, 4]);
    assert_eq!(found, Outside { place: Place::Param(1), value: 4 });
}

#[test]
fn an_answer_outside_its_range_is_no_answer() {
    let mut bench = Bench::new();
    for (answer, left) in [(5, 5), (9, 9), (4, -1), (10, -1), (NULL, -1)] {
        let operation = OperationId(bench.named("out"));
        let command = Command {
            operation,
            answer: Some((AnswerKind::Ok, answer)),
            ..command(operation.0, &[1, 2])
        };
        let asked = engine::step(&bench.program, &bench.truth, &command, &mut bench.scratch);
        assert_eq!(asked, Outcome::Done);
        let mut truth = bench.truth.clone();
        truth.commit(&bench.scratch);
        assert_eq!(truth.at(0, 1).unwrap()[0], left, "{answer}");
    }
}

#[test]
fn a_repair_that_would_leave_the_range_is_not_due() {
    let mut bench = Bench::new();
    let ask = |bench: &mut Bench, name: &str| {
        let repair = OperationId(bench.named(name));
        due(&bench.program, &bench.truth, repair, 1, NULL, 100, &mut bench.scratch)
    };
    let up = |m: Word| [1, 4, m, NULL, NULL, 0, 0];
    bench.truth = bench.truth.with(0, 1, &up(2));
    assert_eq!(ask(&mut bench, "mend"), Due::Now);
    bench.done("mend", &[1]);
    bench.truth = bench.truth.with(0, 1, &up(3));
    assert_eq!(bench.outside("mend", &[1]), Outside { place: bench.attr("m"), value: 4 });
    assert_eq!(ask(&mut bench, "mend"), Due::Never);
    // what depends on the clock may lie in its range later: never late, perhaps early
    assert_eq!(ask(&mut bench, "mend_late"), Due::Now);
}
