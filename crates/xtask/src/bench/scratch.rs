//! A folder that is gone when the benchmark ends.

use std::path::PathBuf;

pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Result<Self, String> {
        let name = format!("steadfast-bench-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).map_err(|e| format!("no scratch folder: {e}"))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left behind lies in the system's temporary folder, where it does no harm.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::Scratch;

    #[test]
    fn the_scratch_folder_goes_away() {
        let scratch = Scratch::new("test").unwrap();
        let path = scratch.0.clone();
        assert!(path.is_dir());
        drop(scratch);
        assert!(!path.exists());
    }
}
