//! A parent is deleted only by a step that makes sure that it has no children.

use crate::common;

use common::codes;

const HEAD: &str = "design Jobs\nactor a\n\
    subject Job(job: text) { truth JS { n: int = 0, few: set Task max 4, next: Job? } }\n\
    subject Task(job: Job, task: text) { truth TS { done: bool = false } }\n\
    subject Note(job: Job, note: text) { truth NS { text: text = \"\" } }\n\
    step a[open(job: new Job)] {}\n\
    step a[add(task: new Task)] {}\n\
    step a[note(note: new Note)] {}\n";

const NOTES: &str = "notes: count(Note of job) = 0";

/// A step with these clauses and statements compiles with these errors.
#[track_caller]
fn check(guard: &str, body: &str, expected: &[&str]) {
    let text = format!("{HEAD}step a[close(job: Job) {{ {guard} }}] {{ {body} }}\n");
    assert_eq!(codes(&text), expected, "{guard} / {body}");
}

/// The tasks are looked after by this clause, the notes are counted.
#[track_caller]
fn tasks(clause: &str, expected: &[&str]) {
    check(&format!("tasks: {clause} {NOTES}"), "delete job", expected);
}

const ORPHANS: &[&str] = &["E0430"];

#[test]
fn a_clause_that_counts_all_of_them_is_enough() {
    for clause in [
        "count(Task of job) = 0",
        "0 = count(Task of job)",
        "count(Task of job) <= 0",
        "count(Task of job) < 1",
        "1 > count(Task of job)",
        "not count(Task of job) > 0",
        "not (count(Task of job) != 0)",
        "not any t in Task of job: true",
        "all t in Task of job: false",
        "JS.n = 0 and count(Task of job) = 0",
        "not (JS.n = 0 or count(Task of job) > 0)",
        "let j = job in count(Task of j) = 0",
    ] {
        tasks(clause, &[]);
    }
}

#[test]
fn a_clause_that_lets_some_through_is_not() {
    for clause in [
        "count(Task of job) = 1",
        "count(Task of job) <= 1",
        "count(Task of job) >= 0",
        "count(Task of job) != 0",
        "count(Task of job) < JS.n",
        "count(Task of job where not done) = 0",
        "not any t in Task of job: not t.done",
        "all t in Task of job: t.done",
        "count(Task of job) = 0 or JS.n = 0",
        "JS.n = 0 implies count(Task of job) = 0",
        "count(Task of JS.next) = 0",
        "JS.n = 0",
    ] {
        tasks(clause, ORPHANS);
    }
}

#[test]
fn every_kind_of_child_is_asked_for() {
    check("tasks: count(Task of job) = 0", "delete job", ORPHANS);
    check(NOTES, "delete job", ORPHANS);
    check("open: JS.n = 0", "delete job", &["E0430", "E0430"]);
    check("open: JS.n = 0", "JS.n := 1", &[]);
}

#[test]
fn an_if_around_it_counts_too() {
    let tasks = "count(Task of job) = 0";
    check(NOTES, &format!("if {tasks} {{ delete job }}"), &[]);
    check(NOTES, &format!("if {tasks} {{ JS.n := 1 }} else {{ delete job }}"), ORPHANS);
    check(NOTES, &format!("if {tasks} {{ JS.n := 1 }} delete job"), ORPHANS);
    check(NOTES, "let j = job if count(Task of j) = 0 { delete job }", &[]);
}

#[test]
fn a_bounded_number_is_deleted_with_it() {
    let all = "for t in JS.few { delete t } delete job";
    check(&format!("few: count(Task of job) <= 4 {NOTES}"), all, &[]);
    check(&format!("few: count(Task of job) = size(JS.few) {NOTES}"), all, &[]);
    // without a count of all of them nobody would notice one that is missed
    check(NOTES, all, ORPHANS);
    check(&format!("few: count(Task of job where done) <= 4 {NOTES}"), all, ORPHANS);
    check(&format!("few: count(Task of job) <= 4 {NOTES}"), "delete job", ORPHANS);
}

#[test]
fn what_has_no_children_is_deleted_as_it_is() {
    assert_eq!(codes(&format!("{HEAD}step a[drop_it(task: Task)] {{ delete task }}\n")), [""; 0]);
}

#[test]
fn the_handlers_of_an_effect_and_repairs_are_looked_at() {
    let effect = "actor w\neffect w[out(job: Job)] { call POST \"u\" on ok { delete job } \
        on refused { } on unknown { } }\nstep a[go(job: Job)] { send w.out(job) }\n";
    assert_eq!(codes(&format!("{HEAD}{effect}")), ["E0430", "E0430"]);
    let repair = "repair a[sweep(job: Job) { idle: JS.n = 0 }] { delete job }\n";
    assert_eq!(codes(&format!("{HEAD}{repair}")), ["E0430", "E0430"]);
}

#[test]
fn a_child_elsewhere_cannot_ask_for_its_parent() {
    let text = |place: &str, make: &str| {
        format!(
            "design Far\nactor a\nsubject Job(job: text) {{ truth JS {{ n: int = 0 }} }}\n\
             subject Task(job: Job, node: text){place} {{ truth TS {{ n: int = 0 }} }}\n\
             {make}step a[add(task: new Task)] {{ TS.n := 1 }}\n"
        )
    };
    let make = "step a[open(job: new Job)] {}\n";
    assert_eq!(codes(&text("", make)), [""; 0]);
    assert_eq!(codes(&text(" at node", "")), [""; 0], "a parent that is always there");
    assert_eq!(codes(&text(" at node", make)), ["E0412"]);
}
