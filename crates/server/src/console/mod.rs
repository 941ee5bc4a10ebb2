//! The console: pages for people, under `/console`. Each is written whole by the server; scripts
//! only make them livelier.

mod answer;
mod assets;
mod call;
mod check;
mod design_page;
mod feed;
mod fields;
mod hot;
pub(crate) mod html;
mod live;
mod load;
mod look;
mod outbox;
mod overview;
mod pulse;
mod record;
mod records;
mod refusals;
mod repairs;
mod seen;
mod session;
mod shell;
mod step;
mod steps;
mod trouble;
mod units;
mod value;
mod verdict;
mod views;
mod visit;

pub use seen::{DEAD, Seen};

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{Method, Request, Response, StatusCode};
use axum::response::IntoResponse;
use axum::routing::any;

use crate::app::App;
use crate::body;
use crate::checking;
use crate::path;
use crate::problem::Problem;
use crate::routes::step::unknown;
use fields::Sent;
use html::{Html, html};
use visit::Visit;

pub fn routes() -> Router<Arc<App>> {
    Router::new().route("/console", any(answer)).route("/console/{*rest}", any(answer))
}

const SECOND: Duration = Duration::from_secs(1);

/// Looks at the counters of every design once a second, until the server stops.
pub async fn watch(app: Arc<App>) {
    let mut beat = tokio::time::interval(SECOND);
    beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            _ = beat.tick() => {}
            () = app.stopped() => return,
        }
        let app = Arc::clone(&app);
        let looked = tokio::task::spawn_blocking(move || {
            for service in app.services() {
                service.console.look(&service.runtime, service.within());
            }
        });
        if looked.await.is_err() {
            return;
        }
    }
}

async fn answer(State(app): State<Arc<App>>, request: Request<Body>) -> Response<Body> {
    let (request, sent) = request.into_parts();
    let part = request.headers.contains_key("steadfast-part");
    match Visit::of(&app, &request) {
        Ok(visit) => {
            let visit = Arc::new(visit);
            match dispatch(&app, &visit, &request, sent).await {
                Ok(response) => response,
                Err(problem) => tell(&app, &visit, &request, &problem),
            }
        }
        Err(why) => match stranger(&app, &request, sent, why).await {
            Ok(response) => response,
            Err(problem) if part => shell::respond(problem.status, trouble::note(&problem)),
            Err(problem) => problem.into_response(),
        },
    }
}

/// What went wrong, on the page where it did or in the part of one that was asked for.
fn tell(app: &App, visit: &Visit, request: &Parts, problem: &Problem) -> Response<Body> {
    let note = trouble::note(problem);
    if visit.part {
        return shell::respond(problem.status, note);
    }
    let parts = console_path(request).unwrap_or_default();
    let service = parts.first().and_then(|name| app.service(name).ok());
    let mut page = Html::new();
    html!(
        page,
        "<h1>{}</h1>{}",
        if problem.status.as_u16() == 404 { "Not here" } else { "Not done" },
        note
    );
    let page = match service {
        Some(service) => {
            let tab = shell::Tab::of(parts.get(1).map_or("", String::as_str));
            shell::of_design(visit, service, tab, &problem.title, &page)
        }
        None => {
            html!(page, "<p><a href=\"/console\">All designs</a></p>");
            shell::alone(visit, &problem.title, &page)
        }
    };
    shell::respond(problem.status, page)
}

/// Someone whose token is missing or no good: shown how to sign in, and nothing else.
async fn stranger(
    app: &Arc<App>,
    request: &Parts,
    sent: Body,
    why: Problem,
) -> Result<Response<Body>, Problem> {
    if why.status != StatusCode::UNAUTHORIZED {
        return Err(why);
    }
    let parts = console_path(request)?;
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    match parts[..] {
        ["_", "assets", name] => asset(name, request),
        ["_", "sign-in"] if request.method == Method::POST => {
            let form = form(app, request, sent).await?;
            session::sign_in(app, request, &form)
        }
        ["_", "sign-out"] if request.method == Method::POST => Ok(session::sign_out()),
        _ => {
            let had = visit::cookie(&request.headers, visit::TOKEN).is_some();
            session::ask(app, request, had.then_some(&why))
        }
    }
}

/// What follows `/console`, part by part.
fn console_path(request: &Parts) -> Result<Vec<String>, Problem> {
    let path = request.uri.path();
    let rest = path.strip_prefix("/console").unwrap_or_default().trim_matches('/');
    if rest.is_empty() { Ok(Vec::new()) } else { path::parts(rest) }
}

/// The fields of a form that this console sent.
async fn form(app: &Arc<App>, request: &Parts, sent: Body) -> Result<Sent, Problem> {
    visit::same_origin(&request.headers)?;
    let bytes = body::read(sent, app.limits()).await?;
    let text =
        std::str::from_utf8(&bytes).map_err(|_| Problem::malformed("the form is no text"))?;
    path::query(text)
}

fn asset(name: &str, request: &Parts) -> Result<Response<Body>, Problem> {
    assets::get(name, &request.headers)
        .ok_or_else(|| Problem::unknown(format!("no asset `{name}`")))
}

fn shown(page: Html) -> Response<Body> {
    shell::respond(StatusCode::OK, page)
}

async fn dispatch(
    app: &Arc<App>,
    visit: &Arc<Visit>,
    request: &Parts,
    sent: Body,
) -> Result<Response<Body>, Problem> {
    let parts = console_path(request)?;
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    match request.method {
        Method::GET | Method::HEAD => get(app, visit, &parts, request).await,
        Method::POST => {
            let form = form(app, request, sent).await?;
            post(app, visit, &parts, request, form).await
        }
        _ => Err(Problem::method("GET, HEAD, POST")),
    }
}

async fn get(
    app: &Arc<App>,
    visit: &Arc<Visit>,
    parts: &[&str],
    request: &Parts,
) -> Result<Response<Body>, Problem> {
    match parts {
        [] => return Ok(shown(overview::page(visit))),
        ["_", "assets", name] => return asset(name, request),
        ["_", "overview"] => {
            let visit = Arc::clone(visit);
            return replaced(app, move || overview::cards(&visit));
        }
        ["_", ..] => return Err(nothing()),
        _ => {}
    }
    let service = app.service(parts[0])?;
    Ok(shown(match &parts[1..] {
        [] => design_page::page(visit, service),
        ["records"] => records::page(visit, service).await?,
        ["records", subject] => records::of_subject(visit, service, subject).await?,
        ["record", subject] => record::page(visit, service, subject).await?,
        ["steps"] => steps::page(visit, service),
        ["step" | "would", actor, operation] => {
            let call = service.call(actor, operation);
            let call = call.ok_or_else(|| unknown(service, actor, operation))?;
            let asked = visit.query.iter().any(|(name, _)| name.starts_with("p."));
            let form = fields::suggested(service.design(), service.operation(call), &visit.query);
            let mut given = step::Shown { form, ..step::Shown::default() };
            if asked {
                given.guard = Some(call::thought(visit, service, call, &given.form).0);
            }
            step::page(visit, service, call, given).await
        }
        ["feed"] => feed::page(visit, service).await?,
        ["feed", "events"] => {
            return feed::events(Arc::clone(visit), Arc::clone(service), &request.headers);
        }
        ["views"] => views::page(visit, service),
        ["views", view] => views::one(visit, service, view).await?,
        ["outbox"] => outbox::page(visit, service)?,
        ["repairs"] => repairs::page(visit, service).await?,
        ["refusals"] => refusals::page(visit, service),
        ["load"] => load::page(visit, service),
        ["load", "events"] => {
            let service = Arc::clone(service);
            return replaced(app, move || load::plots(&service));
        }
        ["hot"] => hot::page(visit, service).await,
        ["check"] => check::page(visit, service),
        ["check", "events"] => {
            let (its_app, service) = (Arc::clone(app), Arc::clone(service));
            return replaced(app, move || check::now(&its_app, &service));
        }
        _ => return Err(nothing()),
    }))
}

async fn post(
    app: &Arc<App>,
    visit: &Arc<Visit>,
    parts: &[&str],
    request: &Parts,
    form: Sent,
) -> Result<Response<Body>, Problem> {
    match parts {
        ["_", "theme"] => return Ok(session::theme(request, &form)),
        ["_", "who"] => return Ok(session::who(&form)),
        ["_", "sign-in"] => return session::sign_in(app, request, &form),
        ["_", "sign-out"] => return Ok(session::sign_out()),
        [] | ["_", ..] => return Err(nothing()),
        _ => {}
    }
    let service = app.service(parts[0])?;
    match &parts[1..] {
        [what @ ("step" | "would"), actor, operation] => {
            let call = service.call(actor, operation);
            let call = call.ok_or_else(|| unknown(service, actor, operation))?;
            match *what {
                "would" => call::would(visit, service, call, form).await,
                _ => call::post(visit, service, call, form).await,
            }
        }
        ["outbox", "retry"] => outbox::retry(visit, service, &form).await,
        ["check"] => {
            look::may_operate(visit)?;
            checking::begin(app, service);
            let place = value::Place { name: &service.name, design: service.design() };
            Ok(session::go(&place.at("/check")))
        }
        _ => Err(nothing()),
    }
}

fn nothing() -> Problem {
    Problem::unknown("the console has no such page")
}

/// The same part of a page anew every second, as long as it changes.
fn replaced(
    app: &Arc<App>,
    part: impl Fn() -> Html + Send + Sync + 'static,
) -> Result<Response<Body>, Problem> {
    let part = Arc::new(part);
    live::stream(Arc::clone(app), SECOND, String::new(), move |last: String| {
        let part = Arc::clone(&part);
        async move {
            let now = part();
            if now.as_str() == last {
                return Some((String::new(), last));
            }
            let text = live::event("replace", None, &now);
            Some((text, now.into_string()))
        }
    })
}
