//! Spans told to a collector: OTLP in JSON over HTTP.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use telemetry::{Resource, Span, Spans, Waiting, document};
use ureq::Agent;

use crate::agent::{Timeouts, agent};

/// Spans in one request, and how long the first of them waits for others.
const BATCH_MAX: usize = 512;
const GATHER: Duration = Duration::from_millis(500);
/// A collector that does not answer is asked again so often, later each time; then what it did not take
/// is lost, and counted.
const TRIES: u32 = 4;
const BACKOFF_FIRST: Duration = Duration::from_millis(200);

/// One thread that tells. What still waits when it is dropped is told first.
pub struct Exporter {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Exporter {
    /// `endpoint` is that of a collector, such as `http://localhost:4318`. `share` of a thousand traces
    /// that begin here are recorded.
    pub fn start(
        endpoint: &str,
        resource: Resource,
        share: u32,
    ) -> std::io::Result<(Exporter, Spans)> {
        let url = format!("{}/v1/traces", endpoint.trim_end_matches('/'));
        let (spans, waiting) = Spans::recorded(share);
        let stop = Arc::new(AtomicBool::new(false));
        let whole = Some(Duration::from_secs(10));
        let timeouts = Timeouts { connect: Duration::from_secs(2), whole };
        let teller = Teller {
            agent: agent(&url, timeouts),
            url,
            resource,
            spans: spans.clone(),
            stop: Arc::clone(&stop),
        };
        let thread =
            std::thread::Builder::new().name("spans".into()).spawn(move || teller.run(&waiting))?;
        Ok((Exporter { stop, thread: Some(thread) }, spans))
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // a thread that panicked has said so already
            let _ = thread.join();
        }
    }
}

struct Teller {
    agent: Agent,
    url: String,
    resource: Resource,
    spans: Spans,
    stop: Arc<AtomicBool>,
}

impl Teller {
    fn run(&self, waiting: &Waiting) {
        loop {
            let stopping = self.stop.load(Ordering::Acquire);
            let gather = if stopping { Duration::ZERO } else { GATHER };
            match waiting.next(BATCH_MAX, gather) {
                Some(spans) if spans.is_empty() && stopping => return,
                Some(spans) if spans.is_empty() => {}
                Some(spans) => {
                    if !self.told(&spans) {
                        self.spans.lose(spans.len());
                    }
                }
                None => return,
            }
        }
    }

    /// False: nobody took them.
    fn told(&self, spans: &[Span]) -> bool {
        let body = document(&self.resource, spans).to_string();
        let mut backoff = BACKOFF_FIRST;
        for attempt in 1..=TRIES {
            let sent = self.agent.post(&self.url).header("content-type", "application/json");
            let again = match sent.send(&body) {
                Ok(answer) if answer.status().is_success() => return true,
                // what it does not understand it will not understand later
                Ok(answer) => matches!(answer.status().as_u16(), 429 | 502 | 503 | 504),
                Err(_) => true,
            };
            // whoever stops the server does not wait for a collector that is gone
            if !again || attempt == TRIES || self.stop.load(Ordering::Acquire) {
                return false;
            }
            std::thread::sleep(backoff);
            backoff *= 2;
        }
        false
    }
}
