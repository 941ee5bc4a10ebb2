//! `all`, `any`, `count`, `sum`: over everything in goals, over children and bounded sets in
//! guards, where children are counted under their parent.

use syntax::tree::{self, AggregateKind, QuantifierKind};
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::expr::boolean;
use super::frame::{Entry, Frame, Mode};
use super::path::{Found, error_expr};
use crate::model::visit::same;
use crate::model::*;

/// The parts that all four forms have.
struct Form<'t> {
    var: Option<&'t tree::Name>,
    filter: Option<&'t tree::Expr>,
    /// of `all` and `any`
    body: Option<&'t tree::Expr>,
    /// of `sum`
    value: Option<&'t tree::Expr>,
    all: bool,
    span: Span,
}

impl Compiler {
    pub(super) fn aggregate(&mut self, frame: &mut Frame, written: &tree::Expr) -> Expr {
        let (domain, form) = match &written.kind {
            tree::ExprKind::Quantifier { kind, var, domain, filter, body } => (
                domain,
                Form {
                    var: Some(var),
                    filter: filter.as_deref(),
                    body: Some(body),
                    value: None,
                    all: *kind == QuantifierKind::All,
                    span: written.span,
                },
            ),
            tree::ExprKind::Aggregate { kind, value, var, domain, filter } => {
                if (*kind == AggregateKind::Sum) != value.is_some() {
                    return error_expr(written.span);
                }
                (
                    domain,
                    Form {
                        var: var.as_ref(),
                        filter: filter.as_deref(),
                        body: None,
                        value: value.as_deref(),
                        all: false,
                        span: written.span,
                    },
                )
            }
            _ => return error_expr(written.span),
        };
        let Some(domain) = self.domain(frame, domain) else {
            return error_expr(written.span);
        };
        match &domain {
            Domain::All(subject) if frame.mode.is_bounded() => {
                let name = self.design.subjects[subject.index()].name.clone();
                self.report(
                    Diagnostic::error(
                        "E0403",
                        written.span,
                        format!("this would look at every `{name}` there is"),
                    )
                    .label("a guard or an effect reads a bounded number of records")
                    .help(format!(
                        "make `{name}` a child (`subject {name}(parent: Parent, …)`) and write \
                         `{name} of parent`, or keep a bounded set of references"
                    )),
                );
                error_expr(written.span)
            }
            Domain::Children { child, parent } if frame.mode.is_bounded() => {
                let (child, parent) = (*child, parent.clone());
                self.counted(child, parent, &form)
            }
            _ => self.ranged(frame, domain, &form),
        }
    }

    pub(super) fn domain(&mut self, frame: &mut Frame, written: &tree::Domain) -> Option<Domain> {
        let of_what = &written.of_what;
        if let tree::ExprKind::Name(name) = &of_what.kind
            && self.variable(frame, name).is_none()
        {
            if let Some(&subject) = self.names.subjects.get(&name.text) {
                self.known.refer(name, self.design.subjects[subject.index()].span);
                return match &written.parent {
                    None => Some(Domain::All(subject)),
                    Some(parent) => self.children(frame, subject, parent, of_what.span),
                };
            }
            if let Some(view) = self.names.views.get(&name.text) {
                let declared = self.design.views[view.index()].span;
                self.known.refer(name, declared);
                self.report(
                    Diagnostic::error("E0401", name.span, format!("`{}` is a view", name.text))
                        .label("it may lag behind the truth")
                        .also(declared, "derived here")
                        .help("range over the subject itself"),
                );
                return None;
            }
        }
        if let Some(found) = self.goal_domain(frame, written) {
            return found;
        }
        if let Some(parent) = &written.parent {
            self.report(
                Diagnostic::error("E0305", parent.span, "`of` follows a child subject's name")
                    .help("for example `Task of stage`"),
            );
            return None;
        }
        match self.path(frame, of_what, None) {
            Found::Nothing => None,
            Found::World(effect) => Some(Domain::World(effect)),
            Found::State { subject, state, .. } => {
                let name = self.design.subjects[subject.index()].states[state.index()].name.clone();
                self.report(
                    Diagnostic::error("E0305", of_what.span, format!("`{name}` is a single state"))
                        .help("range over its subject, or over a set in it"),
                );
                None
            }
            Found::Value(value) if !self.may_read_value(frame, &value) => None,
            Found::Value(value) => match &value.ty {
                Type::Set { .. } | Type::List { .. } | Type::Map { .. } => {
                    Some(Domain::Elements(value))
                }
                Type::Error => None,
                other => {
                    let ty = self.type_name(other);
                    self.report(
                        Diagnostic::error("E0305", value.span, format!("`{ty}` holds no elements"))
                            .help("range over a subject, its children, a set, a list or a map"),
                    );
                    None
                }
            },
        }
    }

    fn children(
        &mut self,
        frame: &mut Frame,
        child: SubjectId,
        parent: &tree::Expr,
        span: Span,
    ) -> Option<Domain> {
        let parent = self.expr(frame, parent, None);
        if parent.ty == Type::Error {
            return None;
        }
        let known = self.design.subjects[child.index()].parent;
        if known.is_some() && parent.ty.subject() == known {
            return Some(Domain::Children { child, parent });
        }
        let name = self.design.subjects[child.index()].name.clone();
        let ty = self.type_name(&parent.ty);
        let mut problem = Diagnostic::error(
            "E0305",
            span.to(parent.span),
            format!("`{name}` is not a child of `{ty}`"),
        );
        problem = match known {
            Some(subject) => {
                let of = &self.design.subjects[subject.index()].name;
                problem.help(format!("it is a child of `{of}`"))
            }
            None => problem.help(format!(
                "a child's key begins with its parent: `subject {name}(parent: {ty}, …)`"
            )),
        };
        self.report(problem);
        None
    }

    /// Over whatever it is, evaluated as it stands.
    fn ranged(&mut self, frame: &mut Frame, domain: Domain, form: &Form<'_>) -> Expr {
        let depth = frame.scope.len();
        let (ty, row) = match &domain {
            Domain::All(subject) | Domain::Children { child: subject, .. } => {
                (Type::Ref(*subject), Some(*subject))
            }
            Domain::Elements(collection) => {
                let of = match &collection.ty {
                    Type::Set { of, .. } | Type::List { of, .. } => (**of).clone(),
                    Type::Map { key, .. } => (**key).clone(),
                    _ => Type::Error,
                };
                let row = of.subject();
                (of, row)
            }
            Domain::Principals(_) => (Type::Actor, None),
            Domain::World(operation) | Domain::Messages(operation) | Domain::Outbox(operation) => {
                let params = &self.design.operations[operation.index()].params;
                let fields = params.iter().map(|param| (param.name.clone(), param.ty.clone()));
                (Type::Record(fields.collect()), None)
            }
        };
        let is_struct = matches!(ty, Type::Struct(_));
        let name = form.var.map_or("row", |var| var.text.as_str());
        if let Some(var) = form.var {
            self.not_reserved(var);
        }
        let local = frame.slot(name, ty);
        if let Some(var) = form.var {
            self.declare_slot(frame, var, local);
        }
        if let Some(effect) = domain.rows_of() {
            frame.scope.push(Entry::WorldRow { id: local, effect });
        } else if let Domain::Principals(actor) = domain {
            frame.scope.push(Entry::Principal { id: local, actor });
        } else if form.var.is_none()
            && let Some(subject) = row
        {
            frame.scope.push(Entry::Row { id: local, subject });
        } else if form.var.is_none() && is_struct {
            frame.scope.push(Entry::Struct { id: local });
        }
        if let Some(var) = form.var {
            frame.scope.push(Entry::Local { name: var.text.clone(), id: local });
        }
        let filter = form.filter.map(|filter| Box::new(self.condition(frame, filter)));
        let kind = match form.body {
            Some(body) => ExprKind::Quantifier {
                all: form.all,
                local,
                domain: Box::new(domain),
                filter,
                body: Box::new(self.condition(frame, body)),
            },
            None => ExprKind::Aggregate {
                local,
                domain: Box::new(domain),
                filter,
                value: form.value.map(|value| Box::new(self.expr(frame, value, None))),
            },
        };
        frame.scope.truncate(depth);
        let ty = match &kind {
            ExprKind::Quantifier { .. } => Type::Bool,
            ExprKind::Aggregate { value: Some(value), .. } => self.summable(value),
            _ => Type::Int,
        };
        Expr { kind, ty, span: form.span }
    }

    fn summable(&mut self, value: &Expr) -> Type {
        match value.ty.required() {
            ty @ (Type::Int | Type::Decimal | Type::Money(_) | Type::Duration | Type::Error) => {
                ty.clone()
            }
            other => {
                let ty = self.type_name(other);
                self.report(
                    Diagnostic::error("E0303", value.span, format!("`{ty}` has no sum"))
                        .help("`int`, `decimal` and `duration` have one; `count(…)` counts"),
                );
                Type::Error
            }
        }
    }

    /// Over children, in a guard: a counter under the parent, kept by every step that changes a
    /// child. One read, no scan, no phantom.
    fn counted(&mut self, child: SubjectId, parent: Expr, form: &Form<'_>) -> Expr {
        let span = form.span;
        let mut frame = Frame::new(Mode::Counter, None);
        let local = frame.slot("row", Type::Ref(child));
        frame.scope.push(Entry::Wall);
        frame.scope.push(Entry::Row { id: local, subject: child });
        if let Some(var) = form.var {
            self.not_reserved(var);
            self.declare_slot(&mut frame, var, local);
            frame.scope.push(Entry::Local { name: var.text.clone(), id: local });
        }
        let mut parts = Vec::new();
        if let Some(filter) = form.filter {
            parts.push(self.condition(&mut frame, filter));
        }
        if let Some(body) = form.body {
            let body = self.condition(&mut frame, body);
            parts.push(if form.all {
                let span = body.span;
                boolean(ExprKind::Not(Box::new(body)), span)
            } else {
                body
            });
        }
        let value = form.value.map(|value| self.expr(&mut frame, value, None));
        let ty = match &value {
            Some(value) => self.summable(value),
            None => Type::Int,
        };
        for part in parts.iter().chain(value.as_ref()) {
            self.only_the_childs_own(part, local);
        }
        let filter = match parts.len() {
            0 => None,
            1 => parts.pop(),
            _ => Some(boolean(ExprKind::And(parts), span)),
        };
        let Some(subject) = parent.ty.subject() else {
            return error_expr(span);
        };
        let wanted = Counter { child, filter, value, locals: frame.locals };
        let counters = &mut self.design.subjects[subject.index()].counters;
        let known = counters.iter().position(|counter| {
            counter.child == child
                && same_option(&counter.filter, &wanted.filter)
                && same_option(&counter.value, &wanted.value)
        });
        let at = known.unwrap_or_else(|| {
            counters.push(wanted);
            counters.len() - 1
        });
        let counter = Expr {
            kind: ExprKind::Counter { base: Box::new(parent), counter: CounterId::of(at) },
            ty,
            span,
        };
        if form.body.is_none() {
            return counter;
        }
        let zero = Expr { kind: ExprKind::Literal(Const::Int(0)), ty: Type::Int, span };
        boolean(
            ExprKind::Compare {
                op: if form.all { CompareOp::Equal } else { CompareOp::Greater },
                left: Box::new(counter),
                right: Box::new(zero),
            },
            span,
        )
    }

    /// A counter can be kept only if a change of the child alone tells how it changes.
    fn only_the_childs_own(&mut self, value: &Expr, child: LocalId) {
        let mut problems = Vec::new();
        crate::model::visit::each(value, &mut |part| match &part.kind {
            ExprKind::Attr { base, .. } if !matches!(base.kind, ExprKind::Local(id) if id == child) =>
            {
                problems.push((part.span, "a record that the child refers to"));
            }
            ExprKind::Attr { base, attr } if self.is_volatile(base, *attr) => {
                problems.push((part.span, "what a crash may take away"));
            }
            ExprKind::Counter { .. } | ExprKind::Aggregate { .. } | ExprKind::Quantifier { .. } => {
                problems.push((part.span, "what lies below the child"));
            }
            ExprKind::Exists { .. }
            | ExprKind::Stored(_)
            | ExprKind::Verified { .. }
            | ExprKind::Included { .. } => {
                problems.push((part.span, "whether something else is there"));
            }
            _ => {}
        });
        for (span, what) in problems {
            self.not_countable(span, what);
        }
    }

    fn is_volatile(&self, base: &Expr, attr: AttrId) -> bool {
        base.ty.subject().is_some_and(|subject| {
            let subject = &self.design.subjects[subject.index()];
            subject.states[subject.attributes[attr.index()].state.index()].volatile
        })
    }

    pub(super) fn not_countable(&mut self, span: Span, what: &str) {
        self.report(
            Diagnostic::error("E0404", span, format!("children cannot be counted by {what}"))
                .label("a counter under the parent is kept by changes of the child alone")
                .help("use the child's own truth and constants; store in the child what decides"),
        );
    }
}

fn same_option(a: &Option<Expr>, b: &Option<Expr>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => same(a, b),
        _ => false,
    }
}
