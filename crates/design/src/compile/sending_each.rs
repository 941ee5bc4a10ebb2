//! `send each x in S of p where …: actor.effect(x, …)`: to every record of a set of any size.
//!
//! The step sends once, to an operation that nobody wrote: what the outbox does for one record of the set. The server
//! performs it for one record after the other, the checker for each record of the small world.

use syntax::tree;
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::frame::{Entry, Frame, Mode};
use crate::model::visit::each;
use crate::model::*;

/// What was found in a body, until the operation that has the body is compiled.
pub(super) struct Found {
    /// the record first, then the one that it belongs to, then what is sent along
    params: Vec<Param>,
    /// after the parameters, what the guard binds
    locals: Vec<Local>,
    guard: Vec<Clause>,
    soft: Option<AttrId>,
    effect: OperationId,
    /// for each parameter of the effect the one that is given for it
    given: Vec<usize>,
    span: Span,
}

impl Compiler {
    pub(super) fn send_each(
        &mut self,
        frame: &mut Frame,
        written: &tree::SendEach,
        (actor, operation): (&tree::Name, &tree::Name),
        args: &[tree::Expr],
        span: Span,
    ) -> Option<StmtKind> {
        let (member, parent) = self.set_of(frame, written)?;
        let (effect, wanted) = self.sent_to(actor, operation, args.len())?;
        if !matches!(self.design.operations[effect.index()].kind, OperationKind::Effect(_)) {
            self.report(
                Diagnostic::error(
                    "E0415",
                    operation.span,
                    format!("`{}` is a step", operation.text),
                )
                .also(self.design.operations[effect.index()].head, "it is this")
                .help("`send each` goes to an effect: only sending is done for a set of any size"),
            );
            return None;
        }
        self.not_reserved(&written.var);
        let depth = frame.scope.len();
        let local = self.bind(frame, &written.var, Type::Ref(member));
        let values = self.each_args(frame, &wanted, args, local);
        frame.scope.truncate(depth);
        let values = values?;
        let is_member = |value: &Expr| matches!(value.kind, ExprKind::Local(id) if id == local);
        if !values.iter().any(is_member) {
            let name = &written.var.text;
            self.report(
                Diagnostic::error(
                    "E0432",
                    operation.span,
                    format!("`{name}` is not given to `{}`", operation.text),
                )
                .label("all of these calls would be the same one")
                .help(format!(
                    "give it the record: `{}.{}({name}, …)`",
                    actor.text, operation.text
                )),
            );
            return None;
        }
        let null = ExprKind::Literal(Const::Null);
        let ty = Type::Optional(Box::new(Type::Ref(member)));
        let mut found = Found {
            params: Vec::new(),
            locals: Vec::new(),
            guard: Vec::new(),
            soft: None,
            effect,
            given: Vec::new(),
            span,
        };
        let mut sent = vec![Expr { kind: null, ty, span: written.var.span }];
        found.param(&written.var.text, &Type::Ref(member), written.var.span);
        let key = &self.design.subjects[member.index()].keys[0];
        found.param(&key.name, &parent.ty, parent.span);
        sent.push(parent);
        for (param, value) in wanted.iter().zip(values) {
            if is_member(&value) {
                found.given.push(0);
                continue;
            }
            found.given.push(found.params.len());
            found.param(&param.name, &param.ty, param.span);
            sent.push(value);
        }
        let names = found.params.iter();
        found.locals =
            names.map(|param| Local { name: param.name.clone(), ty: param.ty.clone() }).collect();
        if let Some(filter) = written.filter.as_deref() {
            found.soft = self.soft_attribute(written, member, filter);
            if found.soft.is_none() {
                self.each_guard(written, member, filter, &mut found);
            }
        }
        let id = OperationId::of(self.design.operations.len() + self.found_each.len());
        self.found_each.push(found);
        Some(StmtKind::Send { operation: id, args: sent })
    }

    /// The records that are sent to, and the one that they belong to.
    fn set_of(&mut self, frame: &mut Frame, written: &tree::SendEach) -> Option<(SubjectId, Expr)> {
        let of_what = written.domain.of_what.span;
        let (child, parent) = match self.domain(frame, &written.domain)? {
            Domain::Children { child, parent } => (child, parent),
            Domain::All(subject) => {
                let name = self.design.subjects[subject.index()].name.clone();
                self.report(
                    Diagnostic::error("E0431", of_what, format!("this goes to every `{name}` there is"))
                        .help(format!(
                            "make `{name}` a child (`subject {name}(parent: Parent, …)`) and write `{name} of parent`"
                        )),
                );
                return None;
            }
            _ => {
                self.report(
                    Diagnostic::error(
                        "E0431",
                        of_what,
                        "`send each` goes to the children of one record",
                    )
                    .help("through a collection that has a bound goes `for x in … { send … }`"),
                );
                return None;
            }
        };
        let subject = &self.design.subjects[child.index()];
        if subject.implicit {
            let (name, declared) = (subject.name.clone(), subject.span);
            self.report(
                Diagnostic::error("E0431", of_what, format!("no step makes a `{name}`"))
                    .also(declared, "declared here")
                    .help(
                        "each record that was made is told; make them with `new` where they join",
                    ),
            );
            return None;
        }
        Some((child, parent))
    }

    /// What is given to the effect: the record itself, or what the step knows without it.
    fn each_args(
        &mut self,
        frame: &mut Frame,
        wanted: &[Param],
        args: &[tree::Expr],
        local: LocalId,
    ) -> Option<Vec<Expr>> {
        let mut values = Vec::new();
        for (param, arg) in wanted.iter().zip(args) {
            let value = self.expr(frame, arg, Some(&param.ty));
            let value = self.demand(value, &param.ty)?;
            let mut mentions = false;
            each(&value, &mut |part| {
                mentions |= matches!(part.kind, ExprKind::Local(id) if id == local);
            });
            if mentions && !matches!(value.kind, ExprKind::Local(_)) {
                let name = frame.locals[local.index()].name.clone();
                self.report(
                    Diagnostic::error(
                        "E0432",
                        value.span,
                        format!("nothing of `{name}` is known here"),
                    )
                    .label("the step commits before any of them is looked at")
                    .help(format!(
                        "give `{name}` itself, and let the effect read it when it calls"
                    )),
                );
                return None;
            }
            values.push(value);
        }
        Some(values)
    }

    /// `where online` or `where x.online`, of soft state.
    fn soft_attribute(
        &mut self,
        written: &tree::SendEach,
        subject: SubjectId,
        filter: &tree::Expr,
    ) -> Option<AttrId> {
        let name = match &filter.kind {
            tree::ExprKind::Name(name) => name,
            tree::ExprKind::Field { base, name } => match &base.kind {
                tree::ExprKind::Name(of) if of.text == written.var.text => name,
                _ => return None,
            },
            _ => return None,
        };
        let [attr] = *self.names.attribute(subject, &name.text) else { return None };
        let declared = &self.design.subjects[subject.index()];
        let attribute = &declared.attributes[attr.index()];
        let state = &declared.states[attribute.state.index()];
        let soft = matches!(state.kind, StateKind::Ephemeral { .. }) && attribute.ty == Type::Bool;
        let span = attribute.span;
        soft.then(|| {
            self.known.refer(name, span);
            attr
        })
    }

    /// A condition upon truth is a guard like any other. It sees the record by its name, and its attributes by theirs.
    fn each_guard(
        &mut self,
        written: &tree::SendEach,
        subject: SubjectId,
        filter: &tree::Expr,
        found: &mut Found,
    ) {
        let mut frame = Frame::new(Mode::Guard, None);
        let id = frame.bind(&written.var.text, Type::Ref(subject));
        frame.scope.push(Entry::Row { id, subject });
        frame.declared.push((id, written.var.span));
        for param in &found.params[1..] {
            frame.slot(&param.name, param.ty.clone());
        }
        let body = self.condition(&mut frame, filter);
        found.guard.push(Clause { name: "where".into(), body, span: filter.span });
        found.locals = frame.locals;
    }

    /// The operations that were found in the body of this one.
    pub(super) fn add_found_each(&mut self, by: OperationId) {
        for found in std::mem::take(&mut self.found_each) {
            let actor = self.each_actor(found.span);
            let owner = &self.design.operations[by.index()];
            let (first, head) = (format!("{}_each", owner.name), owner.head);
            let mut name = first.clone();
            for number in 2.. {
                if !self.names.operations.contains_key(&name) {
                    break;
                }
                name = format!("{first}_{number}");
            }
            let Found { params, locals, guard, soft, effect, given, span } = found;
            let args = given.iter().map(|at| Expr {
                kind: ExprKind::Local(params[*at].local),
                ty: params[*at].ty.clone(),
                span,
            });
            let kind = StmtKind::Send { operation: effect, args: args.collect() };
            let id = OperationId::of(self.design.operations.len());
            self.names.operations.insert(name.clone(), id);
            self.operation_names.push(self.operation_names[by.index()]);
            self.design.operations.push(Operation {
                kind: OperationKind::Step { keyed: false },
                actor,
                name,
                locals,
                params,
                guard,
                body: vec![Stmt { id: StmtId(0), kind, span }],
                memory: Vec::new(),
                rate: None,
                hears: None,
                each: Some(Box::new(Each { by, soft })),
                span,
                head,
            });
        }
    }

    /// Whoever pages through a set acts for an actor that nobody declares.
    fn each_actor(&mut self, span: Span) -> ActorId {
        if let Some(id) = self.each_actor {
            return id;
        }
        if let Some(&id) = self.names.actors.get(EACH_ACTOR) {
            self.report(
                Diagnostic::error(
                    "E0213",
                    self.design.actors[id.index()].span,
                    format!("`{EACH_ACTOR}` is the actor of whatever is sent to each of a set"),
                )
                .also(span, "sent here")
                .help("choose another name for this one"),
            );
            self.each_actor = Some(id);
            return id;
        }
        let id = ActorId::of(self.design.actors.len());
        self.names.actors.insert(EACH_ACTOR.into(), id);
        self.design.actors.push(Actor {
            name: EACH_ACTOR.into(),
            continues: None,
            apart: Vec::new(),
            memory: Vec::new(),
            is_world: true,
            span,
        });
        self.each_actor = Some(id);
        id
    }

    /// Once effects are known: are the calls of a set apart by their keys?
    pub(super) fn each_has_its_own_key(&mut self) {
        let mut problems = Vec::new();
        for operation in self.design.operations.iter().filter(|operation| operation.each.is_some())
        {
            let [Stmt { kind: StmtKind::Send { operation: to, args }, span, .. }] =
                &operation.body[..]
            else {
                continue;
            };
            let target = &self.design.operations[to.index()];
            let OperationKind::Effect(effect) = &target.kind else { continue };
            let is_member = |arg: &Expr| matches!(arg.kind, ExprKind::Local(LocalId(0)));
            let given = target.params.iter().zip(args).filter(|(_, arg)| is_member(arg));
            let given: Vec<LocalId> = given.map(|(param, _)| param.local).collect();
            let names = |key: &Expr| matches!(key.kind, ExprKind::Local(id) if given.contains(&id));
            if effect.key.is_empty() || effect.key.iter().any(names) {
                continue;
            }
            problems.push(
                Diagnostic::error(
                    "E0432",
                    *span,
                    format!("the key of `{}` does not tell one record from another", target.name),
                )
                .also(effect.key[0].span, "the same for each of them")
                .help("leave the key out: then all parameters together are the key"),
            );
        }
        self.diagnostics.append(&mut problems);
    }
}

impl Found {
    /// One parameter more, under a name of its own.
    fn param(&mut self, name: &str, ty: &Type, span: Span) {
        let mut name = name.to_string();
        while self.params.iter().any(|param| param.name == name) {
            name = format!("of_{name}");
        }
        let local = LocalId::of(self.params.len());
        self.params.push(Param {
            name,
            ty: ty.clone(),
            range: None,
            new: false,
            from_caller: false,
            default: None,
            generated: None,
            local,
            span,
        });
    }
}
