//! Which records must be there before a step may act.

use super::*;

impl Design {
    /// The subject's parent, if a step makes it: its records come and go, and none of them goes
    /// before its children. A parent that no step makes is always there.
    pub fn explicit_parent(&self, child: SubjectId) -> Option<SubjectId> {
        let parent = self.subjects[child.index()].parent?;
        (!self.subjects[parent.index()].implicit).then_some(parent)
    }

    /// Does this parameter bring `exists` to the guard: by the record that it refers to, or, of a
    /// `new` one, by the parent of the record?
    pub fn asks_for_presence(&self, param: &Param) -> bool {
        param.ty.subject().is_some_and(|subject| match param.new {
            true => self.explicit_parent(subject).is_some(),
            false => !self.subjects[subject.index()].implicit,
        })
    }

    /// Can `exists` refuse this operation: by a parameter, or by a statement that makes a child?
    pub fn has_exists(&self, operation: &Operation) -> bool {
        let mut asks = operation.params.iter().any(|param| self.asks_for_presence(param));
        for body in visit::bodies(operation) {
            visit::each_statement(body, &mut |statement| {
                if let StmtKind::New { subject, .. } = &statement.kind {
                    asks |= self.explicit_parent(*subject).is_some();
                }
            });
        }
        asks
    }
}
