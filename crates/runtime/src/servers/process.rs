//! The process that a runtime is part of, as others are told of it.

use std::sync::OnceLock;

/// All designs that one process serves are one server to people, though each has a lease of its own.
#[derive(Debug)]
pub struct Process {
    /// chosen by chance when it started
    pub number: u64,
    /// the name of the machine; empty: not known
    pub host: String,
    /// of the program
    pub version: String,
    /// when it started, by its own clock, in milliseconds
    pub since: i64,
    address: OnceLock<String>,
}

impl Process {
    pub fn new(number: u64, host: String, version: String, since: i64) -> Process {
        Process { number, host, version, since, address: OnceLock::new() }
    }

    /// Where it listens, which is known only when it does. What is told first stays.
    pub fn listens_at(&self, address: String) {
        let _ = self.address.set(address);
    }

    pub fn address(&self) -> Option<&str> {
        self.address.get().map(String::as_str)
    }
}
