//! The files and sockets that the process may have open. Strangers can open connections; the store and
//! the keys need theirs whatever strangers do.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Kept back from connections: segments, snapshots and content of the store, keys, the log of what was
/// done, calls to the world outside and whoever is told of events.
const RESERVED: usize = 128;

/// Raises what the system allows as far as it can be, and says how many connections there may be.
pub fn connections(wanted: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let now = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => getrlimit(Resource::Nofile),
        // then it stays as it is
        Err(_) => limit,
    };
    // none: there is no limit
    let most = now.current.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let connections = within(wanted, most);
    if connections < wanted {
        tracing::warn!(
            wanted,
            connections,
            descriptors = most,
            "fewer connections than the limits allow: the system allows too few open files"
        );
    }
    connections
}

/// At least half of few descriptors are kept back.
fn within(wanted: usize, most: usize) -> usize {
    wanted.min(most - RESERVED.min(most / 2)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_room_for_the_store() {
        for (wanted, most, connections) in [
            (20_000, usize::MAX, 20_000),
            (20_000, 1_048_576, 20_000),
            (20_000, 1_024, 896),
            (20_000, 256, 128),
            (20_000, 64, 32),
            (10, 1_024, 10),
            (10, 1, 1),
        ] {
            assert_eq!(within(wanted, most), connections, "{wanted} of {most}");
        }
    }
}
