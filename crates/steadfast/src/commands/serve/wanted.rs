//! The designs that are to be served: read, held against what the store holds, and judged, before
//! anything is changed.

use std::path::PathBuf;
use std::sync::Arc;

use design::model::Design;
use model_checker::Word;
use runtime::{Clock, Kept, Runtime, Settings, Writing, alike, designs_of, kept};
use store::Store;

use super::differs;
use crate::catalog::Embedded;
use crate::client::design_name;
use crate::diagnostics;
use crate::exit::Exit;
use crate::load::load;
use crate::output::Output;
use crate::problem::Problem;
use crate::progress::Meter;
use crate::verdicts::{Require, Rule, Verdicts, judge};

/// One design, and what is known of it.
pub struct Wanted {
    /// how paths call it
    pub name: String,
    pub text: String,
    /// none: from the catalog
    pub path: Option<PathBuf>,
    /// with everything that it uses written out, if it uses something
    flat: Option<String>,
    pub design: Design,
    /// none: the store holds no design of its name
    kept: Option<Kept>,
    pub word: Option<Word>,
}

impl Wanted {
    /// None: it does not compile, and why has been told.
    pub fn read(word: &str, output: &mut Output) -> Result<Option<Wanted>, Problem> {
        let loaded = load(word)?;
        let compiled = design::compile(&loaded.name, &loaded.text, &Embedded);
        diagnostics::tell(output, &loaded.name, &compiled.diagnostics, &compiled.sources);
        let name = design_name(&loaded.name);
        let (text, path, flat) = (loaded.text, loaded.path, compiled.flat);
        let wanted = |design| Wanted { name, text, path, flat, design, kept: None, word: None };
        Ok(compiled.design.map(wanted))
    }

    /// Looks at what the store holds. With `replace` it may be another version. What is used from archetypes
    /// that are others in this program is told in any case.
    pub fn hold_against(
        &mut self,
        store: &dyn Store,
        address: &str,
        replace: bool,
        output: &mut Output,
    ) -> Result<(), Problem> {
        self.kept = kept(store, &self.design.name, &Settings::default())
            .map_err(|error| Problem::new(format!("`{}` on `{address}`: {error}", self.name)))?;
        let Some(kept) = self.kept.as_ref() else { return Ok(()) };
        let same_text = kept.text.as_ref() == Some(&self.text);
        if same_text && self.flat.is_none() {
            return Ok(());
        }
        // what an earlier version of the program stored can still be read from its text
        let read = || kept.flat.as_deref().or(kept.text.as_deref()).and_then(compiled);
        let stored = kept.design.clone().or_else(read);
        if stored.as_ref().is_some_and(|stored| alike(stored, &self.design)) {
            return Ok(());
        }
        if same_text {
            return self.of_other_archetypes(kept, stored.as_ref(), address, replace, output);
        }
        if replace {
            return Ok(());
        }
        let name = &self.name;
        let what = match &stored {
            Some(stored) => {
                let texts = kept.text.as_deref().map(|old| (old, self.text.as_str()));
                output.tell(&differs::told(stored, &self.design, texts));
                "holds another version of this design"
            }
            None => "holds a version of this design that this program cannot read",
        };
        Err(Problem::new(format!("`{name}` is not served: `{address}` {what}"))
            .help("`--replace` puts this text in its place, if what is stored can follow")
            .help(format!("to go on with the stored version, serve the text that `{name}` had"))
            .exit(Exit::No))
    }

    /// The text is the one that is stored, and the archetypes of this program are others.
    fn of_other_archetypes(
        &self,
        kept: &Kept,
        stored: Option<&Design>,
        address: &str,
        replace: bool,
        output: &mut Output,
    ) -> Result<(), Problem> {
        let flats = kept.flat.as_deref().zip(self.flat.as_deref());
        let nothing = stored.is_none_or(|old| explain::against(old, &self.design).is_empty());
        // without the old texts only what can be derived from the designs is known to differ
        if flats.map_or(nothing, |(old, new)| old == new) {
            return Ok(());
        }
        let used = self.design.uses.iter().map(design::model::Use::told).collect::<Vec<_>>();
        let changed = match flats {
            Some((old, new)) => differs::sections(old, new, &used),
            None => used,
        };
        let which = changed.join("`, `");
        let name = &self.name;
        if let Some(stored) = stored {
            output.tell(&differs::told(stored, &self.design, flats));
        }
        if replace {
            let note = format!(
                "note: `{which}` is another in this program than in `{address}`; `{name}` follows it\n"
            );
            output.tell(&note);
            return Ok(());
        }
        let why = format!(
            "`{name}` is not served: it has not changed, but `{which}` is another in this program than in \
             `{address}`"
        );
        Err(Problem::new(why)
            .help("`--replace` puts what this program makes of it in place, if what is stored can follow")
            .help(format!("to go on with what is stored, serve `{name}` with the program that stored it"))
            .exit(Exit::No))
    }

    /// Finds the verdict. Where a rule asks for one, the design is checked now if it has none.
    pub fn judge(&mut self, rule: Rule, verdicts: &Verdicts) -> Result<(), Problem> {
        let also = self.kept.as_ref().and_then(|kept| kept.verdict.as_deref());
        self.word = verdicts.find(&self.text, &self.design, also);
        if self.word.is_none() && !self.design.world.written {
            self.word = Some(Word::NotKnown { why: gateway::NO_WORLD.into() });
        }
        // it may be that only a small budget ran out before
        let open = self.word.as_ref().is_none_or(|word| matches!(word, Word::NotKnown { .. }));
        if rule.require.is_some() && open && self.design.world.written {
            let mut meter = Meter::new(&self.name);
            let options = model_checker::Options::default();
            let word = judge(&self.design, &options, &mut |progress| meter.show(progress));
            meter.clear();
            verdicts.keep(&self.text, &self.design, &word);
            self.word = Some(word);
        }
        let Err(unmet) = rule.allows(self.word.as_ref()) else { return Ok(()) };
        let problem = Problem::new(format!("`{}` is not served: {}", self.name, unmet.why));
        let problem = problem.help("`steadfast check` shows why").exit(unmet.exit);
        Err(match rule.require {
            None => problem.help("`--unproved` serves it all the same"),
            Some(Require::Proved) if matches!(self.word, Some(Word::Holds { .. })) => {
                problem.help("`--require holds` serves what holds within the bounds of its verdict")
            }
            Some(_) => problem,
        })
    }

    /// Opens it, in the place of what the store holds. The store keeps text and verdict beside it.
    pub fn open(
        &self,
        store: &Arc<dyn Store>,
        address: &str,
        (settings, clock): (&Settings, Arc<dyn Clock>),
        verdicts: &Verdicts,
    ) -> Result<Arc<Runtime>, Problem> {
        let Wanted { name, text, design, .. } = self;
        let (store, settings) = (Arc::clone(store), settings.clone());
        let writing = Writing { text, flat: self.flat.as_deref() };
        let opened = Runtime::open_with_text(design.clone(), writing, store, settings, clock);
        let runtime = opened.map_err(|error| {
            let problem = Problem::new(format!("`{name}` on `{address}`: {error}"));
            match error {
                runtime::OpenError::Replace(_) => problem
                    .help("with the old version running, `steadfast replace --drop NAME` says what you are ready to lose")
                    .exit(Exit::No),
                _ => problem,
            }
        })?;
        let runtime = Arc::new(runtime);
        let stored = self.kept.as_ref().and_then(|kept| kept.verdict.as_deref());
        if let Some(word) = &self.word
            && verdicts.stored(text, design, stored).as_ref() != Some(word)
        {
            verdicts.keep_with(&runtime, text, word);
        }
        Ok(runtime)
    }
}

fn compiled(text: &str) -> Option<Design> {
    design::compile("stored", text, &Embedded).design
}

/// Designs in the store that nobody asked for.
pub fn left_out(store: &dyn Store, wanted: &[Wanted]) -> Vec<String> {
    // a store that cannot be read says so when a design is opened on it
    let names = designs_of(store, &Settings::default()).unwrap_or_default();
    let served = |name: &String| wanted.iter().any(|wanted| wanted.design.name == *name);
    names.into_iter().filter(|name| !served(name)).collect()
}
