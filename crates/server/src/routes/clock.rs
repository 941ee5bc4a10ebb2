//! `GET /v1/clock` and `POST /v1/clock`: time that is moved by hand, for tests.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, Response};
use runtime::{CallError, Clock, Fired, ManualClock, Runtime, time};
use serde_json::{Map, Value, json};

use super::admin::operator;
use crate::answer;
use crate::app::App;
use crate::body;
use crate::kinds;
use gateway::Problem;

/// Repairs that one request makes happen at most; the workers go on from there.
const REPAIRS_MAX: usize = 10_000;

/// What a request may hold.
const KNOWN: [&str; 6] = ["advance", "to", "hold", "design", "repair", "key"];

fn manual(app: &App) -> Result<&Arc<ManualClock>, Problem> {
    app.settings.clock.as_ref().ok_or_else(|| {
        Problem::unknown(
            "the clock of this server is the machine's; for tests `steadfast serve --clock manual` \
             has one that is moved by hand",
        )
    })
}

pub fn get(app: &Arc<App>, headers: &HeaderMap) -> Result<Response<Body>, Problem> {
    operator(app, headers)?;
    Ok(answer::json(&json!({ "now": time::write_time(manual(app)?.now_ms()) })))
}

/// `{"advance": "10m"}` or `{"to": "2026-11-15T12:00:00Z"}` moves it on; what is due by then happens
/// before this is answered, as far as it is repairs. With `"hold": true` nothing happens by itself,
/// until a request without it; `{"design": …, "repair": …, "key": […]}` then runs one repair.
pub async fn post(
    app: &Arc<App>,
    headers: &HeaderMap,
    sent: Body,
) -> Result<Response<Body>, Problem> {
    let _place = app.enter()?;
    operator(app, headers)?;
    let clock = Arc::clone(manual(app)?);
    body::is_json(headers)?;
    let asked = gateway::object(&body::read(sent, app).await?)?;
    if let Some(other) = asked.keys().find(|name| !KNOWN.contains(&name.as_str())) {
        let detail = format!("there is no `{other}` here; there are {}", KNOWN.join(", "));
        return Err(Problem::malformed(detail).pointer(format!("/{other}")));
    }
    let to = wanted(&clock, &asked)?;
    let hold = match asked.get("hold") {
        None => false,
        Some(Value::Bool(hold)) => *hold,
        Some(_) => return Err(Problem::malformed("`hold` is true or false").pointer("/hold")),
    };
    let runtimes: Vec<Arc<Runtime>> =
        app.services().map(|service| Arc::clone(&service.runtime)).collect();
    let one = match asked.get("repair") {
        None => None,
        Some(repair) => Some((app.service(text(&asked, "design")?)?, repair, asked.get("key"))),
    };
    let one = match one {
        None => None,
        Some((service, Value::String(repair), Some(Value::Array(key)))) => {
            Some((Arc::clone(&service.runtime), repair.clone(), key.clone()))
        }
        Some(_) => {
            let detail = "a repair is named with its record: `design`, `repair` and `key`, a list";
            return Err(Problem::malformed(detail).pointer("/repair"));
        }
    };
    let done = tokio::task::spawn_blocking(move || -> Result<(i64, usize), CallError> {
        if hold {
            runtimes.iter().for_each(|runtime| runtime.clock_moved(true));
        }
        let now = clock.reach(to);
        runtimes.iter().for_each(|runtime| runtime.clock_moved(hold));
        let repairs = match one {
            Some((runtime, repair, key)) => {
                usize::from(runtime.fire_early(&repair, &key)? == Fired::Done)
            }
            None if hold => 0,
            None => runtimes.iter().map(|runtime| due(runtime)).sum::<Result<_, _>>()?,
        };
        Ok((now, repairs))
    })
    .await;
    let done = done.map_err(|_| Problem::broken())?;
    let (now, repairs) = done.map_err(|error| Problem::new(&kinds::CANNOT, error.to_string()))?;
    let now = time::write_time(now);
    Ok(answer::json(&json!({ "now": now, "hold": hold, "repairs": repairs })))
}

/// Where the clock is to be: as far as it is asked to go, and never back.
fn wanted(clock: &ManualClock, asked: &Map<String, Value>) -> Result<i64, Problem> {
    let now = clock.now_ms();
    let to = match (asked.get("advance"), asked.get("to")) {
        (None, None) => now,
        (Some(by), None) => {
            let by = time::read_duration(by).filter(|by| *by >= 0);
            let to = by.and_then(|by| now.checked_add(by)).filter(|to| *to <= LATEST_MS);
            let detail = "`advance` is a time such as `10m`, `90s` or `1500ms`";
            to.ok_or_else(|| Problem::malformed(detail).pointer("/advance"))?
        }
        (None, Some(to)) => {
            let to = time::read_time(to).filter(|to| (now..=LATEST_MS).contains(to));
            let detail = format!("`to` is a time from {} on", time::write_time(now));
            to.ok_or_else(|| Problem::malformed(detail).pointer("/to"))?
        }
        (Some(_), Some(_)) => {
            return Err(Problem::malformed("either `advance` or `to`").pointer("/to"));
        }
    };
    Ok(to)
}

/// The year 9999: what comes after it is not written as a time.
const LATEST_MS: i64 = 253_402_300_799_000;

fn text<'a>(asked: &'a Map<String, Value>, name: &str) -> Result<&'a str, Problem> {
    asked.get(name).and_then(Value::as_str).ok_or_else(|| {
        Problem::malformed(format!("`{name}` is missing")).pointer(format!("/{name}"))
    })
}

/// Makes every repair happen that is due.
fn due(runtime: &Runtime) -> Result<usize, CallError> {
    let mut done = 0;
    while done < REPAIRS_MAX {
        match runtime.fire_one()? {
            Fired::Done => done += 1,
            Fired::Moved | Fired::SetAside => {}
            Fired::Idle(_) => break,
        }
    }
    Ok(done)
}
