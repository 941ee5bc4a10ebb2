//! Another name for something, wherever it is used. The result is tried: every name must lead to what it led to before,
//! and nothing may be wrong that was not. Otherwise the rename is refused, with the reason.

use design::{Catalog, Compiled, Definition, DefinitionId, DefinitionKind as Kind, Reference};
use gen_lsp_types::{PrepareRenamePlaceholder, PrepareRenameResult, Uri, WorkspaceEdit};
use syntax::tree::{ExprKind, FailureProofKind, ItemKind, Name, UseChangeKind};
use syntax::{FileId, KEYWORDS, Span, Token, TokenKind};

use super::describe::noun;
use super::fields::short_fields;
use super::tried::{Edit, Edits};
use crate::server::Refusal;
use crate::snapshot::{Snapshot, TEXT};

/// What would be renamed, or why nothing can be.
pub fn prepare(snapshot: &Snapshot, offset: u32) -> Result<PrepareRenameResult, Refusal> {
    let (token, ids) = target(snapshot, offset)?;
    ids.iter().try_for_each(|id| own_name(snapshot, *id).map(drop))?;
    Ok(PrepareRenameResult::PrepareRenamePlaceholder(PrepareRenamePlaceholder {
        range: snapshot.range(token.span),
        placeholder: token.span.text(&snapshot.text).to_string(),
    }))
}

pub fn rename(
    catalog: &dyn Catalog,
    uri: &Uri,
    snapshot: &Snapshot,
    offset: u32,
    new: &str,
) -> Result<WorkspaceEdit, Refusal> {
    let (token, ids) = target(snapshot, offset)?;
    let old = token.span.text(&snapshot.text);
    is_name(new)?;
    if new == old {
        return Ok(WorkspaceEdit::default());
    }
    let mut edits = Vec::new();
    for id in &ids {
        edits.extend(uses(snapshot, *id, new)?);
    }
    // some names are not resolved; whether they are meant is seen from what is wrong with the text afterwards
    let [families, checks, snippets] = unresolved(snapshot, old, &edits, new);
    let mut tries = Vec::new();
    for beside in [
        [&families[..], &checks, &snippets],
        [&families, &checks, &[]],
        [&families, &[], &snippets],
        [&families, &[], &[]],
        [&[], &checks, &snippets],
        [&[], &[], &[]],
    ] {
        let tried = [&edits[..], &beside.concat()].concat();
        if !tries.contains(&tried) {
            tries.push(tried);
        }
    }
    let mut problem = None;
    for tried in tries {
        let tried = Edits::of(tried);
        match differs(snapshot, &tried, &tried.compiled(snapshot, catalog)) {
            None => return Ok(tried.for_editor(snapshot, uri)),
            Some(why) => problem = problem.or(Some(why)),
        }
    }
    let why = problem.unwrap_or_default();
    Err(Refusal::because(format!("`{old}` cannot be called `{new}`: {why}")))
}

/// The word at this place and what it stands for.
fn target(snapshot: &Snapshot, offset: u32) -> Result<(Token, Vec<DefinitionId>), Refusal> {
    let token = snapshot.token_at(offset).filter(|token| token.kind == TokenKind::Word);
    let token = token.ok_or_else(|| Refusal::because("there is no name here"))?;
    let word = token.span.text(&snapshot.text);
    let mut ids = snapshot.definitions_at(token.span.start);
    if ids.is_empty() {
        // `hold_seat as hold`: the new name stands for what is called so
        let named = given_names(snapshot).any(|name| name.span == token.span);
        let all = snapshot.analysis().definitions().iter();
        let called = all.clone().position(|held| held.span.file != TEXT && held.name == word);
        let at = called.filter(|_| named).and_then(|at| snapshot.definition_id(at));
        ids.extend(at);
    }
    if ids.is_empty() {
        return Err(Refusal::because(match KEYWORDS.contains(&word) {
            true => format!("`{word}` is a word of the language"),
            false => format!("`{word}` is not a name that this text gives to something"),
        }));
    }
    // a field that is written as its name alone stands for the attribute and for the value: the value is meant, since
    // the attribute has a place of its own
    if ids.len() > 1 {
        let value = |id: &DefinitionId| {
            matches!(snapshot.definition(*id).kind, Kind::Parameter | Kind::Local)
        };
        if let Some(id) = ids.iter().copied().find(value) {
            ids = vec![id];
        }
    }
    Ok((token, ids))
}

/// The names that the blocks of `use` give: `hold_seat as hold`, `actor user is buyer`.
fn given_names(snapshot: &Snapshot) -> impl Iterator<Item = &Name> {
    let uses = snapshot.items().iter().filter_map(|item| match &item.kind {
        ItemKind::Use(used) => Some(&used.changes),
        _ => None,
    });
    uses.flatten().filter_map(|change| match &change.kind {
        UseChangeKind::Actor { is, .. } | UseChangeKind::Subject { is, .. } => Some(is),
        UseChangeKind::Rename { to, .. } => Some(to),
        _ => None,
    })
}

/// Where its name is given in this text; refused for what has its name elsewhere.
fn own_name(snapshot: &Snapshot, id: DefinitionId) -> Result<Vec<Span>, Refusal> {
    let definition = snapshot.definition(id);
    let (name, span) = (&definition.name, definition.span);
    if span.file == TEXT {
        // the handler of an event has no name of its own
        return match span.text(&snapshot.text) == name {
            true => Ok(vec![span]),
            false => Err(Refusal::because(format!(
                "`{name}` is made of the name of its event; rename the event instead"
            ))),
        };
    }
    let given: Vec<Span> =
        given_names(snapshot).filter(|held| held.text == *name).map(|held| held.span).collect();
    if !given.is_empty() {
        return Ok(given);
    }
    let source = snapshot.compiled.sources.get(span.file);
    let source = source.map_or("another text", |source| source.name.as_str());
    let noun = noun(definition.kind);
    Err(Refusal::because(match source.contains(" as ") {
        true => format!(
            "the {noun} `{name}` comes from `{source}`; `{name} as NAME` in the block of its `use` gives it another name"
        ),
        false => format!("the {noun} `{name}` is not written in this text"),
    }))
}

fn is_name(new: &str) -> Result<(), Refusal> {
    let (tokens, problems) = syntax::lex(new, TEXT);
    let word = matches!(tokens.as_slice(), [word, _] if word.kind == TokenKind::Word);
    if !word || !problems.is_empty() || new.trim() != new {
        return Err(Refusal::because(format!(
            "`{new}` is no name: a name is letters, digits and `_`, and begins with a letter"
        )));
    }
    Ok(())
}

/// The edits for one definition.
fn uses(snapshot: &Snapshot, id: DefinitionId, new: &str) -> Result<Vec<Edit>, Refusal> {
    let definition = snapshot.definition(id);
    let mut spans = own_name(snapshot, id)?;
    let references = snapshot.analysis().references_to(id);
    // where an archetype is changed it may stand under the name that it has there
    let here = references.filter(|span| span.file == TEXT);
    spans.extend(here.filter(|span| span.text(&snapshot.text) == definition.name));
    spans.sort();
    spans.dedup();
    let short = short_fields(snapshot.items());
    let old = &definition.name;
    let edits = spans.into_iter().map(|span| {
        let others = snapshot.definitions_at(span.start);
        let two = in_braces(snapshot, span)
            && others.iter().any(|other| snapshot.definition(*other).span != definition.span);
        let field = matches!(definition.kind, Kind::Attribute | Kind::Key);
        match two || short.contains(&span.start) {
            false => Edit::replace(span, new),
            true if two && field => Edit::replace(span, format!("{new}: {old}")),
            true => Edit::replace(span, format!("{old}: {new}")),
        }
    });
    Ok(edits.collect())
}

/// Is the innermost bracket around this place a brace? A name in round ones that stands for two things is no field.
fn in_braces(snapshot: &Snapshot, span: Span) -> bool {
    let tokens = snapshot.tokens();
    let before = tokens.partition_point(|token| token.span.start < span.start);
    let mut closed = 0;
    for token in tokens[..before].iter().rev() {
        match token.kind {
            TokenKind::CloseBrace | TokenKind::CloseBracket | TokenKind::CloseParen => closed += 1,
            TokenKind::OpenBrace | TokenKind::OpenBracket | TokenKind::OpenParen if closed > 0 => {
                closed -= 1;
            }
            TokenKind::OpenBrace => return true,
            TokenKind::OpenBracket | TokenKind::OpenParen => return false,
            _ => {}
        }
    }
    false
}

/// The same word where names are not resolved: in what a family of goals is given, in `check`, and in what must not
/// compile.
fn unresolved(snapshot: &Snapshot, old: &str, edits: &[Edit], new: &str) -> [Vec<Edit>; 3] {
    let mut regions: [Vec<Span>; 3] = Default::default();
    for item in snapshot.items() {
        match &item.kind {
            ItemKind::Invariant { body, .. } | ItemKind::Recovers { body, .. } => {
                if let ExprKind::Call { args, .. } = &body.kind {
                    regions[0].extend(args.iter().map(|arg| arg.span));
                }
            }
            ItemKind::Check(_) => regions[1].push(item.span),
            ItemKind::Failure(failure) => {
                let proofs = failure.proofs.iter();
                let snippets =
                    proofs.filter(|proof| matches!(proof.kind, FailureProofKind::Compiler { .. }));
                regions[2].extend(snippets.map(|proof| proof.span));
            }
            _ => {}
        }
    }
    let words = snapshot.tokens().iter().filter(|token| token.kind == TokenKind::Word);
    let words = words.map(|token| token.span).filter(|span| span.text(&snapshot.text) == old);
    let missed: Vec<Span> =
        words.filter(|span| !edits.iter().any(|edit| edit.start == span.start)).collect();
    regions.map(|regions| {
        let inside = |span: &&Span| {
            regions.iter().any(|region| region.start <= span.start && span.end <= region.end)
        };
        missed.iter().filter(inside).map(|span| Edit::replace(*span, new)).collect()
    })
}

/// What another text says that this one does not.
fn differs(snapshot: &Snapshot, edits: &Edits, after: &Compiled) -> Option<String> {
    let before = &snapshot.compiled;
    let moved = |span: Span| match span.file {
        TEXT => (TEXT, edits.moved(span.start)),
        file => (file, span.start),
    };
    let stays = |span: Span| (span.file, span.start);
    // a text that is made of names has other places with other names
    let made = |span: Span| span.file != TEXT;
    let problems = |compiled: &Compiled, place: &dyn Fn(Span) -> (FileId, u32)| {
        let mut all: Vec<_> = compiled
            .diagnostics
            .iter()
            .map(|problem| (problem.code, problem.primary.span))
            .map(|(code, span)| (code, if made(span) { (span.file, 0) } else { place(span) }))
            .collect();
        all.sort_unstable();
        all
    };
    let known = problems(before, &moved);
    if known != problems(after, &stays) {
        let new = after.diagnostics.iter().find(|problem| {
            let span = problem.primary.span;
            made(span) || !known.contains(&(problem.code, stays(span)))
        });
        return Some(new.map_or("what is wrong with the text would change".into(), |problem| {
            format!("then {} [{}]", problem.message, problem.code)
        }));
    }
    let was = leads(before, &|held, definition| {
        let (file, at) = moved(held.span);
        // of a field and a value that were one word, the value stands behind the field now
        let field = matches!(definition.kind, Kind::Attribute | Kind::Key)
            && before.analysis.definitions_at(file, held.span.start).len() > 1;
        let behind = if field || file != TEXT { 0 } else { edits.value_behind(held.span.start) };
        ((file, at + behind), moved(definition.span))
    });
    let is = leads(after, &|held, definition| (stays(held.span), stays(definition.span)));
    (was != is).then(|| "then a name would lead to something else than it does now".into())
}

/// Where a name stands, and where the name of what it stands for does.
type Lead = ((FileId, u32), (FileId, u32));

fn leads(compiled: &Compiled, lead: &dyn Fn(&Reference, &Definition) -> Lead) -> Vec<Lead> {
    let analysis = &compiled.analysis;
    let all = analysis.references().iter().filter(|held| held.span.file == TEXT);
    let mut all: Vec<Lead> =
        all.map(|held| lead(held, analysis.definition(held.definition))).collect();
    all.sort_unstable();
    all
}
