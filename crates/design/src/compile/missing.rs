//! One mistake, one message: what follows from a mistake that was named already is not said again.

use rustc_hash::{FxHashMap, FxHashSet};
use syntax::{Diagnostic, Span, tree};

use super::Compiler;
use super::frame::Frame;
use crate::model::*;

/// How many further places the message about a missing name shows.
const PLACES_MAX: usize = 4;

/// What is said of a design that lacks something: a child of what, a value for what, a clause of
/// what, a size for what.
const SEEMS_WRONG: &[&str] = &[
    "E0305", "E0406", "E0407", "E0409", "E0424", "E0428", "E0502", "E0604", "E0606", "E0613",
    "E0701", "E0702",
];

/// What is known to be missing.
#[derive(Default)]
pub(super) struct Missing {
    /// a name that stands for nothing, and where in the diagnostics that was said
    words: FxHashMap<String, usize>,
    /// names inside something that was left out, which had a message of its own
    forgiven: FxHashSet<String>,
    /// actors that nobody declared
    actors: FxHashSet<ActorId>,
    /// memory that says of a subject which it came from, and of none that there is
    of_nothing: FxHashSet<(ActorId, MemoryId)>,
    /// `define`s that never come to an end, and what is made of them
    endless: FxHashSet<usize>,
}

impl Compiler {
    /// A name stands for nothing. Its first place has the message; further ones are shown there.
    pub(super) fn report_missing(&mut self, word: &str, problem: Diagnostic) {
        if self.missing.forgiven.contains(word) {
            return;
        }
        if let Some(first) = self.missing.words.get(word)
            && let Some(first) = self.diagnostics.get_mut(*first)
        {
            let span = problem.primary.span;
            let known = first.secondary.len() >= PLACES_MAX
                || first.primary.span == span
                || first.secondary.iter().any(|label| label.span == span);
            if !known {
                first.secondary.push(syntax::Label { span, text: "and here".into() });
            }
            return;
        }
        self.missing.words.insert(word.to_string(), self.diagnostics.len());
        self.report(problem);
    }

    /// What is wrong in many places for one reason is said at the first of them, which shows others.
    pub(super) fn report_once(&mut self, problem: Diagnostic) {
        let same =
            |held: &&mut Diagnostic| held.code == problem.code && held.message == problem.message;
        match self.diagnostics.iter_mut().find(same) {
            Some(first) if first.secondary.len() < PLACES_MAX => {
                let span = problem.primary.span;
                first.secondary.push(syntax::Label { span, text: "and here".into() });
            }
            Some(_) => {}
            None => self.report(problem),
        }
    }

    /// A value is taken for one that may be missing. Of an attribute that is said once: what it
    /// lacks is one `?`.
    pub(super) fn report_never_null(&mut self, value: &Expr, problem: Diagnostic) {
        if let ExprKind::Attr { base, attr } = &value.kind
            && let Some(subject) = base.ty.subject()
        {
            // no name has a space
            let word = format!("null {} {}", subject.index(), attr.index());
            return self.report_missing(&word, problem);
        }
        self.report(problem);
    }

    /// Forgets what was said since then: it was only asked.
    pub(super) fn take_back(&mut self, said: usize) {
        if self.diagnostics.len() > said {
            self.diagnostics.truncate(said);
            self.missing.words.retain(|_, at| *at < said);
        }
    }

    /// Has a name been found missing, so that much else may only seem wrong?
    pub(super) fn something_is_missing(&self) -> bool {
        !self.missing.words.is_empty() || !self.missing.actors.is_empty()
    }

    /// Where a name is missing, what it would have made whole may only seem wrong.
    pub(super) fn keep_what_is_missing(&mut self) {
        if !self.something_is_missing() {
            return;
        }
        let said: FxHashSet<usize> = self.missing.words.values().copied().collect();
        let mut at = 0;
        self.diagnostics.retain(|problem| {
            at += 1;
            let misspelt = problem.help.iter().any(|help| help.starts_with("did you mean"));
            said.contains(&(at - 1)) || misspelt || !SEEMS_WRONG.contains(&problem.code)
        });
        self.missing.words.clear();
    }

    /// The item that this name stands in was left out.
    pub(super) fn forgive(&mut self, word: &str) {
        self.missing.forgiven.insert(word.to_string());
    }

    /// So that one missing actor is one error.
    pub(super) fn invent_actor(&mut self, name: &str, span: Span) -> ActorId {
        let id = ActorId::of(self.design.actors.len());
        self.names.actors.insert(name.to_string(), id);
        self.design.actors.push(Actor {
            name: name.to_string(),
            continues: None,
            apart: Vec::new(),
            memory: Vec::new(),
            is_world: false,
            span,
        });
        self.missing.actors.insert(id);
        id
    }

    /// Is the memory of this actor unknown, because nobody declared it?
    pub(super) fn is_invented(&self, actor: ActorId) -> bool {
        self.missing.actors.contains(&self.root_actor(actor))
    }

    /// It is not known of which subject this is remembered, and that was said.
    pub(super) fn remember_of_nothing(&mut self, actor: ActorId, field: MemoryId) {
        self.missing.of_nothing.insert((actor, field));
    }

    pub(super) fn is_of_nothing(&self, actor: ActorId, field: MemoryId) -> bool {
        self.missing.of_nothing.contains(&(actor, field))
    }

    /// Names may be unknown here only because a parameter or the actor is.
    pub(super) fn may_only_seem_unknown(&self, frame: &Frame) -> bool {
        frame.locals.iter().any(|local| is_unclear(&local.ty))
            || frame.actor.is_some_and(|actor| self.is_invented(actor))
    }

    pub(super) fn is_endless(&self, define: usize) -> bool {
        self.missing.endless.contains(&define)
    }

    pub(super) fn now_endless(&mut self, define: usize, around: &[usize]) {
        self.missing.endless.insert(define);
        self.missing.endless.extend(around);
    }

    /// Is there an error inside this stretch of the text?
    pub(super) fn has_error_in(&self, span: Span) -> bool {
        self.diagnostics.iter().any(|problem| {
            let at = problem.primary.span;
            problem.is_error()
                && at.file == span.file
                && span.start <= at.start
                && at.end <= span.end
        })
    }
}

fn is_unclear(ty: &Type) -> bool {
    match ty {
        Type::Record(fields) => fields.iter().any(|(_, ty)| is_unclear(ty)),
        Type::List { of, .. } => is_unclear(of),
        Type::Struct(fields) => fields.iter().any(|field| is_unclear(&field.ty)),
        other => *other == Type::Error,
    }
}

/// The item that this place belongs to; the place itself if it belongs to none.
pub(crate) fn item_around(items: &[tree::Item], place: Span) -> Span {
    let around = |item: &&tree::Item| {
        item.span.file == place.file
            && item.span.start <= place.start
            && place.start <= item.span.end
    };
    items.iter().rev().find(around).map_or(place, |item| item.span)
}

/// Where something could not be read, whatever it would have declared, assigned or given a size
/// is missing only because of that. What is said of things that were read stays.
pub(crate) fn stands_beside(problem: &Diagnostic, unread: &[Span]) -> bool {
    let about_what_was_read = matches!(
        problem.code,
        "E0202"
            | "E0213"
            | "E0214"
            | "E0301"
            | "E0302"
            | "E0303"
            | "E0307"
            | "E0308"
            | "E0309"
            | "E0316"
            | "E0317"
            | "E0401"
            | "E0402"
            | "E0403"
            | "E0410"
            | "E0414"
    );
    let place = problem.primary.span;
    let inside = |item: &Span| {
        item.file == place.file && item.start <= place.start && place.start <= item.end
    };
    about_what_was_read && !unread.iter().any(inside)
}
