//! `steadfast explain`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use design::model::Design;
use explain::{Engine, Follows};
use serde_json::Value;
use steadfast::known::Known;

use super::Answer;
use crate::catalog::Embedded;
use crate::diagnostics;
use crate::exit::Exit;
use crate::load::load;
use crate::output::Output;
use crate::problem::Problem;

/// Explain a design: its mechanisms, who owns and sees what, what an engine is asked to do
///
/// What is authoritative, what each operation is, what keeps a stale actor out, which repair sets
/// things right, what gets hot first; with `--engine`, what exactly that engine is asked to do; with
/// `--partition`, which operations stay in one partition, which cross, and which keys would change
/// that; with `--against`, what changes for stored truth, for what is in flight and for clients. All
/// of it is derived from the text. Exits 1 when the design does not fit the engine or stored truth cannot
/// follow, 3 when that depends on what is stored.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast explain tickets
  steadfast explain tickets --format svg > tickets.svg
  steadfast explain tickets --engine postgres
  steadfast explain tickets --partition
  steadfast explain booking.design --format tla --write out
  steadfast explain shop.design --against shop2.design
  steadfast explain tickets.design --together billing.design --format svg > both.svg")]
pub struct Explain {
    /// A path, or the name of a design in the catalog
    #[arg(value_name = "DESIGN")]
    design: String,
    /// What this engine is asked to do for each operation
    #[arg(long, value_enum, conflicts_with = "against")]
    engine: Option<EngineName>,
    /// Which operations stay in one partition (the first part of a record's key), which cross, and which keys would
    /// change that
    #[arg(long, conflicts_with_all = ["against", "engine", "without", "world", "write"])]
    partition: bool,
    #[arg(long, value_enum, default_value_t = Format::Markdown)]
    format: Format,
    /// The same as `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// What changes from DESIGN to this one
    #[arg(long, value_name = "NEW")]
    against: Option<String>,
    /// Other designs of the same server: all of them as one, with the events that they hear of each other
    #[arg(long, value_name = "OTHER", conflicts_with_all = ["against", "engine"])]
    together: Vec<String>,
    /// With `--format tla`: take this away first, as a failure would write it (`take.free`)
    #[arg(long, value_name = "PROTECTION", conflicts_with_all = ["against", "engine"])]
    without: Vec<String>,
    /// With `--format tla`: the module of this world alone
    #[arg(long, value_name = "NAME", conflicts_with_all = ["against", "engine"])]
    world: Option<String>,
    /// With `--format tla`: write the module and its configuration into this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["against", "engine"])]
    write: Option<PathBuf>,
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
    /// A module of TLA+, for TLC
    Tla,
}

impl Explain {
    pub fn run(self, output: &mut Output) -> Answer {
        let format = if self.json { Format::Json } else { self.format };
        let design = match self.together.is_empty() {
            true => compile(&self.design, output)?,
            false => compile_together(&self.design, &self.together, output)?,
        };
        let Some(design) = design else { return Ok(Exit::Wrong) };
        if self.partition {
            output.print(&partition(&design, format)?);
            return Ok(Exit::Yes);
        }
        if format == Format::Tla && self.against.is_none() && self.engine.is_none() {
            let (world, write) = (self.world.as_deref(), self.write.as_deref());
            return super::tla::run(&design, &self.without, world, write, output);
        }
        if !self.without.is_empty() || self.write.is_some() || self.world.is_some() {
            return Err(Problem::new(
                "`--without`, `--world` and `--write` go with `--format tla`",
            ));
        }
        let (text, exit) = match (&self.against, self.engine) {
            (Some(other), _) => {
                let Some(other) = compile(other, output)? else { return Ok(Exit::Wrong) };
                difference(&design, &other, format)?
            }
            (None, Some(engine)) => realization(&design, engine, format)?,
            (None, None) => (sheet(&design, format)?, Exit::Yes),
        };
        output.print(&text);
        Ok(exit)
    }
}

fn sheet(design: &Design, format: Format) -> Result<String, Problem> {
    Ok(match format {
        Format::Markdown => {
            let sheet = explain::sheet(design);
            let known = known(&sheet).map(|known| known.markdown(&sheet));
            explain::markdown(&sheet) + &known.unwrap_or_default()
        }
        Format::Json => {
            let sheet = explain::sheet(design);
            match known(&sheet) {
                Some(known) => with_known(&sheet.to_json(), &known.json(&sheet)),
                None => sheet.to_json(),
            }
        }
        Format::Svg => drawing::together(&explain::drawings(design)),
        Format::Tla => return Err(no_module("a sheet")),
    })
}

/// What the catalog knows of it, if it is an archetype.
fn known(sheet: &explain::Sheet) -> Option<Known> {
    Known::of(sheet.id.as_deref()?)
}

/// The same object, with `known` as its last field.
fn with_known(sheet: &str, known: &Value) -> String {
    let open = sheet.trim_end().strip_suffix('}').unwrap_or_else(|| panic!("no object: {sheet}"));
    let known = format!("{known:#}").replace('\n', "\n  ");
    format!("{},\n  \"known\": {known}\n}}\n", open.trim_end())
}

/// None: it does not compile, and why has been told.
fn compile(word: &str, output: &mut Output) -> Result<Option<Design>, Problem> {
    let loaded = load(word)?;
    let compiled = design::compile(&loaded.name, &loaded.text, &Embedded);
    if compiled.has_errors() {
        diagnostics::tell(output, &loaded.name, &compiled.diagnostics, &compiled.sources);
        return Ok(None);
    }
    Ok(compiled.design)
}

/// The same of several designs as one.
fn compile_together(
    first: &str,
    others: &[String],
    output: &mut Output,
) -> Result<Option<Design>, Problem> {
    let mut texts = vec![load(first)?.text];
    for other in others {
        texts.push(load(other)?.text);
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (_, compiled) = design::compile_together(&texts, &Embedded);
    if compiled.has_errors() {
        diagnostics::tell(output, "together", &compiled.diagnostics, &compiled.sources);
        return Ok(None);
    }
    Ok(compiled.design)
}

fn difference(old: &Design, new: &Design, format: Format) -> Result<(String, Exit), Problem> {
    let found = explain::against(old, new);
    let text = match format {
        Format::Json => found.to_json(),
        Format::Markdown => explain::difference(&found),
        Format::Svg => return Err(no_drawing("a difference")),
        Format::Tla => return Err(no_module("a difference")),
    };
    let exit = match found.follows {
        Follows::AsItIs | Follows::ByRewriting => Exit::Yes,
        Follows::IfUnused => Exit::Unknown,
        Follows::Never => Exit::No,
    };
    Ok((text, exit))
}

fn realization(
    design: &Design,
    engine: EngineName,
    format: Format,
) -> Result<(String, Exit), Problem> {
    let engine = match engine {
        EngineName::Embedded => Engine::Embedded,
        EngineName::Postgres => Engine::Postgres,
        EngineName::Etcd => Engine::Etcd,
        EngineName::Dynamodb => Engine::Dynamodb,
    };
    let found = explain::realize(design, engine);
    let text = match format {
        Format::Json => found.to_json(),
        Format::Markdown => {
            format!("# {}: {}\n{}", design.name, design.title, explain::realization(&found))
        }
        Format::Svg => return Err(no_drawing("an engine")),
        Format::Tla => return Err(no_module("an engine")),
    };
    let exit = if found.misfits.is_empty() { Exit::Yes } else { Exit::No };
    Ok((text, exit))
}

fn partition(design: &Design, format: Format) -> Result<String, Problem> {
    let found = explain::partition(design);
    match format {
        Format::Json => Ok(found.to_json()),
        Format::Markdown => Ok(explain::partitioning(&found)),
        Format::Svg => Err(no_drawing("partitions")),
        Format::Tla => Err(no_module("partitions")),
    }
}

fn no_drawing(of: &str) -> Problem {
    Problem::new(format!("there is no drawing of {of}")).help("leave out `--format svg`")
}

fn no_module(of: &str) -> Problem {
    Problem::new(format!("there is no module of {of}")).help("leave out `--format tla`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    fn design(name: &str, from: &str, to: &str) -> Design {
        let text = catalog::find(name).unwrap().text;
        // with everything that it uses
        let text = design::compile(name, text, &Embedded).flat.unwrap_or_else(|| text.into());
        assert!(text.contains(from), "{from}");
        design::compile(name, &text.replace(from, to), &Embedded).design.unwrap()
    }

    #[test]
    fn the_whole_catalog_is_explained_in_every_form() {
        for entry in catalog::entries() {
            let compiled = design::compile(entry.name(), entry.text, &Embedded).design.unwrap();
            for format in [Format::Markdown, Format::Json, Format::Svg] {
                assert!(sheet(&compiled, format).ok().unwrap().len() > 500, "{}", entry.path);
            }
            assert!(partition(&compiled, Format::Markdown).ok().unwrap().len() > 500);
            let json = partition(&compiled, Format::Json).ok().unwrap();
            assert!(serde_json::from_str::<Value>(&json).is_ok(), "{}", entry.path);
            for engine in EngineName::value_variants() {
                let (text, exit) = realization(&compiled, *engine, Format::Markdown).ok().unwrap();
                let fits = !text.contains("Does not fit");
                assert!(text.len() > 500 && (exit == Exit::Yes) == fits, "{}", entry.path);
            }
        }
    }

    #[test]
    fn what_is_known_of_an_archetype_stands_at_the_end() {
        let sheet = |name: &str, format| sheet(&design(name, "", ""), format).ok().unwrap();
        let text = sheet("I02", Format::Markdown);
        for part in [
            "\n## What is known of this archetype\n",
            "| M1 identity | who calls is known by a key that only it has | shown | ",
            "| special move | a stronger issuer of leases, if whoever grants them is in doubt |\n",
            "| `at_most_one_current_valid_owner` in `",
            "| duplicate claim | one guarded claim",
        ] {
            // the first column of a table of two is its name
            assert!(text.contains(part.trim_start_matches("| `")), "{part}\n{text}");
        }
        let value: Value = serde_json::from_str(&sheet("I02", Format::Json)).unwrap();
        assert_eq!(value["format"], "steadfast-explain/1");
        assert_eq!(value["known"]["group"], "control and ownership");
        assert_eq!(value["known"]["moves"][0]["here"], "shown");
        assert_eq!(value["known"]["pairs"][0]["repaired_by"][0], "reaper[reclaim]");
        // of a product less is known, and of a design that is no archetype nothing
        assert!(sheet("A06", Format::Markdown).contains("In a design: `use A06 as Item`."));
        assert!(!sheet("tickets", Format::Markdown).contains("What is known"));
        let value: Value = serde_json::from_str(&sheet("tickets", Format::Json)).unwrap();
        assert!(value.get("known").is_none());
    }

    #[test]
    fn the_exit_code_says_whether_stored_truth_can_follow() {
        let old = design("tickets", "", "");
        let exit = |new: &Design| difference(&old, new, Format::Json).ok().unwrap().1;
        assert_eq!(exit(&old), Exit::Yes);
        let key = "subject Booking(booking: text)";
        assert_eq!(exit(&design("tickets", key, "subject Booking(booking: int)")), Exit::No);
        // another design is not put in its place, whatever is stored
        assert_eq!(exit(&design("payments", "", "")), Exit::No);
        // what is there under another name, without a `rename`, is not carried over
        let less = design("tickets", "expires_at", "ends_at");
        let less = difference(&less, &old, Format::Json).ok().unwrap().1;
        assert_eq!(less, Exit::Unknown);
        assert!(difference(&old, &old, Format::Svg).is_err());
    }

    #[test]
    fn partitions_have_no_drawing_and_no_module() {
        let tickets = design("tickets", "", "");
        assert!(partition(&tickets, Format::Svg).is_err());
        assert!(partition(&tickets, Format::Tla).is_err());
    }
}
