//! When a repair's guard may come to hold for a record.
//!
//! A guard depends on the clock through comparisons. Between the moments at which one of them
//! turns, nothing changes; so the guard is evaluated at each of these moments, in order, and the
//! first at which it holds is the answer. That is exact. Where an expression is not understood
//! that well, the answer is the next millisecond: early, never late.

mod slope;
mod slopes;
mod turns;

use design::model::OperationId;

use crate::clock::Clock;
use crate::env::StepEnv;
use crate::eval::{Eval, Stop};
use crate::{Command, NULL, Outcome, Program, Reason, Refusal, Scratch, Truth, Word, guard, step};
use turns::Turns;

/// Exact or early, never late: as long as nothing happens to the records it reads, the guard does
/// not hold before the time that is given.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Due {
    Now,
    /// milliseconds, later than now
    At(Word),
    Never,
    /// load what `scratch.needs()` lists and ask again
    Need,
}

impl Due {
    /// With the repair's `after` and `every`: it runs no sooner than `after` from the moment it
    /// was found due, and `every` from the last run (`NULL`: there was none).
    pub fn tuned(self, after: Option<i64>, every: Option<i64>, last: Word, now: Word) -> Due {
        let at = match self {
            Due::Now => now,
            Due::At(at) => at,
            Due::Never | Due::Need => return self,
        };
        let mut at = at.saturating_add(after.unwrap_or(0).max(0));
        if last != NULL {
            at = at.max(last.saturating_add(every.unwrap_or(0).max(0)));
        }
        if at <= now { Due::Now } else { Due::At(at) }
    }
}

/// When the guard of `repair` first holds for the record `key`, from `now` on.
pub fn due<T: Truth>(
    program: &Program,
    truth: &T,
    repair: OperationId,
    key: Word,
    me: Word,
    now: Word,
    scratch: &mut Scratch,
) -> Due {
    let params = [key];
    let command =
        Command { operation: repair, params: &params, memory: &[], me, now, answer: None };
    match guard(program, truth, &command, scratch) {
        Outcome::Done => return allowed(program, truth, &command, scratch),
        Outcome::Need => return Due::Need,
        Outcome::Refused(_) => {}
    }
    let Some(op) = program.operations.get(repair.index()) else { return Due::Never };
    if !op.clauses.iter().any(|clause| program.timed[clause.node as usize]) {
        return Due::Never;
    }
    let mut turns = std::mem::take(&mut scratch.turns);
    turns.clear();
    let found = find_turns(program, truth, &command, scratch, &mut turns);
    let due = match found {
        Err(Stop::NEED) => Due::Need,
        // not understood: look again in a moment
        Ok(false) | Err(_) => Due::At(now.saturating_add(1)),
        Ok(true) => first(program, truth, &command, scratch, &mut turns),
    };
    scratch.turns = turns;
    due
}

/// The guard holds. If the repair would write a value outside its range, and what it writes depends on
/// its own record alone, then it is refused until that record changes.
fn allowed<T: Truth>(
    program: &Program,
    truth: &T,
    command: &Command<'_>,
    scratch: &mut Scratch,
) -> Due {
    let own = program.operations.get(command.operation.index()).is_some_and(|op| op.own_body);
    if !program.ranged || !own {
        return Due::Now;
    }
    match step(program, truth, command, scratch) {
        Outcome::Refused(Refusal { reason: Reason::Range(_), .. }) => Due::Never,
        Outcome::Need => Due::Need,
        _ => Due::Now,
    }
}

/// The first moment after `command.now` at which the guard holds.
fn first<T: Truth>(
    program: &Program,
    truth: &T,
    command: &Command<'_>,
    scratch: &mut Scratch,
    turns: &mut [Word],
) -> Due {
    turns.sort_unstable();
    let mut last = command.now;
    for &turn in turns.iter() {
        if turn <= last {
            continue;
        }
        last = turn;
        match guard(program, truth, &Command { now: turn, ..*command }, scratch) {
            Outcome::Done => return Due::At(turn),
            Outcome::Need => return Due::Need,
            Outcome::Refused(_) => {}
        }
    }
    Due::Never
}

/// Collects the moments at which a comparison turns; `false`: there may be others.
fn find_turns<T: Truth>(
    program: &Program,
    truth: &T,
    command: &Command<'_>,
    scratch: &mut Scratch,
    turns: &mut Vec<Word>,
) -> Result<bool, Stop> {
    let op = &program.operations[command.operation.index()];
    scratch.needs.clear();
    scratch.clock = Clock { now: scratch.clock.now.max(command.now), used: false };
    loop {
        turns.clear();
        scratch.stack.clear();
        scratch.frame.clear();
        scratch.frame.extend_from_slice(command.params);
        scratch.frame.resize(op.frame_width as usize, 0);
        scratch.memory.clear();
        scratch.memory.resize(op.memory.len(), NULL);
        let env = StepEnv {
            program,
            truth,
            overlay: &mut scratch.overlay,
            needs: &mut scratch.needs,
            clock: &mut scratch.clock,
            memory: &mut scratch.memory,
            me: command.me,
            exists: op.exists,
        };
        let eval = Eval {
            program,
            env,
            frame: &mut scratch.frame,
            base: 0,
            stack: &mut scratch.stack,
            queries: &mut scratch.queries,
            query_words: &mut scratch.query_words,
            lenient: true,
        };
        let mut walk =
            Turns { eval, turns, exact: true, bound: [(0, 0, slope::Slope::Flat); 8], binds: 0 };
        let walked = op.clauses.iter().try_for_each(|clause| walk.walk(clause.node));
        match walked {
            Ok(()) => return Ok(walk.exact),
            Err(Stop::AGAIN) => scratch.clock.used = false,
            Err(stop) => return Err(stop),
        }
    }
}
