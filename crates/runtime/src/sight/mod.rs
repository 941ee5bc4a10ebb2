//! Who may see which truth, as the design says it.
//!
//! A state is seen by the actors that its `visible to` names, where the condition holds; without
//! one, by the actors whose operations read it. A condition is one more operation of the program, a
//! read of one record whose guard it is, so that the engine's own evaluation decides.

mod eye;
mod viewer;

pub(crate) use design::mentions::guard;
pub(crate) use eye::{Eye, Looked, Mask};
pub use viewer::{Roles, Viewer};

use std::collections::BTreeSet;

use design::mentions::{self, Answer, Mentions, readers_of};
use design::model::{
    ActorId, Clause, CompareOp, Const, Design, Expr, ExprKind, LocalId, Operation, OperationId,
    OperationKind, Param, StateId, StateKind, SubjectId, Type, View, Visible,
};

/// The rules of a design, prepared.
#[derive(Debug)]
pub struct Sight {
    /// by subject, then by state
    states: Vec<Vec<Rule>>,
    /// by event: what its fields tell of
    events: Vec<Mentions>,
    /// by operation: what a read's answer tells of
    answers: Vec<Option<Answer>>,
    /// by operation: what it may write
    written: Vec<BTreeSet<(SubjectId, StateId)>>,
    /// by view: what a row tells by being there, and by where it stands
    views: Vec<Mentions>,
    /// by view, then by column: what it tells of the row and of the records that it leads to
    columns: Vec<Vec<Mentions>>,
    /// by view, then by state of its subject: seen on every row that a view of the caller has for its caller,
    /// because the condition of the state is the one that picks the rows
    own: Vec<Vec<bool>>,
    subjects: Vec<SubjectId>,
    /// for each actor the one at the root of its chain: they are the same principals
    roots: Vec<ActorId>,
    names: Vec<String>,
}

#[derive(Debug)]
enum Rule {
    /// whose operations read it
    Derived(Vec<ActorId>),
    Stated(Vec<Stated>),
}

#[derive(Debug)]
struct Stated {
    to: Vec<ActorId>,
    /// the operation whose guard is the condition
    condition: Option<OperationId>,
}

impl Sight {
    /// The rules, and the operations to be appended after `first` others.
    pub fn of(design: &Design, first: usize) -> (Sight, Vec<Operation>) {
        let roots: Vec<ActorId> = (0..design.actors.len()).map(|at| root(design, at)).collect();
        let mut operations = Vec::new();
        let readers = mentions::readers(design);
        let mut states = Vec::new();
        for (at, subject) in design.subjects.iter().enumerate() {
            let id = SubjectId::of(at);
            let rules = subject.states.iter().enumerate().map(|(state, declared)| {
                if declared.visible.is_empty() {
                    let soft = matches!(declared.kind, StateKind::Ephemeral { .. });
                    let derived = readers_of(&readers, (id, StateId::of(state)), soft);
                    let derived = derived.into_iter().map(|actor| roots[actor.index()]);
                    return Rule::Derived(derived.collect());
                }
                let stated = declared.visible.iter().map(|visible| Stated {
                    to: visible.to.iter().map(|actor| roots[actor.index()]).collect(),
                    condition: visible.condition.as_ref().map(|condition| {
                        operations.push(operation(design, id, visible, condition));
                        OperationId::of(first + operations.len() - 1)
                    }),
                });
                Rule::Stated(stated.collect())
            });
            states.push(rules.collect());
        }
        let sight = Sight {
            states,
            events: mentions::events(design),
            answers: design.operations.iter().map(|it| mentions::answer(design, it)).collect(),
            written: design.operations.iter().map(|it| mentions::written(design, it)).collect(),
            views: design.views.iter().map(|it| mentions::view(design, it)).collect(),
            columns: design.views.iter().map(|it| mentions::columns(design, it)).collect(),
            own: design.views.iter().map(|it| own(design, it, &roots)).collect(),
            subjects: design.views.iter().map(|it| it.subject).collect(),
            names: design.actors.iter().map(|actor| actor.name.clone()).collect(),
            roots,
        };
        (sight, operations)
    }

    /// May the viewer act as this actor? `continues` makes no difference: they are the same
    /// principals.
    pub fn allows(&self, viewer: &Viewer, actor: ActorId) -> bool {
        match &viewer.roles {
            Roles::All => true,
            Roles::Some(_) => self.roots_of(viewer).contains(&self.roots[actor.index()]),
        }
    }

    fn roots_of(&self, viewer: &Viewer) -> Vec<ActorId> {
        let Roles::Some(roles) = &viewer.roles else { return Vec::new() };
        let actors = self.names.iter().zip(&self.roots);
        actors.filter(|(name, _)| roles.contains(name)).map(|(_, root)| *root).collect()
    }
}

/// For each state of the view's subject: does its caller see it on every row that it has there?
fn own(design: &Design, view: &View, roots: &[ActorId]) -> Vec<bool> {
    let states = &design.subjects[view.subject.index()].states;
    let Some(caller) = &view.caller else { return vec![false; states.len()] };
    let picked: Vec<&Expr> =
        view.group.iter().filter(|(local, _)| *local == caller.me).map(|(_, it)| it).collect();
    let implied = |visible: &Visible| {
        let asked = roots[caller.actor.index()];
        visible.to.iter().any(|to| roots[to.index()] == asked)
            && visible.condition.as_ref().is_some_and(|condition| follows(condition, &picked))
    };
    states.iter().map(|state| state.visible.iter().any(implied)).collect()
}

/// Is the condition nothing but `attribute = me`, for attributes that pick the rows?
fn follows(condition: &Expr, picked: &[&Expr]) -> bool {
    match &condition.kind {
        ExprKind::And(parts) => parts.iter().all(|part| follows(part, picked)),
        ExprKind::Compare { op: CompareOp::Equal, left, right } => {
            let of = match (&left.kind, &right.kind) {
                (_, ExprKind::Me) => left,
                (ExprKind::Me, _) => right,
                _ => return false,
            };
            picked.iter().any(|known| same_place(known, of))
        }
        _ => false,
    }
}

/// The same attribute or part of the key of the row, which is local 0 in both.
fn same_place(one: &Expr, other: &Expr) -> bool {
    let is_row = |base: &Expr| matches!(base.kind, ExprKind::Local(LocalId(0)));
    match (&one.kind, &other.kind) {
        (ExprKind::Attr { base: a, attr }, ExprKind::Attr { base: b, attr: held }) => {
            attr == held && is_row(a) && is_row(b)
        }
        (ExprKind::KeyPart { base: a, part }, ExprKind::KeyPart { base: b, part: held }) => {
            part == held && is_row(a) && is_row(b)
        }
        _ => false,
    }
}

fn root(design: &Design, actor: usize) -> ActorId {
    let mut root = ActorId::of(actor);
    for _ in 0..design.actors.len() {
        match design.actors[root.index()].continues {
            Some(next) => root = next,
            None => break,
        }
    }
    root
}

/// A read of one record that is refused where the condition does not hold.
fn operation(
    design: &Design,
    subject: SubjectId,
    visible: &Visible,
    condition: &Expr,
) -> Operation {
    let span = visible.span;
    let row = Param {
        name: "row".into(),
        ty: Type::Ref(subject),
        range: None,
        new: false,
        from_caller: false,
        default: None,
        generated: None,
        local: design::model::LocalId(0),
        span,
    };
    let yes = Expr { kind: ExprKind::Literal(Const::Bool(true)), ty: Type::Bool, span };
    Operation {
        rate: None,
        hears: None,
        each: None,
        kind: OperationKind::Read { result: yes },
        // who looks is `me`; which actor that is was asked before
        actor: design.operations.first().map_or(ActorId(0), |first| first.actor),
        name: "visible".into(),
        params: vec![row],
        locals: visible.locals.clone(),
        guard: vec![Clause { name: "where".into(), body: condition.clone(), span }],
        body: Vec::new(),
        memory: Vec::new(),
        span,
        head: span,
    }
}
