//! `steadfast check`

use clap::Args;
use design::Compiled;
use design::model::OperationKind;
use serde_json::{Value, json};

use super::Answer;
use crate::catalog::Embedded;
use crate::diagnostics;
use crate::exit::Exit;
use crate::load::load;
use crate::output::{GOOD, Output};

/// Compile designs
///
/// Every problem of a design is reported in one run.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast check tickets
  steadfast check shop.design --json")]
pub struct Check {
    /// A path, or the name of a design in the catalog
    #[arg(required = true, value_name = "DESIGN")]
    designs: Vec<String>,
    /// For a script: one object with a verdict for each design
    #[arg(long)]
    json: bool,
}

impl Check {
    pub fn run(self, output: &mut Output) -> Answer {
        let mut worst = Exit::Yes;
        let mut objects = Vec::new();
        for word in &self.designs {
            let exit = match load(word) {
                Ok(loaded) => {
                    let compiled = design::compile(&loaded.name, &loaded.text, &Embedded);
                    if self.json {
                        objects.push(object(&loaded.name, &compiled));
                    } else {
                        let list = &compiled.diagnostics;
                        diagnostics::tell(output, &loaded.name, list, &compiled.sources);
                        output.print(&line(&loaded.name, &compiled));
                    }
                    if compiled.has_errors() { Exit::Wrong } else { Exit::Yes }
                }
                Err(problem) => problem.show(output),
            };
            worst = worst.max(exit);
        }
        if self.json {
            let all = json!({ "format": "steadfast-check/1", "designs": objects });
            output.print(&format!("{all:#}\n"));
        }
        Ok(worst)
    }
}

fn object(name: &str, compiled: &Compiled) -> Value {
    json!({
        "file": name,
        "compiles": !compiled.has_errors(),
        "diagnostics": diagnostics::to_json(&compiled.diagnostics, &compiled.sources),
    })
}

fn line(name: &str, compiled: &Compiled) -> String {
    let Some(design) = &compiled.design else {
        return String::new();
    };
    let count = |wanted: fn(&OperationKind) -> bool| {
        design.operations.iter().filter(|operation| wanted(&operation.kind)).count()
    };
    let parts = [
        plural(design.subjects.len(), "subject"),
        plural(count(|kind| matches!(kind, OperationKind::Step { .. })), "step"),
        plural(count(|kind| matches!(kind, OperationKind::Repair { .. })), "repair"),
        plural(count(|kind| matches!(kind, OperationKind::Effect(_))), "effect"),
        plural(design.invariants.len() + design.recoveries.len(), "goal"),
        plural(design.failures.len(), "failure"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("{name}: {GOOD}compiles{GOOD:#} ({})\n", parts.join(", "))
}

fn plural(count: usize, noun: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {noun}")),
        n => Some(format!("{n} {noun}s")),
    }
}
