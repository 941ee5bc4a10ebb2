//! The best hits of a segment, and all hits counted.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};
use std::ops::Bound;

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::{BytesColumn, Column, StrColumn};
use tantivy::{DocId, Score, SegmentOrdinal, SegmentReader};

use crate::place::Place;
use crate::schema::{KEY, facet_name};

/// What is looked for among all hits.
pub struct Hits {
    pub after: Option<Place>,
    pub limit: usize,
    /// attributes that all hits are counted by
    pub facets: Vec<usize>,
}

/// A hit: higher scores are better, then lower keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    pub score: Score,
    /// the place of its key among those of its segment
    pub ordinal: u64,
    pub doc: DocId,
    pub segment: SegmentOrdinal,
}

impl Eq for Hit {}

impl PartialOrd for Hit {
    fn partial_cmp(&self, other: &Hit) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The greatest is the worst, so that a heap gives it first.
impl Ord for Hit {
    fn cmp(&self, other: &Hit) -> Ordering {
        other.score.total_cmp(&self.score).then(self.ordinal.cmp(&other.ordinal))
    }
}

/// Of one segment.
#[derive(Debug, Default)]
pub struct SegmentHits {
    /// the best behind the place, in any order
    pub best: Vec<Hit>,
    /// how many are behind the place
    pub behind: u64,
    pub total: u64,
    /// by facet: values and counts
    pub facets: Vec<HashMap<String, u64>>,
}

pub struct InSegment {
    segment: SegmentOrdinal,
    limit: usize,
    keys: Column<u64>,
    /// the score of the place, and the first key of this segment behind it
    after: Option<(Score, u64)>,
    best: BinaryHeap<Hit>,
    behind: u64,
    total: u64,
    facets: Vec<(Option<StrColumn>, HashMap<u64, u64>)>,
}

pub fn keys_of(reader: &SegmentReader) -> tantivy::Result<BytesColumn> {
    let keys = reader.fast_fields().bytes(KEY)?;
    Ok(keys.unwrap_or_else(|| BytesColumn::empty(reader.max_doc())))
}

impl Collector for Hits {
    type Fruit = Vec<SegmentHits>;
    type Child = InSegment;

    fn for_segment(
        &self,
        segment: SegmentOrdinal,
        reader: &SegmentReader,
    ) -> tantivy::Result<InSegment> {
        let keys = keys_of(reader)?;
        let after = match &self.after {
            None => None,
            Some(place) => {
                let behind = (Bound::Excluded(&place.key), Bound::Unbounded);
                let first = match keys.dictionary().term_bounds_to_ord(behind.0, behind.1)?.0 {
                    Bound::Included(first) => first,
                    Bound::Excluded(last) => last + 1,
                    Bound::Unbounded => 0,
                };
                Some((place.score, first))
            }
        };
        let mut facets = Vec::new();
        for at in &self.facets {
            facets.push((reader.fast_fields().str(&facet_name(*at))?, HashMap::new()));
        }
        Ok(InSegment {
            segment,
            limit: self.limit,
            keys: keys.ords().clone(),
            after,
            best: BinaryHeap::new(),
            behind: 0,
            total: 0,
            facets,
        })
    }

    fn requires_scoring(&self) -> bool {
        true
    }

    fn merge_fruits(
        &self,
        found: Vec<tantivy::Result<SegmentHits>>,
    ) -> tantivy::Result<Vec<SegmentHits>> {
        found.into_iter().collect()
    }
}

impl SegmentCollector for InSegment {
    type Fruit = tantivy::Result<SegmentHits>;

    fn collect(&mut self, doc: DocId, score: Score) {
        self.total += 1;
        for (column, counts) in &mut self.facets {
            if let Some(value) = column.as_ref().and_then(|column| column.ords().first(doc)) {
                *counts.entry(value).or_default() += 1;
            }
        }
        // most hits of a common word are no better than those that are known already
        let is_full = self.best.len() >= self.limit;
        let worst = self.best.peek().map_or(Score::NEG_INFINITY, |worst| worst.score);
        let before = |(limit, _): &(Score, u64)| score > *limit;
        if self.after.as_ref().is_some_and(before) {
            return;
        }
        let ties = self.after.is_some_and(|(limit, _)| score == limit);
        if !ties && is_full && score < worst {
            self.behind += 1;
            return;
        }
        let ordinal = self.keys.first(doc).expect("every record has a key");
        if ties && self.after.is_some_and(|(_, first)| ordinal < first) {
            return;
        }
        self.behind += 1;
        let hit = Hit { score, ordinal, doc, segment: self.segment };
        if !is_full {
            self.best.push(hit);
        } else if self.best.peek().is_some_and(|worst| hit < *worst) {
            self.best.pop();
            self.best.push(hit);
        }
    }

    fn harvest(self) -> tantivy::Result<SegmentHits> {
        let mut facets = Vec::new();
        for (column, counts) in self.facets {
            let mut named = HashMap::new();
            for (ordinal, count) in counts {
                let mut value = String::new();
                column.as_ref().expect("it was counted").ord_to_str(ordinal, &mut value)?;
                named.insert(value, count);
            }
            facets.push(named);
        }
        let (behind, total) = (self.behind, self.total);
        Ok(SegmentHits { best: self.best.into_vec(), behind, total, facets })
    }
}
