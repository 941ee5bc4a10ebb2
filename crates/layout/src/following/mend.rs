//! The line of a `from` block that would let what is stored follow.

use design::model::*;

use super::block::type_text;
use super::{Following, Rule, Site, attribute_path};

impl Following<'_> {
    /// The block with this line in it.
    fn block_with(&self, line: &str) -> String {
        format!("from \"{}\" {{ {line} }}", self.version)
    }

    /// For a subject that is gone: the one subject that is new and could be it.
    pub fn mend_subject(&self, old: SubjectId) -> Option<String> {
        let new = (0..self.new.subjects.len()).map(SubjectId::of);
        let fits = new.filter(|id| self.before(*id).is_none() && self.could_be(old, *id));
        let fits: Vec<SubjectId> = fits.collect();
        let [one] = fits.as_slice() else { return None };
        let (was, is) = (&self.old.subjects[old.index()], &self.new.subjects[one.index()]);
        Some(self.block_with(&format!("rename {} as {}", was.name, is.name)))
    }

    /// The same key, and most of what is stored has a place of its name.
    fn could_be(&self, old: SubjectId, new: SubjectId) -> bool {
        let (was, is) = (&self.old.subjects[old.index()], &self.new.subjects[new.index()]);
        let kept = was
            .attributes
            .iter()
            .filter(|attribute| is.attributes.iter().any(|other| other.name == attribute.name));
        self.same_key(old, new) && 2 * kept.count() >= was.attributes.len()
    }

    /// For an attribute that is gone: the one attribute, or the one state, that is new and could be it.
    pub fn mend_attribute(&self, old: SubjectId, attr: AttrId) -> Option<String> {
        let new = self.subject(old)?;
        let (was, is) = (&self.old.subjects[old.index()], &self.new.subjects[new.index()]);
        let attribute = &was.attributes[attr.index()];
        let Some(state) = self.state(old, attribute.state) else {
            let free = (0..is.states.len()).map(StateId::of);
            let free = free.filter(|id| !self.states[old.index()].contains(&Some(*id)));
            let fits = free.filter(|id| {
                is.states[id.index()]
                    .attributes
                    .iter()
                    .any(|at| is.attributes[at.index()].name == attribute.name)
            });
            let fits: Vec<StateId> = fits.collect();
            let [one] = fits.as_slice() else { return None };
            let (was, is) = (&was.states[attribute.state.index()], &is.states[one.index()]);
            return Some(self.block_with(&format!("rename {} as {}", was.name, is.name)));
        };
        let free = is.states[state.index()].attributes.iter().copied();
        let free = free.filter(|id| !self.attributes[old.index()].contains(&Some(*id)));
        let fits = free.filter(|id| {
            let other = &is.attributes[id.index()];
            self.rule(&attribute.ty, &other.ty, Site::Attr(old, attr)) != Rule::Never
        });
        let fits: Vec<AttrId> = fits.collect();
        let [one] = fits.as_slice() else { return None };
        let line =
            format!("rename {} as {}", attribute_path(was, attr), is.attributes[one.index()].name);
        Some(self.block_with(&line))
    }

    /// For an attribute that is new and has no default.
    pub fn mend_missing(&self, new: SubjectId, attr: AttrId) -> String {
        let path = attribute_path(&self.new.subjects[new.index()], attr);
        self.block_with(&format!("default {path} = …"))
    }

    /// For an attribute that has another type.
    pub fn mend_type(&self, old: SubjectId, was: AttrId, new: SubjectId, is: AttrId) -> String {
        let before = &self.old.subjects[old.index()].attributes[was.index()];
        let path = attribute_path(&self.new.subjects[new.index()], is);
        let ty = type_text(self.old, &before.ty);
        self.block_with(&format!("convert {path}({}: {ty}) = …", before.name))
    }

    /// For an effect that is gone: the one effect that is new and takes the same.
    pub fn mend_operation(&self, old: OperationId) -> Option<String> {
        let was = &self.old.operations[old.index()];
        let free = (0..self.new.operations.len()).map(OperationId::of);
        let fits = free.filter(|id| {
            let is = &self.new.operations[id.index()];
            self.operation_before(*id).is_none()
                && std::mem::discriminant(&was.kind) == std::mem::discriminant(&is.kind)
                && was.params.len() == is.params.len()
                && was
                    .params
                    .iter()
                    .zip(&is.params)
                    .all(|(a, b)| self.rule(&a.ty, &b.ty, Site::Elsewhere) != Rule::Never)
        });
        let fits: Vec<OperationId> = fits.collect();
        let [one] = fits.as_slice() else { return None };
        let is = &self.new.operations[one.index()];
        (was.name != is.name)
            .then(|| self.block_with(&format!("rename {} as {}", was.name, is.name)))
    }
}
