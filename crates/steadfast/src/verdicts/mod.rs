//! Verdicts that were made earlier, each by the exact text that it is about.
//!
//! One small file for each text, under `$XDG_CACHE_HOME/steadfast/verdicts`. A store keeps the same
//! beside the design, so that it goes where a backup goes. Nothing here is needed: whatever cannot
//! be read or written is left out, and the design counts as not checked.

mod folder;
mod kept;
mod rule;

use std::path::PathBuf;

use clap::Args;
use design::model::Design;
use model_checker::{Options, Progress, VERSION, Word};
use runtime::{CallError, Runtime};

use folder::Folder;
pub use rule::{Require, Rule};

/// Where verdicts are kept.
#[derive(Args, Clone, Debug, Default)]
pub struct VerdictOptions {
    /// Where verdicts are kept; by default `steadfast/verdicts` in the user's cache directory
    #[arg(long, value_name = "DIR", env = "STEADFAST_VERDICTS")]
    verdicts: Option<PathBuf>,
}

impl VerdictOptions {
    pub fn open(&self) -> Verdicts {
        let folder = self.verdicts.clone().or_else(usual_folder);
        Verdicts { folder: folder.map(Folder::new) }
    }
}

fn usual_folder() -> Option<PathBuf> {
    Some(cache_folder()?.join("verdicts"))
}

/// Where the program keeps what it can make again.
pub fn cache_folder() -> Option<PathBuf> {
    // by its specification, a path that is not absolute is to be ignored
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("steadfast"))
}

/// What was found about texts.
pub struct Verdicts {
    /// none: there is no place to keep anything
    folder: Option<Folder>,
}

impl Verdicts {
    /// The verdict on this text; `also` is what a store keeps beside it.
    pub fn find(&self, text: &str, design: &Design, also: Option<&str>) -> Option<Word> {
        let mark = mark(text, design);
        let mut known = self.folder.as_ref().and_then(|folder| folder.find(&mark));
        if known.as_ref().is_none_or(|word| matches!(word, Word::NotKnown { .. })) {
            known = also.and_then(|also| kept::read(also, &mark).ok()).or(known);
        }
        known
    }

    /// What a store keeps, if it is about this text.
    pub fn stored(&self, text: &str, design: &Design, form: Option<&str>) -> Option<Word> {
        kept::read(form?, &mark(text, design)).ok()
    }

    /// Keeps the verdict on a design that runs, in its store too.
    pub fn keep_with(&self, runtime: &Runtime, text: &str, word: &Word) {
        let form = self.keep(text, runtime.design(), word);
        match runtime.keep_verdict(&form) {
            // a version that no longer counts needs none
            Ok(()) | Err(CallError::Replaced) => {}
            Err(error) => note(&format!("the verdict is not kept in the store: {error}")),
        }
    }

    /// Keeps a verdict. Gives the form in which a store keeps it.
    pub fn keep(&self, text: &str, design: &Design, word: &Word) -> String {
        let mark = mark(text, design);
        let form = kept::write(&mark, &design.name, word);
        if let Some(folder) = &self.folder {
            folder.keep(&mark, word, &form);
        }
        form
    }
}

/// Checks a design now.
pub fn judge(design: &Design, options: &Options, progress: &mut dyn FnMut(&Progress)) -> Word {
    if !design.world.written {
        return Word::NotKnown { why: gateway::NO_WORLD.into() };
    }
    match model_checker::check(design, options, progress) {
        Ok(report) => report.word(),
        Err(error) => Word::NotKnown { why: error.to_string() },
    }
}

/// What stands for one text, as this program reads it: a text that uses an archetype means something
/// else when the archetype in the catalog is another.
pub fn mark(text: &str, design: &Design) -> String {
    let meaning = design::to_bytes(design);
    let mut hasher = blake3::Hasher::new();
    hasher.update(&VERSION.to_le_bytes());
    hasher.update(&(text.len() as u64).to_le_bytes());
    hasher.update(text.as_bytes());
    hasher.update(&meaning);
    hasher.finalize().to_hex().to_string()
}

/// Told to whoever reads the errors of the program.
fn note(text: &str) {
    anstream::eprintln!("note: {text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design(text: &str) -> Design {
        design::compile("d", text, &design::NoCatalog).design.unwrap()
    }

    const TEXT: &str = "design D\nactor a\nsubject S(s: text) { truth T { n: int = 0 } }\nstep a[go(s: S)] { T.n := 1 }\n";

    #[test]
    fn a_mark_is_of_the_exact_text_and_of_nothing_else() {
        let same = design::compile("another name", TEXT, &design::NoCatalog).design.unwrap();
        assert_eq!(mark(TEXT, &design(TEXT)), mark(TEXT, &same));
        let commented = format!("{TEXT}// one more\n");
        assert_ne!(mark(TEXT, &design(TEXT)), mark(&commented, &design(&commented)));
        // the same text, read differently
        let other = design(&TEXT.replace(":= 1", ":= 2"));
        assert_ne!(mark(TEXT, &design(TEXT)), mark(TEXT, &other));
    }

    #[test]
    fn what_a_store_keeps_counts_where_the_folder_knows_nothing() {
        let verdicts = Verdicts { folder: None };
        let design = design(TEXT);
        let form = verdicts.keep(TEXT, &design, &Word::Violated);
        assert_eq!(verdicts.find(TEXT, &design, Some(&form)), Some(Word::Violated));
        assert_eq!(verdicts.find(TEXT, &design, None), None);
        let other = format!("{TEXT}\n");
        assert_eq!(verdicts.find(&other, &design, Some(&form)), None, "another text");
    }
}
