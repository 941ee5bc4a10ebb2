//! What the block of a `use` changes: other names first, then more states, clauses and effects.

use syntax::tree::{
    AnswerKind, Item, ItemKind, MoreEffects, Name, OperationBody, OperationItem, OperationKind,
    SubjectItem, UseChangeKind, UseItem,
};
use syntax::{Diagnostic, FileId, Span};

use super::flat::{Edit, Flat};
use super::naming::Naming;
use super::{Composer, MoreWrites, Part, is_named};
use crate::analysis::DefinitionKind as Kind;
use crate::model::LeftOut;
use crate::suggest;

const ACTORS: &[Kind] = &[Kind::Actor];
const SUBJECTS: &[Kind] = &[Kind::Subject];

/// What is written behind its owner: `SeatBookingState.holder`, `confirm_seat.booking`.
const MEMBERS: &[Kind] = &[Kind::Attribute, Kind::Key, Kind::Parameter, Kind::Constant];

/// What a line with `as` may name.
const NAMED: &[Kind] = &[
    Kind::Operation,
    Kind::State,
    Kind::Event,
    Kind::View,
    Kind::Memory,
    Kind::Define,
    Kind::Blob,
    Kind::Subject,
];

impl Composer<'_> {
    /// The lines that give names: `is` and `as`.
    pub(super) fn names(
        &mut self,
        used: &UseItem,
        naming: &mut Naming<'_>,
        part: &mut Part,
        file: FileId,
    ) {
        let mut given: Vec<(crate::DefinitionId, Span)> = Vec::new();
        for change in used.changes.iter().filter(|change| is_named(&change.kind)) {
            let (owner, name, to, kinds, what) = match &change.kind {
                UseChangeKind::Actor { name, is } => (None, name, is, ACTORS, "actor"),
                UseChangeKind::Subject { name, is } => (None, name, is, SUBJECTS, "subject"),
                UseChangeKind::Rename { owner: None, name, to } => (None, name, to, NAMED, "name"),
                UseChangeKind::Rename { owner, name, to } => {
                    (owner.as_ref(), name, to, MEMBERS, "attribute, key, parameter or word")
                }
                _ => continue,
            };
            let Some(id) = naming.find(owner.map(|owner| &*owner.text), &name.text, kinds) else {
                let known = naming.names(kinds);
                self.nothing_called(name, what, &known, file, part);
                continue;
            };
            if let Some((_, earlier)) = given.iter().find(|(held, _)| *held == id) {
                self.twice(change.span, *earlier, &name.text);
                continue;
            }
            given.push((id, change.span));
            match &change.kind {
                UseChangeKind::Actor { .. } => {
                    part.bound_actors.push((to.text.clone(), change.span));
                }
                UseChangeKind::Subject { .. } => {
                    part.bound_subjects.push((to.text.clone(), change.span));
                }
                _ => {}
            }
            naming.set(id, &to.text);
            part.used.names.push((name.span, to.text.clone()));
        }
    }

    fn twice(&mut self, span: Span, earlier: Span, name: &str) {
        self.diagnostics.push(
            Diagnostic::error("E0811", span, format!("`{name}` is changed twice"))
                .also(earlier, "first changed here")
                .help("leave one of the two lines out"),
        );
    }

    /// The block names something that the archetype does not have.
    fn nothing_called(
        &mut self,
        name: &Name,
        what: &str,
        known: &[&str],
        file: FileId,
        part: &Part,
    ) {
        let message = format!("`{}` has no {what} `{}`", part.used.archetype, name.text);
        let mut known: Vec<String> = known.iter().map(|name| (*name).to_string()).collect();
        known.sort();
        known.dedup();
        let help = match suggest::did_you_mean(&name.text, known.iter().map(String::as_str)) {
            Some(hint) => hint,
            None if known.is_empty() => format!("it has no {what} at all"),
            None => format!("there are {}", suggest::list(&known)),
        };
        let header = self.header_of(file);
        self.diagnostics.push(
            Diagnostic::error("E0804", name.span, message)
                .also(header, format!("as `{}`", part.used.noun))
                .help(help),
        );
    }

    /// The first line of an archetype.
    fn header_of(&self, file: FileId) -> Span {
        let text = self.sources.get(file).map_or("", |source| &source.text);
        let parsed = syntax::parse(text, file);
        let header =
            parsed.tree.items.iter().find(|item| matches!(item.kind, ItemKind::Archetype { .. }));
        header.or(parsed.tree.items.first()).map_or(Span::new(file, 0, 0), |item| item.span)
    }

    /// The rest of the block. What is added is taken from `text`, which holds the `use`.
    pub(super) fn changed(
        &mut self,
        renamed: Flat,
        used: &UseItem,
        naming: &Naming<'_>,
        part: &mut Part,
        (text, file): (&str, FileId),
    ) -> Flat {
        let whole = renamed.text();
        let items = syntax::parse(&whole, FileId(0)).tree.items;
        let mut edits: Vec<Edit> = Vec::new();
        let mut steps: Vec<(String, Span, bool)> = Vec::new();
        // guards that operations did not have: where, and which edit makes it
        let mut guards: Vec<(u32, usize)> = Vec::new();
        for change in used.changes.iter().filter(|change| !is_named(&change.kind)) {
            let written = |span: Span| Flat::piece(span.text(text), span);
            match &change.kind {
                UseChangeKind::States { subject, states } => {
                    let Some(item) = self.subject(&items, subject, naming, part, file) else {
                        continue;
                    };
                    let (Some(first), Some(last)) = (states.first(), states.last()) else {
                        continue;
                    };
                    part.used.names.push((subject.span, item.1.name.text.clone()));
                    let at = item.0.span.end - 1;
                    insert(&mut edits, at, "\n", written(first.span.to(last.span)), "\n");
                }
                UseChangeKind::Clauses { operation, clauses } => {
                    let Some((_, held)) = self.operation(&items, operation, naming, part, file)
                    else {
                        continue;
                    };
                    steps.push((held.name.text.clone(), change.span, false));
                    let (Some(first), Some(last)) = (clauses.first(), clauses.last()) else {
                        continue;
                    };
                    for name in clauses.iter().filter_map(|clause| clause.name.as_ref()) {
                        part.used.added.push(format!("{}.{}", held.name.text, name.text));
                    }
                    let more = written(first.span.to(last.span));
                    match held.guard.last() {
                        Some(own) if own.name.is_some() => {
                            insert(&mut edits, own.span.end, "\n", more, "\n");
                        }
                        Some(own) => self.nameless(change.span, own.span, &renamed, held),
                        None => {
                            let event = matches!(held.kind, OperationKind::Event { .. });
                            let at = held.head.end - u32::from(!event);
                            match guards.iter().find(|(place, _)| *place == at) {
                                Some((_, edit)) => edits[*edit].with = longer(&edits[*edit], more),
                                None => {
                                    insert(&mut edits, at, " {\n", more, "\n}");
                                    guards.push((at, edits.len() - 1));
                                }
                            }
                        }
                    }
                }
                UseChangeKind::Effects(more) => {
                    let Some((_, held)) =
                        self.operation(&items, &more.operation, naming, part, file)
                    else {
                        continue;
                    };
                    steps.push((held.name.text.clone(), change.span, false));
                    part.used.effects.push(MoreWrites { span: more.body.span, into: more.into });
                    let inside = Span::new(
                        more.body.span.file,
                        more.body.span.start + 1,
                        more.body.span.end.saturating_sub(1),
                    );
                    self.effects(held, more, written(inside), &renamed, &mut edits);
                }
                UseChangeKind::Hide { operation } => {
                    if let Some((_, held)) = self.operation(&items, operation, naming, part, file) {
                        steps.push((held.name.text.clone(), change.span, true));
                        part.used.hidden.push(held.name.text.clone());
                    }
                }
                UseChangeKind::Instead { operation, items: own } => {
                    let Some((item, held)) = self.operation(&items, operation, naming, part, file)
                    else {
                        continue;
                    };
                    steps.push((held.name.text.clone(), change.span, true));
                    let place = renamed.origin(held.head);
                    if let Some(own) =
                        self.replacement(held, &whole, own, (text, change.span), place)
                    {
                        let range = item.span.start..item.span.end;
                        edits.push(Edit { range, with: written(own) });
                    }
                }
                UseChangeKind::WithoutGoal { goal, because } => {
                    let id = naming.find(None, &goal.text, &[Kind::Goal]);
                    let Some(id) = id else {
                        let known = naming.names(&[Kind::Goal]);
                        self.nothing_called(goal, "goal", &known, file, part);
                        continue;
                    };
                    if because.value.trim().is_empty() {
                        let place = renamed_goal(&items, naming.name(id))
                            .map_or(change.span, |span| renamed.origin(span));
                        self.diagnostics.push(
                            Diagnostic::error(
                                "E0812",
                                because.span,
                                format!("nothing says why `{}` is left out", goal.text),
                            )
                            .also(place, "what would no longer be shown")
                            .help("say what holds instead, or why nobody relies on it"),
                        );
                        continue;
                    }
                    part.used.left_out.push(LeftOut {
                        goal: naming.name(id).to_string(),
                        because: because.value.clone(),
                    });
                }
                _ => {}
            }
        }
        self.contradictions(&steps);
        let gone = self.left_out(&items, part, &renamed, used);
        // what is removed whole is not changed as well
        edits.retain(|edit| {
            !gone.iter().any(|other| {
                other.range.start <= edit.range.start && edit.range.end <= other.range.end
            })
        });
        edits.extend(gone);
        renamed.edited(edits)
    }

    /// A step that is hidden or replaced is not changed as well.
    fn contradictions(&mut self, steps: &[(String, Span, bool)]) {
        for (at, (name, span, whole)) in steps.iter().enumerate() {
            let other =
                steps[..at].iter().find(|(other, _, gone)| other == name && (*gone || *whole));
            if let Some((_, earlier, _)) = other {
                self.twice(*span, *earlier, name);
            }
        }
    }

    fn subject<'i>(
        &mut self,
        items: &'i [Item],
        name: &Name,
        naming: &Naming<'_>,
        part: &Part,
        file: FileId,
    ) -> Option<(&'i Item, &'i SubjectItem)> {
        let Some(id) = naming.find(None, &name.text, &[Kind::Subject]) else {
            let operation = naming.find(None, &name.text, &[Kind::Operation]).is_some();
            let known = naming.names(&[Kind::Subject]);
            let what = if operation { "subject" } else { "subject or operation" };
            self.nothing_called(name, what, &known, file, part);
            return None;
        };
        items.iter().find_map(|item| match &item.kind {
            ItemKind::Subject(held) if held.name.text == naming.name(id) => Some((item, held)),
            _ => None,
        })
    }

    fn operation<'i>(
        &mut self,
        items: &'i [Item],
        name: &Name,
        naming: &Naming<'_>,
        part: &mut Part,
        file: FileId,
    ) -> Option<(&'i Item, &'i OperationItem)> {
        let Some(id) = naming.find(None, &name.text, &[Kind::Operation]) else {
            let known = naming.names(&[Kind::Operation]);
            self.nothing_called(name, "operation", &known, file, part);
            return None;
        };
        let called = naming.name(id).to_string();
        let found = items.iter().find_map(|item| match &item.kind {
            ItemKind::Operation(held) if held.name.text == called => Some((item, &**held)),
            _ => None,
        });
        part.used.names.push((name.span, called));
        found
    }

    fn nameless(&mut self, span: Span, own: Span, renamed: &Flat, held: &OperationItem) {
        self.diagnostics.push(
            Diagnostic::error(
                "E0810",
                span,
                format!(
                    "the guard of `{}` has no names that a clause could stand beside",
                    held.name.text
                ),
            )
            .also(renamed.origin(own), "one clause without a name")
            .help(format!("write the step anew: `{} instead {{ … }}`", held.name.text)),
        );
    }

    /// More effects, after its own.
    fn effects(
        &mut self,
        held: &OperationItem,
        more: &MoreEffects,
        text: Flat,
        renamed: &Flat,
        edits: &mut Vec<Edit>,
    ) {
        let wrong = |help: String| {
            let what = match &held.kind {
                OperationKind::Step { .. } => "a step",
                OperationKind::Repair { .. } => "a repair",
                OperationKind::Effect => "an effect",
                OperationKind::Read => "a read",
                OperationKind::Event { .. } => "a handler",
            };
            let message = format!("`{}` is {what}, which does not take this", held.name.text);
            Diagnostic::error("E0810", more.operation.span, message)
                .also(renamed.origin(held.head), "it stands here")
                .help(help)
        };
        match (&held.body, more.on) {
            (OperationBody::Statements(block), None) => {
                insert(edits, block.span.end - 1, "\n", text, "\n");
            }
            (OperationBody::Effect(body), Some(on)) => {
                match body.answers.iter().find(|handler| handler.answer == on) {
                    Some(handler) => insert(edits, handler.body.span.end - 1, "\n", text, "\n"),
                    None => {
                        let open = format!("\non {} {{\n", answer(on));
                        insert(edits, body.span.end - 1, &open, text, "\n}\n");
                    }
                }
            }
            (OperationBody::Effect(_), None) => {
                let name = &held.name.text;
                let help = format!("say upon which answer: `{name} also on ok {{ … }}`");
                self.diagnostics.push(wrong(help));
            }
            (OperationBody::Statements(_), Some(_)) => {
                let name = &held.name.text;
                let help = format!("leave the answer out: `{name} also {{ … }}`");
                self.diagnostics.push(wrong(help));
            }
            (OperationBody::Read { .. }, _) => {
                self.diagnostics
                    .push(wrong("a read changes nothing; add clauses to it, or a step".into()));
            }
            (OperationBody::Missing, _) => {}
        }
    }

    /// The operation that takes the place of another one, if it is of the same shape.
    fn replacement(
        &mut self,
        held: &OperationItem,
        whole: &str,
        own: &[Item],
        (text, change): (&str, Span),
        place: Span,
    ) -> Option<Span> {
        let name = &held.name.text;
        let problem = |span: Span, message: String, help: String| {
            Diagnostic::error("E0810", span, message).also(place, "what it replaces").help(help)
        };
        let operation = match own {
            [Item { kind: ItemKind::Operation(operation), span }] => Some((operation, *span)),
            _ => None,
        };
        let Some((operation, span)) = operation else {
            let message = format!("one operation takes the place of `{name}`");
            let help = format!(
                "write it whole: `{name} instead {{ step actor[{name}(…) {{ … }}] {{ … }} }}`"
            );
            self.diagnostics.push(problem(change, message, help));
            return None;
        };
        let same_kind =
            std::mem::discriminant(&operation.kind) == std::mem::discriminant(&held.kind);
        if operation.name.text != *name {
            let message = format!("`{}` is not `{name}`", operation.name.text);
            let help = format!("give it the name of what it replaces: `{name}`");
            self.diagnostics.push(problem(operation.name.span, message, help));
            return None;
        }
        if !same_kind || operation.actor.text != held.actor.text {
            let message = format!("this is not called as `{name}` is");
            let help = "it has the same kind and the same actor; hide the old one and write \
                        another operation for others";
            self.diagnostics.push(problem(operation.head, message, help.into()));
            return None;
        }
        let shape = |operation: &OperationItem, text: &str| -> Vec<String> {
            let one = |span: Span| span.text(text).split_whitespace().collect::<Vec<_>>().join(" ");
            operation.params.iter().map(|param| one(param.span)).collect()
        };
        let (mine, theirs) = (shape(operation, text), shape(held, whole));
        if !mine.starts_with(&theirs) {
            let message = format!("the parameters are not those of `{name}`");
            let help = format!("they are `({})`; more of them may stand behind", theirs.join(", "));
            self.diagnostics.push(problem(operation.head, message, help));
            return None;
        }
        Some(span)
    }
}

fn renamed_goal(items: &[Item], name: &str) -> Option<Span> {
    items.iter().find_map(|item| match &item.kind {
        ItemKind::Invariant { name: held, .. }
        | ItemKind::Recovers { name: held, .. }
        | ItemKind::LeadsTo { name: held, .. }
            if held.text == name =>
        {
            Some(item.span)
        }
        _ => None,
    })
}

fn answer(kind: AnswerKind) -> &'static str {
    match kind {
        AnswerKind::Ok => "ok",
        AnswerKind::Refused => "refused",
        AnswerKind::Unknown => "unknown",
    }
}

/// A guard that was added, with more clauses before its closing brace.
fn longer(guard: &Edit, more: Flat) -> Flat {
    let from = more.origin(Span::new(FileId(0), 0, 0));
    let mut with = guard.with.slice(0..guard.with.len() - 1);
    with.append(more);
    with.push("\n}".into(), Span::new(from.file, from.start, from.start));
    with
}

fn insert(edits: &mut Vec<Edit>, at: u32, before: &str, text: Flat, after: &str) {
    let from = text.origin(Span::new(FileId(0), 0, 0));
    let mut with = Flat::piece(before, Span::new(from.file, from.start, from.start));
    with.append(text);
    with.push(after.into(), Span::new(from.file, from.start, from.start));
    edits.push(Edit { range: at..at, with });
}
