//! What `check` says while there is much to look at.

use std::io::Read;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::cli::support::{command, folder_with, run_in};

/// It breaks in four steps, and its world has more states than can be looked at in a test.
const LARGE: &str = "design Large

actor clerk
subject Box(box: text) {
    truth Kept { a: int = 0, b: int = 0, c: int = 0, d: int = 0, e: int = 0, f: int = 0, bad: int = 0 }
}
step clerk[a(box: Box, by: int)] { Kept.a := by }
step clerk[b(box: Box, by: int)] { Kept.b := by }
step clerk[c(box: Box, by: int)] { Kept.c := by }
step clerk[d(box: Box, by: int)] { Kept.d := by }
step clerk[e(box: Box, by: int)] { Kept.e := by }
step clerk[f(box: Box, by: int)] { Kept.f := by }
step clerk[worse(box: Box) { room: Kept.bad < 4 }] { Kept.bad += 1 }
step clerk[swap(one: Box, other: Box)] { one.a := other.b }

invariant fine: all b in Box: b.bad < 4

check { box: 2  by: 0..3  Kept.bad: 0..4 }
";

struct Stopped(Child);

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_violation_is_told_when_it_is_found() {
    let folder = folder_with("first-word", "large.design", LARGE);
    let mut started = command(&folder, &["check", "large.design"]);
    let mut child = started.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let _stopped = Stopped(child);
    let (send, told) = mpsc::channel();
    let reader = thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = out.read(&mut bytes) {
            if send.send(bytes[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    let begun = Instant::now();
    let mut said = String::new();
    while !said.contains("clerk-1 calls worse(") {
        let left = Duration::from_secs(10).saturating_sub(begun.elapsed());
        let more =
            told.recv_timeout(left).unwrap_or_else(|_| panic!("only this was said:\n{said}"));
        said.push_str(&String::from_utf8_lossy(&more));
    }
    assert!(said.contains("fine"), "{said}");
    drop(told);
    drop(_stopped);
    reader.join().unwrap();
}

#[test]
fn the_time_that_is_told_is_the_time_it_took() {
    let clauses: String = (0..8).map(|n| format!("    c{n}: Kept.a < 60\n")).collect();
    let failures: String = (0..8)
        .map(|n| format!("failure \"f{n}\" {{ without up.c{n} breaks fine in depth }}\n"))
        .collect();
    let text = format!(
        "design Slow\n\nactor clerk\nsubject Box(box: text) {{\n    truth Kept {{ a: int = 0, b: int = 0, c: int = 0 }}\n}}\n\
         step clerk[up(box: Box) {{\n{clauses}}}] {{ Kept.a += 1 }}\n\
         step clerk[over(box: Box) {{ room: Kept.b < 60 }}] {{ Kept.b += 1 }}\n\
         step clerk[down(box: Box) {{ room: Kept.c < 60 }}] {{ Kept.c += 1 }}\n\
         invariant fine: all b in Box: b.a <= 60\n\
         {failures}\
         check {{ box: 1  Kept.a: 0..60  Kept.b: 0..60  Kept.c: 0..60 }}\n"
    );
    let folder = folder_with("true-time", "slow.design", &text);
    let begun = Instant::now();
    let ran = run_in(&folder, &["check", "slow.design"]);
    let took = begun.elapsed().as_secs_f64();
    let told = ran.out.split(" in ").skip(1).filter_map(|rest| {
        let (number, rest) = rest.split_once(' ')?;
        let seconds: f64 = number.parse().ok()?;
        rest.starts_with('s').then_some(seconds)
    });
    let told = told.fold(0.0, f64::max);
    assert!(told >= 0.5 * took - 0.5, "{told} s of {took} s are told:\n{}", ran.out);
    // it is told to a tenth
    assert!(told <= took + 0.1, "{told} s of {took} s are told:\n{}", ran.out);
}
