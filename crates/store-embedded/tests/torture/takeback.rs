//! The layer that takes back what was not synced: builds it, and does so after a kill.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use store::Seeded;

const SECTOR_BYTES: usize = 512;

pub struct TakeBack {
    library: PathBuf,
    /// Where the layer keeps its journal, and files that have lost their names.
    aside: PathBuf,
    root: PathBuf,
    lies: bool,
}

/// What was taken back, over all kills.
#[derive(Clone, Copy, Debug, Default)]
pub struct Taken {
    pub sectors: u64,
    pub names: u64,
}

/// A change of names, as the journal has it.
enum Naming {
    Created(PathBuf),
    Renamed { from: PathBuf, to: PathBuf, replaced: u64 },
    Removed { path: PathBuf, kept: u64 },
}

impl Naming {
    fn directory(&self) -> Option<&Path> {
        match self {
            Naming::Created(path) | Naming::Removed { path, .. } => path.parent(),
            Naming::Renamed { to, .. } => to.parent(),
        }
    }
}

/// What stood in a file when it was synced last.
#[derive(Default)]
struct Before {
    length: Option<u64>,
    sectors: BTreeMap<u64, Vec<u8>>,
}

impl TakeBack {
    /// Builds the layer, for what happens below `root`; its syncs may be lies.
    pub fn build(place: &Path, root: &Path, lies: bool) -> TakeBack {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/torture/takeback.c");
        let library = place.join("takeback.so");
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&library, &source])
            .args(["-ldl", "-lpthread"])
            .status();
        assert!(built.expect("a C compiler, `cc`").success(), "the layer is not built");
        let aside = place.join("aside");
        TakeBack { library, aside, root: root.to_path_buf(), lies }
    }

    /// Puts the layer under a process that is about to be started.
    pub fn under(&self, command: &mut Command) {
        // What the life before has left was dealt with.
        let _ = fs::remove_dir_all(&self.aside);
        fs::create_dir_all(&self.aside).expect("a directory for the journal");
        command.env("LD_PRELOAD", &self.library);
        command.env("TAKEBACK_ROOT", &self.root).env("TAKEBACK_JOURNAL", &self.aside);
        if self.lies {
            command.env("TAKEBACK_LIE", "1");
        }
    }

    /// Of what was not synced some is lost, as chance decides: writes by sectors, and of the
    /// changes of names the last ones.
    pub fn take_back(&self, seeded: &mut Seeded) -> Taken {
        let journal = fs::read(self.aside.join("journal")).expect("a journal");
        let (mut files, mut names) = (BTreeMap::<u64, Before>::new(), Vec::new());
        let mut rest = &journal[..];
        while let Some((kind, number, data, after)) = record(rest) {
            rest = after;
            match kind {
                b'W' => files.entry(number).or_default().add(data),
                b'S' => drop(files.remove(&number)),
                b'D' => {
                    let synced = path(data);
                    names.retain(|naming: &Naming| naming.directory() != Some(&synced));
                }
                _ => names.push(naming(kind, number, data)),
            }
        }
        let places = self.places();
        let mut taken = Taken::default();
        for (file, before) in files {
            // One that has no name any more and was not kept matters to nobody.
            if let Some(path) = places.get(&file) {
                taken.sectors += before.restore(path, seeded);
            }
        }
        let kept = seeded.below(names.len() as u64 + 1) as usize;
        for naming in names.drain(kept..).rev() {
            taken.names += 1;
            self.undo(naming);
        }
        taken
    }

    /// Every file by its number on the disk.
    fn places(&self) -> BTreeMap<u64, PathBuf> {
        let mut places = BTreeMap::new();
        let mut folders = vec![self.aside.clone(), self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                } else {
                    places.insert(entry.metadata().unwrap().ino(), entry.path());
                }
            }
        }
        places
    }

    /// The process may have been killed before it did what it had written down.
    fn undo(&self, naming: Naming) {
        let kept = |number: u64| self.aside.join(number.to_string());
        match naming {
            Naming::Created(path) => drop(fs::remove_file(path)),
            Naming::Removed { path, kept: number } => {
                if number > 0 && !path.exists() {
                    fs::rename(kept(number), path).expect("a name comes back");
                }
            }
            Naming::Renamed { from, to, replaced } => {
                if from.exists() || !to.exists() {
                    return;
                }
                fs::rename(&to, from).expect("a name is taken back");
                if replaced > 0 {
                    fs::rename(kept(replaced), to).expect("what was replaced comes back");
                }
            }
        }
    }
}

impl Before {
    fn add(&mut self, data: &[u8]) {
        let number = |at: usize| u64::from_le_bytes(data[at..at + 8].try_into().unwrap());
        self.length.get_or_insert(number(0));
        let first = number(8) / SECTOR_BYTES as u64;
        for (n, sector) in (first..).zip(data[16..].chunks(SECTOR_BYTES)) {
            self.sectors.entry(n).or_insert_with(|| sector.to_vec());
        }
    }

    fn restore(self, path: &Path, seeded: &mut Seeded) -> u64 {
        let file: File = OpenOptions::new().write(true).open(path).expect("a file");
        let mut taken = 0;
        let now = file.metadata().unwrap().len();
        for (n, sector) in self.sectors {
            let start = n * SECTOR_BYTES as u64;
            let bytes = (now.saturating_sub(start) as usize).min(sector.len());
            if seeded.percent(50) {
                file.write_all_at(&sector[..bytes], start).expect("a sector");
                taken += 1;
            }
        }
        let length = self.length.unwrap_or(0);
        if length < now && seeded.percent(50) {
            file.set_len(length).expect("a length");
        }
        taken
    }
}

fn record(bytes: &[u8]) -> Option<(u8, u64, &[u8], &[u8])> {
    let number = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let (kind, first, length) = (number(0)?, number(8)?, number(24)? as usize);
    let data = bytes.get(32..32 + length)?;
    Some((kind as u8, first, data, &bytes[32 + length..]))
}

fn naming(kind: u8, number: u64, data: &[u8]) -> Naming {
    let split = data.iter().position(|byte| *byte == b'\n').expect("two paths");
    let (one, two) = (path(&data[..split]), path(&data[split + 1..]));
    match kind {
        b'C' => Naming::Created(one),
        b'R' => Naming::Renamed { from: one, to: two, replaced: number },
        b'U' => Naming::Removed { path: one, kept: number },
        _ => panic!("the journal has a record `{kind}`"),
    }
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8(bytes.to_vec()).expect("a path"))
}
