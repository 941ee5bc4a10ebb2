//! A disk in memory that forgets what was not synced, and fails when told to.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use store::{Hash, Hasher, Seeded};

use super::content::{Content, SECTOR_BYTES};
use super::sectors::Sectors;
use super::{Disk, DiskFile};

/// What goes wrong, each counted in operations of its kind from now on.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// The power is cut before this operation that changes anything: it and all later ones fail.
    pub crash_at: Option<u64>,
    /// The power is cut so many operations after so many names have changed. Whoever relies on a name that no sync has
    /// made durable is met there, and rarely elsewhere: the next sync of the directory covers it.
    pub crash_after_name: Option<AfterName>,
    /// This write stores only a part and fails.
    pub short_write_at: Option<u64>,
    /// This sync fails, and what it should have made durable is lost.
    pub failed_sync_at: Option<u64>,
    /// So many bytes fit on the disk.
    pub capacity_bytes: Option<u64>,
}

/// A moment soon after a name has changed, both counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AfterName {
    pub name: u64,
    pub operations: u64,
}

/// Clones share one disk.
#[derive(Clone, Debug, Default)]
pub struct SimulatedDisk(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    faults: Faults,
    operations: u64,
    /// How many changes of names, and before which operation the power is cut because of one of them.
    named: u64,
    crash_at: Option<u64>,
    writes: u64,
    syncs: u64,
    crashed: bool,
    failed: bool,
    files: BTreeMap<u64, File>,
    names: BTreeMap<PathBuf, u64>,
    durable_names: BTreeMap<PathBuf, u64>,
    /// Changes of names that no sync has made durable, oldest first. Each happens as a whole.
    renames: Vec<Vec<(PathBuf, Option<u64>)>>,
    locks: BTreeSet<PathBuf>,
}

#[derive(Clone, Debug, Default)]
struct File {
    current: Content,
    durable: Content,
    dirty: Sectors,
}

impl SimulatedDisk {
    pub fn new() -> Self {
        SimulatedDisk::default()
    }

    /// Counts anew from here.
    pub fn set_faults(&self, faults: Faults) {
        let mut state = self.state();
        (state.operations, state.named, state.writes, state.syncs) = (0, 0, 0, 0);
        state.crash_at = faults.crash_at;
        state.failed = false;
        state.faults = faults;
    }

    pub fn has_crashed(&self) -> bool {
        self.state().crashed
    }

    /// Has a write or a sync failed since the faults were set, or did something not fit?
    pub fn has_failed(&self) -> bool {
        self.state().failed
    }

    /// How many operations have changed anything since the faults were set.
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// Of everything that decides what happens next: names and contents, synced and not, and what was counted.
    pub fn digest(&self) -> Hash {
        let state = self.state();
        let mut digest = Digest::default();
        digest.numbers(&[state.operations, state.writes, state.syncs, state.crashed.into()]);
        for (path, file) in state.names.iter().chain(&state.durable_names) {
            digest.bytes(path.as_os_str().as_encoded_bytes());
            digest.numbers(&[*file]);
        }
        for (path, file) in state.renames.iter().flatten() {
            digest.bytes(path.as_os_str().as_encoded_bytes());
            digest.numbers(&[file.unwrap_or(u64::MAX)]);
        }
        for (number, file) in &state.files {
            digest.numbers(&[*number]);
            digest.content(&file.current);
            digest.content(&file.durable);
            file.dirty.iter().for_each(|sector| digest.numbers(&[sector as u64]));
        }
        digest.finish()
    }

    /// What the disk holds when the power comes back: everything that was synced, and of the rest
    /// whatever chance decides.
    pub fn after_power_cut(&self, seeded: &mut Seeded) -> SimulatedDisk {
        let mut state = self.state();
        state.crashed = true;
        let mut names = state.durable_names.clone();
        let changes = state.renames.len();
        let kept = seeded.below(changes as u64 + 1) as usize;
        // A journal keeps them in their order. Nobody promises that: without a sync in between, any of them may be lost.
        let in_order = changes < 2 || seeded.percent(50);
        for (at, change) in state.renames.iter().enumerate() {
            let is_lost = if in_order { at >= kept } else { seeded.percent(50) };
            if is_lost {
                continue;
            }
            for (path, file) in change {
                match file {
                    Some(file) => names.insert(path.clone(), *file),
                    None => names.remove(path),
                };
            }
        }
        let mut after = State { names: names.clone(), durable_names: names, ..State::default() };
        for file in after.names.values() {
            let content = state.files[file].after_power_cut(seeded);
            after.files.insert(*file, content);
        }
        SimulatedDisk(Arc::new(Mutex::new(after)))
    }

    /// Flips one bit of a file that is not empty, wherever chance decides, and says where.
    pub fn flip_bit(&self, seeded: &mut Seeded, which: impl Fn(&Path) -> bool) -> Option<String> {
        let mut state = self.state();
        let paths: Vec<PathBuf> = state.names.keys().filter(|p| which(p)).cloned().collect();
        let path = paths.get(seeded.below(paths.len() as u64) as usize)?;
        let file = state.names[path];
        let file = state.files.get_mut(&file)?;
        if file.current.len() == 0 {
            return None;
        }
        let at = seeded.below(file.current.len() as u64) as usize;
        let bit = 1 << seeded.below(8);
        file.current.flip(at, bit);
        file.durable.flip(at, bit);
        Some(format!("{} at {at}", path.display()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, number: u64) -> Box<dyn DiskFile> {
        Box::new(SimulatedFile { disk: self.clone(), number })
    }
}

/// So much is hashed at once: of many short pieces a hash takes several times as long.
const HASHED_BYTES: usize = 64 << 10;

/// A hasher that tells where one thing ends and the next begins.
#[derive(Default)]
struct Digest {
    hasher: Hasher,
    /// is not hashed yet
    held: Vec<u8>,
}

impl Digest {
    fn numbers(&mut self, numbers: &[u64]) {
        numbers.iter().for_each(|number| self.held.extend_from_slice(&number.to_le_bytes()));
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.numbers(&[bytes.len() as u64]);
        self.take(bytes);
    }

    fn content(&mut self, content: &Content) {
        self.numbers(&[content.len() as u64]);
        for (number, sector) in content.held() {
            self.numbers(&[number as u64]);
            self.take(sector);
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
        if self.held.len() >= HASHED_BYTES {
            self.hasher.update(&self.held);
            self.held.clear();
        }
    }

    fn finish(mut self) -> Hash {
        self.hasher.update(&self.held);
        self.hasher.finish()
    }
}

impl File {
    fn after_power_cut(&self, seeded: &mut Seeded) -> File {
        let mut content = self.durable.clone();
        for sector in self.dirty.iter() {
            if sector * SECTOR_BYTES < self.current.len() && seeded.percent(50) {
                content.take(sector, &self.current);
            }
        }
        File { current: content.clone(), durable: content, dirty: Sectors::default() }
    }

    fn write(&mut self, offset: usize, bytes: &[u8]) {
        self.current.write(offset, bytes);
        let end = offset + bytes.len();
        self.dirty.add(offset / SECTOR_BYTES..end.div_ceil(SECTOR_BYTES));
    }

    fn sync(&mut self) {
        self.durable.grow(self.current.len());
        for sector in self.dirty.iter() {
            self.durable.take(sector, &self.current);
        }
        self.dirty.clear();
    }
}

impl State {
    /// Counts an operation that changes something, and cuts the power if its time has come.
    fn change(&mut self) -> io::Result<()> {
        self.operations += 1;
        if self.crash_at.is_some_and(|at| self.operations >= at) {
            self.crashed = true;
        }
        self.alive()
    }

    fn alive(&self) -> io::Result<()> {
        if self.crashed { Err(io::Error::other("the power was cut")) } else { Ok(()) }
    }

    fn name(&mut self, change: Vec<(PathBuf, Option<u64>)>) {
        for (path, file) in &change {
            match file {
                Some(file) => self.names.insert(path.clone(), *file),
                None => self.names.remove(path),
            };
        }
        self.renames.push(change);
        self.named += 1;
        if let Some(AfterName { name, operations }) = self.faults.crash_after_name
            && self.named == name
        {
            let at = self.operations + operations;
            self.crash_at = Some(self.crash_at.map_or(at, |other| other.min(at)));
        }
    }

    fn found(&self, path: &Path) -> io::Result<u64> {
        self.names.get(path).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn bytes(&self) -> u64 {
        self.names.values().map(|file| self.files[file].current.len() as u64).sum()
    }
}

impl Disk for SimulatedDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.state();
        state.change()?;
        let number = state.files.keys().next_back().map_or(0, |last| last + 1);
        state.files.insert(number, File::default());
        state.name(vec![(path.into(), Some(number))]);
        Ok(self.file(number))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let state = self.state();
        state.alive()?;
        let number = state.found(path)?;
        Ok(self.file(number))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.change()?;
        let number = state.found(from)?;
        state.name(vec![(to.into(), Some(number)), (from.into(), None)]);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.change()?;
        state.found(path)?;
        state.name(vec![(path.into(), None)]);
        Ok(())
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        let state = self.state();
        state.alive()?;
        let below = state.names.keys().filter_map(|path| path.strip_prefix(directory).ok());
        let name = |path: &Path| Some(path.iter().next()?.to_string_lossy().into_owned());
        Ok(below.filter_map(name).collect::<BTreeSet<String>>().into_iter().collect())
    }

    fn create_directory(&self, _: &Path) -> io::Result<()> {
        self.state().alive()
    }

    fn sync_directory(&self, _: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.change()?;
        state.durable_names = state.names.clone();
        state.renames.clear();
        Ok(())
    }

    fn tighten(&self, _: &Path) -> io::Result<Option<u32>> {
        self.state().alive().map(|()| None)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Any + Send + Sync>>> {
        let mut state = self.state();
        state.alive()?;
        let free = state.locks.insert(path.to_path_buf());
        Ok(free.then(|| Box::new(Lock { disk: self.clone(), path: path.to_path_buf() }) as _))
    }
}

struct Lock {
    disk: SimulatedDisk,
    path: PathBuf,
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.disk.state().locks.remove(&self.path);
    }
}

#[derive(Debug)]
struct SimulatedFile {
    disk: SimulatedDisk,
    number: u64,
}

impl DiskFile for SimulatedFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.disk.state();
        state.change()?;
        state.writes += 1;
        let grows = (offset + bytes.len() as u64)
            .saturating_sub(state.files[&self.number].current.len() as u64);
        if state.faults.capacity_bytes.is_some_and(|max| grows > 0 && state.bytes() + grows > max) {
            state.failed = true;
            return Err(io::ErrorKind::StorageFull.into());
        }
        let short = state.faults.short_write_at == Some(state.writes);
        state.failed |= short;
        let written = if short { &bytes[..bytes.len() / 2] } else { bytes };
        let file = state.files.get_mut(&self.number).ok_or(io::ErrorKind::NotFound)?;
        file.write(offset as usize, written);
        if short { Err(io::Error::other("only a part was written")) } else { Ok(()) }
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let state = self.disk.state();
        state.alive()?;
        Ok(state.files[&self.number].current.read(offset as usize, buffer))
    }

    fn length(&self) -> io::Result<u64> {
        let state = self.disk.state();
        state.alive()?;
        Ok(state.files[&self.number].current.len() as u64)
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.disk.state();
        state.change()?;
        state.syncs += 1;
        let failed = state.faults.failed_sync_at == Some(state.syncs);
        state.failed |= failed;
        let file = state.files.get_mut(&self.number).ok_or(io::ErrorKind::NotFound)?;
        if failed {
            // As real systems do: the pages count as clean, and no later sync will write them.
            file.dirty.clear();
            return Err(io::Error::other("the sync failed"));
        }
        file.sync();
        Ok(())
    }
}
