//! The sequential model of a store's records: a few registers.

use super::Model;

/// How many registers there are. Few, so that operations meet.
pub const REGISTERS: usize = 6;

/// Every write gives a register a number that no other write gives; zero is an absent record.
pub type Value = u64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    Read(Vec<usize>),
    /// What each register must hold, and what it shall hold.
    Commit {
        checks: Vec<(usize, Value)>,
        writes: Vec<(usize, Value)>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Values(Vec<Value>),
    Done,
    Conflict,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Registers;

impl Model for Registers {
    type State = [Value; REGISTERS];
    type Request = Request;
    type Answer = Answer;

    fn initial(&self) -> Self::State {
        [0; REGISTERS]
    }

    fn step(
        &self,
        state: &Self::State,
        request: &Request,
        answer: Option<&Answer>,
    ) -> Option<Self::State> {
        match request {
            Request::Read(registers) => {
                let right = match answer {
                    None => true,
                    Some(Answer::Values(values)) => {
                        registers.iter().map(|register| state[*register]).eq(values.iter().copied())
                    }
                    Some(Answer::Done | Answer::Conflict) => false,
                };
                right.then_some(*state)
            }
            Request::Commit { checks, writes } => {
                let holds = checks.iter().all(|(register, value)| state[*register] == *value);
                let done = match answer {
                    None => holds,
                    Some(Answer::Done) if holds => true,
                    Some(Answer::Conflict) if !holds => false,
                    Some(_) => return None,
                };
                let mut after = *state;
                if done {
                    writes.iter().for_each(|(register, value)| after[*register] = *value);
                }
                Some(after)
            }
        }
    }
}
