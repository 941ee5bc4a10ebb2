//! Which situations a commit is tried in, and what must come of each.

use std::collections::BTreeMap;

use explain::{CommitForm, Expected, KeyForm, Line, Record, WriteKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// records that may be there or not are there
    pub present: bool,
    /// this one of the reads has changed in between
    pub broken: Option<usize>,
}

/// Two operations with the same signature ask the same of an engine.
pub fn signature(form: &CommitForm) -> String {
    let reads: Vec<String> =
        form.reads.iter().map(|r| format!("{:?}{}", r.expected, r.written)).collect();
    let writes: Vec<String> = form
        .writes
        .iter()
        .map(|w| format!("{:?}{}{}", w.kind, w.when.is_some(), w.size.max > 0))
        .collect();
    format!("{reads:?}{writes:?}{:?}", form.feed.is_some())
}

pub fn cases(form: &CommitForm) -> Vec<Case> {
    let mut cases = Vec::new();
    let either = form.reads.iter().any(|read| expected(form, read) == Expected::AsRead);
    let variants: &[bool] = if either { &[true, false] } else { &[true] };
    for present in variants.iter().copied() {
        cases.push(Case { present, broken: None });
        cases.extend((0..form.reads.len()).map(|at| Case { present, broken: Some(at) }));
    }
    cases
}

/// What an operation makes under a fresh key was absent.
fn expected(form: &CommitForm, read: &Record) -> Expected {
    let makes = form.writes.iter().any(|w| w.name == read.name && w.kind == WriteKind::Create);
    if makes { Expected::Absent } else { read.expected }
}

fn is_there(form: &CommitForm, read: &Record, case: Case) -> bool {
    match expected(form, read) {
        Expected::Version => true,
        Expected::Absent => false,
        Expected::AsRead => case.present,
    }
}

/// The bytes of a key, with its parts named after themselves.
pub fn key(form: &KeyForm, number: u16) -> Vec<u8> {
    form.bytes(number, &|name| {
        let mut sum: u64 = 0xcbf2_9ce4_8422_2325;
        for byte in name.bytes() {
            sum = (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        let mut bytes = sum.to_be_bytes().to_vec();
        // A byte that texts must escape, and one that is no UTF-8.
        bytes.extend_from_slice(&[0, 0xfe]);
        bytes
    })
}

pub fn seeds(form: &CommitForm, case: Case, number: u16) -> Vec<(Vec<u8>, Vec<u8>)> {
    let reads = form.reads.iter().filter(|read| is_there(form, read, case));
    let mut seeds: Vec<(Vec<u8>, Vec<u8>)> =
        reads.map(|read| (key(&read.key, number), b"before".to_vec())).collect();
    for write in form.writes.iter().filter(|write| write.kind == WriteKind::Delete) {
        seeds.push((key(&write.key, number), b"index".to_vec()));
    }
    seeds
}

pub fn value(name: &str, empty: bool) -> Vec<u8> {
    if empty { Vec::new() } else { [name.as_bytes(), &[0, 0xff, b'\'', b'"', b'\\']].concat() }
}

/// Everything that must be there after the commit.
pub fn expected_records(form: &CommitForm, case: Case, number: u16) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut records: BTreeMap<Vec<u8>, Vec<u8>> = seeds(form, case, number).into_iter().collect();
    for write in &form.writes {
        let key = key(&write.key, number);
        match write.kind {
            WriteKind::Remove | WriteKind::Delete => drop(records.remove(&key)),
            _ => drop(records.insert(key, value(&write.name, write.size.max == 0))),
        }
    }
    records
}

pub fn is_written(form: &CommitForm, at: &[u8], number: u16) -> bool {
    form.writes.iter().any(|write| key(&write.key, number) == at)
}

/// What the names in the printed lines stand for.
pub struct Binding {
    pub keys: BTreeMap<String, Vec<u8>>,
    pub values: BTreeMap<String, Vec<u8>>,
    /// of records that are there
    pub versions: BTreeMap<String, String>,
    there: Vec<String>,
}

impl Binding {
    pub fn new(
        form: &CommitForm,
        case: Case,
        number: u16,
        versions: &BTreeMap<Vec<u8>, String>,
    ) -> Binding {
        let mut binding = Binding {
            keys: BTreeMap::new(),
            values: BTreeMap::new(),
            versions: BTreeMap::new(),
            there: Vec::new(),
        };
        for read in &form.reads {
            let key = key(&read.key, number);
            if let Some(version) = versions.get(&key) {
                binding.versions.insert(read.name.clone(), version.clone());
            }
            binding.keys.insert(read.name.clone(), key);
            if is_there(form, read, case) {
                binding.there.push(read.name.clone());
            }
        }
        for write in &form.writes {
            binding.keys.insert(write.name.clone(), key(&write.key, number));
            binding.values.insert(write.name.clone(), value(&write.name, write.size.max == 0));
        }
        binding
    }

    /// Does this line apply? Conditions on the truth are taken to hold.
    pub fn applies(&self, line: &Line) -> bool {
        let Some(when) = &line.when else { return true };
        let when = when.rsplit(", and ").next().unwrap_or(when);
        match (when.strip_suffix(" was there"), when.strip_suffix(" was not there")) {
            (Some(name), _) => self.there.iter().any(|there| there == name),
            (_, Some(name)) => !self.there.iter().any(|there| there == name),
            _ => true,
        }
    }
}
