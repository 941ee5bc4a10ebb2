//! Protocols in the words of the language.

use design::model::*;
use serde::Serialize;

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Protocol {
    pub name: String,
    /// one for each path, branches indented
    pub lines: Vec<String>,
}

pub fn of(design: &Design) -> Vec<Protocol> {
    design
        .protocols
        .iter()
        .map(|protocol| {
            let mut lines = Vec::new();
            protocol.paths.iter().for_each(|path| write(design, path, 0, &mut lines));
            Protocol { name: protocol.name.clone(), lines }
        })
        .collect()
}

fn write(design: &Design, path: &Path, depth: usize, lines: &mut Vec<String>) {
    let steps: Vec<String> = path.steps.iter().map(|step| step_text(design, step)).collect();
    let mut line = "    ".repeat(depth);
    if depth > 0 {
        line.push_str("|-> ");
    }
    line.push_str(&steps.join(" -> "));
    if let Some(outcome) = &path.outcome {
        line.push_str(&format!(" => {outcome}"));
    }
    lines.push(line);
    path.branches.iter().for_each(|branch| write(design, branch, depth + 1, lines));
}

pub fn step_text(design: &Design, step: &PathStep) -> String {
    let operation = &design.operations[step.operation.index()];
    let actor = &design.actors[operation.actor.index()].name;
    let refused = step
        .refused
        .map_or(String::new(), |clause| format!(" refused {}", clause_name(operation, clause)));
    format!("{actor}[{}]{refused}", operation.name)
}

pub fn clause_name(operation: &Operation, clause: ClauseRef) -> &str {
    match clause {
        ClauseRef::Exists => "exists",
        ClauseRef::Fresh => "fresh",
        ClauseRef::Named(index) => operation.guard.get(index as usize).map_or("?", |c| &c.name),
    }
}
