//! How a value moves with the clock.

use crate::Word;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Slope {
    /// it does not
    Flat,
    /// by so many for each millisecond
    Linear(Word),
    /// it only ever rises, or only ever falls
    Rising,
    Falling,
    /// constant between the turns that are collected on their own
    Steps,
    /// not understood
    Unknown,
}

use Slope::{Falling, Flat, Linear, Rising, Steps, Unknown};

impl Slope {
    fn direction(self) -> Option<i8> {
        match self {
            Flat => Some(0),
            Linear(by) => Some(by.signum() as i8),
            Rising => Some(1),
            Falling => Some(-1),
            Steps | Unknown => None,
        }
    }

    /// Of a value that goes both ways: as `self` does, and as `other` does.
    pub fn plus(self, other: Slope) -> Slope {
        match (self, other) {
            (Flat, slope) | (slope, Flat) => slope,
            (Linear(one), Linear(two)) => one.checked_add(two).map_or(Unknown, Linear),
            (Steps, Steps) => Steps,
            _ => self.along(other),
        }
    }

    /// Of a value that follows now the one, now the other (`min`, `max`, a sum of two).
    pub fn along(self, other: Slope) -> Slope {
        match (self, other) {
            (Flat, Flat) => Flat,
            (Flat | Steps, Steps) | (Steps, Flat) => Steps,
            _ => match (self.direction(), other.direction()) {
                (Some(one), Some(two)) if one >= 0 && two >= 0 => Rising,
                (Some(one), Some(two)) if one <= 0 && two <= 0 => Falling,
                _ => Unknown,
            },
        }
    }

    pub fn negate(self) -> Slope {
        match self {
            Linear(by) => by.checked_neg().map_or(Unknown, Linear),
            Rising => Falling,
            Falling => Rising,
            other => other,
        }
    }

    /// Multiplied with a value that does not move.
    pub fn times(self, factor: Word) -> Slope {
        match self {
            Linear(by) => by.checked_mul(factor).map_or(Unknown, Linear),
            other => other.scaled(factor),
        }
    }

    /// The same, where rounding breaks the line into steps.
    pub fn scaled(self, factor: Word) -> Slope {
        let signed = match self {
            Linear(by) if by > 0 => Rising,
            Linear(by) if by < 0 => Falling,
            Linear(_) => Flat,
            other => other,
        };
        match factor.signum() {
            0 => match self {
                Steps | Unknown => self,
                _ => Flat,
            },
            1 => signed,
            _ => signed.negate(),
        }
    }
}
