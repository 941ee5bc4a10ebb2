//! The section of a sheet that tells what is known.

use std::fmt::Write as _;

use explain::Sheet;

use super::{Here, Known, Move};

pub fn markdown(known: &Known, sheet: &Sheet) -> String {
    let mut out = format!(
        "\n## What is known of this archetype\n\nThe catalog says this; only what is called shown is \
         derived from the text.\n\n{}. In a design: `use {} as {}`.\n\n",
        known.purpose, known.id, known.noun
    );
    let family = known.text("family").zip(known.text("because"));
    let facts = [
        ("family", family.map(|(family, because)| format!("{family}: {because}"))),
        ("group", known.text("group").map(str::to_owned)),
        ("special move", special(known)),
    ];
    table(&mut out, None, &facts);
    moves(&mut out, known, sheet);
    if known.text("adversary").is_some() {
        security(&mut out, known, sheet);
    }
    let domain = |kind: &'static str| (kind, known.text(kind).map(str::to_owned));
    let domains = ["serving", "coordination", "fault", "recovery"].map(domain);
    table(&mut out, Some("Domains"), &domains);
    third_layer(&mut out, known, sheet);
    pairs(&mut out, known);
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// The special move, with the numbers of the moves that it takes.
fn special(known: &Known) -> Option<String> {
    let text = known.text("special")?;
    Some(match known.list("moves").as_slice() {
        [] => text.to_owned(),
        moves => format!("{text} ({})", moves.join(", ")),
    })
}

fn moves(out: &mut String, known: &Known, sheet: &Sheet) {
    out.push_str("### Trust moves\n\n| move | what it does | here | because |\n");
    out.push_str("| --- | --- | --- | --- |\n");
    let (none, some): (Vec<Move>, Vec<Move>) =
        known.moves(sheet).into_iter().partition(|one| one.because.is_empty());
    for one in some {
        let _ = writeln!(
            out,
            "| {} {} | {} | {} | {} |",
            one.id,
            one.name,
            one.what,
            one.here.name(),
            escaped(&one.because)
        );
    }
    let none: Vec<String> = none.iter().map(|one| format!("{} {}", one.id, one.name)).collect();
    if !none.is_empty() {
        let _ = write!(out, "\nNobody needs here: {}.\n", none.join(", "));
    }
    out.push('\n');
}

fn security(out: &mut String, known: &Known, sheet: &Sheet) {
    let principals: Vec<String> =
        sheet.actors.iter().map(|actor| format!("`{}`", actor.name)).collect();
    let channel = &sheet.trust.authenticated_channel;
    let untrusted = match channel.shown {
        true => "whoever calls, until it has shown who it is; what lies beyond the boundary below",
        false => "whoever calls, until it has shown who it is",
    };
    let shown: Vec<&str> =
        known.moves(sheet).iter().filter(|m| m.here == Here::Shown).map(|m| m.id).collect();
    let baseline = known.text("security").map(|text| match shown.as_slice() {
        [] => format!("M1, M2, M4: {text}; none of them is shown here"),
        shown => format!("M1, M2, M4: {text}; shown here: {}", shown.join(", ")),
    });
    let text = |kind: &str| known.text(kind).map(str::to_owned);
    table(
        out,
        Some("Security"),
        &[
            ("principals", Some(principals.join(", "))),
            ("adversary", text("adversary")),
            ("trusted", Some("the service, its store, and its clock".to_owned())),
            ("not trusted", Some(untrusted.to_owned())),
            ("sensitive boundary", Some(channel.because.clone())),
            ("baseline", baseline),
            ("special move", special(known)),
            ("defeats", text("defeats")),
            ("does not defeat", text("does_not_defeat")),
        ],
    );
}

fn third_layer(out: &mut String, known: &Known, sheet: &Sheet) {
    let list = |kind: &str| match known.list(kind).as_slice() {
        [] => None,
        parts => Some(parts.join("; ")),
    };
    let families: Vec<String> = known
        .families(sheet)
        .into_iter()
        .map(|(name, goals)| match goals.as_slice() {
            [] => format!("`{name}`, in no goal"),
            goals => format!("`{name}` in `{}`", goals.join("`, `")),
        })
        .collect();
    table(
        out,
        Some("Mechanisms"),
        &[
            ("unit of work", list("unit")),
            ("dimensions", list("dimensions")),
            ("variants", list("variants")),
            ("invariant families", (!families.is_empty()).then(|| families.join("; "))),
            ("signatures of failure", list("signatures")),
            ("known from", list("known_from")),
        ],
    );
}

fn pairs(out: &mut String, known: &Known) {
    if known.pairs.is_empty() {
        return;
    }
    out.push_str("### Prevention and repair\n\n| failure | prevention | repair | by |\n");
    out.push_str("| --- | --- | --- | --- |\n");
    for pair in &known.pairs {
        let by: Vec<String> = pair.repaired_by.iter().map(|by| format!("`{by}`")).collect();
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} |",
            pair.failure,
            pair.prevention,
            pair.repair,
            by.join(", ")
        );
    }
    out.push('\n');
}

/// Rows of what is known, under a heading; nothing if nothing is.
fn table(out: &mut String, heading: Option<&str>, rows: &[(&str, Option<String>)]) {
    let rows: Vec<(&str, &String)> =
        rows.iter().filter_map(|(name, text)| Some((*name, text.as_ref()?))).collect();
    if rows.is_empty() {
        return;
    }
    if let Some(heading) = heading {
        let _ = write!(out, "### {heading}\n\n");
    }
    out.push_str("| | |\n| --- | --- |\n");
    for (name, text) in rows {
        let _ = writeln!(out, "| {name} | {} |", escaped(text));
    }
    out.push('\n');
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}
