//! The names that the parts of an archetype have in a design: the noun is in every one of them.

use rustc_hash::FxHashMap;
use syntax::tree::{Expr, ExprKind, FailureProofKind, Item, ItemKind, OperationBody, handler_name};
use syntax::{FileId, Span, TokenKind};

use super::flat::{Edit, Flat};
use crate::Sources;
use crate::analysis::{Analysis, Definition, DefinitionId, DefinitionKind as Kind};
use crate::archetype::{rename, rename_prose, snake_case};
use crate::compile::{analyse_snippet, families};

/// An archetype by itself, and what each of its names becomes.
pub struct Naming<'a> {
    noun: &'a str,
    scope: String,
    text: &'a str,
    items: &'a [Item],
    analysis: &'a Analysis,
    /// of each definition
    names: Vec<String>,
    /// the same before the block of the `use` had its say
    plain: Vec<String>,
}

impl<'a> Naming<'a> {
    pub fn new(noun: &'a str, text: &'a str, items: &'a [Item], analysis: &'a Analysis) -> Self {
        let scope = snake_case(noun);
        let definitions = analysis.definitions().iter();
        let mut names: Vec<String> =
            definitions.map(|held| named(held, noun, &scope, analysis)).collect();
        for (at, event) in handlers(text, analysis) {
            names[at] = match event {
                Some(event) => handler_name(None, &names[event]),
                None => analysis.definitions()[at].name.clone(),
            };
        }
        Naming { noun, scope, text, items, analysis, plain: names.clone(), names }
    }

    pub fn scope(&self) -> &str {
        &self.scope
    }

    /// What a goal of the archetype is called.
    pub fn scoped(&self, goal: &str) -> String {
        scoped(goal, self.noun, &self.scope, self.analysis)
    }

    /// The definitions that are called so here, of these kinds; a member by its owner.
    pub fn find(&self, owner: Option<&str>, name: &str, kinds: &[Kind]) -> Option<DefinitionId> {
        let is = |at: usize, name: &str| self.names[at] == name || self.plain[at] == name;
        let definitions = self.analysis.definitions();
        let found = definitions.iter().enumerate().position(|(at, held)| {
            let owned = match owner {
                None => true,
                Some(owner) => self.owners(held).iter().any(|id| is(id.index(), owner)),
            };
            kinds.contains(&held.kind) && is(at, name) && owned
        })?;
        Some(DefinitionId::of(found))
    }

    /// The state of an attribute, and the subject of that state.
    fn owners(&self, held: &Definition) -> Vec<DefinitionId> {
        let mut owners = Vec::new();
        let mut next = held.owner;
        while let Some(id) = next {
            owners.push(id);
            next = self.analysis.definition(id).owner;
        }
        owners
    }

    pub fn definition(&self, id: DefinitionId) -> &Definition {
        self.analysis.definition(id)
    }

    pub fn set(&mut self, id: DefinitionId, name: &str) {
        self.names[id.index()] = name.to_string();
    }

    pub fn name(&self, id: DefinitionId) -> &str {
        &self.names[id.index()]
    }

    /// Names of these kinds, for "did you mean".
    pub fn names(&self, kinds: &[Kind]) -> Vec<&str> {
        let definitions = self.analysis.definitions().iter().zip(&self.names);
        definitions
            .filter(|(held, _)| kinds.contains(&held.kind))
            .map(|(_, name)| &**name)
            .collect()
    }

    /// What a key or an attribute of the archetype is called here.
    pub fn member(&self, owner: &str, name: &str) -> Option<String> {
        let definitions = self.analysis.definitions().iter().zip(&self.names);
        let mut members = definitions.filter(|(held, _)| {
            let of = held.owner.map(|id| self.definition(id).name.as_str());
            matches!(held.kind, Kind::Key | Kind::Attribute)
                && held.name == name
                && of == Some(owner)
        });
        members.next().map(|(_, new)| new.clone())
    }

    /// What is called so in the archetype, with the noun for `X`, is called so in the design.
    pub fn by_old_name(&self, kinds: &[Kind]) -> FxHashMap<String, String> {
        let definitions = self.analysis.definitions().iter().zip(&self.names);
        definitions
            .filter(|(held, _)| kinds.contains(&held.kind))
            .map(|(held, name)| (rename(&held.name, self.noun), name.clone()))
            .collect()
    }

    /// The archetype's text with every name changed.
    pub fn renamed(&self, flat: &Flat, sources: &Sources) -> Flat {
        let mut words: FxHashMap<u32, (u32, String)> = FxHashMap::default();
        let mut meant: FxHashMap<Span, Vec<DefinitionId>> = FxHashMap::default();
        let is_written = |held: &&Definition| held.span.text(self.text) == held.name;
        let definitions = self.analysis.definitions().iter().enumerate();
        // the name of a handler stands nowhere
        for (at, held) in definitions.filter(|(_, held)| is_written(held)) {
            meant.entry(held.span).or_default().push(DefinitionId::of(at));
        }
        // a goal of a family is recorded in a text of its own
        let here = |span: Span| span.file == FileId(0);
        for reference in self.analysis.references().iter().filter(|it| here(it.span)) {
            meant.entry(reference.span).or_default().push(reference.definition);
        }
        for snippet in self.snippets() {
            for (span, target) in analyse_snippet(self.items, snippet, sources) {
                let found = self.analysis.definitions().iter().position(|d| d.span == target);
                if let Some(at) = found {
                    meant.entry(span).or_default().push(DefinitionId::of(at));
                }
            }
            self.views_in(snippet, &mut meant);
        }
        for (span, ids) in meant.into_iter().filter(|(span, _)| here(*span)) {
            let written = span.text(self.text);
            if let Some(word) = self.word(written, &ids) {
                words.insert(span.start, (span.end, word));
            }
        }
        for (span, word) in self.family_names() {
            words.insert(span.start, (span.end, word));
        }
        for (span, text) in self.titles().into_iter().chain(self.addresses()) {
            words.insert(span.start, (span.end, text));
        }
        self.apply(flat, &words)
    }

    /// The word that stands for these definitions. A field that is written as its name alone stands for two.
    fn word(&self, written: &str, ids: &[DefinitionId]) -> Option<String> {
        let name = |id: &DefinitionId| self.names[id.index()].as_str();
        let member =
            |id: &&DefinitionId| matches!(self.definition(**id).kind, Kind::Attribute | Kind::Key);
        let (Some(field), Some(value)) =
            (ids.iter().find(member), ids.iter().find(|id| !member(id)))
        else {
            let only = name(ids.first()?);
            return (only != written).then(|| only.to_string());
        };
        match (name(field), name(value)) {
            (field, value) if field == value => (field != written).then(|| field.to_string()),
            (field, value) => Some(format!("{field}: {value}")),
        }
    }

    /// Where a view is wrong, what its name means is not recorded: a snippet may be there to show just that.
    fn views_in(&self, snippet: &[Item], meant: &mut FxHashMap<Span, Vec<DefinitionId>>) {
        let (Some(first), Some(last)) = (snippet.first(), snippet.last()) else { return };
        let inside = first.span.start..last.span.end;
        let (tokens, _) = syntax::lex(self.text, FileId(0));
        for token in tokens.iter().filter(|token| inside.contains(&token.span.start)) {
            let word = token.span.text(self.text);
            let view = |held: &Definition| held.kind == Kind::View && held.name == word;
            if let Some(at) = self.analysis.definitions().iter().position(view) {
                meant.entry(token.span).or_insert_with(|| vec![DefinitionId::of(at)]);
            }
        }
    }

    fn snippets(&self) -> impl Iterator<Item = &[Item]> {
        let failures = self.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Failure(failure) => Some(failure),
            _ => None,
        });
        failures.flat_map(|failure| &failure.proofs).filter_map(|proof| match &proof.kind {
            FailureProofKind::Compiler { items, .. } => Some(items.as_slice()),
            _ => None,
        })
    }

    /// A goal that is written with a family is put in place as a text: what its words mean is not recorded.
    fn family_names(&self) -> Vec<(Span, String)> {
        let kinds = [Kind::Subject, Kind::State, Kind::Define, Kind::Event, Kind::Blob];
        let mut found = Vec::new();
        let definitions = || self.analysis.definitions().iter().zip(&self.names);
        for item in self.items {
            let (ItemKind::Invariant { body, .. }
            | ItemKind::Recovers { body, .. }
            | ItemKind::LeadsTo { body, .. }) = &item.kind
            else {
                continue;
            };
            let ExprKind::Call { function, args } = &body.kind else { continue };
            if !families().iter().any(|family| family.name == function.text) {
                continue;
            }
            for arg in args {
                each_name(arg, &mut |name, span| {
                    let meant =
                        definitions().find(|(d, _)| kinds.contains(&d.kind) && d.name == name);
                    if let Some((_, new)) = meant {
                        found.push((span, new.clone()));
                    }
                });
            }
        }
        found
    }

    /// `failure "oversell"` is `failure "seat: oversell"`.
    fn titles(&self) -> Vec<(Span, String)> {
        let titles = self.items.iter().filter_map(|item| match &item.kind {
            ItemKind::Failure(failure) => Some(failure.title.span),
            ItemKind::Hotspot(hotspot) => Some(hotspot.title.span),
            _ => None,
        });
        let titles: Vec<Span> = titles.collect();
        let plain = |span: &Span| rename_prose(span.text(self.text), self.noun);
        let own: Vec<String> = titles.iter().map(plain).collect();
        let scoped = |span: Span| {
            let title = plain(&span);
            let title = title.strip_prefix('"').unwrap_or(&title);
            // of a part that is used under the same noun: once, or twice where it has one of that name itself
            let used = [String::from("x"), self.scope.clone()];
            let inner = used.iter().find_map(|it| title.strip_prefix(it)?.strip_prefix(": "));
            let scope = &self.scope;
            let new = match inner {
                Some(inner) if own.contains(&format!("\"{inner}")) => {
                    format!("{scope}: {scope}: {inner}")
                }
                Some(inner) => format!("{scope}: {inner}"),
                None => format!("{scope}: {title}"),
            };
            (span, format!("\"{new}"))
        };
        titles.iter().copied().map(scoped).collect()
    }

    /// Where effects go: `{provider.url}/execute` has the name of its actor, and of its operation where the block
    /// gives that one.
    fn addresses(&self) -> Vec<(Span, String)> {
        let named = || self.analysis.definitions().iter().zip(&self.names).zip(&self.plain);
        let mut found = Vec::new();
        for item in self.items {
            let ItemKind::Operation(operation) = &item.kind else { continue };
            let OperationBody::Effect(body) = &operation.body else { continue };
            let Some(url) = body.call.as_ref().and_then(|call| call.url.as_ref()) else { continue };
            let mut text = rename_prose(url.span.text(self.text), self.noun);
            for ((held, new), _) in named().filter(|((held, _), _)| held.kind == Kind::Actor) {
                text = text.replace(&format!("{{{}.", held.name), &format!("{{{new}."));
            }
            let own = named().find(|((held, _), _)| held.span == operation.name.span);
            if let Some(((held, new), plain)) = own
                && new != plain
                && let Some(path) = text.strip_suffix(&format!("/{}\"", held.name))
            {
                text = format!("{path}/{new}\"");
            }
            found.push((url.span, text));
        }
        found
    }

    fn apply(&self, flat: &Flat, words: &FxHashMap<u32, (u32, String)>) -> Flat {
        let (tokens, _) = syntax::lex(self.text, FileId(0));
        let mut edits = Vec::new();
        let mut done = 0;
        for token in &tokens {
            if token.span.start < done {
                continue;
            }
            let (end, new) = match words.get(&token.span.start) {
                Some((end, word)) => (*end, word.clone()),
                None => {
                    let written = token.span.text(self.text);
                    let new = match token.kind {
                        TokenKind::Word => rename(written, self.noun),
                        TokenKind::Text | TokenKind::Comment => rename_prose(written, self.noun),
                        _ => continue,
                    };
                    if new == written {
                        continue;
                    }
                    (token.span.end, new)
                }
            };
            done = end;
            let range = token.span.start..end;
            let from = flat.origin(Span::new(FileId(0), range.start, range.end));
            edits.push(Edit { range, with: Flat::piece(new, from) });
        }
        flat.edited(edits)
    }
}

/// The handlers, each with its event if that is the archetype's own: they are called after it.
fn handlers(text: &str, analysis: &Analysis) -> Vec<(usize, Option<usize>)> {
    let all = analysis.definitions().iter().enumerate();
    let handlers =
        all.filter(|(_, held)| held.kind == Kind::Operation && held.name != held.span.text(text));
    let event = |written: &str| {
        let mut all = analysis.definitions().iter();
        all.position(|held| held.kind == Kind::Event && held.name == written)
    };
    let own = |held: &Definition| held.name == handler_name(None, held.span.text(text));
    let event = |held: &Definition| own(held).then(|| event(held.span.text(text))).flatten();
    handlers.map(|(at, held)| (at, event(held))).collect()
}

/// What a definition is called, by its kind.
fn named(held: &Definition, noun: &str, scope: &str, analysis: &Analysis) -> String {
    let plain = rename(&held.name, noun);
    // an archetype that uses another one does so as `X`
    let has_noun = rename(&held.name, "Noun") != held.name;
    let camel = plain.starts_with(|first: char| first.is_uppercase());
    match held.kind {
        Kind::Goal | Kind::Protocol | Kind::World => scoped(&held.name, noun, scope, analysis),
        _ if has_noun => plain,
        Kind::Subject | Kind::State | Kind::Blob | Kind::Event => format!("{noun}{plain}"),
        Kind::View if camel => format!("{plain}{noun}"),
        Kind::Operation | Kind::Define | Kind::View | Kind::Memory => format!("{plain}_{scope}"),
        Kind::Actor
        | Kind::Key
        | Kind::Attribute
        | Kind::Constant
        | Kind::Parameter
        | Kind::Local
        | Kind::Clause => plain,
    }
}

/// What a goal, a protocol or a world is called. Those of a part that is used under the same noun have the scope once,
/// or twice where the archetype has one of that name itself.
fn scoped(name: &str, noun: &str, scope: &str, analysis: &Analysis) -> String {
    let words: Vec<String> = name.split('.').map(|word| rename(word, noun)).collect();
    let name = words.join(".");
    let Some(inner) = name.strip_prefix(&format!("{scope}.")) else {
        return format!("{scope}.{name}");
    };
    let is_goal = |kind| matches!(kind, Kind::Goal | Kind::Protocol | Kind::World);
    let is_own = |held: &Definition| is_goal(held.kind) && rename(&held.name, noun) == inner;
    match analysis.definitions().iter().any(is_own) {
        true => format!("{scope}.{name}"),
        false => name,
    }
}

/// Every name in an expression that may stand for something of the design.
fn each_name(expr: &Expr, found: &mut dyn FnMut(&str, Span)) {
    match &expr.kind {
        ExprKind::Name(name) => found(&name.text, name.span),
        ExprKind::Field { base, name } => {
            each_name(base, found);
            found(&name.text, name.span);
        }
        ExprKind::Call { function, args } => {
            found(&function.text, function.span);
            args.iter().for_each(|arg| each_name(arg, found));
        }
        ExprKind::And(parts)
        | ExprKind::Or(parts)
        | ExprKind::Set(parts)
        | ExprKind::List(parts) => {
            parts.iter().for_each(|part| each_name(part, found));
        }
        ExprKind::Index { base: left, index: right } | ExprKind::Binary { left, right, .. } => {
            each_name(left, found);
            each_name(right, found);
        }
        ExprKind::Old(inner)
        | ExprKind::Not(inner)
        | ExprKind::Negate(inner)
        | ExprKind::Round { of: inner, .. }
        | ExprKind::Presence { of: inner, .. } => each_name(inner, found),
        ExprKind::If { condition, then, otherwise } => {
            [condition, then, otherwise].into_iter().for_each(|part| each_name(part, found));
        }
        ExprKind::Quantifier { domain, filter, body, .. } => {
            each_name(&domain.of_what, found);
            domain.parent.iter().for_each(|parent| each_name(parent, found));
            filter.iter().for_each(|filter| each_name(filter, found));
            each_name(body, found);
        }
        ExprKind::Aggregate { value, domain, filter, .. } => {
            each_name(&domain.of_what, found);
            domain.parent.iter().for_each(|parent| each_name(parent, found));
            value.iter().chain(filter).for_each(|part| each_name(part, found));
        }
        ExprKind::Let { value, body, .. } => {
            each_name(value, found);
            each_name(body, found);
        }
        ExprKind::Record(_)
        | ExprKind::Null
        | ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Decimal(_)
        | ExprKind::Text(_)
        | ExprKind::Duration { .. }
        | ExprKind::Now
        | ExprKind::Me
        | ExprKind::Error => {}
    }
}
