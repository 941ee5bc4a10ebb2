//! The modules of one crate and the files that hold them, found from its root by following `mod`.

use super::imports::{self, Import, Imports};
use crate::repo::File;

struct Module<'a> {
    /// From the root of the crate, which is the empty path.
    path: Vec<String>,
    file: &'a File,
    found: Imports,
}

pub struct Modules<'a> {
    modules: Vec<Module<'a>>,
}

impl<'a> Modules<'a> {
    /// Every module that the file `root` of `folder` reaches; none if there is no such file.
    pub fn from(files: &'a [File], folder: &str, root: &str) -> Modules<'a> {
        let mut modules = Modules { modules: Vec::new() };
        let root = format!("{folder}{root}");
        if let Some(file) = files.iter().find(|file| file.path == root) {
            modules.add(files, folder, Vec::new(), file);
        }
        modules
    }

    /// Adds a module and everything below it; `folder` is where its children
    /// stand, with a slash at its end.
    fn add(&mut self, files: &'a [File], folder: &str, path: Vec<String>, file: &'a File) {
        let found = imports::read(&file.text);
        for name in &found.declared {
            let below = format!("{folder}{name}/");
            let places = [format!("{folder}{name}.rs"), format!("{below}mod.rs")];
            if let Some(child) = files.iter().find(|file| places.contains(&file.path)) {
                let mut path = path.clone();
                path.push(name.clone());
                self.add(files, &below, path, child);
            }
        }
        self.modules.push(Module { path, file, found });
    }

    pub fn file(&self, index: usize) -> &'a File {
        self.modules[index].file
    }

    /// For each module the modules that it imports from, itself left out.
    pub fn edges(&self) -> Vec<Vec<usize>> {
        let edges = self.modules.iter().enumerate().map(|(index, module)| {
            let imported = module.found.imports.iter();
            let mut to: Vec<usize> =
                imported.filter_map(|import| self.target(module, import)).collect();
            to.sort_unstable();
            to.dedup();
            to.retain(|&target| target != index);
            to
        });
        edges.collect()
    }

    /// The module whose file an import leads to, unless it leads out of the crate or is the face
    /// that a module gives to what stands below it.
    fn target(&self, module: &Module<'_>, import: &Import) -> Option<usize> {
        let here: Vec<String> = [&module.path[..], &import.inside].concat();
        let (mut at, mut rest) = match import.path[0].as_str() {
            "crate" => (Vec::new(), &import.path[1..]),
            "self" => (here, &import.path[1..]),
            "super" => (here, &import.path[..]),
            // a name alone is a module below, or another crate
            name => {
                let child = [&module.path[..], &[name.to_owned()]].concat();
                self.find(&child)?;
                (here, &import.path[..])
            }
        };
        while let Some((_, after)) = rest.split_first().filter(|(first, _)| *first == "super") {
            at.pop();
            rest = after;
        }
        let whole = [&at[..], rest].concat();
        let target = (0..=whole.len()).rev().find_map(|length| self.find(&whole[..length]))?;
        let below = self.modules[target].path.starts_with(&module.path);
        (!(import.exported && below)).then_some(target)
    }

    fn find(&self, path: &[String]) -> Option<usize> {
        self.modules.iter().position(|module| module.path == path)
    }
}
