//! What `steadfast new` writes: a design that uses an archetype, with the changes that most designs make first
//! as comments. Each of them compiles when it is uncommented, alone or with the others.

use design::model::{Design, Operation, OperationKind, Type};

use crate::catalog::{self, Embedded, Entry};

/// The lines that are commented out; none: the archetype has nothing that could be changed so.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Edits {
    state: Option<String>,
    clause: Option<(String, String)>,
    hidden: Option<String>,
}

impl Edits {
    fn lines(&self) -> Vec<&str> {
        let clause = self.clause.as_ref().map(|(_, line)| line);
        self.state.iter().chain(clause).chain(&self.hidden).map(String::as_str).collect()
    }
}

pub fn text(name: &str, noun: &str, entry: Entry) -> String {
    let id = entry.header().id.unwrap_or_default();
    let header = catalog::header(&design::instantiate(entry.text, noun));
    let title = article(&header.title, noun).replace('\\', "\\\\").replace('"', "\\\"");
    let edits = edits(&id, noun);
    let mut block = String::new();
    let mut put = |what: &str, line: &str| {
        block.push_str(&format!("    // {what}\n    // {line}\n"));
    };
    if let Some(line) = &edits.state {
        put("A state more:", line);
    }
    if let Some((operation, line)) = &edits.clause {
        put(&format!("A clause more, behind those of `{operation}`:"), line);
    }
    if let Some(line) = &edits.hidden {
        put("An operation that nobody may call:", line);
    }
    let told = "// Lines that most designs need next: take the slashes away.";
    let written = format!(
        "// `steadfast show FILE --flat` prints this with all that it uses.\n\
         design {name} \"{title}\"\n\nuse {id} as {noun} {{\n    {told}\n{block}}}\n\n\
         // Actors, steps, views and goals of your own stand here, and speak of what is used by its names.\n"
    );
    syntax::format(&written).text
}

/// A design that uses the archetype with these lines, if it compiles.
fn compiled(id: &str, noun: &str, lines: &[&str]) -> Option<Design> {
    let text = format!("design D\n\nuse {id} as {noun} {{\n{}\n}}\n", lines.join("\n"));
    let compiled = design::compile("scaffold", &text, &Embedded);
    if compiled.has_errors() { None } else { compiled.design }
}

fn edits(id: &str, noun: &str) -> Edits {
    let Some(plain) = compiled(id, noun, &[]) else { return Edits::default() };
    let mut edits = Edits::default();
    let fits = |edits: &Edits, line: &str| {
        let alone = compiled(id, noun, &[line]).is_some();
        alone && compiled(id, noun, &[&edits.lines()[..], &[line]].concat()).is_some()
    };
    let states = plain.subjects.iter().map(|subject| {
        let name = &subject.name;
        format!("{name} also {{ truth {name}NoteState {{ note: text = \"\" }} }}")
    });
    edits.state = states.into_iter().find(|line| fits(&edits, line));
    let steps = || {
        let all = plain.operations.iter();
        all.filter(|operation| matches!(operation.kind, OperationKind::Step { .. }))
    };
    let clauses =
        steps().flat_map(|step| clauses(&plain, step).into_iter().map(move |line| (step, line)));
    let found = clauses.into_iter().find(|(_, line)| fits(&edits, line));
    edits.clause = found.map(|(step, line)| (step.name.clone(), line));
    let reads = plain
        .operations
        .iter()
        .filter(|operation| matches!(operation.kind, OperationKind::Read { .. }));
    let last_first: Vec<&Operation> = steps().collect();
    let all: Vec<&Operation> = last_first.into_iter().rev().chain(reads).collect();
    let changed = edits.clause.as_ref().map(|(changed, _)| changed.clone());
    let others = all.into_iter().filter(|operation| changed.as_ref() != Some(&operation.name));
    let lines: Vec<String> = others.map(|operation| format!("hide {}", operation.name)).collect();
    edits.hidden = lines.into_iter().find(|line| fits(&edits, line));
    edits
}

/// What could be asked of a step: of a record that it names, or of what its caller says.
fn clauses(design: &Design, step: &Operation) -> Vec<String> {
    let mut found = Vec::new();
    for param in step.params.iter().filter(|param| !param.new) {
        if let Some(subject) = param.ty.required().subject() {
            let subject = &design.subjects[subject.index()];
            for attribute in &subject.attributes {
                let place = format!("{}.{}", param.name, attribute.name);
                match &attribute.ty {
                    Type::Enum(words) => {
                        let words = &design.enumerations[words.index()].constants;
                        let last = words.last().map(String::as_str).unwrap_or_default();
                        found.push(format!("allowed: {place} != {last}"));
                    }
                    Type::Bool => found.push(format!("allowed: not {place}")),
                    Type::Int => found.push(format!("enough: {place} >= 0")),
                    Type::Optional(_) => found.push(format!("open: {place} = null")),
                    _ => {}
                }
            }
        }
    }
    for param in &step.params {
        match param.ty.required() {
            Type::Text => found.push(format!("named: {} != \"\"", param.name)),
            Type::Int | Type::Decimal | Type::Money(_) => {
                found.push(format!("enough: {} > 0", param.name))
            }
            Type::Duration => found.push(format!("in_bounds: {} <= 1h", param.name)),
            _ => {}
        }
    }
    found.into_iter().map(|clause| format!("{} also {{ {clause} }}", step.name)).collect()
}

/// `an X` was written for any noun: `an ticket` becomes `a ticket`.
fn article(text: &str, noun: &str) -> String {
    let word = noun.to_lowercase();
    if noun.starts_with(['A', 'E', 'I', 'O', 'U']) {
        text.replace(&format!(" a {word}"), &format!(" an {word}"))
    } else {
        text.replace(&format!(" an {word}"), &format!(" a {word}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text with these of its commented changes made.
    fn uncommented(text: &str, wanted: &dyn Fn(usize) -> bool) -> (String, usize) {
        let mut found = 0;
        let mut lines = Vec::new();
        for line in text.lines() {
            let inside = line.strip_prefix("    // ").filter(|inside| {
                inside.starts_with("hide ") || inside.contains(" also {") && inside.ends_with('}')
            });
            match inside {
                Some(inside) => {
                    let here = wanted(found);
                    lines.push(if here { format!("    {inside}") } else { line.to_string() });
                    found += 1;
                }
                None => lines.push(line.to_string()),
            }
        }
        (lines.join("\n") + "\n", found)
    }

    #[test]
    fn every_archetype_gives_a_formatted_design_whose_changes_compile_alone_and_together() {
        let mut archetypes = 0;
        for entry in catalog::entries().filter(|entry| entry.header().id.is_some()) {
            archetypes += 1;
            let text = text("Shop", "Ticket", entry);
            assert_eq!(syntax::format(&text).text, text, "{}", entry.path);
            let (_, edits) = uncommented(&text, &|_| false);
            assert_eq!(edits, 3, "{}:\n{text}", entry.path);
            let choices: [&dyn Fn(usize) -> bool; 5] =
                [&|_| false, &|at| at == 0, &|at| at == 1, &|at| at == 2, &|_| true];
            let mut sizes = Vec::new();
            for wanted in choices {
                let (text, _) = uncommented(&text, wanted);
                let compiled = design::compile("shop.design", &text, &Embedded);
                let said: Vec<&String> =
                    compiled.diagnostics.iter().map(|it| &it.message).collect();
                assert!(!compiled.has_errors(), "{}:\n{said:?}\n{text}", entry.path);
                let design = compiled.design.unwrap();
                assert!(design.world.written, "{} has no check", entry.path);
                let states: usize = design.subjects.iter().map(|held| held.states.len()).sum();
                let clauses: usize = design.operations.iter().map(|held| held.guard.len()).sum();
                sizes.push((states, clauses, design.operations.len()));
            }
            let [plain, state, clause, hidden, all] = sizes[..] else { panic!() };
            assert_eq!(state, (plain.0 + 1, plain.1, plain.2), "{}", entry.path);
            assert_eq!(clause, (plain.0, plain.1 + 1, plain.2), "{}", entry.path);
            assert_eq!(hidden.2, plain.2 - 1, "{}", entry.path);
            assert_eq!((all.0, all.2), (state.0, hidden.2), "{}", entry.path);
        }
        assert!(archetypes >= 24, "{archetypes}");
    }

    #[test]
    fn articles_fit_the_noun() {
        assert_eq!(article("of an ticket", "Ticket"), "of a ticket");
        assert_eq!(article("of an order", "Order"), "of an order");
    }
}
