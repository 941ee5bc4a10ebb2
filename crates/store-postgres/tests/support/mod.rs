//! What the tests stand on.

#[allow(dead_code, reason = "the tests of the command line use more of it")]
pub mod database;
#[path = "../../../explain/tests/support/programs.rs"]
pub mod programs;
#[allow(dead_code, reason = "the tests of the command line use more of it")]
pub mod proxy;

use store_postgres::{Address, Postgres};

pub use self::database::{Server, shared};

pub fn open(address: &str) -> Postgres {
    let address = Address::read(address).unwrap();
    Postgres::open(&address).unwrap_or_else(|error| panic!("{address}: {error}"))
}

/// A store in a schema of its own.
pub fn fresh(server: &Server) -> Postgres {
    open(&server.address(&server.schema()))
}
