//! The worked designs, compiled from their text and walked at random: with every protection the
//! invariants hold, and without the one that a failure names they break.

use crate::support;

use std::collections::BTreeMap;

use design::model::*;
use engine::outbox::{Answered, Entry};
use engine::{AnswerKind, Command, Due, NULL, Outcome, Program, Reason, Scratch, Word, holds};
use support::*;

const LEASE: &str = include_str!("../../../designs/infra/I02.design");
const TICKETS: &str = include_str!("../../../designs/systems/tickets.design");
const PAYMENTS: &str = include_str!("../../../designs/systems/payments.design");

/// What they use.
const SHELF: [(&str, &str); 3] = [
    ("A06", include_str!("../../../designs/product/A06.design")),
    ("A07", include_str!("../../../designs/product/A07.design")),
    ("A08", include_str!("../../../designs/product/A08.design")),
];

fn compiled(text: &str) -> Design {
    let compiled = design::compile("text", text, &SHELF);
    compiled.design.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics))
}

/// What an actor remembers: by principal, actor, field and record.
type Memories = BTreeMap<(Word, ActorId, MemoryId, Option<Word>), Word>;

/// Of every subject; no handle of a text of the program is among them.
const KEYS: [Word; 3] = [70, 71, 72];

struct Walk<'a> {
    design: &'a Design,
    program: &'a Program,
    random: Random,
    truth: MapTruth,
    memories: Memories,
    outbox: BTreeMap<(OperationId, Vec<Word>), (Entry, Vec<Word>)>,
    /// what the world outside has decided, once for each key
    decided: BTreeMap<(OperationId, Vec<Word>), AnswerKind>,
    scratch: Scratch,
    accepted: u32,
    refused: u32,
}

impl<'a> Walk<'a> {
    fn new(design: &'a Design, program: &'a Program, seed: u64) -> Walk<'a> {
        let mut truth = MapTruth::default();
        for index in 0..design.subjects.len() {
            truth.keys.insert(SubjectId::of(index), KEYS.to_vec());
            truth.single.insert(SubjectId::of(index));
        }
        truth.now = 1_000;
        Walk {
            design,
            program,
            random: Random::new(seed),
            truth,
            memories: Memories::new(),
            outbox: BTreeMap::new(),
            decided: BTreeMap::new(),
            scratch: Scratch::new(),
            accepted: 0,
            refused: 0,
        }
    }

    fn value(&mut self, ty: &Type) -> Word {
        match ty {
            Type::Duration => 1 + self.random.below(4) as Word,
            Type::Bool => self.random.below(2) as Word,
            Type::Optional(inner) if self.random.chance(2) => self.value(inner),
            Type::Optional(_) => NULL,
            Type::Ref(_) => self.random.pick(&KEYS),
            _ => self.random.below(3) as Word,
        }
    }

    /// Evaluates and commits; the outbox and the memory move with it.
    fn call(
        &mut self,
        operation: OperationId,
        params: &[Word],
        answer: Option<AnswerKind>,
    ) -> bool {
        let me = 1 + self.random.below(2) as Word;
        let uses = &self.design.operations[operation.index()].memory;
        let place = |memory: &MemoryUse| {
            let key = memory.of.map(|local| params[local.index()]);
            (me, memory.actor, memory.field, key)
        };
        let memory: Vec<Word> = uses
            .iter()
            .map(|memory| self.memories.get(&place(memory)).copied().unwrap_or(NULL))
            .collect();
        let answer = answer.map(|kind| (kind, NULL));
        let now = self.truth.now;
        let command = Command { operation, params, memory: &memory, me, now, answer };
        match engine::step(self.program, &self.truth, &command, &mut self.scratch) {
            Outcome::Done => {
                self.truth.commit(&self.scratch);
                for (id, word) in self.scratch.memory() {
                    self.memories.insert(place(&uses[id.index()]), word);
                }
                for send in self.scratch.sends() {
                    let entry = self
                        .outbox
                        .entry((send.operation, send.key.to_vec()))
                        .or_insert((Entry::default(), send.args.to_vec()));
                    entry.0 = entry.0.send(now);
                }
                self.accepted += 1;
                true
            }
            Outcome::Refused(refusal) => {
                assert_ne!(refusal.reason, Reason::Unsupported, "{:?}", refusal.at);
                self.refused += 1;
                false
            }
            Outcome::Need => panic!("everything is loaded"),
        }
    }

    /// The world answers one open entry; it may have decided without our learning of it.
    fn answer(&mut self) {
        let open: Vec<_> = self
            .outbox
            .iter()
            .filter(|(_, (entry, _))| entry.is_open())
            .map(|(key, (entry, args))| (key.clone(), *entry, args.clone()))
            .collect();
        let Some((key, entry, args)) =
            open.get(self.random.below(open.len().max(1) as u64) as usize)
        else {
            return;
        };
        let kind = match self.decided.get(key) {
            Some(kind) => *kind,
            None if self.random.chance(3) => AnswerKind::Unknown,
            None => {
                let kind = self.random.pick(&[AnswerKind::Ok, AnswerKind::Refused]);
                self.decided.insert(key.clone(), kind);
                if kind == AnswerKind::Ok {
                    self.truth.done.entry(key.0).or_default().push(args.clone());
                }
                kind
            }
        };
        let kind = if self.random.chance(3) { AnswerKind::Unknown } else { kind };
        let Answered::Commit(closed) = entry.answer() else { return };
        // closed before the handler, which may send it again
        self.outbox.insert(key.clone(), (closed, args.clone()));
        if !self.call(key.0, args, Some(kind)) {
            self.outbox.insert(key.clone(), (closed, args.clone()));
        }
    }

    fn repair(&mut self, operation: OperationId) {
        let key = self.random.pick(&KEYS);
        let due = engine::due(
            self.program,
            &self.truth,
            operation,
            key,
            1,
            self.truth.now,
            &mut self.scratch,
        );
        if !self.program.repair_removed(operation) {
            assert_eq!(self.call(operation, &[key], None), due == Due::Now);
        }
    }

    /// One transition: the clock moves, or something happens.
    fn go(&mut self) {
        if self.random.chance(5) {
            self.truth.now += 1 + self.random.below(2) as Word;
            return;
        }
        let operations = self.design.operations.len() as u64;
        let operation = OperationId(self.random.below(operations) as u32);
        let design = self.design;
        let declared = &design.operations[operation.index()];
        match &declared.kind {
            OperationKind::Repair { .. } => self.repair(operation),
            OperationKind::Effect(_) => self.answer(),
            _ => {
                let params = declared.params.iter().map(|param| {
                    let value = self.value(&param.ty);
                    param.range.map_or(value, |range| value.clamp(range.low, range.high))
                });
                let params: Vec<Word> = params.collect();
                self.call(operation, &params, None);
            }
        }
    }
}

/// The names of the invariants that break on some walk.
fn broken(text: &str, protections: impl Fn(&Design) -> Vec<Protection>, seeds: u64) -> Vec<String> {
    let design = compiled(text);
    let program = Program::without(&design, &protections(&design));
    let mut broken = Vec::new();
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..seeds {
        let mut walk = Walk::new(&design, &program, seed);
        for _ in 0..150 {
            let before = walk.truth.clone();
            walk.go();
            for (index, invariant) in design.invariants.iter().enumerate() {
                let goal = Goal::Invariant(index as u32);
                let held = holds(&program, goal, &walk.truth, Some(&before), &mut walk.scratch);
                if held != Ok(true) && !broken.contains(&invariant.name) {
                    assert_eq!(held, Ok(false), "seed {seed}: {}", invariant.name);
                    broken.push(invariant.name.clone());
                }
            }
        }
        accepted += walk.accepted;
        refused += walk.refused;
    }
    assert!(accepted > 500 && refused > 500, "{accepted} accepted, {refused} refused");
    broken.sort();
    broken
}

fn clause(operation: &'static str, clause: &'static str) -> impl Fn(&Design) -> Vec<Protection> {
    move |design| {
        let at = design.operations.iter().position(|one| one.name == operation).unwrap();
        let guard = &design.operations[at].guard;
        let index = guard.iter().position(|one| one.name == clause).unwrap();
        let (operation, clause) = (OperationId::of(at), ClauseRef::Named(index as u32));
        vec![Protection::Clause { operation, clause }]
    }
}

const NONE: fn(&Design) -> Vec<Protection> = |_| Vec::new();
const NOTHING: [String; 0] = [];

#[test]
fn the_lease_walked() {
    assert_eq!(broken(LEASE, NONE, 60), NOTHING);
    assert!(broken(LEASE, clause("claim", "free"), 60).contains(&"no_steal".to_owned()));
    let unfenced = |design: &Design| {
        [clause("commit", "fenced")(design), clause("apply", "fenced")(design)].concat()
    };
    assert_eq!(broken(LEASE, unfenced, 400), ["fenced_writes"]);
}

#[test]
fn tickets_walked() {
    assert_eq!(broken(TICKETS, NONE, 60), NOTHING);
    assert!(broken(TICKETS, clause("hold", "free"), 200).contains(&"seat.one_winner".to_owned()));
    assert!(broken(TICKETS, clause("confirm", "live"), 200).contains(&"seat.in_time".to_owned()));
}

#[test]
fn payments_walked() {
    assert_eq!(broken(PAYMENTS, NONE, 60), NOTHING);
    assert!(
        broken(PAYMENTS, clause("pay", "open"), 200).contains(&"payment.executed_once".to_owned())
    );
}
