//! Pipes, terminals and colours.

use std::io::Read as _;
use std::process::Stdio;

use crate::cli::support::{command, folder, folder_with, run};

#[test]
fn a_reader_that_leaves_is_no_error() {
    for words in [&["show", "A08"][..], &["list"], &["check", "tickets", "--json", "--traces"]] {
        let mut child = command(&folder("empty"), words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{words:?}: {err}");
        assert_eq!(err, "", "{words:?}");
    }
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else {
        return; // a device that not every system has
    };
    let output = command(&folder("empty"), &["list"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(err, "error: cannot write the output: no space left\n");
}

#[test]
fn there_are_no_colours_outside_a_terminal() {
    let ran = run(&["check", "tickets", "--traces"]);
    assert!(!ran.out.contains('\u{1b}'), "{}", ran.out);
    let folder = folder_with("colours", "bad.design", "design Bad \"x\"\nstep\n");
    let plain = command(&folder, &["check", "bad.design"]).output().unwrap();
    assert!(!plain.stderr.contains(&0x1b));
    let forced =
        command(&folder, &["check", "bad.design"]).env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(forced.stderr.contains(&0x1b));
}
