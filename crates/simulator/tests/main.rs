//! All tests of the simulator, in one program.

mod catalog;
mod crashes;
mod hunt;
mod plants;
mod replaced;
mod seeds;
mod several;
