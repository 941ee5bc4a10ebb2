//! Which values are ever looked at. A value that is only stored and given back makes no
//! difference to any guard or goal, so in the small world one stands for all.

use rustc_hash::FxHashSet;

use crate::model::visit::{children, each, each_statement, statement_exprs};
use crate::model::*;

/// Somewhere a value is kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Site {
    Attr(SubjectId, AttrId),
    Local(OperationId, LocalId),
    Memory(ActorId, MemoryId),
}

/// The sites whose values are compared, counted with, or used as a key.
pub fn looked_at(design: &Design) -> FxHashSet<Site> {
    let mut flow = Flow { looked: FxHashSet::default(), edges: Vec::new() };
    for (at, operation) in design.operations.iter().enumerate() {
        let id = OperationId::of(at);
        let frame = Some((id, operation));
        for clause in &operation.guard {
            flow.look_inside(&clause.body, frame);
        }
        flow.statements(&operation.body, frame, design);
        if let OperationKind::Effect(effect) = &operation.kind {
            for key in &effect.key {
                flow.look(key, frame);
            }
            if let Some(sign) = &effect.sign {
                flow.look_inside(&sign.digest, frame);
                flow.look_inside(&sign.key, frame);
            }
            for answer in [&effect.on_ok, &effect.on_refused, &effect.on_unknown] {
                flow.statements(&answer.body, frame, design);
            }
        }
    }
    for goal in design.goals() {
        flow.look_inside(&goal.body, None);
        flow.look_at_rows(&goal.body, design);
    }
    for subject in &design.subjects {
        for counter in &subject.counters {
            if let Some(filter) = &counter.filter {
                flow.look_inside(filter, None);
            }
            if let Some(value) = &counter.value {
                flow.look(value, None);
            }
        }
    }
    flow.spread()
}

type FrameOf<'d> = Option<(OperationId, &'d Operation)>;

struct Flow {
    looked: FxHashSet<Site>,
    /// (from, to): the value at `from` is put at `to`
    edges: Vec<(Site, Site)>,
}

impl Flow {
    /// Marks every operand that decides something.
    fn look_inside(&mut self, value: &Expr, frame: FrameOf<'_>) {
        each(value, &mut |part| match &part.kind {
            ExprKind::Compare { left, right, .. } | ExprKind::Arithmetic { left, right, .. } => {
                self.look(left, frame);
                self.look(right, frame);
            }
            ExprKind::In { item, collection } => {
                self.look(item, frame);
                self.look(collection, frame);
            }
            ExprKind::Index { base, index } => {
                self.look(base, frame);
                self.look(index, frame);
            }
            ExprKind::Min(parts) | ExprKind::Max(parts) => {
                for part in parts {
                    self.look(part, frame);
                }
            }
            ExprKind::Negate(inner)
            | ExprKind::Size(inner)
            | ExprKind::Stored(inner)
            | ExprKind::IsNull(inner) => self.look(inner, frame),
            ExprKind::Hash(parts) | ExprKind::Keyed { key: parts, .. } => {
                parts.iter().for_each(|part| self.look(part, frame));
            }
            ExprKind::Verified { signature: a, key: b, over: c }
            | ExprKind::Included { leaf: a, root: b, proof: c } => {
                [a, b, c].into_iter().for_each(|part| self.look(part, frame));
            }
            // which schedule it is decides nothing in the small world
            ExprKind::NextOf { after, .. } => self.look(after, frame),
            ExprKind::Quantifier { domain, .. } | ExprKind::Aggregate { domain, .. } => {
                if let ExprKind::Aggregate { value: Some(value), .. } = &part.kind {
                    self.look(value, frame);
                }
                if let Domain::Elements(collection) = &**domain {
                    self.look(collection, frame);
                }
            }
            ExprKind::Attr { base, .. } | ExprKind::Exists { base, .. } => self.look(base, frame),
            ExprKind::Let { local, value, .. } => {
                if let Some((operation, _)) = frame {
                    self.put(value, Site::Local(operation, *local), frame);
                } else {
                    self.look(value, frame);
                }
            }
            _ => {}
        });
        // a bare value in the place of a condition decides, too
        self.look_bare(value, frame);
    }

    /// What a goal reads of calls, messages and memory decides.
    fn look_at_rows(&mut self, goal: &Expr, design: &Design) {
        let mut rows = Vec::new();
        each(goal, &mut |part| match &part.kind {
            ExprKind::Quantifier { local, domain, .. }
            | ExprKind::Aggregate { local, domain, .. } => {
                rows.extend(domain.rows_of().map(|operation| (*local, operation)));
            }
            ExprKind::Remembered { actor, field, .. } => {
                self.looked.insert(Site::Memory(*actor, *field));
            }
            _ => {}
        });
        each(goal, &mut |part| {
            let ExprKind::WorldArg { local, param } = &part.kind else { return };
            for (_, operation) in rows.iter().filter(|(held, _)| held == local) {
                let param = &design.operations[operation.index()].params[*param as usize];
                self.looked.insert(Site::Local(*operation, param.local));
            }
        });
    }

    fn look_bare(&mut self, value: &Expr, frame: FrameOf<'_>) {
        match &value.kind {
            ExprKind::And(parts) | ExprKind::Or(parts) => {
                for part in parts {
                    self.look_bare(part, frame);
                }
            }
            ExprKind::Not(inner) | ExprKind::Old(inner) => self.look_bare(inner, frame),
            ExprKind::Implies(left, right) => {
                self.look_bare(left, frame);
                self.look_bare(right, frame);
            }
            _ => self.look(value, frame),
        }
    }

    fn look(&mut self, value: &Expr, frame: FrameOf<'_>) {
        for site in sources(value, frame) {
            self.looked.insert(site);
        }
    }

    fn put(&mut self, value: &Expr, to: Site, frame: FrameOf<'_>) {
        for from in sources(value, frame) {
            self.edges.push((from, to));
        }
    }

    fn statements(&mut self, body: &[Stmt], frame: FrameOf<'_>, design: &Design) {
        each_statement(body, &mut |statement| {
            statement_exprs(statement, &mut |value| self.look_inside_only(value, frame));
            match &statement.kind {
                StmtKind::Assign { target, op, value } => {
                    let to = match target {
                        Target::Attr { base, attr } | Target::Element { base, attr, .. } => {
                            base.ty.subject().map(|subject| Site::Attr(subject, *attr))
                        }
                        Target::Memory(used) => frame.map(|(_, operation)| {
                            let used = &operation.memory[used.index()];
                            Site::Memory(used.actor, used.field)
                        }),
                    };
                    if let Some(to) = to {
                        self.put(value, to, frame);
                        if *op != AssignOp::Set {
                            self.looked.insert(to);
                            self.look(value, frame);
                        }
                    }
                    if let Target::Element { key, .. } = target {
                        self.look(key, frame);
                    }
                }
                StmtKind::Let { local, value } => {
                    if let Some((operation, _)) = frame {
                        self.put(value, Site::Local(operation, *local), frame);
                    }
                }
                StmtKind::New { subject, keys, fields } => {
                    for key in keys {
                        self.look(key, frame);
                    }
                    for (attr, value) in fields {
                        self.put(value, Site::Attr(*subject, *attr), frame);
                    }
                }
                StmtKind::Append { base, fields, .. } => {
                    if let Some(subject) = base.ty.subject() {
                        for (attr, value) in fields {
                            self.put(value, Site::Attr(subject, *attr), frame);
                        }
                    }
                }
                StmtKind::Send { operation, args } => {
                    let target = &design.operations[operation.index()];
                    for (param, arg) in target.params.iter().zip(args) {
                        self.put(arg, Site::Local(*operation, param.local), frame);
                    }
                }
                StmtKind::For { domain, .. } => self.look(domain, frame),
                StmtKind::If { condition, .. } => self.look_bare(condition, frame),
                StmtKind::Delete { .. } | StmtKind::Emit { .. } => {}
            }
        });
    }

    /// As `look_inside`, for a value that is itself only moved.
    fn look_inside_only(&mut self, value: &Expr, frame: FrameOf<'_>) {
        children(value, &mut |child| self.look_inside_only(child, frame));
        match &value.kind {
            ExprKind::Compare { .. }
            | ExprKind::Arithmetic { .. }
            | ExprKind::In { .. }
            | ExprKind::Index { .. }
            | ExprKind::Min(_)
            | ExprKind::Max(_)
            | ExprKind::Negate(_)
            | ExprKind::Size(_)
            | ExprKind::Stored(_)
            | ExprKind::Keyed { .. }
            | ExprKind::Hash(_)
            | ExprKind::Verified { .. }
            | ExprKind::Included { .. }
            | ExprKind::IsNull(_)
            | ExprKind::Attr { .. }
            | ExprKind::Exists { .. }
            | ExprKind::Aggregate { .. }
            | ExprKind::Quantifier { .. } => {
                let mut looked = Vec::new();
                children(value, &mut |child| looked.extend(sources(child, frame)));
                self.looked.extend(looked);
            }
            ExprKind::If { condition, .. } => self.look_bare(condition, frame),
            _ => {}
        }
    }

    /// What is put where it is looked at is looked at itself.
    fn spread(mut self) -> FxHashSet<Site> {
        loop {
            let before = self.looked.len();
            for (from, to) in &self.edges {
                if self.looked.contains(to) {
                    self.looked.insert(*from);
                }
            }
            if self.looked.len() == before {
                return self.looked;
            }
        }
    }
}

/// Where the value of this expression may come from, unchanged.
fn sources(value: &Expr, frame: FrameOf<'_>) -> Vec<Site> {
    let mut found = Vec::new();
    match &value.kind {
        ExprKind::Local(id) => {
            found.extend(frame.map(|(operation, _)| Site::Local(operation, *id)))
        }
        ExprKind::Memory(used) => found.extend(frame.map(|(_, operation)| {
            let used = &operation.memory[used.index()];
            Site::Memory(used.actor, used.field)
        })),
        ExprKind::Attr { base, attr } => {
            found.extend(base.ty.subject().map(|subject| Site::Attr(subject, *attr)));
        }
        ExprKind::Old(inner) => found = sources(inner, frame),
        ExprKind::If { then, otherwise, .. } => {
            found = sources(then, frame);
            found.extend(sources(otherwise, frame));
        }
        ExprKind::Let { body, .. } => found = sources(body, frame),
        ExprKind::Index { base, .. } | ExprKind::Field { base, .. } => found = sources(base, frame),
        ExprKind::Record(fields) if matches!(value.ty, Type::Struct(_)) => {
            for (_, field) in fields {
                found.extend(sources(field, frame));
            }
        }
        ExprKind::Set(parts)
        | ExprKind::List(parts)
        | ExprKind::Min(parts)
        | ExprKind::Max(parts) => {
            for part in parts {
                found.extend(sources(part, frame));
            }
        }
        _ => {}
    }
    found
}
