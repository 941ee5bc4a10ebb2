//! When the repairs of copied records are due.

use std::cell::RefCell;
use std::ops::ControlFlow;

use engine::{Need, Scratch, Word};
use layout::{Damaged, Head, Pool, Reader, RecordKey, Space, Wrong, put_head, take_head};
use store::{Key, KeyRange, Transaction};

use crate::calls::{fetch, reindex};
use crate::core::{Loaded, Newest, Plan, ReadError, Schema, apply};
use crate::logs;
use crate::repairs::DueTimes;

pub struct Dues<'s> {
    schema: &'s Schema,
    now: Word,
    pool: RefCell<Pool>,
    scratch: Scratch,
}

impl<'s> Dues<'s> {
    pub fn new(schema: &'s Schema, now: Word) -> Dues<'s> {
        let pool = RefCell::new(Pool::new(schema.program.texts()));
        Dues { schema, now, pool, scratch: Scratch::default() }
    }

    /// The next records. False: there are none.
    pub fn some(
        &mut self,
        after: &mut Option<Vec<u8>>,
        most: usize,
        transaction: &mut dyn Transaction,
    ) -> Result<bool, ReadError> {
        let mut range = KeyRange::prefix(Space::Record.prefix(self.schema.number).to_vec());
        if let Some(after) = after {
            range.start = Key::new(after.clone()).next();
        }
        let mut found = Vec::new();
        transaction.scan(&range, false, &mut |key, _, _| {
            found.push(key.to_vec());
            if found.len() >= most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        for key in &found {
            self.one(key, transaction)?;
        }
        *after = found.pop();
        Ok(after.is_some())
    }

    /// One record that has no due times yet.
    pub fn one(&mut self, key: &[u8], transaction: &mut dyn Transaction) -> Result<(), ReadError> {
        let schema = self.schema;
        let record_key = RecordKey::parse(key)?;
        let subject = record_key.subject;
        let known = schema.subjects.get(subject.index());
        let known = known.ok_or_else(|| Damaged::key(key, Wrong::UnknownSubject))?;
        if known.repairs.is_empty() && known.aged.is_empty() {
            return Ok(());
        }
        let mut plan = Plan::default();
        {
            self.pool.borrow_mut().reset();
            let record = schema.codec().handle(record_key, &mut self.pool.borrow_mut())?;
            let source = Newest(&*transaction, schema.number);
            let mut loaded = Loaded::new(&self.pool);
            let mut words = Vec::new();
            let own = [Need::Record { subject, key: record }];
            fetch(schema, &mut loaded, &own, &source, &mut words)?;
            let mut due = match loaded.find(subject, record).and_then(|at| loaded.words(at)) {
                Some(words) => logs::dues_anew(schema, subject, words, record_key, &source)?,
                None => Vec::new(),
            };
            let due_times = DueTimes { schema, source: &source, now: self.now, ran: None };
            let (place, scratch) = ((subject, record), &mut self.scratch);
            if !due_times.repairs(&mut loaded, place, scratch, &mut words, &mut due)? {
                return Err(ReadError::NotFetched);
            }
            if due.is_empty() {
                return Ok(());
            }
            let Some((_, bytes)) = transaction.get(key) else {
                return Err(ReadError::absent(transaction, key));
            };
            let mut reader = Reader::new(bytes);
            let head = take_head(&mut reader);
            let before = head.map_err(|wrong| ReadError::value(key, wrong))?;
            let after = Head { written_at: before.written_at, due };
            let mut value = Vec::new();
            put_head(&mut value, &after);
            value.extend_from_slice(reader.rest());
            reindex(&before, &after, record_key, None, &mut plan);
            plan.put(key, &value);
        }
        apply(&plan, transaction);
        Ok(())
    }

    /// Takes the due times of a record out of the index.
    pub fn forget(
        &mut self,
        key: RecordKey<'_>,
        value: &[u8],
        transaction: &mut dyn Transaction,
    ) -> Result<(), ReadError> {
        let head = take_head(&mut Reader::new(value));
        let before = head.map_err(|wrong| ReadError::value(&key.to_bytes(), wrong))?;
        let mut plan = Plan::default();
        reindex(&before, &Head::default(), key, None, &mut plan);
        apply(&plan, transaction);
        Ok(())
    }
}
