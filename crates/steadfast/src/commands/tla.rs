//! `steadfast explain --format tla`

use std::path::Path;

use design::model::{
    ClauseRef, Design, OperationId, OperationKind, Protection, StmtKind, Target, visit,
};

use super::Answer;
use crate::exit::Exit;
use crate::output::Output;
use crate::problem::{Problem, reason};

/// One module for each world, or for the one that `world` names.
pub fn run(
    design: &Design,
    without: &[String],
    world: Option<&str>,
    into: Option<&Path>,
    output: &mut Output,
) -> Answer {
    let mut gone = Vec::new();
    for word in without {
        gone.push(protection(design, word)?);
    }
    let mut worlds = design.each_world();
    if let Some(wanted) = world {
        worlds.retain(|one| one.name.as_deref() == Some(wanted));
        if worlds.is_empty() {
            let names: Vec<&str> = design.worlds.iter().map(|world| &world.name[..]).collect();
            let help = match names.as_slice() {
                [] => "the design has its default world alone: leave `--world` out".to_string(),
                names => format!("there are {}", names.join(", ")),
            };
            return Err(Problem::new(format!("there is no world `{wanted}`")).help(help));
        }
    }
    for one in worlds {
        let mut design = one.design;
        if let Some(name) = &one.name {
            design.name = format!("{}{}", design.name, capital(name));
        }
        module(&design, &gone, into, output)?;
    }
    Ok(Exit::Yes)
}

/// `two_hands` as a part of a module's name: `TwoHands`
fn capital(name: &str) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        format!("{}{rest}", first.to_uppercase())
    };
    name.split('_').map(word).collect()
}

fn module(
    design: &Design,
    gone: &[Protection],
    into: Option<&Path>,
    output: &mut Output,
) -> Answer {
    let module = explain::tla(design, gone).map_err(|found| {
        let what = found.join("; ");
        Problem::new(format!("this design has no translation to TLA+: {what}"))
            .help("what is covered is listed in docs/explain.md")
    })?;
    let config = module.whole_config();
    let Some(folder) = into else {
        output.print(&module.module);
        output.print(&format!("\n\\* {}.cfg\n", module.name));
        let lines: Vec<String> = config.lines().map(|line| format!("\\* {line}")).collect();
        output.print(&format!("{}\n", lines.join("\n")));
        return Ok(Exit::Yes);
    };
    let written = |path: &Path, text: &str| {
        std::fs::write(path, text).map_err(|error| {
            Problem::new(format!("cannot write `{}`: {}", path.display(), reason(&error)))
        })
    };
    std::fs::create_dir_all(folder).map_err(|error| {
        Problem::new(format!("cannot make `{}`: {}", folder.display(), reason(&error)))
    })?;
    let (tla, cfg) = (format!("{}.tla", module.name), format!("{}.cfg", module.name));
    written(&folder.join(&tla), &module.module)?;
    written(&folder.join(&cfg), &config)?;
    output.print(&format!(
        "wrote {tla} and {cfg}\nrun: java -cp tla2tools.jar tlc2.TLC -config {cfg} {tla}\n"
    ));
    Ok(Exit::Yes)
}

/// What `without` names: `take.free`, `repair reclaim`, `assignment take.Epoch.current`, `outbox of
/// commit`, `key of save`, `keyed of pay`.
fn protection(design: &Design, word: &str) -> Result<Protection, Problem> {
    let operation = |name: &str| {
        let at = design.operations.iter().position(|held| held.name == name.trim());
        at.map(OperationId::of).ok_or_else(|| {
            Problem::new(format!("there is no operation `{}`", name.trim()))
                .help("write it as a failure would: `--without take.free`")
        })
    };
    if let Some(name) = word.strip_prefix("repair ") {
        return Ok(Protection::Repair { operation: operation(name)? });
    }
    if let Some(name) = word.strip_prefix("outbox of ") {
        return Ok(Protection::Outbox { operation: operation(name)? });
    }
    if let Some(name) = word.strip_prefix("key of ") {
        return Ok(Protection::Key { operation: operation(name)? });
    }
    if let Some(name) = word.strip_prefix("keyed of ") {
        return Ok(Protection::Keyed { operation: operation(name)? });
    }
    if let Some(path) = word.strip_prefix("assignment ") {
        let (name, target) = path.split_once('.').unwrap_or((path, ""));
        let id = operation(name)?;
        return assignment(design, id, target);
    }
    let (name, clause) = word.split_once('.').unwrap_or((word, ""));
    let id = operation(name)?;
    let held = &design.operations[id.index()];
    let named = held.guard.iter().position(|known| known.name == clause);
    let clause = match (clause, named) {
        ("exists", _) => ClauseRef::Exists,
        ("fresh", _) => ClauseRef::Fresh,
        (_, Some(at)) => ClauseRef::Named(at as u32),
        (_, None) => {
            return Err(Problem::new(format!("`{}` has no clause `{clause}`", held.name)));
        }
    };
    Ok(Protection::Clause { operation: id, clause })
}

fn assignment(design: &Design, id: OperationId, target: &str) -> Result<Protection, Problem> {
    let held = &design.operations[id.index()];
    let mut statements = Vec::new();
    for body in visit::bodies(held) {
        visit::each_statement(body, &mut |statement| {
            let StmtKind::Assign { target: Target::Attr { base, attr }, .. } = &statement.kind
            else {
                return;
            };
            let Some(subject) = base.ty.subject() else { return };
            let subject = &design.subjects[subject.index()];
            let attribute = &subject.attributes[attr.index()];
            let full =
                format!("{}.{}", subject.states[attribute.state.index()].name, attribute.name);
            if full == target || attribute.name == target {
                statements.push(statement.id);
            }
        });
    }
    if statements.is_empty() || matches!(held.kind, OperationKind::Read { .. }) {
        return Err(Problem::new(format!("`{}` does not assign `{target}`", held.name)));
    }
    Ok(Protection::Assignment { operation: id, statements })
}
