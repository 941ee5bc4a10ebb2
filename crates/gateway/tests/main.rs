//! All tests of the gateway, in one program.

mod checking;
mod life;
