//! What an editor can ask for, one file each.

mod actions;
mod capabilities;
mod completion;
mod describe;
mod diagnostics;
mod effects;
mod fields;
mod formatting;
mod hover;
mod lenses;
mod parts;
mod places;
mod rename;
mod symbols;
mod tokens;
mod tried;
mod words;

pub use capabilities::capabilities;
pub use diagnostics::diagnostics;

use std::rc::Rc;

use gen_lsp_types::{
    CodeActionParams, CodeLensParams, CompletionParams, DefinitionParams, DocumentFormattingParams,
    DocumentHighlightParams, DocumentSymbolParams, ExecuteCommandParams, HoverParams,
    PrepareRenameParams, ReferenceParams, RenameParams, SemanticTokensParams,
    TextDocumentPositionParams, Uri,
};
use serde::Serialize;
use serde_json::Value;

use crate::server::{Refusal, Server, read, unknown};
use crate::snapshot::Snapshot;

/// Answers one request.
pub fn answer(server: &mut Server<'_>, method: &str, params: Value) -> Result<Value, Refusal> {
    match method {
        "textDocument/hover" => {
            let params: HoverParams = read(params)?;
            let (uri, snapshot, offset) = at(server, params.text_document_position_params)?;
            given(hover::hover(server, &uri, &snapshot, offset))
        }
        "textDocument/definition" => {
            let params: DefinitionParams = read(params)?;
            let (uri, snapshot, offset) = at(server, params.text_document_position_params)?;
            given(places::definitions(server, &uri, &snapshot, offset))
        }
        "textDocument/references" => {
            let params: ReferenceParams = read(params)?;
            let itself = params.context.include_declaration;
            let (uri, snapshot, offset) = at(server, params.text_document_position_params)?;
            given(places::references(server, &uri, &snapshot, offset, itself))
        }
        "textDocument/documentHighlight" => {
            let params: DocumentHighlightParams = read(params)?;
            let (_, snapshot, offset) = at(server, params.text_document_position_params)?;
            given(places::highlights(&snapshot, offset))
        }
        "textDocument/prepareRename" => {
            let params: PrepareRenameParams = read(params)?;
            let (_, snapshot, offset) = at(server, params.text_document_position_params)?;
            given(rename::prepare(&snapshot, offset)?)
        }
        "textDocument/rename" => {
            let params: RenameParams = read(params)?;
            let (uri, snapshot, offset) = at(server, params.text_document_position_params)?;
            let catalog = &*server.settings.catalog;
            given(rename::rename(catalog, &uri, &snapshot, offset, &params.new_name)?)
        }
        "textDocument/completion" => {
            let params: CompletionParams = read(params)?;
            let (_, snapshot, offset) = at(server, params.text_document_position_params)?;
            given(completion::complete(&*server.settings.catalog, &snapshot, offset))
        }
        "textDocument/formatting" => {
            let params: DocumentFormattingParams = read(params)?;
            let snapshot = server.snapshot(&params.text_document.uri)?;
            given(formatting::edits(&snapshot))
        }
        "textDocument/codeAction" => {
            let params: CodeActionParams = read(params)?;
            let uri = params.text_document.uri;
            let snapshot = server.snapshot(&uri)?;
            given(actions::actions(server, &uri, &snapshot, params.range))
        }
        "textDocument/codeLens" => {
            let params: CodeLensParams = read(params)?;
            let uri = params.text_document.uri;
            let snapshot = server.snapshot(&uri)?;
            given(lenses::lenses(server, &uri, &snapshot))
        }
        "textDocument/documentSymbol" => {
            let params: DocumentSymbolParams = read(params)?;
            let snapshot = server.snapshot(&params.text_document.uri)?;
            given(symbols::symbols(&snapshot))
        }
        "textDocument/semanticTokens/full" => {
            let params: SemanticTokensParams = read(params)?;
            let snapshot = server.snapshot(&params.text_document.uri)?;
            given(tokens::tokens(&snapshot))
        }
        "workspace/executeCommand" => {
            let params: ExecuteCommandParams = read(params)?;
            lenses::execute(server, &params.command, &params.arguments.unwrap_or_default())
        }
        _ => Err(unknown(method)),
    }
}

/// The file, and the place in it, that a request is about.
fn at(
    server: &mut Server<'_>,
    place: TextDocumentPositionParams,
) -> Result<(Uri, Rc<Snapshot>, u32), Refusal> {
    let uri = place.text_document.uri;
    let snapshot = server.snapshot(&uri)?;
    let offset = snapshot.offset(place.position);
    Ok((uri, snapshot, offset))
}

fn given(result: impl Serialize) -> Result<Value, Refusal> {
    serde_json::to_value(result).map_err(|error| Refusal::because(error.to_string()))
}
