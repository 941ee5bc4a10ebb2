//! The machine's own time, threads and chance. The only file that asks for them.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::{Moment, Next, Sleep, Step, Surroundings, Task};

/// The machine's own. One thread wakes all who sleep without holding a thread; it is there when somebody does.
pub struct RealSurroundings {
    begun: Instant,
    timer: OnceLock<Arc<Timer>>,
}

impl Default for RealSurroundings {
    fn default() -> Self {
        RealSurroundings { begun: Instant::now(), timer: OnceLock::new() }
    }
}

impl fmt::Debug for RealSurroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the machine's own")
    }
}

impl Surroundings for RealSurroundings {
    fn now(&self) -> Moment {
        Moment(self.begun.elapsed())
    }

    fn time_ms(&self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
    }

    /// The standard library seeds its hashers from the system.
    fn chance(&self) -> u64 {
        RandomState::new().hash_one(0)
    }

    /// From the system. It has bytes once it has started, so this waits at most once.
    fn fill(&self, mut bytes: &mut [u8]) {
        while !bytes.is_empty() {
            match rustix::rand::getrandom(&mut *bytes, rustix::rand::GetRandomFlags::empty()) {
                Ok(count) => bytes = &mut bytes[count..],
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => panic!("the system gives no randomness: {error}"),
            }
        }
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        let timer = Arc::clone(self.timer.get_or_init(|| Arc::new(Timer::start())));
        let until = Instant::now() + duration;
        Box::pin(std::future::poll_fn(move |context| timer.poll(until, context)))
    }

    fn wait(
        &self,
        mut future: Pin<&mut dyn Future<Output = ()>>,
        at_most: Option<Duration>,
    ) -> bool {
        let begun = at_most.map(|_| Instant::now());
        let waker = WAKER.with(Waker::clone);
        let mut context = Context::from_waker(&waker);
        loop {
            if future.as_mut().poll(&mut context).is_ready() {
                return true;
            }
            match at_most.zip(begun) {
                None => thread::park(),
                Some((at_most, begun)) => match at_most.checked_sub(begun.elapsed()) {
                    None | Some(Duration::ZERO) => return false,
                    Some(left) => thread::park_timeout(left),
                },
            }
        }
    }

    fn spawn(&self, name: &str, step: Step) -> io::Result<Task> {
        let woken = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&woken);
        let thread = thread::Builder::new().name(name.into()).spawn(move || run(step, &seen))?;
        let waker = Waker::from(Arc::new(Stepping { thread: thread.thread().clone(), woken }));
        // A thread that panicked has said so already.
        Ok(Task { waker, join: Box::new(move || drop(thread.join())) })
    }
}

/// Calls a step until it has ended.
fn run(mut step: Step, woken: &AtomicBool) {
    loop {
        // Who woke it before this will be seen by the step.
        woken.store(false, Ordering::SeqCst);
        let (begun, at_most) = match step() {
            Next::Ended => return,
            Next::Now => continue,
            Next::After(at_most) => (Instant::now(), at_most),
            Next::Woken => {
                while !woken.load(Ordering::SeqCst) {
                    thread::park();
                }
                continue;
            }
        };
        while !woken.load(Ordering::SeqCst) {
            match at_most.checked_sub(begun.elapsed()) {
                None | Some(Duration::ZERO) => break,
                Some(left) => thread::park_timeout(left),
            }
        }
    }
}

/// Wakes a thread that calls a step. What the step waits for wakes the thread too, so a flag says who was meant.
struct Stepping {
    thread: Thread,
    woken: Arc<AtomicBool>,
}

impl Wake for Stepping {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::SeqCst);
        self.thread.unpark();
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

thread_local! {
    static WAKER: Waker = Waker::from(Arc::new(Unpark(thread::current())));
}

/// Runs a future to its end while this thread sleeps. For programs and tests without a runtime of
/// their own: on a runtime's thread it would hold up everything else there.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = WAKER.with(Waker::clone);
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        thread::park();
    }
}

/// Its thread ends when nobody can sleep any more.
struct Timer(Arc<Alarms>);

#[derive(Default)]
struct Alarms {
    state: Mutex<Waiting>,
    news: Condvar,
}

#[derive(Default)]
struct Waiting {
    list: Vec<(Instant, Waker)>,
    ended: bool,
}

impl Timer {
    fn start() -> Timer {
        let alarms = Arc::new(Alarms::default());
        let run = Arc::clone(&alarms);
        thread::spawn(move || run.run());
        Timer(alarms)
    }

    fn poll(&self, until: Instant, context: &Context<'_>) -> Poll<()> {
        if Instant::now() >= until {
            return Poll::Ready(());
        }
        self.0.lock().list.push((until, context.waker().clone()));
        self.0.news.notify_one();
        Poll::Pending
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.0.lock().ended = true;
        self.0.news.notify_one();
    }
}

impl Alarms {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut waiting = self.lock();
        while !waiting.ended {
            let now = Instant::now();
            let over: Vec<_> = waiting.list.extract_if(.., |(until, _)| *until <= now).collect();
            if !over.is_empty() {
                drop(waiting);
                over.into_iter().for_each(|(_, waker)| waker.wake());
                waiting = self.lock();
                continue;
            }
            waiting = match waiting.list.iter().map(|(until, _)| *until).min() {
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
    use crate::surroundings::{Signal, real_surroundings};

    #[test]
    fn many_sleep_at_once_and_nobody_too_short() {
        let surroundings = real_surroundings();
        thread::scope(|scope| {
            for n in 0..16 {
                let surroundings = &surroundings;
                scope.spawn(move || {
                    let (begun, time) = (surroundings.now(), Duration::from_millis(n % 5));
                    block_on(surroundings.sleep(time));
                    assert!(surroundings.now().since(begun) >= time);
                    surroundings.rest(time);
                    assert!(surroundings.now().since(begun) >= time * 2);
                });
            }
        });
    }

    #[test]
    fn a_task_that_is_woken_while_it_waits_for_something_else_is_called_again() {
        let surroundings = real_surroundings();
        let (inside, go_on, done) = (Signal::default(), Signal::default(), Signal::default());
        let signals = Arc::new((inside, go_on, done));
        let (shared, mut calls) = (Arc::clone(&signals), 0);
        let waits = Arc::clone(&surroundings);
        let step = move || {
            calls += 1;
            if calls == 1 {
                shared.0.ring();
                waits.block_on(shared.1.after(0));
                return Next::Woken;
            }
            shared.2.ring();
            Next::Ended
        };
        let task = surroundings.spawn("waits", Box::new(step)).unwrap();
        surroundings.block_on(signals.0.after(0));
        task.waker().wake_by_ref();
        signals.1.ring();
        surroundings.block_on(signals.2.after(0));
        task.join();
    }
}
