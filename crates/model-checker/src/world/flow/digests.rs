//! What goes into digests, and the keys that they are signed with.

use design::model::{Expr, Type};

use super::{Flow, NOTHING, Owner, PlaceOf, Scope, Value};

impl Flow<'_> {
    /// Two digests are told apart by what is in them: where the types are the same, so are the
    /// classes.
    pub(super) fn hashed(&mut self, scope: Scope, parts: &[Expr]) -> Value {
        let mut types = Vec::new();
        let mut nodes = Vec::new();
        for part in parts {
            let value = self.value(scope, part);
            self.flat(part.ty.required().clone(), value.node, &mut types, &mut nodes);
        }
        for node in nodes.iter().flatten() {
            self.class(*node).hashed = true;
        }
        let alike = self.digests.entry(types).or_insert_with(|| nodes.clone()).clone();
        for (a, b) in alike.into_iter().zip(nodes) {
            let value = |node| Value { node, owner: Owner::Free };
            self.join(value(a), value(b));
        }
        NOTHING
    }

    pub(super) fn verified(
        &mut self,
        scope: Scope,
        signature: &Expr,
        key: &Expr,
        over: &Expr,
    ) -> Value {
        self.value(scope, signature);
        self.signing(scope, key);
        self.value(scope, over);
        NOTHING
    }

    /// A reference goes into a digest by the parts of its key.
    fn flat(
        &mut self,
        ty: Type,
        node: Option<u32>,
        types: &mut Vec<Type>,
        nodes: &mut Vec<Option<u32>>,
    ) {
        let Type::Ref(subject) = ty else {
            types.push(ty);
            return nodes.push(node);
        };
        let design = self.design;
        for (part, key) in design.subjects[subject.index()].keys.iter().enumerate() {
            let node = self.node(PlaceOf::Key(subject, part as u32));
            self.flat(key.ty.clone(), Some(node), types, nodes);
        }
    }

    /// A key that verifies and one that signs are told apart.
    pub(super) fn signing(&mut self, scope: Scope, key: &Expr) {
        let key = self.value(scope, key);
        let all = Value { node: self.signing, owner: Owner::Free };
        self.signing = self.join(all, key).node;
    }
}
