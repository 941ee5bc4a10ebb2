//! A browser to drive: Debian's Chromium through chromedriver, spoken to in plain HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::programs::program;

/// A browser with one tab. It and its driver end when this is dropped.
pub struct Browser {
    driver: Child,
    /// a driver that cannot speak ends
    _said: BufReader<ChildStdout>,
    port: u16,
    session: String,
    profile: PathBuf,
    /// where pictures are left to be looked at
    kept: PathBuf,
}

const WAIT: Duration = Duration::from_secs(20);

impl Browser {
    pub fn start(kept: &str) -> Browser {
        let chromium = program("chromium", &[], "chromium");
        let chromedriver = program("chromedriver", &[], "chromium-driver");
        let mut driver = Command::new(chromedriver)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver starts");
        let mut said = BufReader::new(driver.stdout.take().expect("piped"));
        let mut line = String::new();
        let port = loop {
            line.clear();
            assert!(said.read_line(&mut line).expect("readable") > 0, "chromedriver ended");
            if let Some((_, rest)) = line.split_once("started successfully on port ") {
                break rest.trim().trim_end_matches('.').parse().expect("a port");
            }
        };
        let kept = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target").join(kept);
        std::fs::create_dir_all(&kept).expect("a folder for pictures");
        let profile = std::env::temp_dir().join(format!("steadfast-browser-{port}"));
        let mut browser =
            Browser { driver, _said: said, port, session: String::new(), profile, kept };
        let options = json!({
            "binary": chromium,
            "args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                "--disable-background-networking", "--window-size=1280,900",
                "--force-device-scale-factor=1",
                format!("--user-data-dir={}", browser.profile.display()),
            ],
        });
        let wanted = json!({
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": { "browser": "ALL" },
            // axe-core takes half a minute for a long page on a machine that is busy
            "timeouts": { "script": 180_000 },
        });
        let begun = json!({ "capabilities": { "alwaysMatch": wanted } });
        let answer = browser.ask("POST", "/session", &begun);
        browser.session = answer["sessionId"].as_str().expect("a session").to_string();
        browser
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.try_ask(method, path, body);
        answer.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    fn try_ask(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).map_err(|e| e.to_string())?;
        stream.set_read_timeout(Some(Duration::from_secs(200))).map_err(|e| e.to_string())?;
        let body = if method == "GET" { String::new() } else { body.to_string() };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).map_err(|e| e.to_string())?;
        stream.write_all(body.as_bytes()).map_err(|e| e.to_string())?;
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        let mut line = String::new();
        loop {
            line.clear();
            reader.read_line(&mut line).map_err(|e| e.to_string())?;
            if line.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().map_err(|_| "no length".to_string())?;
            }
        }
        let mut text = vec![0; length];
        reader.read_exact(&mut text).map_err(|e| e.to_string())?;
        let answer: Value = serde_json::from_slice(&text).map_err(|e| e.to_string())?;
        let value = answer["value"].clone();
        match value.get("error") {
            Some(error) if !error.is_null() => Err(value.to_string()),
            _ => Ok(value),
        }
    }

    fn at(&self, path: &str) -> String {
        format!("/session/{}{path}", self.session)
    }

    pub fn open(&self, address: &str) {
        self.ask("POST", &self.at("/url"), &json!({ "url": address }));
    }

    pub fn address(&self) -> String {
        self.ask("GET", &self.at("/url"), &Value::Null).as_str().unwrap_or_default().to_string()
    }

    /// The value of an expression in the page.
    pub fn eval(&self, expression: &str) -> Value {
        self.run(&format!("return ({expression});"))
    }

    /// What a script gives; what it promises is waited for.
    pub fn run(&self, script: &str) -> Value {
        let script = json!({ "script": script, "args": [] });
        self.ask("POST", &self.at("/execute/sync"), &script)
    }

    fn devtools(&self, command: &str, params: &Value) -> Value {
        let asked = json!({ "cmd": command, "params": params });
        self.ask("POST", &self.at("/goog/cdp/execute"), &asked)
    }

    fn element(&self, css: &str) -> Result<String, String> {
        let asked = json!({ "using": "css selector", "value": css });
        let found = self.try_ask("POST", &self.at("/element"), &asked)?;
        let id = found.as_object().and_then(|one| one.values().next()).and_then(Value::as_str);
        id.map(str::to_string).ok_or_else(|| "no element".to_string())
    }

    fn find(&self, css: &str) -> String {
        self.until(&format!("`{css}` is there"), || self.element(css).ok())
    }

    /// Waits until something is so, and gives it.
    pub fn until<T>(&self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let begun = Instant::now();
        loop {
            if let Some(found) = look() {
                return found;
            }
            if begun.elapsed() > WAIT {
                self.picture("failed");
                panic!("waited in vain: {what}, at {}\n{}", self.address(), self.text("body"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until this element holds this text.
    pub fn sees(&self, css: &str, text: &str) {
        self.until(&format!("`{css}` says `{text}`"), || {
            self.text(css).contains(text).then_some(())
        });
    }

    /// What an element says; empty where there is none.
    pub fn text(&self, css: &str) -> String {
        let Ok(id) = self.element(css) else { return String::new() };
        let text = self.try_ask("GET", &self.at(&format!("/element/{id}/text")), &Value::Null);
        text.ok().and_then(|text| text.as_str().map(str::to_string)).unwrap_or_default()
    }

    /// Does something to an element. The page puts new elements in the place of old ones while it is
    /// used: what was found may be gone before the driver comes to it. Nothing was done then, and the
    /// element is looked for again.
    fn act(&self, css: &str, action: &str, body: &Value) {
        self.until(&format!("`{css}` stays for `{action}`"), || {
            let id = self.find(css);
            let path = self.at(&format!("/element/{id}/{action}"));
            match self.try_ask("POST", &path, body) {
                Ok(_) => Some(()),
                Err(error) if error.contains("stale element reference") => None,
                Err(error) => panic!("{action} of `{css}`: {error}"),
            }
        });
    }

    pub fn click(&self, css: &str) {
        self.act(css, "click", &json!({}));
    }

    /// Replaces what a field holds, key by key as a person does.
    pub fn fill(&self, css: &str, text: &str) {
        self.act(css, "clear", &json!({}));
        self.act(css, "value", &json!({ "text": text }));
    }

    /// Presses a key on whatever has the focus.
    pub fn press(&self, key: &str) {
        let actions =
            json!([{ "type": "keyDown", "value": key }, { "type": "keyUp", "value": key }]);
        let asked = json!({ "actions": [{ "type": "key", "id": "k", "actions": actions }] });
        self.ask("POST", &self.at("/actions"), &asked);
    }

    pub fn scheme(&self, scheme: &str) {
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
        self.devtools("Emulation.setEmulatedMedia", &json!({ "features": [feature] }));
    }

    pub fn size(&self, width: u32, height: u32) {
        let phone = width < 600;
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            &json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone }),
        );
    }

    pub fn scripts(&self, run: bool) {
        self.devtools("Emulation.setScriptExecutionDisabled", &json!({ "value": !run }));
    }

    /// The whole page as a picture, kept under this name; its bytes.
    pub fn picture(&self, name: &str) -> Vec<u8> {
        let asked = json!({ "format": "png", "captureBeyondViewport": true });
        let shot = self.devtools("Page.captureScreenshot", &asked);
        let bytes = base64(shot["data"].as_str().unwrap_or_default());
        std::fs::write(self.kept.join(format!("{name}.png")), &bytes).expect("kept");
        bytes
    }

    /// What the browser complained of since it was last asked: errors of scripts, and what the
    /// content policy kept out.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.ask("POST", &self.at("/se/log"), &json!({ "type": "browser" }));
        let entries = log.as_array().cloned().unwrap_or_default();
        let severe = entries.iter().filter(|entry| entry["level"] == "SEVERE");
        severe.map(|entry| entry["message"].as_str().unwrap_or_default().to_string()).collect()
    }

    pub fn kept(&self) -> &Path {
        &self.kept
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let _ = self.try_ask("DELETE", &self.at(""), &Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
        end_with_profile(&self.profile);
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

/// A driver that was asked to end its browser does not always wait for it. The profile is ours alone,
/// and so is whatever runs on it.
fn end_with_profile(profile: &Path) {
    let profile = profile.as_os_str().as_encoded_bytes();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    for process in processes {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        if line.windows(profile.len()).any(|part| part == profile) {
            let number = process.file_name();
            let _ = Command::new("kill").arg("-9").arg(number).output();
        }
    }
}

fn base64(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0_u32, 0);
    for letter in text.bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}
