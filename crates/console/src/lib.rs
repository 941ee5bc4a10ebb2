//! The console: pages for people, under `/console` and at `/` for a browser, over the gateway, what `explain` derives and the
//! verdicts that are kept. Each is written whole by the server; scripts only make them livelier.

mod answer;
mod apps;
mod aside;
mod assets;
mod call;
mod check;
mod design_page;
mod feed;
mod fields;
mod find;
mod front;
mod hot;
mod html;
mod live;
mod load;
mod look;
mod outbox;
mod overview;
mod prose;
mod pulse;
mod record;
mod records;
mod refusals;
mod repairs;
mod seen;
mod servers;
mod session;
mod shelf;
mod shell;
mod step;
mod steps;
mod studio;
mod trouble;
mod units;
mod used;
mod value;
mod verdict;
mod views;
mod visit;

use seen::Seen;
use studio::Studio;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{Method, Request, Response, StatusCode};
use axum::routing::{any, get as get_route};
use axum::{Extension, Router};

use fields::Sent;
use gateway::Gateway;
use html::{Html, html};
use server::body;
use server::path;
use server::problem::{OverHttp as _, Problem, not_allowed};
use server::{MakePages, Pages};
use visit::Visit;

pub use apps::{Apps, Files};
pub use find::{Finder, Suggestion};
pub use shelf::{Listed, NoTexts, Shelf, Texts};

/// The same, with a first page that also says which archetype a problem is, a studio that has the catalog, and the pages that
/// designs have for those who use them.
pub fn pages_with(finder: Finder, shelf: Shelf, apps: Apps) -> MakePages<'static> {
    Box::new(move |gateway| {
        let pages = made(gateway, Some(shelf.0));
        let router = pages.router.layer(Extension(finder)).layer(Extension(apps.clone()));
        Pages { router: router.merge(apps::router(&apps)), beside: pages.beside }
    })
}

/// The pages, for a server that is told of them when it starts.
pub fn pages(gateway: &Arc<Gateway>) -> Pages {
    made(gateway, None)
}

fn made(gateway: &Arc<Gateway>, texts: Option<Arc<dyn Texts>>) -> Pages {
    let studio = Arc::new(Studio::new(texts));
    let router = Router::new()
        .route("/", get_route(front::get).fallback(front::only_get))
        .route("/console", any(answer))
        .route("/console/", any(answer))
        .route("/console/{*rest}", any(answer));
    let router = router.layer(Extension(Arc::clone(&studio))).with_state(Arc::clone(gateway));
    Pages { router, beside: Box::pin(watch(Arc::clone(gateway), studio)) }
}

const SECOND: Duration = Duration::from_secs(1);

/// Looks at the counters of every design once a second, until the server stops.
async fn watch(gateway: Arc<Gateway>, studio: Arc<Studio>) {
    let mut beat = tokio::time::interval(SECOND);
    beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            _ = beat.tick() => {}
            () = gateway.stopped() => return,
        }
        studio.tidy();
        let gateway = Arc::clone(&gateway);
        let looked = tokio::task::spawn_blocking(move || {
            for service in gateway.services() {
                service.kept::<Seen>().look(&service.runtime, service.within());
            }
        });
        if looked.await.is_err() {
            return;
        }
    }
}

async fn answer(State(gateway): State<Arc<Gateway>>, request: Request<Body>) -> Response<Body> {
    let (request, sent) = request.into_parts();
    let part = request.headers.contains_key("steadfast-part");
    match Visit::of(&gateway, &request) {
        Ok(visit) => {
            let visit = Arc::new(visit);
            match dispatch(&gateway, &visit, &request, sent).await {
                Ok(response) => response,
                Err(problem) => tell(&gateway, &visit, &request, &problem),
            }
        }
        Err(why) => match stranger(&gateway, &request, sent, why).await {
            Ok(response) => response,
            Err(problem) if part => shell::respond(problem.status(), trouble::note(&problem)),
            Err(problem) => problem.into_response(),
        },
    }
}

/// What went wrong, on the page where it did or in the part of one that was asked for.
fn tell(gateway: &Gateway, visit: &Visit, request: &Parts, problem: &Problem) -> Response<Body> {
    let note = trouble::note(problem);
    if visit.part {
        return shell::respond(problem.status(), note);
    }
    let parts = console_path(request).unwrap_or_default();
    let service = parts.first().and_then(|name| gateway.service(name).ok());
    let mut page = Html::new();
    let heading = match problem.status().as_u16() {
        404 => "Not here",
        403 if request.method == Method::GET => "Not for your role",
        _ => "Not done",
    };
    html!(page, "<h1>{}</h1>{}", heading, note);
    let page = match service {
        Some(service) => {
            let tab = shell::Tab::of(parts.get(1).map_or("", String::as_str));
            shell::of_design(visit, &service, tab, &problem.title, &page)
        }
        None => {
            html!(page, "<p><a href=\"/console\">All designs</a></p>");
            shell::alone(visit, &problem.title, &page)
        }
    };
    shell::respond(problem.status(), page)
}

/// Someone whose token is missing or no good: shown how to sign in, and nothing else.
async fn stranger(
    gateway: &Arc<Gateway>,
    request: &Parts,
    sent: Body,
    why: Problem,
) -> Result<Response<Body>, Problem> {
    if why.status() != StatusCode::UNAUTHORIZED {
        return Err(why);
    }
    let parts = console_path(request)?;
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    match parts[..] {
        ["_", "assets", name] => asset(name, request),
        ["_", "sign-in"] if request.method == Method::POST => {
            let form = form(gateway, request, sent).await?;
            session::sign_in(gateway, request, &form)
        }
        ["_", "sign-out"] if request.method == Method::POST => Ok(session::sign_out()),
        _ => {
            let had = visit::cookie(&request.headers, visit::TOKEN).is_some();
            session::ask(gateway, request, had.then_some(&why))
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
async fn form(gateway: &Arc<Gateway>, request: &Parts, sent: Body) -> Result<Sent, Problem> {
    visit::same_origin(&request.headers)?;
    let bytes = body::read(sent, gateway).await?;
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
    gateway: &Arc<Gateway>,
    visit: &Arc<Visit>,
    request: &Parts,
    sent: Body,
) -> Result<Response<Body>, Problem> {
    let parts = console_path(request)?;
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    match request.method {
        Method::GET | Method::HEAD => get(gateway, visit, &parts, request).await,
        Method::POST => {
            let form = form(gateway, request, sent).await?;
            post(gateway, visit, &parts, request, form).await
        }
        _ => Err(not_allowed("GET, HEAD, POST")),
    }
}

async fn get(
    gateway: &Arc<Gateway>,
    visit: &Arc<Visit>,
    parts: &[&str],
    request: &Parts,
) -> Result<Response<Body>, Problem> {
    match parts {
        [] => {
            let finder = request.extensions.get::<Finder>();
            return Ok(shown(overview::page(visit, finder)));
        }
        ["_", "assets", name] => return asset(name, request),
        ["_", "overview"] => {
            let visit = Arc::clone(visit);
            return replaced(gateway, move || overview::cards(&visit));
        }
        ["_", "servers"] => return Ok(shown(servers::page(gateway, visit).await?)),
        ["_", "studio"] => return Ok(shown(studio::get(studio_of(request)?, visit).await?)),
        ["_", "error", code] => {
            return Ok(shown(studio::error_page(studio_of(request)?, visit, code)?));
        }
        ["_", ..] => return Err(nothing()),
        _ => {}
    }
    let service = &gateway.service(parts[0])?;
    Ok(shown(match &parts[1..] {
        [] => design_page::page(visit, service, request.extensions.get::<Apps>()),
        ["records"] => records::page(visit, service).await?,
        ["records", subject] => records::of_subject(visit, service, subject).await?,
        ["record", subject] => record::page(visit, service, subject).await?,
        ["steps"] => steps::page(visit, service),
        ["step" | "would", actor, operation] => {
            let call = service.call(actor, operation);
            let call = call.ok_or_else(|| gateway::unknown(service, actor, operation))?;
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
        ["aside"] => aside::page(visit, service).await?,
        ["refusals"] => refusals::page(visit, service),
        ["load"] => load::page(visit, service),
        ["load", "events"] => {
            let service = Arc::clone(service);
            return replaced(gateway, move || load::plots(&service));
        }
        ["hot"] => hot::page(visit, service).await,
        ["check"] => check::page(visit, service),
        ["check", "events"] => {
            let (its_gateway, service) = (Arc::clone(gateway), Arc::clone(service));
            return replaced(gateway, move || check::now(&its_gateway, &service));
        }
        _ => return Err(nothing()),
    }))
}

async fn post(
    gateway: &Arc<Gateway>,
    visit: &Arc<Visit>,
    parts: &[&str],
    request: &Parts,
    form: Sent,
) -> Result<Response<Body>, Problem> {
    match parts {
        ["_", "theme"] => return Ok(session::theme(request, &form)),
        ["_", "who"] => return Ok(session::who(&form)),
        ["_", "sign-in"] => return session::sign_in(gateway, request, &form),
        ["_", "sign-out"] => return Ok(session::sign_out()),
        ["_", "studio"] => return studio::post(gateway, studio_of(request)?, visit, form).await,
        [] | ["_", ..] => return Err(nothing()),
        _ => {}
    }
    let service = &gateway.service(parts[0])?;
    match &parts[1..] {
        [what @ ("step" | "would"), actor, operation] => {
            let call = service.call(actor, operation);
            let call = call.ok_or_else(|| gateway::unknown(service, actor, operation))?;
            match *what {
                "would" => call::would(visit, service, call, form).await,
                _ => call::post(visit, service, call, form).await,
            }
        }
        ["outbox", "retry"] => outbox::retry(visit, service, &form).await,
        ["aside", what @ ("retry" | "discard")] => {
            aside::resolve(gateway, visit, service, what, &form).await
        }
        ["check"] => {
            look::may_operate(visit)?;
            gateway::checking::begin(gateway, service);
            let place = value::Place { name: &service.name, design: service.design() };
            Ok(session::go(&place.at("/check")))
        }
        _ => Err(nothing()),
    }
}

fn studio_of(request: &Parts) -> Result<&Arc<Studio>, Problem> {
    request.extensions.get::<Arc<Studio>>().ok_or_else(nothing)
}

fn nothing() -> Problem {
    Problem::unknown("the console has no such page")
}

/// The same part of a page anew every second, as long as it changes.
fn replaced(
    gateway: &Arc<Gateway>,
    part: impl Fn() -> Html + Send + Sync + 'static,
) -> Result<Response<Body>, Problem> {
    let part = Arc::new(part);
    live::stream(Arc::clone(gateway), SECOND, String::new(), move |last: String| {
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
