//! A group on a store that keeps its state in this process: one turn, each call a commit of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, MutexGuard};
use std::task::Waker;

use store::{Cursor, Keys, LocalStore, Partition, Ticket, Turn};

use super::submission::{Asked, Inner, Outcome, Submission};
use crate::calls::decide::Finished;
use crate::calls::perform::Room;
use crate::calls::reply::CallError;
use crate::core::{HotTouches, Runtime};

/// Submissions that are decided together, in the order in which they came.
pub struct Group {
    pub submissions: Vec<Arc<Submission>>,
    /// there will be no room: who commits is told why
    pub insists: bool,
}

impl Group {
    pub fn new(submissions: Vec<Arc<Submission>>) -> Group {
        Group { submissions, insists: false }
    }
}

impl Group {
    /// Nobody knows what became of those that are not decided.
    pub fn give_up(&self) {
        let why = store::Error::Unknown("deciding its group panicked".into());
        let error = CallError::Store(why);
        for submission in &self.submissions {
            let mut inner = submission.lock();
            if inner.decided.is_none() {
                inner.fail(&error);
                inner.decided = Some(0);
                let waker = inner.waker.take();
                drop(inner);
                waker.into_iter().for_each(Waker::wake);
            }
        }
    }
}

/// How far a group came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Came {
    Over,
    /// there is no room for a commit: it goes on from where it is
    NoRoom,
}

/// What a turn works with.
struct Deciding<'d> {
    runtime: &'d Runtime,
    room: &'d mut Room,
    hot: HotTouches<'d>,
    now: i64,
    /// the earliest time at which something that was caused is due
    wake: Option<i64>,
}

impl Runtime {
    /// Decides the calls of a group that are not decided yet, as far as there is room. Whoever waits for
    /// them is woken when they are durable.
    pub(super) fn decide_group(&self, local: &dyn LocalStore, group: &mut Group) -> Came {
        let mut locked: Vec<MutexGuard<'_, Inner>> =
            group.submissions.iter().map(|submission| submission.lock()).collect();
        let (came, ticket) = self.decide_locked(local, &mut locked, group.insists);
        let mut wakers: Vec<Waker> = Vec::with_capacity(locked.len());
        let position = ticket.as_ref().map_or(0, Ticket::position);
        for inner in &mut locked {
            if inner.undecided().is_empty() && inner.decided.is_none() {
                inner.decided = Some(position);
                wakers.extend(inner.waker.take());
            }
        }
        drop(locked);
        match ticket {
            Ok(ticket) => ticket.wake(wakers),
            // there is nothing to wait for
            Err(_) => wakers.into_iter().for_each(Waker::wake),
        }
        came
    }

    /// The same for calls of one caller, on its thread, which waits for room.
    pub(super) fn decide_now(&self, submission: &Arc<Submission>) -> Result<Ticket, CallError> {
        let Some(local) = self.store.local() else {
            return self.block_on(self.decide_far_now(submission));
        };
        let mut insists = false;
        loop {
            let mut locked = [submission.lock()];
            let (came, ticket) = self.decide_locked(local, &mut locked, insists);
            drop(locked);
            match came {
                Came::Over => return ticket,
                Came::NoRoom => {
                    if let Some(room) = local.room() {
                        insists = self.block_on(room).is_err();
                    }
                }
            }
        }
    }

    fn decide_locked(
        &self,
        local: &dyn LocalStore,
        locked: &mut [MutexGuard<'_, Inner>],
        insists: bool,
    ) -> (Came, Result<Ticket, CallError>) {
        let mut keys = Keys::default();
        for asked in locked.iter_mut().flat_map(|inner| inner.undecided()) {
            keys.append(&asked.ask.expected.keys);
        }
        let mut desk = self.desk();
        let mut came = Came::Over;
        let mut wake = None;
        let mut current = Ok(());
        let ticket = local.turn(&mut |turn| {
            current = self.still_current();
            if current.is_err() {
                return;
            }
            turn.look_up(&keys);
            let (now, hot) = (self.clock.now_ms(), self.hot.touches());
            let mut deciding = Deciding { runtime: self, room: &mut desk.room, hot, now, wake };
            came = deciding.all(turn, locked, insists);
            wake = deciding.wake;
        });
        self.give_back(desk);
        if let Some(at) = wake {
            self.alarm.ring(at);
        }
        let ticket = ticket.map_err(CallError::Store).and_then(|ticket| current.map(|()| ticket));
        if let Err(error) = &ticket {
            locked.iter_mut().for_each(|inner| inner.fail(error));
        }
        (came, ticket)
    }
}

impl Deciding<'_> {
    fn all(
        &mut self,
        turn: &mut dyn Turn,
        locked: &mut [MutexGuard<'_, Inner>],
        insists: bool,
    ) -> Came {
        let mut first = 0;
        for inner in locked {
            while let Some(asked) = inner.undecided().first_mut() {
                if !insists && !turn.has_room() {
                    return Came::NoRoom;
                }
                let expected = first..first + asked.ask.expected.keys.len();
                first = expected.end;
                let decided = catch_unwind(AssertUnwindSafe(|| self.one(turn, expected, asked)));
                asked.outcome = Some(decided.unwrap_or_else(|panic| {
                    // nobody knows what it left half done
                    *self.room = Room::default();
                    Outcome::Panicked(panic)
                }));
                inner.next += 1;
            }
        }
        Came::Over
    }

    /// One call, over everything that those before it wrote.
    fn one(
        &mut self,
        turn: &mut dyn Turn,
        expected: std::ops::Range<usize>,
        asked: &mut Asked,
    ) -> Outcome {
        let runtime = self.runtime;
        let ask = &mut asked.ask;
        let mut finished = None;
        let position = turn.transact(expected, &mut |transaction| {
            runtime.gate.note(transaction, &mut |transaction| {
                let number = transaction.position();
                let (decision, came_to) =
                    runtime.run(ask, self.now, number, transaction, self.room);
                finished = Some(came_to);
                decision
            })
        });
        let position = match position {
            Ok(position) => position,
            Err(error) => return Outcome::Concluded(Err(CallError::Store(error))),
        };
        let finished = finished.expect("a transaction that is over has decided");
        if let Some(at) = finished.as_ref().ok().and_then(Finished::wake) {
            self.wake = Some(self.wake.map_or(at, |earlier| earlier.min(at)));
        }
        let cursor = Cursor::at(Partition::default(), position);
        Outcome::Concluded(runtime.conclude(ask, finished, cursor, &mut self.hot, self.room))
    }
}
