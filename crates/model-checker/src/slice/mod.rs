//! A goal costs what it reads: the part of a design that it needs, explored by itself.

mod closure;
mod groups;
mod part;
mod project;
mod safe;
mod told;

use design::model::{Design, Goal, Invariant};

pub(crate) use closure::{Seeds, Slice, close};
pub(crate) use groups::{groups, pieces};
pub(crate) use part::Part;
pub(crate) use project::{LeftOut, project};
pub(crate) use safe::is_always_told;

pub(crate) fn goal(design: &Design, goal: Goal) -> &Invariant {
    design.goal(goal)
}
