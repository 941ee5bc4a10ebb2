//! `steadfast show ID`

use clap::Args;
use serde_json::{Value, json};
use syntax::FileId;
use syntax::tree::{ExprKind, ItemKind};

use super::Answer;
use crate::catalog::{self, Embedded};
use crate::diagnostics;
use crate::exit::Exit;
use crate::load::load;
use crate::output::Output;

/// Print one archetype whole
///
/// An invariant that is written with the name of a built-in family is shown as the ordinary
/// language it stands for. What is printed is itself a design. `--flat` writes out everything that a design
/// uses, as if it had been written by hand.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast show I02
  steadfast show tickets --flat
  steadfast show tickets --json")]
pub struct Show {
    /// An archetype's id, the name of a design in the catalog, or a path
    #[arg(value_name = "ID")]
    design: String,
    /// With everything that it uses, under the names that it has there
    #[arg(long)]
    flat: bool,
    /// For a script: one object with the text and the compiled design
    #[arg(long)]
    json: bool,
}

impl Show {
    pub fn run(self, output: &mut Output) -> Answer {
        let loaded = load(&self.design)?;
        let text = expanded(&loaded.name, &loaded.text);
        if !self.json && !self.flat {
            output.print(&text);
            return Ok(Exit::Yes);
        }
        let compiled = design::compile(&loaded.name, &loaded.text, &Embedded);
        let flat = flat(&compiled, &loaded.text);
        if !self.json {
            if compiled.has_errors() {
                diagnostics::tell(output, &loaded.name, &compiled.diagnostics, &compiled.sources);
                return Ok(Exit::Wrong);
            }
            output.print(&flat);
            return Ok(Exit::Yes);
        }
        let header = catalog::header(&loaded.text);
        let model = compiled.design.as_ref().map(design::to_json);
        let model: Option<Value> = model.and_then(|text| serde_json::from_str(&text).ok());
        let object = json!({
            "format": "steadfast-show/1",
            "id": header.id,
            "name": header.name,
            "title": header.title,
            "text": loaded.text,
            "expanded": text,
            "flat": flat,
            "compiled": model,
        });
        output.print(&format!("{object:#}\n"));
        Ok(Exit::Yes)
    }
}

/// Everything that is used, written out.
pub fn flat(compiled: &design::Compiled, text: &str) -> String {
    compiled.flat.as_ref().map_or_else(|| text.to_string(), |flat| syntax::format(flat).text)
}

/// The text with each use of a built-in family replaced by what it says, under a comment that
/// names the family.
pub fn expanded(name: &str, text: &str) -> String {
    let parsed = syntax::parse(text, FileId::default());
    let compiled = design::compile(name, text, &Embedded);
    let mut result = String::with_capacity(text.len() * 2);
    let mut copied = 0;
    for item in &parsed.tree.items {
        let (ItemKind::Invariant { name, body }
        | ItemKind::Recovers { name, body }
        | ItemKind::LeadsTo { name, body, .. }) = &item.kind
        else {
            continue;
        };
        let ExprKind::Call { function, .. } = &body.kind else { continue };
        let Some(family) = design::families().iter().find(|f| f.name == function.text) else {
            continue;
        };
        // The compiler keeps what a family became as a source of its own.
        let called = format!("{} ({})", name.text, family.name);
        let Some(goal) = compiled.sources.iter().find(|source| source.name == called) else {
            continue;
        };
        let (start, end) = (item.span.start as usize, item.span.end as usize);
        let at = body.span.start as usize;
        let written = body.span.text(text).split_whitespace().collect::<Vec<_>>().join(" ");
        result.push_str(&text[copied..start]);
        result.push_str(&format!("// {written}: {}\n", family.about));
        result.push_str(&text[start..at]);
        result.push_str(&goal.text);
        copied = end;
    }
    if copied == 0 {
        return text.to_string();
    }
    result.push_str(&text[copied..]);
    syntax::format(&result).text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_compiles_and_names_no_family() {
        for entry in catalog::entries() {
            let text = expanded(entry.name(), entry.text);
            let compiled = design::compile(entry.name(), &text, &Embedded);
            assert!(!compiled.has_errors(), "{}: {:?}", entry.path, compiled.diagnostics);
            let model = compiled.design.as_ref().unwrap();
            // the goals of what is used, `scope.goal`, stand in its own text
            let own = model.goals().filter(|goal| !goal.name.contains('.'));
            let named: Vec<&str> = own.filter_map(|goal| goal.family.as_deref()).collect();
            assert_eq!(named, [""; 0], "{}", entry.path);
        }
    }

    #[test]
    fn a_family_is_named_above_what_it_says() {
        let text = expanded("I02", catalog::find("I02").unwrap().text);
        let at = text.find("invariant epoch_advances").unwrap();
        let above = text[..at].lines().last().unwrap();
        assert!(above.starts_with("// progress_never_regresses(Resource, current):"), "{above}");
        assert!(text[at..].contains("r.current >= old(r.current)"), "{}", &text[at..]);
    }
}
