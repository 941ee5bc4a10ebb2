//! Schedules, held against their definition and against croniter.

mod croniter;
mod definition;
mod random;
mod reading;
mod rules;
