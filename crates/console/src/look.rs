//! Everything the pages read of a design goes through here, as far as the visitor may see it.

use runtime::{CallError, DueRepair, Past, RecordPage, Truth, ViewQuery};
use serde_json::Value;

use crate::visit::Visit;
use gateway::{Problem, Roles, Service};
use server::kinds;

pub async fn record(
    visit: &Visit,
    service: &Service,
    subject: &str,
    key: &[Value],
) -> Result<Option<Truth>, CallError> {
    service.runtime.get_as(subject, key, visit.caller.viewer(service).as_ref()).await
}

pub async fn records(
    visit: &Visit,
    service: &Service,
    subject: &str,
    after: Option<&[Value]>,
    limit: usize,
) -> Result<RecordPage, CallError> {
    service.runtime.records_as(subject, after, limit, visit.caller.viewer(service).as_ref()).await
}

pub async fn past(
    visit: &Visit,
    service: &Service,
    of: Option<(&str, &[Value])>,
    before: Option<&str>,
    limit: usize,
) -> Result<Past, CallError> {
    service.runtime.past_as(of, before, limit, visit.caller.viewer(service).as_ref()).await
}

/// The repairs that come next, of any record: whoever shows one asks whether it [`sees`] it.
pub fn due(service: &Service, limit: usize) -> Result<Vec<DueRepair>, CallError> {
    service.runtime.due(limit)
}

/// A view is followed and read with the thread held: not on one that serves.
pub async fn view(visit: &Visit, service: &Service, query: ViewQuery) -> Result<Value, Problem> {
    let runtime = std::sync::Arc::clone(&service.runtime);
    let viewer = visit.caller.viewer(service);
    let read = tokio::task::spawn_blocking(move || runtime.view_as(&query, viewer.as_ref())).await;
    match read {
        Ok(answer) => answer.map_err(|error| problem(service, error)),
        Err(_) => Err(Problem::broken()),
    }
}

/// What went wrong, for a person.
pub fn problem(service: &Service, error: CallError) -> Problem {
    Problem::of_call(service, error)
}

pub async fn feed(
    visit: &Visit,
    service: &Service,
    from: Option<&str>,
    limit: usize,
) -> Result<(Vec<(String, runtime::Transition)>, String), CallError> {
    service.runtime.feed_as(from, limit, visit.caller.viewer(service).as_ref()).await
}

/// Whether the visitor may do what an operator does: look into the outbox, try a delivery again,
/// run a check.
pub fn may_operate(visit: &Visit) -> Result<(), Problem> {
    match visit.caller.roles {
        Roles::All => Ok(()),
        Roles::Some(_) => {
            Err(Problem::new(&kinds::WRONG_ROLE, "a token with every role may do this"))
        }
    }
}

/// Whether anything of this record is for the visitor to see.
pub async fn sees(visit: &Visit, service: &Service, subject: &str, key: &[Value]) -> bool {
    match visit.caller.roles {
        Roles::All => true,
        Roles::Some(_) => matches!(record(visit, service, subject, key).await, Ok(Some(_))),
    }
}
