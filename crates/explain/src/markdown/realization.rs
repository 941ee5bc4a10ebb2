//! The realization on one engine, for people.

use super::{Page, code};
use crate::realize::{Engine, Line, Realization};

pub fn realization(realization: &Realization) -> String {
    let mut page = Page::default();
    page.heading(&format!("On {}", title(realization.engine)));
    for misfit in &realization.misfits {
        page.line(&format!("**Does not fit:** {misfit}\n"));
    }
    realization.notes.iter().for_each(|note| page.line(&format!("- {note}")));
    if !realization.layout.is_empty() {
        page.line("\nMade once:\n\n```");
        realization.layout.iter().for_each(|line| page.line(line));
        page.line("```");
    }
    for one in &realization.operations {
        page.titled("###", &format!("{} on {}", one.operation, title(realization.engine)));
        if !one.form.reads.is_empty() {
            let rows = one.form.reads.iter().map(|record| {
                let written = if record.written { "yes" } else { "" };
                vec![
                    code(&record.name),
                    code(&record.key.to_string()),
                    record.round.to_string(),
                    written.into(),
                    record.when.clone().unwrap_or_default(),
                ]
            });
            page.table(&["record", "key", "round", "written", "only if"], rows);
        }
        block(&mut page, "Looks through, in order:", &one.scans);
        block(&mut page, "Reads, before the step is evaluated:", &one.reads);
        if one.commit.is_empty() {
            page.line("Writes nothing.");
        } else {
            block(&mut page, "Commits:", &one.commit);
        }
    }
    page.text
}

fn title(engine: Engine) -> &'static str {
    match engine {
        Engine::Embedded => "the embedded store",
        Engine::Postgres => "PostgreSQL",
        Engine::Etcd => "etcd",
        Engine::Dynamodb => "DynamoDB",
    }
}

fn block(page: &mut Page, title: &str, lines: &[Line]) {
    if lines.is_empty() {
        return;
    }
    page.line(&format!("{title}\n\n```"));
    for line in lines {
        if let Some(when) = &line.when {
            page.line(&format!("-- if {when}:"));
        }
        page.line(&line.text);
    }
    page.line("```\n");
}
