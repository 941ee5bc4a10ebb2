//! What a server answered to a drive, held against its own OpenAPI document by a validator that others wrote.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::openapi::python::{programs, run};

/// All answers to one drive.
#[derive(Default)]
pub struct Answers {
    document: Value,
    said: Vec<Value>,
}

impl Answers {
    /// The document of the server that is driven from now on.
    pub fn describe(&mut self, document: Value) {
        self.document = document;
    }

    pub fn note(&mut self, method: &str, url: &str, status: u16, body: &Value) {
        let path = url.split_once("/v1/").map_or(url, |(_, path)| path);
        let path = path.split('?').next().unwrap_or_default();
        let mut body = body.clone();
        // the drive's own mark
        body.as_object_mut().and_then(|fields| fields.remove("replayed"));
        self.said.push(json!({
            "method": method, "path": format!("/v1/{path}"), "status": status, "body": body,
        }));
    }

    /// Leaves everything in a folder, for [`hold_against_documents`].
    pub fn keep(&self, folder: &Path, transitions: Vec<Value>) -> Result<(), String> {
        let all =
            json!({ "document": self.document, "said": self.said, "transitions": transitions });
        std::fs::write(folder.join("answers.json"), all.to_string()).map_err(|e| e.to_string())
    }
}

/// Every answer fits what the document says of it, and has nothing that the document does not speak of. Gives what was
/// found, a line for each design.
pub fn hold_against_documents(folders: &[std::path::PathBuf]) -> String {
    let script = Path::new(env!("CARGO_TARGET_TMPDIR")).join("answers.py");
    std::fs::write(&script, include_str!("answers.py")).unwrap();
    let files = folders.iter().map(|folder| folder.join("answers.json"));
    run(Command::new(programs().join("python")).arg(script).args(files))
}
