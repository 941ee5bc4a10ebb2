//! What a check takes from the machine, not only what it counts, stays within its budget. This is the
//! only test of its program: what is measured is the most that the whole process has held.

use model_checker::{Options, Verdict, check};

const BUDGET: usize = 48_000_000;

/// Four counters that go up to `most`, something that recovers, and protections to take away.
fn text(most: u32) -> String {
    let steps: String = ["x", "y", "z", "w"]
        .map(|n| format!("step p[up_{n}(a: A) {{ room: S.{n} < {most} }}] {{ S.{n} += 1 }}\n"))
        .concat();
    format!(
        "design Large
         actor p
         actor m
         subject A(a: text) {{
             truth S {{ x: int = 0, y: int = 0, z: int = 0, w: int = 0, on: bool = false }}
         }}
         {steps}
         step p[start(a: A) {{ off: not S.on }}] {{ S.on := true }}
         repair m[stop(a: A) {{ on: S.on }}] {{ S.on := false }}
         invariant few: all a in A: a.x <= {most}
         recovers off: all a in A: not a.on
         failure \"too many\" {{ without up_x.room breaks few }}
         failure \"never off\" {{ without repair stop breaks off }}
         check {{ a: 1  S.x: 0..{most}  S.y: 0..{most}  S.z: 0..{most}  S.w: 0..{most} }}"
    )
}

/// The most memory that this process has had, if the system tells.
fn most_resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<usize>().ok().map(|kilo| kilo * 1024)
}

#[test]
fn the_process_stays_within_the_budget() {
    if most_resident().is_none() {
        eprintln!("nothing tells how much memory this process has had");
        return;
    }
    let mut not_known = [0, 0];
    // Some are explored as a whole, with too little left for their recovery; some are too large.
    for most in [14, 18, 21, 24, 27, 40] {
        let compiled = design::compile("large", &text(most), &design::NoCatalog);
        let design = compiled.design.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
        // In slices these worlds are small: the whole design is what fills the budget.
        let options = Options {
            max_memory: BUDGET,
            threads: 2,
            free: false,
            slices: false,
            ..Options::default()
        };
        let report = check(&design, &options, &mut |_| ()).expect("the small world is finite");
        for (goal, count) in report.goals.iter().zip(&mut not_known) {
            *count += usize::from(matches!(goal.verdict, Verdict::Unknown(_)));
        }
        let held = most_resident().expect("it was told before");
        assert!(held <= BUDGET / 100 * 105, "up to {most}: {held} bytes, not {BUDGET}");
    }
    let [few, off] = not_known;
    assert!(few >= 1 && off > few && off < 6, "the budget ends in {few} and {off} of 6 designs");
}
