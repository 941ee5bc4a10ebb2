//! The map: who does what to which truth.

use design::model::Design;
use drawing::{Anchor, Canvas, Drawing, NAME, SMALL, TITLE};

use crate::derive::{Derivation, Kind, TouchKind, derive};

const ACTOR_X: f64 = 24.0;
const ACTOR_WIDTH: f64 = 150.0;
const STEP_X: f64 = 270.0;
const STEP_WIDTH: f64 = 300.0;
const GRID_X: f64 = STEP_X + STEP_WIDTH + 20.0;
/// The column of a state, that of its subject's name, and what stands between two subjects.
const STATE_WIDTH: f64 = 26.0;
const SUBJECT_WIDTH: f64 = 18.0;
const GAP: f64 = 10.0;
/// After so many rows the names of the columns are said again, where the next actor begins.
const ROWS: usize = 14;

pub fn draw(design: &Design, address: &dyn Fn(&str, &str) -> Option<String>) -> Drawing {
    let mut canvas = Canvas::default();
    let title = format!("{}: who does what to which truth", design.name);
    canvas.text(TITLE, Anchor::Start, ACTOR_X, 12.0, &title);
    let top = 12.0 + TITLE.line() + 14.0;
    legend(&mut canvas, top);
    let mut y = top + SMALL.line() + 6.0;
    let operations: Vec<Derivation> =
        derive(design).into_iter().filter(|d| d.kind != Kind::Answer).collect();
    let grid = Grid::new(design);
    let mut order: Vec<&str> = Vec::new();
    for one in &operations {
        if !order.contains(&one.actor.as_str()) {
            order.push(&one.actor);
        }
    }
    let mut since = None;
    for actor in order {
        let own: Vec<&Derivation> = operations.iter().filter(|one| one.actor == actor).collect();
        let rows = match since {
            Some(rows) if rows < ROWS => rows,
            _ => {
                y = grid.head(&mut canvas, y);
                0
            }
        };
        since = Some(rows + own.len());
        y = acts(&mut canvas, design, &grid, (actor, &own), address, y) + 8.0;
    }
    Drawing::of("map".into(), canvas)
}

/// What the marks mean.
fn legend(canvas: &mut Canvas, y: f64) {
    let middle = y + SMALL.line() / 2.0;
    let mut x = GRID_X;
    for (class, text) in [(WRITTEN, "changes it"), (READ, "reads it")] {
        canvas.circle(class, x + 6.0, middle, 5.0);
        canvas.text(SMALL, Anchor::Start, x + 16.0, y, text);
        x += 16.0 + SMALL.width(text) + 16.0;
    }
}

/// The marks of the style for what is changed and what is read.
const WRITTEN: &str = "am";
const READ: &str = "open";

/// An actor and what it does, one operation below the other; where that ends.
fn acts(
    canvas: &mut Canvas,
    design: &Design,
    grid: &Grid,
    (actor, own): (&str, &[&Derivation]),
    address: &dyn Fn(&str, &str) -> Option<String>,
    top: f64,
) -> f64 {
    let heights: Vec<f64> = own.iter().map(|one| step_height(one)).collect();
    let bottom = top + heights.iter().map(|height| height + 10.0).sum::<f64>() - 10.0;
    let middle = f64::midpoint(top, bottom);
    grid.bands(canvas, top, bottom);
    let mut y = top;
    for (one, height) in own.iter().zip(heights) {
        step(canvas, one, y);
        if let Some(address) = address(&one.actor, short(one)) {
            canvas.link(&address, &one.name, STEP_X, y, STEP_WIDTH, height);
        }
        let row = y + height / 2.0;
        canvas.curve("soft", (ACTOR_X + ACTOR_WIDTH, middle), (STEP_X, row), false);
        canvas.path("soft", &[(STEP_X + STEP_WIDTH, row), (grid.right, row)], false);
        for (name, written) in touched(design, one) {
            let class = if written { WRITTEN } else { READ };
            for x in grid.columns(&name) {
                canvas.circle(class, x, row, if written { 6.0 } else { 5.0 });
            }
        }
        y += height + 10.0;
    }
    canvas.rect("box", ACTOR_X, middle - 17.0, ACTOR_WIDTH, 34.0);
    named(canvas, actor, ACTOR_X, middle - 8.0, ACTOR_WIDTH);
    y
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

/// A column for each state, those of one subject together.
struct Grid {
    groups: Vec<Group>,
    right: f64,
    /// how high the names of the columns are
    head: f64,
}

struct Group {
    title: String,
    x: f64,
    width: f64,
    /// each state with the middle of its column
    states: Vec<(String, f64)>,
}

impl Grid {
    fn new(design: &Design) -> Grid {
        let mut grid = Grid { groups: Vec::new(), right: GRID_X, head: 0.0 };
        for subject in &design.subjects {
            let keys: Vec<&str> = subject.keys.iter().map(|key| key.name.as_str()).collect();
            let title = format!("{}({})", subject.name, keys.join(", "));
            grid.group(title, subject.states.iter().map(|state| state.name.clone()).collect());
        }
        let effects = design
            .operations
            .iter()
            .filter(|op| matches!(op.kind, design::model::OperationKind::Effect(_)));
        grid.group("outbox".into(), effects.map(|op| format!("outbox {}", op.name)).collect());
        let handlers = design.operations.iter().filter(|op| op.hears.is_some());
        grid.group("inbox".into(), handlers.map(|op| format!("inbox {}", op.name)).collect());
        grid.group("views".into(), design.views.iter().map(|view| view.name.clone()).collect());
        grid
    }

    fn group(&mut self, title: String, names: Vec<String>) {
        if names.is_empty() {
            return;
        }
        let x = self.right + if self.groups.is_empty() { 0.0 } else { GAP };
        let first = x + SUBJECT_WIDTH + STATE_WIDTH / 2.0;
        let widest = names.iter().map(|name| NAME.width(name)).fold(SMALL.width(&title), f64::max);
        self.head = self.head.max(widest + 16.0);
        let columns = (0..).map(|at| first + f64::from(at) * STATE_WIDTH);
        let states: Vec<(String, f64)> = names.into_iter().zip(columns).collect();
        let width = SUBJECT_WIDTH + states.len() as f64 * STATE_WIDTH + 4.0;
        self.right = x + width;
        self.groups.push(Group { title, x, width, states });
    }

    /// The middles of the columns of a state: more than one where two subjects have one of this name.
    fn columns<'a>(&'a self, name: &'a str) -> impl Iterator<Item = f64> + 'a {
        let states = self.groups.iter().flat_map(|group| &group.states);
        states.filter(move |(its, _)| its == name).map(|(_, x)| *x)
    }

    /// The names of the columns, from below upwards; where the rows begin.
    fn head(&self, canvas: &mut Canvas, y: f64) -> f64 {
        let bottom = y + self.head;
        for (x, title) in [(ACTOR_X, "actors"), (STEP_X, "operations")] {
            canvas.text(SMALL, Anchor::Start, x, bottom - SMALL.line(), title);
        }
        self.bands(canvas, y, bottom);
        for group in &self.groups {
            let x = group.x + SUBJECT_WIDTH / 2.0 + 2.0;
            canvas.upright(SMALL, x, bottom - 6.0, &group.title);
            for (name, x) in &group.states {
                canvas.upright(NAME, *x, bottom - 6.0, name);
            }
        }
        bottom + 8.0
    }

    fn bands(&self, canvas: &mut Canvas, top: f64, bottom: f64) {
        for group in &self.groups {
            canvas.rect("group", group.x, top, group.width, bottom - top);
        }
    }
}

/// Each state, and whether it is written; an effect has its answers' with it.
fn touched(design: &Design, one: &Derivation) -> Vec<(String, bool)> {
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
    list
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
