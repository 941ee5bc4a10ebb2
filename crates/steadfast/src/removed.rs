//! A folder that is gone in the end.

use std::path::PathBuf;

pub struct Removed(pub PathBuf);

impl Removed {
    /// One of this process among the temporary folders. It is named, and not made.
    pub fn new(what: &str) -> Removed {
        let name = format!("steadfast-{what}-{}", std::process::id());
        Removed(std::env::temp_dir().join(name))
    }
}

impl Drop for Removed {
    fn drop(&mut self) {
        // it may never have been made
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
