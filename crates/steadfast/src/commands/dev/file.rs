//! A file that somebody edits. It is looked at by reading it: a design is a few kilobytes, and what an
//! editor does when it saves (write in place, write aside and rename) makes no difference that way.
//! See docs/decisions/watching.md.

use std::path::{Path, PathBuf};

use crate::load;
use crate::problem::Problem;

/// So many looks in a row may fail: an editor that renames leaves a moment without a file.
const FAILURES_MAX: u32 = 10;

pub struct DesignFile {
    path: PathBuf,
    /// the text that was taken last, whatever came of it
    taken: String,
    /// another text, seen once: it is taken when the next look finds the same
    unsettled: Option<String>,
    failures: u32,
}

/// What a look at the file found.
#[derive(Debug, PartialEq, Eq)]
pub enum Look {
    Same,
    /// a text that is not the one that was taken last, and now is
    Changed(String),
    /// it cannot be read for a while now; told once
    Unreadable(Problem),
}

impl DesignFile {
    pub fn new(path: PathBuf, taken: &str) -> DesignFile {
        DesignFile { path, taken: taken.to_string(), unsettled: None, failures: 0 }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn look(&mut self) -> Look {
        let text = match load::read(&self.path.to_string_lossy()) {
            Ok(loaded) => loaded.text,
            Err(problem) => {
                self.failures = self.failures.saturating_add(1);
                let due = self.failures == FAILURES_MAX;
                return if due { Look::Unreadable(problem) } else { Look::Same };
            }
        };
        self.failures = 0;
        if text == self.taken {
            self.unsettled = None;
            return Look::Same;
        }
        // half of a text may have been written: it is taken once it stays as it is
        if self.unsettled.as_ref() != Some(&text) {
            self.unsettled = Some(text);
            return Look::Same;
        }
        self.unsettled = None;
        self.taken.clone_from(&text);
        Look::Changed(text)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_text_is_taken_once_when_it_stays_as_it_is() {
        let path = std::env::temp_dir().join(format!("dev-file-{}.design", std::process::id()));
        fs::write(&path, "one").unwrap();
        let mut file = DesignFile::new(path.clone(), "one");
        assert_eq!(file.look(), Look::Same);
        fs::write(&path, "tw").unwrap();
        assert_eq!(file.look(), Look::Same, "it may be half of it");
        fs::write(&path, "two").unwrap();
        assert_eq!(file.look(), Look::Same);
        assert_eq!(file.look(), Look::Changed("two".into()));
        assert_eq!(file.look(), Look::Same);
        // changed and changed back between two looks
        fs::write(&path, "three").unwrap();
        assert_eq!(file.look(), Look::Same);
        fs::write(&path, "two").unwrap();
        assert_eq!((file.look(), file.look()), (Look::Same, Look::Same));
        fs::remove_file(&path).unwrap();
        let told = (0..30).filter(|_| matches!(file.look(), Look::Unreadable(_))).count();
        assert_eq!(told, 1);
        fs::write(&path, "four").unwrap();
        assert_eq!((file.look(), file.look()), (Look::Same, Look::Changed("four".into())));
        fs::remove_file(&path).unwrap();
    }
}
