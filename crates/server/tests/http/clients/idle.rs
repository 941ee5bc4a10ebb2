//! Ten thousand connections that do nothing.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::folder;

const IDLE: usize = 10_000;
/// What one of them may cost the server, in bytes; 16,755 were measured.
const BYTES_EACH_MAX: u64 = 24 << 10;

/// A process of its own: this one holds as many connections again.
struct Apart {
    child: Child,
    address: String,
}

impl Apart {
    /// The example `http_load`, which is built together with this test.
    fn start() -> Apart {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let here = std::env::current_exe().unwrap();
        let program = here.parent().unwrap().parent().unwrap().join("examples/http_load");
        let mut command = Command::new(program);
        command.args(["serve", "--port", &port.to_string(), "--folder"]).arg(folder("idle"));
        let child = command.stdin(Stdio::null()).spawn().expect("the example `http_load` starts");
        let apart = Apart { child, address: format!("127.0.0.1:{port}") };
        for _ in 0..600 {
            if TcpStream::connect(&apart.address).is_ok() {
                return apart;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("the server does not listen");
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn resident_bytes(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

fn answers(stream: &mut TcpStream) -> bool {
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    let mut answer = [0; 15];
    stream.read_exact(&mut answer).is_ok() && answer.ends_with(b"200 OK")
}

#[test]
fn ten_thousand_idle_connections_are_held_in_little_memory() {
    let served = Apart::start();
    let mut first = TcpStream::connect(&served.address).unwrap();
    assert!(answers(&mut first));
    let before = resident_bytes(served.child.id());
    let mut idle: Vec<TcpStream> = (0..IDLE)
        .map(|at| TcpStream::connect(&served.address).unwrap_or_else(|e| panic!("{at}: {e}")))
        .collect();
    // the last one is accepted after all others
    assert!(answers(idle.last_mut().unwrap()));
    let each = (resident_bytes(served.child.id()).saturating_sub(before)) / IDLE as u64;
    println!("{IDLE} idle connections: {each} bytes of the server's memory each");
    assert!(each <= BYTES_EACH_MAX, "{each} bytes each");
    let mut late = TcpStream::connect(&served.address).unwrap();
    assert!(answers(&mut late) && answers(&mut idle[0]), "others are served all the same");
}
