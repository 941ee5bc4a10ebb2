//! Beside croniter of PyPI, on random schedules and instants in ten zones: both say the same, except where a clock
//! is put forward or back. There each difference is one that the reference states, and ours is what it says.
//!
//! `cargo xtask fuzz calendar` does 100,000 of them.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use calendar::{Local, Schedule, Zone, tz_version};

use crate::definition;
use crate::random::{Dice, Line, ZONES, instant};

/// The only versions that are used; the data of zones is the version that is compiled in.
const PACKAGES: [&str; 2] = ["croniter==6.2.4", "tzdata==2026.5"];

fn python() -> PathBuf {
    let cache = match std::env::var_os("HOME") {
        Some(home) if !home.is_empty() => Path::new(&home).join(".cache/steadfast"),
        _ => Path::new(env!("CARGO_TARGET_TMPDIR")).to_path_buf(),
    };
    let folder = cache.join("croniter");
    let python = folder.join("bin/python");
    std::fs::create_dir_all(&cache).unwrap();
    // another run may be at it
    let lock = std::fs::File::create(cache.join("croniter.lock")).unwrap();
    lock.lock().unwrap();
    // written last: an installation that broke off is begun anew
    let whole = folder.join("packages.txt");
    let wanted = PACKAGES.join("\n");
    if std::fs::read_to_string(&whole).is_ok_and(|there| there == wanted) {
        return python;
    }
    eprintln!("installing {} from PyPI, once", PACKAGES.join(", "));
    let run = |command: &mut Command| {
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder));
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run(Command::new(&python).args(pip).args(PACKAGES));
    std::fs::write(&whole, wanted).unwrap();
    python
}

/// What croniter answers to each, and how many nanoseconds of processor time one took.
fn ask(cases: &[Case]) -> (Vec<Option<i64>>, u64) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/beside.py");
    let mut command = Command::new(python());
    // only the data of the package, whatever this machine has
    command.arg(script).env("PYTHONTZPATH", "");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("python starts");
    let mut input = child.stdin.take().expect("it is piped");
    let rows: String = cases.iter().map(Case::row).collect();
    let writer = std::thread::spawn(move || input.write_all(rows.as_bytes()));
    let output = child.wait_with_output().expect("python ends");
    assert!(output.status.success(), "beside.py failed: {}", output.status);
    writer.join().expect("a thread").expect("it reads everything");
    let said = String::from_utf8(output.stdout).expect("text");
    let mut lines = said.lines();
    assert_eq!(lines.next(), Some(tz_version()), "both have the same data of zones");
    let mut answers: Vec<&str> = lines.collect();
    let nanoseconds = answers.pop().expect("how long it took").parse().expect("a number");
    let answers: Vec<Option<i64>> = answers.into_iter().map(|line| line.parse().ok()).collect();
    assert_eq!(answers.len(), cases.len());
    (answers, nanoseconds)
}

struct Case {
    line: Line,
    zone: Zone,
    after: i64,
}

impl Case {
    fn random(dice: &mut Dice, round: usize) -> Case {
        let zone = Zone::named(ZONES[round % ZONES.len()]).expect("a zone of the database");
        let seconds = dice.below(4) == 0;
        let line = Line::random(dice, seconds);
        let after = instant(dice, &zone);
        Case { line, zone, after }
    }

    fn text(&self) -> String {
        format!("{} in {}", self.line.text, self.zone.name())
    }

    fn row(&self) -> String {
        format!("{}\t{}\t{}\n", self.line.text, self.zone.name(), self.after)
    }

    /// Is a clock put forward or back from three hours before the question until three hours after both answers?
    fn is_near_a_change(&self, answers: [Option<i64>; 2]) -> bool {
        let last = answers.into_iter().flatten().max().unwrap_or(i64::MAX);
        let change = self.zone.change_after(self.after - 3 * 3_600);
        change.is_some_and(|change| change <= last.saturating_add(3 * 3_600))
    }

    fn local(&self, second: i64) -> Local {
        let offset = self.zone.offset(second).expect("an offset");
        self.zone.local(second + offset).expect("a local time")
    }

    /// Which of our rules a difference comes from. None: from none of them.
    fn rule(&self, ours: Option<i64>, theirs: Option<i64>) -> Option<&'static str> {
        let doubled = |second: i64| matches!(self.local(second), Local::Doubled { .. });
        let offset = |second: i64| self.zone.offset(second).expect("an offset");
        let shown = |second: i64| second + offset(second);
        let changes = |second: i64| offset(second - 1) != offset(second);
        let (Some(ours), Some(theirs)) = (ours, theirs) else { return None };
        if self.line.every_hour {
            if doubled(ours) || doubled(theirs) || doubled(self.after) {
                return Some("on the wall, twice");
            }
            return (!self.line.matches(shown(theirs))).then_some("on the wall, not at all");
        }
        if !self.line.matches(shown(ours)) && changes(ours) {
            return Some("skipped, when the clock is put forward");
        }
        if doubled(theirs) || doubled(self.after) {
            return Some("doubled, the first time");
        }
        // It asks for a time that the clock was put over, and gives one that was not asked for.
        (!self.line.matches(shown(theirs))).then_some("skipped, and it came before")
    }
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn schedules_are_those_of_croniter_except_where_a_clock_changes() {
    let count = number("STEADFAST_SCHEDULES", 4_000) as usize;
    let mut dice = Dice(number("STEADFAST_SEED", 1).wrapping_mul(1 << 32));
    let cases: Vec<Case> = (0..count).map(|round| Case::random(&mut dice, round)).collect();
    let (answers, nanoseconds) = ask(&cases);
    let (mut same, mut near_and_same) = (0, 0);
    let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
    for (case, theirs) in cases.iter().zip(answers) {
        let text = case.text();
        let schedule = Schedule::parse(&text).unwrap_or_else(|wrong| panic!("{text}: {wrong:?}"));
        let ours = schedule.next(case.after * 1_000).map(|ms| ms / 1_000);
        let near = case.is_near_a_change([ours, theirs]);
        if ours == theirs {
            same += 1;
            near_and_same += usize::from(near);
            continue;
        }
        let told = format!("{text} after {}: {ours:?}, and croniter {theirs:?}", case.after);
        assert!(near, "no clock changes there: {told}");
        let until = ours.or(theirs).map_or(case.after, |ours| ours + 1);
        let right = definition::next(&case.line, &case.zone, case.after, until);
        assert_eq!(ours, right, "not what the reference says: {told}");
        let rule = case.rule(ours, theirs).unwrap_or_else(|| panic!("by no rule: {told}"));
        *rules.entry(rule).or_default() += 1;
    }
    eprintln!(
        "{count} schedules: {same} the same, {near_and_same} of them near a change; croniter took {nanoseconds} ns each"
    );
    rules.iter().for_each(|(rule, times)| eprintln!("{times:>6} {rule}"));
    assert!(same * 100 >= count * 90, "most are the same");
    assert!(rules.len() >= 2, "clock changes are among the cases: {rules:?}");
}
