//! The sheet for people.

mod difference;
mod operation;
mod partitioning;
mod realization;

use crate::sheet::{Goal, Sheet};

pub use difference::difference;
pub use partitioning::partitioning;
pub use realization::realization;

/// The whole sheet.
pub fn markdown(sheet: &Sheet) -> String {
    let mut page = Page::default();
    let id = sheet.id.as_ref().map_or(String::new(), |id| format!("{id} "));
    page.line(&format!("# {id}{}: {}", sheet.name, sheet.title));
    page.heading("Source of truth");
    let rows = sheet.truth.iter().map(|t| {
        vec![
            code(&t.state),
            code(&t.subject),
            codes(&t.attributes),
            codes(&t.written_by),
            codes(&t.guards),
        ]
    });
    page.table(
        &["state", "kept for each", "attributes", "written by", "read in the guard of"],
        rows,
    );
    if !sheet.derived.is_empty() {
        page.line("Derived, and never read in a guard:\n");
        let rows = sheet.derived.iter().map(|d| vec![code(&d.name), d.kind.into(), d.text.clone()]);
        page.table(&["name", "kind", "what it is"], rows);
    }
    page.heading("Actors");
    let rows = sheet.actors.iter().map(|actor| {
        let name = match &actor.continues {
            Some(other) => format!("{} (continues {})", code(&actor.name), code(other)),
            None => code(&actor.name),
        };
        let name = match actor.apart.is_empty() {
            true => name,
            false => format!("{name} (apart from {})", codes(&actor.apart)),
        };
        vec![name, actor.role.into(), codes(&actor.memory), codes(&actor.operations)]
    });
    page.table(&["actor", "role", "remembers", "operations"], rows);
    sight(sheet, &mut page);
    ownership(sheet, &mut page);
    page.heading("Operations");
    let rows = sheet.operations.iter().map(|one| {
        let shapes: Vec<&str> = one.shapes.iter().map(|shape| shape.name()).collect();
        let mechanism = one.mechanism.map_or("", |mechanism| mechanism.name());
        vec![code(&one.name), shapes.join(" + "), mechanism.into(), one.phrase.clone()]
    });
    page.table(&["operation", "write shape", "base mechanism", "more exactly"], rows);
    sheet.operations.iter().for_each(|one| operation::write(one, &mut page));
    protocols(sheet, &mut page);
    goals("Invariants", &sheet.invariants, &mut page);
    goals("Recovers", &sheet.recovers, &mut page);
    goals("Leads to", &sheet.leads_to, &mut page);
    failures(sheet, &mut page);
    hotspots(sheet, &mut page);
    trust(sheet, &mut page);
    page.heading("Starter boxes");
    sheet.boxes.iter().for_each(|one| page.line(&format!("- {}", one.text())));
    page.text
}

fn sight(sheet: &Sheet, page: &mut Page) {
    page.heading("Who sees what");
    let rows = sheet.sight.iter().map(|one| {
        let because = match (one.stated, one.to.is_empty()) {
            (true, _) => "`visible to`",
            (false, true) => "nobody's operation reads it",
            (false, false) => "their operations read it",
        };
        let secrets = match one.secrets.as_slice() {
            [] => String::new(),
            names => format!("{}: nobody, it is never told", codes(names)),
        };
        vec![code(&one.state), code(&one.subject), one.text(), because.into(), secrets]
    });
    page.table(&["state", "of each", "seen by", "because", "secrets"], rows);
}

fn ownership(sheet: &Sheet, page: &mut Page) {
    page.heading("Ownership");
    let derived = if sheet.ownership.derived.is_empty() {
        "none".into()
    } else {
        sheet.ownership.derived.join(", ")
    };
    let agrees = match sheet.ownership.agrees {
        Some(true) => ", as the header says",
        Some(false) => ", **which is not what the header says**",
        None => "",
    };
    page.line(&format!("**{derived}**{agrees}\n"));
    sheet.ownership.because.iter().for_each(|why| page.line(&format!("- {why}")));
}

fn protocols(sheet: &Sheet, page: &mut Page) {
    if sheet.protocols.is_empty() {
        return;
    }
    page.heading("Protocols");
    for protocol in &sheet.protocols {
        page.line(&format!("**{}**\n\n```", protocol.name));
        protocol.lines.iter().for_each(|line| page.line(line));
        page.line("```\n");
    }
}

fn goals(title: &str, goals: &[Goal], page: &mut Page) {
    if goals.is_empty() {
        return;
    }
    page.heading(title);
    for goal in goals {
        let family = goal.family.as_ref().map_or(String::new(), |f| format!(" ({f})"));
        page.line(&format!("- {}{family}: {}", code(&goal.name), code(&goal.text)));
    }
}

fn failures(sheet: &Sheet, page: &mut Page) {
    if sheet.failures.is_empty() {
        return;
    }
    page.heading("Failures");
    let rows = sheet.failures.iter().map(|failure| {
        vec![
            failure.title.clone(),
            failure.prevention.join("; "),
            failure.repair.join("; "),
            codes(&failure.breaks),
        ]
    });
    page.table(&["failure", "prevention", "repair", "what would break"], rows);
}

fn hotspots(sheet: &Sheet, page: &mut Page) {
    if !sheet.hotspots.is_empty() {
        page.heading("Hotspots");
        let rows = sheet.hotspots.iter().map(|hotspot| {
            vec![hotspot.title.clone(), hotspot.on.clone(), hotspot.mitigation.join("; ")]
        });
        page.table(&["hotspot", "on", "mitigation"], rows);
    }
    page.heading("Keys that callers share");
    if sheet.hot_keys.is_empty() {
        page.line("None: every call writes keys of its own.");
        return;
    }
    let rows = sheet.hot_keys.iter().map(|hot| {
        let shared = if hot.shared_by == "all" { "all callers" } else { "callers of one key" };
        vec![
            code(&hot.key),
            code(&hot.operation),
            shared.into(),
            hot.why.clone(),
            hot.way_out.text.clone(),
        ]
    });
    page.table(&["key", "touched by", "shared by", "why", "way out, and its cost"], rows);
}

fn trust(sheet: &Sheet, page: &mut Page) {
    page.heading("Trust");
    let pillars = [
        ("identity", &sheet.trust.identity),
        ("authenticated channel", &sheet.trust.authenticated_channel),
        ("signed versioned state", &sheet.trust.signed_versioned_state),
    ];
    let yes = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let rows = pillars.map(|(name, pillar)| {
        vec![name.into(), yes(pillar.shown), yes(pillar.stated), pillar.because.clone()]
    });
    page.table(&["pillar", "shown by the structure", "stated", "because"], rows.into_iter());
    for word in &sheet.trust.specialised {
        page.line(&format!("Specialised: {word}"));
    }
    let connections = &sheet.connections;
    let lists = [
        ("Input", &connections.input),
        ("Output", &connections.output),
        ("Decorates", &connections.decorates),
        ("Made from", &connections.uses),
        ("Hears", &connections.hears),
    ];
    if lists.iter().any(|(_, list)| !list.is_empty()) {
        page.heading("Connections");
        for (name, list) in lists.iter().filter(|(_, list)| !list.is_empty()) {
            page.line(&format!("- {name}: {}", list.join(", ")));
        }
    }
}

/// Text that grows line by line.
#[derive(Default)]
pub struct Page {
    pub text: String,
}

impl Page {
    pub fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    pub fn heading(&mut self, title: &str) {
        self.titled("##", title);
    }

    pub fn titled(&mut self, marks: &str, title: &str) {
        if !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
        self.line(&format!("{marks} {title}\n"));
    }

    pub fn table(&mut self, head: &[&str], rows: impl Iterator<Item = Vec<String>>) {
        self.line(&format!("| {} |", head.join(" | ")));
        self.line(&format!("|{}", " --- |".repeat(head.len())));
        for row in rows {
            let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
            self.line(&format!("| {} |", cells.join(" | ")));
        }
        self.text.push('\n');
    }
}

pub fn code(text: &str) -> String {
    format!("`{text}`")
}

pub fn codes(list: &[String]) -> String {
    list.iter().map(|text| code(text)).collect::<Vec<_>>().join(", ")
}
