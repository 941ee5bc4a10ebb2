//! What is recorded of names, so that a text can be asked about.

use syntax::tree::Name;

use super::Compiler;
use super::frame::Frame;
use crate::model::*;

impl Compiler {
    /// A new slot under a name of the text, in scope until the scope is cut back.
    pub(super) fn bind(&mut self, frame: &mut Frame, name: &Name, ty: Type) -> LocalId {
        let id = frame.bind(&name.text, ty);
        self.declare_slot(frame, name, id);
        id
    }

    /// The slot got its name here.
    pub(super) fn declare_slot(&mut self, frame: &mut Frame, name: &Name, id: LocalId) {
        frame.declared.push((id, name.span));
        self.known.has_type(name.span, &frame.locals[id.index()].ty);
    }

    pub(super) fn refer_to_state(&mut self, name: &Name, subject: SubjectId, state: StateId) {
        let declared = self.design.subjects[subject.index()].states[state.index()].span;
        self.known.refer(name, declared);
    }

    pub(super) fn refer_to_attribute(&mut self, name: &Name, subject: SubjectId, attr: AttrId) {
        let declared = self.design.subjects[subject.index()].attributes[attr.index()].span;
        self.known.refer(name, declared);
    }
}
