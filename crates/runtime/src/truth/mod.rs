//! Records as they are stored, one by one and in pages.

mod finding;
mod listing;
mod reading;

pub use finding::{FoundRecords, RecordQuery};
pub use listing::{DueRepair, RecordPage};
pub use reading::Truth;
