//! The fields of an index.

use runtime::{TextRecord, TextShape, TextTrouble};
use tantivy::TantivyDocument;
use tantivy::schema::{
    BytesOptions, Field, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::{Index, Searcher, Term};

use crate::trouble;
use crate::words::WordTokenizer;

/// What is indexed in another way is another index.
pub const FORM: u32 = 1;
pub const KEY: &str = "key";
const WORDS: &str = "words";

/// The fields, by what they hold.
#[derive(Clone, Debug)]
pub struct Fields {
    pub schema: Schema,
    pub key: Field,
    pub group: Field,
    /// the same in every record, so that all of them can be taken out
    every: Field,
    truth: Field,
    pub texts: Vec<Field>,
    facets: Vec<Field>,
}

impl Fields {
    pub fn of(shape: &TextShape) -> Fields {
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(WORDS)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        let text = TextOptions::default().set_indexing_options(indexing);
        let facet = TextOptions::default().set_fast("raw");
        let numbered = |what: &str, at: usize| format!("{what}{at}");
        Fields {
            key: schema.add_bytes_field(KEY, BytesOptions::default().set_indexed().set_fast()),
            group: schema.add_bytes_field("group", BytesOptions::default().set_indexed()),
            every: schema.add_text_field("every", STRING),
            truth: schema.add_bytes_field("truth", STORED),
            texts: (0..shape.texts.len())
                .map(|at| schema.add_text_field(&numbered("text", at), text.clone()))
                .collect(),
            facets: (0..shape.facets.len())
                .map(|at| schema.add_text_field(&facet_name(at), facet.clone()))
                .collect(),
            schema: schema.build(),
        }
    }

    /// Tells an index what words are.
    pub fn prepare(&self, index: &Index) {
        index.tokenizers().register(WORDS, WordTokenizer);
    }

    pub fn of_key(&self, key: &[u8]) -> Term {
        Term::from_field_bytes(self.key, key)
    }

    pub fn of_every(&self) -> Term {
        Term::from_field_text(self.every, "1")
    }

    /// Whether each segment has as many records as the list of segments says.
    pub fn examine(&self, searcher: &Searcher) -> Result<(), TextTrouble> {
        let every = self.of_every();
        for reader in searcher.segment_readers() {
            let counted = reader.inverted_index(self.every).map_err(trouble::of)?;
            if counted.doc_freq(&every).map_err(trouble::of_io)? != reader.max_doc() {
                return Err(TextTrouble::Damaged("a segment has another number of records".into()));
            }
        }
        Ok(())
    }

    pub fn document(&self, record: &TextRecord<'_>) -> TantivyDocument {
        let mut document = TantivyDocument::new();
        document.add_bytes(self.key, record.key);
        document.add_text(self.every, "1");
        if !record.group.is_empty() {
            document.add_bytes(self.group, record.group);
        }
        document.add_bytes(self.truth, record.truth);
        let texts = self.texts.iter().zip(record.texts);
        let facets = self.facets.iter().zip(record.facets);
        for (field, value) in texts.chain(facets) {
            if let Some(value) = value {
                document.add_text(*field, value);
            }
        }
        document
    }

    pub fn truth_of(&self, document: &TantivyDocument) -> Option<Vec<u8>> {
        use tantivy::schema::Value as _;
        Some(document.get_first(self.truth)?.as_bytes()?.to_vec())
    }
}

pub fn facet_name(at: usize) -> String {
    format!("facet{at}")
}
