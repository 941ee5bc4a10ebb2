//! `from VERSION { … }`: checked as far as this text knows. What the earlier version had is known only where
//! its truth is stored.

use syntax::Diagnostic;
use syntax::tree::{self, FromLineKind, Item, ItemKind, Name};

use super::Compiler;
use super::frame::{Frame, Mode};
use super::literal::fold;
use crate::model::*;
use crate::suggest;

/// Fewer digits of a version could stand for two of them.
const DIGITS_MIN: usize = 8;

impl Compiler {
    pub(super) fn earlier_versions(&mut self, items: &[Item]) {
        for item in items {
            let ItemKind::From(from) = &item.kind else { continue };
            if matches!(self.design.kind, DesignKind::Archetype { .. }) {
                self.report(
                    Diagnostic::error("E1004", item.span, "an archetype stores nothing by itself")
                        .help("`from` stands in the design that is served"),
                );
                continue;
            }
            let version = self.version_of(&from.version);
            let mut earlier = Earlier {
                version,
                renames: Vec::new(),
                given: Vec::new(),
                conversions: Vec::new(),
                span: item.span,
            };
            for line in &from.lines {
                match &line.kind {
                    FromLineKind::Rename { path, to } => {
                        self.renamed(path, to, line.span, &mut earlier);
                    }
                    FromLineKind::Default { path, value } => {
                        self.given(path, value, line.span, &mut earlier);
                    }
                    FromLineKind::Convert { path, params, value } => {
                        self.converted(path, params, value, line.span, &mut earlier);
                    }
                    FromLineKind::Error => {}
                }
            }
            self.design.earlier.push(earlier);
        }
    }

    fn version_of(&mut self, written: &tree::Text) -> String {
        let version = written.value.clone();
        let digits =
            |text: &str| text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        if version.len() < DIGITS_MIN || !digits(&version) {
            self.report(
                Diagnostic::error(
                    "E1003",
                    written.span,
                    format!("`{version}` does not name a version"),
                )
                .help(format!(
                    "a version is at least {DIGITS_MIN} hexadecimal digits, as `steadfast explain OLD \
                     --against NEW` and a refused replacement print it"
                )),
            );
        }
        let same = |known: &&Earlier| {
            known.version.starts_with(&version) || version.starts_with(&known.version)
        };
        if let Some(first) = self.design.earlier.iter().find(same) {
            let first = first.span;
            self.report(
                Diagnostic::error(
                    "E1003",
                    written.span,
                    format!("there are two blocks for version `{version}`"),
                )
                .label("the second one")
                .also(first, "the first one")
                .help("write all lines into one block"),
            );
        }
        version
    }

    fn renamed(&mut self, path: &[Name], to: &Name, span: syntax::Span, earlier: &mut Earlier) {
        if to.text.is_empty() || path.iter().any(|name| name.text.is_empty()) {
            return; // it could not be read
        }
        let words = if path.len() == 1 { self.names_of_things() } else { self.names_of_members() };
        let found: Vec<Option<syntax::Span>> =
            words.iter().filter(|(name, _)| *name == to.text).map(|(_, span)| *span).collect();
        match found.as_slice() {
            [] => {
                let problem = Diagnostic::error(
                    "E1002",
                    to.span,
                    format!("nothing here is called `{}`", to.text),
                );
                let words = words.iter().map(|(name, _)| name.as_str());
                self.report(match suggest::did_you_mean(&to.text, words) {
                    Some(hint) => problem.help(hint),
                    None => problem
                        .help("`rename` is followed by the old name, and then by the name that it has here"),
                });
                return;
            }
            [Some(target)] => self.known.refer(to, *target),
            _ => {}
        }
        let old: Vec<String> = path.iter().map(|name| name.text.clone()).collect();
        if let Some(twice) = earlier.renames.iter().find(|known| known.old == old) {
            self.twice(&old.join("."), span, twice.span);
            return;
        }
        earlier.renames.push(Rename { old, new: to.text.clone(), span });
    }

    fn twice(&mut self, what: &str, span: syntax::Span, first: syntax::Span) {
        let message = format!("`{what}` stands twice in this block");
        self.report(
            Diagnostic::error("E1003", span, message)
                .also(first, "the first time")
                .help("leave one of the lines out"),
        );
    }

    /// What may be renamed by its name alone, and where it is declared.
    fn names_of_things(&self) -> Vec<(String, Option<syntax::Span>)> {
        let design = &self.design;
        let mut all: Vec<(String, Option<syntax::Span>)> = Vec::new();
        all.extend(design.actors.iter().map(|held| (held.name.clone(), Some(held.span))));
        all.extend(design.subjects.iter().map(|held| (held.name.clone(), Some(held.span))));
        let states = design.subjects.iter().flat_map(|subject| &subject.states);
        all.extend(states.map(|held| (held.name.clone(), Some(held.span))));
        all.extend(design.blobs.iter().map(|held| (held.name.clone(), Some(held.span))));
        all.extend(design.events.iter().map(|held| (held.name.clone(), None)));
        let names = design.operations.iter().zip(&self.operation_names);
        all.extend(names.map(|(held, span)| (held.name.clone(), Some(*span))));
        all.extend(self.constant_words());
        all
    }

    /// What may be renamed as a part of something else.
    fn names_of_members(&self) -> Vec<(String, Option<syntax::Span>)> {
        let design = &self.design;
        let mut all: Vec<(String, Option<syntax::Span>)> = Vec::new();
        for subject in &design.subjects {
            all.extend(subject.states.iter().map(|held| (held.name.clone(), Some(held.span))));
            all.extend(subject.attributes.iter().map(|held| (held.name.clone(), Some(held.span))));
        }
        let params = design.operations.iter().flat_map(|operation| &operation.params);
        all.extend(params.map(|held| (held.name.clone(), None)));
        let memory = design.actors.iter().flat_map(|actor| &actor.memory);
        all.extend(memory.map(|held| (held.name.clone(), Some(held.span))));
        all.extend(self.constant_words());
        all
    }

    fn constant_words(&self) -> impl Iterator<Item = (String, Option<syntax::Span>)> {
        let words = self.design.enumerations.iter().flat_map(|held| &held.constants);
        words.map(|word| (word.clone(), None))
    }

    fn given(
        &mut self,
        path: &[Name],
        value: &tree::Expr,
        span: syntax::Span,
        earlier: &mut Earlier,
    ) {
        let Some((subject, attr)) = self.line_about(path, span, earlier) else { return };
        let (ty, range) = self.attribute_type(subject, attr);
        let Some(constant) = self.constant(value, &ty) else { return };
        if self.within(&constant, &ty, range, value.span) {
            earlier.given.push(Given { subject, attr, value: constant, span });
        }
    }

    fn converted(
        &mut self,
        path: &[Name],
        params: &[tree::Param],
        value: &tree::Expr,
        span: syntax::Span,
        earlier: &mut Earlier,
    ) {
        let Some((subject, attr)) = self.line_about(path, span, earlier) else { return };
        let (ty, range) = self.attribute_type(subject, attr);
        if params.is_empty() {
            self.report(
                Diagnostic::error("E1005", span, "a conversion of nothing that was stored").help(
                    "name what it is made of, as `convert State.attribute(old: type) = …`; a value that \
                     does not depend on it is a `default`",
                ),
            );
        }
        for param in params
            .iter()
            .filter(|param| param.new || param.default.is_some() || param.from_caller.is_some())
        {
            self.report(
                Diagnostic::error(
                    "E1005",
                    param.span,
                    "what was stored is neither new nor left out",
                )
                .help("write its name and its type"),
            );
        }
        let (params, _) = self.params(params);
        if let Some(secret) = params.iter().find(|param| param.ty.is_secret()) {
            let message = format!("`{}` is a secret, and nothing is made of it", secret.name);
            self.report(
                Diagnostic::error("E1005", secret.span, message)
                    .help("a secret follows under its name, or under another one with `rename`"),
            );
            return;
        }
        let mut frame = Frame::new(Mode::Call, None);
        frame.bind_params(&params);
        // a record that it refers to is not looked at
        frame.params.clear();
        let compiled = self.expr(&mut frame, value, Some(&ty));
        let Some(compiled) = self.demand(compiled, &ty) else { return };
        if let Some(constant) = fold(&compiled) {
            self.within(&constant, &ty, range, value.span);
        }
        if let Some((place, what)) = beyond(&compiled) {
            self.report(
                Diagnostic::error("E1005", place, format!("a conversion does not look at {what}"))
                    .help("it is made of its parameters alone: what was stored of the one record"),
            );
            return;
        }
        let locals = frame.locals;
        earlier.conversions.push(ConversionOf {
            subject,
            attr,
            params,
            locals,
            value: compiled,
            span,
        });
    }

    fn attribute_type(&self, subject: SubjectId, attr: AttrId) -> (Type, Option<Range>) {
        let attribute = &self.design.subjects[subject.index()].attributes[attr.index()];
        (attribute.ty.clone(), attribute.range)
    }

    /// The attribute that a line is about. There is one line for each.
    fn line_about(
        &mut self,
        path: &[Name],
        span: syntax::Span,
        earlier: &Earlier,
    ) -> Option<(SubjectId, AttrId)> {
        let (subject, attr) = self.stored_attribute(path)?;
        let given = earlier.given.iter().map(|held| (held.subject, held.attr, held.span));
        let made = earlier.conversions.iter().map(|held| (held.subject, held.attr, held.span));
        let first = given.chain(made).find(|(s, a, _)| (*s, *a) == (subject, attr));
        if let Some((_, _, first)) = first {
            let name = self.design.subjects[subject.index()].attributes[attr.index()].name.clone();
            self.twice(&name, span, first);
        }
        Some((subject, attr))
    }

    /// `State.attribute` or `Subject.State.attribute`, of something that is stored.
    fn stored_attribute(&mut self, path: &[Name]) -> Option<(SubjectId, AttrId)> {
        if path.iter().any(|name| name.text.is_empty()) {
            return None; // it could not be read
        }
        let (subject, state, name) = match path {
            [state, name] => (None, state, name),
            [subject, state, name] => (Some(subject), state, name),
            _ => {
                let span = path.first()?.span.to(path.last()?.span);
                self.report(
                    Diagnostic::error("E1002", span, "this does not name an attribute")
                        .help("write `State.attribute`"),
                );
                return None;
            }
        };
        let states = self.names.states.get(&state.text).cloned().unwrap_or_default();
        let of = |id: &SubjectId| {
            subject.is_none_or(|name| self.design.subjects[id.index()].name == name.text)
        };
        let states: Vec<(SubjectId, StateId)> =
            states.into_iter().filter(|(id, _)| of(id)).collect();
        let (id, state_id) = match states.as_slice() {
            [one] => *one,
            [] => {
                let words = self.names.states.keys().map(String::as_str);
                let hint = suggest::did_you_mean(&state.text, words);
                let problem = Diagnostic::error(
                    "E1002",
                    state.span,
                    format!("no state here is called `{}`", state.text),
                );
                let help = "the attribute is named as it is here: `State.attribute`";
                self.report(problem.help(hint.unwrap_or_else(|| help.into())));
                return None;
            }
            [(first, _), ..] => {
                let owner = &self.design.subjects[first.index()].name;
                let help = format!("say which, as `{owner}.{}.{}`", state.text, name.text);
                let message = format!("several subjects have a state `{}`", state.text);
                self.report(Diagnostic::error("E1002", state.span, message).help(help));
                return None;
            }
        };
        self.refer_to_state(state, id, state_id);
        let held = &self.design.subjects[id.index()];
        let attributes = &held.states[state_id.index()].attributes;
        let found = attributes.iter().find(|at| held.attributes[at.index()].name == name.text);
        let Some(attr) = found.copied() else {
            let words: Vec<String> =
                attributes.iter().map(|at| held.attributes[at.index()].name.clone()).collect();
            let message = format!("`{}` has no attribute `{}`", state.text, name.text);
            let problem = Diagnostic::error("E1002", name.span, message);
            self.report(problem.help(format!("it has {}", suggest::list(&words))));
            return None;
        };
        self.refer_to_attribute(name, id, attr);
        let kind = self.design.subjects[id.index()].states[state_id.index()].kind;
        if !matches!(kind, StateKind::Truth | StateKind::Log { .. }) {
            let message = format!("`{}` is not stored", state.text);
            self.report(
                Diagnostic::error("E1002", state.span, message)
                    .help("truth and logs are stored; caches and ephemerals begin empty"),
            );
            return None;
        }
        Some((id, attr))
    }
}

/// Something that is not known of one stored record by itself.
fn beyond(value: &Expr) -> Option<(syntax::Span, &'static str)> {
    let mut found = None;
    visit::each(value, &mut |part| {
        let what = match &part.kind {
            ExprKind::Now => "the time",
            ExprKind::Me | ExprKind::Memory(_) | ExprKind::Remembered { .. } => "who calls",
            ExprKind::Attr { .. }
            | ExprKind::KeyPart { .. }
            | ExprKind::LogEnd { .. }
            | ExprKind::LogStart { .. }
            | ExprKind::LogSlice { .. }
            | ExprKind::Exists { .. }
            | ExprKind::Counter { .. }
            | ExprKind::View { .. }
            | ExprKind::WorldArg { .. }
            | ExprKind::Old(_) => "other records",
            ExprKind::Stored(_) | ExprKind::Verified { .. } | ExprKind::Included { .. } => {
                "stored content and signatures"
            }
            ExprKind::Hash(_) => "digests",
            ExprKind::Quantifier { domain, .. } | ExprKind::Aggregate { domain, .. }
                if !matches!(**domain, Domain::Elements(_)) =>
            {
                "other records"
            }
            _ => return,
        };
        found.get_or_insert((part.span, what));
    });
    found
}
