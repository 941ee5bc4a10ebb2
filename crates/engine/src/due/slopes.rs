//! How the value of an expression moves with the clock.

use super::slope::Slope;
use super::turns::Turns;
use crate::Truth;
use crate::eval::Stop;
use crate::program::node::{Arithmetic, LoopKind, Node, NodeId, Run};

impl<T: Truth> Turns<'_, '_, T> {
    pub(super) fn slope(&mut self, id: NodeId) -> Result<Slope, Stop> {
        if !self.timed(id) {
            return Ok(Slope::Flat);
        }
        Ok(match self.eval.program.lists.nodes[id as usize] {
            Node::Now => Slope::Linear(1),
            Node::Local { offset } => self.slope_of_local(offset),
            Node::Field { local, .. } => match self.slope_of_local(local) {
                Slope::Flat => Slope::Flat,
                Slope::Steps => Slope::Steps,
                _ => Slope::Unknown,
            },
            Node::Negate(inner) => self.slope(inner)?.negate(),
            Node::Arithmetic { op, left, right } => self.arithmetic(op, left, right)?,
            Node::Min(run) | Node::Max(run) => self.extreme(run)?,
            Node::If { condition, then, otherwise } => {
                let flat = !self.timed(condition);
                match (self.slope(then)?, self.slope(otherwise)?) {
                    (one, two) if flat && one == two => one,
                    (Slope::Flat | Slope::Steps, Slope::Flat | Slope::Steps) => Slope::Steps,
                    (then_slope, otherwise_slope) if flat => match self.value(condition)? {
                        1 => then_slope,
                        _ => otherwise_slope,
                    },
                    _ => Slope::Unknown,
                }
            }
            Node::Let { slot, offset, body } => {
                let outer = self.binds;
                self.bind(slot, offset)?;
                let slope = self.slope(body)?;
                self.binds = outer;
                slope
            }
            Node::Loop(index) => match self.eval.program.loops[index as usize].kind {
                LoopKind::Sum(value) if self.timed(value) => Slope::Unknown,
                _ => Slope::Steps,
            },
            Node::KeyPart { base, .. } | Node::Attr { base, .. } | Node::Counter { base, .. } => {
                self.stepwise(&[base])?
            }
            Node::IsNull(_)
            | Node::Not(_)
            | Node::And(_)
            | Node::Or(_)
            | Node::Implies(..)
            | Node::Equal { .. }
            | Node::Order { .. }
            | Node::Fused { .. }
            | Node::Exists { .. } => Slope::Steps,
            Node::In { item, .. } | Node::Among { item, .. } => self.stepwise(&[item])?,
            _ => Slope::Unknown,
        })
    }

    fn slope_of_local(&self, offset: u32) -> Slope {
        let mut bound = self.bound[..self.binds].iter().rev();
        bound.find(|(_, at, _)| *at == offset).map_or(Slope::Flat, |bound| bound.2)
    }

    fn stepwise(&mut self, nodes: &[NodeId]) -> Result<Slope, Stop> {
        for node in nodes {
            if self.moves(*node)? {
                return Ok(Slope::Unknown);
            }
        }
        Ok(Slope::Steps)
    }

    fn arithmetic(&mut self, op: Arithmetic, left: NodeId, right: NodeId) -> Result<Slope, Stop> {
        let (one, two) = (self.slope(left)?, self.slope(right)?);
        Ok(match op {
            Arithmetic::Add => one.plus(two),
            Arithmetic::Subtract => one.plus(two.negate()),
            Arithmetic::Multiply if two == Slope::Flat => one.times(self.value(right)?),
            Arithmetic::Multiply if one == Slope::Flat => two.times(self.value(left)?),
            Arithmetic::MultiplyDecimals if two == Slope::Flat => one.scaled(self.value(right)?),
            Arithmetic::MultiplyDecimals if one == Slope::Flat => two.scaled(self.value(left)?),
            Arithmetic::Divide | Arithmetic::DivideDecimals if two == Slope::Flat => {
                // by 0: an error at every moment
                one.scaled(self.value(right)?)
            }
            // Rounding keeps the order.
            Arithmetic::Rounded(_) if two == Slope::Flat => one.scaled(self.value(right)?),
            Arithmetic::Rounded(how) if one == Slope::Flat && !how.divide => {
                two.scaled(self.value(left)?)
            }
            _ if one == Slope::Steps && two == Slope::Steps => Slope::Steps,
            _ => Slope::Unknown,
        })
    }

    fn extreme(&mut self, run: Run) -> Result<Slope, Stop> {
        let mut slope = None;
        for index in run.range() {
            let next = self.slope(self.eval.program.lists.nodes_of[index])?;
            slope = Some(match slope {
                None => next,
                Some(slope) => next.along(slope),
            });
        }
        Ok(slope.unwrap_or(Slope::Flat))
    }
}
