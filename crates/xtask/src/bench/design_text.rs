//! A design as long as one likes, for measuring the compiler. It uses what real designs use most:
//! subjects with truth, steps with named clauses, a repair, a view, an invariant and a failure.

use std::fmt::Write;

const HEAD: &str = "\
design Big \"A generated design, for measuring the compiler\"

actor sweeper
actor worker {
";

/// One part of the design; `@` becomes its number.
const PART: &str = "
subject Item@(key_@: text) {
    truth Claim@ { status: FREE | TAKEN | DONE = FREE, holder: actor?, until: time? }
    truth Work@ { epoch: int = 0, written_by: int = 0, note: text = \"\" }
}

step worker[take_@(item: Item@, ttl: duration) {
    free: Claim@.status = FREE or Claim@.status = TAKEN and Claim@.until < now
}] {
    Claim@ := { status: TAKEN, holder: me, until: now + ttl }
    Work@.epoch += 1
    epoch_@ := Work@.epoch
}

step worker[extend_@(item: Item@, ttl: duration) {
    taken: Claim@.status = TAKEN
    fenced: Work@.epoch = epoch_@
}] {
    Claim@.until := now + ttl
}

step worker[write_@(item: Item@, note: text) {
    taken: Claim@.status = TAKEN
    fenced: Work@.epoch = epoch_@
}] {
    Work@.note := note
    Work@.written_by := epoch_@
}

step worker[finish_@(item: Item@) {
    yours: Claim@.holder = me
    fenced: Work@.epoch = epoch_@
    written: Work@.written_by = Work@.epoch
}] {
    if Claim@.status = TAKEN { Claim@.status := DONE }
    Claim@.until := null
}

repair sweeper[free_@(item: Item@) {
    expired: Claim@.status = TAKEN and Claim@.until < now
}] {
    Claim@ := { status: FREE, holder: null, until: null }
    Work@.epoch += 1
}

view Taken@ = count Item@ where status = TAKEN

invariant advances_@: all i in Item@: i.written_by >= old(i.written_by)

recovers freed_@: all i in Item@: i.status != TAKEN or i.until >= now

failure \"late write @\" { without write_@.fenced breaks advances_@ }
";

const CHECK: &str = "
check {
    worker: 2  ttl: 2  note: 2  faults: crash
";

/// A legal design of about so many lines, with as many parts as fit and at least one.
pub fn design_text(lines: usize) -> String {
    let closing_braces = 2;
    let around = HEAD.lines().count() + CHECK.lines().count() + closing_braces;
    // Besides its own lines, a part takes one in the actor's memory and one in the check world.
    let parts = (lines.saturating_sub(around) / (PART.lines().count() + 2)).max(1);
    let mut text = String::from(HEAD);
    for part in 1..=parts {
        let comma = if part < parts { "," } else { "" };
        writeln!(text, "    epoch_{part}: int?{comma}").expect("a string takes all");
    }
    text.push_str("}\n");
    for part in 1..=parts {
        text.push_str(&PART.replace('@', &part.to_string()));
    }
    text.push_str(CHECK);
    for part in 1..=parts {
        writeln!(text, "    key_{part}: 1").expect("a string takes all");
    }
    text.push_str("}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::design_text;

    #[test]
    fn the_text_has_about_the_lines_that_were_asked_for() {
        for lines in [1_000, 25_000, 50_000] {
            let made = design_text(lines).lines().count();
            assert!(made <= lines && made + 80 > lines, "{made} of {lines}");
        }
    }

    #[test]
    fn every_part_has_its_own_names_and_a_count_in_the_check_block() {
        let text = design_text(1_000);
        assert!(!text.contains('@'));
        let parts = text.matches("\nsubject ").count();
        assert!(parts > 10);
        assert_eq!(text.matches("\nstep ").count(), 4 * parts);
        let check = text.split("\ncheck {").nth(1).unwrap();
        assert_eq!(check.matches("key_").count(), parts);
        assert!(check.contains(&format!("key_{parts}: 1\n")));
    }

    #[test]
    fn brackets_are_balanced() {
        let text = design_text(1);
        for (open, close) in [('{', '}'), ('[', ']'), ('(', ')')] {
            assert_eq!(text.matches(open).count(), text.matches(close).count());
        }
    }
}
