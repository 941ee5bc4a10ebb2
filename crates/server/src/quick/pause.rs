//! How long a connection may wait for a head.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

use crate::app::App;

/// Ends when nothing came for too long, or when the server stops.
pub struct Pause {
    patience: Duration,
    since: Instant,
    /// Set anew only when it has rung: with every request would cost more than ringing for nothing.
    alarm: Pin<Box<Sleep>>,
    stopped: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Pause {
    pub fn new(app: &Arc<App>) -> Pause {
        let patience = Duration::from_millis(app.limits().head_ms_max);
        let since = Instant::now();
        let app = Arc::clone(app);
        Pause {
            patience,
            since,
            alarm: Box::pin(sleep_until(since + patience)),
            stopped: Box::pin(async move { app.stopped().await }),
        }
    }

    /// From now on, another head is waited for.
    pub fn begin(&mut self) {
        self.since = Instant::now();
    }

    pub fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.stopped.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        loop {
            ready!(self.alarm.as_mut().poll(context));
            let end = self.since + self.patience;
            if end <= Instant::now() {
                return Poll::Ready(());
            }
            self.alarm.as_mut().reset(end);
        }
    }
}
