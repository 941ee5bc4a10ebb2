//! A history in a terminal: numbered steps, what each changed, what each actor believes.

use std::fmt::Write as _;

use super::paint::Paint;
use super::sentence::sentence;
use super::state::{is_record, short, worth_saying};
use super::words::{clean, would_have};
use crate::{ChangeLine, MemoryLine, Trace, TraceStep};

pub(super) fn trace(trace: &Trace, paint: Paint) -> String {
    let mut out = String::new();
    let mut beliefs: &[MemoryLine] = &[];
    for (at, step) in trace.steps.iter().enumerate() {
        if trace.cycle_start == Some(at) {
            let _ = writeln!(out, "      {}", paint.odd("from here on, for ever:"));
        }
        let number = paint.strong(&format!("{:>4}.", at + 1));
        let _ = writeln!(out, "{number} {}", sentence(step));
        if let Some(clause) = &step.would_have_refused {
            let said = format!("here {} {}", clean(clause), would_have(clause));
            let _ = writeln!(out, "      {}", paint.bad(&said));
        }
        for line in changes(step) {
            let _ = writeln!(out, "      {line}");
        }
        if step.memory != beliefs {
            let line = believed(&step.memory, beliefs);
            if !line.is_empty() {
                let _ = writeln!(out, "      {}", paint.faint(&line));
            }
            beliefs = &step.memory;
        }
    }
    if let Some(start) = trace.cycle_start {
        let said = format!("and again from step {} on", start + 1);
        let _ = writeln!(out, "      {}", paint.odd(&said));
    }
    if !trace.ending.is_empty() {
        let _ = writeln!(out, "      {}", paint.strong(&format!("so: {}", clean(&trace.ending))));
    }
    out
}

/// One line for each record: `seat-1: status AVAILABLE → HELD, booking null → booking-1`.
pub(super) fn changes(step: &TraceStep) -> Vec<String> {
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for change in worth_saying(step) {
        let record = clean(&change.record);
        let said = change_text(change);
        match lines.iter_mut().find(|(held, _)| *held == record) {
            Some((_, parts)) => parts.push(said),
            None => lines.push((record, vec![said])),
        }
    }
    lines.into_iter().map(|(record, parts)| format!("{record}: {}", parts.join(", "))).collect()
}

/// What changed of one value.
pub(super) fn change_text(change: &ChangeLine) -> String {
    let (before, after) = (clean(&change.before), clean(&change.after));
    if change.attribute.is_empty() {
        return match after.as_str() {
            "present" => "is made".into(),
            "absent" => "is gone".into(),
            _ => after,
        };
    }
    match (change.record.as_str(), after.as_str()) {
        ("call in flight" | "message", "none") => return format!("no longer {before}"),
        ("call in flight" | "message", _) => return after,
        ("outbox" | "world outside", _) => return format!("{} {after}", clean(&change.attribute)),
        _ => {}
    }
    let attribute = if is_record(&change.record) {
        clean(short(&change.attribute))
    } else {
        clean(&change.attribute)
    };
    if before == "absent" {
        format!("{attribute} {after}")
    } else {
        format!("{attribute} {before} → {after}")
    }
}

/// What each actor believes now; and that it forgot, if it did.
fn believed(now: &[MemoryLine], before: &[MemoryLine]) -> String {
    let mut parts: Vec<String> = now.iter().map(belief).collect();
    for held in before {
        let kept = now.iter().any(|line| {
            line.principal == held.principal
                && line.field == held.field
                && line.record == held.record
        });
        if !kept {
            parts.push(format!("{} forgot {}", clean(&held.principal), clean(&held.field)));
        }
    }
    if parts.is_empty() { String::new() } else { format!("believed: {}", parts.join("; ")) }
}

/// `claimant-1: my_epoch = 1 (resource-1)`
pub(super) fn belief(line: &MemoryLine) -> String {
    let of = line.record.as_ref().map(|record| format!(" ({})", clean(record)));
    format!(
        "{} {} = {}{}",
        clean(&line.principal),
        clean(&line.field),
        clean(&line.value),
        of.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn a_history_is_numbered_and_says_what_changed() {
        let text = trace(&fixture::oversell(), Paint::Plain);
        for part in [
            "   1. buyer-1 calls hold(seat-1, booking-1, ttl: 2 ticks)",
            "seat-1: status AVAILABLE → HELD, booking null → booking-1",
            "booking-1: is made, status IN_PROGRESS",
            "here hold.free would have refused",
            "so: two bookings of seat-1 are confirmed",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }

    #[test]
    fn beliefs_are_told_when_they_change() {
        let text = trace(&fixture::orphan(), Paint::Plain);
        assert!(text.contains("believed: claimant-1 my_epoch = 1 (resource-1)"), "{text}");
        assert!(text.contains("claimant-1 forgot my_epoch"), "{text}");
        assert!(text.contains("from here on, for ever:\n   3. "), "{text}");
        assert!(text.contains("and again from step 3 on"), "{text}");
    }
}
