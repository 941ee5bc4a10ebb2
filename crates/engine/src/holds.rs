//! Goals over a whole world.

use design::model::{ActorId, BlobId, Goal, MemoryId, OperationId, StateId, SubjectId};

use crate::eval::{Env, Eval, Stop};
use crate::fault::Fault;
use crate::program::Column;
use crate::program::node::Rows;
use crate::{Fetch, HashPart, NULL, Program, Reason, Refusal, Scratch, Word, World};

/// Does the goal hold in `world`, having come from `old`? A goal that mentions `old` holds where
/// there is none (the first state).
///
/// What a null or an absent record has is null, never an error: comparisons with `<` are false,
/// arithmetic yields null, a null condition is false. An overflow or a division by zero is an
/// error. Inside `old(…)` everything is as it was: records, what the world outside has done, and
/// the clock.
pub fn holds<W: World>(
    program: &Program,
    goal: Goal,
    world: &W,
    old: Option<&W>,
    scratch: &mut Scratch,
) -> Result<bool, Refusal> {
    let Some(rule) = program.goal(goal) else {
        let at = design::model::Span::default();
        return Err(Refusal { reason: Reason::OutOfRange, clause: None, at });
    };
    if rule.uses_old && old.is_none() {
        return Ok(true);
    }
    scratch.stack.clear();
    scratch.frame.clear();
    scratch.frame.resize(rule.body.frame_width as usize, 0);
    let env = WorldEnv { program, world, old: old.unwrap_or(world), back: false };
    let mut eval = Eval {
        program,
        env,
        frame: &mut scratch.frame,
        base: 0,
        stack: &mut scratch.stack,
        queries: &mut scratch.queries,
        query_words: &mut scratch.query_words,
        lenient: true,
    };
    eval.test(rule.body.node).map_err(|stop| match stop.refusal() {
        Some((fault, node)) => {
            Refusal { reason: fault.into(), clause: None, at: program.span(node) }
        }
        None => Refusal { reason: Reason::Unsupported, clause: None, at: rule.span },
    })
}

/// One side of a `leads_to`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    From,
    To,
}

/// Does this side of a `leads_to` hold of the records and principals in `of`, one for each of its `all`?
///
/// `From` holds where they are all there, and what stands in `where` and before `=>` holds. `To` holds where
/// what stands behind `=>` holds, and where one of them is not there: a record that is gone waits for
/// nothing.
pub fn leads_to<W: World>(
    program: &Program,
    goal: u32,
    side: Side,
    of: &[Word],
    world: &W,
    scratch: &mut Scratch,
) -> Result<bool, Refusal> {
    let Some(rule) = program.leads_to(goal) else {
        let at = design::model::Span::default();
        return Err(Refusal { reason: Reason::OutOfRange, clause: None, at });
    };
    assert_eq!(rule.ranges.len(), of.len(), "one value for each `all`");
    scratch.stack.clear();
    scratch.frame.clear();
    scratch.frame.resize(rule.frame_width as usize, 0);
    let env = WorldEnv { program, world, old: world, back: false };
    let mut eval = Eval {
        program,
        env,
        frame: &mut scratch.frame,
        base: 0,
        stack: &mut scratch.stack,
        queries: &mut scratch.queries,
        query_words: &mut scratch.query_words,
        lenient: true,
    };
    let refused = |stop: Stop| match stop.refusal() {
        Some((fault, node)) => {
            Refusal { reason: fault.into(), clause: None, at: program.span(node) }
        }
        None => Refusal { reason: Reason::Unsupported, clause: None, at: rule.span },
    };
    for ((local, subject), word) in rule.ranges.iter().zip(of) {
        if let Some(subject) = subject
            && !eval.env.exists(*subject, *word).map_err(refused)?
        {
            return Ok(side == Side::To);
        }
        eval.set_local(*local, *word);
    }
    if side == Side::To {
        return eval.test(rule.to).map_err(refused);
    }
    for filter in &rule.filters {
        if !eval.test(*filter).map_err(refused)? {
            return Ok(false);
        }
    }
    eval.test(rule.from).map_err(refused)
}

/// Two worlds: after the transition and before it.
struct WorldEnv<'a, W> {
    program: &'a Program,
    world: &'a W,
    old: &'a W,
    back: bool,
}

impl<'a, W: World> WorldEnv<'a, W> {
    #[inline]
    fn seen(&self) -> &'a W {
        if self.back { self.old } else { self.world }
    }
}

impl<'a, W: World> Env<'a> for WorldEnv<'a, W> {
    const INDEXED: bool = W::INDEXED;

    #[inline]
    fn record(&mut self, subject: SubjectId, key: Word) -> Result<Option<&[Word]>, Stop> {
        Ok(match self.seen().record(subject, key) {
            Fetch::Present(words) => Some(words),
            Fetch::Absent | Fetch::Unknown => {
                let rules = self.program.subject(subject);
                rules.implicit.then_some(&rules.defaults[..])
            }
        })
    }

    fn copy(
        &mut self,
        subject: SubjectId,
        state: StateId,
        key: Word,
    ) -> Result<Option<&[Word]>, Stop> {
        Ok(match self.seen().cache(subject, state, key, NULL) {
            Fetch::Present(words) => Some(words),
            Fetch::Absent | Fetch::Unknown => None,
        })
    }

    #[inline]
    fn exists(&mut self, subject: SubjectId, key: Word) -> Result<bool, Stop> {
        Ok(self.program.subject(subject).implicit
            || matches!(self.seen().record(subject, key), Fetch::Present(_)))
    }

    fn missing(&self, _subject: SubjectId, _key: Word) -> Fault {
        Fault::NoSuchRecord
    }

    fn settle(_eval: &mut Eval<'_, Self>) -> Result<(), Stop> {
        Ok(())
    }

    fn key_of(&self, subject: SubjectId, parts: &[Word]) -> Word {
        self.seen().key_of(subject, parts)
    }

    fn key_part(&self, subject: SubjectId, key: Word, part: u32) -> Word {
        self.seen().key_part(subject, key, part)
    }

    fn stored(&mut self, blob: BlobId, digest: Word) -> Result<bool, Stop> {
        Ok(self.seen().stored(blob, digest).unwrap_or(false))
    }

    fn hash(&self, parts: &[HashPart], words: &[Word]) -> Word {
        self.seen().hash(parts, words)
    }

    fn verified(&self, signature: Word, key: Word, digest: Word) -> bool {
        self.seen().verified(signature, key, digest)
    }

    fn included(&self, leaf: Word, root: Word, proof: Word) -> bool {
        self.seen().included(leaf, root, proof)
    }

    fn next_of(&self, schedule: Word, after: Word) -> Option<Word> {
        self.seen().next_of(schedule, after)
    }

    fn now(&mut self) -> Word {
        self.seen().now()
    }

    fn me(&self) -> Word {
        NULL
    }

    fn memory(&self, _index: usize) -> Word {
        NULL
    }

    fn keys(&self, subject: SubjectId) -> Option<&'a [Word]> {
        Some(self.seen().keys(subject))
    }

    #[inline]
    fn keys_by(&self, subject: SubjectId, column: Column, value: Word) -> Option<&'a [Word]> {
        self.seen().keys_by(subject, column, value)
    }

    fn rows(&self, of: Rows, operation: OperationId, row: usize) -> Option<&'a [Word]> {
        match of {
            Rows::Done => self.seen().done(operation, row),
            Rows::UnderWay => self.seen().under_way(operation, row),
            Rows::Waiting => self.seen().waiting(operation, row),
        }
    }

    fn principals(&self, actor: ActorId) -> &'a [Word] {
        self.seen().principals(actor)
    }

    fn remembered(&self, principal: Word, memory: (ActorId, MemoryId), of: Word) -> Word {
        self.seen().remembered(principal, memory, of)
    }

    fn look_back(&mut self, old: bool) -> bool {
        std::mem::replace(&mut self.back, old)
    }
}
