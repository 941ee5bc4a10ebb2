//! Whether two entries of the feed say the same.

use design::model::Type;
use layout::feed::{ChangedBytes, of_any};
use layout::{FeedEntry, Pool, Reader, RecordKey, Wrong, take_head, value};

use crate::core::Schema;

impl Schema {
    /// Does what the design comes to say the same as what is recorded? Versions up to 0.1 stored sets in the order of the
    /// handles of one call, so the same set may stand there in another order.
    pub(super) fn says_the_same(&self, planned: &[u8], recorded: &[u8]) -> bool {
        let Some(planned) = of_any(planned) else { return false };
        planned == recorded || self.tidied(planned).is_ok_and(|it| self.tidied(recorded) == Ok(it))
    }

    /// Is this the same truth, of two records that are stored under one key?
    pub(super) fn same_truth(&self, key: &[u8], one: &[u8], other: &[u8]) -> bool {
        let truth = |value| {
            let mut reader = Reader::new(value);
            take_head(&mut reader).ok().map(|_| reader.rest())
        };
        let (Some(one), Some(other)) = (truth(one), truth(other)) else { return false };
        let Ok(RecordKey { subject, .. }) = RecordKey::parse(key) else { return false };
        let mut pool = Pool::new(self.program.texts());
        let mut tidied = |truth| -> Result<Vec<u8>, Wrong> {
            let (mut words, mut out) = (Vec::new(), Vec::new());
            self.codec().take_truth(truth, subject, &mut pool, &mut words)?;
            self.codec().put_truth(&mut out, subject, &words, &pool);
            Ok(out)
        };
        one == other || tidied(one).is_ok_and(|one| tidied(other) == Ok(one))
    }

    /// Everything that an entry says, with sets in the order in which they are stored now.
    fn tidied(&self, bytes: &[u8]) -> Result<Vec<u8>, Wrong> {
        let entry = FeedEntry::parse(bytes)?;
        let mut pool = Pool::new(self.program.texts());
        let mut said =
            format!("{:?} {:?} {}", entry.trace, entry.operation, entry.now).into_bytes();
        said.extend_from_slice(entry.principal);
        for ChangedBytes { subject, key, truth } in entry.changes {
            said.extend_from_slice(format!("{subject:?} {key:?} {}", truth.is_some()).as_bytes());
            if let Some(truth) = truth {
                let mut words = Vec::new();
                self.codec().take_truth(truth, subject, &mut pool, &mut words)?;
                self.codec().put_truth(&mut said, subject, &words, &pool);
            }
        }
        for (event, bytes) in entry.events {
            said.extend_from_slice(format!("{event:?}").as_bytes());
            let declared = self.design.events.get(event.index()).ok_or(Wrong::UnknownChoice)?;
            let mut reader = Reader::new(bytes);
            for (_, ty) in &declared.fields {
                self.tidy(&mut reader, ty, &mut pool, &mut said)?;
            }
            said.extend_from_slice(reader.rest());
        }
        Ok(said)
    }

    fn tidy(
        &self,
        reader: &mut Reader<'_>,
        ty: &Type,
        pool: &mut Pool,
        said: &mut Vec<u8>,
    ) -> Result<(), Wrong> {
        let mut words = Vec::new();
        value::take(reader, &self.design, ty, pool, &mut words)?;
        value::put(said, &self.design, ty, &words, pool);
        Ok(())
    }
}
