//! Random histories of one outbox entry against a plain account of what happened.

use crate::support;

use engine::Word;
use engine::outbox::{Answered, Entry, EntryState, Policy};
use support::Random;

#[test]
fn at_most_one_answer_commits_for_each_opening() {
    let policy = Policy { backoff_first_ms: 10, backoff_max_ms: 200, attempts_max: 3 };
    let mut seen = [0_u32; 4];
    for seed in 0..2_000 {
        let mut random = Random::new(seed);
        let mut entry = Entry::default();
        let mut now: Word = 0;
        // what an onlooker counts
        let (mut opened, mut committed, mut failed) = (0, 0, 0);
        for _ in 0..60 {
            now += random.below(50) as Word;
            let before = entry;
            match random.below(5) {
                0 => {
                    entry = entry.send(now);
                    if before.state != EntryState::Open {
                        opened += u32::from(before.state == EntryState::Closed);
                        failed = 0;
                    } else {
                        assert_eq!(entry, before, "seed {seed}: a second send is a no-op");
                    }
                    assert!(entry.is_open());
                }
                1 => match entry.answer() {
                    Answered::Commit(closed) => {
                        assert!(before.is_open(), "seed {seed}");
                        committed += 1;
                        entry = closed;
                        seen[0] += 1;
                    }
                    Answered::Dropped => {
                        assert!(!before.is_open(), "seed {seed}");
                        seen[1] += 1;
                    }
                },
                2 if entry.is_ready(now) => {
                    let asked = random.chance(3).then_some(500);
                    entry = entry.attempt_failed(&policy, now, random.next(), asked);
                    failed += 1;
                    let dead = entry.state == EntryState::Dead;
                    assert_eq!(dead, failed == policy.attempts_max, "seed {seed}");
                    let longest = now + policy.backoff_max_ms.max(asked.unwrap_or(0));
                    assert!(
                        dead || (now < entry.next_at && entry.next_at <= longest),
                        "seed {seed}"
                    );
                    seen[2] += u32::from(dead);
                }
                3 if !entry.is_open() || entry.state == EntryState::Dead => {
                    // an attempt that was under way when it ended changes nothing
                    assert_eq!(entry.attempt_failed(&policy, now, 0, None), entry);
                }
                4 => {
                    entry = entry.retry(now);
                    if before.state == EntryState::Dead {
                        failed = 0;
                        seen[3] += 1;
                    }
                    assert_eq!(entry.is_open(), before.is_open(), "seed {seed}");
                }
                _ => {}
            }
            assert!(committed <= opened, "seed {seed}");
            assert_eq!(entry.is_open(), committed < opened, "seed {seed}");
        }
    }
    assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
}
