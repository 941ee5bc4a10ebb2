//! Subjects: keys, places, states and their attributes.

use syntax::Diagnostic;
use syntax::tree::{self, Item, ItemKind};

use super::Compiler;
use super::frame::{Entry, Frame, Mode};
use crate::model::*;
use crate::suggest;

impl Compiler {
    pub(super) fn subjects(&mut self, items: &[Item]) {
        for item in items {
            let ItemKind::Subject(subject) = &item.kind else {
                continue;
            };
            let Some(id) = self.declared_subject(subject) else {
                for state in &subject.states {
                    self.forgive(&state.name.text);
                    state.attributes.iter().for_each(|a| self.forgive(&a.name.text));
                }
                continue;
            };
            self.keys(id, subject);
            for state in &subject.states {
                self.state(id, state);
            }
        }
        self.no_endless_parents();
    }

    fn declared_subject(&self, subject: &tree::SubjectItem) -> Option<SubjectId> {
        let id = *self.names.subjects.get(&subject.name.text)?;
        (self.design.subjects[id.index()].span == subject.name.span).then_some(id)
    }

    fn keys(&mut self, id: SubjectId, subject: &tree::SubjectItem) {
        let mut keys: Vec<Key> = Vec::new();
        for field in &subject.keys {
            let earlier = keys.iter().find(|key| key.name == field.name.text).map(|key| key.span);
            if !self.free("key part", &field.name, earlier) {
                continue;
            }
            let (ty, range) = self.ranged_type(&field.ty, &field.name.text);
            let fits = matches!(
                ty,
                Type::Int
                    | Type::Text
                    | Type::Bool
                    | Type::Actor
                    | Type::Enum(_)
                    | Type::Ref(_)
                    | Type::Digest(_)
                    | Type::PublicKey
                    | Type::Error
            );
            if !fits {
                let name = self.type_name(&ty);
                self.report(
                    Diagnostic::error(
                        "E0308",
                        field.ty.span,
                        format!("`{name}` cannot be part of a key"),
                    )
                    .help("a key part is `text`, `int`, `bool`, `actor`, an enumeration, a digest or a subject"),
                );
            }
            self.known.has_type(field.name.span, &ty);
            keys.push(Key { name: field.name.text.clone(), ty, range, span: field.name.span });
        }
        if keys.is_empty() && subject.keys.is_empty() {
            let name = &subject.name;
            self.report(
                Diagnostic::error("E0215", name.span, format!("`{}` has no key", name.text)).help(
                    format!(
                        "a key tells one from another: `subject {}({}: text)`",
                        name.text,
                        name.text.to_lowercase()
                    ),
                ),
            );
        }
        let parent = keys.first().and_then(|key| match key.ty {
            Type::Ref(parent) => Some(parent),
            _ => None,
        });
        let place = subject.at.as_ref().and_then(|at| {
            let found = keys.iter().position(|key| key.name == at.text);
            if found.is_none() {
                let words: Vec<String> = keys.iter().map(|key| key.name.clone()).collect();
                self.report(
                    Diagnostic::error(
                        "E0204",
                        at.span,
                        format!("`{}` is no part of the key of `{}`", at.text, subject.name.text),
                    )
                    .help(format!("its parts are {}", suggest::list(&words))),
                );
            }
            if let Some(key) = found.map(|found| &keys[found]) {
                self.known.refer(at, key.span);
            }
            found.map(|at| at as u32)
        });
        let known = &mut self.design.subjects[id.index()];
        known.keys = keys;
        known.parent = parent;
        known.place = place;
    }

    /// A key that refers to itself, directly or around a corner, has no first value.
    fn no_endless_parents(&mut self) {
        for start in 0..self.design.subjects.len() {
            let mut todo = vec![SubjectId::of(start)];
            let mut seen = vec![false; self.design.subjects.len()];
            let mut endless = None;
            while let Some(id) = todo.pop() {
                for key in &self.design.subjects[id.index()].keys {
                    if let Type::Ref(next) = key.ty {
                        if next.index() == start {
                            endless = Some(key.span);
                        } else if !std::mem::replace(&mut seen[next.index()], true) {
                            todo.push(next);
                        }
                    }
                }
            }
            if let Some(span) = endless {
                let name = self.design.subjects[start].name.clone();
                self.report(
                    Diagnostic::error(
                        "E0216",
                        span,
                        format!("the key of `{name}` contains itself"),
                    )
                    .help("keep the reference as an attribute instead"),
                );
                for key in &mut self.design.subjects[start].keys {
                    if matches!(key.ty, Type::Ref(_)) {
                        key.ty = Type::Error;
                    }
                }
                self.design.subjects[start].parent = None;
            }
        }
    }

    fn state(&mut self, id: SubjectId, state: &tree::StateItem) {
        let earlier = self
            .names
            .state(id, &state.name.text)
            .map(|known| self.design.subjects[id.index()].states[known.index()].span);
        if !self.free("state", &state.name, earlier) {
            for attribute in &state.attributes {
                self.forgive(&attribute.name.text);
            }
            return;
        }
        let kind = match &state.kind {
            tree::StateKind::Truth | tree::StateKind::Volatile => StateKind::Truth,
            tree::StateKind::Log { retain } => StateKind::Log {
                retain: match retain {
                    None => Retention::Forever,
                    Some(written) if matches!(written.kind, tree::ExprKind::Int(_)) => self
                        .number_setting(written)
                        .map_or(Retention::Forever, |n| Retention::Entries(u64::from(n))),
                    Some(written) => {
                        self.duration_setting(written).map_or(Retention::Forever, Retention::Age)
                    }
                },
            },
            tree::StateKind::Cache { at } => {
                let at = self.actor_named(at);
                StateKind::Cache { at: self.root_actor(at) }
            }
            tree::StateKind::Ephemeral { ttl } => StateKind::Ephemeral {
                ttl: ttl.as_ref().and_then(|ttl| self.duration_setting(ttl)),
            },
        };
        let state_id = StateId::of(self.design.subjects[id.index()].states.len());
        self.names.states.entry(state.name.text.clone()).or_default().push((id, state_id));
        self.design.subjects[id.index()].states.push(State {
            kind,
            name: state.name.text.clone(),
            volatile: state.kind == tree::StateKind::Volatile,
            attributes: Vec::new(),
            visible: Vec::new(),
            span: state.name.span,
        });
        for attribute in &state.attributes {
            self.attribute_item(id, state_id, attribute);
        }
    }

    fn attribute_item(&mut self, id: SubjectId, state: StateId, written: &tree::Attribute) {
        let subject = &self.design.subjects[id.index()];
        let earlier = subject.states[state.index()]
            .attributes
            .iter()
            .map(|attr| &subject.attributes[attr.index()])
            .find(|attr| attr.name == written.name.text)
            .map(|attr| attr.span);
        if !self.free("attribute", &written.name, earlier) {
            return;
        }
        let (ty, range) = self.ranged_type(&written.ty, &written.name.text);
        let default = match &written.default {
            // a default that is wrong has been reported; it is still there
            Some(default) => {
                let value = self.constant(default, &ty).unwrap_or(Const::Null);
                self.within(&value, &ty, range, default.span);
                Some(value)
            }
            None => match &ty {
                Type::Optional(_) => Some(Const::Null),
                Type::Set { .. } => Some(Const::Set(Vec::new())),
                Type::List { .. } => Some(Const::List(Vec::new())),
                Type::Map { .. } => Some(Const::Map(Vec::new())),
                _ => None,
            },
        };
        self.known.has_type(written.name.span, &ty);
        let attr = AttrId::of(self.design.subjects[id.index()].attributes.len());
        self.names.attributes[id.index()].entry(written.name.text.clone()).or_default().push(attr);
        let subject = &mut self.design.subjects[id.index()];
        subject.states[state.index()].attributes.push(attr);
        subject.attributes.push(Attribute {
            name: written.name.text.clone(),
            ty,
            range,
            state,
            default,
            span: written.span,
        });
    }

    /// `visible to`, once all names are known.
    pub(super) fn visibility(&mut self, items: &[Item]) {
        for item in items {
            let ItemKind::Subject(subject) = &item.kind else {
                continue;
            };
            let Some(id) = self.declared_subject(subject) else {
                continue;
            };
            for state in &subject.states {
                let Some(state_id) = self.names.state(id, &state.name.text) else {
                    continue;
                };
                for visible in &state.visible {
                    let to: Vec<ActorId> =
                        visible.to.iter().map(|name| self.actor_named(name)).collect();
                    let mut frame = Frame::new(Mode::Visible, to.first().copied());
                    let row = frame.slot("row", Type::Ref(id));
                    frame.scope.push(Entry::Wall);
                    frame.scope.push(Entry::Row { id: row, subject: id });
                    let condition = visible
                        .condition
                        .as_ref()
                        .map(|condition| self.condition(&mut frame, condition));
                    self.design.subjects[id.index()].states[state_id.index()]
                        .visible
                        .push(Visible { to, condition, locals: frame.locals, span: visible.span });
                }
            }
        }
    }
}
