//! The studio: a design is written, checked and tried before anything is served. For operators. Nothing here touches what
//! is served: a text is compiled, explored and run in memory, within limits, and gone afterwards.

mod bench;
mod checks;
mod page;
mod said;
mod sessions;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::{Response, StatusCode};
use design::Compiled;
use design::model::{Design, Protection};
use gateway::{Gateway, Problem, Service};
use rehearsal::Room;
use server::problem::OverHttp as _;
use tokio::sync::Semaphore;

use crate::fields::{Sent, sent};
use crate::html::Html;
use crate::shelf::{NoTexts, Texts};
use crate::visit::Visit;
use crate::{look, shell};
use bench::{Act, Bench};
use checks::{Budget, Check, SECONDS_MAX, What};
use page::{Page, Part};
use sessions::{MOST, Session, Sessions};

/// The longest design of the catalog has a tenth of it.
const TEXT_BYTES_MAX: usize = 256 << 10;
/// So many texts are read at a time.
const READING: usize = 2;
/// A text that is not read by then is answered with a problem.
const READ_MAX: Duration = Duration::from_secs(10);
/// So long an answer waits for the end of a check.
const CHECK_WAIT: Duration = Duration::from_millis(700);
const EXAMPLE: &str = include_str!("../assets/example.design");

/// What all tabs of one server share.
pub struct Studio {
    texts: Arc<dyn Texts>,
    sessions: Sessions,
    reading: Arc<Semaphore>,
    /// a check is under way
    busy: Arc<AtomicBool>,
}

impl Studio {
    pub fn new(texts: Option<Arc<dyn Texts>>) -> Studio {
        Studio {
            texts: texts.unwrap_or_else(|| Arc::new(NoTexts)),
            sessions: Sessions::default(),
            reading: Arc::new(Semaphore::new(READING)),
            busy: Arc::default(),
        }
    }

    /// Once a second.
    pub fn tidy(&self) {
        self.sessions.tidy(Instant::now(), MOST);
    }

    /// Reads a text, beside those that serve, and no more than a few at a time.
    async fn read(self: &Arc<Studio>, text: &str) -> Result<Arc<Compiled>, Problem> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(Problem::too_large("the text of a design", TEXT_BYTES_MAX));
        }
        let waits = tokio::time::timeout(READ_MAX, Arc::clone(&self.reading).acquire_owned());
        let Ok(Ok(place)) = waits.await else { return Err(Problem::overloaded()) };
        let (texts, text) = (Arc::clone(&self.texts), text.to_string());
        let reading = tokio::task::spawn_blocking(move || {
            let _place = place;
            design::compile("studio", &text, texts.catalog())
        });
        match tokio::time::timeout(READ_MAX, reading).await {
            Ok(Ok(compiled)) => Ok(Arc::new(compiled)),
            Ok(Err(_)) => Err(cannot("this text cannot be read: a defect of the compiler")),
            Err(_) => Err(cannot("it takes too long to read this text: make it smaller")),
        }
    }

    fn page_of(&self, code: &str) -> Option<String> {
        self.texts.page(code)
    }
}

fn cannot(why: impl Into<String>) -> Problem {
    Problem::new(&gateway::kinds::CANNOT, why)
}

/// Who has signed in; none: everyone is who they say, on this machine alone.
fn owner(visit: &Visit) -> Option<&str> {
    visit.signed_in.then_some(visit.caller.principal.as_str())
}

/// The page, with the text that it is asked to begin with.
pub async fn get(studio: &Arc<Studio>, visit: &Visit) -> Result<Html, Problem> {
    look::may_operate(visit)?;
    let from = sent(&visit.query, "from").unwrap_or_default();
    let text = beginning(studio, &visit.gateway, from)?;
    let mut page = Page::new(&text, from);
    page.compiled = Some(studio.read(&text).await?);
    Ok(page.whole(studio, visit, &Sent::new()))
}

/// `example`, `served:tickets`, `catalog:A08`.
fn beginning(studio: &Studio, gateway: &Gateway, from: &str) -> Result<String, Problem> {
    match from.split_once(':') {
        Some(("served", name)) => Ok(gateway.service(name)?.text.clone()),
        Some(("catalog", name)) => studio
            .texts
            .text(name)
            .ok_or_else(|| Problem::unknown(format!("no design `{name}` in the catalog"))),
        _ if matches!(from, "" | "example" | "kept") => Ok(EXAMPLE.to_string()),
        _ => Err(Problem::unknown(format!("nothing to begin with is called `{from}`"))),
    }
}

/// The page of an error code.
pub fn error_page(studio: &Studio, visit: &Visit, code: &str) -> Result<Html, Problem> {
    let text = studio
        .page_of(code)
        .ok_or_else(|| Problem::unknown(format!("no page of an error `{code}`")))?;
    Ok(shell::alone(visit, code, &page::markdown(&text)))
}

/// A form of the studio: what was asked for is done, and the page, or the part of it that changed, is shown.
pub async fn post(
    gateway: &Arc<Gateway>,
    studio: &Arc<Studio>,
    visit: &Visit,
    form: Sent,
) -> Result<Response<Body>, Problem> {
    look::may_operate(visit)?;
    let _place = gateway.enter()?;
    let text = sent(&form, "text").unwrap_or_default().replace("\r\n", "\n");
    let mut page = Page::new(&text, "");
    let now = Instant::now();
    let session = sent(&form, "session").and_then(|id| studio.sessions.find(id, owner(visit), now));
    page.session.clone_from(&session);
    let done = act(gateway, studio, visit, &form, &text, &mut page).await;
    let mut status = StatusCode::OK;
    if let Err(problem) = done {
        status = problem.status();
        page.trouble = Some(crate::trouble::note(&problem));
    }
    if visit.part {
        return Ok(shell::respond(status, page.parts(studio, &form)));
    }
    if page.compiled.is_none() && text.len() <= TEXT_BYTES_MAX {
        page.compiled = studio.read(&text).await.ok();
    }
    if page.bench.is_none() {
        page.bench = shown(page.session.as_ref(), form.clone()).await;
    }
    Ok(shell::respond(status, page.whole(studio, visit, &form)))
}

async fn act(
    gateway: &Arc<Gateway>,
    studio: &Arc<Studio>,
    visit: &Visit,
    form: &Sent,
    text: &str,
    page: &mut Page,
) -> Result<(), Problem> {
    let on_the_bench = ["legal", "answer", "wait"].iter().any(|name| sent(form, name).is_some());
    let what = if on_the_bench { "try" } else { sent(form, "do").unwrap_or("look") };
    match what {
        "check" | "without" | "stop" | "progress" => {
            page.changed = vec![Part::Checked];
            check(gateway, studio, visit, (form, text, what), page).await
        }
        "open" | "close" | "choose" | "step" | "forget" | "try" => {
            page.changed = vec![Part::Tried];
            try_it(studio, visit, (form, text, what), page).await
        }
        "would" => {
            page.changed = vec![Part::Guard];
            let session = page.session.clone().ok_or_else(gone)?;
            let form = form.clone();
            let guard = beside(move || session.bench().as_ref().map(|bench| bench.guard(&form)));
            page.guard = Some(guard.await?.ok_or_else(gone)?);
            Ok(())
        }
        // what a tab has is shown again after its page was loaded anew
        "resume" => {
            page.changed = vec![Part::Checked, Part::Tried];
            page.bench = shown(page.session.as_ref(), form.clone()).await;
            Ok(())
        }
        _ => {
            page.changed = vec![Part::Told];
            page.compiled = Some(studio.read(text).await?);
            Ok(())
        }
    }
}

/// Something that takes a thread for a while. A defect in it ends with it.
async fn beside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| cannot("it broke off, which is a defect; nothing that is served was touched"))
}

fn gone() -> Problem {
    cannot(format!(
        "the scratch store is gone: it was closed, not used for {} minutes, or the server was started anew. Open \
         another one",
        MOST.idle.as_secs() / 60
    ))
}

async fn shown(session: Option<&Arc<Session>>, form: Sent) -> Option<Html> {
    let session = Arc::clone(session?);
    let shown = beside(move || {
        let mut bench = session.bench();
        bench.as_mut().and_then(|bench| bench.act(&Act::Look, &form).ok())
    });
    shown.await.ok().flatten()
}

impl Page {
    /// The session of the tab; a new one, if it has none.
    fn session(&mut self, studio: &Studio, visit: &Visit) -> Result<Arc<Session>, Problem> {
        if let Some(session) = &self.session {
            return Ok(Arc::clone(session));
        }
        let session = studio.sessions.open(owner(visit), Instant::now(), MOST)?;
        self.session = Some(Arc::clone(&session));
        Ok(session)
    }

    /// The design of the text, or that there is none.
    async fn design(&mut self, studio: &Arc<Studio>, text: &str) -> Result<Design, Problem> {
        let compiled = studio.read(text).await?;
        self.compiled = Some(Arc::clone(&compiled));
        self.changed.push(Part::Told);
        compiled.design.clone().ok_or_else(|| cannot("the text has errors: mend them first"))
    }
}

/// The clause that a form names.
fn clause(design: &Design, name: &str) -> Result<Protection, Problem> {
    let found = said::removable(design).into_iter().find(|(known, _)| known == name);
    let (_, protection) =
        found.ok_or_else(|| cannot(format!("no step of this design has a clause `{name}`")))?;
    Ok(protection)
}

async fn check(
    gateway: &Arc<Gateway>,
    studio: &Arc<Studio>,
    visit: &Visit,
    (form, text, what): (&Sent, &str, &str),
    page: &mut Page,
) -> Result<(), Problem> {
    if what == "stop"
        && let Some(session) = &page.session
    {
        session.stop.store(true, Ordering::Relaxed);
    }
    if matches!(what, "check" | "without") {
        let design = page.design(studio, text).await?;
        let asked = match what {
            "check" => What::Whole,
            _ => {
                let name = sent(form, "clause").unwrap_or_default();
                let protection = clause(&design, name)?;
                let prevents = design.prevented_by(&protection);
                What::Without { name: name.to_string(), protection, prevents }
            }
        };
        let session = page.session(studio, visit)?;
        let most = gateway.settings.checking.unwrap_or_default();
        let number = |name: &str| sent(form, name).and_then(|text| text.parse::<usize>().ok());
        let seconds = number("seconds").map_or(30, |seconds| seconds as u64);
        let budget = Budget {
            states: number("states").unwrap_or(500_000).clamp(1, most.states_max),
            memory: most.memory_bytes_max,
            time: Duration::from_secs(seconds.clamp(1, SECONDS_MAX)),
        };
        checks::begin(gateway, &session, &studio.busy, design, asked, budget)?;
    }
    // most worlds are small, and done at once
    let begun = Instant::now();
    while let Some(session) = &page.session
        && matches!(*session.check(), Check::Running { .. })
        && begun.elapsed() < CHECK_WAIT
    {
        tokio::time::sleep(Duration::from_millis(15)).await;
    }
    Ok(())
}

async fn try_it(
    studio: &Arc<Studio>,
    visit: &Visit,
    (form, text, what): (&Sent, &str, &str),
    page: &mut Page,
) -> Result<(), Problem> {
    if what == "close" {
        if let Some(session) = page.session.take() {
            studio.sessions.close(&session.id, owner(visit));
        }
        return Ok(());
    }
    // what is wrong with the form is told before anything is opened
    Act::of(form)?;
    if what == "open" {
        let mut design = page.design(studio, text).await?;
        let name = sent(form, "bench_without").filter(|name| !name.is_empty());
        if let Some(name) = name {
            let protection = clause(&design, name)?;
            design = design.without(&[protection]).map_err(cannot)?;
        }
        let session = page.session(studio, visit)?;
        let (text, name) = (text.to_string(), name.map(str::to_string));
        let opened = beside(move || {
            let bench = Bench::open(&design, &text, name, Room::default())?;
            *session.bench() = Some(bench);
            Ok::<(), Problem>(())
        });
        opened.await??;
    }
    let session = page.session.clone().ok_or_else(gone)?;
    let its_form = form.clone();
    let acted = beside(move || {
        let mut bench = session.bench();
        let Some(held) = bench.as_mut() else { return Err(gone()) };
        let act = Act::of(&its_form)?;
        // what is left of a store after a defect is not worth looking at
        let acted =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| held.act(&act, &its_form)));
        acted.unwrap_or_else(|_| {
            *bench = None;
            Err(cannot("the scratch store broke off, which is a defect: it is gone"))
        })
    });
    match acted.await? {
        Ok(shown) => {
            page.bench = Some(shown);
            Ok(())
        }
        Err(problem) => {
            page.bench = shown(page.session.as_ref(), form.clone()).await;
            Err(problem)
        }
    }
}

/// The names of what is served, to begin with.
fn served(gateway: &Gateway) -> Vec<Arc<Service>> {
    gateway.services().collect()
}
