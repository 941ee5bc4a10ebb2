//! `steadfast dev`: what is saved is served, and checked.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cli::serving::Running;
use crate::cli::support::{Ran, SOUND, command, folder, folder_with, run_in};

/// Whatever is waited for happens within seconds; the bound is for a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(180);

/// A process that serves what is being written.
pub struct Dev {
    process: Running,
    pub address: String,
    folder: PathBuf,
    /// the standard output, and the error output
    out: Stream,
    err: Stream,
}

/// The lines of one stream, as they come.
struct Stream {
    lines: Receiver<String>,
    /// all that was said and not asked for yet
    said: String,
}

impl Stream {
    fn of(stream: impl Read + Send + 'static) -> Stream {
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                if send.send(format!("{line}\n")).is_err() {
                    return;
                }
            }
        });
        Stream { lines, said: String::new() }
    }

    /// Waits until this is said; everything up to the end of that line.
    #[track_caller]
    fn until(&mut self, part: &str) -> String {
        let bound = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.said.find(part) {
                let rest = self.said[at..].find('\n').map_or(self.said.len(), |end| at + end);
                let tail = self.said.split_off(rest);
                return std::mem::replace(&mut self.said, tail);
            }
            let left = bound.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => self.said.push_str(&line),
                Err(_) => panic!("`{part}` was not said, only\n{}", self.said),
            }
        }
    }
}

impl Dev {
    pub fn start(folder: &Path, words: &[&str]) -> Dev {
        let mut all = vec!["dev", "--listen", "127.0.0.1:0"];
        all.extend(words);
        let mut started = command(folder, &all);
        started.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = Running(started.spawn().unwrap());
        let out = Stream::of(process.0.stdout.take().unwrap());
        let err = Stream::of(process.0.stderr.take().unwrap());
        let folder = folder.to_path_buf();
        let mut dev = Dev { process, address: String::new(), folder, out, err };
        let greeting = dev.until("http://");
        let address = greeting.rsplit("http://").next().unwrap();
        let end = address.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ':');
        dev.address = format!("http://{}", &address[..end.unwrap_or(address.len())]);
        dev
    }

    #[track_caller]
    pub fn until(&mut self, part: &str) -> String {
        self.out.until(part)
    }

    pub fn save(&self, text: &str) {
        fs::write(self.folder.join("door.design"), text).unwrap();
    }

    pub fn run(&self, words: &[&str]) -> Ran {
        let mut command = command(&self.folder, words);
        command.env("STEADFAST", &self.address).env("XDG_STATE_HOME", self.folder.join("state"));
        let output = command.output().unwrap();
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Ctrl-C; its exit code.
    pub fn interrupt(&mut self) -> Option<i32> {
        let pid = self.process.0.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        let bound = Instant::now() + PATIENCE;
        while Instant::now() < bound {
            if let Some(status) = self.process.0.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("it does not end");
    }
}

/// One more step, which stored truth can follow.
fn with_knock() -> String {
    SOUND.replace(
        "protocol main",
        "step keeper[knock(door: Door)] { DoorState.opened := DoorState.opened }\n\nprotocol main",
    )
}

/// Breaks its promise when a door is opened.
pub fn violated() -> String {
    with_knock().replace("d.open = false or d.opened = 1", "d.open = false or d.opened = 0")
}

/// Without an attribute that holds something.
fn narrower() -> String {
    let text = SOUND.replace("open: bool = false, opened: int = 0", "open: bool = false");
    let text = text.replace("    DoorState.opened := 1\n", "");
    text.lines().filter(|l| !l.starts_with("invariant")).map(|l| format!("{l}\n")).collect()
}

#[test]
fn what_is_saved_is_served_and_checked() {
    let folder = folder_with("dev", "door.design", SOUND);
    let mut dev = Dev::start(&folder, &["door.design"]);
    let greeting = dev.until("/keeper/open");
    for part in ["/console\n", "data     ./steadfast-dev\n", "watching door.design\n", "try"] {
        assert!(greeting.contains(part), "no `{part}` in\n{greeting}");
    }
    dev.until("door.design: proved");
    let open = ["call", "door", "keeper", "open", "door=d1"];
    dev.run(&open).exits(0);
    // a text that does not compile is told as `check` tells it, and the one before it is served
    let broken = SOUND.replace("DoorState.opened := 1", "DoorState.opend := 1");
    dev.save(&broken);
    let told = dev.err.until("door.design: 1 error");
    assert!(told.contains("has no attribute `opend`"), "{told}");
    dev.until("not replaced: `door.design` does not compile; the version before it is served on");
    dev.run(&["call", "door", "keeper", "close", "door=d1"]).exits(0);
    // a new step is served as soon as that is said
    dev.run(&["call", "door", "keeper", "knock", "door=d1"]).exits(2);
    dev.save(&with_knock());
    dev.until("replaced: `door` is served as `door.design` has it");
    dev.run(&["call", "door", "keeper", "knock", "door=d1"]).exits(0);
    dev.until("door.design: proved");
    // a broken goal is told with its trace, and where the console shows it
    dev.save(&violated());
    dev.until("replaced");
    let told = dev.until("/console/door/check");
    assert!(told.contains("door.design: violated"), "{told}");
    assert!(told.contains("calls open("), "{told}");
    dev.run(&["call", "door", "keeper", "knock", "door=d1"]).exits(0);
    assert_eq!(dev.interrupt(), Some(0));
    dev.until("stopped; what was stored is in `./steadfast-dev`");
    // what was stored is there again
    dev.save(SOUND);
    let mut dev = Dev::start(&folder, &["door.design"]);
    dev.until("door: proved, by an earlier check");
    dev.run(&["get", "door", "Door", "d1"]).exits(0).says("opened 1");
    assert_eq!(dev.interrupt(), Some(0));
}

#[test]
fn what_stored_truth_cannot_follow_is_told_and_can_be_lost_on_purpose() {
    let folder = folder_with("dev-obstacle", "door.design", SOUND);
    let mut dev = Dev::start(&folder, &["door.design", "--data", "kept"]);
    dev.run(&["call", "door", "keeper", "open", "door=d1"]).exits(0);
    dev.save(&narrower());
    let told = dev.until("loses what that holds");
    assert!(told.contains("the version before it is served on"), "{told}");
    assert!(told.contains("Door.DoorState.opened is gone, and holds something"), "{told}");
    dev.run(&["get", "door", "Door", "d1"]).exits(0).says("opened 1");
    // the line that is printed does what it says
    let (_, line) = told.split_once("`steadfast ").unwrap();
    let words: Vec<&str> = line.split('`').next().unwrap().split(' ').collect();
    dev.run(&words).exits(0).says("replaced");
    assert!(!dev.run(&["get", "door", "Door", "d1"]).exits(0).out.contains("opened"));
    // and at a start, where there is no version before it
    dev.save(SOUND);
    dev.until("replaced");
    dev.run(&["call", "door", "keeper", "close", "door=d1"]).exits(0);
    dev.run(&["call", "door", "keeper", "open", "door=d1"]).exits(0);
    assert_eq!(dev.interrupt(), Some(0));
    dev.save(&narrower());
    let words = ["dev", "door.design", "--data", "kept", "--listen", "127.0.0.1:0"];
    run_in(&folder, &words).exits(1).says("holds something").says("remove `kept`");
}

#[test]
fn two_buyers_race_by_the_lines_that_are_printed() {
    let folder = folder("dev-race");
    let mut dev = Dev::start(&folder, &["tickets", "--forget"]);
    let told = dev.until("/v1/tickets/Seat/seat1");
    assert!(told.contains("steadfast show tickets > tickets.design"), "{told}");
    let lines: Vec<&str> = told.lines().filter(|line| line.starts_with("  curl")).collect();
    assert_eq!(lines.len(), 4, "{told}");
    let answers: Vec<Value> = lines
        .iter()
        .map(|line| {
            let ran =
                Command::new("sh").args(["-c", &format!("{line} --silent")]).output().unwrap();
            serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{line}: {error}"))
        })
        .collect();
    assert_eq!((&answers[0]["outcome"], &answers[1]["outcome"]), (&"done".into(), &"done".into()));
    assert_eq!(
        (&answers[2]["guard"], &answers[2]["prevents"][0]),
        (&"free".into(), &"seat: oversell".into())
    );
    assert!(told.contains("refused by `free`, which prevents seat: oversell"), "{told}");
    assert_eq!(answers[3]["truth"]["SeatInventoryState"]["booking"], "booking1");
    dev.until("tickets: proved");
    assert_eq!(dev.interrupt(), Some(0));
}

#[test]
fn a_script_reads_one_object_a_line() {
    let folder = folder_with("dev-json", "door.design", SOUND);
    let mut dev = Dev::start(&folder, &["door.design", "--json"]);
    dev.until("\"event\":\"checked\"");
    dev.save("design Door\nactor\n");
    let broken = dev.until("\"event\":\"not_compiled\"");
    let broken: Value = serde_json::from_str(broken.lines().last().unwrap()).unwrap();
    assert_eq!(broken["diagnostics"][0]["code"].as_str().map(|code| &code[..1]), Some("E"));
    dev.save(&violated());
    dev.until("\"event\":\"replaced\"");
    let checked = dev.until("\"event\":\"checked\"");
    let checked: Value = serde_json::from_str(checked.lines().last().unwrap()).unwrap();
    assert_eq!(checked["verdict"]["word"], "violated");
    assert!(checked["console"].as_str().unwrap().ends_with("/check#counted-step-1"));
    assert!(checked["report"]["goals"].is_array(), "{checked}");
    assert_eq!(dev.interrupt(), Some(0));
    dev.until("\"event\":\"stopped\"");
}

/// Whoever a design calls need not be there while it is written: not at the start, and not when it is called first.
#[test]
fn who_is_called_may_be_away() {
    let folder = folder_with("dev-away", "door.design", SOUND);
    let mut dev = Dev::start(&folder, &["payments", "door.design", "--forget"]);
    let said = dev.until("try");
    assert!(said.contains("away     network: calls to it fail and are tried again"), "{said}");
    assert!(said.contains("`--outside network=URL` says where it is"), "{said}");
    let rings = with_knock().replace(
        "step keeper[knock(door: Door)] {",
        "actor bell\n\
         effect bell[ring(door: Door)] {\n    call POST \"{bell.url}/rings\" key door body { door }\n    \
         on ok { }\n    on refused { }\n    on unknown { }\n}\n\
         step keeper[knock(door: Door)] {\n    send bell.ring(door)",
    );
    dev.save(&rings);
    dev.until("replaced: `door` is served as");
    dev.run(&["call", "door", "keeper", "knock", "door=front"]).exits(0).says("done");
    assert_eq!(dev.interrupt(), Some(0));
    // who is named is not away
    let named = ["payments", "--forget", "--outside", "network=http://127.0.0.1:9"];
    let mut dev = Dev::start(&folder, &named);
    let said = dev.until("try");
    assert!(!said.contains("away"), "{said}");
    assert_eq!(dev.interrupt(), Some(0));
}

#[test]
fn what_cannot_be_started_says_what_to_do() {
    let folder = folder_with("dev-wrong", "door.design", "design Door\nactor\n");
    let dev = |words: &[&str]| {
        let mut all = vec!["dev", "--listen", "127.0.0.1:0"];
        all.extend(words);
        run_in(&folder, &all)
    };
    dev(&["door.design"]).exits(2).says("door.design: 1 error");
    dev(&["dor.design"]).exits(2).says("did you mean `door.design`?");
    dev(&["tickts"]).exits(2).says("did you mean `tickets`?");
    let elsewhere = ["dev", "tickets", "--listen", "0.0.0.0:7070"];
    run_in(&folder, &elsewhere).exits(2).says("can be reached from elsewhere").says("serve");
    fs::write(folder.join("file"), "").unwrap();
    dev(&["tickets", "--data", "file"]).exits(2).says("`--data` names another");
}
