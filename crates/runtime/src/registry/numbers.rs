//! Which designs a store holds, under which numbers, and how their truth is laid out.
//!
//! A design has another number for every layout it ever had: one of them counts, the older ones
//! tell how the feed of their time is read.

use std::ops::ControlFlow;
use std::sync::Arc;

use design::model::Design;
use layout::{
    About, Damaged, DesignNumber, Epoch, MetaKey, Numbered, Space, Wrong, describe, put_numbers,
    take_numbers,
};
use store::{Decision, KeyRange, LocalStore, Store, Transaction};

use super::kept::Writing;
use super::open_error::OpenError;
use crate::calls::CallError;
use crate::core::{self, Fence, Lowered, Schema, Settings, Stored};
use crate::replacement::{stored_alike, without_places};

/// Keys that are removed in one commit.
const KEYS: usize = 1_000;

/// A design that is ready to run.
pub struct Registered {
    pub schema: Schema,
    pub older: Vec<Arc<Schema>>,
    /// where others may change the store, too
    pub epoch: Option<Epoch>,
}

pub enum Found {
    Ready(Box<Registered>),
    /// the store holds another version, which is this one
    Differs(Box<Registered>),
}

/// Gives the design its number, the same whenever it is opened on this store. Where the store holds
/// it already, and nothing that is stored depends on what differs, it is kept as it is now.
pub fn register(
    lowered: &Arc<Lowered>,
    text: Option<Writing<'_>>,
    store: &dyn Store,
    settings: &Settings,
) -> Result<Found, OpenError> {
    let design = &*lowered.design;
    let Stored { layout: described, written } = lowered.stored();
    let mut outcome: Option<Result<Known, OpenError>> = None;
    let mut left_over = false;
    let mut run = |transaction: &mut dyn Transaction| {
        let mut entries = match read_entries(transaction) {
            Ok(entries) => entries,
            Err(damaged) => {
                outcome = Some(Err(damaged.into()));
                return Decision::Abandon;
            }
        };
        let mut changed = false;
        // where there may be other servers, one of them may be at it
        for entry in entries.iter_mut().filter(|_| store.local().is_some()) {
            if *entry == Numbered::Copying(design.name.clone()) {
                *entry = Numbered::Dead;
                changed = true;
            }
        }
        left_over = entries.iter().any(|e| matches!(e, Numbered::Older(_) | Numbered::Dead));
        let found = entries.iter().position(|e| *e == Numbered::Current(design.name.clone()));
        let number = match found {
            Some(at) => DesignNumber(at as u16),
            None if entries.len() >= usize::from(DesignNumber::NOBODYS.0) => {
                outcome = Some(Err(OpenError::Design("the store holds no more designs".into())));
                return Decision::Abandon;
            }
            None => {
                let number = DesignNumber(entries.len() as u16);
                entries.push(Numbered::Current(design.name.clone()));
                changed = true;
                transaction.put(&meta(number, About::Layout), described.as_bytes());
                keep_design(transaction, number, lowered, text);
                number
            }
        };
        let mut found = known(transaction, &entries, number, (design, written));
        if let Ok(known) = &mut found
            && known.is_stored_like(design, described)
        {
            if store.local().is_none() {
                match next_epoch(transaction, number, design) {
                    Ok((epoch, new)) => {
                        if new {
                            transaction.put(&Fence::key_of(number), &epoch.to_bytes());
                            changed = true;
                        }
                        known.epoch = Some(epoch);
                    }
                    Err(error) => {
                        outcome = Some(Err(error));
                        return Decision::Abandon;
                    }
                }
            }
            if !is_kept(transaction, number, written, text) {
                keep_design(transaction, number, lowered, text);
                changed = true;
            }
        }
        outcome = Some(found);
        if !changed {
            return Decision::Abandon;
        }
        write_entries(transaction, &entries);
        Decision::Commit
    };
    let registered = core::transact(store, None, settings, &mut run);
    settings.surroundings.block_on(registered)?.ticket.wait()?;
    let known = outcome.expect("a transaction that is over has looked")?;
    if let Some(local) = store.local().filter(|_| left_over) {
        remove_left_over(local, &design.name).map_err(OpenError::LeftOver)?;
    }
    let same = known.is_stored_like(design, described);
    let older = known
        .older
        .into_iter()
        .filter_map(|(number, design)| Some(Arc::new(Schema::new(design?, number).ok()?)));
    let older = older.collect();
    let registered = |schema| Box::new(Registered { schema, older, epoch: known.epoch });
    if same {
        return Ok(Found::Ready(registered(Schema::of(Arc::clone(lowered), known.number))));
    }
    match known.stored.other().filter(|stored| describe(stored) == known.layout) {
        Some(stored) => {
            let stored = Schema::new(stored, known.number).map_err(OpenError::Design)?;
            Ok(Found::Differs(registered(stored)))
        }
        None => Err(difference(&known.layout, described)),
    }
}

struct Known {
    number: DesignNumber,
    layout: String,
    stored: Held,
    older: Vec<(DesignNumber, Option<Design>)>,
    epoch: Option<Epoch>,
}

/// What a store holds under the number of a design.
enum Held {
    /// the one that is opened, to the letter
    Same,
    Other(Box<Design>),
    /// it cannot be read by this version of the program
    Unreadable,
}

impl Held {
    fn other(self) -> Option<Design> {
        match self {
            Held::Other(design) => Some(*design),
            Held::Same | Held::Unreadable => None,
        }
    }
}

impl Known {
    /// Nothing that is stored depends on what differs.
    fn is_stored_like(&self, design: &Design, described: &str) -> bool {
        let alike = match &self.stored {
            Held::Same | Held::Unreadable => true,
            Held::Other(stored) => **stored == *design || stored_alike(stored, design),
        };
        self.layout == described && alike
    }
}

fn known(
    transaction: &dyn Transaction,
    entries: &[Numbered],
    number: DesignNumber,
    (opened, written): (&Design, &[u8]),
) -> Result<Known, OpenError> {
    let text = |number, about: About| transaction.get(&meta(number, about)).map(|(_, bytes)| bytes);
    let read = |bytes: &[u8]| design::from_bytes(bytes).ok();
    // to read it costs several times what writing does, and mostly it is the one that is opened
    let stored = match text(number, About::Design) {
        Some(bytes) if bytes == written => Held::Same,
        bytes => match bytes.and_then(read) {
            Some(design) => Held::Other(Box::new(design)),
            None => Held::Unreadable,
        },
    };
    let older_design = |number| text(number, About::Design).and_then(read);
    let missing = || Damaged::value(&meta(number, About::Layout), Wrong::Missing);
    let layout = text(number, About::Layout).ok_or_else(missing)?;
    let older =
        entries.iter().enumerate().filter(|(_, e)| **e == Numbered::Older(opened.name.clone()));
    let older = older.map(|(at, _)| DesignNumber(at as u16));
    Ok(Known {
        number,
        layout: String::from_utf8_lossy(layout).into_owned(),
        stored,
        older: older.map(|number| (number, older_design(number))).collect(),
        epoch: None,
    })
}

/// The epoch in which this text has the say, and whether it begins now: with another text than the store's a new one
/// does, and whoever serves the text before has no say any more.
fn next_epoch(
    transaction: &dyn Transaction,
    number: DesignNumber,
    design: &Design,
) -> Result<(Epoch, bool), OpenError> {
    let key = Fence::key_of(number);
    let hash = hash_of(design);
    let Some((_, bytes)) = transaction.get(&key) else {
        return Ok((Epoch { number: 1, design: hash, before: None }, true));
    };
    let stored = Epoch::take(bytes).map_err(|wrong| Damaged::value(&key, wrong))?;
    if stored.design == hash {
        return Ok((stored, false));
    }
    if stored.before == Some(hash) {
        return Err(OpenError::Outdated { epoch: stored.number });
    }
    Ok((following(&stored, hash), true))
}

/// The epoch after this one.
fn following(epoch: &Epoch, design: [u8; 32]) -> Epoch {
    Epoch { number: epoch.number + 1, design, before: Some(epoch.design) }
}

/// From now on this text has the say, on a store that others may change, too.
pub fn begin_epoch(
    transaction: &mut dyn Transaction,
    (before, schema): (&Design, &Schema),
    epoch: &Epoch,
    text: Option<Writing<'_>>,
) -> Epoch {
    let next = following(epoch, hash_of(&schema.design));
    mark_text(transaction, schema.number, before);
    transaction.put(&Fence::key_of(schema.number), &next.to_bytes());
    keep_design(transaction, schema.number, &schema.lowered, text);
    next
}

/// From here on another text has the say, under the same number. What is stored does not show it, so the feed does:
/// each transition is verified by the text that decided it.
pub fn mark_text(transaction: &mut dyn Transaction, number: DesignNumber, before: &Design) {
    transaction.feed(&layout::feed::mark(number, &design::to_bytes(before)));
}

/// Of what a design says, wherever in its text it does.
pub fn hash_of(design: &Design) -> [u8; 32] {
    let mut value = design::to_value(design);
    without_places(&mut value);
    *blake3::hash(value.to_string().as_bytes()).as_bytes()
}

/// A number to copy to. Nothing counts there yet.
pub fn reserve(local: &dyn LocalStore, name: &str) -> Result<DesignNumber, CallError> {
    let mut outcome = Ok(DesignNumber::NOBODYS);
    let ticket = local.transact(&mut |transaction| {
        let mut entries = match read_entries(transaction) {
            Ok(entries) => entries,
            Err(damaged) => {
                outcome = Err(damaged.into());
                return Decision::Abandon;
            }
        };
        if entries.len() >= usize::from(DesignNumber::NOBODYS.0) {
            let why = "the store holds no more designs";
            outcome = Err(store::Error::Invalid(why.into()).into());
            return Decision::Abandon;
        }
        outcome = Ok(DesignNumber(entries.len() as u16));
        entries.push(Numbered::Copying(name.into()));
        write_entries(transaction, &entries);
        Decision::Commit
    })?;
    ticket.wait()?;
    outcome
}

/// From now on the new number counts.
pub fn switch(
    transaction: &mut dyn Transaction,
    old: &Schema,
    new: &Schema,
    text: Option<Writing<'_>>,
) -> Result<(), Damaged> {
    let mut entries = read_entries(transaction)?;
    let name = &new.design.name;
    let mut set = |number: DesignNumber, to: Numbered| {
        let entry = entries.get_mut(usize::from(number.0));
        let unknown = || Damaged::value(&MetaKey::NUMBERS.to_bytes(), Wrong::UnknownDesign);
        *entry.ok_or_else(unknown)? = to;
        Ok::<(), Damaged>(())
    };
    set(old.number, Numbered::Older(name.clone()))?;
    set(new.number, Numbered::Current(name.clone()))?;
    write_entries(transaction, &entries);
    transaction.put(&meta(new.number, About::Layout), new.stored().layout.as_bytes());
    keep_design(transaction, new.number, &new.lowered, text);
    Ok(())
}

/// The design under its number is written like this now. Without a text, the one that was kept
/// before belongs to it no longer.
pub fn keep_design(
    transaction: &mut dyn Transaction,
    number: DesignNumber,
    lowered: &Lowered,
    text: Option<Writing<'_>>,
) {
    transaction.put(&meta(number, About::Design), &lowered.stored().written);
    let texts = [
        (About::Text, text.map(|writing| writing.text)),
        (About::Flat, text.and_then(|writing| writing.flat)),
    ];
    for (about, text) in texts {
        match text {
            Some(text) => transaction.put(&meta(number, about), text.as_bytes()),
            None => transaction.delete(&meta(number, about)),
        }
    }
}

fn is_kept(
    transaction: &dyn Transaction,
    number: DesignNumber,
    written: &[u8],
    text: Option<Writing<'_>>,
) -> bool {
    let kept =
        |about: About| transaction.get(&meta(number, about)).map(|(_, bytes)| bytes.to_vec());
    let same_text = text.is_none_or(|Writing { text, flat }| {
        kept(About::Text).as_deref() == Some(text.as_bytes())
            && kept(About::Flat).as_deref() == flat.map(str::as_bytes)
    });
    same_text && kept(About::Design).as_deref() == Some(written)
}

/// The number that counts for a design of this name.
pub fn current(transaction: &dyn Transaction, name: &str) -> Result<Option<DesignNumber>, Damaged> {
    let entries = read_entries(transaction)?;
    let found = entries.iter().position(|e| *e == Numbered::Current(name.into()));
    Ok(found.map(|at| DesignNumber(at as u16)))
}

/// All designs that count and can be read, with their numbers.
pub fn current_designs(
    transaction: &dyn Transaction,
) -> Result<Vec<(DesignNumber, Design)>, Damaged> {
    let entries = read_entries(transaction)?.into_iter().enumerate();
    let current = entries.filter(|(_, entry)| matches!(entry, Numbered::Current(_)));
    let designs = current.filter_map(|(at, _)| {
        let number = DesignNumber(at as u16);
        let (_, bytes) = transaction.get(&meta(number, About::Design))?;
        Some((number, design::from_bytes(bytes).ok()?))
    });
    Ok(designs.collect())
}

/// The names of all designs that count.
pub fn names(transaction: &dyn Transaction) -> Result<Vec<String>, Damaged> {
    Ok(numbered(transaction)?.into_iter().map(|(_, name)| name).collect())
}

/// The same, with their numbers.
pub fn numbered(transaction: &dyn Transaction) -> Result<Vec<(DesignNumber, String)>, Damaged> {
    let entries = read_entries(transaction)?.into_iter().enumerate();
    let current = entries.filter_map(|(at, entry)| match entry {
        Numbered::Current(name) => Some((DesignNumber(at as u16), name)),
        _ => None,
    });
    Ok(current.collect())
}

/// Nothing will ever count under this number.
pub fn give_up(local: &dyn LocalStore, number: DesignNumber) -> Result<(), CallError> {
    let ticket = local.transact(&mut |transaction| {
        let Ok(mut entries) = read_entries(transaction) else { return Decision::Abandon };
        if let Some(entry) = entries.get_mut(usize::from(number.0)) {
            *entry = Numbered::Dead;
        }
        write_entries(transaction, &entries);
        Decision::Commit
    })?;
    ticket.wait()?;
    remove_left_over(local, "").map(|_| ())
}

/// Removes records under numbers that do not count: those of older versions of this design, and of
/// copies that were given up. Gives how many keys.
pub fn remove_left_over(local: &dyn LocalStore, name: &str) -> Result<u64, CallError> {
    let mut removed = 0;
    loop {
        let mut found: Vec<Vec<u8>> = Vec::new();
        local.transact(&mut |transaction| {
            let Ok(entries) = read_entries(transaction) else { return Decision::Abandon };
            for (at, entry) in entries.iter().enumerate() {
                let whole = *entry == Numbered::Dead;
                if !whole && *entry != Numbered::Older(name.into()) {
                    continue;
                }
                let range = KeyRange::prefix(DesignNumber(at as u16).prefix().to_vec());
                transaction.scan(&range, false, &mut |key, _, _| {
                    // how the feed of its time is read stays known
                    if whole || Space::of(key) != Some(Space::Meta) {
                        found.push(key.to_vec());
                    }
                    if found.len() < KEYS {
                        ControlFlow::Continue(())
                    } else {
                        ControlFlow::Break(())
                    }
                });
            }
            for key in &found {
                transaction.delete(key);
            }
            if found.is_empty() { Decision::Abandon } else { Decision::Commit }
        })?;
        if found.is_empty() {
            return Ok(removed);
        }
        removed += found.len() as u64;
    }
}

fn meta(design: DesignNumber, about: About) -> Vec<u8> {
    MetaKey { design, about }.to_bytes()
}

/// The numbers of all designs that the store holds, whatever became of them.
pub fn numbers(
    transaction: &dyn Transaction,
) -> Result<impl Iterator<Item = DesignNumber> + use<>, Damaged> {
    let entries = read_entries(transaction)?.len() as u16;
    Ok((0..entries).map(DesignNumber))
}

fn read_entries(transaction: &dyn Transaction) -> Result<Vec<Numbered>, Damaged> {
    let key = MetaKey::NUMBERS.to_bytes();
    let Some((_, bytes)) = transaction.get(&key) else { return Ok(Vec::new()) };
    take_numbers(bytes).map_err(|wrong| Damaged::value(&key, wrong))
}

fn write_entries(transaction: &mut dyn Transaction, entries: &[Numbered]) {
    transaction.put(&MetaKey::NUMBERS.to_bytes(), &put_numbers(entries));
}

/// The first line in which the two differ.
fn difference(stored: &str, now: &str) -> OpenError {
    let mut stored = stored.lines();
    let mut now = now.lines();
    loop {
        match (stored.next(), now.next()) {
            (Some(a), Some(b)) if a == b => {}
            (a, b) => {
                return OpenError::Changed {
                    stored: a.unwrap_or("nothing").trim().to_string(),
                    now: b.unwrap_or("nothing").trim().to_string(),
                };
            }
        }
    }
}
