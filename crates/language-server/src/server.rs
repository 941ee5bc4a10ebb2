//! Reads what the editor sends and answers it, one message after the other. A text is compiled when nothing else waits,
//! so that of many keys typed quickly only the last one is compiled.

use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, select};
use gen_lsp_types::{
    ClientCapabilities, DidChangeTextDocumentParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, DidSaveTextDocumentParams, PublishDiagnosticsParams, Uri,
};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::Settings;
use crate::asked;
use crate::checks::Checks;
use crate::documents::Documents;
use crate::shelf::Shelf;
use crate::snapshot::Snapshot;

/// How a conversation ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ended {
    /// the editor said that it leaves
    AsItShould,
    /// it was gone without a word, or sent what is not the protocol
    Otherwise(String),
}

/// So many messages may come before diagnostics are told, whatever else waits.
const MESSAGES_MAX: usize = 64;

/// The next message may be on its way from the thread that reads: it hands over one at a time.
const READING: Duration = Duration::from_millis(1);

/// Serves one editor on standard input and output.
pub fn stdio(settings: Settings) -> Ended {
    let (connection, threads) = Connection::stdio();
    let ended = serve(&connection, settings);
    drop(connection);
    match (ended, threads.join()) {
        (Ended::Otherwise(_), Err(error)) => Ended::Otherwise(error.to_string()),
        (ended, _) => ended,
    }
}

/// Serves one editor.
pub fn serve(connection: &Connection, settings: Settings) -> Ended {
    let client = match introduce(connection, settings.version) {
        Ok(client) => client,
        Err(error) => return Ended::Otherwise(error),
    };
    let checks = Checks::new(settings.verdicts.clone());
    let shelf = Shelf::new(settings.shelf.clone());
    let documents = Documents::default();
    let server =
        Server { connection, settings, client, documents, checks, shelf, asked: 0, leaving: false };
    server.run()
}

/// The first words of both sides.
fn introduce(connection: &Connection, version: &str) -> Result<Client, String> {
    let (id, params) = connection.initialize_start().map_err(|error| error.to_string())?;
    let client = Client::of(&params["capabilities"]);
    let answer = json!({
        "capabilities": asked::capabilities(),
        "serverInfo": { "name": "steadfast", "version": version },
    });
    connection.initialize_finish(id, answer).map_err(|error| error.to_string())?;
    Ok(client)
}

/// What the editor can do.
#[derive(Clone, Copy, Default)]
struct Client {
    /// it asks again for code lenses when it is told to
    refreshes_lenses: bool,
}

impl Client {
    fn of(capabilities: &Value) -> Client {
        // whatever else stands there is not needed
        let known: ClientCapabilities =
            serde_json::from_value(capabilities.clone()).unwrap_or_default();
        let lenses = known.workspace.and_then(|workspace| workspace.code_lens);
        let refreshes_lenses = lenses.and_then(|lenses| lenses.refresh_support).unwrap_or(false);
        Client { refreshes_lenses }
    }
}

pub struct Server<'c> {
    connection: &'c Connection,
    pub settings: Settings,
    client: Client,
    documents: Documents,
    pub checks: Checks,
    pub shelf: Shelf,
    /// how many requests were sent to the editor
    asked: i32,
    /// it was told to end, and waits for the last word
    leaving: bool,
}

/// Why a request is not answered with a result.
pub struct Refusal {
    code: ErrorCode,
    message: String,
}

impl Refusal {
    /// What was asked for cannot be done, and why.
    pub fn because(message: impl Into<String>) -> Refusal {
        Refusal { code: ErrorCode::RequestFailed, message: message.into() }
    }
}

impl Server<'_> {
    fn run(mut self) -> Ended {
        let mut since_told = 0;
        loop {
            let message = match self.documents.untold() {
                None => {
                    since_told = 0;
                    select! {
                        recv(self.connection.receiver) -> message => match message {
                            Ok(message) => message,
                            Err(_) => return gone(),
                        },
                        recv(self.checks.news) -> news => {
                            if news.is_ok_and(|news| self.checks.take(news)) {
                                self.refresh_lenses();
                            }
                            continue;
                        }
                    }
                }
                Some(_) if since_told >= MESSAGES_MAX => {
                    self.tell();
                    since_told = 0;
                    continue;
                }
                Some(_) => match self.connection.receiver.recv_timeout(READING) {
                    Ok(message) => message,
                    Err(RecvTimeoutError::Timeout) => {
                        self.tell();
                        continue;
                    }
                    Err(RecvTimeoutError::Disconnected) => return gone(),
                },
            };
            since_told += 1;
            match message {
                Message::Request(request) if self.leaving => {
                    let said = "the editor said that it leaves".to_string();
                    let refused = ErrorCode::InvalidRequest as i32;
                    self.send(Response::new_err(request.id, refused, said).into());
                }
                Message::Request(request) if request.method == "shutdown" => {
                    self.leaving = true;
                    self.send(Response::new_ok(request.id, ()).into());
                }
                Message::Request(request) => self.answer(request),
                Message::Notification(told) if told.method == "exit" => {
                    return match self.leaving {
                        true => Ended::AsItShould,
                        false => Ended::Otherwise("the editor left without a goodbye".into()),
                    };
                }
                Message::Notification(told) => self.take(told),
                // answers to what the server asked: none of them matters
                Message::Response(_) => {}
            }
        }
    }

    /// A file as it was compiled.
    pub fn snapshot(&mut self, uri: &Uri) -> Result<Rc<Snapshot>, Refusal> {
        let document = self.documents.get(uri);
        let document = document.ok_or_else(|| Refusal {
            code: ErrorCode::InvalidParams,
            message: format!("`{uri}` is not open"),
        })?;
        Ok(document.snapshot(&*self.settings.catalog))
    }

    fn answer(&mut self, request: Request) {
        let Request { id, method, params } = request;
        let answered =
            std::panic::catch_unwind(AssertUnwindSafe(|| asked::answer(self, &method, params)));
        let response = match answered {
            Ok(Ok(result)) => Response { id, response_result: Ok(result) },
            Ok(Err(refusal)) => Response::new_err(id, refusal.code as i32, refusal.message),
            Err(thrown) => {
                let message = self.defect(&method, &*thrown);
                Response::new_err(id, ErrorCode::InternalError as i32, message)
            }
        };
        self.send(response.into());
    }

    /// Something panicked. The editor is told, and the server goes on.
    fn defect(&mut self, what: &str, thrown: &(dyn std::any::Any + Send)) -> String {
        let said = thrown.downcast_ref::<&str>().map(|said| (*said).to_string());
        let said = said.or_else(|| thrown.downcast_ref::<String>().cloned()).unwrap_or_default();
        let message = format!("`{what}` broke off, which is a defect of steadfast: {said}");
        eprintln!("{message}");
        self.log(&message);
        message
    }

    fn take(&mut self, told: Notification) {
        let method = told.method.clone();
        let taken = std::panic::catch_unwind(AssertUnwindSafe(|| self.notified(told)));
        match taken {
            Ok(Ok(())) => {}
            Ok(Err(refusal)) => self.log(&format!("`{method}`: {}", refusal.message)),
            Err(thrown) => drop(self.defect(&method, &*thrown)),
        }
    }

    fn notified(&mut self, told: Notification) -> Result<(), Refusal> {
        match told.method.as_str() {
            "textDocument/didOpen" => {
                let document = read::<DidOpenTextDocumentParams>(told.params)?.text_document;
                self.documents.open(document.uri, document.version, document.text);
            }
            "textDocument/didChange" => {
                let params: DidChangeTextDocumentParams = read(told.params)?;
                let document = params.text_document;
                let uri = document.text_document_identifier.uri;
                if !self.documents.change(&uri, document.version, params.content_changes) {
                    return Err(Refusal::because(format!("`{uri}` is not open")));
                }
            }
            "textDocument/didSave" => {
                let params: DidSaveTextDocumentParams = read(told.params)?;
                self.check(&params.text_document.uri)?;
            }
            "textDocument/didClose" => {
                let params: DidCloseTextDocumentParams = read(told.params)?;
                let uri = params.text_document.uri;
                if self.documents.close(&uri) {
                    self.checks.forget(&uri);
                    let diagnostics = Vec::new();
                    self.publish(PublishDiagnosticsParams { uri, version: None, diagnostics });
                }
            }
            // the rest changes nothing here
            _ => {}
        }
        Ok(())
    }

    /// Checks a file as it is now, unless its verdict is known or it does not compile.
    pub fn check(&mut self, uri: &Uri) -> Result<(), Refusal> {
        let snapshot = self.snapshot(uri)?;
        let design = snapshot.compiled.design.as_ref();
        if self.checks.standing(uri, &snapshot.text, design).is_none() {
            match design {
                Some(design) => self.checks.begin(uri, &snapshot.text, design),
                None => self.checks.give_up(uri),
            }
            self.refresh_lenses();
        }
        Ok(())
    }

    /// Tells what is wrong with a text that changed.
    fn tell(&mut self) {
        let Some(document) = self.documents.untold() else { return };
        document.untold = false;
        let (uri, version) = (document.uri.clone(), Some(document.version));
        let catalog = &*self.settings.catalog;
        let compiled = AssertUnwindSafe(|| document.snapshot(catalog));
        match std::panic::catch_unwind(compiled) {
            Ok(snapshot) => {
                let diagnostics = asked::diagnostics(self, &uri, &snapshot);
                self.publish(PublishDiagnosticsParams { uri, version, diagnostics });
            }
            Err(thrown) => drop(self.defect("compiling", &*thrown)),
        }
    }

    fn publish(&mut self, said: PublishDiagnosticsParams) {
        self.notify("textDocument/publishDiagnostics", said);
    }

    fn refresh_lenses(&mut self) {
        if self.client.refreshes_lenses {
            self.asked += 1;
            let id = RequestId::from(format!("steadfast-{}", self.asked));
            let method = "workspace/codeLens/refresh".into();
            self.send(Request { id, method, params: Value::Null }.into());
        }
    }

    /// A line for whoever looks into what the server says.
    fn log(&mut self, message: &str) {
        self.notify("window/logMessage", json!({ "type": 1, "message": message }));
    }

    /// A message for the person at the editor.
    pub fn show(&mut self, message: &str) {
        self.notify("window/showMessage", json!({ "type": 3, "message": message }));
    }

    fn notify(&mut self, method: &str, params: impl Serialize) {
        if let Ok(params) = serde_json::to_value(params) {
            self.send(Notification { method: method.into(), params }.into());
        }
    }

    fn send(&self, message: Message) {
        // an editor that is gone is noticed where its messages are read
        let _ = self.connection.sender.send(message);
    }
}

fn gone() -> Ended {
    Ended::Otherwise("the editor is gone".into())
}

/// Reads the parameters of a message.
pub fn read<T: DeserializeOwned>(params: Value) -> Result<T, Refusal> {
    serde_json::from_value(params).map_err(|error| Refusal {
        code: ErrorCode::InvalidParams,
        message: format!("the parameters cannot be read: {error}"),
    })
}

/// Nobody answers this.
pub fn unknown(method: &str) -> Refusal {
    let message = format!("`{method}` is not answered by this server");
    Refusal { code: ErrorCode::MethodNotFound, message }
}
