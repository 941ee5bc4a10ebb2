//! `search` views from a step to a hit: the runtime with this engine.

mod answers;
mod damage;
mod histories;
mod oracle;
mod pages;
mod sight;
mod support;
