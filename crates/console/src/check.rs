//! The check of a design: what is known, and the report of one that was run here, told as it goes.

use std::sync::Arc;

use model_checker::render::{self, Checked};

use crate::html::{Html, html};
use crate::shell::{self, Tab};
use crate::units::count;
use crate::value::Place;
use crate::visit::Visit;
use gateway::{Checking, Gateway, Service};

pub fn page(visit: &Visit, service: &Service) -> Html {
    let place = Place { name: &service.name, design: service.design() };
    let mut page = Html::new();
    html!(
        page,
        "<h1>Check</h1><p class=\"lead\">Every order of events in a small world, with the faults that \
         the design names. A promise is proved there, or broken by the shortest story that breaks \
         it; each failure is shown to come back once its protection is taken away.</p>"
    );
    page.add(crate::verdict::whole(service));
    let running = matches!(*service.checking(), Checking::Running { .. });
    if running {
        html!(
            page,
            "<p><span class=\"live\" id=\"said\">working</span></p><div data-live=\"{}\" \
             data-said=\"said\">{}</div><noscript><p><a href=\"{}\">Look again</a></p></noscript>",
            place.at("/check/events"),
            now(&visit.gateway, service),
            place.at("/check")
        );
    } else {
        page.add(now(&visit.gateway, service));
    }
    shell::of_design(visit, service, Tab::Check, "Check", &page)
}

/// How it stands: the part of the page that changes.
pub fn now(gateway: &Gateway, service: &Service) -> Html {
    let states_max = gateway.settings.checking.unwrap_or_default().states_max;
    let place = Place { name: &service.name, design: service.design() };
    let mut page = Html::new();
    let report = match &*service.checking() {
        Checking::NotAsked => {
            html!(
                page,
                "<div class=\"empty\"><p>Nothing was checked here since the server started. A check runs beside the server, on one \
                 thread, with at most {} states; <code>steadfast check</code> takes larger \
                 budgets.</p><form method=\"post\" action=\"{}\"><button class=\"button\">Check \
                 this design</button></form></div>",
                count(states_max as f64),
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
