//! All tests of the compiler, in one program.

mod analysis;
mod bounded;
mod common;
mod composition;
mod designs;
mod events;
mod messages;
mod one_mistake;
mod orphans;
mod reference;
mod robustness;
mod static_rules;
mod taking;
mod tests_of_designs;
