//! What is planted is found, made smaller, and shown again by its seed.

use std::any::Any;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use design::NoCatalog;
use design::model::Design;
use simulator::{Outcome, Simulator, Size, TRIES_MAX, Trouble, shrink};
use store_embedded::disk::{Disk, DiskFile, SimulatedDisk};

pub const SEATS: &str = r#"design Seats
actor buyer { mine: int? of Seat }
actor sweeper
actor bank
subject Seat(seat: text) {
    truth SeatState { holders: int = 0, sold: int = 0, turn: int = 0, paid: int = 0 }
}
step buyer[hold(seat: Seat) { free: SeatState.holders = 0 }] {
    SeatState.holders += 1
    SeatState.turn += 1
    mine := SeatState.turn
}
step buyer[buy(seat: Seat) {
    held: SeatState.holders > 0
    yours: SeatState.turn = mine
}] {
    SeatState.holders -= 1
    SeatState.sold += 1
    send bank.pay(seat, SeatState.turn)
}
effect bank[pay(seat: Seat, turn: int)] {
    call POST "{bank.url}/pay" body { seat }
    on ok { SeatState.paid += 1 }
    on refused {}
    on unknown { send bank.pay(seat, turn) }
}
repair sweeper[release(seat: Seat) { held: SeatState.holders > 0 }] after 10m {
    SeatState.holders := 0
}
read buyer[look(seat: Seat)] = SeatState
view Held = count Seat where holders > 0
invariant one_holder: all s in Seat: s.holders <= 1
invariant paid_once: all s in Seat: s.paid <= s.sold
invariant turns: all s in Seat: s.turn >= old(s.turn)
recovers released: all s in Seat: s.holders = 0
check { seat: 1 buyer: 2 SeatState.turn: 0..2 faults: lost_reply, crash }
"#;

pub fn compile(text: &str) -> Design {
    let compiled = design::compile("planted", text, &NoCatalog);
    compiled.design.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics))
}

/// The first world that goes wrong, among so many.
fn hunt(simulator: &Simulator, worlds: u64) -> Option<Outcome> {
    (0..worlds).map(|seed| simulator.draw(seed)).find(|outcome| outcome.trouble.is_some())
}

/// Found, made smaller, and shown again.
fn found(simulator: &Simulator, worlds: u64, what: &str) -> Outcome {
    let wrong = hunt(simulator, worlds).unwrap_or_else(|| panic!("nothing is found: {what}"));
    let (seed, calls, digest) = (wrong.script.seed, wrong.script.calls(), wrong.digest.to_string());
    let kind = wrong.trouble.as_ref().map(Trouble::kind);
    let again = simulator.draw(seed);
    assert_eq!(again.digest.to_string(), digest, "{what}: seed {seed} shows something else");
    let shrunk = shrink(simulator, wrong, TRIES_MAX);
    assert_eq!(shrunk.outcome.trouble.as_ref().map(Trouble::kind), kind, "{what}");
    println!(
        "{what}: seed {seed}, {} ({calls} calls, {} after {} tries)",
        kind.unwrap_or_default(),
        shrunk.outcome.script.calls(),
        shrunk.tries
    );
    shrunk.outcome
}

#[test]
fn a_sound_design_goes_well() {
    let simulator = Simulator::new(compile(SEATS), Size::default()).unwrap();
    let wrong = hunt(&simulator, 60);
    assert!(wrong.is_none(), "{:?}", wrong.map(|wrong| (wrong.trouble, wrong.story)));
}

/// One thing is written as another, and what that breaks.
#[test]
fn a_design_that_is_wrong_is_found() {
    let wrong = [
        ("{ free: SeatState.holders = 0 }", "", "breaks `one_holder`"),
        (
            "held: SeatState.holders > 0 }] after",
            "held: SeatState.holders > 1 }] after",
            "does not recover `released`",
        ),
        ("SeatState.turn += 1", "SeatState.turn := 1 - SeatState.turn", "breaks `turns`"),
        ("on ok { SeatState.paid += 1 }", "on ok { SeatState.paid += 2 }", "breaks `paid_once`"),
    ];
    for (from, to, kind) in wrong {
        let text = SEATS.replacen(from, to, 1);
        assert_ne!(text, SEATS, "{from}");
        let simulator =
            Simulator::new(compile(&text), Size { calls: 200, ..Size::default() }).unwrap();
        let outcome = found(&simulator, 100, kind);
        assert_eq!(outcome.trouble.map(|trouble| trouble.kind()).as_deref(), Some(kind));
        assert!(outcome.script.calls() <= 20, "{kind}: {:?}", outcome.script);
    }
}

/// A disk that does not do what it says.
#[derive(Debug)]
struct Lying(SimulatedDisk, Lie, Arc<AtomicU64>);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lie {
    /// it says that it has synced: as if an answer came before the sync
    Syncs,
    /// it says that names are durable
    Names,
    /// one write in fifty goes to another place
    Astray,
    /// one write in fifty is a part of what it should be, and it says nothing
    Torn,
}

#[derive(Debug)]
struct LyingFile(Box<dyn DiskFile>, Lie, Arc<AtomicU64>);

impl Lying {
    fn file(&self, file: Box<dyn DiskFile>) -> Box<dyn DiskFile> {
        Box::new(LyingFile(file, self.1, Arc::clone(&self.2)))
    }
}

impl Disk for Lying {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.0.create(path).map(|file| self.file(file))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.0.open(path).map(|file| self.file(file))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.remove(path)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        self.0.list(directory)
    }

    fn create_directory(&self, directory: &Path) -> io::Result<()> {
        self.0.create_directory(directory)
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        if self.1 == Lie::Names { Ok(()) } else { self.0.sync_directory(directory) }
    }

    fn tighten(&self, path: &Path) -> io::Result<Option<u32>> {
        self.0.tighten(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Any + Send + Sync>>> {
        self.0.lock(path)
    }
}

impl LyingFile {
    fn one_in_fifty(&self) -> bool {
        self.2.fetch_add(1, Ordering::Relaxed) % 50 == 7
    }
}

impl DiskFile for LyingFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        match self.1 {
            Lie::Torn if self.one_in_fifty() => self.0.write_at(offset, &bytes[..bytes.len() / 2]),
            Lie::Astray if self.one_in_fifty() => self.0.write_at(offset + 512, bytes),
            _ => self.0.write_at(offset, bytes),
        }
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(offset, buffer)
    }

    fn length(&self) -> io::Result<u64> {
        self.0.length()
    }

    fn sync(&self) -> io::Result<()> {
        if self.1 == Lie::Syncs { Ok(()) } else { self.0.sync() }
    }
}

#[test]
fn a_disk_that_lies_is_found() {
    for lie in [Lie::Syncs, Lie::Names, Lie::Astray, Lie::Torn] {
        let mut simulator =
            Simulator::new(compile(SEATS), Size { calls: 200, ..Size::default() }).unwrap();
        simulator.disk =
            Some(Arc::new(move |disk| Arc::new(Lying(disk, lie, Arc::default())) as Arc<dyn Disk>));
        found(&simulator, 100, &format!("{lie:?}"));
    }
}
