//! What can be called, actor by actor.

use crate::html::{Html, html};
use crate::seen::Seen;
use crate::shell::{self, Tab};
use crate::value::Place;
use crate::visit::Visit;
use gateway::Service;

pub fn page(visit: &Visit, service: &Service) -> Html {
    let design = service.design();
    let place = Place { name: &service.name, design };
    let seen = service.kept::<Seen>();
    let sheet = seen.sheet(design);
    let mut page = Html::new();
    html!(
        page,
        "<h1>Steps</h1><p class=\"lead\">Who may do what. Each form says before it is sent whether \
         its guard holds, and why not.</p><div class=\"cards\">"
    );
    for (at, actor) in design.actors.iter().enumerate() {
        let own: Vec<_> = design
            .operations
            .iter()
            .filter(|operation| operation.actor.index() == at && service.is_callable(operation))
            .collect();
        if own.is_empty() {
            continue;
        }
        html!(page, "<section class=\"card\"><h2>{}</h2>", actor.name);
        if !visit.caller.may_act_as(service, &actor.name) {
            html!(page, "<p class=\"hint\">Your token does not have this role.</p>");
        }
        html!(page, "<ul class=\"steps-list\">");
        for operation in own {
            let name = format!("{}[{}]", actor.name, operation.name);
            let derived = sheet.operations.iter().find(|one| one.name == name);
            html!(
                page,
                "<li><a href=\"{}\">{}</a> <span class=\"params\">{}</span>",
                place.step(&actor.name, &operation.name),
                operation.name,
                derived.map(|one| one.params.join(", ")).unwrap_or_default()
            );
            if let Some(derived) = derived {
                html!(page, "<br><span class=\"hint\">{}</span>", derived.phrase);
            }
            html!(page, "</li>");
        }
        html!(page, "</ul></section>");
    }
    html!(page, "</div>");
    shell::of_design(visit, service, Tab::Steps, "Steps", &page)
}
