//! What this process has used, as the system counts it.

use std::fs;
use std::path::{Path, PathBuf};

/// Processor time of all threads, in microseconds.
pub fn cpu_us() -> u64 {
    let tasks = fs::read_dir("/proc/self/task").expect("the list of threads");
    let of_thread = |task: fs::DirEntry| {
        // Nanoseconds on a processor; a thread that just ended is left out.
        let text = fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        text.split(' ').next().and_then(|first| first.parse::<u64>().ok()).unwrap_or(0)
    };
    tasks.filter_map(Result::ok).map(of_thread).sum::<u64>() / 1000
}

/// Bytes that this process caused to be written to disks.
pub fn written_bytes() -> u64 {
    field("/proc/self/io", "write_bytes:")
}

/// Memory that this process holds.
pub fn resident_bytes() -> u64 {
    field("/proc/self/status", "VmRSS:") * 1024
}

fn field(path: &str, name: &str) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// A directory for one measurement, removed when it ends.
pub struct Directory(PathBuf);

impl Directory {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("steadfast-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a directory to measure in");
        Directory(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
