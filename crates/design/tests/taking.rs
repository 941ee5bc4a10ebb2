//! `any of`: what a design that takes from a view compiles to, alone and used.

use design::model::{Design, Generated};
use design::{Catalog, compile, from_json, to_json};

use crate::common::plain;

const QUEUE: &str = r#"archetype T01 Queue "A queue of X"

family "placement"
ownership owner-only
trust identity, "the clients are believed"
input A01
output A02
decorates I07

actor worker
actor client

subject X(x: text) {
    truth XState { lane: text = "", waits: bool = false }
}

view Waiting(lane: text) = list X where waits

step client[put(x: X, lane: text)] { XState.waits := true  XState.lane := lane }
step worker[take(lane: text, x: any of Waiting(lane)) { waits: XState.waits }] {
    XState.waits := false
}

invariant fine: all x in X: x.waits implies x.waits
check { x: 1  worker: 1  client: 1  lane: 1 }
"#;

struct One;

impl Catalog for One {
    fn archetype(&self, id: &str) -> Option<&str> {
        (id == "T01").then_some(QUEUE)
    }

    fn ids(&self) -> Vec<String> {
        vec!["T01".into()]
    }
}

fn taken(design: &Design) -> Vec<(String, String)> {
    let takes = design.operations.iter().filter_map(|operation| {
        let (param, next) = operation.takes()?;
        Some((operation.name.clone(), format!("{}: {}", param.name, next.text(design, operation))))
    });
    takes.collect()
}

#[test]
fn a_used_archetype_takes_from_its_own_view() {
    let text = "design D\n\nuse T01 as Parcel\nuse T01 as Letter\n";
    let compiled = compile("d", text, &One);
    let said: String = compiled.diagnostics.iter().map(plain).collect();
    let flat = compiled.flat.clone().unwrap_or_default();
    let design = compiled.design.unwrap_or_else(|| panic!("{said}\n{flat}"));
    let found = taken(&design);
    assert_eq!(found.len(), 2, "{flat}");
    for (operation, from) in &found {
        let noun = if operation.contains("parcel") { "Parcel" } else { "Letter" };
        assert!(
            from.contains(noun) && flat.contains(&format!("any of Waiting{noun}(")),
            "{from}\n{flat}"
        );
    }
    // the flat text is a design of its own
    let again = compile("d", &flat, &design::NoCatalog).design.expect("what `show --flat` prints");
    assert_eq!(taken(&again), found);
}

#[test]
fn it_has_a_form_in_json() {
    let design = compile("t", QUEUE, &design::NoCatalog).design.expect("it compiles");
    assert_eq!(taken(&design), [("take".to_string(), "x: Waiting(lane)".to_string())]);
    let back = from_json(&to_json(&design)).expect("it is read back");
    assert_eq!(back, design);
    let param = &back.operations[1].params[1];
    assert!(matches!(&param.generated, Some(Generated::Next(next)) if next.args.len() == 1));
}
