//! What a design must keep to, looked at once everything has a meaning.

use rustc_hash::FxHashSet;
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::stmt::is_truth;
use crate::model::visit::{children, each, each_statement, statement_exprs};
use crate::model::*;
use crate::suggest;

/// How many records one step may read.
const MAX_READS: u64 = 1_000;

impl Compiler {
    pub(super) fn rules(&mut self) {
        self.defaults_where_nobody_makes_it();
        self.children_are_made_like_their_parents();
        self.messages_have_no_principal();
        self.secrets_are_kept();
        for at in 0..self.design.operations.len() {
            let operation = self.design.operations[at].clone();
            if self.has_error_in(operation.span) {
                continue; // what it does is not known in full
            }
            self.a_new_record_is_complete(&operation);
            self.a_repair_binds_one_record(&operation);
            self.reads_are_bounded(&operation);
            self.one_place(&operation);
            self.no_orphans(&operation);
        }
    }

    /// Under a parent that comes and goes, a child cannot be there from the start: the parent would
    /// be made with children that nobody has counted.
    fn children_are_made_like_their_parents(&mut self) {
        if self.something_is_missing() {
            return;
        }
        let mut problems = Vec::new();
        for child in self.design.subjects.iter().filter(|subject| subject.implicit) {
            let Some(parent) = child.parent else { continue };
            let parent = &self.design.subjects[parent.index()];
            if !parent.implicit {
                problems.push(
                    Diagnostic::error(
                        "E0422",
                        child.span,
                        format!(
                            "no step makes a `{}`, but one makes its `{}`",
                            child.name, parent.name
                        ),
                    )
                    .label("so it would be there before the record it belongs to")
                    .also(parent.span, "this one is made by a step")
                    .help(format!("let a step make it, too: `x: new {}`", child.name)),
                );
            }
        }
        self.diagnostics.append(&mut problems);
    }

    fn defaults_where_nobody_makes_it(&mut self) {
        if self.something_is_missing() {
            return; // perhaps the step that makes it
        }
        let mut problems = Vec::new();
        for subject in self.design.subjects.iter().filter(|subject| subject.implicit) {
            let without: Vec<&Attribute> = subject
                .attributes
                .iter()
                .enumerate()
                .filter(|(at, attr)| {
                    is_truth(subject, AttrId::of(*at))
                        && attr.default.is_none()
                        && attr.ty != Type::Error
                })
                .map(|(_, attr)| attr)
                .collect();
            let Some(first) = without.first() else {
                continue;
            };
            let names: Vec<&str> = without.iter().map(|attr| attr.name.as_str()).collect();
            let have = if names.len() == 1 { "has" } else { "have" };
            let message = format!("{} {have} no value to begin with", suggest::list(&names));
            let mut problem = Diagnostic::error("E0407", first.span, message).label(format!(
                "no step makes a `{}`, so each is there from the start",
                subject.name
            ));
            for attr in without.iter().skip(1) {
                problem = problem.also(attr.span, "nor has this");
            }
            problems.push(problem.help(format!(
                "give a default, make it optional (`?`), or let a step make the record: \
                 `x: new {}`",
                subject.name
            )));
        }
        self.diagnostics.append(&mut problems);
    }

    /// Who takes `x: new S` gives every attribute that has no default a value.
    fn a_new_record_is_complete(&mut self, operation: &Operation) {
        for param in operation.params.iter().filter(|param| param.new) {
            let Some(subject) = param.ty.subject() else {
                continue;
            };
            let mut given = FxHashSet::default();
            assigned_for_sure(&operation.body, param.local, &mut given);
            let owner = self.design.subjects[subject.index()].clone();
            let missing: Vec<&Attribute> = owner
                .attributes
                .iter()
                .enumerate()
                .filter(|(at, attr)| {
                    let id = AttrId::of(*at);
                    is_truth(&owner, id)
                        && attr.default.is_none()
                        && attr.ty != Type::Error
                        && !given.contains(&id)
                })
                .map(|(_, attr)| attr)
                .collect();
            let in_full = |attr: &&Attribute| {
                format!("{}.{}", owner.states[attr.state.index()].name, attr.name)
            };
            let names: Vec<String> = missing.iter().map(in_full).collect();
            let Some(first) = names.first() else {
                continue;
            };
            let mut problem = Diagnostic::error(
                "E0406",
                param.span,
                format!(
                    "`{}` makes a `{}` and leaves {} without a value",
                    operation.name,
                    owner.name,
                    suggest::list(&names)
                ),
            );
            for attr in &missing {
                problem = problem.also(attr.span, "it has no default");
            }
            self.report(problem.help(format!("assign it: `{first} := …`")));
        }
    }

    fn a_repair_binds_one_record(&mut self, operation: &Operation) {
        if !matches!(operation.kind, OperationKind::Repair { .. }) {
            return;
        }
        let bound = operation
            .params
            .iter()
            .filter(|param| matches!(param.ty, Type::Ref(_) | Type::Error) && !param.new)
            .count();
        if bound != 1 || operation.params.len() != 1 {
            self.report(
                Diagnostic::error(
                    "E0408",
                    operation.head,
                    format!("the repair `{}` does not bind exactly one record", operation.name),
                )
                .label("nobody calls a repair, so nobody gives it other parameters")
                .help("one parameter that names a subject, as in `release(seat: Seat)`"),
            );
        }
        if bound == 1 && operation.guard.is_empty() {
            self.report(
                Diagnostic::error(
                    "E0408",
                    operation.head,
                    format!(
                        "the repair `{}` has no guard, so it would run for ever",
                        operation.name
                    ),
                )
                .help("say when it is due: `{ stale: expires_at < now }`"),
            );
        }
    }

    fn reads_are_bounded(&mut self, operation: &Operation) {
        let parents = operation.params.iter().filter_map(|param| self.made_under(param)).count();
        let mut reads = (operation.params.len() + parents) as u64;
        for clause in &operation.guard {
            reads = reads.saturating_add(reads_of(&clause.body));
        }
        reads = reads.saturating_add(reads_of_block(&operation.body));
        if let OperationKind::Effect(effect) = &operation.kind {
            for answer in [&effect.on_ok, &effect.on_refused, &effect.on_unknown] {
                reads = reads.saturating_add(reads_of_block(&answer.body));
            }
        }
        if reads > MAX_READS {
            self.report(
                Diagnostic::error(
                    "E0405",
                    operation.head,
                    format!("`{}` may read {reads} records", operation.name),
                )
                .label(format!("a step reads at most {MAX_READS}"))
                .help("lower the bound of the collection it goes through, or work piece by piece in a repair"),
            );
        }
    }

    /// A step happens at one place: state that lives elsewhere is reached by messages.
    fn one_place(&mut self, operation: &Operation) {
        let mut located: Vec<(Span, bool)> = Vec::new();
        let mut elsewhere: Vec<(Span, String)> = Vec::new();
        let mut seen_params: Vec<LocalId> = Vec::new();
        let names = names_of_values(operation);
        let mut look = |value: &Expr| {
            each(value, &mut |part| {
                let base = match &part.kind {
                    ExprKind::Attr { base, .. }
                    | ExprKind::Exists { base, .. }
                    | ExprKind::Counter { base, .. }
                    | ExprKind::LogEnd { base, .. }
                    | ExprKind::LogStart { base, .. } => base,
                    _ => return,
                };
                self.touch(
                    (base, &names),
                    part.span,
                    operation,
                    &mut located,
                    &mut elsewhere,
                    &mut seen_params,
                );
            });
        };
        for clause in &operation.guard {
            look(&clause.body);
        }
        each_statement(&operation.body, &mut |statement| {
            statement_exprs(statement, &mut look);
        });
        let mut bases: Vec<(&Expr, Span)> = Vec::new();
        each_statement(&operation.body, &mut |statement| match &statement.kind {
            StmtKind::Assign {
                target: Target::Attr { base, .. } | Target::Element { base, .. },
                ..
            } => bases.push((base, statement.span)),
            // whether the parent is there is read
            StmtKind::New { subject, keys, .. }
                if self.design.explicit_parent(*subject).is_some() =>
            {
                bases.extend(keys.first().map(|parent| (parent, statement.span)));
            }
            _ => {}
        });
        let parents: Vec<Expr> =
            operation.params.iter().filter_map(|param| self.made_under(param)).collect();
        bases.extend(parents.iter().map(|parent| (parent, parent.span)));
        for (base, span) in bases {
            self.touch(
                (base, &names),
                span,
                operation,
                &mut located,
                &mut elsewhere,
                &mut seen_params,
            );
        }
        let Some(_) = located.first() else { return };
        let mut problems: Vec<Span> =
            located.iter().filter(|(_, param)| !param).map(|(span, _)| *span).collect();
        problems.extend(elsewhere.iter().map(|(span, _)| *span));
        if seen_params.len() > 1 {
            problems.push(operation.head);
        }
        if let Some(span) = problems.first() {
            self.report(
                Diagnostic::error(
                    "E0412",
                    *span,
                    format!("`{}` touches state of more than one place", operation.name),
                )
                .label("what lives at one node is out of reach of the others")
                .help(
                    "send a message: `send actor.operation(…)`, and let the other node act on it",
                ),
            );
        }
    }

    /// The parent of what a `new` parameter makes, if a step makes the parent, too.
    fn made_under(&self, param: &Param) -> Option<Expr> {
        let subject = param.ty.subject().filter(|_| param.new)?;
        let parent = self.design.explicit_parent(subject)?;
        let (ty, span) = (param.ty.clone(), param.span);
        let base = Box::new(Expr { kind: ExprKind::Local(param.local), ty, span });
        Some(Expr { kind: ExprKind::KeyPart { base, part: 0 }, ty: Type::Ref(parent), span })
    }

    fn touch(
        &self,
        (base, names): (&Expr, &[(LocalId, Expr)]),
        span: Span,
        operation: &Operation,
        located: &mut Vec<(Span, bool)>,
        elsewhere: &mut Vec<(Span, String)>,
        params: &mut Vec<LocalId>,
    ) {
        let Some(subject) = base.ty.subject() else {
            return;
        };
        if !self.is_located(subject) {
            let name = self.design.subjects[subject.index()].name.clone();
            elsewhere.push((span, name));
            return;
        }
        let param = self.param_at_this_place(base, operation, names);
        located.push((span, param.is_some()));
        if let Some(param) = param
            && !params.contains(&param)
        {
            params.push(param);
        }
    }

    /// The parameter whose record this is, or whose record lives at the same place: by another name,
    /// as in the body of a `define`, or as the parent of a child that has no place of its own.
    fn param_at_this_place(
        &self,
        record: &Expr,
        operation: &Operation,
        names: &[(LocalId, Expr)],
    ) -> Option<LocalId> {
        match &record.kind {
            ExprKind::Local(id) if operation.params.iter().any(|param| param.local == *id) => {
                Some(*id)
            }
            ExprKind::Local(id) => {
                let (_, value) = names.iter().find(|(name, _)| name == id)?;
                self.param_at_this_place(value, operation, names)
            }
            ExprKind::KeyPart { base, part: 0 } => {
                let child = &self.design.subjects[base.ty.subject()?.index()];
                let moves_along = child.place.is_none() && child.parent == record.ty.subject();
                moves_along.then(|| self.param_at_this_place(base, operation, names))?
            }
            _ => None,
        }
    }

    /// What a crash of a place takes away: only places crash, and what is left are the defaults.
    pub(super) fn volatile_states(&mut self) {
        for at in 0..self.design.subjects.len() {
            let subject = self.design.subjects[at].clone();
            for state in subject.states.iter().filter(|state| state.volatile) {
                if !self.is_located(SubjectId::of(at)) {
                    let message = format!("`{}` lives at no place that could crash", subject.name);
                    let help = format!(
                        "say where it lives: `subject {}(…, node: text) at node`, or keep `{}` as a `truth`",
                        subject.name, state.name
                    );
                    self.report(Diagnostic::error("E0428", state.span, message).help(help));
                }
                for attr in &state.attributes {
                    let attribute = &subject.attributes[attr.index()];
                    if attribute.default.is_none() && attribute.ty != Type::Error {
                        let message = format!(
                            "`{}` has no value to fall back to after a crash",
                            attribute.name
                        );
                        self.report(
                            Diagnostic::error("E0429", attribute.span, message)
                                .help("give it a default, or make it optional: `T?`"),
                        );
                    }
                }
            }
        }
    }

    /// A child lives where its parent lives.
    fn is_located(&self, subject: SubjectId) -> bool {
        let mut at = Some(subject);
        while let Some(id) = at {
            let subject = &self.design.subjects[id.index()];
            if subject.place.is_some() {
                return true;
            }
            at = subject.parent;
        }
        false
    }
}

/// What each name stands for that an operation gives to a value, in its guard or in its body.
pub(super) fn names_of_values(operation: &Operation) -> Vec<(LocalId, Expr)> {
    let mut names = Vec::new();
    let mut look = |value: &Expr| {
        each(value, &mut |part| {
            if let ExprKind::Let { local, value, .. } = &part.kind {
                names.push((*local, (**value).clone()));
            }
        });
    };
    for clause in &operation.guard {
        look(&clause.body);
    }
    each_statement(&operation.body, &mut |statement| statement_exprs(statement, &mut look));
    each_statement(&operation.body, &mut |statement| {
        if let StmtKind::Let { local, value } = &statement.kind {
            names.push((*local, value.clone()));
        }
    });
    names
}

/// Attributes of the record in `local` that every way through the block assigns.
fn assigned_for_sure(body: &[Stmt], local: LocalId, given: &mut FxHashSet<AttrId>) {
    for statement in body {
        match &statement.kind {
            StmtKind::Assign { target: Target::Attr { base, attr }, op: AssignOp::Set, .. } if matches!(base.kind, ExprKind::Local(id) if id == local) =>
            {
                given.insert(*attr);
            }
            StmtKind::If { then, otherwise, .. } => {
                let mut a = FxHashSet::default();
                let mut b = FxHashSet::default();
                assigned_for_sure(then, local, &mut a);
                assigned_for_sure(otherwise, local, &mut b);
                given.extend(a.intersection(&b));
            }
            _ => {}
        }
    }
}

fn reads_of_block(body: &[Stmt]) -> u64 {
    let mut reads: u64 = 0;
    for statement in body {
        let mut here: u64 = 0;
        statement_exprs(statement, &mut |value| here = here.saturating_add(reads_of(value)));
        let inner = match &statement.kind {
            StmtKind::For { domain, body, .. } => {
                reads_of_block(body).max(1).saturating_mul(bound_of(&domain.ty))
            }
            StmtKind::If { then, otherwise, .. } => {
                reads_of_block(then).saturating_add(reads_of_block(otherwise))
            }
            _ => 0,
        };
        reads = reads.saturating_add(here).saturating_add(inner);
    }
    reads
}

/// How many references are followed; within a collection, once for each element.
fn reads_of(value: &Expr) -> u64 {
    let mut inside: u64 = 0;
    children(value, &mut |child| inside = inside.saturating_add(reads_of(child)));
    match &value.kind {
        ExprKind::Attr { base, .. } | ExprKind::Exists { base, .. }
            if !matches!(base.kind, ExprKind::Local(_)) =>
        {
            inside.saturating_add(1)
        }
        ExprKind::Quantifier { domain, .. } | ExprKind::Aggregate { domain, .. } => match &**domain
        {
            Domain::Elements(collection) => inside.max(1).saturating_mul(bound_of(&collection.ty)),
            _ => inside,
        },
        _ => inside,
    }
}

fn bound_of(ty: &Type) -> u64 {
    match ty {
        Type::Set { max, .. } | Type::List { max, .. } | Type::Map { max, .. } => u64::from(*max),
        _ => 1,
    }
}
