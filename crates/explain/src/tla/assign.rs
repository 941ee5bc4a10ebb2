//! Statements that change something: assignments, what is remembered, new records, what is sent.

use design::model::{
    AssignOp, AttrId, ClauseRef, Expr, MemoryUseId, OperationId, OperationKind, StateId, StateKind,
    SubjectId, Target, Type,
};

use super::run::Run;
use super::text::{Term, Tight, and, quoted, tuple};
use super::world::key_of;

impl Run<'_> {
    pub(super) fn assign(&mut self, target: &Target, op: AssignOp, value: &Expr) {
        let world = self.scope.world;
        match target {
            Target::Memory(usage) => self.remember(*usage, op, value),
            Target::Attr { base, attr } => {
                let Some(id) = base.ty.subject() else { return };
                let held = &world.subject(id).attributes[attr.index()];
                match world.subject(id).states[held.state.index()].kind {
                    StateKind::Truth => {}
                    // it may be gone at any time, and nothing reads it back
                    StateKind::Ephemeral { .. } | StateKind::Log { .. } => return,
                    StateKind::Cache { .. } => {
                        world.refuse("caches");
                        return;
                    }
                }
                let Some((subject, key)) = self.record(base) else { return };
                let term = self.scope.term(value);
                self.needs(term.needs.clone());
                if term.nullable && (op != AssignOp::Set || !held.ty.is_optional()) {
                    self.need(format!("{} # Null", term.within(Tight::Sum)));
                }
                if !world.kept(subject, *attr) {
                    return;
                }
                let name = world.attr(subject, *attr);
                let current = format!("{}[{key}]", self.scope.var(&name));
                let text = self.changed(&held.ty, &current, op, &term, value);
                self.put(&name, &key, &text, false);
            }
            Target::Element { base, attr, key: at } => {
                let Some((subject, key)) = self.record(base) else { return };
                let held = &world.subject(subject).attributes[attr.index()];
                let (at, term) = (self.scope.term(at), self.scope.term(value));
                self.needs(at.needs.clone());
                self.needs(term.needs.clone());
                for part in [&at, &term].into_iter().filter(|part| part.nullable) {
                    self.need(format!("{} # Null", part.within(Tight::Sum)));
                }
                let name = world.attr(subject, *attr);
                let current = format!("{}[{key}]", self.scope.var(&name));
                if let Type::Map { max, .. } = held.ty.required() {
                    let keys = format!("DOMAIN {current} \\cup {{{}}}", at.text);
                    self.need(format!("Cardinality({keys}) <= {max}"));
                }
                let given = match op {
                    AssignOp::Set => term.text,
                    _ => {
                        self.need(format!("{} \\in DOMAIN {current}", at.text));
                        let sign = if op == AssignOp::Add { "+" } else { "-" };
                        format!("{current}[{}] {sign} {}", at.text, term.within(Tight::Product))
                    }
                };
                self.put(&name, &key, &format!("({} :> {given}) @@ @", at.text), false);
            }
        }
    }

    /// The new value, in terms of `@`, the current one.
    fn changed(
        &mut self,
        ty: &Type,
        current: &str,
        op: AssignOp,
        term: &Term,
        value: &Expr,
    ) -> String {
        if op == AssignOp::Set {
            return term.text.clone();
        }
        let many = matches!(value.ty.required(), Type::Set { .. } | Type::List { .. });
        let sign = if op == AssignOp::Add { "+" } else { "-" };
        match ty.required() {
            Type::Set { max, .. } => {
                let sign = if op == AssignOp::Add { "\\cup" } else { "\\" };
                let given = match (many, value.ty.required()) {
                    (true, Type::List { .. }) => format!("Elements({})", term.text),
                    (true, _) => term.within(Tight::Sum),
                    (false, _) => format!("{{{}}}", term.text),
                };
                if op == AssignOp::Add {
                    self.need(format!("Cardinality({current} \\cup {given}) <= {max}"));
                }
                format!("@ {sign} {given}")
            }
            Type::List { max, .. } => {
                if many || op != AssignOp::Add {
                    self.scope.world.refuse("a list that is added to a list");
                }
                self.need(format!("Len({current}) < {max}"));
                format!("Append(@, {})", term.text)
            }
            Type::Map { .. } => {
                format!("[k \\in DOMAIN @ \\ {{{}}} |-> @[k]]", term.text)
            }
            _ => {
                if ty.is_optional() {
                    self.need(format!("{current} # Null"));
                }
                format!("@ {sign} {}", term.within(Tight::Product))
            }
        }
    }

    fn remember(&mut self, usage: MemoryUseId, op: AssignOp, value: &Expr) {
        let term = self.scope.term(value);
        self.needs(term.needs.clone());
        let held = self.scope.memory[usage.index()].clone();
        let text = if op == AssignOp::Set {
            term.text
        } else {
            self.need(format!("{held} # Null"));
            let sign = if op == AssignOp::Add { "+" } else { "-" };
            format!("{held} {sign} {}", term.within(Tight::Product))
        };
        let name = self.define("remembered", text);
        self.scope.memory[usage.index()] = name;
        self.wrote.push(and(&self.path));
    }

    pub(super) fn make(&mut self, subject: SubjectId, keys: &[Expr], fields: &[(AttrId, Expr)]) {
        let world = self.scope.world;
        let mut parts = Vec::new();
        for key in keys {
            let term = self.scope.term(key);
            self.needs(term.needs.clone());
            if term.nullable {
                self.need(format!("{} # Null", term.within(Tight::Sum)));
            }
            parts.push(term.text);
        }
        let key = self.define("made", key_of(&parts));
        let mut given = Vec::new();
        for (attr, value) in fields {
            let term = self.scope.term(value);
            self.needs(term.needs.clone());
            let ty = &world.subject(subject).attributes[attr.index()].ty;
            if term.nullable && !ty.is_optional() {
                self.need(format!("{} # Null", term.within(Tight::Sum)));
            }
            given.push((*attr, term.text));
        }
        self.need(format!("~IsThere({}, {key})", self.scope.var(&world.there(subject))));
        if let Some(there) = self.parent_there(subject, &key)
            && !world.is_clause_gone(self.operation, ClauseRef::Exists)
        {
            self.need(there);
        }
        self.put(&world.there(subject), &key, "TRUE", true);
        for at in (0..world.subject(subject).attributes.len()).map(AttrId::of) {
            if world.kept(subject, at) {
                let value = given.iter().find(|(attr, _)| *attr == at);
                let value =
                    value.map_or_else(|| world.blank(subject, at), |(_, text)| text.clone());
                self.put(&world.attr(subject, at), &key, &value, true);
            }
        }
        for (at, state) in world.subject(subject).states.iter().enumerate() {
            if matches!(state.kind, StateKind::Log { .. }) {
                for end in [false, true] {
                    self.put(&world.log(subject, StateId::of(at), end), &key, "0", true);
                }
            }
        }
    }

    pub(super) fn send(&mut self, to: OperationId, args: &[Expr]) {
        let world = self.scope.world;
        let target = &world.design.operations[to.index()];
        let mut given = Vec::new();
        for (param, arg) in target.params.iter().zip(args) {
            let term = self.scope.term(arg);
            self.needs(term.needs.clone());
            if term.nullable && !param.ty.is_optional() {
                self.need(format!("{} # Null", term.within(Tight::Sum)));
            }
            given.push(term.text);
        }
        self.sent.push(and(&self.path));
        if let OperationKind::Effect(effect) = &target.kind {
            if self.calls_lost {
                return;
            }
            let mut own = self.scope.clone();
            own.locals = target.params.iter().map(|p| p.local).zip(given.iter().cloned()).collect();
            own.present.clear();
            let mut key = Vec::new();
            for part in &effect.key {
                let term = own.term(part);
                self.needs(term.needs.clone());
                key.push(term.text);
            }
            let key = if key.is_empty() { key_of(&given) } else { key_of(&key) };
            let outbox = world.outbox(to);
            let held = self.scope.var(&outbox);
            self.change(&outbox, format!("Opened({held}, {key}, {})", tuple(&given)));
            return;
        }
        let held = &world.design.operations[self.operation.index()];
        let own: Vec<String> =
            held.params.iter().map(|param| self.scope.locals[&param.local].clone()).collect();
        let from = world.place(held, &own).unwrap_or_else(|| "Null".into());
        let message = format!(
            "[step |-> {}, from |-> {from}, args |-> {}]",
            quoted(&target.name),
            tuple(&given)
        );
        let messages = self.scope.var("Messages");
        self.change("Messages", format!("Post({messages}, {message})"));
    }
}
