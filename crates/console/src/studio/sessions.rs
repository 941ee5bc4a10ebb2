//! What a tab of the studio has on the server: its check, and its scratch store. Neither touches anything that is served.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gateway::{Problem, kinds};

use super::bench::Bench;
use super::checks::Check;

/// How much the studio of one server may use up.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    pub sessions: usize,
    /// a session that is not used for so long is gone
    pub idle: Duration,
}

pub const MOST: Most = Most { sessions: 16, idle: Duration::from_secs(30 * 60) };

pub struct Session {
    pub id: String,
    /// who has signed in with a token; nobody else may use it
    owner: Option<String>,
    used: Mutex<Instant>,
    check: Mutex<Check>,
    bench: Mutex<Option<Bench>>,
    /// its check is to end
    pub stop: AtomicBool,
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    fn new(owner: Option<String>, now: Instant) -> Session {
        Session {
            id: unguessable(),
            owner,
            used: Mutex::new(now),
            check: Mutex::default(),
            bench: Mutex::default(),
            stop: AtomicBool::new(false),
        }
    }

    pub fn check(&self) -> MutexGuard<'_, Check> {
        held(&self.check)
    }

    pub fn bench(&self) -> MutexGuard<'_, Option<Bench>> {
        held(&self.bench)
    }

    fn is_idle(&self, now: Instant, most: Most) -> bool {
        let running = matches!(*self.check(), Check::Running { .. });
        !running && now.duration_since(*held(&self.used)) >= most.idle
    }
}

/// A hundred and twenty-eight bits that the system has chosen the keys of.
fn unguessable() -> String {
    let half = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", half(), half())
}

#[derive(Default)]
pub struct Sessions(Mutex<Vec<Arc<Session>>>);

impl Sessions {
    /// The session of this name, if it is there and is this visitor's.
    pub fn find(&self, id: &str, owner: Option<&str>, now: Instant) -> Option<Arc<Session>> {
        let list = held(&self.0);
        let found = list.iter().find(|held| held.id == id && held.owner.as_deref() == owner)?;
        *held(&found.used) = now;
        Some(Arc::clone(found))
    }

    /// A new one, unless there are as many as there may be.
    pub fn open(
        &self,
        owner: Option<&str>,
        now: Instant,
        most: Most,
    ) -> Result<Arc<Session>, Problem> {
        self.tidy(now, most);
        let mut list = held(&self.0);
        if list.len() >= most.sessions {
            let minutes = most.idle.as_secs() / 60;
            return Err(Problem::new(
                &kinds::CANNOT,
                format!(
                    "{} tabs use the studio of this server, as many as may. One that is closed, or not used for \
                     {minutes} minutes, makes room for another",
                    most.sessions
                ),
            ));
        }
        let session = Arc::new(Session::new(owner.map(str::to_string), now));
        list.push(Arc::clone(&session));
        Ok(session)
    }

    /// Lets go of those that nobody uses any more.
    pub fn tidy(&self, now: Instant, most: Most) {
        held(&self.0).retain(|held| !held.is_idle(now, most));
    }

    /// Its check ends, and its scratch store is gone.
    pub fn close(&self, id: &str, owner: Option<&str>) {
        held(&self.0).retain(|held| {
            let goes = held.id == id && held.owner.as_deref() == owner;
            if goes {
                held.stop.store(true, Ordering::Relaxed);
            }
            !goes
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEW: Most = Most { sessions: 2, idle: Duration::from_secs(60) };

    #[test]
    fn there_are_only_so_many_and_an_idle_one_makes_room() {
        let sessions = Sessions::default();
        let begun = Instant::now();
        let first = sessions.open(None, begun, FEW).expect("there is room").id.clone();
        let second = sessions.open(None, begun, FEW).expect("there is room").id.clone();
        assert_ne!(first, second);
        let full = sessions.open(None, begun, FEW).err().expect("there is no room");
        assert!(full.detail.contains("2 tabs use the studio"), "{}", full.detail);
        // the first is used, the second is not
        let later = begun + Duration::from_secs(50);
        assert!(sessions.find(&first, None, later).is_some());
        let end = begun + Duration::from_secs(70);
        let third = sessions.open(None, end, FEW);
        assert!(third.is_ok());
        assert!(sessions.find(&second, None, end).is_none());
        assert!(sessions.find(&first, None, end).is_some());
        sessions.close(&first, None);
        assert!(sessions.find(&first, None, end).is_none());
    }

    #[test]
    fn a_session_is_its_owners_alone() {
        let sessions = Sessions::default();
        let now = Instant::now();
        let hers = sessions.open(Some("olga"), now, FEW).expect("there is room");
        assert!(sessions.find(&hers.id, Some("olga"), now).is_some());
        assert!(sessions.find(&hers.id, Some("ann"), now).is_none());
        assert!(sessions.find(&hers.id, None, now).is_none());
        sessions.close(&hers.id, Some("ann"));
        assert!(sessions.find(&hers.id, Some("olga"), now).is_some());
    }
}
