//! Comparisons and membership, lowered.

use design::model::{CompareOp, Const, Expr, ExprKind};

use super::lower::Lower;
use super::lower_expr::{is_block, stride_of};
use super::node::{Leaf, Node, NodeId};

impl Lower<'_> {
    pub(super) fn compare(&mut self, op: CompareOp, left: &Expr, right: &Expr) -> Node {
        let block = is_block(&left.ty) || is_block(&right.ty);
        let stride = stride_of(&left.ty).max(stride_of(&right.ty));
        let (left, right) = (self.expr(left), self.expr(right));
        if let (false, Some(one), Some(two)) = (block, self.leaf(left), self.leaf(right)) {
            self.lists.pairs.push((one, two));
            let pair = self.lists.pairs.len() as u32 - 1;
            return Node::Fused { op, pair, left, right };
        }
        match op {
            CompareOp::Equal | CompareOp::NotEqual => {
                let not = op == CompareOp::NotEqual;
                if block {
                    Node::EqualBlocks { left, right, not, stride }
                } else {
                    Node::Equal { left, right, not }
                }
            }
            _ => Node::Order { op, left, right },
        }
    }

    /// The node as a leaf, if it is one.
    fn leaf(&mut self, node: NodeId) -> Option<Leaf> {
        Some(match self.lists.nodes[node as usize] {
            Node::Const(word) => Leaf::Const(self.block(&[word]).start),
            Node::Local { offset } => Leaf::Local(offset),
            Node::Field { local, subject, offset } => Leaf::Field {
                local: u16::try_from(local).ok()?,
                subject: u16::try_from(subject.0).ok()?,
                offset: u16::try_from(offset).ok()?,
            },
            Node::Old(inner) => match self.leaf(inner)? {
                Leaf::Field { local, subject, offset } => Leaf::OldField { local, subject, offset },
                _ => return None,
            },
            Node::Memory(memory) => Leaf::Memory(memory.0),
            Node::Me => Leaf::Me,
            Node::Now => Leaf::Now,
            _ => return None,
        })
    }

    pub(super) fn membership(&mut self, item: &Expr, collection: &Expr) -> Node {
        let item = self.expr(item);
        match &collection.kind {
            ExprKind::Set(values) | ExprKind::List(values) => {
                Node::Among { item, values: self.run(values) }
            }
            ExprKind::Literal(Const::Set(values) | Const::List(values)) => {
                let nodes: Vec<NodeId> = values
                    .iter()
                    .map(|value| {
                        let node = self.literal(value);
                        self.push(node, collection.span)
                    })
                    .collect();
                Node::Among { item, values: self.list(&nodes) }
            }
            _ => {
                let stride = stride_of(&collection.ty);
                Node::In { item, block: self.expr(collection), stride }
            }
        }
    }
}
