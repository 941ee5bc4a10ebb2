//! Effects that a `use` adds write only what the archetype does not have, unless they say `into`.

use syntax::{Diagnostic, FileId, Span};

use super::{Origins, Used};
use crate::model::{
    Design, Expr, ExprKind, Operation, Stmt, StmtKind, SubjectId, Target, Type, visit,
};

/// Messages about effects that write into an archetype without saying so.
pub(crate) fn writes_of_others(
    design: &Design,
    used: &[Used],
    origins: &Origins,
) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for operation in &design.operations {
        for body in visit::bodies(operation) {
            visit::each_statement(body, &mut |statement| {
                let at = origins.of(statement.span);
                let within = |span: Span| {
                    span.file == at.file && span.start <= at.start && at.end <= span.end
                };
                for held in used {
                    let plain = held.effects.iter().any(|more| within(more.span) && !more.into);
                    if !plain {
                        continue;
                    }
                    let place = written(design, operation, statement)
                        .map(|(span, what)| (origins.of(span), what));
                    if let Some((place, what)) = place.filter(|(it, _)| is_of(held, it.file)) {
                        problems.push(told(at, place, &what, held));
                    }
                }
            });
        }
    }
    problems
}

fn is_of(used: &Used, file: FileId) -> bool {
    used.files.contains(&file.0)
}

fn told(at: Span, place: Span, what: &str, used: &Used) -> Diagnostic {
    Diagnostic::error(
        "E0808",
        at,
        format!("{what} is what `{}` has, not what is added", used.archetype),
    )
    .also(place, "it stands in the archetype")
    .help("write `also into { … }`: the goals of the archetype are explored with it")
}

/// What a statement changes: where that is declared, and how it is called.
fn written(design: &Design, operation: &Operation, statement: &Stmt) -> Option<(Span, String)> {
    let attribute = |base: &Expr, attr: crate::model::AttrId| {
        let subject = &design.subjects[subject_of(base)?.index()];
        let attribute = &subject.attributes[attr.index()];
        let state = &subject.states[attribute.state.index()];
        Some((attribute.span, format!("`{}.{}`", state.name, attribute.name)))
    };
    let whole = |subject: SubjectId| {
        let subject = &design.subjects[subject.index()];
        (subject.span, format!("`{}`", subject.name))
    };
    match &statement.kind {
        StmtKind::Assign { target, .. } => match target {
            Target::Attr { base, attr } | Target::Element { base, attr, .. } => {
                attribute(base, *attr)
            }
            Target::Memory(id) => {
                let used = &operation.memory[id.index()];
                let memory = &design.actors[used.actor.index()].memory[used.field.index()];
                Some((memory.span, format!("`{}`", memory.name)))
            }
        },
        StmtKind::New { subject, .. } => Some(whole(*subject)),
        StmtKind::Delete { target } => subject_of(target).map(whole),
        StmtKind::Append { base, log, .. } => {
            let subject = &design.subjects[subject_of(base)?.index()];
            let log = &subject.states[log.index()];
            Some((log.span, format!("`{}`", log.name)))
        }
        StmtKind::Emit { event, .. } => {
            let event = &design.events[event.index()];
            Some((event.span, format!("`{}`", event.name)))
        }
        StmtKind::Send { operation, .. } => {
            let operation = &design.operations[operation.index()];
            Some((operation.head, format!("`{}`", operation.name)))
        }
        StmtKind::Let { .. } | StmtKind::For { .. } | StmtKind::If { .. } => None,
    }
}

fn subject_of(base: &Expr) -> Option<SubjectId> {
    match base.ty.required() {
        Type::Ref(subject) => Some(*subject),
        _ => match &base.kind {
            ExprKind::Local(_) => base.ty.subject(),
            _ => None,
        },
    }
}
