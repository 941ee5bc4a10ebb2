//! What was copied from an archetype and is used from it now has the noun of the `use` in its name, or the other way
//! round. It is recognised where that is all that differs: the shape fits, and nothing else could be meant.

use design::model::*;

use super::pairs::stored_alike;
use super::{Following, Renamed, Rule, Site};

/// The name with the noun of a `use`, as subjects and states have it, or operations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Type,
    Operation,
}

impl Following<'_> {
    /// The `use` by which the two names are one; none: they are not.
    fn by_noun(&self, old: &str, new: &str, case: Case) -> Option<String> {
        let joined = |name: &str, used: &Use| match case {
            Case::Type => format!("{}{name}", used.noun),
            Case::Operation => format!("{name}_{}", used.scope),
        };
        let copied = self.new.uses.iter().find(|used| joined(old, used) == new);
        let used = copied.or_else(|| self.old.uses.iter().find(|used| joined(new, used) == old));
        used.map(Use::told)
    }

    pub(super) fn recognise_subjects(&mut self) {
        // first by name, as if all of them fitted: they may refer to each other
        let mut found: Vec<(usize, SubjectId, String)> = Vec::new();
        for (at, was) in self.old.subjects.iter().enumerate() {
            if self.subjects[at].is_some() {
                continue;
            }
            let fits = self.new.subjects.iter().enumerate().filter_map(|(new, is)| {
                let id = SubjectId::of(new);
                let free = !self.subjects.contains(&Some(id));
                let used = self.by_noun(&was.name, &is.name, Case::Type).filter(|_| free)?;
                Some((id, used))
            });
            let fits: Vec<(SubjectId, String)> = fits.collect();
            if let [(id, used)] = fits.as_slice() {
                found.push((at, *id, used.clone()));
            }
        }
        let all = found.clone();
        found.retain(|(_, id, _)| all.iter().filter(|(_, other, _)| other == id).count() == 1);
        for (at, id, _) in &found {
            self.subjects[*at] = Some(*id);
        }
        // then by shape; what does not fit takes along what refers to it
        while let Some(wrong) =
            found.iter().position(|(at, id, _)| !self.shape_fits(SubjectId::of(*at), *id))
        {
            let (at, _, _) = found.remove(wrong);
            self.subjects[at] = None;
        }
        for (at, id, used) in found {
            let (old, new) = (&self.old.subjects[at].name, &self.new.subjects[id.index()].name);
            let used = Some(used);
            self.named.push(Renamed { old: old.clone(), new: new.clone(), used });
        }
    }

    /// The same key, and a place for everything that is stored.
    pub(super) fn shape_fits(&self, old: SubjectId, new: SubjectId) -> bool {
        let (was, is) = (&self.old.subjects[old.index()], &self.new.subjects[new.index()]);
        self.same_key(old, new)
            && was.attributes.iter().enumerate().all(|(at, attribute)| {
                let site = Site::Attr(old, AttrId::of(at));
                let state = &was.states[attribute.state.index()];
                if !matches!(state.kind, StateKind::Truth | StateKind::Log { .. }) {
                    return true;
                }
                is.attributes.iter().any(|other| {
                    let here = &is.states[other.state.index()].name;
                    let named = *here == state.name
                        || self.by_noun(&state.name, here, Case::Type).is_some();
                    named
                        && other.name == attribute.name
                        && stored_alike(was, attribute.state, is, other.state)
                        && self.rule(&attribute.ty, &other.ty, site) != Rule::Never
                })
            })
    }

    pub(super) fn recognise_states(&mut self, old: SubjectId, new: SubjectId) {
        let (was, is) = (&self.old.subjects[old.index()], &self.new.subjects[new.index()]);
        for (at, state) in was.states.iter().enumerate() {
            if self.states[old.index()][at].is_some() {
                continue;
            }
            let fits = is.states.iter().enumerate().filter_map(|(place, other)| {
                let id = StateId::of(place);
                let free = !self.states[old.index()].contains(&Some(id))
                    && stored_alike(was, StateId::of(at), is, id)
                    && self.attributes_fit(old, StateId::of(at), new, id);
                let used = self.by_noun(&state.name, &other.name, Case::Type).filter(|_| free)?;
                Some((id, used))
            });
            let fits: Vec<(StateId, String)> = fits.collect();
            let [(id, used)] = fits.as_slice() else { continue };
            self.states[old.index()][at] = Some(*id);
            let new = is.states[id.index()].name.clone();
            let used = Some(used.clone());
            self.named.push(Renamed { old: state.name.clone(), new, used });
        }
    }

    fn attributes_fit(&self, old: SubjectId, was: StateId, new: SubjectId, is: StateId) -> bool {
        let (before, after) = (&self.old.subjects[old.index()], &self.new.subjects[new.index()]);
        before.states[was.index()].attributes.iter().all(|at| {
            let attribute = &before.attributes[at.index()];
            after.states[is.index()].attributes.iter().any(|id| {
                let other = &after.attributes[id.index()];
                other.name == attribute.name
                    && self.rule(&attribute.ty, &other.ty, Site::Attr(old, *at)) != Rule::Never
            })
        })
    }

    /// Steps, effects and repairs: another actor, or the noun in the name.
    pub(super) fn recognise_operations(&mut self) {
        for at in 0..self.old.operations.len() {
            if self.operations[at].is_some() {
                continue;
            }
            let was = &self.old.operations[at];
            let fits = self.new.operations.iter().enumerate().filter_map(|(place, is)| {
                let id = OperationId::of(place);
                let alike = std::mem::discriminant(&was.kind) == std::mem::discriminant(&is.kind)
                    && was.params.len() == is.params.len()
                    && was
                        .params
                        .iter()
                        .zip(&is.params)
                        .all(|(a, b)| self.rule(&a.ty, &b.ty, Site::Elsewhere) != Rule::Never);
                let free = alike && !self.operations.contains(&Some(id));
                let used = match was.name == is.name {
                    // one name in one design: it is the same, by somebody else
                    true => self.new.used_for(id).map(Use::told),
                    false => self.by_noun(&was.name, &is.name, Case::Operation),
                };
                used.filter(|_| free).map(|used| (id, used))
            });
            let fits: Vec<(OperationId, String)> = fits.collect();
            let [(id, used)] = fits.as_slice() else { continue };
            self.operations[at] = Some(*id);
            self.named.push(Renamed {
                old: super::operation_path(self.old, OperationId::of(at)),
                new: super::operation_path(self.new, *id),
                used: Some(used.clone()),
            });
        }
    }
}
