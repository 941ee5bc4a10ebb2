//! How common words are: what BM25 weighs them by.
//!
//! tantivy would count records that are gone until segments are merged, and records of all groups. Then the order of
//! hits would depend on what was deleted before, and would tell a caller how common a word is in what belongs to
//! others. Here exactly the records of the group count, as they are now.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tantivy::index::SegmentId;
use tantivy::query::{
    Bm25StatisticsProvider, BooleanQuery, EnableScoring, Occur, Query, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, Opstamp, Searcher, SegmentReader, TERMINATED, Term};

use crate::plan::in_group;
use crate::schema::Fields;

/// Totals that are kept; there may be very many groups.
const TOTALS_MAX: usize = 10_000;
/// Where a record is scored alone: as if half of two records had each word, in texts of this many words.
const ALONE_DOCS: u64 = 2;
const ALONE_FREQUENCY: u64 = 1;
const ALONE_TOKENS: u64 = 16 * ALONE_DOCS;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statistics {
    pub docs: u64,
    /// by searched attribute: the words of all records
    pub tokens: Vec<u64>,
    /// in the order of the terms that they were made for
    pub frequencies: Vec<u64>,
}

/// Of one segment and group. It changes only with what is deleted of the segment.
#[derive(Clone, Debug)]
struct Totals {
    docs: u64,
    tokens: Vec<u64>,
}

type TotalsKey = (SegmentId, Option<Opstamp>, Vec<u8>);

/// Totals, so that they are counted once.
#[derive(Debug, Default)]
pub struct TotalsKept(Mutex<HashMap<TotalsKey, Totals>>);

impl TotalsKept {
    /// Segments are gone: what was counted of them is of no use.
    pub fn keep_only(&self, searcher: &Searcher) {
        let living: Vec<_> = searcher.segment_readers().iter().map(version).collect();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(segment, deleted, _), _| living.contains(&(*segment, *deleted)));
    }

    fn of(&self, reader: &SegmentReader, fields: &Fields, group: &[u8]) -> tantivy::Result<Totals> {
        let (segment, deleted) = version(reader);
        let key = (segment, deleted, group.to_vec());
        if let Some(known) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(known.clone());
        }
        let totals = count(reader, fields, group)?;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= TOTALS_MAX {
            kept.clear();
        }
        kept.insert(key, totals.clone());
        Ok(totals)
    }
}

fn version(reader: &SegmentReader) -> (SegmentId, Option<Opstamp>) {
    (reader.segment_id(), reader.delete_opstamp())
}

fn count(reader: &SegmentReader, fields: &Fields, group: &[u8]) -> tantivy::Result<Totals> {
    let mut norms = Vec::new();
    for field in &fields.texts {
        norms.push(reader.get_fieldnorms_reader(*field)?);
    }
    let mut totals = Totals { docs: 0, tokens: vec![0; norms.len()] };
    let mut add = |doc: DocId| {
        totals.docs += 1;
        for (total, norms) in totals.tokens.iter_mut().zip(&norms) {
            *total += u64::from(norms.fieldnorm(doc));
        }
    };
    match in_group(fields, group) {
        None => reader.doc_ids_alive().for_each(&mut add),
        Some(query) => {
            let weight = query.weight(EnableScoring::disabled_from_schema(&fields.schema))?;
            let mut docs = weight.scorer(reader, 1.0)?;
            while docs.doc() != TERMINATED {
                if !reader.is_deleted(docs.doc()) {
                    add(docs.doc());
                }
                docs.advance();
            }
        }
    }
    Ok(totals)
}

impl Statistics {
    /// Of the records of a group.
    pub fn of_group(
        searcher: &Searcher,
        fields: &Fields,
        group: &[u8],
        terms: &[Term],
        kept: &TotalsKept,
    ) -> tantivy::Result<Statistics> {
        let mut found = Statistics {
            docs: 0,
            tokens: vec![0; fields.texts.len()],
            frequencies: vec![0; terms.len()],
        };
        for reader in searcher.segment_readers() {
            let totals = kept.of(reader, fields, group)?;
            found.docs += totals.docs;
            found.tokens.iter_mut().zip(totals.tokens).for_each(|(sum, more)| *sum += more);
            for (frequency, term) in found.frequencies.iter_mut().zip(terms) {
                *frequency += frequency_in(reader, fields, group, term)?;
            }
        }
        Ok(found)
    }

    /// Of a record whose score is made of that record alone.
    pub fn alone(fields: &Fields, terms: &[Term]) -> Statistics {
        Statistics {
            docs: ALONE_DOCS,
            tokens: vec![ALONE_TOKENS; fields.texts.len()],
            frequencies: vec![ALONE_FREQUENCY; terms.len()],
        }
    }

    pub fn for_terms<'a>(&'a self, fields: &'a Fields, terms: &'a [Term]) -> Known<'a> {
        Known { statistics: self, fields, terms }
    }
}

/// How many records of the group in this segment have the word.
fn frequency_in(
    reader: &SegmentReader,
    fields: &Fields,
    group: &[u8],
    term: &Term,
) -> tantivy::Result<u64> {
    if group.is_empty() && !reader.has_deletes() {
        return Ok(reader.inverted_index(term.field())?.doc_freq(term)?.into());
    }
    let word: Box<dyn Query> = Box::new(TermQuery::new(term.clone(), IndexRecordOption::Basic));
    let mut parts = vec![(Occur::Must, word)];
    parts.extend(in_group(fields, group).map(|query| (Occur::Must, query)));
    let both = BooleanQuery::new(parts);
    let weight = both.weight(EnableScoring::disabled_from_schema(&fields.schema))?;
    Ok(weight.count(reader)?.into())
}

/// Statistics as tantivy asks for them.
pub struct Known<'a> {
    statistics: &'a Statistics,
    fields: &'a Fields,
    terms: &'a [Term],
}

impl Bm25StatisticsProvider for Known<'_> {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        let at = self.fields.texts.iter().position(|known| *known == field);
        // an average length of nothing would be divided by
        Ok(at.map_or(0, |at| self.statistics.tokens[at]).max(1))
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.statistics.docs.max(1))
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        let at = self.terms.iter().position(|known| known == term);
        // words that are excluded are asked for, too, and have no part in a score
        Ok(at.map_or(0, |at| self.statistics.frequencies[at]))
    }
}
