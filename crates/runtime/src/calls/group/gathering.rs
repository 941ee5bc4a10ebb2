//! Who waits to be decided, and who decides them.
//!
//! The first to come leads. It lets everybody else who is ready come as well, and then decides all of
//! them; so a group is what a worker has to do at one time. Who finds a group being decided is decided
//! after it. Nobody holds a thread while waiting.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use super::submission::Submission;

/// With so many, whoever comes last decides at once.
const GROUP_MAX: usize = 512;

#[derive(Default)]
pub struct Gathering {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: Vec<Arc<Submission>>,
    /// room for those who wait next
    spare: Vec<Arc<Submission>>,
    /// one of those who wait will come to lead them
    led: bool,
    /// a group is being decided
    deciding: bool,
    /// who came to lead meanwhile
    early: Vec<Waker>,
    /// submissions that are not answered yet
    under_way: usize,
}

/// What whoever has joined has to do.
pub enum Joined {
    /// decide these now
    Decide(Vec<Arc<Submission>>),
    /// let others come, then [`Gathering::lead`]
    LeadSoon,
    Wait,
}

/// What whoever came to lead finds.
pub enum Leads {
    Decide(Vec<Arc<Submission>>),
    /// nobody waits any more: they were decided by others
    Nobody,
    /// others are being decided: the waker is woken after them
    Early,
}

impl State {
    fn begin(&mut self) -> Vec<Arc<Submission>> {
        assert!(!self.deciding, "one group is decided at a time");
        (self.led, self.deciding) = (false, true);
        let spare = std::mem::take(&mut self.spare);
        std::mem::replace(&mut self.waiting, spare)
    }

    /// Somebody who waits is woken to lead, unless somebody will.
    fn elect(&mut self) -> Option<Waker> {
        if self.led || self.waiting.is_empty() {
            return None;
        }
        // who is gone leads nobody; whoever comes next does, if all are
        let mut there = self.waiting.iter().map(|waiting| waiting.lock());
        let mut first = there.find(|waiting| !waiting.abandoned)?;
        first.leads = true;
        self.led = true;
        first.waker.clone()
    }
}

impl Gathering {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn join(&self, submission: &Arc<Submission>) -> Joined {
        let mut state = self.lock();
        state.waiting.push(Arc::clone(submission));
        let alone = state.under_way == 0;
        state.under_way += 1;
        // who is alone waits for nobody
        if !state.deciding && (alone || state.waiting.len() >= GROUP_MAX) {
            return Joined::Decide(state.begin());
        }
        if std::mem::replace(&mut state.led, true) { Joined::Wait } else { Joined::LeadSoon }
    }

    pub fn lead(&self, waker: &Waker) -> Leads {
        let mut state = self.lock();
        if state.deciding {
            state.early.push(waker.clone());
            return Leads::Early;
        }
        if state.waiting.is_empty() { Leads::Nobody } else { Leads::Decide(state.begin()) }
    }

    /// A group is decided.
    pub fn end(&self, mut group: Vec<Arc<Submission>>) {
        group.clear();
        let mut state = self.lock();
        state.deciding = false;
        state.spare = group;
        let early = std::mem::take(&mut state.early);
        drop(state);
        early.into_iter().for_each(Waker::wake);
    }

    /// Nobody waits for it any more. If it is not being decided, it is forgotten; if it was to lead,
    /// somebody else does.
    pub fn resign(&self, submission: &Arc<Submission>, leads: bool) {
        let mut state = self.lock();
        state.waiting.retain(|waiting| !Arc::ptr_eq(waiting, submission));
        if leads {
            state.led = false;
        }
        let elected = state.elect();
        drop(state);
        elected.into_iter().for_each(Waker::wake);
    }

    /// Whoever decided a group is gone before it came to its end: these are decided by somebody else,
    /// before all others.
    pub fn give_back(&self, mut rest: Vec<Arc<Submission>>) {
        rest.retain(|submission| submission.lock().decided.is_none());
        let mut state = self.lock();
        state.deciding = false;
        rest.append(&mut state.waiting);
        state.waiting = rest;
        let mut woken = std::mem::take(&mut state.early);
        woken.extend(state.elect());
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }

    /// A submission that had joined is answered, or nobody waits for it any more.
    pub fn left(&self) {
        self.lock().under_way -= 1;
    }
}
