//! The newest state, and the batch that is on its way to the log. One lock guards it all.

use std::collections::BTreeMap;
use std::sync::Arc;

use store::{Decision, Error, Result, Transaction};

use crate::encoding::LENGTH_BYTES;
use crate::frame::{FRAME_BYTES, LastFrame, Layout, SECTOR_BYTES};
use crate::map::{Map, Place};
use crate::options::Options;
use crate::segment::{START_BYTES, Segment};
use crate::transaction::{EmbeddedTransaction, Read, Written};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    Open,
    /// Takes nothing more and writes what it has.
    Closing,
    Closed,
    /// A write or sync failed: what is durable is known only after a restart.
    Poisoned(String),
}

#[derive(Debug)]
pub struct Core {
    pub map: Map,
    /// Of the newest commit, durable or not.
    pub position: u64,
    pub phase: Phase,
    batch: Batch,
    /// A buffer that the committer gave back.
    spare: Vec<u8>,
    writes: Vec<Written>,
    /// Where the next batch goes.
    pub segment: Arc<Segment>,
    pub offset: u64,
    /// Where the log goes on when that is full.
    pub next: Option<Arc<Segment>>,
    /// Why there is none, when the disk has no room for it.
    pub full: Option<String>,
    /// The committer sleeps, and must be woken when the batch has so many commits.
    pub committer_waits: bool,
    pub commits_wanted: u32,
    /// Something was written since the last seal.
    pub unsealed: bool,
    /// As it was when the store was opened.
    pub last_frame: LastFrame,
    /// Bytes of frames since the store was opened, and since the last snapshot began.
    pub log_bytes: u64,
}

/// Commits in the layout of a frame whose head is still free.
#[derive(Debug, Default)]
pub struct Batch {
    pub bytes: Vec<u8>,
    /// Only so much is committed; behind it a transaction may have left something.
    end: usize,
    pub first: u64,
    pub count: u32,
}

impl Batch {
    fn with_buffer(mut bytes: Vec<u8>) -> Self {
        bytes.clear();
        bytes.resize(FRAME_BYTES, 0);
        Batch { bytes, end: FRAME_BYTES, first: 0, count: 0 }
    }

    /// The position of its last commit.
    pub fn last(&self) -> u64 {
        self.first + u64::from(self.count) - 1
    }
}

/// A batch and where it goes.
pub struct Taken {
    pub batch: Batch,
    pub segment: Arc<Segment>,
    pub offset: u64,
    /// It is the first of its segment.
    pub begins_segment: bool,
}

impl Core {
    pub fn new(map: Map, position: u64, segment: Arc<Segment>, offset: u64) -> Self {
        Core {
            map,
            position,
            phase: Phase::Open,
            batch: Batch::with_buffer(Vec::new()),
            spare: Vec::new(),
            writes: Vec::new(),
            segment,
            offset,
            next: None,
            full: None,
            committer_waits: false,
            commits_wanted: 1,
            unsealed: false,
            last_frame: LastFrame::default(),
            log_bytes: 0,
        }
    }

    pub fn is_open(&self) -> Result<()> {
        match &self.phase {
            Phase::Open => Ok(()),
            Phase::Closing | Phase::Closed => Err(Error::Closed),
            Phase::Poisoned(why) => Err(Error::Poisoned(why.clone())),
        }
    }

    pub fn has_batch(&self) -> bool {
        self.batch.count > 0
    }

    /// How many commits wait to be written.
    pub fn commits(&self) -> u32 {
        self.batch.count
    }

    /// No more may be added before the committer has taken what there is.
    pub fn is_crowded(&self, options: &Options) -> bool {
        self.batch.end as u64 > options.pending_bytes_max
    }

    /// Whatever commit comes next, the log has room for it.
    pub fn has_room(&self, options: &Options) -> bool {
        let need = self.batch.end as u64 + options.encoded_bytes_max() + SECTOR_BYTES as u64;
        self.next.is_some() || self.room() >= need
    }

    fn room(&self) -> u64 {
        self.segment.bytes.saturating_sub(self.offset)
    }

    /// Whether a commit may be added; if not, why.
    pub fn room_for_commit(&self, options: &Options) -> Result<()> {
        let has_room = self.has_room(options);
        match &self.full {
            Some(why) if !has_room => Err(Error::Full(why.clone())),
            _ if !has_room || self.is_crowded(options) => Err(Error::Busy),
            _ => Ok(()),
        }
    }

    /// Runs one transaction, which most likely reads records at the expected places. Answers with the
    /// position of what it saw or wrote.
    pub fn transact(
        &mut self,
        options: &Options,
        room: Result<()>,
        expected: &[Option<Place>],
        run: &mut dyn FnMut(&mut dyn Transaction) -> Decision,
    ) -> Result<u64> {
        let start = self.batch.end;
        let buffer = &mut self.batch.bytes;
        buffer.truncate(start);
        buffer.extend_from_slice(&[0; LENGTH_BYTES]);
        self.writes.clear();
        let position = self.position + 1;
        let mut transaction = EmbeddedTransaction {
            map: &self.map,
            batch: buffer,
            writes: &mut self.writes,
            index: BTreeMap::new(),
            read: Read::default(),
            expected,
            position,
            fed: false,
            bytes: 0,
            oversized: None,
        };
        let decision = run(&mut transaction);
        let EmbeddedTransaction { fed, bytes, oversized, .. } = transaction;
        if decision == Decision::Abandon || self.writes.is_empty() && !fed {
            return Ok(self.position);
        }
        room?;
        oversized.map_or(Ok(()), Err)?;
        let within = |what, bytes, bytes_max| {
            if bytes <= bytes_max {
                Ok(())
            } else {
                Err(Error::TooLarge { what, bytes, bytes_max })
            }
        };
        within("commit", bytes, options.commit_bytes_max)?;
        let encoded = self.batch.bytes.len() - start;
        within("commit as it is written", encoded as u64, options.encoded_bytes_max())?;
        let length = (encoded - LENGTH_BYTES) as u32;
        self.batch.bytes[start..start + LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
        for written in &self.writes {
            let key = &self.batch.bytes[written.key.clone()];
            let value = written.value.clone().map(|value| &self.batch.bytes[value]);
            // An earlier write of this commit may have moved it.
            let place = written.place.filter(|place| self.map.holds(*place, key));
            match (value, place) {
                (Some(value), Some(place)) => self.map.put_at(place, position, value),
                (Some(value), None) => self.map.put(key, position, value),
                (None, _) => self.map.delete(key),
            }
        }
        if self.batch.count == 0 {
            self.batch.first = position;
        }
        self.batch.count += 1;
        self.batch.end = self.batch.bytes.len();
        self.position = position;
        Ok(position)
    }

    /// Hands the batch to the committer and begins the next.
    pub fn take(&mut self) -> Taken {
        let fresh = Batch::with_buffer(std::mem::take(&mut self.spare));
        let mut batch = std::mem::replace(&mut self.batch, fresh);
        batch.bytes.truncate(batch.end);
        let bytes = Layout::Sectors.padded(batch.bytes.len()) as u64;
        let begins_segment = self.room() < bytes;
        if begins_segment {
            // `has_room` was asked before each commit of this batch.
            self.segment = self.next.take().expect("a batch was taken without room for it");
            self.offset = START_BYTES;
        }
        let taken = Taken {
            batch,
            segment: Arc::clone(&self.segment),
            offset: self.offset,
            begins_segment,
        };
        self.offset += bytes;
        self.log_bytes += bytes;
        self.unsealed = true;
        taken
    }

    pub fn give_back(&mut self, buffer: Vec<u8>) {
        self.spare = buffer;
    }
}
