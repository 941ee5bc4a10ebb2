//! Designs are checked beside the serving threads: at the start those whose verdict is not known,
//! later those that somebody asks for. One at a time, on one thread, at half speed and within a
//! budget, so that callers do not feel it. A check is given up when its version is replaced or the
//! server stops: the next version would wait for a verdict that nobody needs.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use model_checker::{Options, Report, Word};

use crate::check_state::Checking;
use crate::gateway::Gateway;
use crate::service::Service;

/// A check rests at most so long at a time.
const REST_MAX: Duration = Duration::from_millis(250);

/// Checks every design whose verdict is not known, one after the other.
pub fn unknown_ones(gateway: &Arc<Gateway>) {
    let services: Vec<Arc<Service>> =
        gateway.services().filter(|service| service.word().is_none()).collect();
    if services.is_empty() {
        return;
    }
    let checked = Arc::clone(gateway);
    let run = move || services.iter().filter(|it| claim(it)).for_each(|it| run(&checked, it));
    // without the thread, the console still says that they are not checked
    let _ = std::thread::Builder::new().name("check".into()).spawn(run);
}

/// Begins, unless it runs or is done.
pub fn begin(gateway: &Arc<Gateway>, service: &Arc<Service>) {
    if !claim(service) {
        return;
    }
    let (its_gateway, checked) = (Arc::clone(gateway), Arc::clone(service));
    let run = move || run(&its_gateway, &checked);
    if let Err(error) = std::thread::Builder::new().name("check".into()).spawn(run) {
        *service.checking() = Checking::Failed(error.to_string());
    }
}

/// True: it was not running, and is ours to run.
fn claim(service: &Service) -> bool {
    let mut checking = service.checking();
    if matches!(*checking, Checking::Running { .. } | Checking::Done(_)) {
        return false;
    }
    *checking = Checking::Running { arm: "as written".into(), states: 0 };
    true
}

fn run(gateway: &Gateway, service: &Service) {
    let _one_at_a_time = gateway.checking.lock().unwrap_or_else(PoisonError::into_inner);
    // a defect of the checker must not leave the design as being checked for ever
    let checked = std::panic::catch_unwind(AssertUnwindSafe(|| check(gateway, service)));
    let checked = match checked {
        Ok(checked) => checked,
        Err(thrown) if thrown.is::<GivenUp>() => {
            *service.checking() = Checking::NotAsked;
            return;
        }
        Err(_) => Err("the checker broke off, which is a defect".into()),
    };
    let (word, outcome) = match checked {
        Ok(report) => (report.word(), Checking::Done(Arc::new(report))),
        Err(why) => (Word::NotKnown { why: why.clone() }, Checking::Failed(why)),
    };
    *service.checking() = outcome;
    service.learn(word.clone());
    if let Some(admin) = &gateway.settings.admin {
        admin.0.checked(service, &word);
    }
}

/// What a check is unwound with when nobody needs its verdict any more. The search has no way to be
/// stopped from outside; unwinding from its progress callback leaves nothing behind.
struct GivenUp;

/// Whether the verdict on this version still matters.
fn is_wanted(gateway: &Gateway, service: &Service) -> bool {
    let current = gateway.service(&service.name);
    !gateway.is_stopping() && current.is_ok_and(|current| std::ptr::eq(&*current, service))
}

fn check(gateway: &Gateway, service: &Service) -> Result<Report, String> {
    if !service.design().world.written {
        return Err(NO_WORLD.into());
    }
    let budget = gateway.settings.checking.unwrap_or_default();
    let give_up_unless_wanted = || {
        if !is_wanted(gateway, service) {
            // not `panic!`: nothing is wrong, so the panic hook has nothing to print
            std::panic::resume_unwind(Box::new(GivenUp));
        }
    };
    give_up_unless_wanted();
    let options = Options {
        max_states: budget.states_max,
        max_memory: budget.memory_bytes_max,
        threads: 1,
        ..Options::default()
    };
    let mut worked_since = Instant::now();
    let report = model_checker::check(service.design(), &options, &mut |progress| {
        *service.checking() =
            Checking::Running { arm: progress.arm.clone(), states: progress.states };
        give_up_unless_wanted();
        std::thread::sleep(worked_since.elapsed().min(REST_MAX));
        worked_since = Instant::now();
    });
    report.map_err(|error| error.to_string())
}

/// Why nothing is known of a design without a `check`.
pub const NO_WORLD: &str = "there is no `check`, so nothing was explored";
