//! A folder with one file for each text. Files come whole or not at all, and the oldest go.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use model_checker::Word;

use super::{kept, note};
use crate::problem::reason;

pub struct Folder {
    path: PathBuf,
    files_max: usize,
}

/// Texts whose verdict is kept.
const FILES_MAX: usize = 1_000;
/// No verdict is so long.
const FILE_BYTES_MAX: u64 = 64 << 10;
/// Whoever wrote a file that is not finished by then was killed.
const UNFINISHED_AGE: Duration = Duration::from_secs(3_600);
const UNFINISHED: &str = "unfinished";

impl Folder {
    pub fn new(path: PathBuf) -> Folder {
        Folder { path, files_max: FILES_MAX }
    }

    fn file(&self, mark: &str) -> PathBuf {
        self.path.join(format!("{mark}.json"))
    }

    pub fn find(&self, mark: &str) -> Option<Word> {
        let path = self.file(mark);
        let form = match read(&path) {
            Ok(form) => form,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                let why = reason(&error);
                note(&format!("the verdict in `{}` is ignored: {why}", path.display()));
                return None;
            }
        };
        match kept::read(&form, mark) {
            Ok(word) => Some(word),
            Err(why) => {
                note(&format!("the verdict in `{}` is ignored: {why}", path.display()));
                None
            }
        }
    }

    /// A verdict that knows nothing does not take the place of one that does.
    pub fn keep(&self, mark: &str, word: &Word, form: &str) {
        if matches!(word, Word::NotKnown { .. })
            && self.find(mark).is_some_and(|known| !matches!(known, Word::NotKnown { .. }))
        {
            return;
        }
        let written = self.write(mark, form).and_then(|()| self.remove_oldest());
        if let Err(error) = written {
            let (folder, why) = (self.path.display(), reason(&error));
            note(&format!("the verdict is not kept in `{folder}`: {why}"));
        }
    }

    fn write(&self, mark: &str, form: &str) -> io::Result<()> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        make(&self.path)?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{mark}-{}-{number}.{UNFINISHED}", std::process::id());
        let unfinished = self.path.join(name);
        let written = (|| {
            let mut file = File::create_new(&unfinished)?;
            file.write_all(form.as_bytes())?;
            file.sync_all()?;
            fs::rename(&unfinished, self.file(mark))
        })();
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        written
    }

    fn remove_oldest(&self) -> io::Result<()> {
        let now = SystemTime::now();
        let mut found: Vec<(SystemTime, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let path = entry?.path();
            // somebody else may have removed it
            let Ok(changed) = fs::metadata(&path).and_then(|about| about.modified()) else {
                continue;
            };
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("json") => found.push((changed, path)),
                Some(UNFINISHED) if now.duration_since(changed).is_ok_and(is_over) => {
                    let _ = fs::remove_file(path);
                }
                _ => {}
            }
        }
        found.sort();
        let too_many = found.len().saturating_sub(self.files_max);
        for (_, path) in &found[..too_many] {
            let _ = fs::remove_file(path);
        }
        Ok(())
    }
}

fn is_over(age: Duration) -> bool {
    age > UNFINISHED_AGE
}

fn make(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn read(path: &Path) -> io::Result<String> {
    let mut form = String::new();
    File::open(path)?.take(FILE_BYTES_MAX).read_to_string(&mut form)?;
    Ok(form)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scratch(Folder);

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0.path);
        }
    }

    fn scratch(test: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("verdicts-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Scratch(Folder { path, files_max: 3 })
    }

    fn keep(folder: &Folder, mark: &str, word: Word) {
        folder.keep(mark, &word, &kept::write(mark, "D", &word));
    }

    #[test]
    fn the_newest_few_are_kept_whole() {
        let Scratch(folder) = &scratch("few");
        assert_eq!(folder.find("a"), None);
        for mark in ["a", "b", "c", "d"] {
            keep(folder, mark, Word::Proved);
            // the clock of a file system is coarse
            std::thread::sleep(Duration::from_millis(15));
        }
        let found = ["a", "b", "c", "d"].map(|mark| folder.find(mark));
        let kept = Some(Word::Proved);
        assert_eq!(found, [None, kept.clone(), kept.clone(), kept]);
        let names = fs::read_dir(&folder.path).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.filter(|name| !name.to_string_lossy().ends_with(".json")).count(), 0);
    }

    #[test]
    fn a_verdict_that_knows_nothing_takes_no_ones_place() {
        let Scratch(folder) = &scratch("nothing");
        let unknown = |why: &str| Word::NotKnown { why: why.into() };
        keep(folder, "a", unknown("small budget"));
        keep(folder, "a", unknown("large budget"));
        assert_eq!(folder.find("a"), Some(unknown("large budget")));
        keep(folder, "a", Word::Violated);
        keep(folder, "a", unknown("small budget"));
        assert_eq!(folder.find("a"), Some(Word::Violated));
    }

    #[test]
    fn what_is_foreign_is_left_alone_and_written_over() {
        let Scratch(folder) = &scratch("foreign");
        make(&folder.path).unwrap();
        fs::write(folder.file("a"), b"\xff\xfe not a text").unwrap();
        fs::write(folder.file("b"), "{\"half\": ").unwrap();
        fs::create_dir(folder.file("c")).unwrap();
        for mark in ["a", "b", "c"] {
            assert_eq!(folder.find(mark), None, "{mark}");
        }
        keep(folder, "a", Word::Proved);
        assert_eq!(folder.find("a"), Some(Word::Proved));
        // what cannot be written is not kept, and that is all
        keep(folder, "c", Word::Proved);
        assert_eq!(folder.find("c"), None);
    }
}
