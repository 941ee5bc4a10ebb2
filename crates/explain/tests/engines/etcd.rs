//! etcd: what `explain` prints through `etcdctl`, in whose language it is written; what the test itself
//! writes and looks at through the gateway, which is quicker than a program for each call.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use explain::Realized;
use serde_json::{Value, json};

use crate::engines::Running;
use crate::engines::cases::Binding;
use crate::engines::encoding::{base64, from_base64};
use crate::engines::http;
use crate::engines::server::{self, Server};
use crate::support::programs::program;

pub struct Etcd {
    server: Server,
    etcdctl: PathBuf,
    fed: u64,
}

pub fn start() -> Etcd {
    let etcd = program("etcd", &["/usr/sbin", "/usr/local/bin"], "etcd-server");
    let etcdctl = program("etcdctl", &["/usr/sbin", "/usr/local/bin"], "etcd-client");
    let folder = server::folder("etcd");
    let port = server::free_port();
    let client = format!("http://127.0.0.1:{port}");
    let peer = format!("http://127.0.0.1:{}", server::free_port());
    let mut command = Command::new(etcd);
    command.arg("--data-dir").arg(folder.join("data"));
    command.args(["--listen-client-urls", &client, "--advertise-client-urls", &client]);
    command.args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer]);
    command.args(["--initial-cluster", &format!("default={peer}")]);
    let server = server::start(command, port, folder);
    let mut running = Etcd { server, etcdctl, fed: 0 };
    while running.call(&["get", "a"], "").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    running.fed = 0;
    running
}

/// As etcdctl reads it in its own language.
fn quoted(bytes: &[u8]) -> String {
    let inner: String = bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect();
    format!("\"{inner}\"")
}

impl Etcd {
    fn call(&self, arguments: &[&str], input: &str) -> Option<String> {
        let mut child = Command::new(&self.etcdctl)
            .env("ETCDCTL_API", "3")
            .args(["--endpoints", &format!("http://127.0.0.1:{}", self.server.port)])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        if !output.status.success() {
            eprintln!("{}", String::from_utf8_lossy(&output.stderr));
        }
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn transact(&self, input: &str) -> String {
        self.call(&["txn"], input).unwrap_or_else(|| panic!("{input}"))
    }

    /// All records, or those of one answer: key, mod revision, value.
    fn records(answer: &Value) -> Vec<(Vec<u8>, String, Vec<u8>)> {
        let list = answer["kvs"].as_array().cloned().unwrap_or_default();
        list.iter()
            .map(|kv| {
                let bytes = |name: &str| from_base64(kv[name].as_str().unwrap_or(""));
                let revision = &kv["mod_revision"];
                // The gateway writes numbers as texts, `etcdctl` does not.
                let revision =
                    revision.as_str().map_or_else(|| revision.to_string(), str::to_owned);
                (bytes("key"), revision, bytes("value"))
            })
            .collect()
    }

    fn gateway(&self, call: &str, body: &Value) -> Value {
        let path = format!("/v3/kv/{call}");
        let (status, answer) = http::post(self.server.port, &path, "", body);
        assert_eq!(status, 200, "{path} {body}: {answer}");
        answer
    }

    /// From the first key on.
    fn all() -> Value {
        json!({ "key": base64(&[0]), "range_end": base64(&[0]) })
    }

    fn everything(&self) -> Vec<(Vec<u8>, String, Vec<u8>)> {
        Etcd::records(&self.gateway("range", &Etcd::all()))
    }

    fn bound(&self, text: &str, binding: &Binding) -> String {
        let mut text = text.to_owned();
        for (name, key) in &binding.keys {
            let version = binding.versions.get(name).map_or("0", String::as_str);
            text = text.replace(&format!("{{{name}.key}}"), &quoted(key));
            text = text.replace(&format!("{{{name}.version}}"), version);
        }
        for (name, value) in &binding.values {
            text = text.replace(&format!("{{{name}.value}}"), &quoted(value));
        }
        let mut feed = vec![0xff, 0xff, b'f'];
        feed.extend_from_slice(&self.fed.to_be_bytes());
        text.replace("{feed.key}", &quoted(&feed)).replace("{feed.value}", "\"fed\"")
    }
}

impl Running for Etcd {
    fn seed(&mut self, records: &[(Vec<u8>, Vec<u8>)]) {
        for (key, value) in records {
            self.gateway("put", &json!({ "key": base64(key), "value": base64(value) }));
        }
    }

    fn versions(&mut self, keys: &[Vec<u8>]) -> BTreeMap<Vec<u8>, String> {
        let all = self.everything().into_iter();
        all.filter(|(key, ..)| keys.contains(key)).map(|(key, version, _)| (key, version)).collect()
    }

    fn read(&mut self, realized: &Realized, binding: &Binding) -> BTreeSet<Vec<u8>> {
        let gets: String = realized
            .reads
            .iter()
            .map(|line| format!("{}\n", self.bound(&line.text, binding)))
            .collect();
        let text = self.call(&["txn", "-w", "json"], &format!("\n{gets}\n\n")).unwrap();
        let answer: Value = serde_json::from_str(&text).unwrap();
        let mut found = BTreeSet::new();
        for response in answer["responses"].as_array().unwrap() {
            let range = &response["Response"]["response_range"];
            let range =
                if range.is_null() { &response["Response"]["ResponseRange"] } else { range };
            found.extend(Etcd::records(range).into_iter().map(|(key, ..)| key));
        }
        found
    }

    fn scan(&mut self, line: &str, name: &str, from: &[u8], to: &[u8]) -> Vec<Vec<u8>> {
        let line = line
            .replace(&format!("{{{name}.from}}"), &quoted(from))
            .replace(&format!("{{{name}.to}}"), &quoted(to));
        let text = self.call(&["txn", "-w", "json"], &format!("\n{line}\n\n\n")).unwrap();
        let answer: Value = serde_json::from_str(&text).unwrap();
        let range = &answer["responses"][0]["Response"];
        let range = range.get("response_range").unwrap_or(&range["ResponseRange"]);
        Etcd::records(range).into_iter().map(|(key, ..)| key).collect()
    }

    fn commit(&mut self, realized: &Realized, binding: &Binding) -> bool {
        self.fed += 1;
        let lines: Vec<String> = realized
            .commit
            .iter()
            .filter(|line| binding.applies(line))
            .map(|line| self.bound(&line.text, binding))
            .collect();
        let answer = self.transact(&format!("{}\n", lines.join("\n")));
        match answer.lines().next() {
            Some("SUCCESS") => true,
            Some("FAILURE") => false,
            other => panic!("{other:?}"),
        }
    }

    fn dump(&mut self, design: u16) -> BTreeMap<Vec<u8>, (String, Vec<u8>)> {
        let all = self.everything().into_iter();
        all.filter(|(key, ..)| key.starts_with(&design.to_be_bytes()))
            .map(|(key, version, value)| (key, (version, value)))
            .collect()
    }

    fn feed_length(&mut self) -> usize {
        self.everything().iter().filter(|(key, ..)| key.starts_with(&[0xff, 0xff, b'f'])).count()
    }

    fn forget(&mut self) {
        self.gateway("deleterange", &Etcd::all());
    }
}
