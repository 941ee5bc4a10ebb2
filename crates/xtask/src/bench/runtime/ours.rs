//! The embedded store in the process of its caller, and the bare log beneath it.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::figures::{self, Figures, Load, System};
use crate::bench::measure;

pub struct InProcess {
    program: PathBuf,
    kind: &'static str,
    name: &'static str,
}

impl InProcess {
    pub fn new(program: &Path, kind: &'static str, name: &'static str) -> Self {
        Self { program: program.to_path_buf(), kind, name }
    }
}

impl System for InProcess {
    fn name(&self) -> &'static str {
        self.name
    }

    fn measure(&mut self, load: &Load) -> Result<Figures, String> {
        let mut command = Command::new(&self.program);
        command.arg(self.kind).args(arguments(load));
        figures::parse(&measure::run(&mut command)?.stdout)
    }
}

/// A load as the example `transitions` takes it.
pub fn arguments(load: &Load) -> [String; 6] {
    [
        "--clients".into(),
        load.clients.to_string(),
        "--keys".into(),
        load.keys.to_string(),
        "--seconds".into(),
        load.seconds.to_string(),
    ]
}
