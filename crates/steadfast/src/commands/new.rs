//! `steadfast new NAME --from ARCHETYPE --as NOUN`

use std::io::Write as _;
use std::path::Path;

use clap::Args;

use super::Answer;
use super::scaffold;
use crate::catalog::{self, Embedded, Entry};
use crate::diagnostics;
use crate::exit::Exit;
use crate::load;
use crate::output::{Output, STRONG};
use crate::problem::{Problem, reason};

/// Write a design of your own that uses an archetype
///
/// Your noun is in every name: `XHoldState` becomes `TicketHoldState`, `hold` becomes `hold_ticket`. The
/// result is a file that is yours to change, ready to check. The changes that most designs make first
/// stand in it as comments.
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
    /// What takes the place of `X`, with a capital letter: Ticket. Archetypes without `X` take the name of
    /// the design
    #[arg(long = "as", value_name = "NOUN")]
    noun: Option<String>,
}

impl New {
    pub fn run(self, output: &mut Output) -> Answer {
        let name = declared_name(&self.name)?;
        let entry = archetype(&self.from)?;
        let noun = noun(self.noun, entry, &name)?;
        let file = format!("{}.design", self.name);
        let text = scaffold::text(&name, &noun, entry);
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
        let whole = format!("steadfast show {file} --flat");
        output.print(&format!("      {STRONG}{whole}{STRONG:#} prints all that it uses\n"));
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

/// What takes the place of `X`; of an archetype without it, the design's own name does.
fn noun(given: Option<String>, entry: Entry, name: &str) -> Result<String, Problem> {
    match given {
        Some(noun) => check_noun(&noun).map(|()| noun),
        None if !has_placeholder(entry) => Ok(capitalised(name)),
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
}
