//! An editor with a server: it opens files, types and asks.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::thread::JoinHandle;
use std::time::Duration;

use design::Catalog;
use language_server::{Ended, NoVerdicts, Settings, Verdicts, serve};
use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(60);

/// The designs of the repository, by their file names.
static DESIGNS: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let mut found = Vec::new();
    for folder in ["infra", "product", "systems"] {
        let folder = root().join("designs").join(folder);
        for entry in std::fs::read_dir(folder).expect("the catalog is there") {
            let path = entry.expect("it can be read").path();
            if path.extension().is_some_and(|ending| ending == "design") {
                let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
                found.push((name, std::fs::read_to_string(&path).expect("it is text")));
            }
        }
    }
    found.sort();
    found
});

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub fn designs() -> &'static [(String, String)] {
    &DESIGNS
}

pub fn design(name: &str) -> &'static str {
    let found = DESIGNS.iter().find(|(held, _)| held == name);
    &found.unwrap_or_else(|| panic!("no design `{name}`")).1
}

/// The archetypes of the catalog.
pub struct Archetypes;

impl Catalog for Archetypes {
    fn archetype(&self, id: &str) -> Option<&str> {
        assert_ne!(id, "PANIC", "this catalog breaks off when it is asked for that");
        let found = DESIGNS.iter().find(|(name, _)| name.eq_ignore_ascii_case(id));
        found.filter(|(_, text)| text.starts_with("archetype")).map(|(_, text)| &**text)
    }

    fn ids(&self) -> Vec<String> {
        let all = DESIGNS.iter().filter(|(_, text)| text.starts_with("archetype"));
        all.map(|(name, _)| name.clone()).collect()
    }
}

pub struct Editor {
    connection: Option<Connection>,
    server: Option<JoinHandle<Ended>>,
    asked: i32,
    /// what came while an answer was awaited
    heard: Vec<Message>,
}

pub const FILE: &str = "file:///somewhere/shop.design";

impl Editor {
    pub fn new() -> Editor {
        Editor::with(Arc::new(NoVerdicts))
    }

    pub fn with(verdicts: Arc<dyn Verdicts>) -> Editor {
        let (ours, theirs) = Connection::memory();
        let shelf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shelf");
        let settings = Settings {
            version: "0",
            catalog: Box::new(Archetypes),
            error_page: |code| (code == "E0201").then_some("# E0201\n\nA name.\n"),
            shelf: Some(shelf),
            verdicts,
        };
        let server = std::thread::spawn(move || serve(&theirs, settings));
        let heard = Vec::new();
        let mut editor = Editor { connection: Some(ours), server: Some(server), asked: 0, heard };
        let capabilities = json!({ "workspace": { "codeLens": { "refreshSupport": true } } });
        let answer = editor.ask("initialize", json!({ "capabilities": capabilities }));
        assert_eq!(answer["capabilities"]["positionEncoding"], "utf-16");
        editor.tell("initialized", json!({}));
        editor
    }

    /// An editor with one file open.
    pub fn on(text: &str) -> Editor {
        let mut editor = Editor::new();
        editor.open(FILE, text);
        editor
    }

    fn connection(&self) -> &Connection {
        self.connection.as_ref().expect("connected")
    }

    pub fn tell(&mut self, method: &str, params: Value) {
        let message = Notification { method: method.into(), params };
        self.connection().sender.send(message.into()).expect("the server listens");
    }

    fn hear(&mut self) -> Message {
        let heard = self.connection().receiver.recv_timeout(PATIENCE);
        heard.unwrap_or_else(|error| panic!("the server says nothing: {error}"))
    }

    /// What is answered, or the error.
    pub fn try_ask(&mut self, method: &str, params: Value) -> Result<Value, (i32, String)> {
        self.asked += 1;
        let id = RequestId::from(self.asked);
        let request = Request { id: id.clone(), method: method.into(), params };
        self.connection().sender.send(request.into()).expect("the server listens");
        loop {
            match self.hear() {
                Message::Response(Response { id: its, response_result }) if its == id => {
                    return response_result.map_err(|error| (error.code, error.message));
                }
                other => self.heard.push(other),
            }
        }
    }

    #[track_caller]
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        match self.try_ask(method, params) {
            Ok(answer) => answer,
            Err((code, message)) => panic!("{method}: {code} {message}"),
        }
    }

    /// The next message of this kind, whatever comes before it.
    pub fn next(&mut self, method: &str) -> Value {
        self.next_where(method, |_| true)
    }

    /// The next one of which this holds; others are kept.
    fn next_where(&mut self, method: &str, holds: impl Fn(&Value) -> bool) -> Value {
        loop {
            let is = |message: &Message| match message {
                Message::Notification(told) => told.method == method && holds(&told.params),
                Message::Request(asked) => asked.method == method && holds(&asked.params),
                Message::Response(_) => false,
            };
            if let Some(at) = self.heard.iter().position(is) {
                return match self.heard.remove(at) {
                    Message::Notification(told) => told.params,
                    Message::Request(asked) => asked.params,
                    Message::Response(_) => Value::Null,
                };
            }
            let message = self.hear();
            self.heard.push(message);
        }
    }

    /// What is wrong with this version of this file.
    pub fn diagnostics_of(&mut self, uri: &str, version: i32) -> Vec<Value> {
        let told = "textDocument/publishDiagnostics";
        let said = self.next_where(told, |said| said["uri"] == uri && said["version"] == version);
        self.heard.retain(|message| match message {
            // what was said of it before is of no use any more
            Message::Notification(other) => other.method != told || other.params["uri"] != uri,
            _ => true,
        });
        said["diagnostics"].as_array().expect("a list").clone()
    }

    pub fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "steadfast", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    pub fn change(&mut self, uri: &str, version: i32, changes: Value) {
        let document = json!({ "uri": uri, "version": version });
        let params = json!({ "textDocument": document, "contentChanges": changes });
        self.tell("textDocument/didChange", params);
    }

    pub fn at(&mut self, method: &str, place: (u32, u32)) -> Value {
        self.ask(method, placed(place))
    }

    /// What is shown at a place.
    pub fn hover(&mut self, place: (u32, u32)) -> String {
        let answer = self.at("textDocument/hover", place);
        answer["contents"]["value"].as_str().unwrap_or_default().to_string()
    }

    /// Says goodbye, and gives how the server took it.
    pub fn leave(mut self) -> Ended {
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        self.server.take().expect("it runs").join().expect("the server does not panic")
    }

    /// Is gone without a word.
    pub fn vanish(mut self) -> Ended {
        self.connection = None;
        self.server.take().expect("it runs").join().expect("the server does not panic")
    }
}

pub fn placed((line, character): (u32, u32)) -> Value {
    let position = json!({ "line": line, "character": character });
    json!({ "textDocument": { "uri": FILE }, "position": position })
}

/// Line and column in units of UTF-16, counted here once more.
pub fn position(text: &str, offset: usize) -> (u32, u32) {
    let before = &text[..offset];
    let line = before.matches('\n').count() as u32;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (line, before[start..].encode_utf16().count() as u32)
}

/// Where the nth time this word stands.
pub fn place(text: &str, word: &str, nth: usize) -> (u32, u32) {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let whole =
        |at: usize| !text[..at].ends_with(part) && !text[at + word.len()..].starts_with(part);
    let mut places = text.match_indices(word).map(|(at, _)| at).filter(|at| whole(*at));
    let at = places.nth(nth).unwrap_or_else(|| panic!("`{word}` stands there {nth} times"));
    position(text, at)
}

/// The byte that a place of the protocol means.
pub fn offset(text: &str, place: &Value) -> usize {
    let (line, character) = (place["line"].as_u64().unwrap(), place["character"].as_u64().unwrap());
    let start: usize = text.split_inclusive('\n').take(line as usize).map(str::len).sum();
    let mut units = 0;
    for (at, c) in text[start..].char_indices() {
        if units >= character as usize {
            return start + at;
        }
        units += c.len_utf16();
    }
    text.len()
}

/// A text with edits of the protocol made.
pub fn edited(text: &str, edits: &[Value]) -> String {
    let mut spans: Vec<(usize, usize, &str)> = edits
        .iter()
        .map(|edit| {
            let range = &edit["range"];
            let new = edit["newText"].as_str().expect("a text");
            (offset(text, &range["start"]), offset(text, &range["end"]), new)
        })
        .collect();
    spans.sort_unstable();
    let mut made = text.to_string();
    for (start, end, new) in spans.into_iter().rev() {
        made.replace_range(start..end, new);
    }
    made
}

/// The text that a range covers.
pub fn covered<'t>(text: &'t str, range: &Value) -> &'t str {
    &text[offset(text, &range["start"])..offset(text, &range["end"])]
}
