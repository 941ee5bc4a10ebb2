//! The hotspots that the design names, with what is done about each.

use design::model::*;
use serde::Serialize;

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Hotspot {
    pub title: String,
    pub on: String,
    pub mitigation: Vec<String>,
}

pub fn of(design: &Design) -> Vec<Hotspot> {
    design
        .hotspots
        .iter()
        .map(|hotspot| Hotspot {
            title: hotspot.title.clone(),
            on: place(design, hotspot.on),
            mitigation: hotspot.mitigate.iter().map(|word| sentence(word)).collect(),
        })
        .collect()
}

fn place(design: &Design, on: HotspotOn) -> String {
    let subject = |id: SubjectId| &design.subjects[id.index()];
    match on {
        HotspotOn::Subject(id) => format!("each `{}`", subject(id).name),
        HotspotOn::State(id, state) => format!("`{}`", subject(id).states[state.index()].name),
        HotspotOn::Attribute(id, attr) => {
            format!("`{}`", subject(id).attributes[attr.index()].name)
        }
        HotspotOn::View(view) => format!("the view `{}`", design.views[view.index()].name),
        HotspotOn::Operation(op) => {
            let op = &design.operations[op.index()];
            format!("`{}[{}]`", design.actors[op.actor.index()].name, op.name)
        }
    }
}

/// The standard ways out, in a sentence; another text is the author's own.
pub fn way_out(word: &str) -> Option<&'static str> {
    Some(match word {
        "shard" => {
            "shard the key: N records instead of one, a writer takes one of them, a reader of the whole reads N"
        }
        "bucket" => {
            "bucket the relation: spread its entries over B keys by a hash, a listing reads B of them and merges"
        }
        "escrow" => {
            "escrow the counter: hand out amounts to N sub-counters, a writer uses its own, the total is N reads"
        }
        "widen_lease" => {
            "widen the lease: fewer renewals for a longer wait after a crash, no more reads"
        }
        _ => return None,
    })
}

fn sentence(word: &str) -> String {
    way_out(word).unwrap_or(word).to_owned()
}
