//! The frame around every page.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use axum::http::{Response, StatusCode};

use crate::html::{Html, html};
use crate::look;
use crate::value::Place;
use crate::verdict;
use crate::visit::Visit;
use gateway::Service;

/// The pages of a design, in the order of the menu.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    Design,
    Records,
    Steps,
    Feed,
    Views,
    Outbox,
    Repairs,
    Aside,
    Refusals,
    Load,
    Hot,
    Check,
}

const TABS: [(Tab, &str, &str); 12] = [
    (Tab::Design, "", "Design"),
    (Tab::Records, "/records", "Records"),
    (Tab::Steps, "/steps", "Steps"),
    (Tab::Feed, "/feed", "Feed"),
    (Tab::Views, "/views", "Views"),
    (Tab::Outbox, "/outbox", "Outbox"),
    (Tab::Repairs, "/repairs", "Repairs"),
    (Tab::Aside, "/aside", "Set aside"),
    (Tab::Refusals, "/refusals", "Refusals"),
    (Tab::Load, "/load", "Load"),
    (Tab::Hot, "/hot", "Hot keys"),
    (Tab::Check, "/check", "Check"),
];

impl Tab {
    /// The page whose address begins like this.
    pub fn of(part: &str) -> Tab {
        let path = match part {
            "record" => "/records".to_string(),
            "step" | "would" => "/steps".to_string(),
            other => format!("/{other}"),
        };
        TABS.iter().find(|(_, known, _)| *known == path).map_or(Tab::Design, |(tab, ..)| *tab)
    }
}

const MARK: &str = "<svg viewBox=\"0 0 20 20\" aria-hidden=\"true\"><path fill=\"none\" \
    stroke=\"currentColor\" stroke-width=\"2\" stroke-linejoin=\"round\" d=\"M10 1.8 17 4.6v5c0 4.3-2.9 \
    7.2-7 8.7-4.1-1.5-7-4.4-7-8.7v-5z\"/><path fill=\"none\" stroke=\"currentColor\" stroke-width=\"2\" \
    stroke-linecap=\"round\" stroke-linejoin=\"round\" d=\"m6.8 10 2.3 2.3 4.2-4.6\"/></svg>";
const SUN: &str = "<svg viewBox=\"0 0 20 20\" aria-hidden=\"true\"><path fill=\"none\" \
    stroke=\"currentColor\" stroke-width=\"1.7\" d=\"M10 2.5a7.5 7.5 0 1 0 0 15z\"/><circle cx=\"10\" \
    cy=\"10\" r=\"7.5\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.7\"/><path \
    fill=\"currentColor\" d=\"M10 2.5a7.5 7.5 0 0 1 0 15z\"/></svg>";

/// Nothing from elsewhere, nothing inline: what a record is called can be no script.
const POLICY: &str = "default-src 'self'; base-uri 'none'; form-action 'self'; \
    frame-ancestors 'none'; object-src 'none'";

/// A page of one design.
pub fn of_design(visit: &Visit, service: &Service, tab: Tab, title: &str, body: &Html) -> Html {
    frame(visit, Some((service, tab)), title, body)
}

/// A page of no design.
pub fn alone(visit: &Visit, title: &str, body: &Html) -> Html {
    frame(visit, None, title, body)
}

fn frame(visit: &Visit, of: Option<(&Service, Tab)>, title: &str, body: &Html) -> Html {
    let mut page = Html::new();
    html!(page, "<!doctype html>\n<html lang=\"en\"");
    if let Some(theme) = visit.theme {
        html!(page, " data-theme=\"{}\"", theme);
    }
    html!(
        page,
        "><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, \
         initial-scale=1\"><title>{}{}Steadfast</title>\
         <link rel=\"icon\" href=\"/console/_/assets/icon.svg\">\
         <link rel=\"stylesheet\" href=\"/console/_/assets/console.css\">\
         <link rel=\"stylesheet\" href=\"/console/_/assets/drawn.css\">\
         <script src=\"/console/_/assets/console.js\" defer></script></head><body>\
         <a class=\"skip\" href=\"#content\">Skip to the content</a><header class=\"top\">\
         <a class=\"brand\" href=\"/console\">{} Steadfast</a>",
        title,
        if title.is_empty() { "" } else { " \u{b7} " },
        Html::trusted(MARK.into())
    );
    if let Some((service, _)) = of {
        let home = Place { name: &service.name, design: service.design() }.at("");
        html!(
            page,
            "<span class=\"at\">/ <a href=\"{}\">{}</a></span>{}",
            home,
            service.design().name,
            verdict::tag(service)
        );
    }
    html!(page, "<span class=\"spring\"></span>");
    if look::may_operate(visit).is_ok() && !visit.caller.principal.is_empty() {
        html!(page, "<a class=\"quiet\" href=\"/console/_/studio\">Studio</a>");
    }
    visit.who(&mut page);
    html!(
        page,
        "<form method=\"post\" action=\"/console/_/theme\" data-theme-switch>\
         <input type=\"hidden\" name=\"back\" value=\"{}\">\
         <button class=\"quiet\" title=\"Light or dark\">{}<span class=\"hidden\">Light or \
         dark</span></button></form></header>",
        visit.address,
        Html::trusted(SUN.into())
    );
    match of {
        None => html!(page, "<div class=\"frame alone\">"),
        Some((service, tab)) => {
            html!(page, "<div class=\"frame\">");
            menu(&mut page, visit, service, tab);
        }
    }
    let banner = of.map_or_else(Html::new, |(service, _)| verdict::banner(service));
    html!(
        page,
        "<main id=\"content\" tabindex=\"-1\">{}{}</main></div></body></html>\n",
        banner,
        body
    );
    page
}

fn menu(page: &mut Html, visit: &Visit, service: &Service, open: Tab) {
    let place = Place { name: &service.name, design: service.design() };
    html!(page, "<nav class=\"side\" aria-label=\"Pages of this design\"><ul>");
    let operates = look::may_operate(visit).is_ok();
    for (tab, path, label) in TABS {
        // for operators alone
        if !operates && matches!(tab, Tab::Outbox | Tab::Aside) {
            continue;
        }
        html!(page, "<li><a href=\"{}\"", place.at(path));
        if tab == open {
            html!(page, " aria-current=\"page\"");
        }
        html!(page, ">{}", label);
        let count = visit.badge(service, tab);
        if count > 0 {
            html!(page, "<span class=\"count\">{}</span>", count);
        }
        html!(page, "</a></li>");
    }
    html!(page, "</ul></nav>");
}

/// A page, or a part of one, as an answer.
pub fn respond(status: StatusCode, page: Html) -> Response<Body> {
    let mut response = Response::new(Body::from(page.into_string()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    guarded(&mut response);
    response
}

/// What every answer of the console carries.
pub fn guarded(response: &mut Response<Body>) {
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        response
            .headers_mut()
            .insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
}
