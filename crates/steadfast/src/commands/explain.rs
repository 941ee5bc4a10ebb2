//! `steadfast explain`

use clap::{Args, ValueEnum};
use design::model::Design;
use explain::{Engine, Follows};

use super::Answer;
use crate::catalog::Embedded;
use crate::diagnostics;
use crate::exit::Exit;
use crate::load::load;
use crate::output::Output;

/// Derive what a design amounts to
///
/// What is authoritative, what each operation is, what keeps a stale actor out, which repair sets
/// things right, what gets hot first; with `--engine`, what exactly that engine is asked to do; with
/// `--against`, what changes for stored truth, for what is in flight and for clients. All of it is
/// derived from the text. Exits 1 when the design does not fit the engine or stored truth cannot
/// follow, 3 when that depends on what is stored.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast explain tickets
  steadfast explain tickets --format svg > tickets.svg
  steadfast explain tickets --engine postgres
  steadfast explain shop.design --against shop2.design")]
pub struct Explain {
    /// A path, or the name of a design in the catalog
    #[arg(value_name = "DESIGN")]
    design: String,
    /// What this engine is asked to do for each operation
    #[arg(long, value_enum, conflicts_with = "against")]
    engine: Option<EngineName>,
    #[arg(long, value_enum, default_value_t = Format::Markdown)]
    format: Format,
    /// The same as `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// What changes from DESIGN to this one
    #[arg(long, value_name = "NEW")]
    against: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EngineName {
    Embedded,
    Postgres,
    Etcd,
    Dynamodb,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Markdown,
    Json,
    Svg,
}

impl Explain {
    pub fn run(self, output: &mut Output) -> Answer {
        let format = if self.json { Format::Json } else { self.format };
        let Some(design) = compile(&self.design, output)? else { return Ok(Exit::Wrong) };
        if let Some(other) = &self.against {
            let Some(other) = compile(other, output)? else { return Ok(Exit::Wrong) };
            return Ok(difference(&design, &other, format, output));
        }
        if let Some(engine) = self.engine {
            return Ok(realization(&design, engine, format, output));
        }
        let text = match format {
            Format::Markdown => explain::markdown(&explain::sheet(&design)),
            Format::Json => explain::sheet(&design).to_json(),
            Format::Svg => explain::together(&explain::drawings(&design)),
        };
        output.print(&text);
        Ok(Exit::Yes)
    }
}

/// None: it does not compile, and why has been told.
fn compile(word: &str, output: &mut Output) -> Result<Option<Design>, crate::problem::Problem> {
    let loaded = load(word)?;
    let compiled = design::compile(&loaded.name, &loaded.text, &Embedded);
    if compiled.has_errors() {
        diagnostics::tell(output, &loaded.name, &compiled.diagnostics, &compiled.sources);
        return Ok(None);
    }
    Ok(compiled.design)
}

fn difference(old: &Design, new: &Design, format: Format, output: &mut Output) -> Exit {
    let found = explain::against(old, new);
    match format {
        Format::Json => output.print(&found.to_json()),
        Format::Markdown => output.print(&explain::difference(&found)),
        Format::Svg => return no_drawing("a difference", output),
    }
    match found.follows {
        Follows::AsItIs | Follows::ByRewriting => Exit::Yes,
        Follows::IfUnused => Exit::Unknown,
        Follows::Never => Exit::No,
    }
}

fn realization(design: &Design, engine: EngineName, format: Format, output: &mut Output) -> Exit {
    let engine = match engine {
        EngineName::Embedded => Engine::Embedded,
        EngineName::Postgres => Engine::Postgres,
        EngineName::Etcd => Engine::Etcd,
        EngineName::Dynamodb => Engine::Dynamodb,
    };
    let found = explain::realize(design, engine);
    match format {
        Format::Json => output.print(&found.to_json()),
        Format::Markdown => {
            let title = format!("# {}: {}\n", design.name, design.title);
            output.print(&format!("{title}{}", explain::realization(&found)));
        }
        Format::Svg => return no_drawing("an engine", output),
    }
    if found.misfits.is_empty() { Exit::Yes } else { Exit::No }
}

fn no_drawing(of: &str, output: &mut Output) -> Exit {
    output.tell(&format!("error: there is no drawing of {of}\nhelp: leave out `--format svg`\n"));
    Exit::Wrong
}
