//! What may be read where: soft state in no guard, a copy by its owner alone.

use syntax::{Diagnostic, Span};

use super::Compiler;
use super::frame::{Frame, Mode};
use crate::model::{AttrId, Expr, ExprKind, StateKind, SubjectId};

impl Compiler {
    /// May an attribute of this kind of state be read here?
    pub(super) fn may_read(
        &mut self,
        frame: &Frame,
        subject: SubjectId,
        attr: AttrId,
        span: Span,
    ) -> bool {
        let owner = &self.design.subjects[subject.index()];
        let state = &owner.states[owner.attributes[attr.index()].state.index()];
        let (name, declared) = (state.name.clone(), state.span);
        match state.kind {
            StateKind::Ephemeral { .. }
                if !matches!(frame.mode, Mode::Read | Mode::View | Mode::Measured) =>
            {
                self.report(
                    Diagnostic::error("E0402", span, format!("`{name}` is ephemeral"))
                        .label("guards, effects and goals cannot rest on it")
                        .also(declared, "soft state: it may be gone at any moment")
                        .help("keep what is decided upon in a `truth`"),
                );
                false
            }
            StateKind::Cache { at }
                if frame.mode != Mode::Measured
                    && frame.actor.map(|actor| self.root_actor(actor)) != Some(at) =>
            {
                let at = self.design.actors[at.index()].name.clone();
                self.report(
                    Diagnostic::error(
                        "E0411",
                        span,
                        format!("`{name}` is in the memory of `{at}`, which alone can read it"),
                    )
                    .also(declared, "a copy at each of them, not one for all")
                    .help(format!("let a step of `{at}` do it, or read the truth itself")),
                );
                false
            }
            _ => true,
        }
    }

    /// May everything that this path goes through be read here?
    pub(super) fn may_read_value(&mut self, frame: &Frame, value: &Expr) -> bool {
        match &value.kind {
            ExprKind::Attr { base, attr } => {
                self.may_read_value(frame, base)
                    && base
                        .ty
                        .subject()
                        .is_none_or(|subject| self.may_read(frame, subject, *attr, value.span))
            }
            ExprKind::KeyPart { base, .. }
            | ExprKind::LogEnd { base, .. }
            | ExprKind::LogStart { base, .. }
            | ExprKind::Exists { base, .. } => self.may_read_value(frame, base),
            _ => true,
        }
    }
}
