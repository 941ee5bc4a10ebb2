//! Names and the dots after them.

use syntax::tree::{self, Name};
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::frame::{Entry, Frame, Mode};
use crate::model::*;
use crate::suggest;

/// What a path leads to.
pub(super) enum Found {
    Value(Expr),
    /// a whole state of a record
    State {
        base: Expr,
        subject: SubjectId,
        state: StateId,
    },
    /// `world.effect`
    World(OperationId),
    /// reported already
    Nothing,
}

pub(super) fn error_expr(span: Span) -> Expr {
    Expr { kind: ExprKind::Error, ty: Type::Error, span }
}

impl Compiler {
    /// A path that must be a value.
    pub(super) fn path_value(
        &mut self,
        frame: &mut Frame,
        written: &tree::Expr,
        expected: Option<&Type>,
    ) -> Expr {
        match self.path(frame, written, expected) {
            Found::Value(value) => value,
            Found::Nothing => error_expr(written.span),
            Found::World(_) => {
                self.report(
                    Diagnostic::error(
                        "E0301",
                        written.span,
                        "what the world did is a set of calls, not a value",
                    )
                    .help("count them: `count(world.effect where …)`"),
                );
                error_expr(written.span)
            }
            Found::State { base, subject, state } => {
                if frame.mode == Mode::Read {
                    return self.whole_state(frame, base, (subject, state), written.span);
                }
                let state = &self.design.subjects[subject.index()].states[state.index()];
                let fields: Vec<String> = state
                    .attributes
                    .iter()
                    .map(|attr| {
                        let subject = &self.design.subjects[subject.index()];
                        format!("{}.{}", state.name, subject.attributes[attr.index()].name)
                    })
                    .collect();
                let message = format!("`{}` is a whole state, not a value", state.name);
                self.report(
                    Diagnostic::error("E0301", written.span, message)
                        .help(format!("its values are {}", suggest::list(&fields))),
                );
                error_expr(written.span)
            }
        }
    }

    /// A read may answer with a whole state.
    fn whole_state(
        &mut self,
        frame: &Frame,
        base: Expr,
        (subject, state): (SubjectId, StateId),
        span: Span,
    ) -> Expr {
        let known = &self.design.subjects[subject.index()].states[state.index()];
        if matches!(known.kind, StateKind::Log { .. }) {
            let message = format!("the log `{}` is not read as a whole", known.name);
            let help = format!("read some of its entries: `slice({}, from, 100)`", known.name);
            self.report(Diagnostic::error("E0417", span, message).help(help));
            return error_expr(span);
        }
        let attributes = known.attributes.clone();
        if let Some(attr) = attributes.first()
            && !self.may_read(frame, subject, *attr, span)
        {
            return error_expr(span);
        }
        let mut fields = Vec::new();
        for attr in attributes {
            let known = &self.design.subjects[subject.index()].attributes[attr.index()];
            if known.ty.is_secret() {
                continue; // whoever reads the whole is told the rest
            }
            let name = known.name.clone();
            fields.push((name, self.attribute(base.clone(), subject, attr, span)));
        }
        record(fields, span)
    }

    pub(super) fn path(
        &mut self,
        frame: &mut Frame,
        written: &tree::Expr,
        expected: Option<&Type>,
    ) -> Found {
        let found = match &written.kind {
            tree::ExprKind::Name(name) => self.bare_name(frame, name, expected),
            tree::ExprKind::Field { base, name } => self.field(frame, base, name, written.span),
            _ => return Found::Value(self.expr(frame, written, expected)),
        };
        if let Found::Value(value) = &found {
            self.known.has_type(written.span, &value.ty);
        }
        found
    }

    fn bare_name(&mut self, frame: &mut Frame, name: &Name, expected: Option<&Type>) -> Found {
        if let Some(value) = self.variable(frame, name) {
            return value;
        }
        if let Some(constant) = self.constant_named(name, expected) {
            return Found::Value(constant);
        }
        if let Some(found) = self.state_in_scope(frame, name) {
            return found;
        }
        if let Some(&define) = self.names.defines.get(&name.text) {
            return Found::Value(self.put_in_place(frame, define, name, &[], name.span));
        }
        if frame.mode == Mode::Goal
            && let Some(&view) = self.names.views.get(&name.text)
        {
            return Found::Value(self.view_call(frame, view, name, &[], name.span));
        }
        self.unknown_name(frame, name, expected);
        Found::Nothing
    }

    /// Locals, attributes of rows and parameters, memory: whatever holds a value under this name.
    pub(super) fn variable(&mut self, frame: &mut Frame, name: &Name) -> Option<Found> {
        let entries: Vec<Entry> = frame.visible().cloned().collect();
        for (at, entry) in entries.iter().enumerate() {
            match entry.clone() {
                Entry::Local { name: known, id } if known == name.text => {
                    if let Some(declared) = frame.declared_at(id) {
                        self.known.refer(name, declared);
                    }
                    return Some(Found::Value(frame.local(id, name.span)));
                }
                Entry::Row { id, subject } => {
                    let base = frame.local(id, name.span);
                    if let Some(found) = self.member(base, subject, name, false) {
                        return Some(found);
                    }
                }
                Entry::Struct { id } => {
                    let base = frame.local(id, name.span);
                    if let Some(found) = self.bare_struct_field(base, name) {
                        return Some(found);
                    }
                }
                Entry::WorldRow { id, effect } => {
                    // Where the call has a name of its own, a variable is not hidden by its parameters.
                    let named =
                        |held: &Entry| matches!(held, Entry::Local { id: of, .. } if *of == id);
                    let called = |held: &Entry| matches!(held, Entry::Local { name: of, .. } if *of == name.text);
                    if entries[..at].iter().any(named) && entries[at + 1..].iter().any(called) {
                        continue;
                    }
                    if let Some(found) = self.world_member(id, effect, name) {
                        return Some(found);
                    }
                }
                _ => {}
            }
        }
        if frame.is_walled() {
            return None;
        }
        if let Some(found) = self.memory(frame, name, None) {
            return Some(found);
        }
        self.attribute_of_params(frame, name)
    }

    /// A bare attribute of one of the parameters' records.
    fn attribute_of_params(&mut self, frame: &mut Frame, name: &Name) -> Option<Found> {
        let having: Vec<(LocalId, SubjectId)> = frame
            .params
            .iter()
            .filter(|(_, subject)| !self.names.attribute(*subject, &name.text).is_empty())
            .copied()
            .collect();
        match having.as_slice() {
            [] => None,
            [(id, subject)] => {
                let base = frame.local(*id, name.span);
                self.member(base, *subject, name, false)
            }
            several => {
                let choices: Vec<String> = several
                    .iter()
                    .map(|(id, _)| format!("{}.{}", frame.locals[id.index()].name, name.text))
                    .collect();
                self.ambiguous(name.span, &name.text, &choices);
                Some(Found::Nothing)
            }
        }
    }

    /// A state by its bare name: of the innermost row that has it, or of a parameter.
    fn state_in_scope(&mut self, frame: &mut Frame, name: &Name) -> Option<Found> {
        let mut bases: Vec<(LocalId, SubjectId)> = Vec::new();
        for entry in frame.visible() {
            if let Entry::Row { id, subject } = entry
                && self.names.state(*subject, &name.text).is_some()
            {
                bases.push((*id, *subject));
                break;
            }
        }
        if bases.is_empty() && !frame.is_walled() {
            bases = frame
                .params
                .iter()
                .filter(|(_, subject)| self.names.state(*subject, &name.text).is_some())
                .copied()
                .collect();
        }
        match bases.as_slice() {
            [] => None,
            [(id, subject)] => {
                let state = self.names.state(*subject, &name.text)?;
                self.refer_to_state(name, *subject, state);
                Some(Found::State { base: frame.local(*id, name.span), subject: *subject, state })
            }
            several => {
                let choices: Vec<String> = several
                    .iter()
                    .map(|(id, _)| format!("{}.{}", frame.locals[id.index()].name, name.text))
                    .collect();
                self.ambiguous(name.span, &name.text, &choices);
                Some(Found::Nothing)
            }
        }
    }

    fn field(&mut self, frame: &mut Frame, base: &tree::Expr, name: &Name, span: Span) -> Found {
        if let tree::ExprKind::Name(world) = &base.kind
            && world.text == "world"
            && !matches!(self.variable(frame, world), Some(Found::Value(_)))
        {
            return self.world_path(frame, name, span);
        }
        if let tree::ExprKind::Old(inner) = &base.kind {
            // the attribute of the record as it was: the whole path is read in the old state
            let path = tree::Expr {
                kind: tree::ExprKind::Field { base: inner.clone(), name: name.clone() },
                span,
            };
            return Found::Value(self.old(frame, &path, span));
        }
        match self.path(frame, base, None) {
            Found::Nothing => Found::Nothing,
            Found::World(_) => {
                self.report(
                    Diagnostic::error(
                        "E0204",
                        name.span,
                        format!("what the world did has no `{}`", name.text),
                    )
                    .help("count the calls: `count(world.effect where …)`"),
                );
                Found::Nothing
            }
            Found::State { base, subject, state } => {
                self.attribute_of_state(base, subject, state, name, span)
            }
            Found::Value(value) => self.field_of_value(frame, value, name, span),
        }
    }

    fn field_of_value(&mut self, frame: &mut Frame, value: Expr, name: &Name, span: Span) -> Found {
        if let ExprKind::Local(id) = value.kind
            && let Some(effect) = frame.world_row(id)
            && let Some(found) = self.world_member(id, effect, name)
        {
            return found;
        }
        if let ExprKind::Local(id) = value.kind
            && let Some(actor) = frame.principal(id)
        {
            return Found::Value(self.remembered(value, actor, name, None, span));
        }
        match value.ty.required() {
            Type::Error => Found::Nothing,
            Type::Ref(subject) => {
                let subject = *subject;
                if let ExprKind::Local(id) = value.kind
                    && let Some(found) = self.memory(frame, name, Some(id))
                {
                    return found;
                }
                let mut value = value;
                value.span = span;
                if let Some(found) = self.member(value.clone(), subject, name, true) {
                    return found;
                }
                if let Some(state) = self.names.state(subject, &name.text) {
                    self.refer_to_state(name, subject, state);
                    return Found::State { base: value, subject, state };
                }
                self.unknown_member(subject, name);
                Found::Nothing
            }
            Type::Struct(fields) => {
                let fields = fields.clone();
                self.struct_field(value, &fields, name, span)
            }
            Type::Record(fields) => {
                let fields: Vec<String> = fields.iter().map(|(name, _)| name.clone()).collect();
                self.report(
                    Diagnostic::error("E0204", name.span, "a record is not taken apart again")
                        .help(format!("its fields were {}", suggest::list(&fields))),
                );
                Found::Nothing
            }
            other => {
                let ty = self.type_name(other);
                let mut problem =
                    Diagnostic::error("E0204", name.span, format!("`{ty}` has no `{}`", name.text));
                if matches!(other, Type::List { .. } | Type::Set { .. } | Type::Map { .. }) {
                    problem = problem.help("how many there are is `size(…)`");
                } else {
                    problem = problem.help("only a reference to a subject has attributes");
                }
                self.report(problem);
                Found::Nothing
            }
        }
    }

    /// An attribute or a key part of a record, by its bare name.
    fn member(
        &mut self,
        base: Expr,
        subject: SubjectId,
        name: &Name,
        dotted: bool,
    ) -> Option<Found> {
        let span = if dotted { base.span } else { name.span };
        let attributes: Vec<AttrId> = self
            .names
            .attribute(subject, &name.text)
            .iter()
            .filter(|attr| {
                let subject = &self.design.subjects[subject.index()];
                let state = subject.attributes[attr.index()].state;
                !matches!(subject.states[state.index()].kind, StateKind::Log { .. })
            })
            .copied()
            .collect();
        if attributes.len() > 1 {
            let subject = &self.design.subjects[subject.index()];
            let choices: Vec<String> = attributes
                .iter()
                .map(|attr| {
                    let state = subject.attributes[attr.index()].state;
                    format!("{}.{}", subject.states[state.index()].name, name.text)
                })
                .collect();
            self.ambiguous(name.span, &name.text, &choices);
            return Some(Found::Nothing);
        }
        if let [attr] = attributes.as_slice() {
            self.refer_to_attribute(name, subject, *attr);
            return Some(Found::Value(self.attribute(base, subject, *attr, span)));
        }
        let part = self.design.subjects[subject.index()]
            .keys
            .iter()
            .position(|key| key.name == name.text)?;
        let key = &self.design.subjects[subject.index()].keys[part];
        self.known.refer(name, key.span);
        let ty = key.ty.clone();
        Some(Found::Value(Expr {
            kind: ExprKind::KeyPart { base: Box::new(base), part: part as u32 },
            ty,
            span,
        }))
    }

    fn attribute_of_state(
        &mut self,
        base: Expr,
        subject: SubjectId,
        state: StateId,
        name: &Name,
        span: Span,
    ) -> Found {
        let owner = &self.design.subjects[subject.index()];
        let known = &owner.states[state.index()];
        if matches!(known.kind, StateKind::Log { .. }) {
            let kind = match name.text.as_str() {
                "end" => ExprKind::LogEnd { base: Box::new(base), log: state },
                "start" => ExprKind::LogStart { base: Box::new(base), log: state },
                _ => {
                    let message = format!("the log `{}` has no `{}`", known.name, name.text);
                    self.report(Diagnostic::error("E0204", name.span, message).help(
                        "of a log, `end` (the next offset) and `start` (the first kept) are \
                             seen; `slice(log, from, limit)` reads entries",
                    ));
                    return Found::Nothing;
                }
            };
            return Found::Value(Expr { kind, ty: Type::Int, span });
        }
        let attr =
            known.attributes.iter().find(|attr| owner.attributes[attr.index()].name == name.text);
        if let Some(attr) = attr {
            let attr = *attr;
            self.refer_to_attribute(name, subject, attr);
            return Found::Value(self.attribute(base, subject, attr, span));
        }
        let words: Vec<String> = known
            .attributes
            .iter()
            .map(|attr| owner.attributes[attr.index()].name.clone())
            .collect();
        let message = format!("`{}` has no attribute `{}`", known.name, name.text);
        let mut problem = Diagnostic::error("E0204", name.span, message);
        problem = match suggest::did_you_mean(&name.text, words.iter().map(String::as_str)) {
            Some(hint) => problem.help(hint),
            None => problem.help(format!("its attributes are {}", suggest::list(&words))),
        };
        self.report_missing(&name.text, problem);
        Found::Nothing
    }

    pub(super) fn attribute(
        &self,
        base: Expr,
        subject: SubjectId,
        attr: AttrId,
        span: Span,
    ) -> Expr {
        Expr {
            kind: ExprKind::Attr { base: Box::new(base), attr },
            ty: self.design.subjects[subject.index()].attributes[attr.index()].ty.clone(),
            span,
        }
    }

    fn constant_named(&mut self, name: &Name, expected: Option<&Type>) -> Option<Expr> {
        let Type::Enum(id) = expected?.required() else {
            return None;
        };
        let at = self.design.enumerations[id.index()]
            .constants
            .iter()
            .position(|constant| *constant == name.text)?;
        self.known.refer(name, self.constants[id.index()][at]);
        Some(Expr {
            kind: ExprKind::Literal(Const::Enum(*id, at as u32)),
            ty: Type::Enum(*id),
            span: name.span,
        })
    }

    /// `world.effect`
    fn world_path(&mut self, frame: &Frame, name: &Name, span: Span) -> Found {
        if !frame.mode.is_goal() {
            self.report(
                Diagnostic::error("E0418", span, "what the world did is known to goals only")
                    .help("a step learns of it through the effect's answers"),
            );
            return Found::Nothing;
        }
        match self.names.operations.get(&name.text) {
            Some(id)
                if matches!(self.design.operations[id.index()].kind, OperationKind::Effect(_)) =>
            {
                self.known.refer(name, self.operation_names[id.index()]);
                Found::World(*id)
            }
            _ => {
                let effects: Vec<String> = self
                    .design
                    .operations
                    .iter()
                    .filter(|operation| matches!(operation.kind, OperationKind::Effect(_)))
                    .map(|operation| operation.name.clone())
                    .collect();
                let mut problem =
                    Diagnostic::error("E0207", name.span, format!("no effect `{}`", name.text));
                problem =
                    match suggest::did_you_mean(&name.text, effects.iter().map(String::as_str)) {
                        Some(hint) => problem.help(hint),
                        None => {
                            problem.help(format!("the effects are {}", suggest::list(&effects)))
                        }
                    };
                self.report_missing(&name.text, problem);
                Found::Nothing
            }
        }
    }

    /// A parameter of a call to the world, or an attribute of what it refers to.
    fn world_member(&mut self, id: LocalId, effect: OperationId, name: &Name) -> Option<Found> {
        let params: Vec<(String, Type)> = self.design.operations[effect.index()]
            .params
            .iter()
            .map(|param| (param.name.clone(), param.ty.clone()))
            .collect();
        let arg = |at: usize, ty: &Type| Expr {
            kind: ExprKind::WorldArg { local: id, param: at as u32 },
            ty: ty.clone(),
            span: name.span,
        };
        if let Some(at) = params.iter().position(|(known, _)| *known == name.text) {
            let declared = self.design.operations[effect.index()].params[at].span;
            self.known.refer(name, declared);
            return Some(Found::Value(arg(at, &params[at].1)));
        }
        for (at, (_, ty)) in params.iter().enumerate() {
            if let Some(subject) = ty.subject()
                && let Some(found) = self.member(arg(at, ty), subject, name, false)
            {
                return Some(found);
            }
        }
        None
    }
}

pub(super) fn record(fields: Vec<(String, Expr)>, span: Span) -> Expr {
    let ty =
        Type::Record(fields.iter().map(|(name, value)| (name.clone(), value.ty.clone())).collect());
    Expr { kind: ExprKind::Record(fields), ty, span }
}
