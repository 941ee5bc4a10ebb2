//! What `search` views need of a full-text library: the only place where the two meet.
//!
//! The runtime knows records, groups and who may see what; an engine knows words. It is given with the settings, so
//! that a build without one carries no such library.

use std::fmt;
use std::sync::Arc;

/// Keeps indexes, one for each `search` view.
pub trait TextEngine: fmt::Debug + Send + Sync {
    /// The index of this shape as it was left; empty if there is none, or if what there is cannot be used. Opened
    /// twice, it is the same index.
    fn open(&self, shape: &TextShape) -> Result<Arc<dyn TextIndex>, TextTrouble>;
}

/// What an index is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextShape {
    /// the design and the view
    pub name: String,
    /// differs wherever the same records would be indexed differently
    pub mark: String,
    /// the attributes that are searched
    pub texts: Vec<String>,
    /// the attributes that hits can be counted by
    pub facets: Vec<String>,
}

/// One index. Readers look at its last commit, and wait for nobody who changes it.
pub trait TextIndex: fmt::Debug + Send + Sync {
    /// The last commit; none: there was none yet.
    fn snapshot(&self) -> Option<Arc<dyn TextSnapshot>>;

    /// The right to change it, which one has at a time. None: another has it, and `wait` is false.
    fn change(&self, wait: bool) -> Result<Option<Box<dyn TextChanges + '_>>, TextTrouble>;

    /// What is kept cannot be read: an empty index takes its place.
    fn discard(&self) -> Result<(), TextTrouble>;
}

/// Changes that readers see all at once, when they are committed. Dropped before that, they never were.
pub trait TextChanges {
    /// What the last commit was given.
    fn cursor(&self) -> Option<String>;

    /// Takes out every record.
    fn clear(&mut self) -> Result<(), TextTrouble>;

    /// A record that is not in it.
    fn add(&mut self, record: &TextRecord<'_>) -> Result<(), TextTrouble>;

    /// The record is like this from now on.
    fn put(&mut self, record: &TextRecord<'_>) -> Result<(), TextTrouble>;

    fn remove(&mut self, key: &[u8]) -> Result<(), TextTrouble>;

    /// Makes the changes seen and durable, with the place in the feed that they reach to.
    fn commit(&mut self, cursor: &str) -> Result<(), TextTrouble>;
}

/// A record, as an index keeps it.
#[derive(Debug)]
pub struct TextRecord<'a> {
    pub key: &'a [u8],
    /// only records of one group are found together
    pub group: &'a [u8],
    /// by attribute of the shape; none: it is null
    pub texts: &'a [Option<String>],
    pub facets: &'a [Option<String>],
    /// given back with a hit
    pub truth: &'a [u8],
}

/// An index as it was at one commit.
pub trait TextSnapshot: Send + Sync {
    /// What the commit was given.
    fn cursor(&self) -> &str;

    fn find(&self, asked: &TextAsked<'_>) -> Result<TextFound, TextTrouble>;

    /// The best place in a text of the `at`th searched attribute, as HTML in which what the words hit is marked.
    /// None: nothing of it is.
    fn marked(&self, words: &str, at: usize, text: &str) -> Result<Option<String>, TextTrouble>;
}

#[derive(Clone, Debug)]
pub struct TextAsked<'a> {
    /// in the language of queries
    pub words: &'a str,
    pub group: &'a [u8],
    /// behind this place of an earlier answer
    pub after: Option<&'a [u8]>,
    pub limit: usize,
    /// The score of a record is made of that record alone. Otherwise other records of its group count, too: a word
    /// that few of them have weighs more.
    pub alone: bool,
    /// attributes of the shape to count all hits by
    pub facets: &'a [usize],
}

#[derive(Debug, Default)]
pub struct TextFound {
    /// by score, then by key
    pub hits: Vec<TextHit>,
    /// there are others behind the last one
    pub more: bool,
    /// how many there are in all pages
    pub total: u64,
    /// for each that was asked for: values and how many hits have each, most first, then by value
    pub facets: Vec<Vec<(String, u64)>>,
}

#[derive(Debug)]
pub struct TextHit {
    pub key: Vec<u8>,
    pub truth: Vec<u8>,
    pub score: f32,
    /// for `after`
    pub place: Vec<u8>,
}

/// Why an engine did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextTrouble {
    /// the words are wrong, and how
    Words(String),
    /// `after` is no place of an answer
    Place,
    /// what is kept is not what was written: it is to be discarded
    Damaged(String),
    /// it cannot be written or read now; what is kept stays as it is
    Unavailable(String),
}

impl fmt::Display for TextTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TextTrouble::Words(wrong) => f.write_str(wrong),
            TextTrouble::Place => f.write_str("this is no `next` of a page"),
            TextTrouble::Damaged(how) => write!(f, "the search index is damaged: {how}"),
            TextTrouble::Unavailable(how) => write!(f, "the search index: {how}"),
        }
    }
}
