//! The truth at one point of a history, and just before it, as goals see them.

use std::cell::RefCell;

use design::model::{ActorId, BlobId, Design, MemoryId, OperationId, StateId, SubjectId};
use engine::{Column, Fetch, HashPart, NULL, Program, Truth, Word};
use layout::Pool;
use rustc_hash::{FxHashMap, FxHashSet};

use super::bucket::Bucket;
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
    index: Index,
    before: Before,
}

/// Records by the columns that goals look them up by. What the last transition took out of a place is still in it, so
/// that it is found in the world before, too.
#[derive(Default)]
struct Index {
    /// of each subject
    columns: Vec<Vec<Column>>,
    keys: FxHashMap<(SubjectId, Column, Word), Bucket>,
    /// where each record is
    at: FxHashMap<(SubjectId, Column, Word), Word>,
    left: Vec<(SubjectId, Column, Word, Word)>,
}

impl Index {
    /// A record has this value in a column; none: it is gone.
    fn put(&mut self, subject: SubjectId, column: Column, key: Word, value: Option<Word>) {
        let held = match value {
            Some(value) => self.at.insert((subject, column, key), value),
            None => self.at.remove(&(subject, column, key)),
        };
        if held == value {
            return;
        }
        if let Some(held) = held {
            self.left.push((subject, column, held, key));
        }
        if let Some(value) = value {
            let keys = self.keys.entry((subject, column, value)).or_default();
            // it may have left this place in the same transition
            if !self.left.contains(&(subject, column, value, key)) || !keys.contains(key) {
                keys.push(key);
            }
        }
    }

    fn forget_what_left(&mut self) {
        for (subject, column, value, key) in std::mem::take(&mut self.left) {
            if self.at.get(&(subject, column, key)) == Some(&value) {
                continue;
            }
            if let Some(keys) = self.keys.get_mut(&(subject, column, value)) {
                keys.remove(key);
            }
        }
    }
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

/// `all s in Seat: count(b in Booking where b.seat = s) <= 1`: only a seat that changed, or that a booking that changed
/// refers to or did refer to, can break it.
pub struct Each {
    pub subject: SubjectId,
    /// by what others refer to it
    pub through: Vec<(SubjectId, Column)>,
    /// by what it refers to others, whose attributes the goal reads: `b.seat.sold`
    pub follows: Vec<(Column, SubjectId)>,
}

impl World {
    pub fn new(design: &Design, program: &Program) -> World {
        let mut columns = vec![Vec::new(); design.subjects.len()];
        for (subject, column) in program.columns() {
            // a record that nobody has written has its defaults, and stands in no index by them
            let implicit = design.subjects[subject.index()].implicit;
            if !(implicit && matches!(column, Column::Word(_))) {
                columns[subject.index()].push(column);
            }
        }
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
            index: Index { columns, ..Index::default() },
            before: Before::default(),
        };
        world.begin(0);
        world
    }

    /// A transition begins: what is there now is what was before it.
    pub fn begin(&mut self, now: Word) {
        self.index.forget_what_left();
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

    /// `part`: gives a part of its key.
    pub fn set(
        &mut self,
        (subject, key): (SubjectId, Word),
        words: Option<Box<[Word]>>,
        at: Word,
        part: &dyn Fn(u32) -> Word,
    ) {
        for number in 0..self.index.columns[subject.index()].len() {
            let column = self.index.columns[subject.index()][number];
            let value = match column {
                Column::Word(offset) => {
                    words.as_ref().and_then(|words| words.get(offset as usize).copied())
                }
                Column::Part(at) => Some(part(at)),
            };
            self.index.put(subject, column, key, value);
        }
        let row = Row { words, written: at };
        let before = self.records.insert((subject, key), row);
        if before.is_none() && !self.implied.remove(&(subject, key)) {
            self.keys[subject.index()].push(key);
        }
        self.before.records.entry((subject, key)).or_insert_with(|| before.unwrap_or_default());
        self.before.changed.push((subject, key));
    }

    /// A record of an implicit subject that the key of another one names: it is there with its defaults.
    pub fn imply(&mut self, subject: SubjectId, key: Word, part: &dyn Fn(u32) -> Word) {
        if !self.records.contains_key(&(subject, key)) && self.implied.insert((subject, key)) {
            self.keys[subject.index()].push(key);
            self.before.changed.push((subject, key));
            for number in 0..self.index.columns[subject.index()].len() {
                let column = self.index.columns[subject.index()][number];
                if let Column::Part(at) = column {
                    self.index.put(subject, column, key, Some(part(at)));
                }
            }
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

    /// Who is known to act as this actor, if it begins a chain.
    pub fn principals_known(&self, actor: ActorId) -> &[Word] {
        &self.principals[actor.index()]
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

    /// The records that the last transition changed, and those that a record it changed refers to or did refer to.
    pub fn affected(&self, each: &Each) -> Vec<Word> {
        let mut keys = self.changed_of(each.subject);
        for (other, column) in &each.through {
            for key in self.changed_of(*other) {
                keys.extend(self.index.at.get(&(*other, *column, key)));
                let left = self.index.left.iter();
                let left = left.filter(|it| (it.0, it.1, it.3) == (*other, *column, key));
                keys.extend(left.map(|it| it.2));
            }
        }
        for (column, other) in &each.follows {
            for key in self.changed_of(*other) {
                // those that left it in this transition are among them
                keys.extend(
                    self.index
                        .keys
                        .get(&(each.subject, *column, key))
                        .map_or(&[][..], Bucket::keys),
                );
            }
        }
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// Records of a subject are looked up by this column as well. To be said before there are any.
    pub fn index_by(&mut self, subject: SubjectId, column: Column) {
        let columns = &mut self.index.columns[subject.index()];
        if !columns.contains(&column) {
            columns.push(column);
        }
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
    const INDEXED: bool = true;

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

    fn keys_by(&self, subject: SubjectId, column: Column, value: Word) -> Option<&[Word]> {
        let index = &self.world.index;
        let kept = index.columns[subject.index()].contains(&column);
        let narrowed = self.only.is_some_and(|(known, _)| known == subject);
        // records that nobody has written are there as soon as they are named: not in the world before that
        let implied = self.old && !self.world.implied.is_empty();
        if !kept || narrowed || implied {
            return None;
        }
        Some(index.keys.get(&(subject, column, value)).map_or(&[], Bucket::keys))
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

#[cfg(test)]
mod tests {
    use engine::World as _;

    use super::*;

    const TEXT: &str = "
design Shop
actor buyer
subject Seat(seat: text) { truth Sold { sold: bool = false } }
subject Booking(booking: text) { truth Hold { seat: Seat, open: bool = true } }
step buyer[add(seat: new Seat)] { Sold.sold := false }
step buyer[book(seat: Seat, booking: new Booking)] { Hold := { seat: seat, open: true } }
invariant one: all s in Seat: count(b in Booking where b.seat = s and b.open) <= 1
check { seat: 1  booking: 1  buyer: 1 }
";

    /// Small and repeatable.
    fn next(seed: &mut u64) -> u64 {
        *seed =
            seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *seed >> 33
    }

    /// Whatever is written, moved and removed: who looks in the index finds all that a look at every record finds, now
    /// and in the world before.
    #[test]
    fn an_index_leaves_nothing_out() {
        let compiled = design::compile("shop", TEXT, &design::NoCatalog);
        let design = compiled.design.expect("it compiles");
        let program = Program::new(&design);
        let booking = SubjectId::of(1);
        let (column, offset) = match program.columns()[..] {
            [(subject, Column::Word(offset))] if subject == booking => {
                (Column::Word(offset), offset as usize)
            }
            ref other => panic!("{other:?}"),
        };
        let pool = RefCell::new(Pool::default());
        let width = program.layout(booking).width as usize;
        for seed in 0..200 {
            let mut chance = seed;
            let mut world = World::new(&design, &program);
            for now in 1..40 {
                world.begin(now);
                for _ in 0..=next(&mut chance) % 3 {
                    let key = (next(&mut chance) % 6) as Word;
                    let words = (!next(&mut chance).is_multiple_of(5)).then(|| {
                        let mut words = vec![0; width];
                        words[offset] = (next(&mut chance) % 3) as Word;
                        words.into_boxed_slice()
                    });
                    world.set((booking, key), words, now, &|_| 0);
                }
                for old in [false, true] {
                    let view = world.view(&pool, old, None);
                    for value in 0..3 {
                        let found = view.keys_by(booking, column, value).expect("it is kept");
                        for key in 0..6 {
                            let has = match view.record(booking, key) {
                                Fetch::Present(words) => words[offset] == value,
                                _ => false,
                            };
                            let times = found.iter().filter(|held| **held == key).count();
                            assert!(!has || times == 1, "seed {seed}, {now}, {key}: {times}");
                            assert!(times <= 1, "seed {seed}, {now}, {key}: {times}");
                        }
                    }
                }
            }
        }
    }
}
