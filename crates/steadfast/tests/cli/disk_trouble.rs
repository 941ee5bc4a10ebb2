//! A store that is damaged when the server starts, and a disk that fails while it serves.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::cli::serving::Server;
use crate::cli::support::{command, folder};

const ADD: [&str; 5] = ["call", "tickets", "organizer", "add_seat", "section=s"];

fn add(server: &Server, seat: &str) -> crate::cli::support::Ran {
    let seat = format!("seat={seat}");
    let mut words = ADD.to_vec();
    words.push(&seat);
    server.run(&words)
}

fn serve(folder: &Path) -> crate::cli::support::Ran {
    let words = ["serve", "tickets", "--store", "embedded:./data", "--listen", "127.0.0.1:0"];
    let output = command(folder, &words).output().unwrap();
    crate::cli::support::Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Each with the whole store put back afterwards.
#[test]
fn a_damaged_store_is_refused_with_the_name_of_the_file_and_what_to_do() {
    let folder = folder("disk-damaged");
    let server = Server::start(&folder, &["tickets"]);
    (0..5).for_each(|n| drop(add(&server, &format!("A{n}")).exits(0)));
    std::thread::sleep(Duration::from_millis(200));
    server.kill();
    let data = folder.join("data");
    for name in ["manifest", "seal", "log-0000000000000001"] {
        let path = data.join(name);
        let whole = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        serve(&folder).exits(5).says(name).says("is missing").says("help: put the file back");
        fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        if name != "seal" {
            serve(&folder).exits(5).says(name).says("is damaged");
        }
        fs::write(&path, whole).unwrap();
    }
    let server = Server::start(&folder, &["tickets"]);
    (0..5).for_each(|n| drop(server.run(&["get", "tickets", "Seat", &format!("A{n}")]).exits(0)));
    // In use is something else than damaged.
    serve(&folder).exits(2).says("is in use").says("stop the other process");
}

fn failing_disk(folder: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/failing_sync.c");
    let library = folder.join("failing_sync.so");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-O1", "-o"]).args([&library, &source]).arg("-ldl");
    assert!(cc.status().expect("a C compiler, `cc`").success());
    library
}

#[test]
fn after_a_failed_sync_the_server_says_so_and_ends_with_a_code_of_its_own() {
    let folder = folder("disk-failing");
    let flag = folder.join("fail");
    let words = ["serve", "tickets", "--no-background-check", "--store", "embedded:./data"];
    let mut command = command(&folder, &words);
    command.args(["--listen", "127.0.0.1:0"]);
    command.env("LD_PRELOAD", failing_disk(&folder)).env("FAIL_SYNC", &flag);
    command.env("XDG_STATE_HOME", folder.join("state"));
    let told = fs::File::create(folder.join("told")).unwrap();
    command.stdout(Stdio::piped()).stderr(told);
    let server = Server::spawn(&folder, command);
    add(&server, "A1").exits(0);
    fs::write(&flag, "").unwrap();
    let refused = add(&server, "A2");
    assert_ne!(refused.code, 0, "{}", refused.out);
    let deadline = Instant::now() + Duration::from_secs(60);
    let code = server.ends(deadline).expect("it ends");
    let told = fs::read_to_string(folder.join("told")).unwrap();
    assert_eq!(code, Some(4), "{told}");
    assert!(told.contains("the store stopped after a failed write"), "{told}");
    assert!(told.contains("start again"), "{told}");
    fs::remove_file(&flag).unwrap();
    let server = Server::start(&folder, &["tickets"]);
    server.run(&["get", "tickets", "Seat", "A1"]).exits(0);
}
