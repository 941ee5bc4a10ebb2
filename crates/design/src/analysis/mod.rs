//! What is known of a text, also where it has errors: what it defines, what each name refers to,
//! and which type each expression has. An editor asks this; the compiler fills it on its way.

mod complete;
mod declared;
mod order;
mod record;

pub(crate) use record::Recorder;

use std::sync::OnceLock;

use syntax::{Diagnostic, FileId, Span};

use order::Order;

use crate::model::spell::{Named, spell};
use crate::model::{BlobId, EnumId, SubjectId, Type};

/// Into [`Analysis::definitions`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct DefinitionId(u32);

impl DefinitionId {
    pub(crate) fn of(index: usize) -> DefinitionId {
        DefinitionId(index as u32)
    }

    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A name that the text gives to something.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Definition {
    pub name: String,
    pub kind: DefinitionKind,
    /// of the name alone
    pub span: Span,
    /// the subject of a state, the state of an attribute, the operation of a parameter …
    pub owner: Option<DefinitionId>,
    /// where the name can be used by itself; none: wherever its kind can stand
    pub scope: Option<Span>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum DefinitionKind {
    Actor,
    /// what an actor remembers
    Memory,
    Blob,
    Subject,
    /// a part of a subject's key
    Key,
    /// a truth, a log, a cache or an ephemeral state
    State,
    Attribute,
    /// one word of an enumeration
    Constant,
    Define,
    /// a step, a repair, an effect or a read
    Operation,
    /// of an operation, a `define` or a view
    Parameter,
    /// a `let`, the variable of a `for` or of a quantifier, the answer to an effect
    Local,
    /// a named part of a guard
    Clause,
    View,
    /// defined where it is first emitted
    Event,
    /// an `invariant`, a `recovers` or a `leads_to`
    Goal,
    Protocol,
    /// a `check` with a name
    World,
}

/// A name that stands for something which is defined elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Reference {
    pub span: Span,
    pub definition: DefinitionId,
}

/// What is known of a text.
///
/// ```
/// let text = "design D\nactor a\nsubject S(s: text) { truth T { n: int = 0 } }\n\
///             step a[add(s: S)] { n += }\n";
/// let compiled = design::compile("d", text, &design::NoCatalog);
/// assert!(compiled.design.is_none());
/// let analysis = &compiled.analysis;
/// let use_of_n = text.rfind("n +=").unwrap() as u32;
/// let id = analysis.definitions_at(syntax::FileId(0), use_of_n)[0];
/// assert_eq!(analysis.definition(id).kind, design::DefinitionKind::Attribute);
/// assert_eq!(analysis.definition(id).span.start as usize, text.find("n: int").unwrap());
/// let (_, ty) = analysis.type_at(syntax::FileId(0), use_of_n).unwrap();
/// assert_eq!(analysis.type_name(ty), "int");
/// ```
///
/// It is kept as it was recorded, and put in order when it is first asked: most texts are compiled
/// by somebody who asks nothing.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    definitions: Vec<Definition>,
    /// from the use of a name to where the name of what it stands for begins
    uses: Vec<(Span, Span)>,
    types: Vec<(Span, Type)>,
    names: TypeNames,
    order: OnceLock<Order>,
    /// the same as those of [`crate::Compiled`]
    pub diagnostics: Vec<Diagnostic>,
}

/// What types are called after.
#[derive(Clone, Debug, Default)]
struct TypeNames {
    subjects: Vec<String>,
    blobs: Vec<String>,
    enumerations: Vec<Vec<String>>,
}

impl Named for TypeNames {
    fn subject(&self, id: SubjectId) -> &str {
        &self.subjects[id.index()]
    }

    fn blob(&self, id: BlobId) -> &str {
        &self.blobs[id.index()]
    }

    fn constants(&self, id: EnumId) -> &[String] {
        &self.enumerations[id.index()]
    }
}

impl Analysis {
    /// Every name that the text and its archetypes define; what is inside stands behind its owner.
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// The ids of [`Analysis::definitions`], in its order.
    pub fn ids(&self) -> impl Iterator<Item = DefinitionId> + use<> {
        (0..self.definitions.len()).map(DefinitionId::of)
    }

    pub fn definition(&self, id: DefinitionId) -> &Definition {
        &self.definitions[id.index()]
    }

    /// Every use of a name, in the order of the text. A field that is written as its name alone
    /// stands for two things: the attribute and the value.
    pub fn references(&self) -> &[Reference] {
        &self.order().references
    }

    fn order(&self) -> &Order {
        self.order.get_or_init(|| Order::of(&self.definitions, &self.uses, &self.types))
    }

    /// What the name at this place refers to, or the definition that is written there.
    pub fn definitions_at(&self, file: FileId, offset: u32) -> Vec<DefinitionId> {
        let before = |span: Span| (span.file, span.start) <= (file, offset);
        let covers = |span: Span| before(span) && span.file == file && offset <= span.end;
        let Order { by_place, references, .. } = self.order();
        let end = references.partition_point(|reference| before(reference.span));
        let mut found: Vec<DefinitionId> = references[..end]
            .iter()
            .rev()
            .take_while(|reference| covers(reference.span))
            .map(|reference| reference.definition)
            .collect();
        let end = by_place.partition_point(|id| before(self.definition(*id).span));
        let written = by_place[..end].last();
        found.extend(written.filter(|id| covers(self.definition(**id).span)));
        found.reverse();
        found
    }

    /// Where a definition is used, in the order of the text; its own place is not among them.
    pub fn references_to(&self, id: DefinitionId) -> impl Iterator<Item = Span> {
        let here = move |reference: &&Reference| reference.definition == id;
        self.references().iter().filter(here).map(|reference| reference.span)
    }

    /// The type of the smallest expression or name around this place, and which one that is.
    pub fn type_at(&self, file: FileId, offset: u32) -> Option<(Span, &Type)> {
        let types = &self.order().types;
        let span = |at: &usize| self.types[*at].0;
        let before = |at: &usize| (span(at).file, span(at).start) <= (file, offset);
        let end = types.partition_point(before);
        // the innermost one begins last; of those that begin together the shortest is last
        let mut around = types[..end].iter().rev().take_while(|at| span(at).file == file);
        around.find(|at| offset <= span(at).end).map(|at| (span(at), &self.types[*at].1))
    }

    /// Moves everything to other places.
    pub(crate) fn place(&mut self, moved: impl Fn(Span) -> Span) {
        for definition in &mut self.definitions {
            definition.span = moved(definition.span);
            definition.scope = definition.scope.map(&moved);
        }
        for (from, to) in &mut self.uses {
            (*from, *to) = (moved(*from), moved(*to));
        }
        self.types.iter_mut().for_each(|(span, _)| *span = moved(*span));
        self.order = OnceLock::new();
    }

    /// At this place a definition is named that is called so.
    pub(crate) fn mention(&mut self, place: Span, name: &str) {
        let found = self.definitions.iter().find(|definition| definition.name == name);
        if let Some(target) = found.map(|definition| definition.span) {
            self.uses.push((place, target));
            self.order = OnceLock::new();
        }
    }

    /// How a type is written.
    pub fn type_name(&self, ty: &Type) -> String {
        spell(ty, &self.names)
    }
}
