//! Those who read the feed to its end, and keep in the store how far they are.

use std::ops::ControlFlow;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use layout::{FollowerKey, Space, Wrong};
use store::{Cursor, Decision, Error as StoreError, KeyRange, Partition};

use super::transition::Transition;
use crate::calls::CallError;
use crate::core::{ReadError, Runtime};

/// On a store far away, what is new is looked for this often.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// A position is kept although nothing concerned the follower, so that the feed does not forget
/// what it has long passed.
const KEEP_EVERY: u64 = 10_000;

/// Reads the feed from where it was when it last kept its position, also after a crash.
pub struct Follower {
    runtime: Arc<Runtime>,
    name: String,
    next: Cursor,
    kept: Cursor,
    bell: Arc<Bell>,
}

/// Rings when something new is durable, or when someone wants the follower's attention.
#[derive(Default)]
pub struct Bell {
    state: Mutex<Rung>,
}

#[derive(Default)]
struct Rung {
    /// a call for the next durable position is outstanding
    enlisted: bool,
    rung: bool,
    waiting: Vec<Waker>,
}

impl Bell {
    pub fn ring(&self) {
        let mut state = self.lock();
        state.rung = true;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Ready when it has rung.
    async fn rung(&self) {
        std::future::poll_fn(|context| {
            let mut state = self.lock();
            if state.rung {
                return Poll::Ready(());
            }
            // Who waited before and gave up may still be there.
            if !state.waiting.iter().any(|waker| waker.will_wake(context.waker())) {
                state.waiting.push(context.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }

    fn lock(&self) -> MutexGuard<'_, Rung> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How far one follower is, for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Followed {
    pub name: String,
    /// what it has dealt with for good
    pub revision: String,
    /// commits that came after it
    pub behind: u64,
}

/// What the feed holds after the follower's position.
#[derive(Clone, PartialEq, Debug)]
pub enum Ahead {
    Transitions(Vec<(String, Transition)>),
    Nothing,
    /// the feed no longer goes back so far, or a part of it cannot be read: what was between the two is
    /// lost to the follower
    Gap {
        after: String,
        from: String,
    },
}

impl Runtime {
    /// The follower of this name. A new one begins with what happens from now on, and that is
    /// durable when this returns.
    pub fn follower(self: &Arc<Runtime>, name: &str) -> Result<Follower, CallError> {
        let key = follower_key(self, name);
        let mut found: Result<Option<Cursor>, ReadError> = Ok(None);
        let ticket = self.transact(&mut |transaction| {
            let position = transaction.position();
            match transaction.get(&key) {
                Some((_, bytes)) => {
                    found = read_position(&key, bytes).map(Some);
                    Decision::Abandon
                }
                None => {
                    let here = Cursor::at(Partition::default(), position);
                    transaction.put(&key, &here.to_bytes());
                    found = Ok(Some(here));
                    Decision::Commit
                }
            }
        })?;
        ticket.wait()?;
        let at = found?.expect("a transaction that is over has looked");
        let bell = Arc::default();
        Ok(Follower { runtime: Arc::clone(self), name: name.into(), next: at, kept: at, bell })
    }

    /// Everyone who follows, and how far each is.
    pub fn followers(&self) -> Result<Vec<Followed>, CallError> {
        let mut list = Vec::new();
        let mut trouble = Ok(());
        let head = self.block_on(self.store.head(Partition::default()))?.position();
        let start = Space::Follower.prefix(self.schema.number).to_vec();
        self.transact(&mut |transaction| {
            transaction.scan(&KeyRange::prefix(start.clone()), false, &mut |key, _, value| {
                let read = FollowerKey::parse(key).map_err(ReadError::from);
                match read.and_then(|follower| Ok((follower, read_position(key, value)?))) {
                    Ok((follower, at)) => list.push(Followed {
                        name: follower.name.into(),
                        revision: at.to_string(),
                        behind: head.saturating_sub(at.position()),
                    }),
                    Err(error) => trouble = Err(error.into()),
                }
                ControlFlow::Continue(())
            });
            Decision::Abandon
        })?;
        trouble.map(|()| list)
    }

    /// Forgets how far it was; under this name one begins anew.
    pub fn forget_follower(&self, name: &str) -> Result<(), CallError> {
        let key = follower_key(self, name);
        let ticket = self.transact(&mut |transaction| {
            transaction.delete(&key);
            Decision::Commit
        })?;
        Ok(ticket.wait()?)
    }
}

impl Follower {
    /// The next part of the feed; asked again, it gives what comes after.
    pub fn ahead(&mut self, limit: usize) -> Result<Ahead, CallError> {
        match self.runtime.block_on(self.runtime.feed(Some(&self.next.to_string()), limit)) {
            Ok((transitions, next)) => {
                self.next = next.parse().expect("the feed gives cursors");
                if transitions.is_empty() {
                    Ok(Ahead::Nothing)
                } else {
                    Ok(Ahead::Transitions(transitions))
                }
            }
            Err(CallError::Store(StoreError::BelowFloor(floor))) => {
                let after = self.next.to_string();
                self.next = floor;
                Ok(Ahead::Gap { after, from: floor.to_string() })
            }
            // less at a time, until what cannot be read stands alone
            Err(CallError::Damaged(_)) if limit > 1 => self.ahead(limit / 2),
            Err(CallError::Damaged(damaged)) => {
                let after = self.next;
                // commits are given whole, so this is the one that cannot be read
                self.next = self.runtime.block_on(self.runtime.store.feed(after, 1))?.next;
                let (after, from) = (after.to_string(), self.next.to_string());
                tracing::error!(
                    design = %self.runtime.schema.design.name,
                    follower = %self.name,
                    %after,
                    through = %from,
                    reason = %damaged,
                    "a part of the feed cannot be read; the follower is told of a gap",
                );
                Ok(Ahead::Gap { after, from })
            }
            Err(error) => Err(error),
        }
    }

    /// Everything that `ahead` has given is dealt with: durable when this returns. With nothing to
    /// remember it costs nothing.
    pub fn keep(&mut self, dealt_with_something: bool) -> Result<(), CallError> {
        let passed = self.next.position().saturating_sub(self.kept.position());
        if passed == 0 || !dealt_with_something && passed < KEEP_EVERY {
            return Ok(());
        }
        let key = follower_key(&self.runtime, &self.name);
        let position = self.next.to_bytes();
        let ticket = self.runtime.transact(&mut |transaction| {
            transaction.put(&key, &position);
            Decision::Commit
        })?;
        ticket.wait()?;
        self.kept = self.next;
        Ok(())
    }

    /// Goes back to what was kept last.
    pub fn back(&mut self) {
        self.next = self.kept;
    }

    /// Rung by others to end a wait.
    pub fn bell(&self) -> Arc<Bell> {
        Arc::clone(&self.bell)
    }

    /// Sleeps until something new is durable, the bell rings, or the time is over.
    pub fn wait(&self, at_most: Duration) {
        let Some(local) = self.runtime.store.local() else {
            // elsewhere nobody calls back
            return self.rest(at_most.min(LOOK_AGAIN));
        };
        let enlist = {
            let mut state = self.bell.lock();
            !std::mem::replace(&mut state.enlisted, true)
        };
        if enlist {
            let bell = Arc::clone(&self.bell);
            let callback = Box::new(move |_: store::Result<()>| {
                bell.lock().enlisted = false;
                bell.ring();
            });
            local.on_durable(self.next.position() + 1, callback);
        }
        self.rest(at_most);
    }

    /// Sleeps until the time is over or the bell rings, whatever is new.
    pub fn rest(&self, at_most: Duration) {
        let surroundings = &self.runtime.settings.surroundings;
        surroundings.wait(pin!(self.bell.rung()), Some(at_most));
        self.bell.lock().rung = false;
    }

    pub fn runtime(&self) -> &Arc<Runtime> {
        &self.runtime
    }
}

fn follower_key(runtime: &Runtime, name: &str) -> Vec<u8> {
    FollowerKey { design: runtime.schema.number, name }.to_bytes()
}

fn read_position(key: &[u8], bytes: &[u8]) -> Result<Cursor, ReadError> {
    let position: [u8; 12] =
        bytes.try_into().map_err(|_| ReadError::value(key, Wrong::EndsEarly))?;
    Ok(Cursor::from_bytes(position))
}
