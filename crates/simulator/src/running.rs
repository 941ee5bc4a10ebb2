//! Who runs, for everybody who calls.

use std::sync::Arc;

use runtime::{Outside, Runtime, Workers};
use store::{Distant, Partition, Store, Surroundings};

use crate::link::Link;
use crate::surroundings::Moved;

/// What a server stands on, whichever version it serves.
#[derive(Clone)]
pub(crate) struct Place {
    /// from 1
    pub number: usize,
    pub store: Arc<dyn Store>,
    pub surroundings: Arc<Moved>,
    pub outside: Arc<dyn Outside>,
    /// to a store that is far away
    pub link: Option<Arc<Link>>,
}

impl Place {
    pub fn is_killed(&self) -> bool {
        self.link.as_ref().is_some_and(|link| link.is_killed())
    }
}

pub(crate) struct Served {
    pub runtime: Arc<Runtime>,
    pub workers: Workers,
    pub place: Place,
}

#[derive(Default)]
pub(crate) struct Running {
    pub servers: Vec<Served>,
    /// of versions that were replaced: they are stopped at the end of the life, where nobody waits who they wait for
    pub retired: Vec<Workers>,
    /// what the servers share
    pub far: Option<Arc<Distant>>,
}

impl Running {
    /// One that lives. Who asks with another number may be given another one.
    pub fn pick(&self, number: u64) -> Option<(usize, Arc<Runtime>)> {
        let servers = self.servers.len();
        let first = (number % servers.max(1) as u64) as usize;
        let mut places = (first..servers).chain(0..first);
        let found = places.find(|at| !self.servers[*at].place.is_killed())?;
        Some((found, Arc::clone(&self.servers[found].runtime)))
    }

    pub fn are_several(&self) -> bool {
        self.far.is_some()
    }

    /// Asks for the newest revision that is durable. Others may go on before it is answered, so nothing may be held.
    pub fn newest(&self, number: u64) -> Newest {
        match &self.far {
            Some(far) => Newest::Far(Arc::clone(far)),
            None => Newest::Near(self.pick(number).map(|(_, runtime)| runtime)),
        }
    }
}

/// The newest revision, still to be asked for.
pub(crate) enum Newest {
    Near(Option<Arc<Runtime>>),
    Far(Arc<Distant>),
}

impl Newest {
    pub fn revision(self, surroundings: &dyn Surroundings) -> u64 {
        match self {
            Newest::Near(runtime) => runtime.map_or(0, |runtime| head(surroundings, &runtime)),
            Newest::Far(far) => far.newest(Partition::default()).position(),
        }
    }
}

/// The newest revision that is durable.
pub(crate) fn head(surroundings: &dyn Surroundings, runtime: &Runtime) -> u64 {
    surroundings.block_on(runtime.head()).map_or(0, |head| position(&head))
}

pub(crate) fn position(revision: &str) -> u64 {
    revision.parse::<store::Cursor>().map_or(0, |cursor| cursor.position())
}
