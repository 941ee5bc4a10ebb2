//! Which truth an expression tells of, and so who sees which truth where nothing else is said.

use std::collections::BTreeSet;

use crate::model::visit::{each, each_statement, statement_exprs};
use crate::model::{
    ActorId, AssignOp, AttrId, Design, Expr, ExprKind, Operation, OperationKind, StateId, Stmt,
    StmtKind, SubjectId, Target, Type, View,
};

/// What must be seen before something that is made of it may be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mentions {
    /// states of records that are looked at
    pub states: BTreeSet<(SubjectId, StateId)>,
    /// subjects whose records are counted without being looked at one by one
    pub counted: BTreeSet<SubjectId>,
    /// who acts
    pub me: bool,
    /// secrets are left out: who compares one is told nothing of what stands beside it
    pub without_secrets: bool,
}

/// What a read's answer tells of, part by part.
#[derive(Debug)]
pub enum Answer {
    Part(Mentions),
    Record(Vec<(String, Answer)>),
}

impl Mentions {
    fn of(design: &Design, value: &Expr) -> Mentions {
        let mut found = Mentions::default();
        found.add(design, value);
        found
    }

    fn add(&mut self, design: &Design, value: &Expr) {
        each(value, &mut |part| match &part.kind {
            ExprKind::Attr { base, attr } => self.attribute(design, base, *attr),
            ExprKind::LogEnd { base, log }
            | ExprKind::LogStart { base, log }
            | ExprKind::LogSlice { base, log, .. } => {
                self.states.extend(subject_of(base).map(|subject| (subject, *log)));
            }
            ExprKind::Counter { base, counter } => {
                let subject = subject_of(base).map(|subject| &design.subjects[subject.index()]);
                let counter = subject.and_then(|subject| subject.counters.get(counter.index()));
                self.counted.extend(counter.map(|counter| counter.child));
            }
            // rows are shown whole
            ExprKind::View { view, .. } => {
                let view = &design.views[view.index()];
                let states = design.subjects[view.subject.index()].states.len();
                self.states.extend((0..states).map(|state| (view.subject, StateId::of(state))));
                // and what they show of others
                view.with.iter().for_each(|column| self.add(design, &column.value));
            }
            // whether it is there tells as much as how many there are
            ExprKind::Exists { base, cache: None } => self.counted.extend(subject_of(base)),
            ExprKind::Me => self.me = true,
            _ => {}
        });
    }

    fn attribute(&mut self, design: &Design, base: &Expr, attr: AttrId) {
        let Some(subject) = subject_of(base) else { return };
        let attribute = design.subjects[subject.index()].attributes.get(attr.index());
        let attribute = attribute.filter(|it| !self.without_secrets || !it.ty.is_secret());
        self.states.extend(attribute.map(|attribute| (subject, attribute.state)));
    }

    fn statements(&mut self, design: &Design, body: &[Stmt]) {
        each_statement(body, &mut |statement| {
            statement_exprs(statement, &mut |value| self.add(design, value));
            // `:=` writes and does not read; everything else looks first
            if let StmtKind::Assign { target, op, .. } = &statement.kind
                && let Target::Attr { base, attr } | Target::Element { base, attr, .. } = target
                && (*op != AssignOp::Set || matches!(target, Target::Element { .. }))
            {
                self.attribute(design, base, *attr);
            }
        });
    }
}

fn subject_of(base: &Expr) -> Option<SubjectId> {
    match base.ty.required() {
        Type::Ref(subject) => Some(*subject),
        _ => None,
    }
}

fn bodies(operation: &Operation) -> Vec<&[Stmt]> {
    let mut bodies = vec![&operation.body[..]];
    if let OperationKind::Effect(effect) = &operation.kind {
        let answers = [&effect.on_ok, &effect.on_refused, &effect.on_unknown];
        bodies.extend(answers.map(|answer| &answer.body[..]));
    }
    bodies
}

/// A state of a subject.
type State = (SubjectId, StateId);

/// The states that an operation may write.
pub fn written(design: &Design, operation: &Operation) -> BTreeSet<State> {
    let mut states = BTreeSet::new();
    let whole = |subject: SubjectId| {
        let states = design.subjects[subject.index()].states.len();
        (0..states).map(move |state| (subject, StateId::of(state)))
    };
    for param in operation.params.iter().filter(|param| param.new) {
        if let Type::Ref(subject) = param.ty.required() {
            states.extend(whole(*subject));
        }
    }
    for body in bodies(operation) {
        each_statement(body, &mut |statement| match &statement.kind {
            StmtKind::Assign {
                target: Target::Attr { base, attr } | Target::Element { base, attr, .. },
                ..
            } => {
                let mut target = Mentions::default();
                target.attribute(design, base, *attr);
                states.append(&mut target.states);
            }
            StmtKind::New { subject, .. } => states.extend(whole(*subject)),
            StmtKind::Delete { target } => {
                states.extend(subject_of(target).into_iter().flat_map(whole))
            }
            StmtKind::Append { base, log, .. } => {
                states.extend(subject_of(base).map(|subject| (subject, *log)));
            }
            _ => {}
        });
    }
    states
}

fn read(design: &Design, operation: &Operation) -> Mentions {
    let mut read = Mentions { without_secrets: true, ..Mentions::default() };
    for clause in &operation.guard {
        read.add(design, &clause.body);
    }
    for body in bodies(operation) {
        read.statements(design, body);
    }
    // who takes a row is told that it was in the view
    if let Some((_, next)) = operation.takes() {
        read.states.append(&mut view(design, &design.views[next.view.index()]).states);
    }
    match &operation.kind {
        OperationKind::Read { result } => read.add(design, result),
        OperationKind::Effect(effect) => {
            let fields = effect.body.iter().map(|(_, value)| value);
            effect.key.iter().chain(fields).for_each(|value| read.add(design, value));
        }
        OperationKind::Step { .. } | OperationKind::Repair { .. } => {}
    }
    read
}

/// What the operations of an actor read and write.
pub struct Reader {
    actor: ActorId,
    read: BTreeSet<State>,
    written: BTreeSet<State>,
}

pub fn readers(design: &Design) -> Vec<Reader> {
    let reader = |operation: &Operation| Reader {
        actor: operation.actor,
        read: read(design, operation).states,
        written: written(design, operation),
    };
    design.operations.iter().map(reader).collect()
}

/// The actors whose operations read a state. No guard may read soft state: it is for those who set
/// it, and for those who read the truth of the same subject.
pub fn readers_of(readers: &[Reader], state: State, soft: bool) -> BTreeSet<ActorId> {
    let reads = |reader: &&Reader| {
        reader.read.contains(&state)
            || soft && reader.written.contains(&state)
            || soft && reader.read.iter().any(|(of, _)| *of == state.0)
    };
    readers.iter().filter(reads).map(|reader| reader.actor).collect()
}

/// Of each event: what its fields may tell of, wherever it is emitted.
pub fn events(design: &Design) -> Vec<Mentions> {
    let mut events = vec![Mentions::default(); design.events.len()];
    for body in design.operations.iter().flat_map(bodies) {
        // a field may be a name for something that was looked up before
        let mut named = Mentions::default();
        each_statement(body, &mut |statement| match &statement.kind {
            StmtKind::Let { value, .. } => named.add(design, value),
            StmtKind::For { domain, .. } => named.add(design, domain),
            _ => {}
        });
        each_statement(body, &mut |statement| {
            let StmtKind::Emit { event, fields } = &statement.kind else { return };
            let known = &mut events[event.index()];
            known.states.extend(&named.states);
            known.counted.extend(&named.counted);
            known.me |= named.me;
            fields.iter().for_each(|(_, value)| known.add(design, value));
        });
    }
    events
}

/// Of a read: what its answer tells of.
pub fn answer(design: &Design, operation: &Operation) -> Option<Answer> {
    match &operation.kind {
        OperationKind::Read { result } => Some(part(design, result)),
        _ => None,
    }
}

fn part(design: &Design, value: &Expr) -> Answer {
    match &value.kind {
        ExprKind::Record(fields) => Answer::Record(
            fields.iter().map(|(name, field)| (name.clone(), part(design, field))).collect(),
        ),
        // the view looks at each row itself
        ExprKind::View { .. } => Answer::Part(Mentions::default()),
        _ => Answer::Part(Mentions::of(design, value)),
    }
}

/// Of a guard: what its holding tells of.
pub fn guard(design: &Design, operation: &Operation) -> Mentions {
    let mut found = Mentions::default();
    operation.guard.iter().for_each(|clause| found.add(design, &clause.body));
    found
}

/// Of a view: what a row tells by being there, by its group and by where it stands.
pub fn view(design: &Design, view: &View) -> Mentions {
    let mut found = Mentions::default();
    let grouped = view.group.iter().map(|(_, value)| value);
    view.filter.iter().chain(grouped).for_each(|value| found.add(design, value));
    view.values().into_iter().for_each(|value| found.add(design, value));
    // a row tells of what it was found by, and of where it stands
    let attributes = &design.subjects[view.subject.index()].attributes;
    let looked_up = view.looked_up().iter().map(|attr| attributes[attr.index()].state);
    found.states.extend(looked_up.map(|state| (view.subject, state)));
    found
}

/// Of each column of a view: what it tells of the row and of the records that it leads to.
pub fn columns(design: &Design, view: &View) -> Vec<Mentions> {
    view.with.iter().map(|column| Mentions::of(design, &column.value)).collect()
}
