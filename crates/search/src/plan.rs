//! Clauses as a query of tantivy.

use std::ops::Bound;

use tantivy::Term;
use tantivy::query::{
    BooleanQuery, ConstScoreQuery, Occur, PhraseQuery, Query, RangeQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};

use crate::query::{Clause, What};
use crate::rounded::Rounded;
use crate::schema::Fields;

/// What a word that only begins as asked adds to a score: as it would, were it neither common nor rare.
const PREFIX_SCORE: f32 = 1.0;

/// Records of the group that have every clause which is not excluded, and none that is.
pub fn plan(clauses: &[Clause], fields: &Fields, group: &[u8]) -> Box<dyn Query> {
    let mut parts: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    for clause in clauses {
        let mut looked: Vec<(Occur, Box<dyn Query>)> = looked_at(clause, fields)
            .map(|field| (Occur::Should, leaf(&clause.what, field)))
            .collect();
        let one = match looked.len() {
            1 => looked.remove(0).1,
            _ => Box::new(BooleanQuery::new(looked)),
        };
        parts.push((if clause.excluded { Occur::MustNot } else { Occur::Must }, one));
    }
    parts.extend(in_group(fields, group).map(|query| (Occur::Must, query)));
    Box::new(BooleanQuery::new(parts))
}

/// None: every record is of the group.
pub fn in_group(fields: &Fields, group: &[u8]) -> Option<Box<dyn Query>> {
    (!group.is_empty()).then(|| {
        let term = Term::from_field_bytes(fields.group, group);
        let query = TermQuery::new(term, IndexRecordOption::Basic);
        Box::new(ConstScoreQuery::new(Box::new(query), 0.0)) as Box<dyn Query>
    })
}

/// The words whose rarity counts, each once, always in the same order.
pub fn counted(clauses: &[Clause], fields: &Fields) -> Vec<Term> {
    let mut found: Vec<Term> = Vec::new();
    for clause in clauses.iter().filter(|clause| !clause.excluded) {
        let What::Phrase(words) = &clause.what else { continue };
        for field in looked_at(clause, fields) {
            for (_, word) in words {
                let term = Term::from_field_text(field, word);
                if !found.contains(&term) {
                    found.push(term);
                }
            }
        }
    }
    found
}

fn looked_at<'a>(clause: &'a Clause, fields: &'a Fields) -> impl Iterator<Item = Field> + 'a {
    let all = fields.texts.iter().enumerate();
    all.filter(|(at, _)| clause.looks_at(*at)).map(|(_, field)| *field)
}

fn leaf(what: &What, field: Field) -> Box<dyn Query> {
    let term = |word: &String| Term::from_field_text(field, word);
    match what {
        What::Phrase(words) => match &words[..] {
            [(_, word)] => {
                let query = TermQuery::new(term(word), IndexRecordOption::WithFreqs);
                Box::new(Rounded(Box::new(query)))
            }
            words => {
                let placed = words.iter().map(|(at, word)| (*at, term(word))).collect();
                Box::new(Rounded(Box::new(PhraseQuery::new_with_offset(placed))))
            }
        },
        What::Prefix(start) => {
            // no word has a letter behind this one
            let end = format!("{start}{}", char::MAX);
            let range = RangeQuery::new(Bound::Included(term(start)), Bound::Excluded(term(&end)));
            Box::new(ConstScoreQuery::new(Box::new(range), PREFIX_SCORE))
        }
    }
}
