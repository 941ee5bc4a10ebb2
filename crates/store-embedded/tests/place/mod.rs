//! A directory for one test, removed when it ends.

use std::path::{Path, PathBuf};

pub struct Place(PathBuf);

impl Place {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("steadfast-{name}-{}", std::process::id()));
        // What an earlier process of the same number left.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a directory for the test");
        Place(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // It is in the directory for temporary files: the system removes it otherwise.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
