//! A form that was sent: thought through, or done.

use axum::body::Body;
use axum::http::{Response, StatusCode};
use runtime::{CallError, Refused};

use crate::answer::{self, Thought};
use crate::fields::{Sent, sent};
use crate::html::Html;
use crate::shell;
use crate::step::{self, Shown, fields_of};
use crate::visit::Visit;
use gateway::{Call, Caller, Service, Terms};
use server::problem::{OverHttp as _, Problem};

/// What stood in the way of a call that was thought through.
enum Stood {
    Refused(Box<Refused>),
    Problem(Problem),
}

/// Who acts: without tokens, whoever the form names.
fn acting(visit: &Visit, form: &Sent) -> Caller {
    let mut caller = visit.caller.clone();
    if !visit.signed_in
        && let Some(name) = sent(form, "as").filter(|name| (1..=256).contains(&name.len()))
    {
        caller.principal = name.to_string();
    }
    caller
}

/// How the guard stands for what the form holds, and the field that does not fit.
pub fn thought(
    visit: &Visit,
    service: &Service,
    call: &Call,
    form: &Sent,
) -> (Html, Option<(String, String)>) {
    // to look whether a secret is right is to guess it, and a limit counts only what is called
    if service.operation(call).has_secrets() {
        return (answer::guard(service, call, &Thought::Secret), None);
    }
    let caller = acting(visit, form);
    let fields = fields_of(service, call, form);
    let thought = match gateway::asked(&visit.gateway, service, call, &caller, fields) {
        Err(problem) => Err(Stood::Problem(problem)),
        Ok((asked, _)) => service.runtime.would(&asked).map_err(|error| match error {
            CallError::Refused(refused) => Stood::Refused(refused),
            other => Stood::Problem(Problem::of_call(service, other)),
        }),
    };
    match thought {
        Ok(()) => (answer::guard(service, call, &Thought::Holds), None),
        Err(Stood::Refused(refused)) => {
            (answer::guard(service, call, &Thought::Refused(&refused)), None)
        }
        Err(Stood::Problem(problem)) => match field_of(&problem) {
            Some(field) => {
                let guard = answer::guard(service, call, &Thought::Unfit(&field, &problem.detail));
                (guard, Some((field, problem.detail)))
            }
            None => (crate::trouble::note(&problem), None),
        },
    }
}

/// Whether the guard holds now.
pub async fn would(
    visit: &Visit,
    service: &Service,
    call: &Call,
    form: Sent,
) -> Result<Response<Body>, Problem> {
    let (guard, wrong) = thought(visit, service, call, &form);
    if visit.part {
        return Ok(shell::respond(StatusCode::OK, guard));
    }
    let shown = Shown { form, guard: Some(guard), wrong, ..Shown::default() };
    Ok(shell::respond(StatusCode::OK, step::page(visit, service, call, shown).await))
}

/// Does it, and tells what became of it.
pub async fn post(
    visit: &Visit,
    service: &Service,
    call: &Call,
    form: Sent,
) -> Result<Response<Body>, Problem> {
    let _place = visit.gateway.enter()?;
    let caller = acting(visit, &form);
    let fields = fields_of(service, call, &form);
    let told = step::told(service.operation(call), &fields);
    let key = sent(&form, "key").filter(|key| !key.is_empty());
    let terms = Terms { idempotency_key: key.map(str::to_string), ..Terms::default() };
    let answer = match gateway::begin(&visit.gateway, service, call, &caller, fields, terms) {
        Err(problem) => Err(problem),
        Ok(begun) => begun.reply(service).await,
    };
    let (status, result, wrong) = match answer {
        Ok(reply) => (StatusCode::OK, answer::done(service, call, &told, &reply), None),
        Err(problem) => {
            let result = answer::refused(service, call, &told, &problem);
            let wrong = field_of(&problem).map(|field| (field, problem.detail.clone()));
            (problem.status(), result, wrong)
        }
    };
    if visit.part {
        // the part is here, whatever it tells: a browser would call anything else a failure to load
        return Ok(shell::respond(StatusCode::OK, result));
    }
    let shown = Shown { form, result: Some(result), wrong, ..Shown::default() };
    Ok(shell::respond(status, step::page(visit, service, call, shown).await))
}

/// The field that a problem points at.
fn field_of(problem: &Problem) -> Option<String> {
    let pointer = problem.member("pointer")?.as_str()?;
    let name = pointer.strip_prefix('/')?.split('/').next()?;
    Some(name.replace("~1", "/").replace("~0", "~"))
}
