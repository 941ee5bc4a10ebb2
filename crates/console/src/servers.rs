//! The servers that share the store.

use std::sync::Arc;

use gateway::{Gateway, Problem, Served, Server, Servers, short_hash};
use runtime::Presence;

use crate::html::{Html, html};
use crate::value::{self, distance};
use crate::visit::Visit;
use crate::{look, shell};

pub async fn page(gateway: &Arc<Gateway>, visit: &Visit) -> Result<Html, Problem> {
    look::may_operate(visit)?;
    let asked = Arc::clone(gateway);
    let seen = tokio::task::spawn_blocking(move || asked.servers()).await;
    let seen = seen.map_err(|_| Problem::broken())??;
    let mut page = Html::new();
    html!(
        page,
        "<h1>Servers</h1><p class=\"lead\">{} <a href=\"/console/_/servers\">Look again</a></p>",
        if seen.shared {
            "Who shares the store. Each of them may take every call; what one had in hand when it ended, the others do."
        } else {
            "The store is of this one process: no other server can share it."
        }
    );
    for server in &seen.servers {
        if let Some(trouble) = server.trouble(seen.at) {
            let kind = tone(server.presence);
            html!(
                page,
                "<div class=\"note {}\" role=\"alert\"><h2>{}</h2><p>{}</p></div>",
                kind,
                server.name(),
                crate::trouble::capital(&trouble)
            );
        }
    }
    servers(&mut page, &seen);
    designs(&mut page, &seen);
    if seen.more {
        html!(
            page,
            "<p class=\"hint\">There is more in the store than was looked at: counts are too low.</p>"
        );
    }
    Ok(shell::alone(visit, "Servers", &page))
}

fn tone(presence: Presence) -> &'static str {
    match presence {
        Presence::Serving => "good",
        Presence::Replaced | Presence::Late => "odd",
        Presence::WrongClock | Presence::Gone => "bad",
    }
}

/// A word for people.
fn word(presence: Presence) -> &'static str {
    match presence {
        Presence::WrongClock => "wrong clock",
        other => other.name(),
    }
}

fn servers(page: &mut Html, seen: &Servers) {
    html!(
        page,
        "<div class=\"wide\"><table class=\"stack\"><thead><tr><th>server</th><th>state</th>\
         <th>last heard of</th><th class=\"number\">clock</th>\
         <th>designs</th></tr></thead><tbody>"
    );
    for server in &seen.servers {
        row(page, seen, server);
    }
    html!(page, "</tbody></table></div>");
}

fn row(page: &mut Html, seen: &Servers, server: &Server) {
    html!(page, "<tr><td><strong>{}</strong>", server.name());
    if server.this {
        html!(page, " <span class=\"faint\">this one</span>");
    }
    let host = server.host.as_deref().map_or(String::new(), |host| format!("on {host}, "));
    let version = server.version.as_deref().unwrap_or("version not told");
    html!(page, "<br><span class=\"faint\">{}{}", host, version);
    if let Some(since) = server.since {
        html!(page, ", since ");
        value::moment(page, since);
    }
    html!(
        page,
        "</span><br><code class=\"faint\">{}</code></td><td data-name=\"state\"><span class=\"tag \
         {}\">{}</span></td><td data-name=\"last heard of\">",
        server.id,
        tone(server.presence),
        word(server.presence)
    );
    match server.seen {
        Some(heard) => html!(page, "{}", distance(seen.at, heard.min(seen.at))),
        None => page.add(value::none()),
    }
    html!(
        page,
        "</td><td class=\"number\" data-name=\"clock\">{} ms</td><td data-name=\"designs\">",
        signed(server.ahead_ms)
    );
    for design in &server.designs {
        html!(page, "<div>{}</div>", served(design, server.presence));
    }
    html!(page, "</td></tr>");
}

/// `+12`, `−3`, `0`.
fn signed(ms: i64) -> String {
    match ms {
        0 => "0".into(),
        1.. => format!("+{ms}"),
        _ => format!("\u{2212}{}", ms.unsigned_abs()),
    }
}

fn served(design: &Served, of_server: Presence) -> Html {
    let mut line = Html::new();
    html!(line, "<strong>{}</strong>", design.name);
    match (design.epoch, design.current) {
        (Some(epoch), Some(current)) if epoch != current => {
            html!(line, " <span class=\"odd\">epoch {} of {}</span>", epoch, current);
        }
        (Some(epoch), _) => html!(line, " epoch {}", epoch),
        (None, _) => {}
    }
    if design.presence != of_server {
        let (tone, word) = (tone(design.presence), word(design.presence));
        html!(line, " <span class=\"tag {}\">{}</span>", tone, word);
    }
    let deliveries = if design.in_hand == 1 { "delivery" } else { "deliveries" };
    html!(line, "<span class=\"faint\">, {} {} in hand", design.in_hand, deliveries);
    if !design.follows.is_empty() {
        html!(line, ", follows for {}", design.follows.join(", "));
    }
    html!(line, "</span>");
    line
}

/// Which texts have the say.
fn designs(page: &mut Html, seen: &Servers) {
    html!(
        page,
        "<h2>Versions</h2><div class=\"wide\"><table class=\"stack\"><thead><tr><th>design</th>\
         <th class=\"number\">epoch</th><th>text</th><th class=\"number\">servers</th></tr></thead><tbody>"
    );
    for design in &seen.designs {
        html!(
            page,
            "<tr><td><strong>{}</strong></td><td class=\"number\" data-name=\"epoch\">{}</td>\
             <td data-name=\"text\"><code>{}</code></td><td class=\"number\" \
             data-name=\"servers\">{}</td></tr>",
            design.name,
            design.epoch.map_or_else(|| "\u{2013}".into(), |epoch| epoch.to_string()),
            short_hash(&design.hash),
            seen.serving(&design.name)
        );
    }
    html!(page, "</tbody></table></div>");
}
