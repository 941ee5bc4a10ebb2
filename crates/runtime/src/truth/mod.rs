//! Records as they are stored, one by one and in pages.

mod listing;
mod reading;

pub use listing::{DueRepair, RecordPage};
pub use reading::Truth;
