//! Scores whose sum does not depend on the order of adding.
//!
//! Which word of a query is added first depends on how common the words are within one segment, so the same record may
//! have another score, in the last bit, once segments are merged; a page that begins behind that score would then skip
//! or repeat it. Rounded to a fraction with few enough bits, sums of floats are exact.

use std::fmt;

use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, SegmentReader, Term};

/// Scores are multiples of 1/2048. Up to 2^13 of them, which no query reaches, a float holds each exactly.
const STEPS: Score = 2_048.0;

pub struct Rounded(pub Box<dyn Query>);

impl Clone for Rounded {
    fn clone(&self) -> Rounded {
        Rounded(self.0.box_clone())
    }
}

impl fmt::Debug for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rounded({:?})", self.0)
    }
}

impl Query for Rounded {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let weight = self.0.weight(scoring)?;
        Ok(if scoring.is_scoring_enabled() { Box::new(RoundedWeight(weight)) } else { weight })
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.0.query_terms(visitor);
    }
}

struct RoundedWeight(Box<dyn Weight>);

impl Weight for RoundedWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        Ok(Box::new(RoundedScorer(self.0.scorer(reader, boost)?)))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        self.0.explain(reader, doc)
    }

    fn count(&self, reader: &SegmentReader) -> tantivy::Result<u32> {
        self.0.count(reader)
    }
}

struct RoundedScorer(Box<dyn Scorer>);

impl DocSet for RoundedScorer {
    fn advance(&mut self) -> DocId {
        self.0.advance()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        self.0.seek(target)
    }

    fn doc(&self) -> DocId {
        self.0.doc()
    }

    fn size_hint(&self) -> u32 {
        self.0.size_hint()
    }

    fn cost(&self) -> u64 {
        self.0.cost()
    }
}

impl Scorer for RoundedScorer {
    fn score(&mut self) -> Score {
        (self.0.score() * STEPS).round() / STEPS
    }
}
