//! A quick no.

use design::model::{BlobId, ClauseRef, StateId, SubjectId};

use crate::eval::{Env, Eval, Stop};
use crate::fault::Fault;
use crate::legality::{self, is_made, looked_at};
use crate::program::operation::{Op, Wanted};
use crate::ranges;
use crate::{Command, Fetch, HashPart, NULL, Program, Reason, Refusal, Scratch, Truth, Word};

/// The refusal that [`crate::step`] would give, found without keeping what was read; for callers
/// that try many commands and expect most of them to be refused. `None`: the step may be legal,
/// or something is not loaded: ask `step`.
///
/// Of the scratch, nothing is left that means anything.
pub fn refuses<T: Truth>(
    program: &Program,
    truth: &T,
    command: &Command<'_>,
    scratch: &mut Scratch,
) -> Option<Refusal> {
    let op = program.operations.get(command.operation.index())?;
    legality::check_params(op, command.params).ok()?;
    if !op.key_values.is_empty()
        && ranges::outside_key(program, truth, op, command.params).is_some()
    {
        return None;
    }
    scratch.stack.clear();
    scratch.frame.clear();
    scratch.frame.extend_from_slice(command.params);
    if op.frame_width as usize > command.params.len() {
        scratch.frame.resize(op.frame_width as usize, 0);
    }
    let mut eval = Eval {
        program,
        env: Peek { program, truth, command },
        frame: &mut scratch.frame,
        base: 0,
        stack: &mut scratch.stack,
        queries: &mut scratch.queries,
        query_words: &mut scratch.query_words,
        lenient: false,
    };
    if !op.looks.is_empty()
        && let Some(refusal) = look(&mut eval.env, op)?
    {
        return Some(refusal);
    }
    for clause in &op.clauses {
        let named = Some(ClauseRef::Named(clause.index));
        match eval.test(clause.node) {
            Ok(true) => {}
            Ok(false) => {
                let reason = Reason::Clause(clause.index);
                return Some(Refusal { reason, clause: named, at: clause.span });
            }
            Err(stop) => {
                let (fault, node) = stop.refusal()?;
                let at = program.span(node);
                return Some(Refusal { reason: fault.into(), clause: named, at });
            }
        }
    }
    None
}

/// `exists` and `fresh`; `None`: it cannot be said here.
fn look<T: Truth>(env: &mut Peek<'_, '_, T>, op: &Op) -> Option<Option<Refusal>> {
    // something is not loaded, or newer than the clock: all of them come before the first refusal
    for look in &op.looks {
        let key = env.command.params[look.offset as usize];
        if let Some(key) = looked_at(look, key, env.truth) {
            env.see(look.subject, key).ok()?;
        }
    }
    for look in &op.looks {
        let key = env.command.params[look.offset as usize];
        let Some(key) = looked_at(look, key, env.truth) else { continue };
        let there = matches!(env.truth.record(look.subject, key), Fetch::Present(_));
        let (reason, clause) = match (there, look.wanted) {
            (false, Wanted::Present) if op.exists => {
                (Reason::Exists(look.param), ClauseRef::Exists)
            }
            // shown as its defaults
            (false, Wanted::Present) => return None,
            (false, Wanted::Parent { .. })
                if !is_made(op, look.subject, key, env.command.params) =>
            {
                (Reason::Exists(look.param), ClauseRef::Exists)
            }
            (true, Wanted::Absent) => (Reason::Fresh(look.param), ClauseRef::Fresh),
            _ => continue,
        };
        let at = op.param_rules[look.param as usize].span;
        return Some(Some(Refusal { reason, clause: Some(clause), at }));
    }
    Some(None)
}

/// The truth itself, as it is before the step.
struct Peek<'e, 'c, T> {
    program: &'e Program,
    truth: &'e T,
    command: &'e Command<'c>,
}

impl<'e, T: Truth> Peek<'e, '_, T> {
    /// What is there, if it is loaded and not newer than the clock.
    #[inline(always)]
    fn see(&self, subject: SubjectId, key: Word) -> Result<Option<&'e [Word]>, Stop> {
        let seen = match self.truth.record(subject, key) {
            Fetch::Present(words) => Some(words),
            Fetch::Absent => {
                let rules = self.program.subject(subject);
                rules.implicit.then_some(&rules.defaults[..])
            }
            Fetch::Unknown => return Err(Stop::NEED),
        };
        // no time is smaller than NULL, so no stored time is no problem
        if self.truth.stored_time(subject, key) > self.command.now {
            return Err(Stop::AGAIN);
        }
        Ok(seen)
    }
}

impl<'a, T: Truth> Env<'a> for Peek<'_, '_, T> {
    #[inline(always)]
    fn record(&mut self, subject: SubjectId, key: Word) -> Result<Option<&[Word]>, Stop> {
        self.see(subject, key)
    }

    fn copy(
        &mut self,
        subject: SubjectId,
        state: StateId,
        key: Word,
    ) -> Result<Option<&[Word]>, Stop> {
        match self.truth.cache(subject, state, key, self.command.me) {
            Fetch::Present(words) => Ok(Some(words)),
            Fetch::Absent => Ok(None),
            Fetch::Unknown => Err(Stop::NEED),
        }
    }

    fn exists(&mut self, subject: SubjectId, key: Word) -> Result<bool, Stop> {
        if self.program.subject(subject).implicit {
            return Ok(true);
        }
        Ok(self.see(subject, key)?.is_some())
    }

    fn missing(&self, _subject: SubjectId, _key: Word) -> Fault {
        Fault::NoSuchRecord
    }

    fn settle(_eval: &mut Eval<'_, Self>) -> Result<(), Stop> {
        Ok(())
    }

    fn key_of(&self, subject: SubjectId, parts: &[Word]) -> Word {
        self.truth.key_of(subject, parts)
    }

    fn key_part(&self, subject: SubjectId, key: Word, part: u32) -> Word {
        self.truth.key_part(subject, key, part)
    }

    fn stored(&mut self, blob: BlobId, digest: Word) -> Result<bool, Stop> {
        self.truth.stored(blob, digest).ok_or(Stop::NEED)
    }

    fn hash(&self, parts: &[HashPart], words: &[Word]) -> Word {
        self.truth.hash(parts, words)
    }

    fn verified(&self, signature: Word, key: Word, digest: Word) -> bool {
        self.truth.verified(signature, key, digest)
    }

    fn included(&self, leaf: Word, root: Word, proof: Word) -> bool {
        self.truth.included(leaf, root, proof)
    }

    fn next_of(&self, schedule: Word, after: Word) -> Option<Word> {
        self.truth.next_of(schedule, after)
    }

    #[inline(always)]
    fn now(&mut self) -> Word {
        self.command.now
    }

    #[inline(always)]
    fn me(&self) -> Word {
        self.command.me
    }

    #[inline(always)]
    fn memory(&self, index: usize) -> Word {
        self.command.memory.get(index).copied().unwrap_or(NULL)
    }

    fn keys(&self, _subject: SubjectId) -> Option<&'a [Word]> {
        None
    }

    fn look_back(&mut self, _old: bool) -> bool {
        false
    }
}
