//! The map: who does what to which truth.

use design::model::Design;
use drawing::{Anchor, Canvas, Drawing, NAME, SMALL, TITLE};

use crate::derive::{Derivation, Kind, TouchKind, derive};

const ACTOR_X: f64 = 24.0;
const ACTOR_WIDTH: f64 = 150.0;
const STEP_X: f64 = 270.0;
const STEP_WIDTH: f64 = 300.0;
const STATE_X: f64 = 690.0;
const STATE_WIDTH: f64 = 230.0;

pub fn draw(design: &Design, address: &dyn Fn(&str, &str) -> Option<String>) -> Drawing {
    let mut canvas = Canvas::default();
    canvas.text(
        TITLE,
        Anchor::Start,
        ACTOR_X,
        12.0,
        &format!("{}: who does what to which truth", design.name),
    );
    let top = 12.0 + TITLE.line() + 14.0;
    for (x, title) in [(ACTOR_X, "actors"), (STEP_X, "operations"), (STATE_X, "states")] {
        canvas.text(SMALL, Anchor::Start, x, top, title);
    }
    let top = top + SMALL.line() + 6.0;
    let operations: Vec<Derivation> =
        derive(design).into_iter().filter(|d| d.kind != Kind::Answer).collect();
    let states = states(design, &mut canvas, top);
    let mut y = top;
    let mut edges: Vec<(String, f64, bool)> = Vec::new();
    let mut actors: Vec<(String, f64, f64)> = Vec::new();
    let mut order: Vec<&str> = Vec::new();
    for one in &operations {
        if !order.contains(&one.actor.as_str()) {
            order.push(&one.actor);
        }
    }
    for actor in order {
        let first = y;
        for one in operations.iter().filter(|one| one.actor == actor) {
            let height = step(&mut canvas, one, y);
            if let Some(address) = address(&one.actor, short(one)) {
                canvas.link(&address, &one.name, STEP_X, y, STEP_WIDTH, height);
            }
            let middle = y + height / 2.0;
            for (name, at, written) in touched(design, one) {
                edges.push((name, middle + f64::from(at) * 3.0, written));
            }
            y += height + 10.0;
        }
        actors.push((actor.to_owned(), first, y - 10.0));
        y += 8.0;
    }
    for (name, from, to) in actors {
        let middle = f64::midpoint(from, to);
        canvas.rect("box", ACTOR_X, middle - 17.0, ACTOR_WIDTH, 34.0);
        named(&mut canvas, &name, ACTOR_X, middle - 8.0, ACTOR_WIDTH);
        let mut y = from;
        for one in operations.iter().filter(|one| one.actor == name) {
            let height = step_height(one);
            canvas.curve(
                "soft",
                (ACTOR_X + ACTOR_WIDTH, middle),
                (STEP_X, y + height / 2.0),
                false,
            );
            y += height + 10.0;
        }
    }
    for (name, at) in &states {
        let own: Vec<&(String, f64, bool)> = edges.iter().filter(|edge| edge.0 == *name).collect();
        for (index, (_, from, written)) in own.iter().enumerate() {
            let spread = (index as f64 + 0.5) / own.len() as f64 - 0.5;
            let class = if *written { "main" } else { "read" };
            canvas.curve(
                class,
                (STEP_X + STEP_WIDTH, *from),
                (STATE_X, at + spread * 24.0),
                *written,
            );
        }
    }
    Drawing::of("map".into(), canvas)
}

/// A name in the middle of its box, in small letters where it would not fit.
fn named(canvas: &mut Canvas, name: &str, x: f64, y: f64, width: f64) {
    let room = width - 12.0;
    let fits = NAME.wrap(name, room).len() == 1;
    let (font, y) = if fits { (NAME, y) } else { (SMALL, y + 1.0) };
    let shown = font.wrap(name, room).into_iter().next().unwrap_or_default();
    canvas.text(font, Anchor::Middle, x + width / 2.0, y, &shown);
}

fn short(one: &Derivation) -> &str {
    let start = one.name.find('[').map_or(0, |at| at + 1);
    one.name[start..].trim_end_matches(']')
}

fn step_height(one: &Derivation) -> f64 {
    let lines = SMALL.wrap(&one.phrase, STEP_WIDTH - 20.0).len() as f64;
    NAME.line() + lines * SMALL.line() + 14.0
}

fn step(canvas: &mut Canvas, one: &Derivation, y: f64) -> f64 {
    let height = step_height(one);
    canvas.rect("box", STEP_X, y, STEP_WIDTH, height);
    canvas.text(NAME, Anchor::Start, STEP_X + 10.0, y + 6.0, short(one));
    canvas.block(
        SMALL,
        Anchor::Start,
        STEP_X + 10.0,
        y + 7.0 + NAME.line(),
        &one.phrase,
        STEP_WIDTH - 20.0,
    );
    height
}

/// The states in their subjects; where each can be reached.
fn states(design: &Design, canvas: &mut Canvas, top: f64) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    let mut y = top;
    let mut group = |canvas: &mut Canvas, title: &str, names: Vec<String>, class: &str| {
        if names.is_empty() {
            return;
        }
        let height = SMALL.line() + 12.0 + names.len() as f64 * 36.0;
        canvas.rect("group", STATE_X - 12.0, y, STATE_WIDTH + 24.0, height);
        canvas.text(SMALL, Anchor::Start, STATE_X, y + 6.0, title);
        let mut at = y + SMALL.line() + 10.0;
        for name in names {
            canvas.rect(class, STATE_X, at, STATE_WIDTH, 30.0);
            named(canvas, &name, STATE_X, at + 7.0, STATE_WIDTH);
            found.push((name, at + 15.0));
            at += 36.0;
        }
        y += height + 14.0;
    };
    for subject in &design.subjects {
        let keys: Vec<&str> = subject.keys.iter().map(|key| key.name.as_str()).collect();
        let title = format!("{}({})", subject.name, keys.join(", "));
        let names = subject.states.iter().map(|state| state.name.clone()).collect();
        group(canvas, &title, names, "truth");
    }
    let effects = design
        .operations
        .iter()
        .filter(|op| matches!(op.kind, design::model::OperationKind::Effect(_)));
    let outbox = effects.map(|op| format!("outbox {}", op.name)).collect();
    group(canvas, "outbox", outbox, "truth");
    let handlers = design.operations.iter().filter(|op| op.hears.is_some());
    group(canvas, "inbox", handlers.map(|op| format!("inbox {}", op.name)).collect(), "truth");
    group(canvas, "views", design.views.iter().map(|view| view.name.clone()).collect(), "box");
    found
}

/// State, place among the edges of this step, written; an effect has its answers' with it.
fn touched(design: &Design, one: &Derivation) -> Vec<(String, i8, bool)> {
    let answers = derive_answers(design, one);
    let mut list: Vec<(String, bool)> = Vec::new();
    for touch in one.touches.iter().chain(&answers) {
        if matches!(touch.kind, TouchKind::Idempotency | TouchKind::Event | TouchKind::Counter) {
            continue;
        }
        match list.iter_mut().find(|(name, _)| *name == touch.state) {
            Some((_, written)) => *written |= touch.written,
            None => list.push((touch.state.clone(), touch.written)),
        }
    }
    let handler = design.operations.iter().find(|op| op.hears.is_some() && op.name == short(one));
    list.extend(handler.map(|op| (format!("inbox {}", op.name), false)));
    let half = list.len() as i8 / 2;
    list.into_iter()
        .enumerate()
        .map(|(at, (name, written))| (name, at as i8 - half, written))
        .collect()
}

fn derive_answers(design: &Design, one: &Derivation) -> Vec<crate::derive::Touch> {
    if one.kind != Kind::Effect {
        return Vec::new();
    }
    let prefix = format!("{} on ", one.name);
    derive(design)
        .into_iter()
        .filter(|d| d.name.starts_with(&prefix))
        .flat_map(|d| d.touches)
        .collect()
}
