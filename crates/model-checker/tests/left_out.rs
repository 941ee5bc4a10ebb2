//! Designs that a slice which leaves out too much calls proved. Each has a second part, so that there is
//! something to leave out. `docs/decisions/slices.md` says which bug each of them finds.

use model_checker::{Options, Verdict, check};

/// The goal is violated in its slice as in the whole design, and the slice leaves out what stands in no other.
#[track_caller]
fn is_violated(parts: &str, world: &str, goal: &str) {
    let text = format!(
        "design LeftOut \"Something is left out\"
         actor user
         actor warden
         {parts}
         subject Bell(bell: text) {{ truth R {{ rang: bool = false }} }}
         step user[ring(bell: Bell)] {{ bell.rang := not bell.rang }}
         check {{ bell: 1  user: 1  {world} }}"
    );
    let compiled = design::compile("left_out", &text, &design::NoCatalog);
    let errors: Vec<_> = compiled.diagnostics.iter().filter(|held| held.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    let design = compiled.design.expect("a design");
    for (symmetry, witnesses) in [(false, false), (true, false), (true, true)] {
        // Where witnesses are looked for, other steps are explored beside the goal.
        let failures = witnesses;
        let usual = Options { free: false, threads: 1, ..Options::default() };
        let sliced = Options { symmetry, witnesses, failures, ..usual };
        let whole = Options { slices: false, ..sliced.clone() };
        for (options, way) in [(whole, "the whole design"), (sliced, "its slice")] {
            let report = check(&design, &options, &mut |_| ()).expect("a world");
            let held = report.goal(goal).expect("the goal");
            let violated = matches!(held.verdict, Verdict::Violated(_));
            assert!(violated, "in {way}, symmetry {symmetry}: {:?}", held.verdict);
            let names_bell = held.slice.as_ref().is_none_or(|slice| slice.contains("Bell"));
            // A goal that steps elsewhere break is told in the whole design.
            assert!(!options.slices || goal == "moves" || !names_bell, "{:?}", held.slice);
        }
    }
}

#[test]
fn a_message_that_is_refused_is_gone() {
    is_violated(
        "subject Gate(gate: text) { truth G { open: bool = false } }
         subject Box(box: text) { truth B { asked: bool = false, got: bool = false } }
         step user[unlock(gate: Gate)] { gate.open := true }
         step user[ask(box: Box, gate: Gate) { once: not box.asked }] {
             box.asked := true
             send user.hear(box, gate)
         }
         step user[hear(box: Box, gate: Gate) { through: gate.open }] { box.got := true }
         recovers served: all b in Box: b.asked implies b.got",
        "gate: 1  box: 1  messages: 1",
        "served",
    );
}

#[test]
fn a_step_elsewhere_is_a_step() {
    is_violated(
        "subject Switch(switch: text) { truth S { on: bool = false } }
         step user[flip(switch: Switch)] { switch.on := not switch.on }
         invariant moves: all s in Switch: s.on != old(s.on)",
        "switch: 1",
        "moves",
    );
}

#[test]
fn a_literal_of_a_clause_that_is_left_out_is_a_value() {
    is_violated(
        r#"subject Door(door: text) { truth D { word: text = "" } }
           subject Alarm(alarm: text) { truth A { on: bool = false } }
           step user[speak(door: Door, word: text)] { door.word := word }
           step user[sound(alarm: Alarm, door: Door) { known: door.word = "admin" }] { alarm.on := true }
           invariant one_word:
               all d in Door: all e in Door: d.word = "" or e.word = "" or d.word = e.word"#,
        "door: 2  alarm: 1  word: 1",
        "one_word",
    );
}

#[test]
fn a_repair_is_owed_only_where_its_whole_guard_holds() {
    is_violated(
        "subject Switch(switch: text) { truth S { works: bool = false } }
         subject Lamp(lamp: text) { truth L { on: bool = false, by: Switch? } }
         step user[mend(switch: Switch)] { switch.works := true }
         step user[light(lamp: Lamp, switch: Switch)] { lamp.on := true  lamp.by := switch }
         repair warden[put_out(lamp: Lamp) { lit: lamp.on  works: lamp.by.works }] { lamp.on := false }
         recovers dark: all l in Lamp: not l.on",
        "switch: 1  lamp: 1",
        "dark",
    );
}

const ASKED_ONCE: &str = "
    subject Box(box: text) { truth B { asked: bool = false, got: bool = false } }
    step user[ask(box: Box) { once: not box.asked }] { box.asked := true  send user.hear(box) }
    step user[hear(box: Box)] { box.got := true }
    recovers served: all b in Box: b.asked implies b.got";

#[test]
fn a_message_that_is_lost_is_not_owed() {
    is_violated(ASKED_ONCE, "box: 1  messages: 1  faults: lost_message", "served");
}

#[test]
fn a_message_of_the_set_that_is_lost_is_not_owed() {
    is_violated(ASKED_ONCE, "box: 1  faults: lost_message, doubled_message", "served");
}

/// A clock that was ahead once is ahead for everybody who reads what was written with it.
#[test]
fn a_record_that_is_read_brings_its_time() {
    is_violated(
        "subject Mark(mark: text) { truth M { at: time?, seen: bool = false } }
         subject Stamp(stamp: text) { truth S { at: time? } }
         step user[touch(mark: Mark)] { mark.at := now }
         step user[put(stamp: Stamp, mark: Mark)] { stamp.at := now  mark.seen := true }
         invariant one_ahead: count(s in Stamp where s.at != null and s.at > now) <= 1",
        "mark: 1  stamp: 2  faults: clock_step 1",
        "one_ahead",
    );
}

#[test]
fn what_is_read_after_a_delete_refuses() {
    is_violated(
        "subject Box(box: text) { truth B { note: bool = false } }
         subject Item(box: Box, item: text) { truth I { marked: bool = false } }
         step user[put(item: new Item)] { I := { marked: true } }
         repair warden[clear(item: Item) { marked: I.marked }] {
             delete item
             item.box.note := I.marked
         }
         recovers cleared: all i in Item: not i.marked",
        "box: 1  item: 1",
        "cleared",
    );
}
