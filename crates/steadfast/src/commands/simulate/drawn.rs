//! What happened in a world, drawn: a lane for each caller and one for the server.

use drawing::escape;
use drawing::lanes::{self, Lane, LaneKind, Lanes, Reply, Row, Shape};
use model_checker::render::STYLE;
use simulator::{By, Event, Heard, Outcome};

/// So much time that nothing happens is told, in milliseconds.
const LONG_MS: u64 = 1_000;

/// A page that stands on its own.
pub fn page((design, seed): (&str, u64), outcome: &Outcome, again: &str) -> String {
    let (title, told) = match &outcome.trouble {
        Some(trouble) => (format!("{design}, seed {seed}: wrong"), trouble.to_string()),
        None => (format!("{design}, seed {seed}"), "Nothing went wrong.".into()),
    };
    let drawn = lanes::svg(&lanes_of(&outcome.story), &title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}{}</style>\n</head>\n<body>\n\
         <h1>{title}</h1>\n<p>{}</p>\n<p>Again: <code>{}</code></p>\n{drawn}\n</body>\n</html>\n",
        lanes::STYLE,
        escape(&told),
        escape(again),
        title = escape(&title),
    )
}

fn lanes_of(story: &[Event]) -> Lanes {
    let mut all: Vec<Lane> = Vec::new();
    for event in story {
        if let By::Caller { who, .. } = &event.by
            && !all.iter().any(|lane| lane.name == *who)
        {
            all.push(Lane { kind: LaneKind::Principal, name: who.clone() });
        }
    }
    all.sort_by(|one, other| one.name.cmp(&other.name));
    let server = all.len();
    all.push(Lane { kind: LaneKind::Engine, name: "the server".into() });
    let mut rows = Vec::new();
    let mut before = None;
    for event in story {
        if let Some(passed) = before.map(|before| event.at_ms.saturating_sub(before))
            && passed >= LONG_MS
        {
            let passed = design::model::duration_text(passed as i64 / LONG_MS as i64 * 1_000);
            rows.push(row(Shape::Band, format!("{passed} pass")));
        }
        before = Some(event.at_ms);
        let shape = match &event.by {
            By::Caller { who, heard } => {
                let from = all.iter().position(|lane| lane.name == *who).unwrap_or(server);
                match heard {
                    None => Shape::Mark { lane: from, bad: true },
                    Some(heard) => Shape::Arrow {
                        from,
                        to: vec![server],
                        reply: match heard {
                            Heard::Done => Reply::Given,
                            Heard::Refused => Reply::Refused,
                            Heard::Nothing => Reply::Lost,
                        },
                        doubled: false,
                        in_flight: false,
                    },
                }
            }
            By::Server { bad } => Shape::Mark { lane: server, bad: *bad },
            // a call that is drawn already
            By::Feed { called: true } => continue,
            By::Feed { called: false } => Shape::Mark { lane: server, bad: false },
        };
        rows.push(row(shape, event.text.clone()));
    }
    Lanes { lanes: all, rows }
}

fn row(shape: Shape, label: String) -> Row {
    Row {
        shape,
        label,
        warning: None,
        changes: Vec::new(),
        beliefs: Vec::new(),
        cycle_start: false,
    }
}
