//! Which partitions the runtime really touches, held against what `explain --partition` says.
//!
//! Histories of the checker are carried out, for every design of the catalog. A store in memory notes the keys of each
//! transaction. What is said to stay in one partition must never touch the records of two. The keys are taken apart here
//! by hand: as they are documented, without the code that makes them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use design::model::{Design, ExprKind, OperationKind, Type, visit};
use explain::{Class, Partitioning};
use model_checker::sample::{Draw, Drawn, Event, Sample, TICK_MS, TOLD, sample};
use replay::Carrier;
use store::{
    Blobs, Commit, Cursor, Decision, Description, FeedPage, Key, KeyRange, Limits, LocalStore,
    Memory, Page, Partition, Pending, Progress, Read, Result, Scan, Store, Ticket, Transaction,
    Version, Visit,
};

/// What one transaction touched.
#[derive(Default)]
struct Keys {
    keys: BTreeSet<Vec<u8>>,
    /// does it write a record?
    writes: bool,
}

/// The keys of each transaction since somebody looked.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<Keys>>>);

impl Seen {
    /// A store that notes here what is asked of that one.
    fn before(&self, memory: Arc<Memory>) -> Arc<dyn Store> {
        Arc::new(Watched { memory, seen: self.clone() })
    }

    fn take(&self) -> Vec<Keys> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

struct Watched {
    memory: Arc<Memory>,
    seen: Seen,
}

/// One transaction, and the keys that it has touched.
struct Noting<'t> {
    inner: &'t mut dyn Transaction,
    keys: RefCell<Keys>,
}

impl Noting<'_> {
    fn note(&self, key: &[u8]) {
        self.keys.borrow_mut().keys.insert(key.to_vec());
    }

    fn note_write(&self, key: &[u8]) {
        self.note(key);
        self.keys.borrow_mut().writes |= key.get(2) == Some(&b'r');
    }
}

impl Transaction for Noting<'_> {
    fn get(&self, key: &[u8]) -> Option<(Version, &[u8])> {
        self.note(key);
        self.inner.get(key)
    }

    fn scan(&self, range: &KeyRange, reverse: bool, visit: &mut Visit<'_>) {
        self.inner.scan(range, reverse, &mut |key, version, value| {
            self.note(key);
            visit(key, version, value)
        });
    }

    fn put(&mut self, key: &[u8], value: &[u8]) {
        self.note_write(key);
        self.inner.put(key, value);
    }

    fn delete(&mut self, key: &[u8]) {
        self.note_write(key);
        self.inner.delete(key);
    }

    fn feed(&mut self, entry: &[u8]) {
        self.inner.feed(entry);
    }

    fn number(&self) -> u64 {
        self.inner.number()
    }

    fn position(&self) -> Option<u64> {
        self.inner.position()
    }

    fn not_before(&self) -> i64 {
        self.inner.not_before()
    }

    fn misses(&self) -> bool {
        self.inner.misses()
    }
}

impl LocalStore for Watched {
    fn transact(&self, run: &mut dyn FnMut(&mut dyn Transaction) -> Decision) -> Result<Ticket> {
        let local = self.memory.local().expect("it is in this process");
        local.transact(&mut |inner| {
            let mut noting = Noting { inner, keys: RefCell::default() };
            let decision = run(&mut noting);
            self.seen.0.lock().unwrap().push(noting.keys.into_inner());
            decision
        })
    }

    fn progress(&self) -> &Arc<Progress> {
        self.memory.local().expect("it is in this process").progress()
    }
}

impl Store for Watched {
    fn read<'a>(&'a self, keys: &'a [Key], at_least: Option<Cursor>) -> Pending<'a, Read> {
        let keys_read = keys.iter().map(|key| key.to_vec()).collect();
        self.seen.0.lock().unwrap().push(Keys { keys: keys_read, writes: false });
        self.memory.read(keys, at_least)
    }

    fn scan(&self, scan: Scan) -> Pending<'_, Page> {
        self.memory.scan(scan)
    }

    fn commit(&self, commit: Commit) -> Pending<'_, Cursor> {
        let keys = commit.writes.iter().map(|write| write.key().to_vec()).collect();
        self.seen.0.lock().unwrap().push(Keys { keys, writes: true });
        self.memory.commit(commit)
    }

    fn feed(&self, from: Cursor, limit: usize) -> Pending<'_, FeedPage> {
        self.memory.feed(from, limit)
    }

    fn changed(&self, after: Cursor) -> Pending<'_, Cursor> {
        self.memory.changed(after)
    }

    fn head(&self, partition: Partition) -> Pending<'_, Cursor> {
        self.memory.head(partition)
    }

    fn trim(&self, below: Cursor) -> Pending<'_, Cursor> {
        self.memory.trim(below)
    }

    fn blobs(&self) -> &dyn Blobs {
        self.memory.blobs()
    }

    fn limits(&self) -> Limits {
        self.memory.limits()
    }

    fn describe(&self) -> Description {
        self.memory.describe()
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        Some(self)
    }

    fn close(&self) -> Pending<'_, ()> {
        self.memory.close()
    }
}

/// What one operation is said to do, and what it was seen to do.
struct Held {
    class: Class,
    events: usize,
    /// the most partitions that one of its transactions touched
    most: usize,
}

struct Watch {
    design: Arc<Design>,
    seen: Seen,
    held: BTreeMap<String, Held>,
    wrong: Vec<String>,
}

impl Watch {
    fn of(design: &Arc<Design>, said: &Partitioning) -> Watch {
        let all = said.operations.iter().chain(&said.reads);
        let held =
            all.map(|one| (one.operation.clone(), Held { class: one.class, events: 0, most: 0 }));
        Watch {
            design: Arc::clone(design),
            seen: Seen::default(),
            held: held.collect(),
            wrong: Vec::new(),
        }
    }

    fn seen(&self) -> Seen {
        self.seen.clone()
    }

    fn forget(&self) {
        self.seen.take();
    }

    /// This has just happened.
    fn after(&mut self, event: &Event) {
        let transactions = self.seen.take();
        // a transaction that answers may read what the call said as well
        if self.says_more(event) {
            return;
        }
        let Some(name) = self.name(event) else { return };
        let Some(held) = self.held.get_mut(&name) else { return };
        held.events += 1;
        // what a call to the world outside says is read when it leaves, before it has an answer
        let answers = matches!(event, Event::Answer { .. });
        for noted in transactions.into_iter().filter(|noted| noted.writes || !answers) {
            let touched: BTreeSet<(u8, Vec<u8>)> =
                noted.keys.iter().filter_map(|key| partition_of(&self.design, key)).collect();
            held.most = held.most.max(touched.len());
            if held.class == Class::Local && touched.len() > 1 {
                self.wrong.push(format!("{name} touches {touched:?}"));
            }
        }
    }

    /// Does a call to the world outside tell of records that are not its parameters?
    fn says_more(&self, event: &Event) -> bool {
        let Event::Answer { effect, .. } = event else { return false };
        let OperationKind::Effect(effect) = &self.design.operations[effect.index()].kind else {
            return false;
        };
        let mut more = false;
        for (_, value) in &effect.body {
            visit::each(value, &mut |part| {
                more |= matches!(&part.kind, ExprKind::Attr { base, .. }
                    if !matches!(base.kind, ExprKind::Local(_)));
            });
        }
        more
    }

    /// As `explain` names it.
    fn name(&self, event: &Event) -> Option<String> {
        let (operation, answer) = match event {
            Event::Call(call, ..) | Event::Land(call, ..) => (call.operation, None),
            Event::Repair { repair, .. } => (*repair, None),
            Event::Answer { effect, kind, .. } => (*effect, Some(kind)),
            Event::Deliver { operation, .. } => (*operation, None),
            _ => return None,
        };
        let operation = &self.design.operations[operation.index()];
        let actor = &self.design.actors[operation.actor.index()].name;
        let answer = answer.map(|kind| format!(" on {kind:?}").to_lowercase());
        Some(format!("{actor}[{}]{}", operation.name, answer.unwrap_or_default()))
    }

    /// What was seen, in a sentence.
    fn told(&self) -> String {
        let of = |class: Class| self.held.values().filter(move |it| it.class == class);
        let local = of(Class::Local).filter(|it| it.events > 0).count();
        let events: usize = of(Class::Local).map(|it| it.events).sum();
        let crossing: Vec<&Held> = of(Class::Known).chain(of(Class::Found)).collect();
        let seen = crossing.iter().filter(|it| it.most > 1).count();
        let mut text =
            format!("{local} local in {events} events, {seen} of {} crossed", crossing.len());
        for (name, held) in self.held.iter().filter(|(_, it)| it.class != Class::Local) {
            if held.most < 2 && held.events > 0 {
                write!(text, ", {name} did not in {}", held.events).unwrap();
            }
        }
        text
    }
}

/// The first value of the key of a record or of an entry of its log; none: another kind of key.
fn partition_of(design: &Design, key: &[u8]) -> Option<(u8, Vec<u8>)> {
    let [_, _, b'r' | b'l', high, low, parts @ ..] = key else { return None };
    let mut subject = usize::from(u16::from_be_bytes([*high, *low]));
    loop {
        let first = &design.subjects[subject].keys[0].ty;
        match first {
            Type::Ref(other) => subject = other.index(),
            Type::Text | Type::Bytes | Type::Actor | Type::Digest(_) | Type::PublicKey => {
                let end = parts.windows(2).position(|two| two == [0, 1]).expect("texts end");
                return Some((b't', parts[..end].to_vec()));
            }
            _ => return Some((b'n', parts[..8].to_vec())),
        }
    }
}

/// The texts of the catalog, by name.
struct Texts(Vec<(String, String)>);

impl Texts {
    fn read() -> Texts {
        let mut paths: Vec<PathBuf> = Vec::new();
        for folder in ["infra", "product", "systems"] {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../designs").join(folder);
            paths.extend(std::fs::read_dir(root).unwrap().map(|file| file.unwrap().path()));
        }
        paths.retain(|path| path.extension().is_some_and(|end| end == "design"));
        paths.sort();
        let named = paths.iter().map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).unwrap())
        });
        Texts(named.collect())
    }
}

impl design::Catalog for Texts {
    fn archetype(&self, id: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name == id).map(|(_, text)| text.as_str())
    }

    fn ids(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| name.clone()).collect()
    }
}

fn drawn(design: &Design) -> Sample {
    let draw = Draw {
        seed: 21,
        transitions: 120,
        states_max: 4_000,
        threads: 1,
        faults: TOLD.to_vec(),
        copies: false,
        without: Vec::new(),
    };
    sample(design, &draw).expect("it is finite")
}

/// Carries out what was drawn, each by its whole history. Where the runtime does something else than the checker (it takes
/// the first row of a list, and the checker any), the rest of that history is left out.
fn carry_out(sample: &Sample, said: &Partitioning) -> Watch {
    let design = Arc::new(sample.design.clone());
    let mut watch = Watch::of(&design, said);
    for node in 0..sample.nodes.len() {
        for drawn in &sample.nodes[node].drawn {
            let seen = watch.seen();
            let mut carrier = Carrier::through(&design, TICK_MS, |memory| seen.before(memory));
            let mut path = vec![node];
            while let Some((before, _)) = &sample.nodes[path[path.len() - 1]].from {
                path.push(*before);
            }
            watch.forget();
            let reached = path.iter().rev().all(|at| match &sample.nodes[*at].from {
                Some((before, event)) => {
                    let carried = carrier.carry_out(event, &sample.nodes[*before].state);
                    watch.after(event);
                    carried.is_ok()
                }
                None => true,
            });
            let state = &sample.nodes[node].state;
            match drawn {
                _ if !reached => {}
                Drawn::Taken(event, _) => {
                    let _ = carrier.carry_out(event, state);
                    watch.after(event);
                }
                Drawn::Refused(event, refusal) => {
                    let _ = carrier.is_refused_here(event, refusal, state);
                    watch.after(event);
                }
            }
        }
    }
    watch
}

#[test]
fn what_is_said_to_stay_in_one_partition_does() {
    let texts = Texts::read();
    let (mut local, mut unseen) = (0, Vec::new());
    for (name, text) in &texts.0 {
        let design = design::compile(name, text, &texts).design.unwrap();
        let sample = drawn(&design);
        let watch = carry_out(&sample, &explain::partition(&sample.design));
        println!("{name}: {}", watch.told());
        let (wrong, count) = (watch.wrong.first(), watch.wrong.len());
        assert!(count == 0, "{name}: {count} transactions cross, such as\n{}", wrong.unwrap());
        let held = watch.held.iter().filter(|(_, held)| held.class == Class::Local);
        for (operation, held) in held {
            local += 1;
            if held.events == 0 {
                unseen.push(format!("{name} {operation}"));
            }
        }
    }
    // a sample need not meet what takes a long history
    println!("{} of {local} were not met: {unseen:?}", unseen.len());
    assert!(unseen.len() * 4 < local, "too little was met: {unseen:?}");
}

/// Were `explain` to say that a crossing step stays in one partition, this would be seen.
#[test]
fn a_step_that_is_wrongly_said_to_stay_in_one_partition_is_caught() {
    let text = include_str!("../../steadfast/tests/data/tickets-by-hand.design");
    let design = design::compile("tickets", text, &design::NoCatalog).design.unwrap();
    let sample = drawn(&design);
    for crossing in ["buyer[hold]", "buyer[confirm]", "sweeper[release]"] {
        let mut said = explain::partition(&sample.design);
        let wrong = said.operations.iter_mut().find(|one| one.operation == crossing).unwrap();
        assert_ne!(wrong.class, Class::Local, "{crossing}");
        wrong.class = Class::Local;
        let wrong = carry_out(&sample, &said).wrong;
        assert!(wrong.iter().all(|it| it.starts_with(crossing)), "{wrong:?}");
        assert!(!wrong.is_empty(), "{crossing} was not seen to cross");
    }
}
