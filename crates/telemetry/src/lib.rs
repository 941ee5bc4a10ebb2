//! Which request caused what: the trace context that travels from system to system as W3C has it,
//! and the spans that are told of it, as OTLP has them.

mod ids;
mod otlp;
mod span;
mod spans;
mod trace;

pub use otlp::{Resource, document};
pub use span::{Attribute, Kind, Span};
pub use spans::{Spans, Waiting};
pub use trace::{STATE_BYTES_MAX, Trace};
