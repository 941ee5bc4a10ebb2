//! The moments at which a comparison with the clock turns.

use super::slope::Slope;
use crate::clock::Clock;
use crate::env::StepEnv;
use crate::eval::{Env, Eval, Stop};
use crate::program::node::{Form, LoopKind, Node, NodeId, Over};
use crate::program::timed::parts;
use crate::{NULL, Truth, Word};

pub(super) struct Turns<'e, 'x, T> {
    pub eval: Eval<'e, StepEnv<'x, T>>,
    pub turns: &'e mut Vec<Word>,
    /// nothing was met that is not understood
    pub exact: bool,
    /// the `let`s around: (slot, place in the frame, how the value moves)
    pub bound: [(u32, u32, Slope); 8],
    pub binds: usize,
}

impl<T: Truth> Turns<'_, '_, T> {
    pub(super) fn timed(&self, id: NodeId) -> bool {
        self.eval.program.timed[id as usize]
    }

    /// A value at the moment of looking. An error is no value, and may be one later if it
    /// depends on the clock.
    pub(super) fn value(&mut self, id: NodeId) -> Result<Word, Stop> {
        match self.eval.eval(id) {
            Ok(word) => Ok(word),
            Err(stop) if stop.is_refusal() => {
                self.exact &= !self.timed(id);
                Ok(NULL)
            }
            Err(stop) => Err(stop),
        }
    }

    /// Collects the turns of everything in this expression.
    pub fn walk(&mut self, id: NodeId) -> Result<(), Stop> {
        if !self.timed(id) {
            return Ok(());
        }
        let program = self.eval.program;
        let node = program.lists.nodes[id as usize];
        match node {
            Node::Order { left, right, .. }
            | Node::Equal { left, right, .. }
            | Node::Fused { left, right, .. } => self.comparison(left, right),
            Node::Let { slot, offset, body } => {
                self.walk(program.lists.slots[slot as usize].node)?;
                let outer = self.binds;
                self.bind(slot, offset)?;
                let walked = self.walk(body);
                self.binds = outer;
                walked
            }
            Node::Loop(index) => self.each_element(index),
            Node::In { item, .. } | Node::Among { item, .. } if self.moves(item)? => {
                self.exact = false;
                Ok(())
            }
            _ => {
                let mut walked = Ok(());
                parts(node, &program.lists, &program.loops, &mut |part| {
                    walked = walked.and_then(|()| self.walk(part));
                });
                walked
            }
        }
    }

    /// Is it other than constant between turns?
    pub(super) fn moves(&mut self, id: NodeId) -> Result<bool, Stop> {
        Ok(!matches!(self.slope(id)?, Slope::Flat | Slope::Steps))
    }

    /// Gives a local its value, and remembers how it moves.
    pub(super) fn bind(&mut self, slot: u32, offset: u32) -> Result<(), Stop> {
        let value = self.eval.program.lists.slots[slot as usize];
        let slope = match value.form {
            Form::Scalar => self.slope(value.node)?,
            _ if self.timed(value.node) => Slope::Unknown,
            _ => Slope::Flat,
        };
        match self.bound.get_mut(self.binds) {
            Some(place) => {
                *place = (slot, offset, slope);
                self.binds += 1;
            }
            None => self.exact = false,
        }
        match self.eval.bind_slot(&value, offset) {
            Ok(()) => Ok(()),
            Err(stop) if stop.is_refusal() => {
                self.exact &= !self.timed(value.node);
                self.eval.set_local(offset, NULL);
                Ok(())
            }
            Err(stop) => Err(stop),
        }
    }

    fn each_element(&mut self, index: u32) -> Result<(), Stop> {
        let rule = self.eval.program.loops[index as usize];
        let Over::Elements { block, stride, bound } = rule.over else {
            self.exact = false;
            return Ok(());
        };
        if self.timed(block) {
            self.exact = false;
            return Ok(());
        }
        let height = self.eval.stack.len();
        let start = match self.eval.block(block, stride) {
            Ok(start) => start,
            Err(stop) if stop.is_refusal() => {
                self.eval.stack.truncate(height);
                return Ok(());
            }
            Err(stop) => return Err(stop),
        };
        for place in (start + 1..self.eval.stack.len()).step_by(stride as usize) {
            self.eval.set_element(rule.local, place, bound);
            let body = match rule.kind {
                LoopKind::All(body) | LoopKind::Any(body) | LoopKind::Sum(body) => Some(body),
                LoopKind::Count => None,
            };
            for part in rule.filter.into_iter().chain(body) {
                self.walk(part)?;
            }
        }
        self.eval.stack.truncate(height);
        Ok(())
    }

    fn comparison(&mut self, left: NodeId, right: NodeId) -> Result<(), Stop> {
        self.walk(left)?;
        self.walk(right)?;
        let slope = self.slope(left)?.plus(self.slope(right)?.negate());
        match slope {
            Slope::Flat | Slope::Steps | Slope::Linear(0) => {}
            Slope::Linear(by) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                if left != NULL && right != NULL {
                    // left - right moves by `by`: where is it 0?
                    let apart = i128::from(left) - i128::from(right);
                    let turn =
                        i128::from(self.eval.env.now()) + (-apart).div_euclid(i128::from(by));
                    self.turn(turn);
                }
            }
            Slope::Rising => self.search(left, right, 1)?,
            Slope::Falling => self.search(left, right, -1)?,
            Slope::Unknown => self.exact = false,
        }
        Ok(())
    }

    /// A comparison turns at this moment or right after it (or right before: rounding).
    fn turn(&mut self, turn: i128) {
        for moment in [turn - 1, turn, turn + 1] {
            if let Ok(moment) = Word::try_from(moment) {
                self.turns.push(moment);
            }
        }
    }

    /// Finds where `left - right`, which moves one way only, reaches 0 and where it passes it.
    fn search(&mut self, left: NodeId, right: NodeId, direction: i128) -> Result<(), Stop> {
        let now = self.eval.env.now();
        let (start, end) = (self.value(left)?, self.value(right)?);
        if start == NULL || end == NULL {
            return Ok(());
        }
        for goal in [0, 1] {
            let (mut low, mut high) = (now, Word::MAX - 1);
            while low < high {
                let middle = low.saturating_add_unsigned(high.abs_diff(low) / 2);
                if self.reached(left, right, direction, goal, middle)? {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            self.turn(i128::from(low));
        }
        Ok(())
    }

    /// The values of the `let`s at another moment.
    fn bind_again(&mut self) -> Result<(), Stop> {
        for (slot, offset, _) in self.bound.into_iter().take(self.binds) {
            match self.eval.bind(slot, offset) {
                Ok(()) => {}
                Err(stop) if stop.is_refusal() => self.eval.set_local(offset, NULL),
                Err(stop) => return Err(stop),
            }
        }
        Ok(())
    }

    /// Has it, at this moment? Where it cannot be said, nothing later matters.
    fn reached(
        &mut self,
        left: NodeId,
        right: NodeId,
        direction: i128,
        goal: i128,
        moment: Word,
    ) -> Result<bool, Stop> {
        let clock = std::mem::replace(self.eval.env.clock, Clock { now: moment, used: true });
        let bound = self.bind_again();
        let values = (self.eval.eval(left), self.eval.eval(right));
        *self.eval.env.clock = clock;
        bound.and(self.bind_again())?;
        match values {
            (Ok(left), Ok(right)) if left != NULL && right != NULL => {
                Ok((i128::from(left) - i128::from(right)) * direction >= goal)
            }
            (Err(stop), _) | (_, Err(stop)) if !stop.is_refusal() => Err(stop),
            _ => Ok(true),
        }
    }
}
