//! A design that runs: what a step needs is loaded, the step is evaluated, what it did is
//! committed, and only then is it answered.

mod bytes;
mod codec;
mod json;
mod keys;
mod pool;
mod time;
