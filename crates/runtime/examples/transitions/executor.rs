//! Runs many futures on one thread, so that the cost of threads is not what is measured.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

pub type Task<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

struct Ready {
    list: Mutex<Vec<usize>>,
    thread: Thread,
}

struct Handle {
    number: usize,
    ready: Arc<Ready>,
}

impl Wake for Handle {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut list = self.ready.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.push(self.number);
        if list.len() == 1 {
            drop(list);
            self.ready.thread.unpark();
        }
    }
}

/// Runs all of them to their ends.
pub fn run<T>(tasks: Vec<Task<'_, T>>) -> Vec<T> {
    let count = tasks.len();
    let ready =
        Arc::new(Ready { list: Mutex::new((0..count).collect()), thread: std::thread::current() });
    let wakers: Vec<Waker> = (0..count)
        .map(|number| Waker::from(Arc::new(Handle { number, ready: Arc::clone(&ready) })))
        .collect();
    let mut tasks: Vec<Option<Task<'_, T>>> = tasks.into_iter().map(Some).collect();
    let mut outputs = Vec::with_capacity(count);
    let mut woken = Vec::new();
    while outputs.len() < count {
        std::mem::swap(&mut woken, &mut *ready.list.lock().unwrap_or_else(PoisonError::into_inner));
        if woken.is_empty() {
            std::thread::park();
        }
        for number in woken.drain(..) {
            let Some(task) = &mut tasks[number] else { continue };
            let mut context = Context::from_waker(&wakers[number]);
            if let Poll::Ready(output) = task.as_mut().poll(&mut context) {
                outputs.push(output);
                tasks[number] = None;
            }
        }
    }
    outputs
}
