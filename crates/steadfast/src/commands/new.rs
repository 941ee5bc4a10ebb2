//! `steadfast new NAME --from ARCHETYPE --as NOUN`

use std::io::Write as _;
use std::path::Path;

use clap::Args;
use syntax::FileId;
use syntax::tree::ItemKind;

use super::Answer;
use crate::catalog::{self, Embedded, Entry};
use crate::diagnostics;
use crate::exit::Exit;
use crate::load;
use crate::output::{Output, STRONG};
use crate::problem::{Problem, reason};

/// Write a design of your own from an archetype
///
/// The archetype's placeholder `X` becomes your noun: `XHoldState` becomes `TicketHoldState`. The
/// result is a file that is yours to change, ready to check.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast new shop --from A08 --as Ticket
  steadfast check shop.design")]
pub struct New {
    /// The design is called so, and written to NAME.design
    name: String,
    /// An archetype of the catalog; `steadfast list` prints them
    #[arg(long, value_name = "ARCHETYPE")]
    from: String,
    /// What takes the place of `X`, with a capital letter: Ticket. Archetypes without `X` need none
    #[arg(long = "as", value_name = "NOUN")]
    noun: Option<String>,
}

impl New {
    pub fn run(self, output: &mut Output) -> Answer {
        let name = declared_name(&self.name)?;
        let entry = archetype(&self.from)?;
        let noun = noun(self.noun, entry)?;
        let file = format!("{}.design", self.name);
        let text = write_design(&name, &noun, entry);
        let compiled = design::compile(&file, &text, &Embedded);
        if compiled.has_errors() {
            // a noun may collide with a name of the archetype
            diagnostics::tell(output, &file, &compiled.diagnostics, &compiled.sources);
            return Err(Problem::new(format!(
                "`{}` as `{}` does not compile, so nothing is written",
                self.from, noun
            ))
            .help("choose another noun"));
        }
        create(&file, &text)?;
        output.print(&format!("wrote {STRONG}{file}{STRONG:#}\n"));
        if !has_placeholder(entry) {
            output.print(&format!("`{}` has no placeholder `X`: its names stay\n", self.from));
        }
        output.print(&format!("next: {STRONG}steadfast check {file}{STRONG:#}\n"));
        output.print(&format!("      {STRONG}steadfast dev {file}{STRONG:#}\n"));
        Ok(Exit::Yes)
    }
}

/// `seat-shop` is declared as `SeatShop`.
fn declared_name(name: &str) -> Result<String, Problem> {
    let legal = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if !name.starts_with(|first: char| first.is_ascii_alphabetic()) || !name.chars().all(legal) {
        return Err(Problem::new(format!("`{name}` is not a name for a design")).help(
            "a name begins with a letter and goes on with letters, digits, `-` and `_`; \
             the file is called NAME.design",
        ));
    }
    Ok(name.split(['-', '_']).map(capitalised).collect())
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// What takes the place of `X`; of an archetype without it, anything would do.
fn noun(given: Option<String>, entry: Entry) -> Result<String, Problem> {
    match given {
        Some(noun) => check_noun(&noun).map(|()| noun),
        None if !has_placeholder(entry) => Ok("X".into()),
        None => Err(Problem::new(format!("`{}` is written for any noun `X`", entry.name()))
            .help("say what takes its place, such as `--as Ticket`")),
    }
}

fn has_placeholder(entry: Entry) -> bool {
    design::instantiate(entry.text, "Zebra").contains("Zebra")
}

fn check_noun(noun: &str) -> Result<(), Problem> {
    let legal = noun.chars().all(|letter| letter.is_ascii_alphanumeric());
    if legal && noun.starts_with(|first: char| first.is_ascii_uppercase()) {
        return Ok(());
    }
    let better: String = noun
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .map(capitalised)
        .collect::<String>()
        .trim_start_matches(|first: char| first.is_ascii_digit())
        .to_string();
    let example = if better.is_empty() { "Ticket".to_string() } else { capitalised(&better) };
    Err(Problem::new(format!("`{noun}` is not a noun that can stand for `X`")).help(format!(
        "it becomes part of names such as `{example}HoldState`: write `--as {example}`"
    )))
}

fn archetype(word: &str) -> Result<Entry, Problem> {
    let ids = || design::Catalog::ids(&Embedded);
    match catalog::find(word) {
        Some(entry) if entry.header().id.is_some() => Ok(entry),
        Some(entry) => Err(Problem::new(format!("`{word}` is a design, not an archetype"))
            .help(format!("`steadfast show {} > NAME.design` copies it", entry.name()))
            .help("`steadfast list` prints the archetypes")),
        None => Err(Problem::new(format!("no archetype `{word}` in the catalog"))
            .help_if(
                design::did_you_mean(word, ids().iter().map(String::as_str))
                    .or_else(|| load::suggestion(word)),
            )
            .help("`steadfast list` prints the catalog")),
    }
}

/// The archetype's items under a header of the new design's own.
fn write_design(name: &str, noun: &str, entry: Entry) -> String {
    let text = design::instantiate(entry.text, noun);
    let items = syntax::parse(&text, FileId::default()).tree.items;
    let header = catalog::header(&text);
    let is_header =
        |kind: &ItemKind| matches!(kind, ItemKind::Archetype { .. } | ItemKind::Header { .. });
    let first = items.iter().find(|item| !is_header(&item.kind));
    let last = items.iter().rfind(|item| is_header(&item.kind)).map_or(0, |item| item.span.end);
    let body = if first.is_some() { &text[last as usize..] } else { "" };
    let title = article(&header.title, noun).replace('\\', "\\\\").replace('"', "\\\"");
    let written = format!(
        "// Made from {} ({}). Everything here is yours to change.\ndesign {name} \"{title}\"\n\n{}",
        entry.name(),
        entry.header().name,
        article(body.trim_start(), noun),
    );
    syntax::format(&written).text
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

/// Never writes over a file that is there.
fn create(file: &str, text: &str) -> Result<(), Problem> {
    let refused = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Problem::new(format!("`{file}` is there already"))
            .help("choose another name, or move the file away"),
        _ => Problem::new(format!("cannot write `{file}`: {}", reason(&error))),
    };
    let mut created = std::fs::File::create_new(Path::new(file)).map_err(refused)?;
    created.write_all(text.as_bytes()).map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_archetype_gives_a_formatted_design_that_compiles() {
        for entry in catalog::entries().filter(|entry| entry.header().id.is_some()) {
            let text = write_design("Shop", "Ticket", entry);
            let compiled = design::compile("shop.design", &text, &Embedded);
            assert!(!compiled.has_errors(), "{}: {:?}", entry.path, compiled.diagnostics);
            assert!(compiled.design.unwrap().world.written, "{} has no check", entry.path);
            assert_eq!(syntax::format(&text).text, text, "{}", entry.path);
        }
    }

    #[test]
    fn names_and_nouns() {
        assert_eq!(declared_name("seat-shop").unwrap(), "SeatShop");
        for wrong in ["", "1st", "a/b", "a.design", "-x"] {
            assert!(declared_name(wrong).is_err(), "{wrong}");
        }
        assert!(check_noun("GuestRoom").is_ok());
        for (wrong, better) in [("ticket", "Ticket"), ("guest room", "GuestRoom"), ("", "Ticket")] {
            let problem = check_noun(wrong).unwrap_err();
            assert!(problem.help[0].contains(&format!("`--as {better}`")), "{problem:?}");
        }
    }

    #[test]
    fn articles_fit_the_noun() {
        assert_eq!(article("of an ticket", "Ticket"), "of a ticket");
        assert_eq!(article("of an order", "Order"), "of an order");
    }
}
