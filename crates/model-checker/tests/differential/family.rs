//! A child is made only while its parent is there.

use super::{Naive, Refused, Result, Scene, Value};

impl Naive<'_> {
    /// `along`: what the same call makes.
    pub(super) fn has_parent(
        &self,
        (subject, key): (usize, usize),
        scene: &Scene<'_>,
        along: &[(usize, usize)],
    ) -> Result<()> {
        let Some(first) = self.design.subjects[subject].keys.first() else { return Ok(()) };
        let Some(parent) = first.ty.subject() else { return Ok(()) };
        let Value::Ref(parent_key) = &self.keys[subject][key][0] else { return Err(Refused) };
        let above = (parent.index(), *parent_key);
        // what no step makes is among the records from the start
        match scene.state.records.contains_key(&above) || along.contains(&above) {
            true => Ok(()),
            false => Err(Refused),
        }
    }
}
