//! The first boxes to draw: which service writes which store.

use design::model::*;
use serde::Serialize;

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Box {
    pub from: String,
    pub to: String,
    /// `truth`, `proj`, `outbox`, `outside`, `due`
    pub kind: &'static str,
}

impl Box {
    pub fn text(&self) -> String {
        format!("{} → {} [{}]", self.from, self.to, self.kind)
    }
}

pub fn of(design: &Design) -> Vec<Box> {
    let mut boxes = Vec::new();
    let mut add = |from: String, to: String, kind: &'static str| boxes.push(Box { from, to, kind });
    let service = format!("{} service", design.name);
    for subject in &design.subjects {
        for state in &subject.states {
            match state.kind {
                StateKind::Truth => add(service.clone(), format!("{} store", state.name), "truth"),
                StateKind::Log { .. } => {
                    add(service.clone(), format!("{} log", state.name), "truth")
                }
                StateKind::Cache { at } => {
                    add(
                        design.actors[at.index()].name.clone(),
                        format!("{} copies", state.name),
                        "proj",
                    );
                }
                StateKind::Ephemeral { .. } => {
                    add(service.clone(), format!("{} in memory", state.name), "proj");
                }
            }
        }
    }
    for blob in &design.blobs {
        add(service.clone(), format!("{} contents", blob.name), "truth");
    }
    for operation in &design.operations {
        let actor = &design.actors[operation.actor.index()].name;
        match &operation.kind {
            OperationKind::Repair { .. } => {
                add("due-time index".into(), format!("{actor}[{}]", operation.name), "due")
            }
            OperationKind::Effect(_) => {
                add(service.clone(), format!("outbox of {}", operation.name), "outbox");
                add("effect worker".into(), actor.clone(), "outside");
            }
            _ => {}
        }
    }
    for view in &design.views {
        add("projector".into(), format!("{} store", view.name), "proj");
    }
    boxes.dedup();
    boxes
}
