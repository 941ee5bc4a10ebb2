//! The naive interpreter: random designs, and what is true of them, found as plainly as can be.
//! It shares no code with the checker, the engine or the compiler.

mod agreed;
pub mod ast;
pub mod compare;
pub mod composed;
pub mod composing;
mod dice;
mod eval;
pub mod events;
mod expected;
pub mod explore;
mod flow;
pub mod generate;
mod goals;
mod leads;
mod links;
mod moves;
pub mod network;
mod outside;
pub mod parts;
mod phrases;
mod reach;
mod recover;
pub mod run;
pub mod shrink;
mod state;
mod steps;
pub mod text;
pub mod world;
