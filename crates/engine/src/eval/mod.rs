//! Expressions, evaluated.

mod arithmetic;
mod block;
mod condition;
mod loops;
mod proofs;
mod push;
mod rounding;

use design::model::{ActorId, BlobId, MemoryId, OperationId, StateId, SubjectId};

pub(crate) use arithmetic::compute;
pub(crate) use block::used;
use condition::ordered;
pub use rounding::average;

use crate::fault::Fault;
pub(crate) use crate::fault::Stop;
use crate::program::Column;
use crate::program::node::{Arithmetic, Node, NodeId, Rows, Run};
use crate::program::{KeyPart, KeyPartRule, Program};
use crate::scratch::QueryOut;
use crate::{HashPart, NULL, Word};

/// What an expression sees: one step's truth under its overlay, or whole worlds.
pub(crate) trait Env<'a> {
    /// Whether `keys_by` may know anything.
    const INDEXED: bool = false;

    /// Its words as they are now, with the defaults of an implicit subject; none: absent.
    fn record(&mut self, subject: SubjectId, key: Word) -> Result<Option<&[Word]>, Stop>;
    fn copy(
        &mut self,
        subject: SubjectId,
        state: StateId,
        key: Word,
    ) -> Result<Option<&[Word]>, Stop>;
    fn exists(&mut self, subject: SubjectId, key: Word) -> Result<bool, Stop>;
    /// Why it was absent.
    fn missing(&self, subject: SubjectId, key: Word) -> Fault;
    /// Brings the counters of parents up to date.
    fn settle(eval: &mut Eval<'_, Self>) -> Result<(), Stop>
    where
        Self: Sized;
    fn key_part(&self, subject: SubjectId, key: Word, part: u32) -> Word;
    fn key_of(&self, subject: SubjectId, parts: &[Word]) -> Word;
    fn stored(&mut self, blob: BlobId, digest: Word) -> Result<bool, Stop>;
    fn hash(&self, parts: &[HashPart], words: &[Word]) -> Word;
    fn verified(&self, signature: Word, key: Word, digest: Word) -> bool;
    fn included(&self, leaf: Word, root: Word, proof: Word) -> bool;
    fn next_of(&self, schedule: Word, after: Word) -> Option<Word>;
    fn now(&mut self) -> Word;
    fn me(&self) -> Word;
    fn memory(&self, index: usize) -> Word;
    /// All keys that a record may have; none: this place does not scan.
    fn keys(&self, subject: SubjectId) -> Option<&'a [Word]>;
    /// Those of them that have this value in this column, and perhaps others; none: no index is kept.
    fn keys_by(&self, _subject: SubjectId, _column: Column, _value: Word) -> Option<&'a [Word]> {
        None
    }
    /// Calls and messages, which goals alone see; so with principals and what they remember.
    fn rows(&self, _of: Rows, _operation: OperationId, _row: usize) -> Option<&'a [Word]> {
        None
    }
    fn principals(&self, _actor: ActorId) -> &'a [Word] {
        &[]
    }
    fn remembered(&self, _principal: Word, _memory: (ActorId, MemoryId), _of: Word) -> Word {
        NULL
    }
    /// Looks at the world before the transition, or back; answers where it looked before.
    fn look_back(&mut self, old: bool) -> bool;
}

/// The evaluation of expressions in one frame.
pub(crate) struct Eval<'e, E> {
    pub program: &'e Program,
    pub env: E,
    /// the values of the locals, from `base` on
    pub frame: &'e mut Vec<Word>,
    pub base: usize,
    /// collections and rows under construction
    pub stack: &'e mut Vec<Word>,
    pub queries: &'e mut Vec<QueryOut>,
    pub query_words: &'e mut Vec<Word>,
    /// What a null or an absent record has is null, not a refusal.
    pub lenient: bool,
}

impl<'a, E: Env<'a>> Eval<'_, E> {
    #[inline]
    pub fn local(&self, offset: u32) -> Word {
        self.frame.get(self.base + offset as usize).copied().unwrap_or(NULL)
    }

    #[inline]
    pub fn set_local(&mut self, offset: u32, word: Word) {
        if let Some(place) = self.frame.get_mut(self.base + offset as usize) {
            *place = word;
        }
    }

    /// An element on the stack becomes what a variable holds.
    #[inline]
    pub fn set_element(&mut self, offset: u32, at: usize, bound: u32) {
        for word in 0..bound {
            let held = self.stack[at + word as usize];
            self.set_local(offset + word, held);
        }
    }

    /// A missing value: null where that is allowed.
    #[cold]
    fn missing(&self, reason: Fault, at: NodeId) -> Result<Word, Stop> {
        if self.lenient { Ok(NULL) } else { Err(Stop::refuse(reason, at)) }
    }

    /// A condition.
    #[inline(always)]
    pub fn test(&mut self, id: NodeId) -> Result<bool, Stop> {
        if let Node::Fused { op, pair, .. } = self.program.lists.nodes[id as usize] {
            return self.fused(op, pair, id).map(|word| word == 1);
        }
        self.connective(id).map(|word| word == 1)
    }

    /// The value of an expression. The leaves are decided on the spot.
    #[inline(always)]
    pub fn eval(&mut self, id: NodeId) -> Result<Word, Stop> {
        match self.program.lists.nodes[id as usize] {
            Node::Const(word) => Ok(word),
            Node::Local { offset } => Ok(self.local(offset)),
            Node::Field { local, subject, offset } => {
                let key = self.local(local);
                self.word_of(id, subject, key, offset)
            }
            Node::Memory(memory) => Ok(self.env.memory(memory.index())),
            Node::Me => Ok(self.env.me()),
            Node::Now => Ok(self.env.now()),
            _ => self.deep(id),
        }
    }

    /// The common expressions that have parts.
    #[inline(never)]
    fn deep(&mut self, id: NodeId) -> Result<Word, Stop> {
        Ok(match self.program.lists.nodes[id as usize] {
            Node::Attr { base, subject, offset } => {
                let key = self.eval(base)?;
                return self.word_of(id, subject, key, offset);
            }
            Node::Not(_) | Node::And(_) | Node::Or(_) | Node::Implies(..) => {
                return self.connective(id);
            }
            Node::Equal { left, right, not } => {
                Word::from((self.eval(left)? == self.eval(right)?) != not)
            }
            Node::Order { op, left, right } => {
                let (left, right) = (self.eval(left)?, self.eval(right)?);
                Word::from(left != NULL && right != NULL && ordered(op, left, right))
            }
            Node::Fused { op, pair, .. } => return self.fused(op, pair, id),
            Node::Among { item, values } => return self.among(item, values),
            Node::Arithmetic { op, left, right } => {
                return self.compute(op, Some(left), right, id);
            }
            Node::Loop(index) => return self.run_loop(index, id),
            Node::Old(inner) => {
                let before = self.env.look_back(true);
                let value = self.eval(inner);
                self.env.look_back(before);
                return value;
            }
            Node::If { condition, then, otherwise } => {
                let branch = if self.test(condition)? { then } else { otherwise };
                return self.eval(branch);
            }
            _ => return self.rare(id),
        })
    }

    /// All others.
    #[inline(never)]
    fn rare(&mut self, id: NodeId) -> Result<Word, Stop> {
        Ok(match self.program.lists.nodes[id as usize] {
            Node::Counter { base, subject, offset } => {
                E::settle(self)?;
                let key = self.eval(base)?;
                return self.word_of(id, subject, key, offset);
            }
            Node::Cache { base, subject, state, offset } => {
                let key = self.eval(base)?;
                if key == NULL {
                    return self.missing(Fault::Nothing, id);
                }
                match self.env.copy(subject, state, key)? {
                    Some(words) => words.get(offset as usize).copied().unwrap_or(NULL),
                    None => return self.missing(Fault::NoSuchRecord, id),
                }
            }
            Node::KeyPart { base, subject, part } => {
                let key = self.eval(base)?;
                if key == NULL {
                    return self.missing(Fault::Nothing, id);
                }
                self.env.key_part(subject, key, part)
            }
            Node::Keyed { subject, key } => return self.keyed(subject, key),
            Node::Exists { base, subject } => {
                let key = self.eval(base)?;
                Word::from(key != NULL && self.env.exists(subject, key)?)
            }
            Node::ExistsCopy { base, subject, state } => {
                let key = self.eval(base)?;
                Word::from(key != NULL && self.env.copy(subject, state, key)?.is_some())
            }
            Node::Stored { base, blob } => {
                let digest = self.eval(base)?;
                if digest == NULL {
                    self.missing(Fault::Nothing, id)?;
                    return Ok(0);
                }
                Word::from(self.env.stored(blob, digest)?)
            }
            Node::Hash { of, parts } => return self.hash(of, parts, id),
            Node::Verified(parts) => {
                let of = self.evidence(parts)?;
                Word::from(
                    of.is_some_and(|[signature, key, over]| {
                        self.env.verified(signature, key, over)
                    }),
                )
            }
            Node::Included(parts) => {
                let of = self.evidence(parts)?;
                Word::from(
                    of.is_some_and(|[leaf, root, proof]| self.env.included(leaf, root, proof)),
                )
            }
            Node::NextOf { schedule, after } => return self.next_of(schedule, after, id),
            Node::IsNull(inner) => Word::from(self.eval(inner)? == NULL),
            Node::Negate(inner) => return self.compute(Arithmetic::Subtract, None, inner, id),
            Node::Min(parts) => return self.fold(parts, id, Word::min),
            Node::Max(parts) => return self.fold(parts, id, Word::max),
            Node::Let { slot, offset, body } => {
                self.bind(slot, offset)?;
                return self.eval(body);
            }
            Node::WorldArg { local, offset } => return self.world_arg(local, offset, id),
            Node::Remembered { principal, memory, of } => {
                let principal = self.eval(principal)?;
                let of = self.eval(of)?;
                let memory = (ActorId(u32::from(memory.0)), MemoryId(u32::from(memory.1)));
                self.env.remembered(principal, memory, of)
            }
            Node::IsNullBlock(_)
            | Node::EqualBlocks { .. }
            | Node::In { .. }
            | Node::ListIndex { .. }
            | Node::MapIndex { .. }
            | Node::Size { .. } => return self.with_blocks(id),
            Node::View { .. } | Node::LogSlice { .. } => return self.query(id),
            _ => return Err(Stop::refuse(Fault::Unsupported, id)),
        })
    }

    fn next_of(&mut self, schedule: NodeId, after: NodeId, id: NodeId) -> Result<Word, Stop> {
        let (schedule, after) = (self.eval(schedule)?, self.eval(after)?);
        if schedule == NULL || after == NULL {
            return self.missing(Fault::NullValue, id);
        }
        let next = self.env.next_of(schedule, after);
        let next = next.ok_or(Stop::refuse(Fault::Unsupported, id))?;
        assert!(next == NULL || next > after, "what comes next comes later");
        Ok(next)
    }

    #[inline(always)]
    fn word_of(
        &mut self,
        id: NodeId,
        subject: SubjectId,
        key: Word,
        offset: u32,
    ) -> Result<Word, Stop> {
        if key == NULL {
            return self.missing(Fault::Nothing, id);
        }
        match self.env.record(subject, key) {
            Ok(Some(words)) => Ok(words.get(offset as usize).copied().unwrap_or(NULL)),
            Ok(None) => self.absent(id, subject, key),
            Err(stop) => Err(stop),
        }
    }

    #[cold]
    fn absent(&self, id: NodeId, subject: SubjectId, key: Word) -> Result<Word, Stop> {
        let fault = self.env.missing(subject, key);
        self.missing(fault, id)
    }

    fn among(&mut self, item: NodeId, values: Run) -> Result<Word, Stop> {
        let item = self.eval(item)?;
        for index in values.range() {
            let value = self.eval(self.program.lists.nodes_of[index])?;
            if value == item && item != NULL {
                return Ok(1);
            }
        }
        Ok(0)
    }

    /// The record with this key. One with nothing in it, with an empty text, or outside its range names none.
    fn keyed(&mut self, subject: SubjectId, parts: Run) -> Result<Word, Stop> {
        let height = self.stack.len();
        for index in parts.range() {
            let part = self.eval(self.program.lists.nodes_of[index])?;
            self.stack.push(part);
        }
        let rules = self.program.subject(subject);
        let words = &self.stack[height..];
        let empty = |(part, word): (&KeyPart, &Word)| {
            *part == KeyPart::Text && *word == self.program.empty_text
        };
        let outside = |rule: &KeyPartRule| match rule {
            KeyPartRule::Range(part, range) => !range.contains(words[*part as usize]),
            // that record has its place in its own range, or there is none
            KeyPartRule::Refers(..) => false,
        };
        let names_none = words.contains(&NULL)
            || rules.key_parts.iter().zip(words).any(empty)
            || rules.key_ranges.iter().any(outside);
        let key = if names_none { NULL } else { self.env.key_of(subject, words) };
        self.stack.truncate(height);
        Ok(key)
    }

    fn fold(&mut self, parts: Run, id: NodeId, f: fn(Word, Word) -> Word) -> Result<Word, Stop> {
        let mut best = NULL;
        for index in parts.range() {
            let word = self.eval(self.program.lists.nodes_of[index])?;
            if word == NULL {
                return self.missing(Fault::NullValue, id);
            }
            best = if best == NULL { word } else { f(best, word) };
        }
        Ok(best)
    }
}
