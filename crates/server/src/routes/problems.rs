//! `GET /problems/…`: what the `type` of a problem leads to. What the server itself says has a page
//! from the table of kinds; a refusal has one from the design.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{ACCEPT, CONTENT_SECURITY_POLICY, HeaderValue, VARY};
use axum::http::{HeaderMap, Response, StatusCode, Uri};
use design::model::{ClauseRef, Failure, FailureProof, OperationId, Protection};
use drawing::attribute;

use crate::app::App;
use crate::kinds::{self, Spelled};
use crate::problem::{OverHttp as _, Problem};
use crate::{answer, auth, path};
use gateway::Service;

/// One page: a title, and paragraphs.
struct Page {
    title: String,
    status: StatusCode,
    paragraphs: Vec<String>,
}

pub async fn get(State(app): State<Arc<App>>, uri: Uri, headers: HeaderMap) -> Response<Body> {
    match page(&app, &uri, &headers) {
        Ok(page) => page.answer(&headers),
        Err(problem) => problem.into_response(),
    }
}

fn page(app: &App, uri: &Uri, headers: &HeaderMap) -> Result<Page, Problem> {
    let names = path::parts(uri.path().strip_prefix("/problems/").unwrap_or_default())?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let found = match names[..] {
        [name] => kinds::named(name).map(of_kind),
        [design, operation, clause] => {
            // it tells of the design, which is for those who are let in
            auth::calling(app, headers)?;
            of_refusal(&*app.service(design)?, operation, clause)
        }
        _ => None,
    };
    found.ok_or_else(|| Problem::unknown("no problem has this name"))
}

fn of_kind(spelled: &Spelled) -> Page {
    let paragraphs = vec![spelled.means.to_string(), spelled.help.to_string()];
    Page { title: spelled.kind.title.into(), status: spelled.status, paragraphs }
}

/// None: nothing is refused like this.
fn of_refusal(service: &Service, name: &str, clause: &str) -> Option<Page> {
    let design = service.design();
    let operations = design.operations.iter().enumerate();
    let (at, operation) = operations
        .filter(|(_, operation)| operation.name == name)
        .find(|(_, operation)| means(operation, clause).is_some())?;
    let meaning = means(operation, clause)?;
    let actor = &design.actors[operation.actor.index()].name;
    let mut paragraphs = vec![
        format!("`{name}` is a step of `{actor}` in the design `{}`. {meaning}", design.name),
        "Nothing was changed. The answer shows the `truth` that was looked at, and the steps that are \
         `legal` now."
            .to_string(),
    ];
    let stem = clause.split('.').next().unwrap_or_default();
    if let Some(used) = design.added_to(name, stem) {
        paragraphs.push(format!(
            "The design `{}` adds this clause to `{}`, which it uses as `{}`.",
            design.name, used.archetype, used.noun
        ));
    }
    let prevented: Vec<&str> = prevents(&design.failures, OperationId::of(at), operation, clause);
    if !prevented.is_empty() {
        paragraphs.push(format!("Without it this could happen: {}.", prevented.join(", ")));
    }
    let title = format!("`{name}` is refused by `{clause}`");
    Some(Page { title, status: StatusCode::CONFLICT, paragraphs })
}

/// What it means that this clause refuses. None: it is no clause of this operation.
fn means(operation: &design::model::Operation, clause: &str) -> Option<String> {
    let own = |name: &str| operation.guard.iter().any(|clause| clause.name == name);
    if own(clause) {
        return Some(format!("Its guard has a clause `{clause}`, which does not hold."));
    }
    let (within, reason) = match clause.split_once('.') {
        Some((within, reason)) if own(within) => (Some(within), reason),
        Some(_) => return None,
        None => (None, clause),
    };
    let (_, means) = REASONS.iter().find(|(name, _)| *name == reason)?;
    Some(match within {
        Some(within) => format!("In the clause `{within}` of its guard {means}."),
        None => format!("It was not taken because {means}."),
    })
}

/// What else than a clause may stand in the way, as the engine names it.
const REASONS: [(&str, &str); 19] = [
    (
        "exists",
        "a record that a parameter refers to is not there, or the parent of one that it would make",
    ),
    ("fresh", "the record that it would make is there already"),
    ("no_such_record", "a record that it reads or changes is not there"),
    ("deleted", "a record that it reads or changes is deleted by the step itself"),
    ("already_exists", "a record that it would make is there already"),
    ("no_parent", "a record that it would make belongs to one that is not there"),
    ("empty_key", "a record that it would make has an empty text in its key"),
    ("has_children", "a record that it would delete still has others that count as its children"),
    ("nothing", "a reference to nothing was followed"),
    ("null_value", "there is no value where one is required"),
    ("overflow", "a number would be too large"),
    ("division_by_zero", "a number would be divided by zero"),
    ("collection_full", "a list, a set or a map is full"),
    ("out_of_range", "a parameter is not a value of its type"),
    ("range", "a value would lie outside the range that the design gives it; `detail` names it"),
    ("apart", "whoever calls has acted as somebody who is never the same person"),
    ("none_left", "no row is left of the view that it takes from; new ones may come"),
    ("entry_closed", "the call that was answered is no longer waited for"),
    ("unsupported", "it asks for something that is not evaluated here"),
];

fn prevents<'a>(
    failures: &'a [Failure],
    id: OperationId,
    operation: &design::model::Operation,
    clause: &str,
) -> Vec<&'a str> {
    let name = clause.split('.').next().unwrap_or_default();
    let wanted = match operation.guard.iter().position(|clause| clause.name == name) {
        Some(at) => ClauseRef::Named(at as u32),
        None if name == "exists" || name == "no_parent" => ClauseRef::Exists,
        None if name == "fresh" => ClauseRef::Fresh,
        None => return Vec::new(),
    };
    let wanted = Protection::Clause { operation: id, clause: wanted };
    let proves = |proof: &FailureProof| matches!(proof, FailureProof::Without { protections, .. } if protections.contains(&wanted));
    let found = failures.iter().filter(|failure| failure.proofs.iter().any(proves));
    found.map(|failure| failure.title.as_str()).collect()
}

impl Page {
    /// As a page for people who follow a link, and as a text for everyone else.
    fn answer(&self, headers: &HeaderMap) -> Response<Body> {
        let accepted = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
        let mut response = if accepted.is_some_and(|accepted| accepted.contains("text/html")) {
            answer::of_type("text/html; charset=utf-8", self.html())
        } else {
            answer::of_type("text/plain; charset=utf-8", self.text())
        };
        let headers = response.headers_mut();
        headers.insert(VARY, HeaderValue::from_static("accept"));
        let policy = "default-src 'none'; style-src 'unsafe-inline'";
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
        response
    }

    fn text(&self) -> String {
        let (title, status) = (&self.title, self.status.as_u16());
        format!("{title}\n\nStatus {status}.\n\n{}\n", self.paragraphs.join("\n\n"))
    }

    fn html(&self) -> String {
        let (title, status) = (attribute(&self.title), self.status.as_u16());
        let mut page = format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
             content=\"width=device-width\"><title>{title}</title><style>:root{{color-scheme:light \
             dark}}body{{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem \
             auto;padding:0 1rem}}</style><h1>{title}</h1><p>Status {status}.</p>"
        );
        for paragraph in &self.paragraphs {
            page.push_str(&format!("<p>{}</p>", attribute(paragraph)));
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_own_name_and_a_page_that_says_something() {
        for (at, spelled) in kinds::SPELLED.iter().enumerate() {
            let name = spelled.kind.name;
            let plain = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
            assert!(plain, "{name}");
            assert!(kinds::SPELLED[..at].iter().all(|other| other.kind.name != name), "{name}");
            let text = of_kind(spelled).text();
            assert!(text.contains(&format!("Status {}.", spelled.status.as_u16())), "{text}");
            assert!(spelled.means.ends_with('.') && spelled.help.ends_with('.'), "{text}");
        }
    }

    #[test]
    fn what_the_engine_refuses_by_has_a_meaning() {
        use engine::Reason::*;
        for reason in [
            Exists(0),
            Fresh(0),
            NoSuchRecord,
            Deleted,
            AlreadyExists,
            NoParent,
            EmptyKey,
            HasChildren,
            Nothing,
            NullValue,
            Overflow,
            DivisionByZero,
            CollectionFull,
            OutOfRange,
            Range(engine::Outside { place: engine::Place::Param(0), value: 0 }),
            EntryClosed,
            Unsupported,
        ] {
            assert!(REASONS.iter().any(|(name, _)| *name == reason.name()), "{reason:?}");
        }
    }
}
