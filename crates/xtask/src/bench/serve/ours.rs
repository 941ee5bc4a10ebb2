//! A server of the example `http_load`, and its client.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::measure;
use crate::bench::runtime::figures::{self, Figures, Load, System};
use crate::bench::runtime::ours::arguments;
use crate::bench::runtime::server::{Server, free_port};

pub struct Ours {
    server: Server,
    program: PathBuf,
    client: &'static str,
    name: &'static str,
}

impl Ours {
    pub fn start(
        program: &Path,
        server: &str,
        client: &'static str,
        name: &'static str,
        folder: &Path,
    ) -> Result<Self, String> {
        let port = free_port()?;
        let mut command = Command::new(program);
        command.args([server, "--port", &port.to_string(), "--folder"]).arg(folder);
        let server = Server::start(&mut command, port)?;
        Ok(Self { server, program: program.to_path_buf(), client, name })
    }

    /// From now on clients of this kind are measured.
    pub fn ask_for(&mut self, client: &'static str) {
        self.client = client;
    }

    /// Lets clients of another kind do something before anything is measured.
    pub fn prepare(&self, client: &str, load: &Load) -> Result<(), String> {
        clients(&self.program, client, load, self.server.port, &[]).map(drop)
    }
}

impl System for Ours {
    fn name(&self) -> &'static str {
        self.name
    }

    fn measure(&mut self, load: &Load) -> Result<Figures, String> {
        clients(&self.program, self.client, load, self.server.port, &[self.server.pid()])
    }
}

/// Puts load on a port; the CPU is that of these processes.
pub fn clients(
    program: &Path,
    kind: &str,
    load: &Load,
    port: u16,
    pids: &[u32],
) -> Result<Figures, String> {
    let mut command = Command::new(program);
    command.arg(kind).args(arguments(load)).args(["--port", &port.to_string()]);
    for pid in pids {
        command.args(["--pid", &pid.to_string()]);
    }
    figures::parse(&measure::run(&mut command)?.stdout)
}
