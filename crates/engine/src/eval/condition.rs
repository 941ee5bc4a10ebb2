//! Conditions.

use design::model::{CompareOp, SubjectId};

use super::{Env, Eval, Stop};
use crate::fault::Fault;
use crate::program::node::{Leaf, Node, NodeId, Run};
use crate::{NULL, Word};

impl<'a, E: Env<'a>> Eval<'_, E> {
    /// A condition made of conditions, or any other.
    #[inline(never)]
    pub(super) fn connective(&mut self, id: NodeId) -> Result<Word, Stop> {
        match self.program.lists.nodes[id as usize] {
            Node::And(parts) => self.and(parts),
            Node::Or(parts) => self.or(parts),
            Node::Not(inner) => Ok(Word::from(!self.test(inner)?)),
            Node::Implies(left, right) => Ok(Word::from(!self.test(left)? || self.test(right)?)),
            _ => match self.eval(id)? {
                NULL => self.missing(Fault::NullValue, id),
                word => Ok(word),
            },
        }
    }

    #[inline]
    fn and(&mut self, parts: Run) -> Result<Word, Stop> {
        let program = self.program;
        for part in &program.lists.nodes_of[parts.range()] {
            if !self.test(*part)? {
                return Ok(0);
            }
        }
        Ok(1)
    }

    #[inline]
    fn or(&mut self, parts: Run) -> Result<Word, Stop> {
        let program = self.program;
        for part in &program.lists.nodes_of[parts.range()] {
            if self.test(*part)? {
                return Ok(1);
            }
        }
        Ok(0)
    }

    /// A comparison of two leaves.
    #[inline(never)]
    pub(super) fn fused(&mut self, op: CompareOp, pair: u32, id: NodeId) -> Result<Word, Stop> {
        let (left, right) = self.program.lists.pairs[pair as usize];
        let (left, right) = (self.leaf(left, id)?, self.leaf(right, id)?);
        Ok(Word::from(match op {
            CompareOp::Equal => left == right,
            CompareOp::NotEqual => left != right,
            _ => left != NULL && right != NULL && ordered(op, left, right),
        }))
    }

    #[inline(always)]
    fn leaf(&mut self, leaf: Leaf, id: NodeId) -> Result<Word, Stop> {
        match leaf {
            Leaf::Const(index) => Ok(self.program.lists.words[index as usize]),
            Leaf::Local(offset) => Ok(self.local(offset)),
            Leaf::Field { local, subject, offset } => {
                let key = self.local(local.into());
                self.word_of(id, SubjectId(subject.into()), key, offset.into())
            }
            Leaf::OldField { local, subject, offset } => {
                let key = self.local(local.into());
                let before = self.env.look_back(true);
                let word = self.word_of(id, SubjectId(subject.into()), key, offset.into());
                self.env.look_back(before);
                word
            }
            Leaf::Memory(index) => Ok(self.env.memory(index as usize)),
            Leaf::Me => Ok(self.env.me()),
            Leaf::Now => Ok(self.env.now()),
        }
    }
}

pub(super) fn ordered(op: CompareOp, left: Word, right: Word) -> bool {
    match op {
        CompareOp::Less => left < right,
        CompareOp::LessEqual => left <= right,
        CompareOp::Greater => left > right,
        CompareOp::GreaterEqual => left >= right,
        CompareOp::Equal => left == right,
        CompareOp::NotEqual => left != right,
    }
}
