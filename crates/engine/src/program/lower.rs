//! From a design to a program: the lists that grow while it is lowered.

use design::model::{
    Design, Domain, Expr, Invariant, LeadsTo, Local, LocalId, OperationId, Protection, Span,
    StmtId, Type,
};

use super::constants::Texts;
use super::lists::{Expression, LeadsToRule, Lists};
use super::node::{Loop, Node, NodeId, Placed, Run, Slot, StmtNode};
use crate::layout::width_of;
use crate::{Layout, ParamsLayout, Word};

pub(super) struct Lower<'d> {
    pub design: &'d Design,
    pub protections: &'d [Protection],
    pub layouts: Vec<Layout>,
    pub params: Vec<ParamsLayout>,
    pub texts: Texts,
    pub lists: Lists,
    pub loops: Vec<Loop>,
    /// of the operation, invariant … that is being lowered
    locals: &'d [Local],
    offsets: Vec<u32>,
    pub frame_width: u32,
    /// which effect a variable ranges over
    pub world_locals: Vec<(LocalId, OperationId)>,
    /// statements that are left out
    pub removed: Vec<StmtId>,
}

impl<'d> Lower<'d> {
    pub fn new(design: &'d Design, protections: &'d [Protection]) -> Lower<'d> {
        Lower {
            design,
            protections,
            layouts: design.subjects.iter().map(Layout::of).collect(),
            params: design.operations.iter().map(ParamsLayout::of).collect(),
            texts: Texts::default(),
            lists: Lists::default(),
            loops: Vec::new(),
            locals: &[],
            offsets: Vec::new(),
            frame_width: 0,
            world_locals: Vec::new(),
            removed: Vec::new(),
        }
    }

    /// From here on, locals are these.
    pub fn scope(&mut self, locals: &'d [Local]) {
        self.locals = locals;
        self.offsets.clear();
        self.world_locals.clear();
        self.frame_width = 0;
        for local in locals {
            self.offsets.push(self.frame_width);
            self.frame_width += width_of(&local.ty);
        }
    }

    /// An expression with locals of its own.
    pub fn expression(&mut self, expr: &Expr, locals: &'d [Local]) -> Expression {
        self.scope(locals);
        let node = self.expr(expr);
        Expression { node, frame_width: self.frame_width }
    }

    pub fn invariant(&mut self, invariant: &'d Invariant) -> Expression {
        self.expression(&invariant.body, &invariant.locals)
    }

    pub fn leads_to(&mut self, held: &'d LeadsTo) -> Option<LeadsToRule> {
        let parts = held.parts()?;
        self.scope(&held.goal.locals);
        let mut ranges = Vec::new();
        let mut filters = Vec::new();
        for range in &parts.ranges {
            self.bind(range.local, range.domain);
            let subject = match range.domain {
                Domain::All(subject) => Some(*subject),
                _ => None,
            };
            ranges.push((self.offset(range.local), subject));
            filters.extend(range.filter.map(|filter| self.expr(filter)));
        }
        let (from, to) = (self.expr(parts.from), self.expr(parts.to));
        let (frame_width, span) = (self.frame_width, held.goal.span);
        Some(LeadsToRule { ranges, filters, from, to, frame_width, span })
    }

    pub fn offset(&self, local: LocalId) -> u32 {
        self.offsets.get(local.index()).copied().unwrap_or(0)
    }

    pub fn local_type(&self, local: LocalId) -> Type {
        self.locals.get(local.index()).map_or(Type::Error, |local| local.ty.clone())
    }

    pub fn layout_of(&self, base: &Expr) -> Option<&Layout> {
        self.layouts.get(base.ty.subject()?.index())
    }

    pub fn push(&mut self, node: Node, span: Span) -> NodeId {
        self.lists.nodes.push(node);
        self.lists.spans.push(span);
        self.lists.nodes.len() as NodeId - 1
    }

    pub fn list(&mut self, nodes: &[NodeId]) -> Run {
        append(&mut self.lists.nodes_of, nodes)
    }

    pub fn block(&mut self, words: &[Word]) -> Run {
        append(&mut self.lists.words, words)
    }

    pub fn slots(&mut self, slots: &[Slot]) -> Run {
        append(&mut self.lists.slots, slots)
    }

    pub fn placed(&mut self, placed: &[Placed]) -> Run {
        append(&mut self.lists.placed, placed)
    }

    pub fn stmts(&mut self, stmts: &[StmtNode]) -> Run {
        append(&mut self.lists.stmts, stmts)
    }
}

fn append<T: Copy>(list: &mut Vec<T>, items: &[T]) -> Run {
    let start = list.len() as u32;
    list.extend_from_slice(items);
    Run { start, len: items.len() as u32 }
}
