//! Designs are checked on another thread, one at a time, when a file is saved or somebody asks. A check is given up when
//! its text is no longer the one that was saved.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::{Receiver, Sender, unbounded};
use design::model::Design;
use gen_lsp_types::Uri;
use rustc_hash::FxHashMap;

use crate::verdicts::{Judgement, Verdicts};

/// What is known of one file.
#[derive(Clone, PartialEq, Debug)]
pub enum Standing {
    /// a check runs or waits; how far it came
    Checking(String),
    Known(Arc<Judgement>),
    /// it could not be checked
    Failed(String),
}

struct Known {
    /// the text that it is about
    text: Arc<str>,
    standing: Standing,
}

/// What a check has to tell.
pub struct News {
    uri: Uri,
    text: Arc<str>,
    standing: Option<Standing>,
}

struct Wanted {
    uri: Uri,
    text: Arc<str>,
    design: Design,
    dropped: Arc<AtomicBool>,
}

pub struct Checks {
    verdicts: Arc<dyn Verdicts>,
    known: FxHashMap<String, Known>,
    /// the newest check of each file, so that the one before can be given up
    newest: FxHashMap<String, Arc<AtomicBool>>,
    queue: Option<Sender<Wanted>>,
    told: Sender<News>,
    pub news: Receiver<News>,
}

impl Checks {
    pub fn new(verdicts: Arc<dyn Verdicts>) -> Checks {
        let (told, news) = unbounded();
        let (known, newest) = (FxHashMap::default(), FxHashMap::default());
        Checks { verdicts, known, newest, queue: None, told, news }
    }

    /// What is known of exactly this text; asks once for what is kept from earlier.
    pub fn standing(&mut self, uri: &Uri, text: &str, design: Option<&Design>) -> Option<Standing> {
        if let Some(known) = self.known.get(&uri.0).filter(|known| &*known.text == text) {
            return Some(known.standing.clone());
        }
        let kept = Standing::Known(Arc::new(self.verdicts.kept(text, design?)?));
        self.learn(uri, text.into(), kept.clone());
        Some(kept)
    }

    fn learn(&mut self, uri: &Uri, text: Arc<str>, standing: Standing) {
        self.known.insert(uri.0.clone(), Known { text, standing });
    }

    /// Checks this text, and gives up the check of another text of this file.
    pub fn begin(&mut self, uri: &Uri, text: &str, design: &Design) {
        self.give_up(uri);
        let (text, dropped): (Arc<str>, _) = (text.into(), Arc::new(AtomicBool::new(false)));
        let said = Standing::Checking("being checked".into());
        self.learn(uri, Arc::clone(&text), said);
        self.newest.insert(uri.0.clone(), Arc::clone(&dropped));
        let wanted = Wanted { uri: uri.clone(), text, design: design.clone(), dropped };
        let failed = match self.queue() {
            Ok(queue) => {
                queue.send(wanted).err().map(|_| "the thread that checks has ended".into())
            }
            Err(why) => Some(why),
        };
        if let Some(why) = failed {
            self.queue = None;
            self.learn(uri, "".into(), Standing::Failed(why));
        }
    }

    pub fn give_up(&mut self, uri: &Uri) {
        if let Some(dropped) = self.newest.remove(&uri.0) {
            dropped.store(true, Ordering::Relaxed);
        }
    }

    pub fn forget(&mut self, uri: &Uri) {
        self.give_up(uri);
        self.known.remove(&uri.0);
    }

    /// Takes what a check told. True: it is about what is known now.
    pub fn take(&mut self, news: News) -> bool {
        let current = self.known.get(&news.uri.0);
        if !current.is_some_and(|known| Arc::ptr_eq(&known.text, &news.text)) {
            return false;
        }
        match news.standing {
            Some(standing) => self.learn(&news.uri, news.text, standing),
            None => drop(self.known.remove(&news.uri.0)),
        }
        true
    }

    /// The thread is started when it is first needed.
    fn queue(&mut self) -> Result<Sender<Wanted>, String> {
        if let Some(queue) = &self.queue {
            return Ok(queue.clone());
        }
        let (queue, wanted) = unbounded::<Wanted>();
        let (verdicts, told) = (Arc::clone(&self.verdicts), self.told.clone());
        let work = move || wanted.iter().for_each(|wanted| check(&*verdicts, &wanted, &told));
        let thread = std::thread::Builder::new().name("check".into()).spawn(work);
        thread.map_err(|error| error.to_string())?;
        self.queue = Some(queue.clone());
        Ok(queue)
    }
}

fn check(verdicts: &dyn Verdicts, wanted: &Wanted, told: &Sender<News>) {
    let tell = |standing| {
        let (uri, text) = (wanted.uri.clone(), Arc::clone(&wanted.text));
        // nobody listens when the editor has left
        let _ = told.send(News { uri, text, standing });
    };
    if wanted.dropped.load(Ordering::Relaxed) {
        return tell(None);
    }
    let mut progress = |how_far: String| {
        tell(Some(Standing::Checking(how_far)));
        !wanted.dropped.load(Ordering::Relaxed)
    };
    let checked = std::panic::catch_unwind(AssertUnwindSafe(|| {
        verdicts.check(&wanted.text, &wanted.design, &mut progress)
    }));
    tell(match checked {
        Ok(found) => found.map(|found| Standing::Known(Arc::new(found))),
        Err(_) => Some(Standing::Failed("the checker broke off, which is a defect".into())),
    });
}
