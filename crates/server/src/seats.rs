//! Places for connections. Whoever connects is a stranger until a request of theirs was answered as one
//! of somebody who may ask. When all places are taken, the stranger that has been there longest gives
//! theirs to whoever comes next; who is known stays.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

const STRANGER: u8 = 0;
const KNOWN: u8 = 1;
/// another has the place
const SHOWN_OUT: u8 = 2;
const LEFT: u8 = 3;

pub struct Seats {
    most: usize,
    taken: AtomicUsize,
    /// In the order in which they came. Some are strangers no more, or have left.
    came: Mutex<VecDeque<Arc<Guest>>>,
}

struct Guest {
    stands: AtomicU8,
    leave: Notify,
}

impl Guest {
    fn is(&self, what: u8) -> bool {
        self.stands.load(Ordering::Relaxed) == what
    }

    /// From a stranger to this; false: it is no stranger.
    fn becomes(&self, what: u8) -> bool {
        let (before, after) = (Ordering::Relaxed, Ordering::Relaxed);
        self.stands.compare_exchange(STRANGER, what, before, after).is_ok()
    }
}

/// The place of a connection, given back when the last who holds it lets go.
pub struct Seat {
    all: Arc<Seats>,
    guest: Arc<Guest>,
}

impl Seats {
    pub fn new(most: usize) -> Arc<Seats> {
        Arc::new(Seats { most, taken: AtomicUsize::new(0), came: Mutex::default() })
    }

    /// A place; none: they are all taken by those who are known.
    pub fn take(self: &Arc<Self>) -> Option<Arc<Seat>> {
        let mut came = self.came.lock().unwrap_or_else(PoisonError::into_inner);
        if self.taken() >= self.most {
            loop {
                let guest = came.pop_front()?;
                if guest.becomes(SHOWN_OUT) {
                    guest.leave.notify_one();
                    break;
                }
            }
        } else {
            self.taken.fetch_add(1, Ordering::Relaxed);
        }
        if came.len() > 2 * self.taken() + 64 {
            came.retain(|guest| guest.is(STRANGER));
        }
        let guest = Arc::new(Guest { stands: AtomicU8::new(STRANGER), leave: Notify::new() });
        came.push_back(Arc::clone(&guest));
        Some(Arc::new(Seat { all: Arc::clone(self), guest }))
    }

    /// Connections that have a place.
    pub fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }
}

impl Seat {
    /// Whoever has it may ask here.
    pub fn is_known(&self) {
        if self.guest.is(STRANGER) {
            self.guest.becomes(KNOWN);
        }
    }

    /// Ends when the place was given to somebody else.
    pub async fn shown_out(&self) {
        self.guest.leave.notified().await;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if self.guest.stands.swap(LEFT, Ordering::Relaxed) != SHOWN_OUT {
            self.all.taken.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_shown_out(seat: &Seat) -> bool {
        seat.guest.is(SHOWN_OUT)
    }

    #[test]
    fn the_longest_stranger_makes_room_and_who_is_known_stays() {
        let seats = Seats::new(3);
        let [first, second, third] = [(); 3].map(|()| seats.take().unwrap());
        first.is_known();
        let fourth = seats.take().unwrap();
        assert_eq!([&first, &second, &third].map(|it| is_shown_out(it)), [false, true, false]);
        assert_eq!(seats.taken(), 3);
        // its connection ends a little later, and nothing is given back twice
        second.is_known();
        drop(second);
        assert_eq!(seats.taken(), 3);
        third.is_known();
        fourth.is_known();
        assert!(seats.take().is_none(), "all are known");
        drop(third);
        assert_eq!(seats.taken(), 2);
        assert!(seats.take().is_some());
    }

    #[test]
    fn those_who_came_and_went_are_not_kept() {
        let seats = Seats::new(10);
        for _ in 0..10_000 {
            drop(seats.take().unwrap());
        }
        assert_eq!(seats.taken(), 0);
        assert!(seats.came.lock().unwrap().len() < 100);
    }
}
