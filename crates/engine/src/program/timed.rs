//! Which expressions depend on the clock.

use super::lists::Lists;
use super::node::{Form, Loop, LoopKind, Node, NodeId, Over, Run};

/// Calls `each` with the nodes that stand directly in this one.
pub(crate) fn parts(node: Node, lists: &Lists, loops: &[Loop], each: &mut dyn FnMut(NodeId)) {
    let list = |run: Run, each: &mut dyn FnMut(NodeId)| {
        lists.nodes_of[run.range()].iter().for_each(|id| each(*id));
    };
    let slots = |run: Run, each: &mut dyn FnMut(NodeId)| {
        lists.slots[run.range()].iter().for_each(|slot| each(slot.node));
    };
    match node {
        Node::Const(_)
        | Node::Block(_)
        | Node::Local { .. }
        | Node::Field { .. }
        | Node::Memory(_)
        | Node::Me
        | Node::Now
        | Node::WorldArg { .. }
        | Node::Unsupported => {}
        Node::Attr { base, .. }
        | Node::Counter { base, .. }
        | Node::Cache { base, .. }
        | Node::KeyPart { base, .. }
        | Node::Exists { base, .. }
        | Node::ExistsCopy { base, .. }
        | Node::Stored { base, .. } => each(base),
        Node::Remembered { principal, of, .. } => {
            each(principal);
            each(of);
        }
        Node::IsNull(inner)
        | Node::IsNullBlock(inner)
        | Node::Not(inner)
        | Node::Negate(inner)
        | Node::Old(inner)
        | Node::Size { block: inner, .. } => each(inner),
        Node::And(run)
        | Node::Or(run)
        | Node::Min(run)
        | Node::Max(run)
        | Node::Set(run)
        | Node::Hash { parts: run, .. }
        | Node::Keyed { key: run, .. }
        | Node::Verified(run)
        | Node::Included(run)
        | Node::List(run) => list(run, each),
        Node::Implies(left, right)
        | Node::Equal { left, right, .. }
        | Node::EqualBlocks { left, right, .. }
        | Node::Order { left, right, .. }
        | Node::Fused { left, right, .. }
        | Node::Arithmetic { left, right, .. } => {
            each(left);
            each(right);
        }
        Node::NextOf { schedule, after } => {
            each(schedule);
            each(after);
        }
        Node::In { item, block, .. } => {
            each(item);
            each(block);
        }
        Node::Among { item, values } => {
            each(item);
            list(values, each);
        }
        Node::If { condition, then, otherwise } => {
            each(condition);
            each(then);
            each(otherwise);
        }
        Node::Let { slot, body, .. } => {
            each(lists.slots[slot as usize].node);
            each(body);
        }
        Node::Loop(index) => loop_parts(&loops[index as usize], each),
        Node::ListIndex { block, index } | Node::MapIndex { block, index } => {
            each(block);
            each(index);
        }
        Node::Record(run)
        | Node::Structs(run)
        | Node::View { args: run, .. }
        | Node::LogSlice { parts: run, .. } => {
            slots(run, each);
        }
    }
}

fn loop_parts(rule: &Loop, each: &mut dyn FnMut(NodeId)) {
    match rule.over {
        Over::Children { parent, .. } => each(parent),
        Over::Elements { block, .. } => each(block),
        Over::All(_) | Over::Rows(..) | Over::Principals(_) => {}
    }
    rule.filter.iter().for_each(|filter| each(*filter));
    match rule.kind {
        LoopKind::All(body) | LoopKind::Any(body) | LoopKind::Sum(body) => each(body),
        LoopKind::Count => {}
    }
}

/// For each node: does its value depend on the clock?
pub(super) fn timed(lists: &Lists, loops: &[Loop]) -> Vec<bool> {
    // parts stand before the whole, so one pass is enough, but for locals: a local counts as
    // timed if anything timed is bound to its place in any frame
    let mut timed = vec![false; lists.nodes.len()];
    let mut places: Vec<u32> = Vec::new();
    loop {
        let known = places.len();
        for (id, node) in lists.nodes.iter().enumerate() {
            let mut is = match node {
                Node::Now => true,
                Node::Local { offset: place } | Node::Field { local: place, .. } => {
                    places.contains(place)
                }
                _ => false,
            };
            parts(*node, lists, loops, &mut |part| is = is || timed[part as usize]);
            timed[id] = is;
            let bound = match node {
                Node::Let { slot, offset, .. } => {
                    let value = &lists.slots[*slot as usize];
                    let words = if value.form == Form::Record { value.width } else { 1 };
                    timed[value.node as usize].then_some((*offset, words))
                }
                Node::Loop(index) => match loops[*index as usize] {
                    Loop { over: Over::Elements { block, bound, .. }, local, .. } => {
                        timed[block as usize].then_some((local, bound))
                    }
                    _ => None,
                },
                _ => None,
            };
            for place in bound.into_iter().flat_map(|(first, words)| first..first + words) {
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
        if places.len() == known {
            return timed;
        }
    }
}
