//! What reading the files again came to.

use crate::error::Result;

/// The damage that is remembered; more is counted only.
const DAMAGED_MAX: usize = 20;

/// What a scrub came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scrubbed {
    /// When it ended, in milliseconds since 1970.
    pub ended_ms: u64,
    pub files: u64,
    pub bytes: u64,
    /// What is not as it was written, by the name of the file; the first of them.
    pub damaged: Vec<String>,
    pub damaged_files: u64,
}

impl Scrubbed {
    pub(crate) fn add(&mut self, examined: Result<u64>) {
        self.files += 1;
        match examined {
            Ok(bytes) => self.bytes += bytes,
            Err(error) => {
                self.damaged_files += 1;
                if self.damaged.len() < DAMAGED_MAX {
                    self.damaged.push(error.to_string());
                }
            }
        }
    }
}
