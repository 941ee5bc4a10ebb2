//! Filled while the compiler resolves names.

use syntax::Span;
use syntax::tree::{Item, Name};

use super::declared::declared;
use super::{Analysis, Definition, DefinitionKind, TypeNames};
use crate::model::{Design, Type};

/// What was met so far. A thing is known by where its name begins.
#[derive(Default)]
pub(crate) struct Recorder {
    definitions: Vec<Definition>,
    /// from the use of a name to where the name of what it stands for begins
    uses: Vec<(Span, Span)>,
    types: Vec<(Span, Type)>,
    /// off: a text is read again that was recorded already, or that nobody asks about
    off: bool,
}

impl Recorder {
    pub fn of(items: &[Item]) -> Recorder {
        let definitions = declared(items);
        let uses = Vec::with_capacity(4 * definitions.len());
        let types = Vec::with_capacity(8 * definitions.len());
        Recorder { definitions, uses, types, off: false }
    }

    pub fn nothing() -> Recorder {
        Recorder { off: true, ..Recorder::default() }
    }

    /// Records no more, and tells whether it did so before.
    pub fn pause(&mut self) -> bool {
        std::mem::replace(&mut self.off, true)
    }

    pub fn resume(&mut self, off: bool) {
        self.off = off;
    }

    /// `name` stands for what is declared at `target`.
    pub fn refer(&mut self, name: &Name, target: Span) {
        if !self.off && !name.text.is_empty() {
            let at = name.span;
            let place = Span::new(at.file, at.start, at.start + name.text.len() as u32);
            self.uses.push((place, target));
        }
    }

    /// A name that is given to something where it is first used.
    pub fn define(&mut self, name: &Name, kind: DefinitionKind, scope: Span) {
        if !self.off && !name.text.is_empty() {
            let (name, span) = (name.text.clone(), name.span);
            self.definitions.push(Definition { name, kind, span, owner: None, scope: Some(scope) });
        }
    }

    /// An event stands for the place that emits it first.
    pub fn refer_to_event(&mut self, name: &Name) {
        if self.off {
            return;
        }
        let mut definitions = self.definitions.iter();
        let event = definitions.find(|d| d.kind == DefinitionKind::Event && d.name == name.text);
        if let Some(target) = event.map(|event| event.span).filter(|span| *span != name.span) {
            self.refer(name, target);
        }
    }

    pub fn has_type(&mut self, span: Span, ty: &Type) {
        if !self.off && !matches!(ty, Type::Error | Type::Null) {
            self.types.push((span, ty.clone()));
        }
    }

    /// What was recorded, with the names that its types are called after.
    pub fn finish(self, design: &Design) -> Analysis {
        let names = TypeNames {
            subjects: design.subjects.iter().map(|subject| subject.name.clone()).collect(),
            blobs: design.blobs.iter().map(|blob| blob.name.clone()).collect(),
            enumerations: design.enumerations.iter().map(|e| e.constants.clone()).collect(),
        };
        let Recorder { definitions, uses, types, .. } = self;
        Analysis { definitions, uses, types, names, ..Analysis::default() }
    }
}
