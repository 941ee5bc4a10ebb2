//! Waiting for a while without holding a thread. One thread of its own wakes all who wait.

use std::pin::Pin;
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// Ready after a while.
pub fn sleep(duration: Duration) -> Sleep {
    Sleep { until: Instant::now() + duration }
}

#[derive(Debug)]
pub struct Sleep {
    until: Instant,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if Instant::now() >= self.until {
            return Poll::Ready(());
        }
        TIMER.lock().push((self.until, context.waker().clone()));
        TIMER.news.notify_one();
        Poll::Pending
    }
}

#[derive(Default)]
struct Timer {
    waiting: Mutex<Vec<(Instant, Waker)>>,
    news: Condvar,
}

static TIMER: LazyLock<Timer> = LazyLock::new(|| {
    thread::spawn(|| TIMER.run());
    Timer::default()
});

impl Timer {
    fn lock(&self) -> MutexGuard<'_, Vec<(Instant, Waker)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut waiting = self.lock();
        loop {
            let now = Instant::now();
            let over: Vec<_> = waiting.extract_if(.., |(until, _)| *until <= now).collect();
            if !over.is_empty() {
                drop(waiting);
                over.into_iter().for_each(|(_, waker)| waker.wake());
                waiting = self.lock();
                continue;
            }
            waiting = match waiting.iter().map(|(until, _)| *until).min() {
                None => self.news.wait(waiting).unwrap_or_else(PoisonError::into_inner),
                Some(next) => {
                    let rest = next.saturating_duration_since(now);
                    let woken = self.news.wait_timeout(waiting, rest);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wait::block_on;

    #[test]
    fn many_wait_at_once_and_nobody_too_short() {
        thread::scope(|scope| {
            for n in 0..16 {
                scope.spawn(move || {
                    let (begun, time) = (Instant::now(), Duration::from_millis(n % 5));
                    block_on(sleep(time));
                    assert!(begun.elapsed() >= time);
                });
            }
        });
    }
}
