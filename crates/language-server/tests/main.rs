//! The server as an editor meets it: messages of the protocol in, messages out.

mod answers;
mod editing;
mod editor;
mod grammar;
mod random_edits;
mod renaming;
mod verdicts;
