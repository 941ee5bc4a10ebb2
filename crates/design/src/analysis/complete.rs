//! Which names may stand at a place. The text around it is usually broken: its author is not done.

use syntax::{FileId, Span};

use super::{Analysis, Definition, DefinitionId, DefinitionKind as Kind};
use crate::Sources;
use crate::model::Type;

impl Analysis {
    /// The names that may be written here and begin with what is written already: after a dot the
    /// members of what stands before it, elsewhere what is in scope, the nearest first.
    pub fn complete(&self, sources: &Sources, file: FileId, offset: u32) -> Vec<DefinitionId> {
        let text = sources.get(file).map_or("", |source| &source.text);
        let Some(before) = text.get(..offset as usize) else {
            return Vec::new();
        };
        let (rest, begun) = last_word(before);
        let mut found = match rest.strip_suffix('.') {
            Some(base) => self.members_of_what_ends(base, file),
            None => self.in_scope(file, offset),
        };
        found.retain(|id| self.definition(*id).name.starts_with(begun));
        found
    }

    fn members_of_what_ends(&self, before: &str, file: FileId) -> Vec<DefinitionId> {
        let (_, word) = last_word(before);
        let end = before.len() as u32;
        let mut bases = self.definitions_at(file, end);
        bases.retain(|id| self.definition(*id).name == word);
        if bases.is_empty() {
            // the expression could not be read, but its word can be looked up
            bases = self.in_scope(file, end);
            bases.retain(|id| self.definition(*id).name == word);
        }
        bases.first().map_or_else(Vec::new, |base| self.members(*base))
    }

    /// What may follow a dot after this.
    pub fn members(&self, id: DefinitionId) -> Vec<DefinitionId> {
        let definition = self.definition(id);
        match definition.kind {
            Kind::Subject => self.members_of_subject(id),
            Kind::State | Kind::Actor | Kind::Operation => {
                self.select(|member| member.owner == Some(id))
            }
            _ => self.subject_of(definition).map_or_else(Vec::new, |s| self.members_of_subject(s)),
        }
    }

    /// Its states and keys, and the attributes by themselves.
    fn members_of_subject(&self, subject: DefinitionId) -> Vec<DefinitionId> {
        let of_subject = |definition: &Definition| definition.owner == Some(subject);
        self.select(|member| {
            let of_state = |owner: DefinitionId| of_subject(self.definition(owner));
            of_subject(member)
                || member.kind == Kind::Attribute && member.owner.is_some_and(of_state)
        })
    }

    /// The subject whose record this refers to.
    fn subject_of(&self, definition: &Definition) -> Option<DefinitionId> {
        let (_, ty) = self.type_at(definition.span.file, definition.span.start)?;
        let Type::Ref(subject) = ty.required() else {
            return None;
        };
        let name = &self.names.subjects[subject.index()];
        self.select(|subject| subject.kind == Kind::Subject && subject.name == *name).pop()
    }

    /// What can be named here: locals and parameters, what they bring with them, then the rest.
    fn in_scope(&self, file: FileId, offset: u32) -> Vec<DefinitionId> {
        let covers = |span: Span| span.file == file && span.start <= offset && offset <= span.end;
        let mut found = self.select(|definition| definition.scope.is_some_and(covers));
        found.reverse();
        for local in found.clone() {
            if let Some(subject) = self.subject_of(self.definition(local)) {
                found.extend(self.members_of_subject(subject));
            }
        }
        found.extend(self.select(|definition| match definition.kind {
            Kind::Parameter | Kind::Local | Kind::Clause | Kind::Protocol | Kind::World => false,
            Kind::Key | Kind::Attribute => false,
            _ => definition.scope.is_none(),
        }));
        let mut seen = rustc_hash::FxHashSet::default();
        found.retain(|id| seen.insert(*id));
        found
    }

    fn select(&self, keep: impl Fn(&Definition) -> bool) -> Vec<DefinitionId> {
        let all = self.definitions.iter().enumerate();
        all.filter(|(_, d)| keep(d)).map(|(at, _)| DefinitionId::of(at)).collect()
    }
}

/// A text and the word at its end, which may be empty.
fn last_word(text: &str) -> (&str, &str) {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let start = text.trim_end_matches(part).len();
    text.split_at(start)
}
