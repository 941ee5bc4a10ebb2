//! A check of the studio: beside the server, on one thread, at half speed, within a budget of states and seconds. One at
//! a time; it ends when somebody says so, when its time is over, or when the server stops.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use design::model::{Design, Protection};
use gateway::{Gateway, NO_WORLD, Problem, kinds};
use model_checker::{Options, Progress, Report, TakenAway, Trace};

use super::sessions::Session;

/// A check rests at most so long at a time.
const REST_MAX: Duration = Duration::from_millis(250);
pub const SECONDS_MAX: u64 = 120;

/// What is to be found out.
#[derive(Clone)]
pub enum What {
    /// the goals as written, and each failure both ways
    Whole,
    /// which goal breaks without this
    Without { name: String, protection: Protection, prevents: Vec<String> },
}

/// What one check may use up.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    pub states: usize,
    pub memory: usize,
    pub time: Duration,
}

/// A goal that was found to break before everything was looked at.
pub type Early = (String, Trace);

#[derive(Clone, Default)]
pub enum Check {
    #[default]
    NotAsked,
    Running {
        arm: String,
        states: u64,
        since: Instant,
        time: Duration,
        early: Vec<Early>,
    },
    Done(Arc<Outcome>),
}

pub struct Outcome {
    pub name: String,
    pub title: String,
    pub what: What,
    pub seconds: f64,
    pub came: Came,
}

pub enum Came {
    Report(Box<Report>),
    TakenAway(TakenAway),
    /// it ended before it was done
    Ended {
        why: Why,
        arm: String,
        states: u64,
        early: Vec<Early>,
    },
    /// it cannot be explored
    Failed(String),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    Stopped,
    OutOfTime,
}

/// What the search is unwound with: it has no other way to be ended from outside, and nothing is left behind.
struct GivenUp(Why);

/// The one place for a check; free again when it is dropped.
struct Place(Arc<AtomicBool>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Begins, unless another one is under way.
pub fn begin(
    gateway: &Arc<Gateway>,
    session: &Arc<Session>,
    busy: &Arc<AtomicBool>,
    design: Design,
    what: What,
    budget: Budget,
) -> Result<(), Problem> {
    if busy.swap(true, Ordering::AcqRel) {
        return Err(Problem::new(
            &kinds::CANNOT,
            format!(
                "a check of the studio is under way on this server, and there is one at a time. It ends within \
                 {SECONDS_MAX} seconds: try again then"
            ),
        ));
    }
    let place = Place(Arc::clone(busy));
    session.stop.store(false, Ordering::Relaxed);
    let since = Instant::now();
    *session.check() = Check::Running {
        arm: String::new(),
        states: 0,
        since,
        time: budget.time,
        early: Vec::new(),
    };
    let (its_gateway, its_session) = (Arc::clone(gateway), Arc::clone(session));
    let run = move || {
        let _place = place;
        let (name, title) = (design.name.clone(), design.title.clone());
        let came = run(&its_gateway, &its_session, &design, &what, budget, since);
        let seconds = since.elapsed().as_secs_f64();
        let outcome = Outcome { name, title, what, seconds, came };
        *its_session.check() = Check::Done(Arc::new(outcome));
    };
    if let Err(error) = std::thread::Builder::new().name("studio-check".into()).spawn(run) {
        *session.check() = Check::NotAsked;
        return Err(Problem::new(&kinds::CANNOT, format!("no thread for a check: {error}")));
    }
    Ok(())
}

fn run(
    gateway: &Gateway,
    session: &Session,
    design: &Design,
    what: &What,
    budget: Budget,
    since: Instant,
) -> Came {
    if !design.world.written {
        return Came::Failed(NO_WORLD.into());
    }
    let options = Options {
        max_states: budget.states,
        max_memory: budget.memory,
        threads: 1,
        ..Options::default()
    };
    let mut worked_since = Instant::now();
    let mut watch = |progress: &Progress| {
        if let Check::Running { arm, states, early, .. } = &mut *session.check() {
            arm.clone_from(&progress.arm);
            *states = progress.states;
            if let Some(found) = &progress.violated {
                early.push(found.clone());
            }
        }
        let why = match since.elapsed() > budget.time {
            true => Some(Why::OutOfTime),
            false => (session.stop.load(Ordering::Relaxed) || gateway.is_stopping())
                .then_some(Why::Stopped),
        };
        if let Some(why) = why {
            // not `panic!`: nothing is wrong, so the panic hook has nothing to print
            std::panic::resume_unwind(Box::new(GivenUp(why)));
        }
        std::thread::sleep(worked_since.elapsed().min(REST_MAX));
        worked_since = Instant::now();
    };
    let explored = std::panic::catch_unwind(AssertUnwindSafe(|| match what {
        What::Whole => model_checker::check(design, &options, &mut watch)
            .map(|report| Came::Report(Box::new(report))),
        What::Without { protection, .. } => {
            let protections = std::slice::from_ref(protection);
            model_checker::taken_away(design, protections, &options, &mut watch)
                .map(Came::TakenAway)
        }
    }));
    match explored {
        Ok(Ok(came)) => came,
        Ok(Err(error)) => Came::Failed(error.to_string()),
        Err(thrown) => match thrown.downcast::<GivenUp>() {
            Ok(given_up) => match session.check().clone() {
                Check::Running { arm, states, early, .. } => {
                    Came::Ended { why: given_up.0, arm, states, early }
                }
                _ => Came::Failed("it was ended".into()),
            },
            Err(_) => Came::Failed("the checker broke off, which is a defect".into()),
        },
    }
}
