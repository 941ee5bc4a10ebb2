//! What callers were told, and what is in no feed.

use std::collections::{BTreeMap, BTreeSet};

use runtime::{Request, Taken, Walk};
use serde_json::{Map, Value};

use crate::trouble::Trouble;

/// Something that happened and is in no feed.
pub enum Note {
    /// a read was answered
    Heard(Box<Request>, Map<String, Value>),
    /// the world outside carried out a call, which it knows by this key
    Did(String),
    /// a caller has forgotten what it knew
    Forgot(String),
}

/// What a caller was told of a call that is done.
pub struct Done {
    pub call: String,
    pub revision: u64,
    /// it changed something, so it is in the feed
    pub changed: bool,
    /// it is in the feed at this revision; otherwise not after it
    pub exact: bool,
}

/// The records on which a caller was refused. They were like this at some moment while it waited.
pub struct Shown {
    pub call: String,
    pub truth: Value,
    /// the newest revision when it asked, and when it was answered
    pub from: u64,
    pub until: u64,
}

#[derive(Default)]
pub struct Ledger {
    told: BTreeMap<u64, Done>,
    /// calls that were refused when they were asked again, while their outcome is kept
    denied: BTreeMap<u64, String>,
    /// by the number of the call: where the feed has it
    found: BTreeMap<u64, u64>,
    /// calls whose callers did not hear the answer, and go on without it
    pub lost: BTreeSet<u64>,
    notes: Vec<(u64, Note)>,
    /// what is not found in the history yet
    shown: Vec<Shown>,
}

impl Ledger {
    /// It happened when this revision was the newest.
    pub fn note(&mut self, revision: u64, note: Note) {
        self.notes.push((revision, note));
    }

    pub fn told(&mut self, number: u64, done: Done) {
        self.told.insert(number, done);
    }

    pub fn denied(&mut self, number: u64, call: String) {
        self.denied.insert(number, call);
    }

    pub fn shown(&mut self, shown: Shown) {
        self.shown.push(shown);
    }

    /// The walk stands after `revision`, and stays there until `next`: what was shown meanwhile is found, or waits for
    /// a later revision.
    pub fn stands(&mut self, walk: &Walk, revision: u64, next: u64) -> Result<(), Trouble> {
        let shown = std::mem::take(&mut self.shown);
        for shown in shown {
            let is_past = shown.until < next;
            let is_now = shown.from < next && shown.until >= revision;
            let found = is_now
                && walk.agrees(&shown.truth).map_err(|error| {
                    let what = "comparing what a caller was shown".to_string();
                    Trouble::Failed { what, error: format!("{error:?}") }
                })?;
            match (found, is_past) {
                (true, _) => {}
                (false, false) => self.shown.push(shown),
                (false, true) => {
                    let between = (shown.from, shown.until);
                    return Err(Trouble::Unexplained { call: shown.call, between });
                }
            }
        }
        Ok(())
    }

    /// The walk has come to another version, which tells records in another way.
    pub fn forget_shown(&mut self) {
        self.shown.clear();
    }

    /// What happened before this revision, oldest first.
    pub fn notes_before(&mut self, revision: u64) -> Vec<Note> {
        self.notes.sort_by_key(|(at, _)| *at);
        let end = self.notes.partition_point(|(at, _)| *at < revision);
        self.notes.drain(..end).map(|(_, note)| note).collect()
    }

    /// The feed has this transition here.
    pub fn found(&mut self, taken: &Taken, revision: u64) -> Result<(), Trouble> {
        let Some(number) = number(taken) else { return Ok(()) };
        match self.found.insert(number, revision) {
            Some(before) => {
                let call = format!("`{}` of {}", taken.operation, name(taken));
                Err(Trouble::Twice { call, revisions: (before, revision) })
            }
            None => Ok(()),
        }
    }

    /// Is everything in the history that anybody was told of?
    pub fn settle(&self) -> Result<(), Trouble> {
        for (number, told) in self.told.iter().filter(|(_, told)| told.changed) {
            let (call, revision) = (told.call.clone(), told.revision);
            match self.found.get(number) {
                None => return Err(Trouble::Lost { call, revision }),
                Some(found) if *found > revision || told.exact && *found != revision => {
                    return Err(Trouble::Elsewhere { call, told: revision, found: *found });
                }
                Some(_) => {}
            }
        }
        for (number, call) in &self.denied {
            if let Some(revision) = self.found.get(number) {
                return Err(Trouble::Denied { call: call.clone(), revision: *revision });
            }
        }
        Ok(())
    }

    /// Did whoever caused this hear of it, or will it, when it asks again?
    pub fn is_heard(&self, taken: Option<u64>) -> bool {
        taken.is_none_or(|number| !self.lost.contains(&number))
    }
}

fn name(taken: &Taken) -> String {
    String::from_utf8_lossy(&taken.principal).into_owned()
}

/// The number of the call that a transition is, if it is one.
fn number(taken: &Taken) -> Option<u64> {
    if taken.principal.is_empty() {
        return None;
    }
    taken.trace.as_ref().map(|trace| number_of(&trace.id))
}

pub fn number_of(id: &[u8; 16]) -> u64 {
    u128::from_be_bytes(*id) as u64
}

/// A walk that hears of what is in no feed.
pub fn apply(walk: &mut Walk, note: &Note) -> Result<(), String> {
    match note {
        Note::Heard(read, memory) => {
            walk.heard(read, memory).map_err(|bad| format!("{}: {}", bad.pointer, bad.message))
        }
        Note::Did(key) => {
            walk.outside_did(key);
            Ok(())
        }
        Note::Forgot(who) => {
            walk.forgot(who);
            Ok(())
        }
    }
}
