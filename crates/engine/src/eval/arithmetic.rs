//! Arithmetic that never wraps and never panics.

use super::{Env, Eval, Stop, rounding};
use crate::fault::Fault;
use crate::program::node::{Arithmetic, NodeId};
use crate::{NULL, Word};

/// A decimal is a whole number of millionths.
const ONE: i128 = 1_000_000;

/// Both sides have a value. Division rounds towards zero.
pub(crate) fn compute(op: Arithmetic, left: Word, right: Word) -> Result<Word, Fault> {
    let value = match op {
        Arithmetic::Add => left.checked_add(right),
        Arithmetic::Subtract => left.checked_sub(right),
        Arithmetic::Multiply => left.checked_mul(right),
        Arithmetic::MultiplyDecimals => {
            Word::try_from(i128::from(left) * i128::from(right) / ONE).ok()
        }
        Arithmetic::Divide | Arithmetic::DivideDecimals if right == 0 => {
            return Err(Fault::DivisionByZero);
        }
        Arithmetic::Rounded(how) if how.divide && right == 0 => return Err(Fault::DivisionByZero),
        Arithmetic::Rounded(how) => rounding::compute(how, left, right),
        Arithmetic::Part { digits } => rounding::part(digits, left, right),
        Arithmetic::Place => return rounding::place(left, right).ok_or(Fault::OutOfRange),
        Arithmetic::Divide => left.checked_div(right),
        Arithmetic::DivideDecimals => {
            Word::try_from(i128::from(left) * ONE / i128::from(right)).ok()
        }
    };
    // `NULL` is the smallest word: no arithmetic yields it
    value.filter(|value| *value != NULL).ok_or(Fault::Overflow)
}

impl<'a, E: Env<'a>> Eval<'_, E> {
    /// `left op right`; without a left side, 0 stands there.
    pub(super) fn compute(
        &mut self,
        op: Arithmetic,
        left: Option<NodeId>,
        right: NodeId,
        at: NodeId,
    ) -> Result<Word, Stop> {
        let left = match left {
            Some(left) => self.eval(left)?,
            None => 0,
        };
        let right = self.eval(right)?;
        if left == NULL || right == NULL {
            return self.missing(Fault::NullValue, at);
        }
        compute(op, left, right).map_err(|reason| Stop::refuse(reason, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_stops_at_its_ends() {
        use Arithmetic::*;
        let max = Word::MAX;
        let least = NULL + 1;
        assert_eq!(compute(Add, max, 1), Err(Fault::Overflow));
        assert_eq!(compute(Add, least, -1), Err(Fault::Overflow));
        assert_eq!(compute(Subtract, least, 1), Err(Fault::Overflow));
        assert_eq!(compute(Subtract, 0, least), Ok(max));
        assert_eq!(compute(Multiply, max, 2), Err(Fault::Overflow));
        assert_eq!(compute(Multiply, 1 << 32, -(1 << 31)), Err(Fault::Overflow));
        assert_eq!(compute(Divide, 7, 0), Err(Fault::DivisionByZero));
        assert_eq!(compute(Divide, -7, 2), Ok(-3));
        assert_eq!(compute(MultiplyDecimals, 1_500_000, 2_000_000), Ok(3_000_000));
        assert_eq!(compute(MultiplyDecimals, max, 2_000_000), Err(Fault::Overflow));
        assert_eq!(compute(DivideDecimals, 1_000_000, 3_000_000), Ok(333_333));
        assert_eq!(compute(DivideDecimals, max, 1), Err(Fault::Overflow));
        assert_eq!(compute(DivideDecimals, 1, 0), Err(Fault::DivisionByZero));
    }
}
