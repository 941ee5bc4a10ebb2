//! A protocol as a sequence: who calls, what the guard asks, what comes of it.

use design::model::*;
use drawing::{Anchor, Canvas, Drawing, NAME, SMALL, TITLE};

use crate::sheet::clause_name;
use crate::spell::Scope;

const LEFT: f64 = 24.0;
const PITCH: f64 = 270.0;
const ROOM: f64 = PITCH - 40.0;
const HEAD: f64 = 30.0;

pub fn draw(design: &Design, protocol: &Protocol) -> Drawing {
    let mut columns: Vec<ActorId> = Vec::new();
    protocol.paths.iter().for_each(|path| participants(design, path, &mut columns));
    let mut canvas = Canvas::default();
    let title = format!("{}: protocol {}", design.name, protocol.name);
    canvas.text(TITLE, Anchor::Start, LEFT, 12.0, &title);
    let top = 12.0 + TITLE.line() + 12.0;
    let mut drawing = Sequence { design, columns, canvas, y: top + HEAD + 12.0 };
    for path in &protocol.paths {
        drawing.path(path, 0);
    }
    let bottom = drawing.y;
    let names: Vec<String> = drawing.names();
    for (column, name) in names.iter().enumerate() {
        let x = Sequence::x(column);
        let width = NAME.width(name) + 28.0;
        let class = if column + 1 == names.len() { "truth" } else { "box" };
        drawing.canvas.path("life", &[(x, top + HEAD), (x, bottom)], false);
        drawing.canvas.rect(class, x - width / 2.0, top, width, HEAD);
        drawing.canvas.text(NAME, Anchor::Middle, x, top + 7.0, name);
    }
    Drawing::of(format!("protocol-{}", protocol.name), drawing.canvas)
}

fn participants(design: &Design, path: &Path, columns: &mut Vec<ActorId>) {
    for step in &path.steps {
        let actor = design.operations[step.operation.index()].actor;
        if !columns.contains(&actor) {
            columns.push(actor);
        }
    }
    path.branches.iter().for_each(|branch| participants(design, branch, columns));
}

struct Sequence<'a> {
    design: &'a Design,
    columns: Vec<ActorId>,
    canvas: Canvas,
    y: f64,
}

impl Sequence<'_> {
    fn x(column: usize) -> f64 {
        LEFT + 70.0 + column as f64 * PITCH
    }

    fn names(&self) -> Vec<String> {
        let actors = self.columns.iter().map(|id| self.design.actors[id.index()].name.clone());
        actors.chain(["truth".to_owned()]).collect()
    }

    fn path(&mut self, path: &Path, depth: usize) {
        if depth > 0 {
            let end = Self::x(self.columns.len()) + 60.0;
            self.y += 4.0;
            self.canvas.path("soft", &[(LEFT, self.y), (end, self.y)], false);
            self.y += 6.0;
            self.canvas.text(SMALL, Anchor::Start, LEFT, self.y, "or else");
            self.y += SMALL.line() + 4.0;
        }
        for step in &path.steps {
            self.step(step);
        }
        if let Some(outcome) = &path.outcome {
            let x = Self::x(self.columns.len());
            let width = NAME.width(outcome) + 24.0;
            self.canvas.rect("end", x - width / 2.0, self.y, width, 24.0);
            self.canvas.text(NAME, Anchor::Middle, x, self.y + 4.0, outcome);
            self.y += 34.0;
        }
        path.branches.iter().for_each(|branch| self.path(branch, depth + 1));
    }

    fn step(&mut self, step: &PathStep) {
        let operation = &self.design.operations[step.operation.index()];
        let column = self.columns.iter().position(|id| *id == operation.actor).unwrap_or(0);
        let scope = Scope::of(self.design, operation);
        if let OperationKind::Effect(effect) = &operation.kind {
            let key: Vec<String> = effect.key.iter().map(|part| scope.text(part)).collect();
            let text = format!("{} from the outbox, key {}", effect.method, key.join(", "));
            self.arrow("read", self.columns.len(), column, &text, &[]);
        }
        let guard: Vec<String> = operation
            .guard
            .iter()
            .map(|c| format!("{}: {}", c.name, scope.text(&c.body)))
            .collect();
        let name = match &operation.kind {
            OperationKind::Effect(_) => format!("{} answers", operation.name),
            _ => operation.name.clone(),
        };
        self.arrow("main", column, self.columns.len(), &name, &guard);
        if let Some(refused) = step.refused {
            let text = format!("refused by {}", clause_name(operation, refused));
            self.arrow("warn", self.columns.len(), column, &text, &[]);
        }
    }

    /// An arrow with its texts above it, in the gap beside the actor.
    fn arrow(&mut self, class: &str, from: usize, to: usize, name: &str, small: &[String]) {
        let actor = from.min(to);
        let x = Self::x(actor) + 12.0;
        self.y += self.canvas.block(NAME, Anchor::Start, x, self.y, name, ROOM);
        for text in small {
            self.y += self.canvas.block(SMALL, Anchor::Start, x, self.y, text, ROOM);
        }
        self.y += 5.0;
        self.canvas.path(class, &[(Self::x(from), self.y), (Self::x(to), self.y)], true);
        self.y += 14.0;
    }
}
