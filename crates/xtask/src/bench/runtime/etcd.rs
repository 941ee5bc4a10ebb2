//! etcd: the transition as a transaction over its HTTP gateway. The gateway is a part of the
//! server, so its cost counts as the server's.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::figures::{self, Figures, Load, System};
use super::ours::arguments;
use super::server::{Server, free_port, program};
use crate::bench::measure;

pub struct Etcd {
    server: Server,
    client: PathBuf,
}

impl Etcd {
    pub fn start(folder: &Path, client: &Path) -> Result<Self, String> {
        let port = free_port()?;
        let clients = format!("http://127.0.0.1:{port}");
        let peers = format!("http://127.0.0.1:{}", free_port()?);
        let mut command = Command::new(program("etcd", None, "etcd-server")?);
        command.args(["--name", "bench", "--data-dir"]).arg(folder.join("etcd"));
        command.args(["--listen-client-urls", &clients, "--advertise-client-urls", &clients]);
        command.args(["--listen-peer-urls", &peers, "--initial-advertise-peer-urls", &peers]);
        command.args(["--initial-cluster", &format!("bench={peers}")]);
        let server = Server::start(&mut command, port)?;
        // It listens before it has elected itself.
        std::thread::sleep(std::time::Duration::from_secs(3));
        Ok(Self { server, client: client.to_path_buf() })
    }
}

impl System for Etcd {
    fn name(&self) -> &'static str {
        super::report::ETCD
    }

    fn measure(&mut self, load: &Load) -> Result<Figures, String> {
        let mut command = Command::new(&self.client);
        command.arg("etcd").args(arguments(load));
        command.args(["--port", &self.server.port.to_string()]);
        command.args(["--pid", &self.server.pid().to_string()]);
        figures::parse(&measure::run(&mut command)?.stdout)
    }
}
