//! Texts that are part of the program and that an editor is to open: archetypes of the catalog, pages of error codes.
//!
//! They are written as files, since every editor can open one; a document of the server's own would need a client that
//! knows how to ask for it. A file is written when somebody is first led to it, and is not to be edited.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use gen_lsp_types::Uri;

pub struct Shelf {
    /// none: nothing can be written
    folder: Option<PathBuf>,
}

impl Shelf {
    pub fn new(folder: Option<PathBuf>) -> Shelf {
        Shelf { folder: folder.filter(|folder| folder.is_absolute()) }
    }

    /// Where this text can be opened.
    pub fn place(&self, kind: &str, name: &str, text: &str) -> Option<Uri> {
        // another version of the program has other texts
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let folder = self.folder.as_ref()?.join(kind).join(format!("{:016x}", hasher.finish()));
        let path = folder.join(name);
        let there = fs::read_to_string(&path).is_ok_and(|held| held == text);
        if !there {
            write(&folder, &path, text).ok()?;
        }
        Some(uri_of(&path))
    }
}

fn write(folder: &Path, path: &Path, text: &str) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    // whole or not at all: two editors may be here
    let unfinished = folder.join(format!("{}.unfinished", std::process::id()));
    fs::write(&unfinished, text)?;
    let mut rights = fs::metadata(&unfinished)?.permissions();
    rights.set_readonly(true);
    fs::set_permissions(&unfinished, rights)?;
    fs::rename(&unfinished, path)
}

/// A path as `file://…`, with what is special in an address spelled out.
fn uri_of(path: &Path) -> Uri {
    let mut text = String::from("file://");
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                text.push(char::from(byte));
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    Uri(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_written_once_and_put_right_when_it_is_damaged() {
        let folder = std::env::temp_dir().join(format!("shelf {}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let shelf = Shelf::new(Some(folder.clone()));
        let uri = shelf.place("errors", "E0001.md", "# one\n").unwrap();
        assert!(uri.0.starts_with("file:///") && uri.0.contains("shelf%20"), "{uri}");
        let path = fs::read_dir(folder.join("errors")).unwrap().next().unwrap().unwrap().path();
        let path = path.join("E0001.md");
        assert_eq!(fs::read_to_string(&path).unwrap(), "# one\n");
        fs::remove_file(&path).unwrap();
        fs::write(&path, "half").unwrap();
        assert_eq!(shelf.place("errors", "E0001.md", "# one\n"), Some(uri.clone()));
        assert_eq!(fs::read_to_string(&path).unwrap(), "# one\n");
        assert_ne!(
            shelf.place("errors", "E0001.md", "# two\n"),
            Some(uri),
            "another text, another place"
        );
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(Shelf::new(None).place("errors", "E0001.md", ""), None);
        assert_eq!(Shelf::new(Some("here".into())).place("errors", "E0001.md", ""), None);
    }
}
