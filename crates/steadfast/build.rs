//! Puts the catalog with its pages, what is known of its archetypes and the pages of the error codes into the binary: one table of
//! names and texts for each, in the order of their names, so that the same sources give the same binary.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let home = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let root = home.join("../..").canonicalize()?;
    let mut tables = String::new();
    table(&mut tables, "DESIGNS", &root.join("designs"), "design")?;
    table(&mut tables, "FACTS", &root.join("designs/facts"), "tsv")?;
    table(&mut tables, "ERRORS", &root.join("docs/errors"), "md")?;
    pages(&mut tables, &root.join("designs"))?;
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("embedded.rs"), tables)
}

/// A static `NAME: &[(path below the folder, text)]`.
fn table(tables: &mut String, name: &str, folder: &Path, extension: &str) -> io::Result<()> {
    let mut files = Vec::new();
    collect(folder, extension, &mut files)?;
    files.sort();
    let _ = writeln!(tables, "pub static {name}: &[(&str, &str)] = &[");
    for file in files {
        let below = file.strip_prefix(folder).unwrap_or(&file);
        let below = below.to_string_lossy().replace('\\', "/");
        let _ = writeln!(tables, "    ({below:?}, include_str!({file:?})),");
    }
    tables.push_str("];\n");
    Ok(())
}

/// `PAGES: &[(path below the folder, content)]`: all files of the folders `NAME.app`, which may be pictures, too.
fn pages(tables: &mut String, folder: &Path) -> io::Result<()> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(folder)? {
        let within = entry?.path();
        if within.is_dir() {
            println!("cargo::rerun-if-changed={}", within.display());
            folders.extend(fs::read_dir(&within)?.collect::<io::Result<Vec<_>>>()?);
        }
    }
    let mut files = Vec::new();
    for path in folders.into_iter().map(|entry| entry.path()) {
        if path.is_dir() && path.extension().is_some_and(|extension| extension == "app") {
            all(&path, &mut files)?;
        }
    }
    files.sort();
    tables.push_str("pub static PAGES: &[(&str, &[u8])] = &[\n");
    for file in files {
        let below = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        let _ = writeln!(tables, "    ({below:?}, include_bytes!({file:?})),");
    }
    tables.push_str("];\n");
    Ok(())
}

fn all(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            all(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// Every file with this extension in the folder and below. A file that appears later changes its
/// folder's time of modification, so watching folders is enough; contents are watched by
/// `include_str!`.
fn collect(folder: &Path, extension: &str, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(()); // not written yet
    };
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, extension, files)?;
        } else if path.extension().is_some_and(|e| e == extension) {
            files.push(path);
        }
    }
    Ok(())
}
