//! What to say of a name that stands for nothing, or for too much.

use syntax::tree::Name;
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::frame::{Entry, Frame, Mode};
use crate::model::*;
use crate::suggest;

impl Compiler {
    pub(super) fn ambiguous(&mut self, span: Span, name: &str, choices: &[String]) {
        self.report(
            Diagnostic::error(
                "E0206",
                span,
                format!("`{name}` may be {}", suggest::list(choices).replace(" and ", " or ")),
            )
            .help("write it in full"),
        );
    }

    pub(super) fn unknown_member(&mut self, subject: SubjectId, name: &Name) {
        let owner = &self.design.subjects[subject.index()];
        let words: Vec<String> = owner
            .attributes
            .iter()
            .map(|attr| attr.name.clone())
            .chain(owner.states.iter().map(|state| state.name.clone()))
            .chain(owner.keys.iter().map(|key| key.name.clone()))
            .collect();
        let message = format!("`{}` has no `{}`", owner.name, name.text);
        let mut problem = Diagnostic::error("E0204", name.span, message);
        problem = match suggest::did_you_mean(&name.text, words.iter().map(String::as_str)) {
            Some(hint) => problem.help(hint),
            None => problem.help(format!("it has {}", suggest::list(&words))),
        };
        self.report_missing(&name.text, problem);
    }

    pub(super) fn unknown_name(&mut self, frame: &Frame, name: &Name, expected: Option<&Type>) {
        if let Some(Type::Enum(id)) = expected.map(Type::required) {
            let words = self.design.enumerations[id.index()].constants.clone();
            let mut problem = Diagnostic::error(
                "E0211",
                name.span,
                format!("`{}` is not one of {}", name.text, suggest::list(&words)),
            );
            problem = match suggest::did_you_mean(&name.text, words.iter().map(String::as_str)) {
                Some(hint) => problem.help(hint),
                None => problem.help("a constant is one of the words that the type lists"),
            };
            self.report_missing(&name.text, problem);
            return;
        }
        if frame.is_walled() && frame.mode == Mode::Counter {
            self.not_countable(name.span, &format!("`{}`", name.text));
            return;
        }
        if let Some(view) = self.names.views.get(&name.text) {
            let view = &self.design.views[view.index()];
            let (message, span) = (format!("`{}` is a view", view.name), view.span);
            self.report(
                Diagnostic::error("E0401", name.span, message)
                    .label("guards and effects read truth only")
                    .also(span, "derived here; it may lag behind the truth")
                    .help("keep what is decided upon as truth, and read that"),
            );
            return;
        }
        if let Some(states) = self.names.states.get(&name.text)
            && !self.may_only_seem_unknown(frame)
        {
            if self.something_is_missing() {
                return;
            }
            let owners: Vec<String> = states
                .iter()
                .map(|(subject, _)| self.design.subjects[subject.index()].name.clone())
                .collect();
            let message = format!(
                "`{}` belongs to {}, and none is at hand here",
                name.text,
                suggest::list(&owners)
            );
            let problem = Diagnostic::error("E0201", name.span, message).help(format!(
                "take one as a parameter: `{}: {}`",
                owners[0].to_lowercase(),
                owners[0]
            ));
            self.report_missing(&name.text, problem);
            return;
        }
        if self.may_only_seem_unknown(frame) {
            return;
        }
        let mut words: Vec<String> = Vec::new();
        for entry in frame.visible() {
            match entry {
                Entry::Local { name, .. } => words.push(name.clone()),
                Entry::Row { subject, .. } => self.words_of(*subject, &mut words),
                Entry::WorldRow { effect, .. } => words.extend(
                    self.design.operations[effect.index()]
                        .params
                        .iter()
                        .map(|param| param.name.clone()),
                ),
                Entry::Struct { id } => {
                    if let Type::Struct(fields) = &frame.locals[id.index()].ty {
                        words.extend(fields.iter().map(|field| field.name.clone()));
                    }
                }
                Entry::Principal { .. } | Entry::Wall => {}
            }
        }
        if !frame.is_walled() {
            for (_, subject) in &frame.params {
                self.words_of(*subject, &mut words);
            }
            if let Some(actor) = frame.actor {
                let root = self.root_actor(actor);
                words.extend(
                    self.design.actors[root.index()]
                        .memory
                        .iter()
                        .map(|memory| memory.name.clone()),
                );
            }
        }
        words.sort();
        words.dedup();
        let mut problem = Diagnostic::error(
            "E0201",
            name.span,
            format!("nothing here is called `{}`", name.text),
        );
        problem = match suggest::did_you_mean(&name.text, words.iter().map(String::as_str)) {
            Some(hint) => problem.help(hint),
            None if words.is_empty() => problem.help("no names are in reach here"),
            None => problem.help(format!("in reach are {}", suggest::list(&words))),
        };
        self.report_missing(&name.text, problem);
    }

    fn words_of(&self, subject: SubjectId, words: &mut Vec<String>) {
        let subject = &self.design.subjects[subject.index()];
        words.extend(subject.states.iter().map(|state| state.name.clone()));
        words.extend(subject.attributes.iter().map(|attr| attr.name.clone()));
        words.extend(subject.keys.iter().map(|key| key.name.clone()));
    }
}
