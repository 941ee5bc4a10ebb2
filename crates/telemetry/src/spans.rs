//! Spans on their way out. Whoever works does not wait for them: when too many wait, the next are
//! lost and counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use crate::span::{Kind, Span};
use crate::trace::Trace;

/// Spans that wait at most.
const WAITING_MAX: usize = 8_192;

/// Where ended spans go; by default nowhere, and then none is begun.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    inner: Option<Arc<Inner>>,
}

#[derive(Debug)]
struct Inner {
    sender: SyncSender<Span>,
    lost: AtomicU64,
    /// of a thousand traces that begin here, so many are recorded
    share: u32,
}

/// The other end.
#[derive(Debug)]
pub struct Waiting(Receiver<Span>);

impl Spans {
    /// `share` is of a thousand traces that begin here; those that come from elsewhere are recorded
    /// as they say.
    pub fn recorded(share: u32) -> (Spans, Waiting) {
        let (sender, receiver) = sync_channel(WAITING_MAX);
        let inner = Inner { sender, lost: AtomicU64::new(0), share };
        (Spans { inner: Some(Arc::new(inner)) }, Waiting(receiver))
    }

    pub fn is_recorded(&self) -> bool {
        self.inner.is_some()
    }

    /// A span of this context, or the first of a trace where there is none. None: it is not
    /// recorded; then the context is handed on as it came.
    pub fn begin(&self, trace: Option<&Trace>, kind: Kind, name: &str) -> Option<Span> {
        let inner = self.inner.as_ref()?;
        match trace {
            Some(trace) => trace.is_sampled().then(|| Span::within(trace, kind, name)),
            None => {
                let span = Span::first(kind, name);
                let [high, low, ..] = span.trace().id;
                let chance = (u32::from(u16::from_be_bytes([high, low])) * 1_000) >> 16;
                (chance < inner.share).then_some(span)
            }
        }
    }

    /// It ends now.
    pub fn end(&self, mut span: Span) {
        let Some(inner) = &self.inner else { return };
        span.end();
        if inner.sender.try_send(span).is_err() {
            inner.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Spans that nobody took in time.
    pub fn lost(&self) -> u64 {
        self.inner.as_ref().map_or(0, |inner| inner.lost.load(Ordering::Relaxed))
    }

    /// Some were taken and could not be told.
    pub fn lose(&self, count: usize) {
        if let Some(inner) = &self.inner {
            inner.lost.fetch_add(count as u64, Ordering::Relaxed);
        }
    }
}

impl Waiting {
    /// At least one span and at most so many, all that come within this time after the first. None:
    /// nobody is left who could send one. Empty: none came for a while.
    pub fn next(&self, most: usize, within: Duration) -> Option<Vec<Span>> {
        let mut spans = match self.0.recv_timeout(within) {
            Ok(first) => vec![first],
            Err(RecvTimeoutError::Timeout) => return Some(Vec::new()),
            Err(RecvTimeoutError::Disconnected) => return None,
        };
        let until = Instant::now() + within;
        while spans.len() < most {
            match self.0.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(span) => spans.push(span),
                Err(_) => break,
            }
        }
        Some(spans)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_default_nothing_is_begun() {
        let spans = Spans::default();
        assert!(!spans.is_recorded() && spans.begin(None, Kind::Server, "x").is_none());
        assert!(spans.begin(Some(&Trace::fresh()), Kind::Server, "x").is_none());
    }

    #[test]
    fn whoever_began_a_trace_decides_whether_it_is_recorded() {
        let (spans, _waiting) = Spans::recorded(0);
        let quiet = Trace::of_parent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00");
        assert!(spans.begin(quiet.as_ref(), Kind::Server, "x").is_none());
        assert!(spans.begin(Some(&Trace::fresh()), Kind::Server, "x").is_some());
        assert!(spans.begin(None, Kind::Server, "x").is_none());
        let (half, _waiting) = Spans::recorded(500);
        let begun = (0..4_000).filter_map(|_| half.begin(None, Kind::Server, "x")).count();
        assert!((1_700..2_300).contains(&begun), "{begun}");
    }

    #[test]
    fn what_does_not_fit_is_lost_and_counted() {
        let (spans, waiting) = Spans::recorded(1_000);
        for _ in 0..WAITING_MAX + 3 {
            spans.end(Span::first(Kind::Internal, "x"));
        }
        assert_eq!(spans.lost(), 3);
        assert_eq!(waiting.next(100, Duration::ZERO).map(|spans| spans.len()), Some(100));
        assert_eq!(waiting.next(100, Duration::from_secs(1)).map(|spans| spans.len()), Some(100));
        drop(spans);
        while waiting.next(1_000, Duration::from_secs(1)).is_some() {}
        assert!(waiting.next(1, Duration::ZERO).is_none());
    }
}
