//! The lines of a `from` block, held against the version that they speak of.

use design::model::*;

use super::pairs::stored_alike;
use super::{Following, Misfit, Renamed, Rule, Site, Word};

/// Something that an old name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Thing {
    Actor(ActorId),
    Subject(SubjectId),
    Blob(BlobId),
    Event(EventId),
    Operation(OperationId),
    State(SubjectId, StateId),
    Attr(SubjectId, AttrId),
    Param(OperationId, usize),
    Memory(ActorId, MemoryId),
    Word(Option<Site>),
}

impl Thing {
    fn told(self) -> &'static str {
        match self {
            Thing::Actor(_) => "an actor",
            Thing::Subject(_) => "a subject",
            Thing::Blob(_) => "a blob",
            Thing::Event(_) => "an event",
            Thing::Operation(_) => "an operation",
            Thing::State(..) => "a state",
            Thing::Attr(..) => "an attribute",
            Thing::Param(..) => "a parameter",
            Thing::Memory(..) => "a memory",
            Thing::Word(_) => "a word of an enumeration",
        }
    }
}

impl<'d> Following<'d> {
    fn renames(&self) -> impl Iterator<Item = &'d Rename> + use<'d> {
        self.block.into_iter().flat_map(|block| &block.renames)
    }

    /// Everything that the words stand for in the old design.
    fn things(&self, path: &[String]) -> Vec<Thing> {
        let old = self.old;
        let mut found = Vec::new();
        let subjects = || old.subjects.iter().enumerate().map(|(at, s)| (SubjectId::of(at), s));
        let operations =
            || old.operations.iter().enumerate().map(|(at, o)| (OperationId::of(at), o));
        let attributes = |subject: &Subject, state: &str, name: &str| {
            let attrs = subject.attributes.iter().enumerate();
            let fits = attrs.filter(|(_, attribute)| {
                attribute.name == *name && subject.states[attribute.state.index()].name == *state
            });
            fits.map(|(at, _)| AttrId::of(at)).collect::<Vec<_>>()
        };
        match path {
            [name] => {
                let at = old.actors.iter().position(|held| held.name == *name);
                found.extend(at.map(|at| Thing::Actor(ActorId::of(at))));
                let at = old.blobs.iter().position(|held| held.name == *name);
                found.extend(at.map(|at| Thing::Blob(BlobId::of(at))));
                let at = old.events.iter().position(|held| held.name == *name);
                found.extend(at.map(|at| Thing::Event(EventId::of(at))));
                let at = old.operations.iter().position(|held| held.name == *name);
                found.extend(at.map(|at| Thing::Operation(OperationId::of(at))));
                for (id, subject) in subjects() {
                    if subject.name == *name {
                        found.push(Thing::Subject(id));
                    }
                    let at = subject.states.iter().position(|held| held.name == *name);
                    found.extend(at.map(|at| Thing::State(id, StateId::of(at))));
                }
                if old.enumerations.iter().any(|held| held.constants.contains(name)) {
                    found.push(Thing::Word(None));
                }
            }
            [owner, name] => {
                for (id, subject) in subjects() {
                    let at = subject.states.iter().position(|held| held.name == *name);
                    let at = at.filter(|_| subject.name == *owner);
                    found.extend(at.map(|at| Thing::State(id, StateId::of(at))));
                    let attrs = attributes(subject, owner, name);
                    found.extend(attrs.into_iter().map(|attr| Thing::Attr(id, attr)));
                }
                for (id, operation) in operations().filter(|(_, held)| held.name == *owner) {
                    let at = operation.params.iter().position(|held| held.name == *name);
                    found.extend(at.map(|at| Thing::Param(id, at)));
                }
                for (at, actor) in old.actors.iter().enumerate().filter(|(_, a)| a.name == *owner) {
                    let field = actor.memory.iter().position(|held| held.name == *name);
                    let memory = |field| Thing::Memory(ActorId::of(at), MemoryId::of(field));
                    found.extend(field.map(memory));
                }
            }
            [first, second, third] => {
                for (id, subject) in subjects() {
                    if subject.name == *first {
                        let attrs = attributes(subject, second, third);
                        found.extend(attrs.into_iter().map(|attr| Thing::Attr(id, attr)));
                    }
                    let attrs = attributes(subject, first, second).into_iter();
                    let words = attrs
                        .filter(|attr| has_word(old, &subject.attributes[attr.index()].ty, third));
                    found.extend(words.map(|attr| Thing::Word(Some(Site::Attr(id, attr)))));
                }
                for (id, operation) in operations().filter(|(_, held)| held.name == *first) {
                    let at = operation
                        .params
                        .iter()
                        .position(|param| param.name == *second && has_word(old, &param.ty, third));
                    found.extend(at.map(|at| Thing::Word(Some(Site::Param(id, at)))));
                }
            }
            [subject, state, name, word] => {
                for (id, held) in subjects().filter(|(_, held)| held.name == *subject) {
                    let attrs = attributes(held, state, name).into_iter();
                    let words =
                        attrs.filter(|attr| has_word(old, &held.attributes[attr.index()].ty, word));
                    found.extend(words.map(|attr| Thing::Word(Some(Site::Attr(id, attr)))));
                }
            }
            _ => {}
        }
        found
    }

    /// Subjects, actors, blobs, events and operations.
    pub(super) fn rename_things(&mut self) {
        for rename in self.renames() {
            let things = self.things(&rename.old);
            let new = self.new;
            let mut done = false;
            for thing in &things {
                done |= match *thing {
                    Thing::Actor(id) => {
                        let at = new.actors.iter().position(|held| held.name == rename.new);
                        set(&mut self.actors[..], id.index(), at.map(ActorId::of))
                    }
                    Thing::Subject(id) => {
                        let at = new.subjects.iter().position(|held| held.name == rename.new);
                        set(&mut self.subjects[..], id.index(), at.map(SubjectId::of))
                    }
                    Thing::Blob(id) => {
                        let at = new.blobs.iter().position(|held| held.name == rename.new);
                        set(&mut self.blobs[..], id.index(), at.map(BlobId::of))
                    }
                    Thing::Event(id) => {
                        let at = new.events.iter().position(|held| held.name == rename.new);
                        set(&mut self.events[..], id.index(), at.map(EventId::of))
                    }
                    Thing::Operation(id) => {
                        let at = new.operations.iter().position(|held| held.name == rename.new);
                        set(&mut self.operations[..], id.index(), at.map(OperationId::of))
                    }
                    _ => continue,
                };
            }
            if done {
                self.told(rename);
            }
        }
    }

    pub(super) fn rename_states(&mut self) {
        for rename in self.renames() {
            let things = self.things(&rename.old);
            let states: Vec<Thing> =
                things.iter().copied().filter(|thing| matches!(thing, Thing::State(..))).collect();
            let mut done = false;
            for thing in &states {
                let Thing::State(subject, state) = *thing else { continue };
                let Some(new) = self.subject(subject) else { continue };
                let states = &self.new.subjects[new.index()].states;
                let at = states.iter().position(|held| held.name == rename.new).map(StateId::of);
                done |= set(&mut self.states[subject.index()][..], state.index(), at);
            }
            if done {
                self.told(rename);
            }
        }
    }

    pub(super) fn rename_members(&mut self) {
        for rename in self.renames() {
            let things = self.things(&rename.old);
            let mut members = things.iter().copied().filter(|thing| {
                matches!(thing, Thing::Attr(..) | Thing::Param(..) | Thing::Memory(..))
            });
            let Some(first) = members.next() else { continue };
            let mut done = false;
            for thing in [first].into_iter().chain(members) {
                done |= match thing {
                    Thing::Attr(subject, attr) => self.rename_attribute(subject, attr, rename),
                    Thing::Param(operation, at) => {
                        let Some(new) = self.operation(operation) else { continue };
                        let params = &self.new.operations[new.index()].params;
                        let found = params.iter().position(|held| held.name == rename.new);
                        set(&mut self.params[operation.index()][..], at, found)
                    }
                    Thing::Memory(actor, field) => {
                        let Some(new) = self.actors[actor.index()] else { continue };
                        let memory = &self.new.actors[new.index()].memory;
                        let found = memory.iter().position(|held| held.name == rename.new);
                        let found = found.map(MemoryId::of);
                        set(&mut self.memory[actor.index()][..], field.index(), found)
                    }
                    _ => continue,
                };
            }
            if done {
                self.told(rename);
            }
        }
    }

    fn rename_attribute(&mut self, subject: SubjectId, attr: AttrId, rename: &Rename) -> bool {
        let Some(new) = self.subject(subject) else { return false };
        let (was, is) = (&self.old.subjects[subject.index()], &self.new.subjects[new.index()]);
        let state = was.attributes[attr.index()].state;
        let Some(place) = self.state(subject, state) else { return false };
        if !stored_alike(was, state, is, place) {
            return false;
        }
        let mut found = is.states[place.index()].attributes.iter();
        let found = found.find(|id| is.attributes[id.index()].name == rename.new).copied();
        set(&mut self.attributes[subject.index()][..], attr.index(), found)
    }

    pub(super) fn rename_words(&mut self) {
        for rename in self.renames() {
            let things = self.things(&rename.old);
            let words: Vec<Thing> =
                things.iter().copied().filter(|thing| matches!(thing, Thing::Word(_))).collect();
            let mut done = false;
            for thing in &words {
                let Thing::Word(of) = *thing else { continue };
                let ty = match of {
                    None => None,
                    Some(Site::Attr(subject, attr)) => {
                        let new = self.subject(subject);
                        let there = self.attributes[subject.index()][attr.index()];
                        let Some((subject, attr)) = new.zip(there) else { continue };
                        Some(&self.new.subjects[subject.index()].attributes[attr.index()].ty)
                    }
                    Some(Site::Param(operation, at)) => {
                        let new = self.operation(operation);
                        let there = self.params[operation.index()][at];
                        let Some((operation, at)) = new.zip(there) else { continue };
                        Some(&self.new.operations[operation.index()].params[at].ty)
                    }
                    Some(Site::Elsewhere) => continue,
                };
                let known = match ty {
                    Some(ty) => has_word(self.new, ty, &rename.new),
                    None => {
                        let mut all = self.new.enumerations.iter();
                        all.any(|held| held.constants.contains(&rename.new))
                    }
                };
                if known {
                    let old = rename.old.last().cloned().unwrap_or_default();
                    self.words.push(Word { of, old, new: rename.new.clone() });
                    done = true;
                }
            }
            if done {
                self.told(rename);
            }
        }
    }

    fn told(&mut self, rename: &Rename) {
        let renamed = Renamed { old: rename.old.join("."), new: rename.new.clone(), used: None };
        if !self.named.contains(&renamed) {
            self.named.push(renamed);
        }
    }

    /// Lines that name nothing, or whose new name nothing like it has.
    pub(super) fn look_at_renames(&mut self) {
        for rename in self.renames() {
            let (old, new) = (rename.old.join("."), &rename.new);
            let done = |held: &Renamed| held.old == old && held.new == *new && held.used.is_none();
            if self.named.iter().any(done) {
                continue;
            }
            let why = match self.things(&rename.old).first() {
                None => format!("version {} has nothing of that name", self.version),
                Some(thing) => format!(
                    "in version {} that is {}, and none that it could become is called `{new}` here, or another \
                     line has taken it",
                    self.version,
                    thing.told()
                ),
            };
            self.misfits.push(Misfit { line: format!("rename {old} as {new}"), why });
        }
    }

    /// Lines about values: what they give must be new, and what they are made of must be there.
    pub(super) fn look_at_values(&mut self) {
        let Some(block) = self.block else { return };
        for given in &block.given {
            let Some(old) = self.before(given.subject) else { continue };
            let known = self.attributes[old.index()].contains(&Some(given.attr));
            if known {
                let line = format!("default {}", self.new_path(given.subject, given.attr));
                let why =
                    format!("version {} stores it: `default` is for what is new", self.version);
                self.misfits.push(Misfit { line, why });
            }
        }
        for made in &block.conversions {
            let line = format!("convert {}", self.new_path(made.subject, made.attr));
            if self.before(made.subject).is_none() {
                let name = &self.new.subjects[made.subject.index()].name;
                let why = format!("version {} stores nothing of `{name}`", self.version);
                self.misfits.push(Misfit { line: line.clone(), why });
                continue;
            }
            for param in &made.params {
                let why = match self.stored_as(made, &param.name) {
                    None => format!("version {} stores no `{}` there", self.version, param.name),
                    Some((subject, attr)) => {
                        let was = &self.old.subjects[subject.index()].attributes[attr.index()].ty;
                        if self.rule(was, &param.ty, Site::Attr(subject, attr)) != Rule::Never {
                            continue;
                        }
                        let (was, is) = (type_text(self.old, was), type_text(self.new, &param.ty));
                        format!(
                            "version {} stores `{}` as {was}, not {is}",
                            self.version, param.name
                        )
                    }
                };
                self.misfits.push(Misfit { line: line.clone(), why });
            }
        }
    }

    /// A block about the version that the text itself is would be carried out whenever the text is put in place.
    pub(super) fn look_at_version(&mut self) {
        if self.block.is_some() && super::version(self.new) == self.version {
            let line = format!("from \"{}\"", self.version);
            let why = "is the version of this very text, so that nobody could tell what was carried already: \
                       give what is converted another name";
            self.misfits.push(Misfit { line, why: why.into() });
        }
    }

    /// The stored attribute that a conversion calls so: in its own state first.
    pub(super) fn stored_as(&self, made: &ConversionOf, name: &str) -> Option<(SubjectId, AttrId)> {
        let old = self.before(made.subject)?;
        let (was, is) = (&self.old.subjects[old.index()], &self.new.subjects[made.subject.index()]);
        let target = is.attributes[made.attr.index()].state;
        let fits = |attribute: &Attribute| {
            // entries of a log are converted one by one: nothing else is at hand
            let log = matches!(is.states[target.index()].kind, StateKind::Log { .. });
            let own = self.states[old.index()][attribute.state.index()] == Some(target);
            let truth = matches!(was.states[attribute.state.index()].kind, StateKind::Truth);
            attribute.name == name && if log { own } else { truth }
        };
        let all = was.attributes.iter().enumerate().filter(|(_, attribute)| fits(attribute));
        let all: Vec<(usize, &Attribute)> = all.collect();
        let own = all.iter().find(|(_, attribute)| {
            self.states[old.index()][attribute.state.index()] == Some(target)
        });
        let found = own.or(match all.as_slice() {
            [one] => Some(one),
            _ => None,
        });
        found.map(|(at, _)| (old, AttrId::of(*at)))
    }

    fn new_path(&self, subject: SubjectId, attr: AttrId) -> String {
        super::attribute_path(&self.new.subjects[subject.index()], attr)
    }
}

pub(super) fn type_text(design: &Design, ty: &Type) -> String {
    design::model::type_text(ty, design)
}

fn has_word(design: &Design, ty: &Type, word: &str) -> bool {
    match ty {
        Type::Enum(id) => design.enumerations[id.index()].constants.iter().any(|held| held == word),
        Type::Optional(inner) => has_word(design, inner, word),
        Type::List { of, .. } | Type::Set { of, .. } => has_word(design, of, word),
        Type::Struct(fields) => fields.iter().any(|field| has_word(design, &field.ty, word)),
        Type::Map { key, value, .. } => {
            has_word(design, key, word) || has_word(design, value, word)
        }
        _ => false,
    }
}

/// Makes the pair, if there is such a thing and nothing else became it.
fn set<I: Copy + PartialEq>(pairs: &mut [Option<I>], at: usize, new: Option<I>) -> bool {
    let free = new.is_some_and(|new| !pairs.contains(&Some(new)));
    if free {
        pairs[at] = new;
    }
    free
}
