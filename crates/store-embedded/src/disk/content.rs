//! The content of a simulated file: sectors that copies of it share, and none where there are only zeros.
//!
//! A world of the simulator makes, fills, syncs and cuts files all the time. What it costs is what is written, not how
//! long files are.

use std::sync::Arc;

/// A power cut keeps or loses what was not synced in pieces of this length.
pub const SECTOR_BYTES: usize = 512;

type Sector = [u8; SECTOR_BYTES];

const ZEROS: Sector = [0; SECTOR_BYTES];

#[derive(Clone, Debug, Default)]
pub struct Content {
    length: usize,
    sectors: Vec<Option<Arc<Sector>>>,
}

impl Content {
    pub fn len(&self) -> usize {
        self.length
    }

    /// Zeros are added up to this length, if it is shorter.
    pub fn grow(&mut self, length: usize) {
        self.length = self.length.max(length);
        let sectors = self.length.div_ceil(SECTOR_BYTES);
        if self.sectors.len() < sectors {
            self.sectors.resize(sectors, None);
        }
    }

    pub fn write(&mut self, offset: usize, bytes: &[u8]) {
        self.grow(offset + bytes.len());
        let mut rest = bytes;
        let mut at = offset;
        while !rest.is_empty() {
            let (sector, from) = (at / SECTOR_BYTES, at % SECTOR_BYTES);
            let part;
            (part, rest) = rest.split_at(rest.len().min(SECTOR_BYTES - from));
            at += part.len();
            let held = &mut self.sectors[sector];
            if part == ZEROS {
                *held = None;
                continue;
            }
            let held = held.get_or_insert_with(|| Arc::new(ZEROS));
            Arc::make_mut(held)[from..from + part.len()].copy_from_slice(part);
        }
    }

    /// How much was read: less than was asked for where it ends.
    pub fn read(&self, offset: usize, buffer: &mut [u8]) -> usize {
        let start = offset.min(self.length);
        let read = buffer.len().min(self.length - start);
        let mut rest = &mut buffer[..read];
        let mut at = start;
        while !rest.is_empty() {
            let (sector, from) = (at / SECTOR_BYTES, at % SECTOR_BYTES);
            let part;
            (part, rest) = rest.split_at_mut(rest.len().min(SECTOR_BYTES - from));
            at += part.len();
            match &self.sectors[sector] {
                Some(held) => part.copy_from_slice(&held[from..from + part.len()]),
                None => part.fill(0),
            }
        }
        read
    }

    /// This sector becomes what it is in another content. It grows with it, and not beyond.
    pub fn take(&mut self, sector: usize, from: &Content) {
        let end = ((sector + 1) * SECTOR_BYTES).min(from.length);
        if sector * SECTOR_BYTES < end {
            self.grow(end);
            self.sectors[sector].clone_from(&from.sectors[sector]);
        }
    }

    /// The bit at this place is the other one.
    pub fn flip(&mut self, at: usize, bit: u8) {
        if at < self.length {
            let held = &mut self.sectors[at / SECTOR_BYTES];
            let held = held.get_or_insert_with(|| Arc::new(ZEROS));
            Arc::make_mut(held)[at % SECTOR_BYTES] ^= bit;
        }
    }

    /// The sectors that hold something, each with its number.
    pub fn held(&self) -> impl Iterator<Item = (usize, &Sector)> {
        let numbered = self.sectors.iter().enumerate();
        numbered.filter_map(|(number, held)| Some((number, &**held.as_ref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::Seeded;

    /// Beside a plain vector: whatever is written, grown, taken over and flipped, what is read is the same.
    #[test]
    fn it_is_what_a_vector_is() {
        let mut seeded = Seeded::new(7);
        let (mut content, mut plain) = (Content::default(), Vec::<u8>::new());
        let (mut other, mut other_plain) = (Content::default(), Vec::<u8>::new());
        for _ in 0..20_000 {
            let offset = seeded.below(3_000) as usize;
            match seeded.below(8) {
                0 => {
                    content.grow(offset);
                    plain.resize(plain.len().max(offset), 0);
                }
                1 if !plain.is_empty() => {
                    let at = offset % plain.len();
                    content.flip(at, 4);
                    plain[at] ^= 4;
                }
                2 => (other, other_plain) = (content.clone(), plain.clone()),
                3 => {
                    let sector = offset / SECTOR_BYTES;
                    content.take(sector, &other);
                    let start = sector * SECTOR_BYTES;
                    let end = (start + SECTOR_BYTES).min(other_plain.len());
                    if start < end {
                        plain.resize(plain.len().max(end), 0);
                        plain[start..end].copy_from_slice(&other_plain[start..end]);
                        // a sector is taken whole: what lies behind the end of the other is zero
                        let whole = (start + SECTOR_BYTES).min(plain.len());
                        plain[end..whole].fill(0);
                    }
                }
                kind => {
                    let byte = if kind == 4 { 0 } else { seeded.below(256) as u8 };
                    let bytes = vec![byte; seeded.below(1_500) as usize];
                    content.write(offset, &bytes);
                    plain.resize(plain.len().max(offset + bytes.len()), 0);
                    plain[offset..offset + bytes.len()].copy_from_slice(&bytes);
                }
            }
            assert_eq!(content.len(), plain.len());
            let mut read = vec![1; 4_000];
            let from = seeded.below(3_000) as usize;
            let length = content.read(from, &mut read);
            let start = from.min(plain.len());
            assert_eq!(&read[..length], &plain[start..start + length]);
            assert!(read[length..].iter().all(|byte| *byte == 1));
        }
        let held: usize = content.held().count();
        assert!(held > 0 && held <= content.len().div_ceil(SECTOR_BYTES));
    }
}
