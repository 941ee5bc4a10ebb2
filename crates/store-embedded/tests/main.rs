//! All tests of the embedded store, in one program.

mod backups;
mod conformance;
mod content;
mod copies;
#[path = "damage/main.rs"]
mod damage;
mod faults;
mod migration;
mod modes;
mod place;
mod restarts;
mod scrub;
#[path = "seeds/main.rs"]
mod seeds;
#[path = "torture/main.rs"]
mod torture;
