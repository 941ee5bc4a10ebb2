//! One seed, one history: a design served by the real runtime on the real store, in surroundings that a seed decides.
//!
//! A world has callers who take any step with any arguments, a disk that fails, a server that is killed and started
//! again, a world outside that loses calls and answers, and a clock that may jump. What happened is then held to what
//! was promised: every answer is in the history, no call is in it twice, what a caller is refused on was so while it
//! waited, every transition is one that the design allows, no invariant is broken, due work is done, and views are what
//! the records say.
//!
//! | file | what it is about |
//! | --- | --- |
//! | `script` | what is done to a world: calls and faults, drawn or given |
//! | `drawing` | calls drawn from the types and bounds of a design |
//! | `simulator` | one design, and what its worlds are like |
//! | `people` | who may call what |
//! | `caller` | a principal that calls, and what it remembers |
//! | `surroundings` | the simulated ones, with a clock that can be moved |
//! | `link` | the connection of one server to a store that is far away |
//! | `replacing` | the next version takes the place of the one that runs |
//! | `outside` | the world that effects call |
//! | `ledger` | what callers were told |
//! | `facts` | what became of a world |
//! | `locking` | what tasks share is locked for moments only |
//! | `world` | one world, from its first life to its end |
//! | `serving` | its servers: what they stand on, the version that has the say, the workers |
//! | `running` | who runs, for everybody who calls |
//! | `walking` | its history, walked through the engine and held to its goals |
//! | `settling` | the end: everything that is due is done |
//! | `trouble` | what is wrong with a history |
//! | `shrinking` | a smaller script that goes wrong in the same way |
//! | `smaller` | a script with less in it |

mod caller;
mod drawing;
mod facts;
mod ledger;
mod link;
mod literals;
mod locking;
mod outside;
mod people;
mod replacing;
mod running;
mod script;
mod serving;
mod settling;
mod shrinking;
mod simulator;
mod smaller;
mod surroundings;
mod trouble;
mod walking;
mod world;

pub use facts::{By, Event, Facts, Heard, Outcome};
pub use people::callable;
pub use replacing::unfit;
pub use script::{Act, Kill, Life, Script, Server, Size};
pub use shrinking::{Shrunk, TRIES_MAX, shrink};
pub use simulator::{Hook, Simulator};
pub use trouble::Trouble;
