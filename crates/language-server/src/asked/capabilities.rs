//! What the server says of itself when an editor connects.

use gen_lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProvider, CodeLensOptions, CompletionOptions,
    DefinitionProvider, DocumentFormattingProvider, DocumentHighlightProvider,
    DocumentSymbolProvider, ExecuteCommandOptions, Full, HoverProvider, PositionEncodingKind,
    ReferencesProvider, RenameOptions, RenameProvider, Save, SemanticTokensLegend,
    SemanticTokensOptions, SemanticTokensProvider, ServerCapabilities, TextDocumentSync,
    TextDocumentSyncKind, TextDocumentSyncOptions,
};

use super::{lenses, tokens};

pub fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        // the one that every editor has
        position_encoding: Some(PositionEncodingKind::UTF16),
        text_document_sync: Some(TextDocumentSync::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::Incremental),
            save: Some(Save::Bool(true)),
            ..TextDocumentSyncOptions::default()
        })),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(vec![".".into()]),
            ..CompletionOptions::default()
        }),
        hover_provider: Some(HoverProvider::Bool(true)),
        definition_provider: Some(DefinitionProvider::Bool(true)),
        references_provider: Some(ReferencesProvider::Bool(true)),
        document_highlight_provider: Some(DocumentHighlightProvider::Bool(true)),
        document_symbol_provider: Some(DocumentSymbolProvider::Bool(true)),
        document_formatting_provider: Some(DocumentFormattingProvider::Bool(true)),
        rename_provider: Some(RenameProvider::RenameOptions(RenameOptions {
            prepare_provider: Some(true),
            ..RenameOptions::default()
        })),
        code_action_provider: Some(CodeActionProvider::CodeActionOptions(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QuickFix]),
            ..CodeActionOptions::default()
        })),
        code_lens_provider: Some(CodeLensOptions::default()),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: lenses::COMMANDS.map(String::from).to_vec(),
            ..ExecuteCommandOptions::default()
        }),
        semantic_tokens_provider: Some(SemanticTokensProvider::SemanticTokensOptions(
            SemanticTokensOptions {
                legend: SemanticTokensLegend {
                    token_types: tokens::TYPES.map(String::from).to_vec(),
                    token_modifiers: tokens::MODIFIERS.map(String::from).to_vec(),
                },
                full: Some(Full::Bool(true)),
                ..SemanticTokensOptions::default()
            },
        )),
        ..ServerCapabilities::default()
    }
}
