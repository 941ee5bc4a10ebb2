//! Pages of the feed, read and written out once for all who follow it.
//!
//! Who follows from the same place and sees the same is told the same bytes. Without this, each follower costs the
//! server as much for each transition as the step that made it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use bytes::Bytes;
use gateway::Service;
use runtime::{CallError, Roles, Transition, Viewer};
use serde_json::Value;
use tokio::sync::OnceCell;

/// Commits in one page.
pub const PAGE: usize = 256;
/// So many pages are kept, and so many bytes of them: those who follow are mostly where the feed ends.
const KEPT: usize = 64;
const KEPT_BYTES: usize = 8 << 20;

/// What follows a place in the feed.
#[derive(Clone, Debug)]
pub struct Page {
    /// as server-sent events; empty: nothing that is told here
    pub text: Bytes,
    /// where the next one begins
    pub next: String,
    /// nothing has happened since
    pub at_the_end: bool,
}

impl Page {
    /// `tells`: what is told of a transition; none: nothing.
    pub async fn read(
        service: &Service,
        from: &str,
        viewer: Option<&Viewer>,
        tells: impl Fn(&Transition) -> Option<Value>,
    ) -> Result<Page, CallError> {
        let (transitions, next) = service.runtime.feed_as(Some(from), PAGE, viewer).await?;
        let mut text = Vec::new();
        for (revision, transition) in &transitions {
            let Some(mut told) = tells(transition) else { continue };
            told["revision"] = revision.as_str().into();
            let frame = format!("id: {revision}\nevent: transition\ndata: {told}\n\n");
            text.extend_from_slice(frame.as_bytes());
        }
        Ok(Page { text: text.into(), next, at_the_end: transitions.is_empty() })
    }
}

/// The pages that were read last.
#[derive(Default)]
pub struct Pages(Mutex<VecDeque<Held>>);

struct Held {
    /// a version that is gone does not come again at the same place while this is kept
    service: Weak<Service>,
    from: String,
    /// none: nothing is hidden
    viewer: Option<Viewer>,
    page: Arc<OnceCell<Page>>,
}

impl Pages {
    /// What follows `from`, with everything that the viewer may see. Whoever asks while it is read waits for it.
    pub async fn page(
        &self,
        service: &Arc<Service>,
        from: &str,
        viewer: Option<&Viewer>,
    ) -> Result<Page, CallError> {
        let cell = self.cell(service, from, viewer.filter(|viewer| viewer.roles != Roles::All));
        let tells = |transition: &Transition| Some(transition.to_json());
        let read = cell.get_or_try_init(|| Page::read(service, from, viewer, tells)).await;
        let page = read.cloned();
        // at the end there will be more, and what cannot be read now may be read later
        if page.as_ref().map_or(true, |page| page.at_the_end) {
            self.lock().retain(|held| !Arc::ptr_eq(&held.page, &cell));
        }
        page
    }

    fn cell(
        &self,
        service: &Arc<Service>,
        from: &str,
        viewer: Option<&Viewer>,
    ) -> Arc<OnceCell<Page>> {
        let mut all = self.lock();
        let same = |held: &&Held| {
            held.from == from
                && held.service.as_ptr() == Arc::as_ptr(service)
                && held.viewer.as_ref() == viewer
        };
        // the newest are asked for most
        if let Some(held) = all.iter().rev().find(same) {
            return Arc::clone(&held.page);
        }
        let bytes = |held: &Held| held.page.get().map_or(0, |page| page.text.len());
        let mut kept: usize = all.iter().map(bytes).sum();
        while all.len() >= KEPT || kept > KEPT_BYTES {
            let Some(gone) = all.pop_front() else { break };
            kept -= bytes(&gone).min(kept);
        }
        let page = Arc::new(OnceCell::new());
        all.push_back(Held {
            service: Arc::downgrade(service),
            from: from.to_string(),
            viewer: viewer.cloned(),
            page: Arc::clone(&page),
        });
        page
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Held>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
