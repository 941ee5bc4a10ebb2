//! What a design is made of: each archetype that it uses opens to what comes from it.

use crate::html::{Html, html};
use crate::value::Place;
use gateway::Service;

/// Nothing, where it is made of nothing.
pub fn section(page: &mut Html, service: &Service, place: &Place<'_>) {
    let design = service.design();
    for used in &design.uses {
        html!(
            page,
            "<details class=\"card\" data-used=\"{}\"><summary>{}</summary><dl class=\"truth\">",
            used.scope,
            used.told()
        );
        html!(page, "<dt>operations</dt><dd>");
        for (at, id) in used.operations.iter().enumerate() {
            let operation = &design.operations[id.index()];
            let actor = &design.actors[operation.actor.index()].name;
            let comma = if at > 0 { ", " } else { "" };
            match service.call(actor, &operation.name) {
                Some(_) => html!(
                    page,
                    "{}<a href=\"{}\">{}</a>",
                    comma,
                    place.step(actor, &operation.name),
                    operation.name
                ),
                None => html!(page, "{}{}", comma, operation.name),
            }
        }
        html!(page, "</dd>");
        let views = used.views.iter().map(|id| design.views[id.index()].name.clone());
        listed(page, "views", views);
        let scope = format!("{}.", used.scope);
        let goals = design.goals().filter(|goal| goal.name.starts_with(&scope));
        listed(page, "promises", goals.map(|goal| goal.name.clone()));
        let words = format!("{}: ", used.scope.replace('_', " "));
        let failures = design.failures.iter().filter(|held| held.title.starts_with(&words));
        listed(page, "must not happen", failures.map(|held| held.title.clone()));
        listed(page, "clauses of this design", used.added.iter().cloned());
        listed(page, "hidden", used.hidden.iter().cloned());
        let left = used.left_out.iter().map(|held| format!("{}: {}", held.goal, held.because));
        listed(page, "not promised", left);
        html!(page, "</dl></details>");
    }
}

fn listed(page: &mut Html, what: &str, names: impl Iterator<Item = String>) {
    let names: Vec<String> = names.collect();
    if !names.is_empty() {
        html!(page, "<dt>{}</dt><dd>{}</dd>", what, names.join(", "));
    }
}
