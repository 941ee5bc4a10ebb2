//! `GET /metrics`: Prometheus text.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::problem::OverHttp as _;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Response};

use crate::app::App;
use crate::metrics::{label, write};
use crate::{answer, auth};
use gateway::Told;

const STEPS: &str = "steadfast_steps_total";
const TOOK: &str = "steadfast_step_seconds";
const OUTBOX: &str = "steadfast_outbox";
const ASIDE: &str = "steadfast_set_aside";
/// The outbox and what was set aside are looked through no further than this.
const LOOKED_AT: usize = 1_000;

pub async fn get(State(app): State<Arc<App>>, headers: HeaderMap) -> Response<Body> {
    let allowed = auth::calling(&app, &headers).and_then(|caller| {
        if caller.may_read_metrics() {
            return Ok(());
        }
        gateway::operator(&app, &caller, "reading metrics")
    });
    match allowed {
        Ok(()) => answer::of_type("text/plain; version=0.0.4; charset=utf-8", text(&app)),
        Err(problem) => problem.into_response(),
    }
}

fn text(app: &App) -> String {
    let mut out = String::new();
    head(&mut out, STEPS, "counter", "steps, reads, repairs and effects, and what each came to");
    for service in app.services() {
        let design = label(&service.name);
        let known = service.design();
        let counted = known.operations.iter().zip(service.runtime.counters().all());
        for (operation, (name, done, refused)) in counted {
            let actor = label(&known.actors[operation.actor.index()].name);
            let name = label(&name);
            let labels = format!("design=\"{design}\",actor=\"{actor}\",operation=\"{name}\"");
            let _ = writeln!(out, "{STEPS}{{{labels},outcome=\"done\",clause=\"\"}} {done}");
            for (clause, times) in refused {
                let clause = label(&clause);
                let _ = writeln!(
                    out,
                    "{STEPS}{{{labels},outcome=\"refused\",clause=\"{clause}\"}} {times}"
                );
            }
        }
    }
    head(&mut out, TOOK, "histogram", "from the arguments to the durable answer");
    for service in app.services() {
        for (actor, operation, call) in service.calls() {
            let labels = format!(
                "design=\"{}\",actor=\"{}\",operation=\"{}\"",
                label(&service.name),
                label(actor),
                label(operation)
            );
            write(&call.latency, TOOK, &labels, &mut out);
        }
    }
    head(&mut out, "steadfast_http_requests_total", "counter", "requests by route and status");
    app.requests.write(&mut out);
    for (name, help, value) in [
        ("steadfast_http_in_flight", "requests that are being answered", app.in_flight()),
        ("steadfast_connections", "connections that are open", app.seats.taken()),
        ("steadfast_followers", "clients that follow a feed", app.followers()),
        ("steadfast_transfers", "large contents on their way in or out", app.transfers()),
        ("steadfast_body_bytes", "bytes of bodies that are held", app.held_bytes()),
    ] {
        head(&mut out, name, "gauge", help);
        let _ = writeln!(out, "{name} {value}");
    }
    head(&mut out, "steadfast_trouble", "gauge", "1: repairs or deliveries do not go on");
    for service in app.services() {
        let trouble = u8::from(service.runtime.counters().trouble().is_some());
        let _ = writeln!(out, "steadfast_trouble{{design=\"{}\"}} {trouble}", label(&service.name));
    }
    aside(app, &mut out);
    store(app, &mut out);
    head(&mut out, "steadfast_verdict", "gauge", "1: this is what is known of the design's text");
    for service in app.services() {
        let (design, known) = (label(&service.name), service.standing().label());
        for word in gateway::LABELS {
            let is = u8::from(word == known);
            let _ = writeln!(out, "steadfast_verdict{{design=\"{design}\",word=\"{word}\"}} {is}");
        }
    }
    let name = "steadfast_log_entries_forgotten_total";
    head(&mut out, name, "counter", "entries of logs that were forgotten because of their age");
    for service in app.services() {
        let forgotten = service.runtime.counters().forgotten();
        let _ = writeln!(out, "{name}{{design=\"{}\"}} {forgotten}", label(&service.name));
    }
    contents(app, &mut out);
    leaving(app, &mut out);
    if app.settings.spans.is_recorded() {
        let name = "steadfast_spans_lost_total";
        head(&mut out, name, "counter", "spans that nobody took");
        let _ = writeln!(out, "{name} {}", app.settings.spans.lost());
    }
    out
}

/// What could not be worked on.
fn aside(app: &App, out: &mut String) {
    let help = "entries that lie aside because they could not be worked on; up to 1000";
    head(out, ASIDE, "gauge", help);
    for service in app.services() {
        // what cannot be read now is told by what keeps it from being read
        let Ok(listed) = service.runtime.set_aside(LOOKED_AT) else { continue };
        let design = label(&service.name);
        let mut by_space: BTreeMap<&str, usize> = BTreeMap::new();
        for space in ["due repair", "outbox entry"] {
            by_space.insert(space, 0);
        }
        listed.iter().for_each(|one| *by_space.entry(one.space).or_default() += 1);
        for (space, count) in by_space {
            let _ = writeln!(out, "{ASIDE}{{design=\"{design}\",space=\"{space}\"}} {count}");
        }
    }
    let name = "steadfast_set_aside_total";
    head(out, name, "counter", "entries that were set aside, also those that went back");
    for service in app.services() {
        let count = service.runtime.counters().set_aside();
        let _ = writeln!(out, "{name}{{design=\"{}\"}} {count}", label(&service.name));
    }
    let name = "steadfast_views_unreadable_records";
    head(out, name, "gauge", "records that views leave out because they cannot be read");
    for service in app.services().filter(|service| !service.design().views.is_empty()) {
        let count = service.runtime.unreadable_records();
        let _ = writeln!(out, "{name}{{design=\"{}\"}} {count}", label(&service.name));
    }
}

/// How the store is.
fn store(app: &App, out: &mut String) {
    let state = app.store();
    for (name, help, value) in [
        ("steadfast_store_refuses", "1: no step is taken now", u64::from(state.refuses.is_some())),
        (
            "steadfast_store_snapshot_trouble",
            "1: the last snapshot was not written, and the log grows",
            u64::from(state.snapshot_failed),
        ),
        ("steadfast_store_damaged_files", "found by the last scrub", state.damaged_files),
        ("steadfast_store_scrubbed_files", "read by the last scrub", state.scrubbed_files),
        ("steadfast_store_scrubbed_bytes", "read by the last scrub", state.scrubbed_bytes),
        (
            "steadfast_store_scrubbed_timestamp_seconds",
            "when the last scrub ended; 0: there was none yet",
            state.scrubbed_ms / 1_000,
        ),
    ] {
        head(out, name, "gauge", help);
        let _ = writeln!(out, "{name} {value}");
    }
}

/// Content that truth refers to, of the designs that have any.
fn contents(app: &App, out: &mut String) {
    for (name, kind, help, value) in [
        ("steadfast_blobs", "gauge", "contents that are kept, as of the last collection", 0),
        ("steadfast_blobs_collected_total", "counter", "contents that nothing mentioned", 1),
        ("steadfast_blobs_failed_total", "counter", "collections that came to nothing", 2),
    ] {
        head(out, name, kind, help);
        for service in app.services().filter(|service| !service.design().blobs.is_empty()) {
            let sums = app.collections.of(&service.name);
            let value = [sums.kept, sums.taken, sums.failed][value];
            let _ = writeln!(out, "{name}{{design=\"{}\"}} {value}", label(&service.name));
        }
    }
}

/// What is on its way to the world outside.
fn leaving(app: &App, out: &mut String) {
    head(
        out,
        OUTBOX,
        "gauge",
        "calls to the world outside that wait, or were given up; up to 1000",
    );
    for service in app.services() {
        // what cannot be read now is told by what keeps it from being read
        let Ok(waiting) = service.runtime.outbox(LOOKED_AT) else { continue };
        let dead = waiting.iter().filter(|one| one.state == gateway::DEAD_LETTER).count();
        let design = label(&service.name);
        for (state, count) in [("waiting", waiting.len() - dead), ("dead", dead)] {
            let _ = writeln!(out, "{OUTBOX}{{design=\"{design}\",state=\"{state}\"}} {count}");
        }
    }
    let told: Vec<(String, Vec<Told>)> =
        app.services().map(|service| (label(&service.name), app.told(&service.name))).collect();
    let now_ms = jiff::Timestamp::now().as_millisecond();
    let mut each = |name: &str, kind: &str, help: &str, value: &dyn Fn(&Told) -> String| {
        head(out, name, kind, help);
        for (design, told) in &told {
            for one in told {
                let (to, value) = (label(&one.label()), value(one));
                let _ = writeln!(out, "{name}{{design=\"{design}\",to=\"{to}\"}} {value}");
            }
        }
    };
    each(
        "steadfast_webhook_lag_seconds",
        "gauge",
        "age of the event that is now being told; 0: it was told of everything",
        &|one| format!("{}", one.lag_ms(now_ms) as f64 / 1e3),
    );
    each(
        "steadfast_webhook_attempts",
        "gauge",
        "attempts at the event that is now being told",
        &|one| one.attempts.to_string(),
    );
    each("steadfast_webhook_delivered_total", "counter", "events that were taken", &|one| {
        one.delivered.to_string()
    });
    each(
        "steadfast_webhook_gaps_total",
        "counter",
        "times that events were forgotten untold",
        &|one| one.gaps.to_string(),
    );
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}
