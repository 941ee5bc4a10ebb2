//! Reads: gathered as commits are, so that many of them are one statement, and of one moment.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use store::{Error, Key, Record, Version};
use tokio::sync::{Notify, Semaphore, oneshot};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::pool::Pool;

/// Statements under way at the same time.
const LANES: usize = 2;
/// Keys of one statement, but for a single read that has more.
const KEYS_MAX: usize = 4_096;

/// The records, in the order of the keys, and the head at that moment.
pub type Found = (Vec<Option<Record>>, u64);

struct Asked {
    keys: Vec<Key>,
    answer: oneshot::Sender<Result<Found, Error>>,
}

pub struct Reader {
    queue: Mutex<Vec<Asked>>,
    news: Notify,
    lanes: Arc<Semaphore>,
    pool: Arc<Pool>,
    statement: String,
}

impl Reader {
    pub fn new(pool: Arc<Pool>, statement: String) -> Self {
        let lanes = Arc::new(Semaphore::new(LANES));
        Reader { queue: Mutex::default(), news: Notify::new(), lanes, pool, statement }
    }

    fn queue(&self) -> MutexGuard<'_, Vec<Asked>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub async fn read(&self, keys: Vec<Key>) -> Result<Found, Error> {
        let (answer, answered) = oneshot::channel();
        self.queue().push(Asked { keys, answer });
        self.news.notify_one();
        answered.await.unwrap_or(Err(Error::Closed))
    }

    /// Sends what was asked, for as long as the store is open.
    pub async fn run(self: Arc<Self>) {
        loop {
            let Ok(lane) = Arc::clone(&self.lanes).acquire_owned().await else { return };
            let asked = loop {
                let asked = self.gather();
                if !asked.is_empty() {
                    break asked;
                }
                self.news.notified().await;
            };
            let reader = Arc::clone(&self);
            tokio::spawn(async move {
                reader.send(asked).await;
                drop(lane);
            });
        }
    }

    fn gather(&self) -> Vec<Asked> {
        let mut queue = self.queue();
        let mut keys = 0;
        let fits = |asked: &Asked| {
            keys += asked.keys.len();
            keys <= KEYS_MAX
        };
        let count = queue.iter().map(fits).take_while(|fits| *fits).count();
        let count = count.max(1).min(queue.len());
        queue.drain(..count).collect()
    }

    async fn send(&self, asked: Vec<Asked>) {
        let mut keys: Vec<&[u8]> =
            asked.iter().flat_map(|it| it.keys.iter().map(|key| &**key)).collect();
        keys.sort_unstable();
        keys.dedup();
        let answer = self.pool.ask(&self.statement, &[(&keys, Type::BYTEA_ARRAY)]).await;
        let answer = answer.and_then(|rows| {
            let (records, head) = records(&rows)?;
            Ok((records.into_iter().collect::<HashMap<Key, Record>>(), head))
        });
        for Asked { keys, answer: waits } in asked {
            let found = answer.as_ref().map_err(Error::clone).map(|(records, head)| {
                (keys.iter().map(|key| records.get(key).cloned()).collect(), *head)
            });
            let _ = waits.send(found);
        }
    }
}

/// The records of a statement, and the head at its moment.
pub fn records(rows: &[Row]) -> Result<(Vec<(Key, Record)>, u64), Error> {
    let (mut head, mut records) = (None, Vec::with_capacity(rows.len().saturating_sub(1)));
    for row in rows {
        match read(row).map_err(|error| Error::Damaged(error.to_string()))? {
            Said::Head(position) => head = head.or(Some(position)),
            Said::Record(key, record) => records.push((key, record)),
        }
    }
    let head = head.and_then(|head| u64::try_from(head).ok());
    let head = head.ok_or_else(|| Error::Damaged("the table `head` has no row".into()))?;
    Ok((records, head))
}

/// What a row says.
enum Said {
    Head(i64),
    Record(Key, Record),
}

fn read(row: &Row) -> Result<Said, tokio_postgres::Error> {
    if let Some(position) = row.try_get::<_, Option<i64>>(0)? {
        return Ok(Said::Head(position));
    }
    let version = Version(row.try_get::<_, i64>(2)? as u64);
    let value = Bytes::copy_from_slice(row.try_get::<_, &[u8]>(3)?);
    Ok(Said::Record(Key::from(row.try_get::<_, &[u8]>(1)?), Record { version, value }))
}
