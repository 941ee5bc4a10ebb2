//! All tests of the simulator, in one program.

mod catalog;
mod crashes;
mod hunt;
mod plants;
mod reach;
mod replaced;
mod seeds;
mod several;
