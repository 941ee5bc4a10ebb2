//! Which thing of the new design each thing of the old design is: as the block says, by name, or as recognised.

use design::model::*;

use super::Following;

impl Following<'_> {
    /// The order matters: what is a part of something is looked for in what that became.
    pub(super) fn pair(&mut self) {
        self.rename_things();
        by_name(&mut self.actors, &self.old.actors, &self.new.actors, |a| &a.name, ActorId::of);
        by_name(&mut self.blobs, &self.old.blobs, &self.new.blobs, |b| &b.name, BlobId::of);
        by_name(&mut self.events, &self.old.events, &self.new.events, |e| &e.name, EventId::of);
        by_name(
            &mut self.subjects,
            &self.old.subjects,
            &self.new.subjects,
            |s| &s.name,
            SubjectId::of,
        );
        self.recognise_subjects();
        self.rename_states();
        for at in 0..self.old.subjects.len() {
            let Some(new) = self.subjects[at] else { continue };
            let (was, is) = (&self.old.subjects[at], &self.new.subjects[new.index()]);
            by_name(&mut self.states[at], &was.states, &is.states, |s| &s.name, StateId::of);
            self.recognise_states(SubjectId::of(at), new);
        }
        self.pair_operations();
        self.rename_members();
        for at in 0..self.old.subjects.len() {
            let Some(new) = self.subjects[at] else { continue };
            self.pair_attributes(SubjectId::of(at), new);
        }
        for at in 0..self.old.operations.len() {
            let Some(new) = self.operations[at] else { continue };
            let (was, is) = (&self.old.operations[at], &self.new.operations[new.index()]);
            by_name(&mut self.params[at], &was.params, &is.params, |p| &p.name, |at| at);
        }
        for at in 0..self.old.actors.len() {
            let Some(new) = self.actors[at] else { continue };
            let (was, is) = (&self.old.actors[at], &self.new.actors[new.index()]);
            by_name(&mut self.memory[at], &was.memory, &is.memory, |m| &m.name, MemoryId::of);
        }
        self.rename_words();
    }

    /// Attributes follow within their state.
    fn pair_attributes(&mut self, old: SubjectId, new: SubjectId) {
        let (was, is) = (&self.old.subjects[old.index()], &self.new.subjects[new.index()]);
        for (at, attribute) in was.attributes.iter().enumerate() {
            if self.attributes[old.index()][at].is_some() {
                continue;
            }
            let Some(state) = self.states[old.index()][attribute.state.index()] else { continue };
            if !stored_alike(was, attribute.state, is, state) {
                continue;
            }
            let mut found = is.states[state.index()].attributes.iter();
            let found = found.find(|id| is.attributes[id.index()].name == attribute.name);
            if let Some(id) = found.copied()
                && !self.attributes[old.index()].contains(&Some(id))
            {
                self.attributes[old.index()][at] = Some(id);
            }
        }
    }

    fn pair_operations(&mut self) {
        for at in 0..self.old.operations.len() {
            if self.operations[at].is_some() {
                continue;
            }
            let was = &self.old.operations[at];
            let actor = self.actors[was.actor.index()];
            let found = self
                .new
                .operations
                .iter()
                .position(|is| is.name == was.name && actor == Some(is.actor));
            let found = found.map(OperationId::of);
            if found.is_some_and(|id| !self.operations.contains(&Some(id))) {
                self.operations[at] = found;
            }
        }
        self.recognise_operations();
    }
}

/// A state of the old design and one of the new design keep their attributes at the same kind of place.
pub(super) fn stored_alike(was: &Subject, old: StateId, is: &Subject, new: StateId) -> bool {
    let kind = |subject: &Subject, state: StateId| {
        std::mem::discriminant(&subject.states[state.index()].kind)
    };
    kind(was, old) == kind(is, new)
}

/// Gives whatever has no counterpart yet the one of its name, if that is free.
fn by_name<T, I: Copy + PartialEq>(
    pairs: &mut [Option<I>],
    old: &[T],
    new: &[T],
    name: impl Fn(&T) -> &String,
    id: impl Fn(usize) -> I,
) {
    for (at, was) in old.iter().enumerate() {
        if pairs[at].is_some() {
            continue;
        }
        let found = new.iter().position(|is| name(is) == name(was)).map(&id);
        if found.is_some_and(|found| !pairs.contains(&Some(found))) {
            pairs[at] = found;
        }
    }
}
