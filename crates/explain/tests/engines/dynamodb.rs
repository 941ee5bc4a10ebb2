//! DynamoDB, as dynoxide speaks it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use explain::{Engine, Realized, realize};
use serde_json::{Value, json};

use super::{http, support};
use crate::engines::Running;
use crate::engines::cases::Binding;
use crate::engines::encoding::{base64, from_base64};
use crate::engines::server::{self, Server};

pub struct Dynamodb {
    server: Server,
    /// a number that is never used twice
    next: u64,
    fed: u64,
}

fn program() -> PathBuf {
    let folder = server::cache().join("dynoxide");
    let program = folder.join("package/dynoxide");
    if !program.is_file() {
        std::fs::create_dir_all(&folder).unwrap();
        let script =
            "npm pack --silent @dynoxide/linux-x64 && tar xzf *.tgz && chmod +x package/dynoxide";
        let output = Command::new("sh").args(["-c", script]).current_dir(&folder).output().unwrap();
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(program.is_file(), "`dynoxide` is needed and could not be fetched with npm: {why}");
    }
    program
}

pub fn start() -> Dynamodb {
    let folder = server::folder("dynamodb");
    let port = server::free_port();
    let mut command = Command::new(program());
    command
        .args(["serve", "--host", "127.0.0.1", "--port", &port.to_string()])
        .current_dir(&folder);
    let server = server::start(command, port, folder);
    let running = Dynamodb { server, next: 1, fed: 0 };
    let layout = realize(&support::design("tickets").design, Engine::Dynamodb).layout;
    for line in layout {
        let (call, body) = line.split_once(' ').unwrap();
        running.must(call, &serde_json::from_str(body).unwrap());
    }
    running
}

/// Design and space, and the bucket that the key falls into.
fn partition(key: &[u8]) -> Vec<u8> {
    let mut hash: u32 = 0x811c_9dc5;
    for byte in key {
        hash = (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    }
    [&key[..3], &[(hash % 16) as u8]].concat()
}

impl Dynamodb {
    fn must(&self, call: &str, body: &Value) -> Value {
        let (status, answer) = http::dynamodb(self.server.port, call, body);
        assert_eq!(status, 200, "{call} {body}: {answer}");
        answer
    }

    fn items(&self) -> Vec<(Vec<u8>, String, Vec<u8>)> {
        let mut found = Vec::new();
        let mut request = json!({ "TableName": "steadfast", "ConsistentRead": true });
        loop {
            let page = self.must("Scan", &request);
            for item in page["Items"].as_array().unwrap() {
                let bytes = |name: &str| from_base64(item[name]["B"].as_str().unwrap_or(""));
                found.push((bytes("sk"), item["v"]["N"].as_str().unwrap().to_owned(), bytes("b")));
            }
            match page.get("LastEvaluatedKey") {
                Some(last) if !last.is_null() => request["ExclusiveStartKey"] = last.clone(),
                _ => return found,
            }
        }
    }

    fn bound(&self, text: &str, binding: &Binding) -> Value {
        let mut text = text.to_owned();
        for (name, key) in &binding.keys {
            let version = binding.versions.get(name).map_or("0", String::as_str);
            text = text.replace(&format!("{{{name}.key}}"), &base64(key));
            text = text.replace(&format!("{{{name}.pk}}"), &base64(&partition(key)));
            text = text.replace(&format!("{{{name}.version}}"), version);
        }
        for (name, value) in &binding.values {
            text = text.replace(&format!("{{{name}.value}}"), &base64(value));
        }
        // All commits of the test go to one partition of the feed.
        let head = [0xff, 0xff, b'h', 0];
        let feed = [&[0xff, 0xff, b'f', 0][..], &(self.fed + 1).to_be_bytes()].concat();
        let plain = [
            ("{feed_head.key}", base64(&head)),
            ("{feed_head.pk}", base64(&head)),
            ("{feed_head.version}", self.fed.to_string()),
            ("{feed_head.next}", (self.fed + 1).to_string()),
            ("{feed_head.value}", String::new()),
            ("{feed.key}", base64(&feed)),
            ("{feed.pk}", base64(&feed[..4])),
            ("{feed.value}", base64(b"fed")),
            ("{next}", self.next.to_string()),
        ];
        for (name, value) in plain {
            text = text.replace(name, &value);
        }
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }
}

impl Running for Dynamodb {
    fn seed(&mut self, records: &[(Vec<u8>, Vec<u8>)]) {
        for (key, value) in records {
            self.next += 1;
            let item = json!({
                "pk": { "B": base64(&partition(key)) },
                "sk": { "B": base64(key) },
                "v": { "N": self.next.to_string() },
                "b": { "B": base64(value) },
            });
            self.must("PutItem", &json!({ "TableName": "steadfast", "Item": item }));
        }
    }

    fn versions(&mut self, keys: &[Vec<u8>]) -> BTreeMap<Vec<u8>, String> {
        let all = self.items().into_iter();
        all.filter(|(key, ..)| keys.contains(key)).map(|(key, version, _)| (key, version)).collect()
    }

    fn read(&mut self, realized: &Realized, binding: &Binding) -> BTreeSet<Vec<u8>> {
        let mut found = BTreeSet::new();
        for line in &realized.reads {
            let (call, body) = line.text.split_once(' ').unwrap();
            let answer = self.must(call, &self.bound(body, binding));
            for response in answer["Responses"].as_array().unwrap() {
                if let Some(key) = response["Item"]["sk"]["B"].as_str() {
                    found.insert(from_base64(key));
                }
            }
        }
        found
    }

    fn scan(&mut self, line: &str, name: &str, from: &[u8], to: &[u8]) -> Vec<Vec<u8>> {
        let (call, body) = line.split_once(' ').unwrap();
        let mut found = Vec::new();
        for bucket in 0..16 {
            let partition = [&from[..3], &[bucket]].concat();
            let body = body
                .replace(&format!("{{{name}.pk}}"), &base64(&partition))
                .replace(&format!("{{{name}.from}}"), &base64(from))
                .replace(&format!("{{{name}.to}}"), &base64(to));
            let answer = self.must(call, &serde_json::from_str(&body).unwrap());
            for item in answer["Items"].as_array().unwrap() {
                found.push(from_base64(item["sk"]["B"].as_str().unwrap()));
            }
        }
        found.sort();
        found
    }

    fn commit(&mut self, realized: &Realized, binding: &Binding) -> bool {
        self.next += 1;
        let mut lines = Vec::new();
        for line in &realized.commit {
            let applies = match line.when.as_deref() {
                Some("feed_head was there") => self.fed > 0,
                Some("feed_head was not there") => self.fed == 0,
                _ => binding.applies(line),
            };
            if applies {
                lines.push(self.bound(&line.text, binding));
            }
        }
        let body = json!({ "TransactItems": lines });
        let (status, answer) = http::dynamodb(self.server.port, "TransactWriteItems", &body);
        if status == 200 {
            self.fed += u64::from(realized.form.feed.is_some());
            return true;
        }
        let text = answer.to_string();
        assert!(text.contains("ConditionalCheckFailed"), "{}: {text}", realized.operation);
        false
    }

    fn dump(&mut self, design: u16) -> BTreeMap<Vec<u8>, (String, Vec<u8>)> {
        let all = self.items().into_iter();
        all.filter(|(key, ..)| key.starts_with(&design.to_be_bytes()))
            .map(|(key, version, value)| (key, (version, value)))
            .collect()
    }

    fn feed_length(&mut self) -> usize {
        self.items().iter().filter(|(key, ..)| key.starts_with(&[0xff, 0xff, b'f'])).count()
    }

    fn forget(&mut self) {
        let page = self.must("Scan", &json!({ "TableName": "steadfast", "ConsistentRead": true }));
        for item in page["Items"].as_array().unwrap() {
            let key = json!({ "pk": item["pk"], "sk": item["sk"] });
            self.must("DeleteItem", &json!({ "TableName": "steadfast", "Key": key }));
        }
        self.fed = 0;
    }
}
