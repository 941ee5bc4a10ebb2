//! How often each clause said no, and what it prevented by that.

use crate::answer::prevented;
use crate::html::{Html, html};
use crate::seen::Seen;
use crate::shell::{self, Tab};
use crate::value::{Place, grouped};
use crate::visit::Visit;
use gateway::Service;

struct Line {
    actor: String,
    operation: String,
    clause: String,
    text: String,
    times: u64,
    prevents: Vec<String>,
}

pub fn page(visit: &Visit, service: &Service) -> Html {
    let place = Place { name: &service.name, design: service.design() };
    let mut lines = lines(service);
    lines.retain(|line| visit.caller.may_act_as(service, &line.actor));
    let mut page = Html::new();
    html!(
        page,
        "<h1>Refusals</h1><p class=\"lead\">A refusal is an answer: nothing was changed, and the \
         clause that said no kept a failure from happening. Counted since the server started.</p>"
    );
    let most = lines.iter().map(|line| line.times).max().unwrap_or(0).max(1);
    html!(
        page,
        "<div class=\"wide\"><table class=\"stack\"><thead><tr><th>clause</th><th class=\"number\">\
         refused</th><th></th><th>prevents</th></tr></thead><tbody>"
    );
    for line in &lines {
        html!(
            page,
            "<tr><td><a class=\"mono\" href=\"{}\">{}</a>.<strong class=\"mono\">{}</strong><br><code \
             class=\"faint\">{}</code></td><td class=\"number\" data-name=\"refused\">{}</td><td>",
            place.step(&line.actor, &line.operation),
            line.operation,
            line.clause,
            line.text,
            grouped(line.times)
        );
        page.add(Html::trusted(drawing::bar(line.times * 100 / most)));
        html!(page, "</td><td data-name=\"prevents\">");
        if line.prevents.is_empty() {
            html!(page, "<span class=\"faint\">\u{2013}</span>");
        }
        for (at, title) in line.prevents.iter().enumerate() {
            html!(page, "{}<strong>{}</strong>", if at > 0 { ", " } else { "" }, title);
        }
        html!(page, "</td></tr>");
    }
    html!(page, "</tbody></table></div>");
    shell::of_design(visit, service, Tab::Refusals, "Refusals", &page)
}

/// Every clause of every step, those that refused most first; then what else stood in the way.
fn lines(service: &Service) -> Vec<Line> {
    let design = service.design();
    let seen = service.kept::<Seen>();
    let sheet = seen.sheet(design);
    let counted = service.runtime.counters().all();
    let mut lines = Vec::new();
    for (operation, (_, _, by_clause)) in design.operations.iter().zip(&counted) {
        if !service.is_callable(operation) {
            continue;
        }
        let actor = &design.actors[operation.actor.index()].name;
        let name = format!("{actor}[{}]", operation.name);
        let derived = sheet.operations.iter().find(|one| one.name == name);
        let mut known: Vec<&str> = Vec::new();
        for clause in derived.map(|one| &one.guard[..]).unwrap_or_default() {
            if known.contains(&clause.name.as_str()) {
                continue;
            }
            known.push(&clause.name);
            lines.push(Line {
                actor: actor.clone(),
                operation: operation.name.clone(),
                clause: clause.name.clone(),
                text: clause.text.clone(),
                times: by_clause.get(&clause.name).copied().unwrap_or(0),
                prevents: prevented(service, &operation.name, &clause.name),
            });
        }
        for (clause, times) in by_clause.iter().filter(|(name, _)| !known.contains(&name.as_str()))
        {
            lines.push(Line {
                actor: actor.clone(),
                operation: operation.name.clone(),
                clause: clause.clone(),
                text: String::new(),
                times: *times,
                prevents: prevented(service, &operation.name, clause),
            });
        }
    }
    lines.sort_by_key(|line| std::cmp::Reverse(line.times));
    lines
}
