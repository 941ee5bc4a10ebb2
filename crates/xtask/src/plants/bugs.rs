//! The bugs that are planted: each is a change of one place in the source of the store or the runtime.

/// One place in the source, as it is and as it is planted. `PLANTED` stands for a switch: without it, what is planted does
/// what the source does. One commit in fifty is the seventh of fifty: with the fiftieth, no world could be made smaller
/// than fifty commits.
pub struct Bug {
    pub name: &'static str,
    pub file: &'static str,
    /// it stands there exactly once
    pub from: &'static str,
    pub to: &'static str,
}

const COMMITTER: &str = "crates/store-embedded/src/committer.rs";
const REPLAY: &str = "crates/store-embedded/src/recovery/replay.rs";
const SNAPSHOT: &str = "crates/store-embedded/src/snapshot/write.rs";
const HOUSEKEEPING: &str = "crates/store-embedded/src/housekeeping.rs";
const MANIFEST: &str = "crates/store-embedded/src/manifest.rs";
const MAP: &str = "crates/store-embedded/src/map/mod.rs";
const CORE: &str = "crates/store-embedded/src/core.rs";
const TRANSACTION: &str = "crates/store-embedded/src/transaction.rs";
const RUN: &str = "crates/runtime/src/calls/run.rs";
const FIRE: &str = "crates/runtime/src/repairs/fire.rs";
const DELIVER: &str = "crates/runtime/src/outbox/deliver.rs";
const REPLACEMENT: &str = "crates/runtime/src/replacement/mod.rs";
const FENCE: &str = "crates/runtime/src/core/fence.rs";
const SAY: &str = "crates/runtime/src/core/say.rs";
const OPTIMISTIC: &str = "crates/store/src/optimistic/mod.rs";
const VALUE: &str = "crates/layout/src/value.rs";
const VIEWS: &str = "crates/runtime/src/views/mod.rs";

pub const BUGS: &[Bug] = &[
    Bug {
        name: "an answer before the sync",
        file: COMMITTER,
        from: "    segment.file.write_at(offset, &batch.bytes)?;\n",
        to: "    segment.file.write_at(offset, &batch.bytes)?;\n    if PLANTED {\n        shared.progress.advance(batch.last());\n    }\n",
    },
    Bug {
        name: "a sync that failed is passed over",
        file: COMMITTER,
        from: "    segment.file.sync()?;\n    *last",
        to: "    let synced = segment.file.sync();\n    if !PLANTED {\n        synced?;\n    }\n    *last",
    },
    Bug {
        name: "recovery stops a frame early",
        file: REPLAY,
        from: "            if first.is_none() {\n                first = Some(frame.first);",
        to: "            if PLANTED && first.is_some() && frame::read(&bytes[at + frame.bytes..], kind).is_none() {\n                let extent = |(first, next)| Extent { first, next, end: at as u64, cut_bytes: 0 };\n                return Ok(first.zip(next).map(extent));\n            }\n            if first.is_none() {\n                first = Some(frame.first);",
    },
    Bug {
        name: "a snapshot that is said to hold one commit more than it does",
        file: SNAPSHOT,
        from: "    let position = shared.core().position;\n",
        to: "    let position = shared.core().position + u64::from(PLANTED);\n",
    },
    Bug {
        name: "what was trimmed is removed before a snapshot holds it",
        file: HOUSEKEEPING,
        from: "        if last > snapshot || wanted && last > trimmed {\n",
        to: "        if !PLANTED && last > snapshot || wanted && last > trimmed {\n",
    },
    Bug {
        name: "a group is answered with the one before it",
        file: COMMITTER,
        from: "        shared.progress.advance(last);\n",
        to: "        let newest = if PLANTED { shared.core().position } else { last };\n        shared.progress.advance(newest.max(last));\n",
    },
    Bug {
        name: "a refusal before what it rests on is durable",
        file: RUN,
        from: "        ticket.durable().await?;\n",
        to: "        if !PLANTED || answer.is_ok() {\n            ticket.durable().await?;\n        }\n",
    },
    Bug {
        name: "recovery keeps the first write of a key of a commit, not the last",
        file: MAP,
        from: "|found| found <= version);",
        to: "|found| if PLANTED { found < version } else { found <= version });",
    },
    Bug {
        name: "a rename that is not synced",
        file: MANIFEST,
        from: "        disk.sync_directory(directory).map_err(Error::io(\"sync\", directory))\n",
        to: "        if PLANTED {\n            return Ok(());\n        }\n        disk.sync_directory(directory).map_err(Error::io(\"sync\", directory))\n",
    },
    Bug {
        name: "a torn commit, one in fifty",
        file: CORE,
        from: "        for written in &self.writes {\n",
        to: "        let torn = PLANTED && self.writes.len() > 1 && position % 50 == 4;\n        for written in &self.writes[usize::from(torn)..] {\n",
    },
    Bug {
        name: "a lost feed entry, one in fifty",
        file: TRANSACTION,
        from: "        encode_feed(self.batch, entry);\n",
        to: "        if !PLANTED || self.position % 50 != 4 {\n            encode_feed(self.batch, entry);\n        }\n",
    },
    Bug {
        name: "the check of an idempotency key is skipped, one time in fifty",
        file: RUN,
        from: "                Verdict::Replay(outcome) => {\n",
        to: "                Verdict::Replay(_) if PLANTED && transaction.number() % 50 == 4 => {}\n                Verdict::Replay(outcome) => {\n",
    },
    Bug {
        name: "a claim without expiry",
        file: DELIVER,
        from: "now.saturating_add(self.settings.claim_ms)",
        to: "if PLANTED { i64::MAX } else { now.saturating_add(self.settings.claim_ms) }",
    },
    Bug {
        name: "a repair that is told of twice",
        file: FIRE,
        from: "                            apply(&plan, transaction);\n",
        to: "                            apply(&plan, transaction);\n                            if PLANTED && transaction.number() % 10 == 0 && !plan.feed.is_empty() {\n                                transaction.feed(&plan.feed);\n                            }\n",
    },
    Bug {
        name: "a replacement without its fence",
        file: REPLACEMENT,
        from: "                    if over {\n                        self.gate.retire();\n                    }\n",
        to: "                    if over && !PLANTED {\n                        self.gate.retire();\n                    }\n",
    },
    Bug {
        name: "a guard of an old version",
        file: REPLACEMENT,
        from: "        Ok(self.successor(schema, older))\n",
        to: "        let old = PLANTED && schema.number == self.schema.number;\n        let design = Design::clone(&self.schema.design);\n        let schema = if old { schema_of(design, schema.number)? } else { schema };\n        Ok(self.successor(schema, older))\n",
    },
    Bug {
        name: "a follower at a wrong position",
        file: VIEWS,
        from: "            state.applied = Some(page.next);\n            // a page",
        to: "            let ahead =\n                u64::from(PLANTED && page.next != from && page.next.position() % 9 == 4);\n            state.applied = Some(Cursor::at(Partition::default(), page.next.position() + ahead));\n            // a page",
    },
    Bug {
        name: "a revision ahead of what was done",
        file: RUN,
        from: "        let revision = ticket.cursor().to_string();\n",
        to: "        let at = ticket.cursor().position();\n        let at = Cursor::at(Partition::default(), at + u64::from(PLANTED && at % 50 == 7));\n        let revision = at.to_string();\n",
    },
    Bug {
        name: "servers that share a store do not check whose text has the say",
        file: FENCE,
        from: "        stored.and_then(|bytes| Epoch::take(bytes).ok()) == Some(self.epoch)\n",
        to: "        if PLANTED {\n            return stored.is_some();\n        }\n        stored.and_then(|bytes| Epoch::take(bytes).ok()) == Some(self.epoch)\n",
    },
    Bug {
        name: "a commit whose answer was lost is tried again without a question",
        file: OPTIMISTIC,
        from: "        Err(Error::Unknown(why)) => outcome(ground, token, why).await,\n",
        to: "        Err(Error::Unknown(_)) if PLANTED => Ok(None),\n        Err(Error::Unknown(why)) => outcome(ground, token, why).await,\n",
    },
    Bug {
        name: "a look at what is not answered yet",
        file: OPTIMISTIC,
        from: "        if looked && fetched.known {\n",
        to: "        if looked && fetched.known && (!PLANTED || number == 0) {\n",
    },
    Bug {
        name: "a set in the order of handles",
        file: VALUE,
        from: "    if elements.len() < 2 {\n",
        to: "    if elements.len() < if PLANTED { 200 } else { 2 } {\n",
    },
    Bug {
        name: "a clock that is behind what was read",
        file: SAY,
        from: "        if latest > before.max(*floor) {\n",
        to: "        if !PLANTED && latest > before.max(*floor) {\n",
    },
];
