//! The records that are changed most, and what the design says would get hot.

use crate::html::{Html, html};
use crate::look;
use crate::seen::Seen;
use crate::shell::{self, Tab};
use crate::value::{self, Place, grouped};
use crate::visit::Visit;
use gateway::Service;

const LIMIT: usize = 30;

pub async fn page(visit: &Visit, service: &Service) -> Html {
    let design = service.design();
    let place = Place { name: &service.name, design };
    let (hottest, total) = service.runtime.hottest(LIMIT);
    let mut page = Html::new();
    html!(
        page,
        "<h1>Hot keys</h1><p class=\"lead\">One key is one queue. These were changed most since the \
         server started, of {} changes.</p>",
        grouped(total)
    );
    if hottest.is_empty() {
        html!(page, "<p class=\"empty\">Nothing was changed yet.</p>");
    } else {
        html!(
            page,
            "<div class=\"wide\"><table class=\"stack\"><thead><tr><th>record</th><th class=\"number\">\
             changes</th><th class=\"number\">share</th><th></th></tr></thead><tbody>"
        );
        let mut shown = Vec::new();
        for one in hottest {
            // a count that may be half a guess says nothing yet
            let sure = one.2.error * 2 <= one.2.count;
            if sure && look::sees(visit, service, &one.0, &one.1).await {
                shown.push(one);
            }
        }
        for (subject, key, hot) in &shown {
            html!(page, "<tr><td><span class=\"faint\">{}</span> ", subject);
            value::record_link(&mut page, &place, subject, key);
            let share = hot.count as f64 * 100.0 / total.max(1) as f64;
            html!(
                page,
                "</td><td class=\"number\" data-name=\"changes\">{}{}</td><td class=\"number\" \
                 data-name=\"share\">{} %</td><td>{}</td></tr>",
                grouped(hot.count),
                if hot.error > 0 {
                    format!(" (at least {})", hot.count - hot.error)
                } else {
                    String::new()
                },
                format!("{share:.1}"),
                Html::trusted(drawing::bar(hot.count * 100 / total.max(1)))
            );
        }
        html!(page, "</tbody></table></div>");
    }
    foreseen(&mut page, service);
    shell::of_design(visit, service, Tab::Hot, "Hot keys", &page)
}

/// What can be known before anyone calls.
fn foreseen(page: &mut Html, service: &Service) {
    let seen = service.kept::<Seen>();
    let sheet = seen.sheet(service.design());
    if sheet.hot_keys.is_empty() {
        return;
    }
    html!(
        page,
        "<h2>Foreseen from the design</h2><div class=\"wide\"><table class=\"stack\"><thead><tr><th>key\
         </th><th>step</th><th>why</th><th>a way out</th></tr></thead><tbody>"
    );
    // an advice that is the same for several keys is given once
    let mut advices: Vec<&str> = Vec::new();
    for hot in &sheet.hot_keys {
        if !advices.contains(&hot.way_out.text.as_str()) {
            advices.push(&hot.way_out.text);
        }
    }
    for advice in advices {
        let keys: Vec<_> = sheet.hot_keys.iter().filter(|hot| hot.way_out.text == advice).collect();
        for (at, hot) in keys.iter().enumerate() {
            html!(
                page,
                "<tr><td class=\"key\">{}</td><td class=\"key\">{}</td><td data-name=\"why\">{}</td>",
                hot.key,
                hot.operation,
                crate::prose::prose(&hot.why)
            );
            if at == 0 {
                html!(
                    page,
                    "<td data-name=\"a way out\" rowspan=\"{}\">{}</td>",
                    keys.len().to_string(),
                    crate::prose::prose(advice)
                );
            }
            html!(page, "</tr>");
        }
    }
    html!(page, "</tbody></table></div>");
}
