//! Commits on their way: gathered while others are under way, and sent as one.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use store::{Commit, Cursor, Error, Key, Partition};
use tokio::sync::{Notify, Semaphore, oneshot, watch};
use tokio_postgres::types::Type;

use crate::failures::Failure;
use crate::group::{Group, Waiting, gather};
use crate::pool::Pool;
use crate::tail::Tail;

/// Groups under way at the same time. With more than one, the second could overtake the first, and commits that expect
/// what the first one writes would fail; it would wait for the head all the same.
pub const LANES: usize = 1;
/// What may wait, in commits and bytes. Whoever comes then is told to slow down.
const WAITING_MAX: usize = 20_000;
const WAITING_BYTES_MAX: u64 = 256 << 20;

struct Sent {
    commit: Commit,
    answer: oneshot::Sender<Result<Cursor, Error>>,
}

impl Waiting for Sent {
    fn commit(&self) -> &Commit {
        &self.commit
    }
}

#[derive(Default)]
struct Queue {
    sent: VecDeque<Sent>,
    bytes: u64,
    closed: bool,
}

pub struct Committer {
    queue: Mutex<Queue>,
    news: Notify,
    lanes: Arc<Semaphore>,
    pool: Pool,
    statement: String,
    tail: Arc<Tail>,
    ended: watch::Sender<bool>,
}

impl Committer {
    pub fn new(pool: Pool, statement: String, tail: Arc<Tail>) -> Self {
        Committer {
            queue: Mutex::default(),
            news: Notify::new(),
            lanes: Arc::new(Semaphore::new(LANES)),
            pool,
            statement,
            tail,
            ended: watch::Sender::new(false),
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub async fn commit(&self, commit: Commit) -> Result<Cursor, Error> {
        let (answer, answered) = oneshot::channel();
        {
            let mut queue = self.queue();
            if queue.closed {
                return Err(Error::Closed);
            }
            let bytes = commit.bytes();
            if queue.sent.len() >= WAITING_MAX || queue.bytes + bytes > WAITING_BYTES_MAX {
                return Err(Error::Busy);
            }
            queue.bytes += bytes;
            queue.sent.push_back(Sent { commit, answer });
        }
        self.news.notify_one();
        let lost = |_| Err(Error::Unknown("the store was dropped meanwhile".into()));
        answered.await.unwrap_or_else(lost)
    }

    /// Sends groups until it is closed and all are answered.
    pub async fn run(self: Arc<Self>) {
        loop {
            let Ok(lane) = Arc::clone(&self.lanes).acquire_owned().await else { break };
            let group = loop {
                let group = {
                    let mut queue = self.queue();
                    let group = gather(&mut queue.sent);
                    let bytes: u64 = group.waiting.iter().map(|sent| sent.commit.bytes()).sum();
                    queue.bytes = queue.bytes.saturating_sub(bytes);
                    if group.waiting.is_empty() && queue.closed { None } else { Some(group) }
                };
                match group {
                    None => break None,
                    Some(group) if !group.waiting.is_empty() => break Some(group),
                    Some(_) => self.news.notified().await,
                }
            };
            let Some(group) = group else { break };
            let committer = Arc::clone(&self);
            tokio::spawn(async move {
                committer.send(group).await;
                drop(lane);
            });
        }
        // the groups that are still under way
        let _all = self.lanes.acquire_many(LANES as u32).await;
        self.pool.close();
        self.ended.send_replace(true);
    }

    /// Takes no more, and waits until all that was taken is answered.
    pub async fn close(&self) {
        self.queue().closed = true;
        self.news.notify_one();
        let _ = self.ended.subscribe().wait_for(|ended| *ended).await;
    }

    async fn send(&self, group: Group<Sent>) {
        let outcome = self.decided(&group).await;
        match outcome {
            Ok(decided) => {
                self.tail.committed(decided.last);
                for (sent, answer) in group.waiting.into_iter().zip(decided.answers) {
                    // whoever does not wait any more will not know
                    let _ = sent.answer.send(answer);
                }
            }
            Err(error) => {
                for sent in group.waiting {
                    let _ = sent.answer.send(Err(error.clone()));
                }
            }
        }
    }

    async fn decided(&self, group: &Group<Sent>) -> Result<Decided, Error> {
        // nothing was sent so far
        let lease = self.pool.lease().await?;
        let arrays = group.arrays();
        let rows = lease
            .query(
                &self.statement,
                &[
                    (&arrays.tokens, Type::UUID_ARRAY),
                    (&arrays.versions, Type::INT8_ARRAY),
                    (&arrays.changes, Type::BOOL_ARRAY),
                    (&arrays.feeds, Type::BYTEA_ARRAY),
                    (&arrays.check_of, Type::INT4_ARRAY),
                    (&arrays.check_key, Type::BYTEA_ARRAY),
                    (&arrays.check_version, Type::INT8_ARRAY),
                    (&arrays.write_of, Type::INT4_ARRAY),
                    (&arrays.write_key, Type::BYTEA_ARRAY),
                    (&arrays.write_value, Type::BYTEA_ARRAY),
                    (&arrays.write_touched, Type::INT4_ARRAY),
                    (&arrays.touched_of, Type::INT4_ARRAY),
                    (&arrays.touched, Type::INT4_ARRAY),
                    (&arrays.touched_writes, Type::BOOL_ARRAY),
                    (&arrays.touched_version, Type::INT8_ARRAY),
                    (&arrays.touched_key, Type::BYTEA_ARRAY),
                ],
            )
            .await
            .map_err(Failure::unknown)?;
        read(&rows, group.waiting.len())
            .ok_or_else(|| Error::Unknown("the answer to a group of commits is not one".into()))
    }
}

struct Decided {
    answers: Vec<Result<Cursor, Error>>,
    /// The head after the group.
    last: u64,
}

fn read(rows: &[tokio_postgres::Row], count: usize) -> Option<Decided> {
    let [row] = rows else { return None };
    let positions: Vec<Option<i64>> = row.try_get(0).ok()?;
    let conflicts: Vec<Option<&[u8]>> = row.try_get(1).ok()?;
    let last = u64::try_from(row.try_get::<_, i64>(2).ok()?).ok()?;
    if positions.len() != count || conflicts.len() != count {
        return None;
    }
    let answers = positions.into_iter().zip(conflicts).map(|decided| match decided {
        (Some(position), _) => Ok(at(position as u64)),
        (None, Some(key)) => Err(Error::Conflict(Key::from(key))),
        (None, None) => Err(Error::Invalid("this commit was given up".into())),
    });
    Some(Decided { answers: answers.collect(), last })
}

/// A position in the only partition.
pub fn at(position: u64) -> Cursor {
    Cursor::at(Partition::default(), position)
}
