//! Waiting for the answers to calls, without a thread.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use store::Pending;

use super::calls::{Answers, Calls};
use super::gathering::{Joined, Leads};
use super::local::{Came, Group};
use crate::core::Runtime;

/// Ready when its calls are decided and durable.
pub struct Answering<'r> {
    runtime: &'r Runtime,
    /// none: they were given back
    calls: Option<Calls<'r>>,
    stage: Stage<'r>,
    /// who is woken when they are durable
    waker: Option<Waker>,
}

enum Stage<'r> {
    New,
    /// others come first, then it leads
    Lead,
    /// its group is decided by this one, and there was no room for a commit
    Room(Group, Pending<'r, ()>),
    /// its group is decided by others, or is decided
    Wait,
    /// on a store far away
    Far(Pin<Box<dyn Future<Output = ()> + Send + 'r>>),
    Over,
}

impl<'r> Answering<'r> {
    pub(super) fn new(calls: Calls<'r>) -> Answering<'r> {
        let runtime = calls.runtime;
        Answering { runtime, calls: Some(calls), stage: Stage::New, waker: None }
    }

    fn calls(&self) -> &Calls<'r> {
        self.calls.as_ref().expect("it is not asked again once it is ready")
    }

    /// Decides a group as far as there is room, and says what is next.
    fn decide(&mut self, mut group: Group) -> Stage<'r> {
        let runtime = self.runtime;
        let local = runtime.local();
        loop {
            // a call that panics is caught beneath; whatever else does must not keep others waiting
            let deciding = AssertUnwindSafe(|| runtime.decide_group(local, &mut group));
            let came = catch_unwind(deciding).unwrap_or_else(|panic| {
                group.give_up();
                runtime.gathering.end(std::mem::take(&mut group.submissions));
                resume_unwind(panic)
            });
            match came {
                Came::Over => {
                    runtime.gathering.end(group.submissions);
                    return Stage::Wait;
                }
                Came::NoRoom => {
                    if let Some(room) = local.room() {
                        return Stage::Room(group, room);
                    }
                }
            }
        }
    }

    /// What is next, and whether it goes on.
    fn begin(&mut self, waker: &Waker) -> (Stage<'r>, bool) {
        let runtime = self.runtime;
        let submission = Arc::clone(&self.calls().submission);
        if runtime.is_shared() {
            let deciding = Box::pin(async move { runtime.decide_far(&submission).await });
            return (Stage::Far(deciding), true);
        }
        submission.lock().waker = Some(waker.clone());
        self.waker = Some(waker.clone());
        match runtime.gathering.join(&submission) {
            Joined::Decide(submissions) => (self.decide(Group::new(submissions)), true),
            Joined::LeadSoon => {
                waker.wake_by_ref();
                (Stage::Lead, false)
            }
            Joined::Wait => (Stage::Wait, false),
        }
    }

    /// What is next; and whether it goes on, or waits until it is woken.
    fn step(&mut self, stage: Stage<'r>, context: &mut Context<'_>) -> (Stage<'r>, bool) {
        let waker = context.waker();
        match stage {
            Stage::New => self.begin(waker),
            Stage::Lead => {
                if self.calls().submission.lock().decided.is_some() {
                    return (Stage::Wait, true);
                }
                match self.runtime.gathering.lead(waker) {
                    Leads::Decide(submissions) => (self.decide(Group::new(submissions)), true),
                    Leads::Nobody => (Stage::Wait, true),
                    Leads::Early => (Stage::Lead, false),
                }
            }
            Stage::Room(mut group, mut room) => match room.as_mut().poll(context) {
                Poll::Pending => (Stage::Room(group, room), false),
                Poll::Ready(has_room) => {
                    drop(room);
                    // those who commit are told why they cannot
                    group.insists = has_room.is_err();
                    (self.decide(group), true)
                }
            },
            Stage::Wait => {
                let mut inner = self.calls().submission.lock();
                let known = self.waker.as_ref().is_some_and(|known| known.will_wake(waker));
                let Some(position) = inner.decided else {
                    if !known {
                        inner.waker = Some(waker.clone());
                    }
                    let leads = std::mem::take(&mut inner.leads);
                    drop(inner);
                    if !known {
                        self.waker = Some(waker.clone());
                    }
                    return if leads { (Stage::Lead, true) } else { (Stage::Wait, false) };
                };
                let progress = self.runtime.local().progress();
                match progress.outcome(position) {
                    Some(Ok(())) => (Stage::Over, true),
                    Some(Err(error)) => {
                        inner.next = 0;
                        inner.fail(&error.into());
                        (Stage::Over, true)
                    }
                    None => {
                        drop(inner);
                        if !known {
                            self.waker = Some(waker.clone());
                            progress.wake_all(position, vec![waker.clone()]);
                        }
                        (Stage::Wait, false)
                    }
                }
            }
            Stage::Far(mut deciding) => match deciding.as_mut().poll(context) {
                Poll::Pending => (Stage::Far(deciding), false),
                Poll::Ready(()) => (Stage::Over, true),
            },
            Stage::Over => (Stage::Over, true),
        }
    }
}

impl<'r> Future for Answering<'r> {
    type Output = Answers<'r>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answers<'r>> {
        let this = &mut *self;
        loop {
            let stage = std::mem::replace(&mut this.stage, Stage::Over);
            let (next, goes_on) = this.step(stage, context);
            this.stage = next;
            if !goes_on {
                return Poll::Pending;
            }
            if matches!(this.stage, Stage::Over) {
                let calls = this.calls.take().expect("it is not asked again once it is ready");
                if !this.runtime.is_shared() {
                    this.runtime.gathering.left();
                }
                return Poll::Ready(Answers(calls));
            }
        }
    }
}

impl Drop for Answering<'_> {
    fn drop(&mut self) {
        let Some(calls) = &self.calls else { return };
        let gathering = &self.runtime.gathering;
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::New | Stage::Far(_) | Stage::Over => return,
            Stage::Wait => {
                let mut inner = calls.submission.lock();
                inner.abandoned = true;
                let (leads, decided) = (inner.leads, inner.decided.is_some());
                drop(inner);
                if !decided {
                    gathering.resign(&calls.submission, leads);
                }
            }
            Stage::Lead => {
                calls.submission.lock().abandoned = true;
                gathering.resign(&calls.submission, true);
            }
            Stage::Room(group, room) => {
                drop(room);
                calls.submission.lock().abandoned = true;
                gathering.give_back(group.submissions);
            }
        }
        gathering.left();
    }
}
