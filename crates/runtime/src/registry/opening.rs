//! A design is opened on a store: it is given its number, or takes the place of an earlier version.

use std::sync::Arc;

use design::model::Design;
use store::Store;

use super::kept::Writing;
use super::numbers::{self as registry, Found, Registered};
use super::open_error::OpenError;
use crate::calls::CallError;
use crate::core::{Clock, Lowered, Runtime, Settings, SystemClock};

impl Runtime {
    /// Opens a design on a store that keeps its state in this process.
    pub fn open(
        design: Design,
        store: Arc<dyn Store>,
        settings: Settings,
    ) -> Result<Runtime, OpenError> {
        let clock = Arc::new(SystemClock::of(Arc::clone(&settings.surroundings)));
        Runtime::open_with_clock(design, store, settings, clock)
    }

    /// The same for a design that is lowered already, and may be opened many times.
    pub fn open_lowered(
        lowered: &Arc<Lowered>,
        store: Arc<dyn Store>,
        settings: Settings,
    ) -> Result<Runtime, OpenError> {
        let clock = Arc::new(SystemClock::of(Arc::clone(&settings.surroundings)));
        Runtime::open_as(lowered, None, store, settings, clock)
    }

    /// The same, and the text of the design is kept beside it.
    pub fn open_with_text<'t>(
        design: Design,
        text: impl Into<Writing<'t>>,
        store: Arc<dyn Store>,
        settings: Settings,
        clock: Arc<dyn Clock>,
    ) -> Result<Runtime, OpenError> {
        Runtime::open_as(&lower(design)?, Some(text.into()), store, settings, clock)
    }

    pub fn open_with_clock(
        design: Design,
        store: Arc<dyn Store>,
        settings: Settings,
        clock: Arc<dyn Clock>,
    ) -> Result<Runtime, OpenError> {
        Runtime::open_as(&lower(design)?, None, store, settings, clock)
    }

    fn open_as(
        lowered: &Arc<Lowered>,
        text: Option<Writing<'_>>,
        store: Arc<dyn Store>,
        settings: Settings,
        clock: Arc<dyn Clock>,
    ) -> Result<Runtime, OpenError> {
        match registry::register(lowered, text, store.as_ref(), &settings)? {
            Found::Ready(found) => {
                let Registered { schema, older, epoch } = *found;
                let opened = Runtime::of(schema, older, store, clock, settings).within(epoch);
                if opened.fence.is_none() {
                    return Ok(opened);
                }
                match opened.block_on(opened.in_time()) {
                    Err(CallError::Skewed(skewed)) => Err(OpenError::Skewed(skewed)),
                    _ => Ok(opened),
                }
            }
            Found::Differs(found) => {
                let Registered { schema, older, epoch } = *found;
                let stored = Runtime::of(schema, older, store, clock, settings).within(epoch);
                let design = Design::clone(&lowered.design);
                let replaced =
                    stored.replace_with(design, text, &[]).map_err(OpenError::Replace)?;
                replaced.remove_left_over().map_err(OpenError::LeftOver)?;
                Ok(replaced)
            }
        }
    }
}

/// What cannot be lowered changes nothing in the store.
fn lower(design: Design) -> Result<Arc<Lowered>, OpenError> {
    Lowered::of(design).map(Arc::new).map_err(OpenError::Design)
}
