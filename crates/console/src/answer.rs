//! What became of a call, or would: the guard clause by clause, the answer, the refusal explained.

use design::model::Operation;
use runtime::{Refused, Reply};
use serde_json::{Map, Value};

use crate::fields::prefill;
use crate::html::{Html, encoded, html};
use crate::prose::prose;
use crate::seen::Seen;
use crate::step::memory_name;
use crate::trouble;
use crate::value::{self, Place};
use gateway::{Call, Problem, Service};

/// How the guard stands.
pub enum Thought<'a> {
    NotYet,
    /// it takes a secret: whether that is right is told to whoever calls
    Secret,
    Holds,
    /// the name of the clause, and the records it looked at
    Refused(&'a Refused),
    /// an argument does not fit yet: which, and why
    Unfit(&'a str, &'a str),
}

/// Every clause in the order in which it is tried, each with its verdict.
pub fn guard(service: &Service, call: &Call, thought: &Thought<'_>) -> Html {
    let design = service.design();
    let place = Place { name: &service.name, design };
    let operation = service.operation(call);
    let actor = &design.actors[operation.actor.index()].name;
    let name = format!("{actor}[{}]", operation.name);
    let seen = service.kept::<Seen>();
    let sheet = seen.sheet(design);
    let mut page = Html::new();
    match thought {
        Thought::NotYet => {
            html!(
                page,
                "<p class=\"hint\">Fill in the form: the guard is looked at as it is then.</p>"
            );
        }
        Thought::Secret => {
            html!(
                page,
                "<p class=\"hint\" data-guard=\"secret\">It takes a secret: its guard is looked at \
                 when it is called, and not before.</p>"
            );
        }
        Thought::Holds => html!(
            page,
            "<p data-guard=\"holds\"><span class=\"tag good\">holds</span> It would be done now.</p>"
        ),
        Thought::Refused(refused) => {
            html!(
                page,
                "<p data-guard=\"refused\"><span class=\"tag bad\">refused</span> <code>{}</code> does \
                 not hold now.</p>",
                refused.clause
            );
            if let Some(why) = &refused.why {
                html!(page, "<p>{}</p>", prose(why));
            }
        }
        Thought::Unfit(field, why) => html!(
            page,
            "<p data-guard=\"unfit\"><span class=\"tag odd\">not yet</span> <code>{}</code>: {}</p>",
            field,
            prose(why)
        ),
    }
    let clauses = sheet.operations.iter().find(|one| one.name == name).map(|one| &one.guard[..]);
    let clauses = clauses.unwrap_or_default();
    let failed = match thought {
        // a clause that cannot be evaluated is named `clause.reason`
        Thought::Refused(refused) => {
            clauses.iter().position(|c| c.name == refused.clause).or_else(|| {
                let stem = refused.clause.split('.').next().unwrap_or_default();
                clauses.iter().position(|c| c.name == stem)
            })
        }
        _ => None,
    };
    if clauses.is_empty() {
        html!(page, "<p class=\"hint\">It has no guard: it is always legal.</p>");
        return page;
    }
    html!(page, "<ol class=\"guard\">");
    for (at, clause) in clauses.iter().enumerate() {
        let (class, mark, said) = match (thought, failed) {
            (Thought::Holds, _) => ("good", "\u{2713}", "holds"),
            (Thought::Refused(_), Some(failed)) if at < failed => ("good", "\u{2713}", "holds"),
            (Thought::Refused(_), Some(failed)) if at == failed => {
                ("bad", "\u{2717}", "does not hold")
            }
            _ => ("faint", "\u{b7}", "not looked at"),
        };
        html!(
            page,
            "<li><span class=\"mark {}\" title=\"{}\"><span aria-hidden=\"true\">{}</span><span \
             class=\"hidden\">{}:</span></span><div><span class=\"name {}\">{}</span><code>{}</code>",
            class,
            said,
            mark,
            said,
            if class == "faint" { "" } else { class },
            clause.name,
            clause.text
        );
        let prevents = prevented(service, &operation.name, &clause.name);
        if !prevents.is_empty() {
            html!(page, "<span class=\"prevents faint\">prevents {}</span>", prevents.join(", "));
        }
        html!(page, "</div></li>");
    }
    html!(page, "</ol>");
    if let Thought::Refused(refused) = thought {
        saw(&mut page, &place, &refused.truth);
    }
    page
}

/// The failures that a clause prevents, by their titles.
pub fn prevented(service: &Service, operation: &str, clause: &str) -> Vec<String> {
    use design::model::{ClauseRef, FailureProof, Protection};
    let design = service.design();
    let is_it = |protection: &Protection| {
        let Protection::Clause { operation: id, clause: which } = protection else { return false };
        let of = &design.operations[id.index()];
        of.name == operation
            && match which {
                ClauseRef::Exists => clause == "exists" || clause == "no_parent",
                ClauseRef::Fresh => clause == "fresh",
                ClauseRef::Named(at) => of.guard.get(*at as usize).is_some_and(|known| {
                    known.name == clause || clause.split('.').next() == Some(known.name.as_str())
                }),
            }
    };
    let proved = |proof: &FailureProof| matches!(proof, FailureProof::Without { protections, .. } if protections.iter().any(is_it));
    let failures = design.failures.iter().filter(|failure| failure.proofs.iter().any(proved));
    failures.map(|failure| failure.title.clone()).collect()
}

/// The records that a refusal looked at.
fn saw(page: &mut Html, place: &Place<'_>, truth: &Value) {
    let records = truth.as_array().map(Vec::as_slice).unwrap_or_default();
    if records.is_empty() {
        return;
    }
    html!(page, "<div class=\"saw\"><h3>The truth it saw</h3>");
    records_told(page, place, records);
    html!(page, "</div>");
}

/// Records as `[{ subject, key, truth }]`.
pub fn records_told(page: &mut Html, place: &Place<'_>, records: &[Value]) {
    for record in records {
        let name = record["subject"].as_str().unwrap_or_default();
        let key = record["key"].as_array().map(Vec::as_slice).unwrap_or_default();
        html!(page, "<div class=\"card\"><p><span class=\"faint\">{}</span> ", name);
        value::record_link(page, place, name, key);
        html!(page, "</p>");
        let subject = place.design.subjects.iter().find(|subject| subject.name == name);
        match (subject, &record["truth"]) {
            (_, Value::Null) => html!(page, "<p class=\"faint\">absent</p>"),
            (Some(subject), Value::Object(states)) => {
                html!(page, "<dl class=\"truth\">");
                for state in &subject.states {
                    let Some(fields) = states.get(&state.name) else { continue };
                    for attr in &state.attributes {
                        let attribute = &subject.attributes[attr.index()];
                        let Some(found) = fields.get(&attribute.name) else { continue };
                        html!(page, "<dt>{}</dt><dd>", attribute.name);
                        value::value(page, place, &attribute.ty, found);
                        html!(page, "</dd>");
                    }
                }
                html!(page, "</dl>");
            }
            (_, other) => value::loose(page, other),
        }
        html!(page, "</div>");
    }
}

/// What the server chose. A secret is shown in this answer and never again.
fn chosen(page: &mut Html, operation: &Operation, result: &Value) {
    let mut params = operation.params.iter().filter(|param| param.generated.is_some()).peekable();
    if params.peek().is_none() {
        return;
    }
    html!(page, "<p>Chosen by the server:</p><dl class=\"truth\" data-chosen>");
    for param in params {
        html!(page, "<dt>{}</dt><dd>", param.name);
        match (result.get(&param.name), param.ty.is_secret()) {
            (Some(Value::String(text)), true) => html!(
                page,
                "<code>{}</code> <span class=\"hint\">shown this once: keep it now</span>",
                text
            ),
            (Some(Value::String(text)), false) => html!(page, "<code>{}</code>", text),
            (Some(key), false) if !key.is_null() => {
                html!(page, "<code>{}</code>", key.to_string());
            }
            _ => html!(
                page,
                "<span class=\"hint\">it was given already, with the first answer</span>"
            ),
        }
        html!(page, "</dd>");
    }
    html!(page, "</dl>");
}

/// It was done.
pub fn done(service: &Service, call: &Call, told: &str, reply: &Reply) -> Html {
    let design = service.design();
    let place = Place { name: &service.name, design };
    let operation = service.operation(call);
    let mut page = Html::new();
    html!(
        page,
        "<div class=\"note good\" data-done role=\"status\"><h2>Done: {}</h2><p class=\"hint\">at \
         revision <code>{}</code>{}</p>",
        told,
        reply.revision,
        if reply.replayed { ", given again for the same key" } else { "" }
    );
    if let design::model::OperationKind::Read { result } = &operation.kind {
        html!(page, "<div class=\"card\">");
        value::value(&mut page, &place, &result.ty, &reply.result);
        html!(page, "</div>");
    }
    chosen(&mut page, operation, &reply.result);
    if !reply.memory.is_empty() {
        html!(page, "<p>Remember, for later steps:</p><dl class=\"truth\">");
        for (name, value) in &reply.memory {
            html!(page, "<dt>{}</dt><dd><code", name);
            let used =
                operation.memory.iter().find(|used| memory_name(service, operation, used) == *name);
            if let Some(used) = used {
                html!(page, " data-actor=\"{}\"", design.actors[used.actor.index()].name);
                // a record that was taken has no field in the form
                let taken = used.of.and_then(|local| {
                    let param = operation.params.iter().find(|param| param.local == local)?;
                    param.generated.as_ref()?.next()?;
                    reply.result.get(&param.name)
                });
                if let Some(key) = taken {
                    html!(page, " data-taken=\"{}\"", value::parts(key));
                } else if let Some(local) = used.of {
                    html!(page, " data-of=\"p.{}\"", operation.locals[local.index()].name);
                }
            }
            let (sealed, name) = (value::plain(value), name.as_str());
            html!(
                page,
                " data-field=\"{}\" data-remember=\"{}\">{}</code></dd>",
                name,
                name,
                sealed
            );
        }
        html!(page, "</dl>");
    }
    let records = reply.truth.as_array().map(Vec::as_slice).unwrap_or_default();
    if !records.is_empty() {
        html!(page, "<h3>What is true now</h3>");
        records_told(&mut page, &place, records);
    }
    html!(page, "</div>");
    page
}

/// It was not done, and why.
pub fn refused(service: &Service, call: &Call, told: &str, problem: &Problem) -> Html {
    let design = service.design();
    let place = Place { name: &service.name, design };
    let operation = service.operation(call);
    let Some(clause) = problem.member("guard").and_then(Value::as_str) else {
        return trouble::note(problem);
    };
    let actor = &design.actors[operation.actor.index()].name;
    let name = format!("{actor}[{}]", operation.name);
    let seen = service.kept::<Seen>();
    let sheet = seen.sheet(design);
    let text = sheet.operations.iter().find(|one| one.name == name).and_then(|one| {
        let stem = clause.split('.').next().unwrap_or_default();
        one.guard.iter().find(|c| c.name == clause || c.name == stem).map(|c| c.text.as_str())
    });
    let mut page = Html::new();
    html!(
        page,
        "<div class=\"note bad\" data-refused=\"{}\" role=\"alert\"><h2>Refused: {}</h2><p><code>{}</code> \
         does not hold, and nothing was changed.</p>",
        clause,
        told,
        clause
    );
    if let Some(text) = text {
        html!(page, "<p><code>{}</code></p>", text);
    }
    // not written in any guard: the problem says what it is
    if matches!(clause, "range" | "apart" | "none_left") {
        html!(page, "<p>{}</p>", prose(&problem.detail));
    }
    let prevents = prevented(service, &operation.name, clause);
    if !prevents.is_empty() {
        html!(page, "<p>It prevents: <strong>{}</strong></p>", prevents.join(", "));
    }
    if let Some(truth) = problem.member("truth") {
        saw(&mut page, &place, truth);
    }
    legal(&mut page, service, &place, problem.member("legal"));
    html!(page, "</div>");
    page
}

/// What the caller may do instead, as links to filled forms.
fn legal(page: &mut Html, service: &Service, place: &Place<'_>, legal: Option<&Value>) {
    let Some(steps) = legal.and_then(Value::as_array) else { return };
    if steps.is_empty() {
        html!(page, "<p class=\"hint\">No other step is legal on these records now.</p>");
        return;
    }
    html!(page, "<h3>Legal now</h3><ul class=\"legal\">");
    for step in steps {
        let actor = step["actor"].as_str().unwrap_or_default();
        let operation = step["operation"].as_str().unwrap_or_default();
        let Some(call) = service.call(actor, operation) else { continue };
        let empty = Map::new();
        let filled = step["params"].as_object().unwrap_or(&empty);
        let mut address = place.step(actor, operation);
        let mut mark = '?';
        for param in &service.operation(call).params {
            let Some(value) = filled.get(&param.name).filter(|value| !value.is_null()) else {
                continue;
            };
            for (name, text) in prefill(service.design(), param, value) {
                address.push(mark);
                address.push_str(&format!("{}={}", encoded(&name), encoded(&text)));
                mark = '&';
            }
        }
        if place.name.is_empty() {
            // no page of its own: the form that this stands in is filled
            let filled = address.rsplit_once("/step/").map_or("", |(_, filled)| filled);
            html!(
                page,
                "<li><button name=\"legal\" value=\"{}\" formnovalidate>{} <span class=\"faint\">as \
                 {}</span></button></li>",
                filled,
                operation,
                actor
            );
            continue;
        }
        html!(
            page,
            "<li><a href=\"{}\">{} <span class=\"faint\">as {}</span></a></li>",
            address,
            operation,
            actor
        );
    }
    html!(page, "</ul>");
}
