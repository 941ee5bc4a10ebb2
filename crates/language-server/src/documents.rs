//! The files that are open in the editor, each as the editor has it and not as it is on the disk.

use std::rc::Rc;

use design::Catalog;
use gen_lsp_types::{TextDocumentContentChangeEvent, Uri};
use rustc_hash::FxHashMap;

use crate::lines::Lines;
use crate::snapshot::Snapshot;

#[derive(Default)]
pub struct Documents {
    open: FxHashMap<String, Document>,
}

pub struct Document {
    pub uri: Uri,
    pub version: i32,
    pub text: String,
    lines: Lines,
    /// of exactly this text
    snapshot: Option<Rc<Snapshot>>,
    /// what is wrong with this text was not told yet
    pub untold: bool,
}

impl Document {
    fn new(uri: Uri, version: i32, text: String) -> Document {
        let lines = Lines::of(&text);
        Document { uri, version, text, lines, snapshot: None, untold: true }
    }

    /// Compiled now, unless it was since the last change.
    pub fn snapshot(&mut self, catalog: &dyn Catalog) -> Rc<Snapshot> {
        let made = || Rc::new(Snapshot::of(&self.text, &self.lines, catalog));
        Rc::clone(self.snapshot.get_or_insert_with(made))
    }

    fn change(&mut self, change: TextDocumentContentChangeEvent) {
        match change {
            TextDocumentContentChangeEvent::TextDocumentContentChangePartial(part) => {
                let start = self.lines.offset(&self.text, part.range.start) as usize;
                let end = self.lines.offset(&self.text, part.range.end) as usize;
                self.text.replace_range(start..end.max(start), &part.text);
            }
            TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => {
                self.text = whole.text;
            }
        }
        // the places of the next change are those after this one
        self.lines = Lines::of(&self.text);
        self.snapshot = None;
        self.untold = true;
    }
}

impl Documents {
    /// A file that is opened again takes the place of the one before.
    pub fn open(&mut self, uri: Uri, version: i32, text: String) {
        self.open.insert(uri.0.clone(), Document::new(uri, version, text));
    }

    /// False: it is not open.
    pub fn change(
        &mut self,
        uri: &Uri,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
    ) -> bool {
        let Some(document) = self.open.get_mut(&uri.0) else { return false };
        document.version = version;
        changes.into_iter().for_each(|change| document.change(change));
        true
    }

    pub fn close(&mut self, uri: &Uri) -> bool {
        self.open.remove(&uri.0).is_some()
    }

    pub fn get(&mut self, uri: &Uri) -> Option<&mut Document> {
        self.open.get_mut(&uri.0)
    }

    /// A file whose diagnostics were not told since it changed.
    pub fn untold(&mut self) -> Option<&mut Document> {
        self.open.values_mut().find(|document| document.untold)
    }
}
