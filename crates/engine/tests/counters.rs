//! Counters under a parent equal a recount, whatever happens to the children.

use crate::support;

use design::model::*;
use engine::{NULL, Outcome, Program, Scratch, Word};
use support::*;

const STAGE: u32 = 0;
const TASK: u32 = 1;

fn stage() -> Type {
    Type::Ref(SubjectId(STAGE))
}

fn task() -> Type {
    Type::Ref(SubjectId(TASK))
}

fn done(base: Expr) -> Expr {
    attr(base, 0, Type::Bool)
}

fn weight(base: Expr) -> Expr {
    attr(base, 1, optional(Type::Int))
}

/// Stages keep: how many tasks, how many are done, the weight of those that are done.
fn stages() -> Design {
    let mut design = design();
    let mut parent =
        subject("Stage", &[("stage", Type::Int)], &[("open", Type::Bool, Some(Const::Bool(true)))]);
    let locals = || vec![Local { name: "t".into(), ty: task() }];
    let counter =
        |filter, value| Counter { child: SubjectId(TASK), filter, value, locals: locals() };
    parent.counters = vec![
        counter(None, None),
        counter(Some(done(record(0, TASK))), None),
        counter(Some(done(record(0, TASK))), Some(weight(record(0, TASK)))),
    ];
    design.subjects.push(parent);
    design.subjects.push(subject(
        "Task",
        &[("stage", stage()), ("task", Type::Int)],
        &[("done", Type::Bool, None), ("weight", optional(Type::Int), None)],
    ));
    let new_task = |stage_id, number, fields| StmtKind::New {
        subject: SubjectId(TASK),
        keys: vec![record(stage_id, STAGE), local(number, Type::Int)],
        fields,
    };
    let count = |counter| {
        expr(
            ExprKind::Counter { base: Box::new(record(0, STAGE)), counter: CounterId(counter) },
            Type::Int,
        )
    };
    design.operations = vec![
        step("open", &[("stage", stage(), true)]),
        step("add", &[("task", task(), true), ("done", Type::Bool, false)]).does(assign(
            record(0, TASK),
            0,
            local(1, Type::Bool),
        )),
        step(
            "set",
            &[("task", task(), false), ("done", Type::Bool, false), ("weight", Type::Int, false)],
        )
        .does(assign(record(0, TASK), 0, local(1, Type::Bool)))
        .does(assign(record(0, TASK), 1, local(2, Type::Int))),
        step("drop", &[("task", task(), false)]).does(StmtKind::Delete { target: record(0, TASK) }),
        step("close", &[("stage", stage(), false)])
            .does(StmtKind::Delete { target: record(0, STAGE) }),
        // two at once, and the count in between
        step(
            "pair",
            &[("stage", stage(), false), ("a", Type::Int, false), ("b", Type::Int, false)],
        )
        .does(new_task(0, 1, vec![(AttrId(0), truth_value(true)), (AttrId(1), count(0))]))
        .does(new_task(0, 2, vec![(AttrId(0), truth_value(true)), (AttrId(1), count(0))])),
        // drops a task and the stage itself
        step("end", &[("stage", stage(), false), ("task", task(), false)])
            .does(StmtKind::Delete { target: record(0, STAGE) })
            .does(StmtKind::Delete { target: record(1, TASK) }),
        step("all_done", &[("stage", stage(), false)]).when("all", equal(count(0), count(1))),
    ];
    design
}

fn recount(truth: &MapTruth, stage: Word) -> [Word; 3] {
    let mut counts = [0; 3];
    for ((subject, key), words) in &truth.records {
        if subject.0 == TASK && key / SPREAD == stage {
            counts[0] += 1;
            if words[0] == 1 {
                counts[1] += 1;
                counts[2] += if words[1] == NULL { 0 } else { words[1] };
            }
        }
    }
    counts
}

#[test]
fn counters_equal_a_recount() {
    let program = Program::new(&stages());
    let mut done = 0;
    let mut refused = std::collections::BTreeMap::<&str, u32>::new();
    for seed in 1..=60 {
        let mut random = Random::new(seed);
        let mut truth = MapTruth::default();
        let mut scratch = Scratch::new();
        for _ in 0..300 {
            let stage = random.below(3) as Word + 1;
            let task = |random: &mut Random| stage * SPREAD + random.below(4) as Word;
            let flag = random.below(2) as Word;
            let weight = random.below(9) as Word - 4;
            let (one, two) = (random.below(4) as Word, random.below(4) as Word);
            let key = task(&mut random);
            let calls: [(u32, &[Word]); 8] = [
                (0, &[stage]),
                (1, &[key, flag]),
                (2, &[key, flag, weight]),
                (3, &[key]),
                (4, &[stage]),
                (5, &[stage, one, two]),
                (6, &[stage, key]),
                (7, &[stage]),
            ];
            let (operation, params) = random.pick(&calls);
            match engine::step(&program, &truth, &command(operation, params), &mut scratch) {
                Outcome::Done => {
                    done += 1;
                    truth.commit(&scratch);
                }
                other => *refused.entry(outcome(other)).or_default() += 1,
            }
            for stage in 1..=3 {
                let counts = recount(&truth, stage);
                if let Some(words) = truth.at(STAGE, stage) {
                    assert_eq!(words[1..], counts, "seed {seed}, stage {stage}");
                }
            }
        }
    }
    assert!(done > 3_000, "{done}");
    for reason in ["has_children", "exists", "fresh", "already_exists", "clause"] {
        assert!(refused.get(reason).is_some_and(|count| *count > 10), "{reason}: {refused:?}");
    }
}

#[test]
fn a_counter_is_read_as_it_is_so_far() {
    let program = Program::new(&stages());
    let mut truth = MapTruth::default().with(STAGE, 1, &[1, 0, 0, 0]);
    let mut scratch = Scratch::new();
    let pair = engine::step(&program, &truth, &command(5, &[1, 2, 3]), &mut scratch);
    assert_eq!(pair, Outcome::Done);
    truth.commit(&scratch);
    assert_eq!(truth.at(TASK, SPREAD + 2), Some(&[1, 0][..]));
    assert_eq!(truth.at(TASK, SPREAD + 3), Some(&[1, 1][..]));
    assert_eq!(truth.at(STAGE, 1), Some(&[1, 2, 2, 1][..]));
}

#[test]
fn the_parent_is_asked_for_when_it_is_needed() {
    let program = Program::new(&stages());
    let mut truth =
        MapTruth::default().with(STAGE, 1, &[1, 1, 0, 0]).with(TASK, SPREAD, &[0, NULL]);
    truth.unknown.insert((SubjectId(STAGE), 1));
    let mut scratch = Scratch::new();
    // the weight of a task that is not done is not counted
    let same = engine::step(&program, &truth, &command(2, &[SPREAD, 0, 7]), &mut scratch);
    assert_eq!(same, Outcome::Done);
    let moved = engine::step(&program, &truth, &command(2, &[SPREAD, 1, 7]), &mut scratch);
    assert_eq!(moved, Outcome::Need);
    assert_eq!(scratch.needs(), [engine::Need::Record { subject: SubjectId(STAGE), key: 1 }]);
}

#[test]
fn a_sum_does_not_wrap() {
    let program = Program::new(&stages());
    let truth =
        MapTruth::default().with(STAGE, 1, &[1, 1, 0, Word::MAX]).with(TASK, SPREAD, &[0, NULL]);
    let moved = engine::step(&program, &truth, &command(2, &[SPREAD, 1, 7]), &mut Scratch::new());
    assert_eq!(outcome(moved), "overflow");
}
