//! Actors of one name are one actor; subjects are one where `is` says so.

use syntax::tree::{ActorItem, Item, ItemKind, Name, SubjectItem};
use syntax::{Diagnostic, FileId, Span};

use super::flat::{Edit, Flat};
use super::{Composer, Part};

const FLAT: FileId = FileId(0);

impl Composer<'_> {
    pub(super) fn join_actors(&mut self, flat: Flat, parts: &[Part]) -> Flat {
        let items = syntax::parse(&flat.text(), FLAT).tree.items;
        let actors: Vec<(&Item, &ActorItem)> = items
            .iter()
            .filter_map(|item| match &item.kind {
                ItemKind::Actor(actor) => Some((item, actor)),
                _ => None,
            })
            .collect();
        let mut edits = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for (_, first) in &actors {
            let name = first.name.text.as_str();
            if name.is_empty() || seen.contains(&name) {
                continue;
            }
            seen.push(name);
            let all: Vec<(&Item, &ActorItem)> =
                actors.iter().filter(|(_, actor)| actor.name.text == name).copied().collect();
            self.never_apart(&flat, &all, parts);
            if all.len() < 2 || !self.stand_in_several(&flat, &all, parts) {
                continue;
            }
            if let Some(joined) = self.one_actor(&flat, &all) {
                edits.extend(replace_all(
                    &all.iter().map(|(item, _)| *item).collect::<Vec<_>>(),
                    joined,
                ));
            }
        }
        flat.edited(edits)
    }

    /// Do they stand in different texts, or are they bound to each other? Two in one text are a mistake.
    fn stand_in_several(&self, flat: &Flat, all: &[(&Item, &ActorItem)], parts: &[Part]) -> bool {
        let name = &all[0].1.name.text;
        let bound = parts.iter().flat_map(|part| &part.bound_actors).any(|(is, _)| is == name);
        let mut files: Vec<FileId> =
            all.iter().map(|(item, _)| flat.origin(item.span).file).collect();
        files.sort_unstable();
        files.dedup();
        bound || files.len() == all.len()
    }

    /// Two actors that are never the same person cannot be one.
    fn never_apart(&mut self, flat: &Flat, all: &[(&Item, &ActorItem)], parts: &[Part]) {
        let name = &all[0].1.name.text;
        let apart =
            all.iter().flat_map(|(_, actor)| &actor.apart).find(|other| other.text == *name);
        let bound = parts.iter().flat_map(|part| &part.bound_actors).rfind(|(is, _)| is == name);
        if let (Some(other), Some((_, line))) = (apart, bound) {
            self.diagnostics.push(
                Diagnostic::error(
                    "E0807",
                    *line,
                    format!("`{name}` would be two persons who are never the same"),
                )
                .also(flat.origin(other.span), "they are apart here")
                .help("bind them to two actors"),
            );
        }
    }

    /// The actor with the memory of all of them.
    fn one_actor(&mut self, flat: &Flat, all: &[(&Item, &ActorItem)]) -> Option<Flat> {
        let (item, first) = all[0];
        let mut joined = flat.slice(item.span.start..first.name.span.end);
        let put = |joined: &mut Flat, text: &str, like: Span| {
            let from = flat.origin(like);
            joined.push(text.into(), Span::new(from.file, from.start, from.start));
        };
        let mut continues: Option<&Name> = None;
        for (_, actor) in all {
            let Some(other) = &actor.continues else { continue };
            match continues {
                None => continues = Some(other),
                Some(held) if held.text == other.text => {}
                Some(held) => {
                    self.diagnostics.push(
                        Diagnostic::error(
                            "E0807",
                            flat.origin(other.span),
                            format!("`{}` would continue two actors", first.name.text),
                        )
                        .also(flat.origin(held.span), "the other one")
                        .help("bind one of them to an actor of another name: `actor NAME is NAME`"),
                    );
                    return None;
                }
            }
        }
        if let Some(held) = continues.filter(|held| held.text != first.name.text) {
            put(&mut joined, " continues ", held.span);
            joined.append(flat.slice(held.span.start..held.span.end));
        }
        let mut apart: Vec<&Name> = Vec::new();
        for other in all.iter().flat_map(|(_, actor)| &actor.apart) {
            if !apart.iter().any(|held| held.text == other.text) {
                apart.push(other);
            }
        }
        for (at, other) in apart.iter().enumerate() {
            put(&mut joined, if at == 0 { " apart from " } else { ", " }, other.span);
            joined.append(flat.slice(other.span.start..other.span.end));
        }
        let mut any = false;
        for field in all.iter().flat_map(|(_, actor)| &actor.memory) {
            put(&mut joined, if any { ", " } else { " { " }, field.name.span);
            let end = field.of.as_ref().map_or(field.ty.span.end, |of| of.span.end);
            joined.append(flat.slice(field.name.span.start..end));
            any = true;
        }
        if any {
            put(&mut joined, " }", item.span);
        }
        Some(joined)
    }

    pub(super) fn join_subjects(&mut self, flat: Flat, parts: &[Part]) -> Flat {
        let text = flat.text();
        let items = syntax::parse(&text, FLAT).tree.items;
        let mut edits = Vec::new();
        let mut done: Vec<&str> = Vec::new();
        for (name, line) in parts.iter().flat_map(|part| &part.bound_subjects) {
            let all: Vec<(&Item, &SubjectItem)> = items
                .iter()
                .filter_map(|item| match &item.kind {
                    ItemKind::Subject(subject) if subject.name.text == *name => {
                        Some((item, subject))
                    }
                    _ => None,
                })
                .collect();
            if all.len() < 2 || done.contains(&name.as_str()) {
                continue;
            }
            done.push(name);
            // the design's own first
            let own = all.iter().position(|(item, _)| {
                let file = flat.origin(item.span).file.0;
                !parts.iter().any(|part| part.used.files.contains(&file))
            });
            let first = all[own.unwrap_or(0)];
            let rest: Vec<(&Item, &SubjectItem)> =
                all.iter().filter(|(item, _)| item.span != first.0.span).copied().collect();
            if !self.fit(&flat, &text, first.1, &rest, *line) {
                continue;
            }
            for (item, other) in rest {
                if let (Some(head), Some(last)) = (other.states.first(), other.states.last()) {
                    let mut with = flat.slice(head.span.start..last.span.end);
                    let from = flat.origin(last.span).after();
                    with.push("\n".into(), from);
                    let at = first.0.span.end - 1;
                    edits.push(Edit { range: at..at, with });
                }
                edits.push(Edit { range: item.span.start..item.span.end, with: Flat::default() });
            }
        }
        flat.edited(edits)
    }

    /// Have they the same key, and nothing of the same name?
    fn fit(
        &mut self,
        flat: &Flat,
        text: &str,
        first: &SubjectItem,
        rest: &[(&Item, &SubjectItem)],
        line: Span,
    ) -> bool {
        let words = |span: Span| span.text(text).split_whitespace().collect::<Vec<_>>().join(" ");
        let key = |subject: &SubjectItem| -> Vec<String> {
            let parts = subject.keys.iter();
            parts.map(|key| format!("{}: {}", key.name.text, words(key.ty.span))).collect()
        };
        let place = |subject: &SubjectItem| subject.at.as_ref().map(|at| at.text.clone());
        let mut names: Vec<&Name> = Vec::new();
        let all = |subject: &'_ SubjectItem| -> Vec<Name> {
            let states = subject.states.iter();
            states
                .flat_map(|state| {
                    let attributes =
                        state.attributes.iter().map(|attribute| attribute.name.clone());
                    std::iter::once(state.name.clone()).chain(attributes)
                })
                .collect()
        };
        let own = all(first);
        names.extend(&own);
        let mut fits = true;
        for (_, other) in rest {
            if key(first) != key(other) || place(first) != place(other) {
                let (mine, theirs) = (key(first).join(", "), key(other).join(", "));
                self.diagnostics.push(
                    Diagnostic::error(
                        "E0805",
                        line,
                        format!("`{}` has two keys: `({mine})` and `({theirs})`", first.name.text),
                    )
                    .also(flat.origin(first.name.span), "one here")
                    .also(flat.origin(other.name.span), "the other here")
                    .help("what is one subject has one key; `Subject.key as NAME` gives a part of it another name"),
                );
                fits = false;
            }
            for name in all(other) {
                if let Some(held) = names.iter().find(|held| held.text == name.text) {
                    self.diagnostics.push(
                        Diagnostic::error(
                            "E0806",
                            line,
                            format!(
                                "`{}` would have two things called `{}`",
                                first.name.text, name.text
                            ),
                        )
                        .also(flat.origin(held.span), "one here")
                        .also(flat.origin(name.span), "the other here")
                        .help(format!(
                            "give the one that is used another name: `{}.{} as NAME`",
                            first.name.text, name.text
                        )),
                    );
                    fits = false;
                }
            }
        }
        fits
    }
}

/// The first gives way to what is joined, the others to nothing.
fn replace_all(items: &[&Item], joined: Flat) -> Vec<Edit> {
    let nothing = items[1..].iter();
    let mut edits: Vec<Edit> = nothing
        .map(|item| Edit { range: item.span.start..item.span.end, with: Flat::default() })
        .collect();
    edits.push(Edit { range: items[0].span.start..items[0].span.end, with: joined });
    edits
}
