//! One index: opened, changed, committed, discarded.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};

use runtime::{TextChanges, TextIndex, TextRecord, TextShape, TextSnapshot, TextTrouble};
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::{IndexReader, IndexWriter, ReloadPolicy};

use crate::schema::Fields;
use crate::snapshot::Snapshot;
use crate::statistics::TotalsKept;
use crate::trouble;

/// What is collected in memory before it becomes a segment.
const WRITER_BYTES: usize = 32 << 20;
/// A segment is merged once so much of it is deleted.
const DELETED_SHARE_MAX: f32 = 0.3;

pub struct TantivyIndex {
    shape: Arc<TextShape>,
    fields: Arc<Fields>,
    totals: Arc<TotalsKept>,
    /// none: in memory
    directory: Option<PathBuf>,
    /// held by whoever changes it
    kept: Mutex<Kept>,
    /// the last commit
    last: RwLock<Option<Arc<Snapshot>>>,
}

struct Kept {
    /// none: it could not be made, and is tried again
    open: Option<Open>,
}

struct Open {
    index: tantivy::Index,
    reader: IndexReader,
    /// made when something is changed first
    writer: Option<IndexWriter>,
    /// the payload of the last commit
    cursor: Option<String>,
}

impl fmt::Debug for TantivyIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the index of {}", self.shape.name)
    }
}

impl TantivyIndex {
    /// As it was left. What cannot be used is taken away, and an empty one made.
    pub fn open(
        shape: &TextShape,
        directory: Option<PathBuf>,
    ) -> Result<TantivyIndex, TextTrouble> {
        let fields = Arc::new(Fields::of(shape));
        let index = TantivyIndex {
            shape: Arc::new(shape.clone()),
            fields,
            totals: Arc::default(),
            directory,
            kept: Mutex::new(Kept { open: None }),
            last: RwLock::default(),
        };
        let found = match &index.directory {
            Some(path) if path.join("meta.json").exists() => index.found(path),
            _ => index.made(),
        };
        let open = match found {
            Err(TextTrouble::Damaged(how)) => {
                let view = &shape.name;
                tracing::error!(%view, %how, "a search index cannot be used, and is made anew");
                index.made()?
            }
            found => found?,
        };
        index.publish(&open)?;
        index.lock().open = Some(open);
        Ok(index)
    }

    /// What is in the directory, if all of it is as it was written.
    fn found(&self, path: &Path) -> Result<Open, TextTrouble> {
        let index = tantivy::Index::open_in_dir(path).map_err(trouble::of)?;
        if index.schema() != self.fields.schema {
            return Err(TextTrouble::Damaged("it has other fields".into()));
        }
        let wrong = index.validate_checksum().map_err(trouble::of)?;
        if let Some(file) = wrong.iter().next() {
            let message = format!("`{}` is not as it was written", file.display());
            return Err(TextTrouble::Damaged(message));
        }
        self.ready(index)
    }

    /// An empty one, in the place of whatever is there.
    fn made(&self) -> Result<Open, TextTrouble> {
        let index = match &self.directory {
            None => tantivy::Index::create_in_ram(self.fields.schema.clone()),
            Some(path) => {
                if path.exists() {
                    std::fs::remove_dir_all(path).map_err(cannot_write)?;
                }
                std::fs::create_dir_all(path).map_err(cannot_write)?;
                let made = tantivy::Index::create_in_dir(path, self.fields.schema.clone());
                made.map_err(trouble::of)?
            }
        };
        self.ready(index)
    }

    fn ready(&self, index: tantivy::Index) -> Result<Open, TextTrouble> {
        self.fields.prepare(&index);
        let cursor = match index.load_metas().map_err(trouble::of)?.payload {
            None => None,
            Some(payload) => {
                let wrong = || TextTrouble::Damaged(format!("`{payload}` is no place in a feed"));
                Some(unsealed(&payload).ok_or_else(wrong)?)
            }
        };
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into();
        let reader: IndexReader = reader.map_err(trouble::of)?;
        self.fields.examine(&reader.searcher())?;
        Ok(Open { index, reader, writer: None, cursor })
    }

    /// Readers see the last commit from now on.
    fn publish(&self, open: &Open) -> Result<(), TextTrouble> {
        let searcher = open.reader.searcher();
        self.totals.keep_only(&searcher);
        let snapshot = open.cursor.clone().map(|cursor| {
            Arc::new(Snapshot {
                searcher,
                cursor,
                shape: Arc::clone(&self.shape),
                fields: Arc::clone(&self.fields),
                totals: Arc::clone(&self.totals),
            })
        });
        *self.last.write().unwrap_or_else(PoisonError::into_inner) = snapshot;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The list of segments, which holds the cursor, has no checksum of its own: a digit that is another one would be
/// believed, and what it skips never be indexed.
fn sealed(cursor: &str) -> String {
    format!("{cursor}/{:08x}", seal(cursor))
}

fn unsealed(payload: &str) -> Option<String> {
    let (cursor, found) = payload.rsplit_once('/')?;
    (found == format!("{:08x}", seal(cursor))).then(|| cursor.to_string())
}

/// FNV-1a
fn seal(cursor: &str) -> u32 {
    cursor
        .bytes()
        .fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Whatever it was, the disk did not take it.
fn cannot_write(error: std::io::Error) -> TextTrouble {
    TextTrouble::Unavailable(error.to_string())
}

impl TextIndex for TantivyIndex {
    fn snapshot(&self) -> Option<Arc<dyn TextSnapshot>> {
        let last = self.last.read().unwrap_or_else(PoisonError::into_inner).clone();
        last.map(|last| last as Arc<dyn TextSnapshot>)
    }

    fn change(&self, wait: bool) -> Result<Option<Box<dyn TextChanges + '_>>, TextTrouble> {
        let mut kept = match self.kept.try_lock() {
            Ok(kept) => kept,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) if wait => self.lock(),
            Err(TryLockError::WouldBlock) => return Ok(None),
        };
        if kept.open.is_none() {
            kept.open = Some(self.made()?);
        }
        let open = kept.open.as_mut().expect("it was made");
        if open.writer.is_none() {
            let options = IndexWriterOptions::builder()
                .num_worker_threads(1)
                .memory_budget_per_thread(WRITER_BYTES)
                .num_merge_threads(1)
                .build();
            let writer: IndexWriter =
                open.index.writer_with_options(options).map_err(trouble::of)?;
            let mut policy = LogMergePolicy::default();
            policy.set_del_docs_ratio_before_merge(DELETED_SHARE_MAX);
            writer.set_merge_policy(Box::new(policy));
            open.writer = Some(writer);
        }
        Ok(Some(Box::new(Changes { index: self, kept, is_dirty: false })))
    }

    fn discard(&self) -> Result<(), TextTrouble> {
        let mut kept = self.lock();
        *self.last.write().unwrap_or_else(PoisonError::into_inner) = None;
        // its files are let go before they are taken away
        kept.open = None;
        kept.open = Some(self.made()?);
        Ok(())
    }
}

struct Changes<'i> {
    index: &'i TantivyIndex,
    kept: MutexGuard<'i, Kept>,
    /// there is something that was not committed
    is_dirty: bool,
}

impl Changes<'_> {
    fn writer(&mut self) -> &mut IndexWriter {
        self.is_dirty = true;
        let open = self.kept.open.as_mut().expect("whoever changes it has opened it");
        open.writer.as_mut().expect("and made its writer")
    }
}

impl TextChanges for Changes<'_> {
    fn cursor(&self) -> Option<String> {
        self.kept.open.as_ref().and_then(|open| open.cursor.clone())
    }

    fn clear(&mut self) -> Result<(), TextTrouble> {
        let every = self.index.fields.of_every();
        self.writer().delete_term(every);
        Ok(())
    }

    fn add(&mut self, record: &TextRecord<'_>) -> Result<(), TextTrouble> {
        let document = self.index.fields.document(record);
        self.writer().add_document(document).map_err(trouble::of)?;
        Ok(())
    }

    fn put(&mut self, record: &TextRecord<'_>) -> Result<(), TextTrouble> {
        self.remove(record.key)?;
        self.add(record)
    }

    fn remove(&mut self, key: &[u8]) -> Result<(), TextTrouble> {
        let key = self.index.fields.of_key(key);
        self.writer().delete_term(key);
        Ok(())
    }

    fn commit(&mut self, cursor: &str) -> Result<(), TextTrouble> {
        let mut prepared = self.writer().prepare_commit().map_err(trouble::of)?;
        prepared.set_payload(&sealed(cursor));
        prepared.commit().map_err(trouble::of)?;
        self.is_dirty = false;
        let open = self.kept.open.as_mut().expect("it was committed");
        open.reader.reload().map_err(trouble::of)?;
        open.cursor = Some(cursor.to_string());
        self.index.publish(open)
    }
}

impl Drop for Changes<'_> {
    fn drop(&mut self) {
        if !self.is_dirty {
            return;
        }
        let open = self.kept.open.as_mut().expect("it was changed");
        let rolled_back = open.writer.as_mut().map(IndexWriter::rollback);
        // a writer that cannot go back is made anew, which begins at the last commit as well
        if let Some(Err(error)) = rolled_back {
            tracing::warn!(view = %self.index.shape.name, %error, "a search index was not put back");
            open.writer = None;
        }
    }
}
