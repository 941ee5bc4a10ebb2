//! Comments, and the places between the lines where they stand.

/// The comments at one place where a line may end.
#[derive(Debug, Default)]
pub(super) struct Slot<'s> {
    /// stands at the end of the line before
    pub trailing: Option<&'s str>,
    /// each on its own line, and whether a blank line stands before it
    pub own: Vec<(&'s str, bool)>,
    /// whether a blank line stands before what follows
    pub blank: bool,
}

impl<'s> Slot<'s> {
    pub fn is_empty(&self) -> bool {
        self.trailing.is_none() && self.own.is_empty()
    }

    /// Takes in a comment whose own place cannot hold one.
    pub fn hoist(&mut self, comment: &'s str) {
        self.own.push((comment, self.blank));
        self.blank = false;
    }

    /// No blank line right after an opening brace.
    pub fn drop_first_blank(&mut self) {
        match self.own.first_mut() {
            Some((_, blank)) => *blank = false,
            None => self.blank = false,
        }
    }

    pub fn add_first_blank(&mut self) {
        match self.own.first_mut() {
            Some((_, blank)) => *blank = true,
            None => self.blank = true,
        }
    }

    /// Whether a blank line stands anywhere here.
    pub fn has_blank(&self) -> bool {
        self.blank || self.own.iter().any(|&(_, blank)| blank)
    }
}

#[derive(Debug, Default)]
pub(super) struct Slots<'s> {
    slots: Vec<Slot<'s>>,
}

impl<'s> Slots<'s> {
    pub fn add(&mut self, slot: Slot<'s>) -> usize {
        self.slots.push(slot);
        self.slots.len() - 1
    }

    pub fn get(&self, slot: usize) -> &Slot<'s> {
        &self.slots[slot]
    }

    pub fn hoist(&mut self, slot: usize, comment: &'s str) {
        self.slots[slot].hoist(comment);
    }

    pub fn drop_blanks(&mut self, slot: usize) {
        let slot = &mut self.slots[slot];
        slot.blank = false;
        slot.own.iter_mut().for_each(|(_, blank)| *blank = false);
    }

    pub fn occupied(&self, slot: usize) -> bool {
        !self.slots[slot].is_empty()
    }
}
