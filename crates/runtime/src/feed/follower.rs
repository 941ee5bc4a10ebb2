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
    /// how often it had changed hands when it was taken by this server, where there may be several; none: it was not
    held: Option<u64>,
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
    /// another server follows under this name
    Elsewhere,
}

impl Runtime {
    /// The follower of this name. A new one begins with what happens from now on, and that is
    /// durable when this returns.
    pub fn follower(self: &Arc<Runtime>, name: &str) -> Result<Follower, CallError> {
        let key = follower_key(self, name);
        // where others commit, too, nobody knows before a commit where it will be
        let head = match self.is_shared() {
            true => Some(self.block_on(self.store.head(Partition::default()))?),
            false => None,
        };
        let mut found: Result<Option<Cursor>, ReadError> = Ok(None);
        let ticket = self.transact(&mut |transaction| {
            let own = transaction.position().map(|at| Cursor::at(Partition::default(), at));
            match transaction.get(&key) {
                Some((_, bytes)) => {
                    found = Standing::take(&key, bytes).map(|standing| Some(standing.at));
                    Decision::Abandon
                }
                None => {
                    let here = own.or(head).expect("a store is in this process or has a head");
                    transaction.put(&key, &here.to_bytes());
                    found = Ok(Some(here));
                    Decision::Commit
                }
            }
        })?;
        ticket.wait()?;
        let at = found?.expect("a transaction that is over has looked");
        let bell = Arc::default();
        Ok(Follower {
            runtime: Arc::clone(self),
            name: name.into(),
            next: at,
            kept: at,
            held: None,
            bell,
        })
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
                match read.and_then(|follower| Ok((follower, Standing::take(key, value)?.at))) {
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
    /// The next part of the feed; asked again, it gives what comes after. Of the servers that follow under one name, one
    /// is given it.
    pub fn ahead(&mut self, limit: usize) -> Result<Ahead, CallError> {
        if !self.hold()? {
            return Ok(Ahead::Elsewhere);
        }
        self.part(limit)
    }

    /// Whether this server is the one that follows under this name, which it becomes if nobody else is. It stays so as
    /// long as it lives. To be asked again by whoever takes long over what `ahead` gave.
    pub fn hold(&mut self) -> Result<bool, CallError> {
        let runtime = Arc::clone(&self.runtime);
        if !runtime.is_shared() {
            return Ok(true);
        }
        runtime.attend()?;
        let key = follower_key(&runtime, &self.name);
        let here = self.next;
        let mut found: Result<Option<Standing>, CallError> = Ok(None);
        let ticket = runtime.transact(&mut |transaction| {
            found = Ok(None);
            let now = runtime.now_in(transaction);
            let look = || -> Result<(Option<Standing>, bool), ReadError> {
                let Some((_, bytes)) = transaction.get(&key) else {
                    // it was forgotten: it begins anew where it is
                    let owner = Some((runtime.server(), 1));
                    return Ok((Some(Standing { at: here, owner }), true));
                };
                let mut standing = Standing::take(&key, bytes)?;
                match standing.owner {
                    Some((server, _)) if server == runtime.server() => Ok((Some(standing), false)),
                    Some((server, _)) if runtime.is_alive(server, now, &*transaction)? => {
                        Ok((None, false))
                    }
                    owner => {
                        let times = owner.map_or(0, |(_, times)| times) + 1;
                        standing.owner = Some((runtime.server(), times));
                        Ok((Some(standing), true))
                    }
                }
            };
            match look() {
                Ok((standing, taken)) => {
                    found = Ok(standing);
                    if let Some(standing) = standing.filter(|_| taken) {
                        transaction.put(&key, &standing.to_bytes());
                        return Decision::Commit;
                    }
                }
                Err(error) => found = Err(error.into()),
            }
            Decision::Abandon
        })?;
        ticket.wait()?;
        let held = found?.and_then(|standing| Some((standing.at, standing.owner?.1)));
        if self.held != held.map(|(_, times)| times) {
            // what was done meanwhile, somebody else has done
            self.held = held.map(|(_, times)| times);
            if let Some((at, _)) = held {
                (self.next, self.kept) = (at, at);
            }
        }
        Ok(self.held.is_some())
    }

    fn part(&mut self, limit: usize) -> Result<Ahead, CallError> {
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
            Err(CallError::Damaged(_)) if limit > 1 => self.part(limit / 2),
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
        let (next, held) = (self.next, self.held);
        let mut found: Result<(), ReadError> = Ok(());
        let ticket = self.runtime.transact(&mut |transaction| {
            let stored = transaction.get(&key).map(|(_, bytes)| Standing::take(&key, bytes));
            let standing = match stored.transpose() {
                Ok(standing) => standing.unwrap_or(Standing { at: next, owner: None }),
                Err(error) => {
                    found = Err(error);
                    return Decision::Abandon;
                }
            };
            // somebody else follows now, or is further already: a position only advances
            if standing.owner.map(|(_, times)| times) != held || standing.at > next {
                return Decision::Abandon;
            }
            transaction.put(&key, &Standing { at: next, ..standing }.to_bytes());
            Decision::Commit
        })?;
        ticket.wait()?;
        found?;
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

/// How far a follower is, and who follows.
#[derive(Clone, Copy)]
pub(crate) struct Standing {
    at: Cursor,
    /// the server that follows, and how often that has changed; none: the state is in one process, or nobody has begun
    pub(crate) owner: Option<(u64, u64)>,
}

impl Standing {
    fn to_bytes(self) -> Vec<u8> {
        let mut bytes = self.at.to_bytes().to_vec();
        if let Some((server, times)) = self.owner {
            bytes.extend_from_slice(&server.to_be_bytes());
            bytes.extend_from_slice(&times.to_be_bytes());
        }
        bytes
    }

    pub(crate) fn take(key: &[u8], bytes: &[u8]) -> Result<Standing, ReadError> {
        let wrong = || ReadError::value(key, Wrong::EndsEarly);
        let (at, rest) = bytes.split_first_chunk().ok_or_else(wrong)?;
        let owner = match rest.as_chunks::<8>() {
            ([], []) => None,
            ([server, times], []) => {
                Some((u64::from_be_bytes(*server), u64::from_be_bytes(*times)))
            }
            _ => return Err(wrong()),
        };
        Ok(Standing { at: Cursor::from_bytes(*at), owner })
    }
}
