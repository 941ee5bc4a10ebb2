//! `search` views: records that are found by their words.
//!
//! They are kept by a [`TextEngine`], which is not of this crate, and not in memory as other views are. An index has
//! its own place in the feed, which is committed with it, so that a restart goes on where it was. Whoever asks reads
//! the last commit; a commit is costly, so one is made only every so often, or when somebody asks for a revision.

mod answer;
mod document;
mod fold;
mod seam;

pub use seam::{
    TextAsked, TextChanges, TextEngine, TextFound, TextHit, TextIndex, TextRecord, TextShape,
    TextSnapshot, TextTrouble,
};

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use design::model::ViewForm;
use rustc_hash::FxHashMap;
use store::{Cursor, Moment};

use crate::calls::CallError;
use crate::core::Runtime;
use document::Document;

/// The indexes of a design that are open, by view.
#[derive(Default)]
pub(super) struct Indexes {
    opened: Mutex<FxHashMap<usize, Arc<Opened>>>,
}

/// An index, and how far it is known to be right.
struct Opened {
    index: Arc<dyn TextIndex>,
    /// which parts of a record it keeps
    document: Document,
    reflects: Mutex<Option<Reflects>>,
}

/// What was found when the feed was followed last.
struct Reflects {
    /// the cursor of the commit that this is about
    committed: Cursor,
    /// nothing of the view has changed since that commit, up to here
    up_to: Cursor,
    /// commits of the feed between the two
    skipped: usize,
    /// when the feed was looked at
    at: Moment,
}

impl Opened {
    fn reflects(&self) -> MutexGuard<'_, Option<Reflects>> {
        self.reflects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Runtime {
    /// Whether `search` views are answered.
    pub fn searches(&self) -> bool {
        self.settings.search.is_some()
    }

    /// The `search` views of the design.
    pub(crate) fn search_views(&self) -> Vec<usize> {
        let views = self.schema.design.views.iter().enumerate();
        let searched = views.filter(|(_, view)| matches!(view.form, ViewForm::Search { .. }));
        searched.map(|(at, _)| at).collect()
    }

    /// The index of a `search` view.
    fn opened(&self, at: usize) -> Result<Arc<Opened>, CallError> {
        let Some(engine) = &self.settings.search else {
            let view = &self.schema.design.views[at].name;
            let message = format!(
                "`{view}` needs a search engine, which this build does not have; \
                 build with `--features search`"
            );
            return Err(CallError::Unknown(message));
        };
        let mut opened = self.views.search.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = opened.get(&at) {
            return Ok(Arc::clone(known));
        }
        let document = Document::of(&self.schema, at);
        let index = engine.open(&document.shape(&self.schema)).map_err(unavailable)?;
        let new = Arc::new(Opened { index, document, reflects: Mutex::default() });
        opened.insert(at, Arc::clone(&new));
        Ok(new)
    }
}

/// Of an engine that cannot do what the runtime needs: the store is there, and its search is not.
fn unavailable(trouble: TextTrouble) -> CallError {
    CallError::Store(store::Error::Unavailable(trouble.to_string()))
}
