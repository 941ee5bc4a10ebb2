//! What a program is made of, by number, and the rules that point into it.

use design::model::{Span, SubjectId};

use super::node::{Leaf, Node, NodeId, Placed, Slot, StmtNode};
use crate::{HashPart, Word};

/// Everything that is referred to by number.
#[derive(Default, Debug)]
pub(crate) struct Lists {
    pub nodes: Vec<Node>,
    pub spans: Vec<Span>,
    pub nodes_of: Vec<NodeId>,
    pub words: Vec<Word>,
    pub pairs: Vec<(Leaf, Leaf)>,
    pub slots: Vec<Slot>,
    pub placed: Vec<Placed>,
    pub stmts: Vec<StmtNode>,
    /// what digests are made of, each once
    pub hashes: Vec<Vec<HashPart>>,
}

/// An expression with locals of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expression {
    pub node: NodeId,
    pub frame_width: u32,
}

/// A `leads_to`, its sides apart: what it ranges over is given by the caller.
#[derive(Debug)]
pub(crate) struct LeadsToRule {
    /// the local, and the subject of a record; none: a principal
    pub ranges: Vec<(u32, Option<SubjectId>)>,
    pub filters: Vec<NodeId>,
    pub from: NodeId,
    pub to: NodeId,
    pub frame_width: u32,
    pub span: Span,
}
