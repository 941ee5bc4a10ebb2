//! All tests of the checker, in one program.

mod budget;
mod calendar;
mod commit;
mod dense_time;
mod events;
mod findings;
mod leads;
mod lease;
mod left_out;
mod limits;
mod naive;
mod network;
mod oracle;
mod own_clock;
mod planted;
mod random_designs;
mod random_uses;
mod recovery;
mod several;
mod slices;
mod stateright_oracle;
mod support;
mod taking;
mod tlc;
mod used;
mod verdicts;
