//! Digests, lowered: which values go in, and how.

use design::model::{Expr, Type};

use super::lower::Lower;
use super::node::{Node, NodeId};
use crate::HashPart;

impl Lower<'_> {
    pub(super) fn hash(&mut self, values: &[Expr]) -> Node {
        let mut parts = Vec::new();
        let mut nodes = Vec::new();
        for value in values {
            let node = self.expr(value);
            self.hashed(node, value, value.ty.required(), &mut parts, &mut nodes);
        }
        let hashes = &mut self.lists.hashes;
        let of = hashes.iter().position(|held| *held == parts).unwrap_or_else(|| {
            hashes.push(parts);
            hashes.len() - 1
        });
        Node::Hash { of: of as u32, parts: self.list(&nodes) }
    }

    /// One value; of a reference, each part of its key.
    fn hashed(
        &mut self,
        node: NodeId,
        value: &Expr,
        ty: &Type,
        parts: &mut Vec<HashPart>,
        nodes: &mut Vec<NodeId>,
    ) {
        if let Type::Ref(subject) = ty {
            let keys = &self.design.subjects[subject.index()].keys;
            for (part, key) in keys.iter().enumerate() {
                let of_key = Node::KeyPart { base: node, subject: *subject, part: part as u32 };
                let of_key = self.push(of_key, value.span);
                self.hashed(of_key, value, &key.ty, parts, nodes);
            }
            return;
        }
        parts.push(match ty {
            Type::Int => HashPart::Int,
            Type::Bool => HashPart::Bool,
            Type::Decimal | Type::Money(_) => HashPart::Decimal,
            Type::Time => HashPart::Time,
            Type::Duration => HashPart::Duration,
            Type::Enum(id) => {
                HashPart::Enum(self.design.enumerations[id.index()].constants.clone())
            }
            Type::Bytes => HashPart::Bytes,
            Type::Actor => HashPart::Actor,
            Type::PublicKey => HashPart::PublicKey,
            Type::Digest(_) => HashPart::Blob,
            Type::Hash => HashPart::Digest,
            _ => HashPart::Text,
        });
        nodes.push(node);
    }
}
