//! The check of a design: run beside the serving threads when someone asks, told as it goes, and
//! kept.

use std::sync::Arc;

use model_checker::render::{self, Checked};
use model_checker::{Options, Report};

use super::html::{Html, html};
use super::plot::count;
use super::shell::{self, Tab};
use super::value::Place;
use super::visit::Visit;
use crate::service::Service;

/// One thread and a budget that a server does not feel.
const STATES_MAX: usize = 2_000_000;
const MEMORY_MAX: usize = 256 << 20;

/// How far the check has come.
#[derive(Default)]
pub enum Checking {
    #[default]
    NotAsked,
    Running {
        arm: String,
        states: u64,
    },
    Done(Arc<Report>),
    /// its world cannot be explored
    Failed(String),
}

/// Begins, unless it runs or is done.
pub fn begin(service: &Arc<Service>) {
    {
        let mut checking = service.console.checking();
        if matches!(*checking, Checking::Running { .. } | Checking::Done(_)) {
            return;
        }
        *checking = Checking::Running { arm: "as written".into(), states: 0 };
    }
    let checked = Arc::clone(service);
    let spawned =
        std::thread::Builder::new().name("console-check".into()).spawn(move || run(&checked));
    if let Err(error) = spawned {
        *service.console.checking() = Checking::Failed(error.to_string());
    }
}

fn run(service: &Service) {
    let options = Options {
        max_states: STATES_MAX,
        max_memory: MEMORY_MAX,
        threads: 1,
        ..Options::default()
    };
    let outcome = model_checker::check(service.design(), &options, &mut |progress| {
        *service.console.checking() =
            Checking::Running { arm: progress.arm.clone(), states: progress.states };
    });
    *service.console.checking() = match outcome {
        Ok(report) => Checking::Done(Arc::new(report)),
        Err(error) => Checking::Failed(error.to_string()),
    };
}

pub fn page(visit: &Visit, service: &Service) -> Html {
    let place = Place { name: &service.name, design: service.design() };
    let mut page = Html::new();
    html!(
        page,
        "<h1>Check</h1><p class=\"lead\">Every order of events in a small world, with the faults that \
         the design names. A promise is proved there, or broken by the shortest story that breaks \
         it; each failure is shown to come back once its protection is taken away.</p>"
    );
    let running = matches!(*service.console.checking(), Checking::Running { .. });
    if running {
        html!(
            page,
            "<p><span class=\"live\" id=\"said\">working</span></p><div data-live=\"{}\" \
             data-said=\"said\">{}</div><noscript><p><a href=\"{}\">Look again</a></p></noscript>",
            place.at("/check/events"),
            now(service),
            place.at("/check")
        );
    } else {
        page.add(now(service));
    }
    shell::of_design(visit, service, Tab::Check, "Check", &page)
}

/// How it stands: the part of the page that changes.
pub fn now(service: &Service) -> Html {
    let place = Place { name: &service.name, design: service.design() };
    let mut page = Html::new();
    let report = match &*service.console.checking() {
        Checking::NotAsked => {
            html!(
                page,
                "<div class=\"empty\"><p>Not checked here yet. It runs beside the server, on one \
                 thread, with at most {} states; <code>steadfast check</code> takes larger \
                 budgets.</p><form method=\"post\" action=\"{}\"><button class=\"button\">Check \
                 this design</button></form></div>",
                count(STATES_MAX as f64),
                place.at("/check")
            );
            return page;
        }
        Checking::Running { arm, states } => {
            html!(
                page,
                "<div class=\"note\"><p><strong>Exploring</strong> <code>{}</code>: {} states so \
                 far.</p></div>",
                arm,
                count(*states as f64)
            );
            return page;
        }
        Checking::Failed(why) => {
            html!(
                page,
                "<div class=\"note bad\"><h2>It cannot be checked</h2><p>{}</p></div>",
                why
            );
            return page;
        }
        Checking::Done(report) => Arc::clone(report),
    };
    let title = &service.design().title;
    let part = render::part(&Checked { name: &service.name, title, report: &report });
    html!(page, "<div class=\"report\">{}</div>", Html::trusted(part));
    page
}
