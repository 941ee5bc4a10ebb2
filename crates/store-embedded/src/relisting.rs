//! The list of files is written anew when there is another one.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::locks::lock;
use crate::manifest::{Listed, ListedSnapshot, Manifest};
use crate::segment::Segment;
use crate::shared::Shared;

impl Shared {
    /// Writes the list anew: what it names now, and a segment or snapshot that was just made.
    pub fn list(&self, ready: Option<&Segment>, newest: Option<ListedSnapshot>) -> Result<()> {
        let mut manifest = lock(&self.manifest);
        let mut segments = BTreeMap::new();
        let mut add = |number, bytes, ended| {
            segments.insert(number, Listed { number, bytes, ended });
        };
        {
            let core = self.core();
            add(core.segment.number, core.segment.bytes, None);
            // One that was listed and is not yet known to the committer stays listed.
            let ahead = manifest.segments.iter().filter(|it| it.number > core.segment.number);
            ahead.for_each(|listed| add(listed.number, listed.bytes, None));
        }
        ready.into_iter().for_each(|segment| add(segment.number, segment.bytes, None));
        for (segment, held, for_good) in lock(&self.feed).extents() {
            add(segment.number, segment.bytes, for_good.then_some(held));
        }
        let changed = Manifest {
            sequence: manifest.sequence + 1,
            snapshot: newest.or(manifest.snapshot),
            segments: segments.into_values().collect(),
            ..*manifest
        };
        changed.write(&*self.disk, &self.directory)?;
        *manifest = changed;
        Ok(())
    }
}
