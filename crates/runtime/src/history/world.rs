//! The truth at one point of a history, and just before it, as goals see them.

use std::cell::RefCell;

use design::model::{ActorId, BlobId, Design, MemoryId, OperationId, StateId, SubjectId};
use engine::{Fetch, HashPart, NULL, Truth, Word};
use layout::Pool;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::core::Handles;

/// Which memory of whom.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Memory {
    pub principal: Word,
    pub actor: ActorId,
    pub field: MemoryId,
    /// the record, of a memory that is kept for each
    pub of: Word,
}

#[derive(Clone, Debug, Default)]
struct Row {
    /// none: there is no record
    words: Option<Box<[Word]>>,
    written: Word,
}

/// Everything that goals read, and how it was before the last transition.
pub struct World {
    now: Word,
    records: FxHashMap<(SubjectId, Word), Row>,
    /// of each subject, every key that a record has had, or that stands in the key of one
    keys: Vec<Vec<Word>>,
    /// records that nobody has written, and that are there all the same: their subject is implicit
    implied: FxHashSet<(SubjectId, Word)>,
    memory: FxHashMap<Memory, Word>,
    /// of each actor that begins a chain
    principals: Vec<Vec<Word>>,
    known: FxHashSet<(ActorId, Word)>,
    roots: Vec<ActorId>,
    done: Vec<Vec<Vec<Word>>>,
    before: Before,
}

/// What the last transition changed, as it was.
#[derive(Default)]
struct Before {
    now: Word,
    records: FxHashMap<(SubjectId, Word), Row>,
    keys: Vec<usize>,
    memory: FxHashMap<Memory, Word>,
    principals: Vec<usize>,
    done: Vec<usize>,
    changed: Vec<(SubjectId, Word)>,
}

impl World {
    pub fn new(design: &Design) -> World {
        let root = |at: usize| {
            let mut id = ActorId::of(at);
            // the compiler refuses a chain that comes back to itself
            for _ in 0..design.actors.len() {
                id = design.actors[id.index()].continues.unwrap_or(id);
            }
            id
        };
        let mut world = World {
            now: 0,
            records: FxHashMap::default(),
            keys: vec![Vec::new(); design.subjects.len()],
            implied: FxHashSet::default(),
            memory: FxHashMap::default(),
            principals: vec![Vec::new(); design.actors.len()],
            known: FxHashSet::default(),
            roots: (0..design.actors.len()).map(root).collect(),
            done: vec![Vec::new(); design.operations.len()],
            before: Before::default(),
        };
        world.begin(0);
        world
    }

    /// A transition begins: what is there now is what was before it.
    pub fn begin(&mut self, now: Word) {
        let lengths = |lists: &[Vec<Word>]| lists.iter().map(Vec::len).collect();
        let before = &mut self.before;
        before.now = self.now;
        before.records.clear();
        before.memory.clear();
        before.changed.clear();
        before.keys = lengths(&self.keys);
        before.principals = lengths(&self.principals);
        before.done = self.done.iter().map(Vec::len).collect();
        self.now = now;
    }

    /// Something happens that is no transition, at the same time.
    pub fn go_on(&mut self) {
        self.begin(self.now);
    }

    pub fn set(&mut self, subject: SubjectId, key: Word, words: Option<Box<[Word]>>, at: Word) {
        let row = Row { words, written: at };
        let before = self.records.insert((subject, key), row);
        if before.is_none() && !self.implied.remove(&(subject, key)) {
            self.keys[subject.index()].push(key);
        }
        self.before.records.entry((subject, key)).or_insert_with(|| before.unwrap_or_default());
        self.before.changed.push((subject, key));
    }

    /// A record of an implicit subject that the key of another one names: it is there with its defaults.
    pub fn imply(&mut self, subject: SubjectId, key: Word) {
        if !self.records.contains_key(&(subject, key)) && self.implied.insert((subject, key)) {
            self.keys[subject.index()].push(key);
            self.before.changed.push((subject, key));
        }
    }

    /// When this record was written last; the beginning of time, if it never was.
    pub fn written(&self, subject: SubjectId, key: Word) -> Word {
        self.records.get(&(subject, key)).map_or(Word::MIN, |row| row.written)
    }

    pub fn met(&mut self, actor: ActorId, principal: Word) {
        let root = self.roots[actor.index()];
        if self.known.insert((root, principal)) {
            self.principals[root.index()].push(principal);
        }
    }

    pub fn remember(&mut self, place: Memory, word: Word) {
        let before = self.memory.insert(place, word).unwrap_or(NULL);
        self.before.memory.entry(place).or_insert(before);
    }

    pub fn forget(&mut self, principal: Word) {
        let own: Vec<Memory> =
            self.memory.keys().filter(|place| place.principal == principal).copied().collect();
        own.into_iter().for_each(|place| self.remember(place, NULL));
    }

    pub fn did(&mut self, effect: OperationId, params: Vec<Word>) {
        self.done[effect.index()].push(params);
    }

    /// How many records of a subject there were, at most.
    pub fn records_of(&self, subject: SubjectId) -> usize {
        self.keys[subject.index()].len()
    }

    pub fn principals_of(&self, actor: ActorId) -> usize {
        self.principals[self.roots[actor.index()].index()].len()
    }

    pub fn done_of(&self, effect: OperationId) -> usize {
        self.done[effect.index()].len()
    }

    /// The records of this subject that the last transition changed.
    pub fn changed_of(&self, subject: SubjectId) -> Vec<Word> {
        let of = self.before.changed.iter().filter(|(known, _)| *known == subject);
        of.map(|(_, key)| *key).collect()
    }

    /// Now, or before the last transition; with `only`, as if a subject had no other records to range over.
    pub fn view<'w>(
        &'w self,
        pool: &'w RefCell<Pool>,
        old: bool,
        only: Option<(SubjectId, &'w [Word])>,
    ) -> View<'w> {
        View { world: self, pool, old, only }
    }
}

/// A [`World`] for the engine.
#[derive(Clone, Copy)]
pub struct View<'w> {
    world: &'w World,
    pool: &'w RefCell<Pool>,
    old: bool,
    only: Option<(SubjectId, &'w [Word])>,
}

impl<'w> View<'w> {
    fn row(&self, subject: SubjectId, key: Word) -> Option<&'w Row> {
        let before = self.old.then(|| self.world.before.records.get(&(subject, key))).flatten();
        before.or_else(|| self.world.records.get(&(subject, key)))
    }

    fn up_to<'l, T>(&self, list: &'l [T], before: &[usize], at: usize) -> &'l [T] {
        if self.old { &list[..before[at]] } else { list }
    }
}

impl Truth for View<'_> {
    fn record(&self, subject: SubjectId, key: Word) -> Fetch<'_> {
        match self.row(subject, key).and_then(|row| row.words.as_deref()) {
            Some(words) => Fetch::Present(words),
            None => Fetch::Absent,
        }
    }

    /// A server keeps no copies.
    fn cache(&self, _: SubjectId, _: StateId, _: Word, _: Word) -> Fetch<'_> {
        Fetch::Absent
    }

    fn key_part(&self, _: SubjectId, key: Word, part: u32) -> Word {
        Handles(self.pool).key_part(key, part)
    }

    fn key_of(&self, subject: SubjectId, parts: &[Word]) -> Word {
        Handles(self.pool).key_of(subject, parts)
    }

    fn stored(&self, _: BlobId, _: Word) -> Option<bool> {
        Some(true)
    }

    fn hash(&self, parts: &[HashPart], words: &[Word]) -> Word {
        Handles(self.pool).hash(parts, words)
    }

    fn verified(&self, signature: Word, key: Word, digest: Word) -> bool {
        Handles(self.pool).verified(signature, key, digest)
    }

    fn included(&self, leaf: Word, root: Word, proof: Word) -> bool {
        Handles(self.pool).included(leaf, root, proof)
    }

    fn next_of(&self, schedule: Word, after: Word) -> Option<Word> {
        Handles(self.pool).next_of(schedule, after)
    }

    fn stored_time(&self, subject: SubjectId, key: Word) -> Word {
        self.row(subject, key).filter(|row| row.words.is_some()).map_or(NULL, |row| row.written)
    }
}

impl engine::World for View<'_> {
    fn now(&self) -> Word {
        if self.old { self.world.before.now } else { self.world.now }
    }

    fn keys(&self, subject: SubjectId) -> &[Word] {
        match self.only {
            Some((known, keys)) if known == subject => keys,
            _ => {
                let (at, world) = (subject.index(), self.world);
                self.up_to(&world.keys[at], &world.before.keys, at)
            }
        }
    }

    fn done(&self, effect: OperationId, row: usize) -> Option<&[Word]> {
        let (at, world) = (effect.index(), self.world);
        self.up_to(&world.done[at], &world.before.done, at).get(row).map(Vec::as_slice)
    }

    fn principals(&self, actor: ActorId) -> &[Word] {
        let (at, world) = (self.world.roots[actor.index()].index(), self.world);
        self.up_to(&world.principals[at], &world.before.principals, at)
    }

    fn remembered(&self, principal: Word, (actor, field): (ActorId, MemoryId), of: Word) -> Word {
        let place = Memory { principal, actor, field, of };
        let before = self.old.then(|| self.world.before.memory.get(&place)).flatten();
        before.or_else(|| self.world.memory.get(&place)).copied().unwrap_or(NULL)
    }
}
