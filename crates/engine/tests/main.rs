//! All tests of the engine, in one program; `allocation` has its own, because it counts what is allocated.

mod children;
mod collections;
mod counters;
mod due;
mod effects;
mod invariants;
mod lease;
mod never_panics;
mod outbox;
mod overlay;
mod ranges;
mod reasons;
mod support;
mod worked;
