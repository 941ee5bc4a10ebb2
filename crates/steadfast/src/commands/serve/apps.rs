//! Where the pages of designs are: a folder `NAME.app` beside the file, or in the program.

use std::path::Path;

use console::{Apps, Files};

use super::wanted::Wanted;
use crate::catalog;

pub fn apps(designs: &[Wanted]) -> Apps {
    let all = designs.iter().filter_map(|wanted| Some((wanted.name.clone(), files(wanted)?)));
    Apps::new(all)
}

fn files(wanted: &Wanted) -> Option<Files> {
    match &wanted.path {
        Some(path) => folder(path).map(Files::Folder),
        None => {
            let page = catalog::find(&wanted.name)?.page();
            (!page.is_empty()).then_some(Files::Packed(page))
        }
    }
}

/// Only a folder that has a first page is meant to be one.
fn folder(path: &Path) -> Option<std::path::PathBuf> {
    let folder = path.with_extension("app");
    folder.join("index.html").is_file().then_some(folder)
}
