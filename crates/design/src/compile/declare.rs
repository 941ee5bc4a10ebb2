//! First pass: what there is, by name.

use syntax::Diagnostic;
use syntax::tree::{self, HeaderProperty, HeaderValue, Item, ItemKind, Name};

use super::Compiler;
use super::names::RESERVED;
use crate::model::*;

impl Compiler {
    pub(super) fn declare(&mut self, items: &[Item]) {
        self.header(items);
        for item in items {
            match &item.kind {
                ItemKind::Actor(actor) => self.declare_actor(actor),
                ItemKind::Blob { name } => {
                    let id = BlobId::of(self.design.blobs.len());
                    if self.free(
                        "blob",
                        name,
                        self.names.blobs.get(&name.text).map(|b| self.design.blobs[b.index()].span),
                    ) {
                        self.names.blobs.insert(name.text.clone(), id);
                        self.design.blobs.push(Blob { name: name.text.clone(), span: name.span });
                    }
                }
                ItemKind::Subject(subject) => self.declare_subject(subject),
                ItemKind::Define(define) => {
                    let earlier = self.names.defines.get(&define.name.text);
                    let earlier = earlier.map(|at| self.defines[*at].name.span);
                    if self.free("define", &define.name, earlier) {
                        self.names.defines.insert(define.name.text.clone(), self.defines.len());
                        self.defines.push(define.clone());
                    }
                }
                _ => {}
            }
        }
        self.declare_event_actor(items);
    }

    fn declare_actor(&mut self, actor: &tree::ActorItem) {
        let earlier = self.names.actors.get(&actor.name.text);
        let earlier = earlier.map(|id| self.design.actors[id.index()].span);
        if !self.free("actor", &actor.name, earlier) {
            return;
        }
        let id = ActorId::of(self.design.actors.len());
        self.names.actors.insert(actor.name.text.clone(), id);
        self.design.actors.push(Actor {
            name: actor.name.text.clone(),
            continues: None,
            apart: Vec::new(),
            memory: Vec::new(),
            is_world: actor.name.text == "world",
            span: actor.name.span,
        });
    }

    fn declare_subject(&mut self, subject: &tree::SubjectItem) {
        let earlier = self.names.subjects.get(&subject.name.text);
        let earlier = earlier.map(|id| self.design.subjects[id.index()].span);
        if !self.free("subject", &subject.name, earlier) {
            return;
        }
        let id = SubjectId::of(self.design.subjects.len());
        self.names.subjects.insert(subject.name.text.clone(), id);
        self.names.attributes.push(Default::default());
        self.design.subjects.push(Subject {
            name: subject.name.text.clone(),
            keys: Vec::new(),
            parent: None,
            place: None,
            states: Vec::new(),
            attributes: Vec::new(),
            counters: Vec::new(),
            implicit: true,
            span: subject.name.span,
        });
    }

    /// Is the name free to be given? Says so if not.
    pub(super) fn free(&mut self, what: &str, name: &Name, earlier: Option<syntax::Span>) -> bool {
        if let Some(earlier) = earlier {
            self.report(
                Diagnostic::error(
                    "E0202",
                    name.span,
                    format!("the {what} `{}` is defined twice", name.text),
                )
                .label("defined again here")
                .also(earlier, "first defined here")
                .help("rename one of them"),
            );
            return false;
        }
        self.not_reserved(name)
    }

    /// A name that stands in expressions must not be one of their words.
    pub(super) fn not_reserved(&mut self, name: &Name) -> bool {
        if RESERVED.contains(&name.text.as_str()) {
            self.report(
                Diagnostic::error(
                    "E0213",
                    name.span,
                    format!("`{}` is a word of the language and cannot be a name here", name.text),
                )
                .help(format!("for example `{}_`, or a longer name", name.text)),
            );
            return false;
        }
        true
    }

    fn header(&mut self, items: &[Item]) {
        let mut first: Option<syntax::Span> = None;
        for item in items {
            match &item.kind {
                ItemKind::Design { name, title } if self.only_header(&mut first, item.span) => {
                    self.design.name = name.text.clone();
                    self.design.title = text_of(title);
                    self.design.span = item.span;
                }
                ItemKind::Archetype { id, name, title }
                    if self.only_header(&mut first, item.span) =>
                {
                    self.design.kind = DesignKind::Archetype { id: id.text.clone() };
                    self.design.name = name.text.clone();
                    self.design.title = text_of(title);
                    self.design.span = item.span;
                }
                ItemKind::Header { property, values } => {
                    let words = values.iter().map(|value| match value {
                        HeaderValue::Word(name) => name.text.clone(),
                        HeaderValue::Text(text) => text.value.clone(),
                    });
                    let header = &mut self.design.header;
                    let list = match property {
                        HeaderProperty::Family => &mut header.family,
                        HeaderProperty::Ownership => &mut header.ownership,
                        HeaderProperty::Trust => &mut header.trust,
                        HeaderProperty::Input => &mut header.input,
                        HeaderProperty::Output => &mut header.output,
                        HeaderProperty::Decorates => &mut header.decorates,
                    };
                    list.extend(words);
                    self.ownership_is_known(property, values);
                }
                _ => {}
            }
        }
        if first.is_none() {
            let span = items.first().map_or_else(Default::default, |item| {
                syntax::Span::new(item.span.file, item.span.start, item.span.start)
            });
            self.report(
                Diagnostic::error("E0210", span, "the file does not say what it holds")
                    .help("begin with `design NAME \"title\"` or `archetype ID NAME \"title\"`"),
            );
        }
    }

    fn only_header(&mut self, first: &mut Option<syntax::Span>, span: syntax::Span) -> bool {
        match *first {
            None => {
                *first = Some(span);
                true
            }
            Some(earlier) => {
                self.report(
                    Diagnostic::error("E0210", span, "a file holds one design")
                        .label("a second one begins here")
                        .also(earlier, "the first one")
                        .help("move it to a file of its own"),
                );
                false
            }
        }
    }

    fn ownership_is_known(&mut self, property: &HeaderProperty, values: &[HeaderValue]) {
        const SHAPES: [&str; 3] = ["owner-only", "lease-backed", "attempt-scoped"];
        if *property != HeaderProperty::Ownership {
            return;
        }
        for value in values {
            let HeaderValue::Word(name) = value else {
                continue;
            };
            if !SHAPES.contains(&name.text.as_str()) {
                self.report(
                    Diagnostic::error(
                        "E0214",
                        name.span,
                        format!("`{}` is not an ownership shape", name.text),
                    )
                    .help("the shapes are `owner-only`, `lease-backed` and `attempt-scoped`"),
                );
            }
        }
    }
}

fn text_of(title: &Option<tree::Text>) -> String {
    title.as_ref().map(|text| text.value.clone()).unwrap_or_default()
}
