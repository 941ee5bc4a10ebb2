//! What the wordings of the action lines mean, and whether a derivation agrees.

use std::collections::{BTreeMap, BTreeSet};

use explain::{Derivation, Shape, Touch};

use super::table;

pub struct Wording {
    /// any of these, each a set
    pub shapes: Vec<BTreeSet<String>>,
    pub mechanisms: BTreeSet<String>,
    pub ambiguous: bool,
}

pub fn wordings() -> BTreeMap<String, Wording> {
    let mut wordings = BTreeMap::new();
    for row in table("wordings.tsv") {
        let set = |text: &str, by: char| {
            text.split(by).filter(|t| *t != "none").map(str::to_owned).collect::<BTreeSet<String>>()
        };
        let wording = Wording {
            shapes: row[1].split('/').map(|one| set(one, '+')).collect(),
            mechanisms: row[2].split(',').map(str::to_owned).collect(),
            ambiguous: row.get(3).is_some_and(|why| !why.is_empty()),
        };
        assert!(wordings.insert(row[0].clone(), wording).is_none(), "twice: {}", row[0]);
    }
    wordings
}

fn shape_word(shape: Shape) -> &'static str {
    match shape {
        Shape::StateTransition => "transition",
        Shape::CreateTarget => "create",
        Shape::Overwrite => "overwrite",
        Shape::Append => "append",
        Shape::ReadSource => "source",
        Shape::ReadProjection => "projection",
    }
}

/// `states` is a list of the states that the line is about, `PATH:STATE` where one is reached
/// twice; none: the whole operation.
pub fn judge(
    derived: &[Derivation],
    name: &str,
    states: &str,
    wording: &Wording,
) -> Result<(), String> {
    let (name, refused) = match name.split_once(" refused ") {
        Some((name, clause)) => (name, Some(clause)),
        None => (name, None),
    };
    let one = derived.iter().find(|d| d.name == name).ok_or_else(|| format!("no `{name}`"))?;
    if let Some(clause) = refused {
        // A refusal changes nothing: it is there when the clause is, and reads those states.
        let reads = states.split(',').all(|state| {
            one.touches.iter().any(|touch| touch.state == state && touch.read_in_guard)
        });
        let there = one.guard.iter().any(|c| c.name == clause);
        return if reads && there {
            Ok(())
        } else {
            Err(format!("`{clause}` does not refuse by {states}"))
        };
    }
    let touches: Vec<&Touch> = if states.is_empty() {
        one.touches.iter().filter(|t| t.shape.is_some()).collect()
    } else {
        let mut list = Vec::new();
        for state in states.split(',') {
            let (path, state) = match state.split_once(':') {
                Some((path, state)) => (Some(path), state),
                None => (None, state),
            };
            let before = list.len();
            list.extend(one.touches.iter().filter(|touch| {
                touch.state == state && path.is_none_or(|path| touch.path == path)
            }));
            if list.len() == before {
                return Err(format!("`{state}` is not touched"));
            }
        }
        list
    };
    let shapes: BTreeSet<String> =
        touches.iter().filter_map(|t| t.shape).map(|s| shape_word(s).to_owned()).collect();
    if !wording.shapes.contains(&shapes) {
        return Err(format!("the shape is {shapes:?}"));
    }
    let mut mechanisms: BTreeSet<String> =
        touches.iter().filter_map(|t| t.mechanism).map(|m| m.number().to_string()).collect();
    if mechanisms.is_empty() {
        mechanisms.insert("none".into());
    }
    if !mechanisms.is_subset(&wording.mechanisms) {
        return Err(format!("the mechanism is {mechanisms:?}, not {:?}", wording.mechanisms));
    }
    Ok(())
}
