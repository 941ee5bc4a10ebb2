//! What every asynchronous request of a store gives.

use std::pin::Pin;

use crate::error::Result;

/// An answer that is on its way.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;
