//! Where the value of each attribute comes from.

use design::model::*;

use super::{Following, Rule, Site};

static NULL: Const = Const::Null;

/// What a stored record, or an entry of a log, gets for an attribute of the new design.
#[derive(Clone, PartialEq, Debug)]
pub enum Source<'d> {
    /// what it has
    Carried { old: AttrId, rule: Rule },
    /// made by a line of the block, from these
    Converted { by: &'d ConversionOf, of: Vec<AttrId> },
    /// by a line of the block
    Given(&'d Const),
    /// its default; null among them
    Default(&'d Const),
    /// nothing: records cannot follow
    Missing,
}

impl<'d> Following<'d> {
    /// Of a subject and of the one that it became.
    pub fn source(&self, old: SubjectId, new: SubjectId, attr: AttrId) -> Source<'d> {
        let (was, is) = (&self.old.subjects[old.index()], &self.new.subjects[new.index()]);
        let attribute = &is.attributes[attr.index()];
        let here = |subject: SubjectId, at: AttrId| (subject, at) == (new, attr);
        let block = self.block;
        let mut made = block.into_iter().flat_map(|block| &block.conversions);
        if let Some(by) = made.find(|made| here(made.subject, made.attr)) {
            let of = by.params.iter().map(|param| self.stored_as(by, &param.name));
            let of: Option<Vec<AttrId>> = of.map(|found| found.map(|(_, attr)| attr)).collect();
            // a line that does not fit was told
            return of.map_or(Source::Missing, |of| Source::Converted { by, of });
        }
        let kept = self.attributes[old.index()].iter().position(|held| *held == Some(attr));
        if let Some(kept) = kept {
            let before = &was.attributes[kept];
            let rule = self.rule_within(
                (&before.ty, before.range),
                (&attribute.ty, attribute.range),
                Site::Attr(old, AttrId::of(kept)),
            );
            return Source::Carried { old: AttrId::of(kept), rule };
        }
        let mut given = block.into_iter().flat_map(|block| &block.given);
        if let Some(given) = given.find(|given| here(given.subject, given.attr)) {
            return Source::Given(&given.value);
        }
        match &attribute.default {
            Some(value) => Source::Default(value),
            None if attribute.ty.is_optional() => Source::Default(&NULL),
            None => Source::Missing,
        }
    }

    /// Is this attribute of the old design carried, or is something made of it?
    pub fn is_carried(&self, old: SubjectId, attr: AttrId) -> bool {
        let carried = self.attributes[old.index()][attr.index()];
        let Some(new) = self.subject(old) else { return false };
        let block = self.block.into_iter().flat_map(|block| &block.conversions);
        let mut made = block.filter(|made| made.subject == new);
        let used = made.any(|made| {
            made.params.iter().any(|param| self.stored_as(made, &param.name) == Some((old, attr)))
        });
        carried.is_some() || used
    }
}
