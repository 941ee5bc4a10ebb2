//! One operation of the sheet.

use super::{Page, code, codes};
use crate::derive::{Derivation, Kind, Touch};

pub fn write(one: &Derivation, page: &mut Page) {
    page.titled("###", &one.name);
    let what = match one.kind {
        Kind::Step => "A step, called from outside",
        Kind::Repair => "A repair, run by the engine whenever its guard holds",
        Kind::Effect => "A call to the world outside, made from the outbox",
        Kind::Answer => "What the answer of the world outside does",
        Kind::Read => "A read",
        Kind::View => "A view, kept by the projector from the feed",
    };
    let from = one.from.as_ref().map_or_else(String::new, |from| format!(" From {from}."));
    page.line(&format!("{what}. {}.{from}\n", sentence(&one.phrase)));
    if !one.params.is_empty() {
        page.line(&format!("- takes {}", codes(&one.params)));
    }
    for param in one.params.iter().filter(|param| param.contains(" from caller")) {
        let name = param.split(':').next().unwrap_or(param);
        page.line(&format!(
            "- {} is a claim of its caller, and not the clock of the server",
            code(name)
        ));
    }
    for clause in &one.guard {
        let implicit = if clause.implicit { " (implicit)" } else { "" };
        let kept = clause.defence.as_ref().map(|why| format!(" (kept for defence: {why})"));
        let added = if clause.added { " (added by this design)" } else { "" };
        page.line(&format!(
            "- guard {}{implicit}{added}: {}{}",
            code(&clause.name),
            code(&clause.text),
            kept.unwrap_or_default()
        ));
    }
    for fence in &one.fences {
        let by = if fence.moved_by.is_empty() {
            String::new()
        } else {
            format!("; moved by {}", codes(&fence.moved_by))
        };
        page.line(&format!("- fence: {}{by}", fence.text));
    }
    if !one.restored_by.is_empty() {
        page.line(&format!("- set right again by {}", codes(&one.restored_by)));
    }
    page.line("");
    let rows = one.touches.iter().map(touch);
    page.table(&["touches", "of", "truth", "read", "written", "shape", "mechanism"], rows);
}

fn touch(touch: &Touch) -> Vec<String> {
    let yes = |yes: bool| if yes { "yes" } else { "" }.to_owned();
    let read = match (touch.read_in_guard, touch.read) {
        (true, _) => "guard".to_owned(),
        (false, true) => "body".to_owned(),
        _ => String::new(),
    };
    vec![
        code(&touch.state),
        code(&touch.path),
        yes(touch.truth),
        read,
        yes(touch.written),
        touch.shape.map_or("", |shape| shape.name()).into(),
        touch.mechanism.map_or("", |mechanism| mechanism.name()).into(),
    ]
}

fn sentence(phrase: &str) -> String {
    let mut letters = phrase.chars();
    letters
        .next()
        .map_or(String::new(), |first| first.to_uppercase().collect::<String>() + letters.as_str())
}
