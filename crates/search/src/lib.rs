//! Full-text indexes for `search` views, on tantivy.
//!
//! The runtime gives records with their texts, in the order of the feed, and asks for hits; what words are, how a query
//! is written and how hits are ranked is said here. Who may see what is none of this crate's business, except that it
//! can be told to let other records have no part in a score.
//!
//! | file | what it is about |
//! | --- | --- |
//! | `engine` | indexes in a directory or in memory, each opened once |
//! | `index` | one index: opened, changed, committed, discarded |
//! | `schema` | which fields it has |
//! | `words` | a text as words |
//! | `query` | what a person writes, as clauses |
//! | `plan` | clauses as a query of tantivy |
//! | `rounded` | scores whose sum does not depend on the order of adding |
//! | `statistics` | how common words are, among records that count |
//! | `hits` | the best hits of a segment, and all hits counted |
//! | `place` | where a page ends |
//! | `snapshot` | all of these put together |
//! | `marks` | hits within a text |

mod engine;
mod hits;
mod index;
mod marks;
mod place;
mod plan;
mod query;
mod rounded;
mod schema;
mod snapshot;
mod statistics;
mod trouble;
mod words;

pub use engine::Engine;
pub use query::{QUERY_BYTES_MAX, QUERY_WORDS_MAX};
pub use words::{Word, words};
