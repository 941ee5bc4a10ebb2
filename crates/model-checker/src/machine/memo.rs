//! What was asked of the engine before. A step is decided by its arguments, the memory that it takes along and
//! the records that it reads, in the order in which it reads them: where these are the same again, so is
//! what comes of it. Small worlds have few different records, and many states.
//!
//! Only for worlds in which a step reads nothing else: no clock that steps, no caches, no contents, signatures
//! or digests, no older truth, no schedules.

use design::model::{Expr, ExprKind, Operation, OperationId, SubjectId, visit};
use engine::{AnswerKind, Change, NULL, Outcome, Reason, Refusal, Scratch, Send, Word};
use rustc_hash::FxHashMap;

use super::Machine;
use super::edges::Edges;

/// About so many bytes are kept, and no more.
const BYTES_MAX: usize = 3 << 20;
/// After so many steps that were not known, it is seen whether it is worth it.
const TRIAL: u32 = 1 << 10;

const UNKNOWN: u32 = u32::MAX;
const ABSENT: u32 = 0;

/// What comes next, once it is known what was asked and what the records read so far hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Node {
    /// not known yet
    Open,
    /// it depends on this record
    Reads(SubjectId, u32),
    /// it depends on this word of what was asked
    Asks(u32),
    /// into `refusals`
    Refused(u32),
    /// into `done`
    Done(u32),
    /// it has to do with what there is no room for: the engine is asked each time
    Ask,
}

/// What a step does.
#[derive(Default)]
pub(super) struct Done {
    /// the slots of truth that change, and what they hold then
    pub(super) writes: Vec<(u32, Word)>,
    /// for each use of memory that is written
    pub(super) memory: Vec<(u32, Word)>,
    sends: Vec<Sent>,
}

/// To whom, the key, the arguments.
type Sent = (OperationId, Box<[Word]>, Box<[Word]>);

impl Done {
    pub(super) fn sends(&self) -> impl Iterator<Item = Send<'_>> {
        self.sends.iter().map(|(operation, key, args)| Send { operation: *operation, key, args })
    }
}

/// What is asked of the engine.
pub(super) struct Asked<'a> {
    /// it is this call, by this principal and with these arguments
    pub(super) instance: Option<u32>,
    pub(super) operation: OperationId,
    pub(super) me: Word,
    pub(super) params: &'a [Word],
    pub(super) now: Word,
    pub(super) answer: Option<(AnswerKind, Word)>,
}

/// What is known of a step that is asked for.
pub(super) enum Known {
    Refused(Refusal),
    Done(u32),
    /// it is not, and is to be kept
    Not,
    /// it never is
    Never,
}

/// Calls that one record refuses by what it holds, whatever the others hold and whoever remembers what.
#[derive(Default)]
struct Barred {
    /// for each operation: so many clauses, from the first, do not look at memory
    before_memory: Vec<u32>,
    /// for each record and what it holds: the instances, as bits
    by: FxHashMap<(u32, u32), Box<[u64]>>,
    /// records that some call was refused by
    records: Vec<(SubjectId, u32)>,
    /// in the state at hand
    now: Vec<u64>,
}

pub(super) struct Memo {
    on: bool,
    /// where the records of each subject begin in `held`
    first: Vec<u32>,
    /// the number of what each record holds in the state at hand
    held: Vec<u32>,
    contents: FxHashMap<Box<[Word]>, u32>,
    /// a node, what it depends on (the number of what the record holds, or a word): the next node
    edges: Edges,
    /// those to begin with come first: one for each instance, and one for everything else
    nodes: Vec<Node>,
    refusals: Vec<Refusal>,
    pub(super) done: Vec<Done>,
    /// about how many all of this takes
    bytes: usize,
    /// what was asked last: the node to begin with, and the words that tell it from others
    begin: u32,
    question: Vec<Word>,
    barred: Barred,
    hits: u32,
    misses: u32,
}

impl Memo {
    pub(super) fn of(machine: &Machine) -> Memo {
        let plan = &machine.plan;
        let mut first = Vec::new();
        let mut records = 0;
        for keys in &machine.universe.keys {
            first.push(records);
            records += keys.len as u32;
        }
        let stored = plan
            .records
            .iter()
            .zip(&machine.universe.keys)
            .any(|(record, keys)| keys.len > 0 && record.stored_time(0).is_some());
        // Where there is another `now`, the clock steps, and records have a stored time.
        let on = !stored
            && plan.caches.is_empty()
            && plan.blobs.iter().all(Option::is_none)
            && machine.universe.signs.is_empty()
            && plan.slots.digests().is_empty()
            && plan.older.is_none()
            && machine.gaps.is_empty();
        Memo {
            on,
            first,
            held: vec![UNKNOWN; if on { records as usize } else { 0 }],
            contents: FxHashMap::default(),
            edges: Edges::default(),
            nodes: vec![Node::Open; machine.instances.len() + 1],
            refusals: Vec::new(),
            done: Vec::new(),
            bytes: 0,
            begin: 0,
            question: Vec::new(),
            barred: Barred::of(machine),
            hits: 0,
            misses: 0,
        }
    }

    pub(super) fn is_on(&self) -> bool {
        self.on
    }

    /// Another state is at hand.
    pub(super) fn forget(&mut self) {
        self.held.fill(UNKNOWN);
    }

    /// The number of what a record holds; `add`: also if it has none yet.
    fn content(
        &mut self,
        machine: &Machine,
        words: &[Word],
        (subject, key): (SubjectId, u32),
        add: bool,
    ) -> u32 {
        let at = (self.first[subject.index()] + key) as usize;
        if self.held[at] != UNKNOWN {
            return self.held[at];
        }
        let record = &machine.plan.records[subject.index()];
        let number = match record.present(key as usize) {
            Some(present) if words[present as usize] == 0 => ABSENT,
            _ => {
                let own = &words[record.words(key as usize)];
                match self.contents.get(own) {
                    Some(number) => *number,
                    None if add => {
                        let number = self.contents.len() as u32 + 1;
                        self.bytes += 48 + own.len() * 8;
                        self.contents.insert(own.into(), number);
                        number
                    }
                    None => return UNKNOWN,
                }
            }
        };
        self.held[at] = number;
        number
    }

    /// Finds out which calls are refused in the state at hand by what one record holds.
    pub(super) fn bar(&mut self, machine: &Machine, words: &[Word]) {
        self.barred.now.fill(0);
        for at in 0..if self.on { self.barred.records.len() } else { 0 } {
            let (subject, key) = self.barred.records[at];
            let content = self.content(machine, words, (subject, key), false);
            let record = self.first[subject.index()] + key;
            if let Some(bits) = self.barred.by.get(&(record, content)) {
                self.barred.now.iter_mut().zip(bits).for_each(|(now, bits)| *now |= bits);
            }
        }
    }

    /// Is this call one of them? It was refused before, for the same reason.
    pub(super) fn is_barred(&self, instance: u32) -> bool {
        self.barred.now[instance as usize / 64] >> (instance % 64) & 1 == 1
    }

    /// Notes that the call that was looked up last is refused by the only record that it read.
    fn bar_by(&mut self, machine: &Machine, words: &[Word], scratch: &Scratch, refusal: Refusal) {
        let instance = self.begin;
        let Some(held) = machine.instances.get(instance as usize) else { return };
        let independent = match refusal.reason {
            Reason::Clause(clause) => clause < self.barred.before_memory[held.operation.index()],
            _ => false,
        };
        let mut reads = scratch.reads();
        let (Some(read), None) = (reads.next(), reads.next()) else { return };
        if !independent && !self.question.is_empty() {
            return;
        }
        let (subject, key) = (read.subject, read.key as u32);
        let content = self.content(machine, words, (subject, key), true);
        let record = self.first[subject.index()] + key;
        let Barred { by, records, now, .. } = &mut self.barred;
        let bits = by.entry((record, content)).or_insert_with(|| {
            self.bytes += 48 + now.len() * 8;
            vec![0; now.len()].into()
        });
        bits[instance as usize / 64] |= 1 << (instance % 64);
        if !records.contains(&(subject, key)) {
            records.push((subject, key));
        }
    }

    /// Looks up what comes of a step in the state at hand.
    pub(super) fn look(
        &mut self,
        machine: &Machine,
        words: &[Word],
        asked: &Asked<'_>,
        memory: &[Word],
    ) -> Known {
        self.question.clear();
        match asked.instance {
            Some(instance) => self.begin = instance,
            None => {
                let (kind, value) = match asked.answer {
                    None => (0, NULL),
                    Some((AnswerKind::Ok, value)) => (1, value),
                    Some((AnswerKind::Refused, value)) => (2, value),
                    Some((AnswerKind::Unknown, value)) => (3, value),
                };
                self.begin = machine.instances.len() as u32;
                let operation = asked.operation.index() as Word;
                self.question.extend_from_slice(&[operation, asked.me, kind, value]);
                self.question.extend_from_slice(asked.params);
            }
        }
        self.question.extend_from_slice(memory);
        let known = self.walk(machine, words);
        match known {
            Known::Not => self.misses += 1,
            _ => self.hits += 1,
        }
        if self.misses >= TRIAL {
            // Less than every second step is known: to look them up takes longer than to ask.
            let worth_it = self.hits >= self.misses;
            (self.hits, self.misses) = (0, 0);
            if !worth_it {
                self.give_up();
                return Known::Never;
            }
        }
        known
    }

    fn walk(&mut self, machine: &Machine, words: &[Word]) -> Known {
        let mut at = self.begin;
        loop {
            let on = match self.nodes[at as usize] {
                Node::Open => return Known::Not,
                Node::Refused(number) => return Known::Refused(self.refusals[number as usize]),
                Node::Done(number) => return Known::Done(number),
                Node::Ask => return Known::Never,
                Node::Asks(word) => self.question[word as usize],
                Node::Reads(subject, key) => {
                    self.content(machine, words, (subject, key), false).into()
                }
            };
            match self.edges.get(at, on) {
                Some(next) => at = next,
                None => return Known::Not,
            }
        }
    }

    fn give_up(&mut self) {
        self.on = false;
        self.contents = FxHashMap::default();
        self.edges = Edges::default();
        (self.nodes, self.done, self.held) = (Vec::new(), Vec::new(), Vec::new());
        self.barred.by = FxHashMap::default();
        self.barred.records.clear();
    }

    /// The node behind this one, which depends on something that comes to `on`.
    fn next(&mut self, at: u32, depends: Node, on: Word) -> u32 {
        let held = &mut self.nodes[at as usize];
        assert!(*held == Node::Open || *held == depends, "a step reads the same records again");
        *held = depends;
        if let Some(next) = self.edges.get(at, on) {
            return next;
        }
        let next = self.nodes.len() as u32;
        self.nodes.push(Node::Open);
        self.bytes += 16 + self.edges.add(at, on, next);
        next
    }

    /// Keeps what came of the step that was looked up last.
    pub(super) fn keep(
        &mut self,
        machine: &Machine,
        words: &[Word],
        scratch: &Scratch,
        outcome: Outcome,
    ) {
        if !self.on || self.bytes >= BYTES_MAX {
            return;
        }
        let mut at = self.begin;
        for word in 0..self.question.len() {
            at = self.next(at, Node::Asks(word as u32), self.question[word]);
        }
        for read in scratch.reads() {
            let (subject, key) = (read.subject, read.key);
            if key < 0 || key as usize >= machine.universe.keys[subject.index()].len {
                self.nodes[at as usize] = Node::Ask;
                return;
            }
            let content = self.content(machine, words, (subject, key as u32), true);
            at = self.next(at, Node::Reads(subject, key as u32), content.into());
        }
        assert_eq!(self.nodes[at as usize], Node::Open, "a step reads the same records again");
        self.nodes[at as usize] = match outcome {
            Outcome::Refused(refusal) => {
                self.bar_by(machine, words, scratch, refusal);
                let known = self.refusals.iter().position(|held| *held == refusal);
                let number = known.unwrap_or_else(|| {
                    self.refusals.push(refusal);
                    self.refusals.len() - 1
                });
                Node::Refused(number as u32)
            }
            Outcome::Done => match done(machine, words, scratch) {
                Some(done) => {
                    self.bytes += 72 + (done.writes.len() + done.memory.len()) * 16;
                    self.bytes += done.sends().map(|send| 120 + send.args.len() * 8).sum::<usize>();
                    self.done.push(done);
                    Node::Done(self.done.len() as u32 - 1)
                }
                None => Node::Ask,
            },
            Outcome::Need => Node::Ask,
        };
    }
}

impl Barred {
    fn of(machine: &Machine) -> Barred {
        let before_memory = |operation: &Operation| {
            let looks = |body: &Expr| {
                let mut looks = false;
                visit::each(body, &mut |part| looks |= matches!(part.kind, ExprKind::Memory(_)));
                looks
            };
            operation.guard.iter().take_while(|clause| !looks(&clause.body)).count() as u32
        };
        Barred {
            before_memory: machine.design.operations.iter().map(before_memory).collect(),
            now: vec![0; machine.instances.len() / 64 + 1],
            ..Barred::default()
        }
    }
}

/// What the step in the scratch does; none: it leaves the small world.
fn done(machine: &Machine, words: &[Word], scratch: &Scratch) -> Option<Done> {
    let mut done = Done::default();
    for write in scratch.writes() {
        let subject = write.subject.index();
        if write.key < 0 || write.key as usize >= machine.universe.keys[subject].len {
            return None;
        }
        let record = &machine.plan.records[subject];
        let key = write.key as usize;
        let mut set = |slot: u32, word: Word| {
            if words[slot as usize] != word {
                done.writes.push((slot, word));
            }
        };
        let slots = record.words(key).map(|slot| slot as u32);
        match (write.change, record.present(key)) {
            (Change::Put(words), present) => {
                present.into_iter().for_each(|present| set(present, 1));
                slots.zip(words).for_each(|(slot, word)| set(slot, *word));
            }
            (Change::Delete, Some(present)) => {
                set(present, 0);
                slots.for_each(|slot| set(slot, machine.plan.slots.blank(slot)));
            }
            (Change::Delete, None) => {
                let defaults = machine.program.defaults(write.subject);
                slots.zip(defaults).for_each(|(slot, word)| set(slot, *word));
            }
        }
    }
    done.memory = scratch.memory().map(|(usage, word)| (usage.index() as u32, word)).collect();
    let sends = scratch.sends();
    done.sends = sends.map(|send| (send.operation, send.key.into(), send.args.into())).collect();
    Some(done)
}
