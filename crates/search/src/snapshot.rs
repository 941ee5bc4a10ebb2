//! An index as it was at one commit.

use std::collections::HashMap;
use std::sync::Arc;

use runtime::{TextAsked, TextFound, TextHit, TextShape, TextSnapshot, TextTrouble};
use tantivy::{DocAddress, Searcher, TantivyDocument};

use crate::hits::{Hit, Hits, SegmentHits, keys_of};
use crate::schema::Fields;
use crate::statistics::{Statistics, TotalsKept};
use crate::{marks, place, plan, query, trouble};

/// Values of one facet that are told, those that most hits have.
const VALUES_MAX: usize = 100;

pub struct Snapshot {
    pub searcher: Searcher,
    pub cursor: String,
    pub shape: Arc<TextShape>,
    pub fields: Arc<Fields>,
    pub totals: Arc<TotalsKept>,
}

impl TextSnapshot for Snapshot {
    fn cursor(&self) -> &str {
        &self.cursor
    }

    fn find(&self, asked: &TextAsked<'_>) -> Result<TextFound, TextTrouble> {
        let clauses = query::parse(asked.words, &self.shape.texts).map_err(TextTrouble::Words)?;
        let terms = plan::counted(&clauses, &self.fields);
        let texts = self.fields.texts.len();
        let (after, kept) = match asked.after {
            None => (None, None),
            Some(after) => {
                let read = place::read(after, texts, terms.len(), asked.alone);
                let (place, kept) = read.ok_or(TextTrouble::Place)?;
                (Some(place), kept)
            }
        };
        let statistics = match kept {
            Some(kept) => kept,
            None if asked.alone => Statistics::alone(&self.fields, &terms),
            None => {
                let of = (&self.searcher, &*self.fields, asked.group, &terms[..]);
                let counted = Statistics::of_group(of.0, of.1, of.2, of.3, &self.totals);
                counted.map_err(trouble::of)?
            }
        };
        let query = plan::plan(&clauses, &self.fields, asked.group);
        let hits = Hits { after, limit: asked.limit, facets: asked.facets.to_vec() };
        let known = statistics.for_terms(&self.fields, &terms);
        let found = self.searcher.search_with_statistics_provider(&*query, &hits, &known);
        let kept = (!asked.alone).then_some(&statistics);
        self.put_together(found.map_err(trouble::of)?, asked, kept).map_err(trouble::of)
    }

    fn marked(&self, words: &str, at: usize, text: &str) -> Result<Option<String>, TextTrouble> {
        let clauses = query::parse(words, &self.shape.texts).map_err(TextTrouble::Words)?;
        Ok(marks::marked(&clauses, at, text))
    }
}

impl Snapshot {
    /// The best hits of all segments, with their keys and truth.
    fn put_together(
        &self,
        mut segments: Vec<SegmentHits>,
        asked: &TextAsked<'_>,
        statistics: Option<&Statistics>,
    ) -> tantivy::Result<TextFound> {
        let total = segments.iter().map(|segment| segment.total).sum();
        let behind: u64 = segments.iter().map(|segment| segment.behind).sum();
        let facets = (0..asked.facets.len()).map(|at| most_common(&mut segments, at)).collect();
        let mut best: Vec<Hit> = segments.into_iter().flat_map(|segment| segment.best).collect();
        best.sort_by(|one, other| other.score.total_cmp(&one.score));
        // keys are read only of those that may be shown: behind the last one, of equal scores
        if let Some(last) = asked.limit.checked_sub(1).and_then(|last| best.get(last)) {
            let worst = last.score;
            best.retain(|hit| hit.score >= worst);
        }
        let mut keys = Vec::new();
        for reader in self.searcher.segment_readers() {
            keys.push(keys_of(reader)?);
        }
        let mut named: Vec<(Hit, Vec<u8>)> = Vec::new();
        for hit in best {
            let mut key = Vec::new();
            keys[hit.segment as usize].ord_to_bytes(hit.ordinal, &mut key)?;
            named.push((hit, key));
        }
        named.sort_by(|(one, key), (other, than)| {
            other.score.total_cmp(&one.score).then_with(|| key.cmp(than))
        });
        named.truncate(asked.limit);
        let more = behind > named.len() as u64;
        let mut hits = Vec::new();
        for (hit, key) in named {
            let document: TantivyDocument =
                self.searcher.doc(DocAddress::new(hit.segment, hit.doc))?;
            let truth = self.fields.truth_of(&document).ok_or_else(|| {
                tantivy::TantivyError::InternalError("a record without its truth".into())
            })?;
            let place = place::write(hit.score, &key, statistics);
            hits.push(TextHit { key, truth, score: hit.score, place });
        }
        Ok(TextFound { hits, more, total, facets })
    }
}

/// The values of a facet that most hits have, then by value.
fn most_common(segments: &mut [SegmentHits], at: usize) -> Vec<(String, u64)> {
    let mut counts: HashMap<String, u64> = HashMap::new();
    for segment in segments {
        for (value, count) in std::mem::take(&mut segment.facets[at]) {
            *counts.entry(value).or_default() += count;
        }
    }
    let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
    counts.sort_by(|(one, count), (other, than)| than.cmp(count).then_with(|| one.cmp(other)));
    counts.truncate(VALUES_MAX);
    counts
}
