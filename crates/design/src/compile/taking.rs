//! `any of Runnable(queue)`: a record that the server takes from a list.

use syntax::tree::{self, Name};
use syntax::{Diagnostic, Span};

use super::Compiler;
use crate::model::visit::message_targets;
use crate::model::*;
use crate::suggest;

impl Compiler {
    /// The type of the parameter, and where its record is taken from; none: that was reported.
    pub(super) fn taken(
        &mut self,
        view: &Name,
        args: &[Name],
        param: &tree::Param,
        before: &[Param],
    ) -> (Type, Option<Next>) {
        if param.new || param.default.is_some() || param.generated.is_some() {
            let message = format!("`{}` is taken from a view, and is not given", param.name.text);
            self.report(
                Diagnostic::error("E0330", param.span, message)
                    .help(format!("write `{}: any of {}(…)`", param.name.text, view.text)),
            );
        }
        let Some(id) = self.view_named(view) else { return (Type::Error, None) };
        let known = &self.design.views[id.index()];
        let (subject, takes, declared) = (known.subject, known.params.len(), known.span);
        let ty = Type::Ref(subject);
        if takes != args.len() {
            let message = format!("`{}` takes {takes}, not {}", view.text, args.len());
            self.report(
                Diagnostic::error("E0304", view.span, message)
                    .also(declared, "defined here")
                    .help("give a parameter of the step for each of its parameters"),
            );
            return (ty, None);
        }
        let mut given = Vec::new();
        for arg in args {
            let Some(held) = before.iter().find(|held| held.name == arg.text) else {
                let message = format!("no parameter `{}` stands before", arg.text);
                let names: Vec<String> = before.iter().map(|held| held.name.clone()).collect();
                let hint = suggest::did_you_mean(&arg.text, names.iter().map(String::as_str));
                let help = match (hint, names.is_empty()) {
                    (Some(hint), _) => hint,
                    (None, true) => "rows are picked by parameters that stand before".into(),
                    (None, false) => format!("there are {}", suggest::list(&names)),
                };
                self.report(Diagnostic::error("E0331", arg.span, message).help(help));
                return (ty, None);
            };
            // a view's own parameter of that name is another thing
            self.known.refer(arg, held.span);
            let (have, want) =
                (held.ty.clone(), self.design.views[id.index()].params[given.len()].ty.clone());
            if !self.fits(&have, &want) {
                let (have, want) = (self.type_name(&have), self.type_name(&want));
                let message = format!("`{}` is `{have}`, and `{want}` is wanted", arg.text);
                self.report(
                    Diagnostic::error("E0301", arg.span, message)
                        .also(declared, "of this view")
                        .help(format!("give a parameter of the type `{want}`")),
                );
                return (ty, None);
            }
            given.push(held.local);
        }
        (ty, Some(Next { view: id, args: given }))
    }

    fn view_named(&mut self, name: &Name) -> Option<ViewId> {
        if name.text.is_empty() {
            return None; // reported already
        }
        if let Some(&id) = self.names.views.get(&name.text) {
            self.known.refer(name, self.design.views[id.index()].span);
            return Some(id);
        }
        let words: Vec<String> = self.design.views.iter().map(|view| view.name.clone()).collect();
        let problem = Diagnostic::error("E0331", name.span, format!("no view `{}`", name.text));
        let hint = suggest::did_you_mean(&name.text, words.iter().map(String::as_str));
        let problem = match (hint, words.is_empty()) {
            (Some(hint), _) => problem.help(hint),
            (None, true) => problem.help("make one: `view Runnable = list Job where …`"),
            (None, false) => problem.help(format!("there are {}", suggest::list(&words))),
        };
        self.report_missing(&name.text, problem);
        None
    }

    /// `any of` where no parameter of a step stands.
    pub(super) fn taken_out_of_place(&mut self, span: Span) -> Type {
        self.report(
            Diagnostic::error("E0330", span, "nobody takes a record here")
                .help("`any of` stands at a parameter of a step that callers call"),
        );
        Type::Error
    }

    /// Once views are known: what is taken from them can be, and by those who may.
    pub(super) fn takes_from_lists(&mut self) {
        let design = std::mem::replace(&mut self.design, super::empty_design());
        let targets = message_targets(&design);
        for view in &design.views {
            for param in view.params.iter().filter(|param| is_taken(param)) {
                self.taken_out_of_place(param.span);
            }
        }
        for (at, operation) in design.operations.iter().enumerate() {
            let world = design.actors.get(operation.actor.index()).is_some_and(|it| it.is_world);
            let called = matches!(operation.kind, OperationKind::Step { .. })
                && operation.hears.is_none()
                && !targets[at]
                && !world;
            let taken = operation.params.iter().filter(|param| is_taken(param));
            for (number, param) in taken.enumerate() {
                if !called {
                    let message = format!("nobody takes `{}`", param.name);
                    self.report(
                        Diagnostic::error("E0330", param.span, message)
                            .help("`any of` stands at a parameter of a step that callers call"),
                    );
                } else if number > 0 {
                    let message = "a step takes one record".to_string();
                    self.report(
                        Diagnostic::error("E0330", param.span, message)
                            .help("let the caller name the other, or take it in another step"),
                    );
                } else {
                    self.is_proposed(&design, operation, param);
                }
            }
        }
        self.design = design;
    }

    /// The view has rows in an order, found by what the step is given.
    fn is_proposed(&mut self, design: &Design, operation: &Operation, param: &Param) {
        let Some(Generated::Next(next)) = &param.generated else { return };
        let view = &design.views[next.view.index()];
        if !matches!(view.form, ViewForm::List { .. }) {
            let message = format!("`{}` has no rows to take from", view.name);
            self.report(
                Diagnostic::error("E0331", param.span, message)
                    .also(view.span, "it is no `list`")
                    .help("take from a `list`, in whose order records are proposed"),
            );
            return;
        }
        if let Some(caller) = &view.caller
            && root(design, caller.actor) != root(design, operation.actor)
        {
            let of = &design.actors[caller.actor.index()].name;
            let message = format!("`{}` has rows of each `{of}`", view.name);
            self.report(
                Diagnostic::error("E0453", param.span, message)
                    .also(view.span, "derived here, for whoever asks")
                    .help(format!("let a step of `{of}` take them")),
            );
        }
        // a row whose subject is not known has no attributes to be found by, which was reported
        let known = !self.diagnostics.iter().any(Diagnostic::is_error);
        let picks = |param: &&Param| !view.group.iter().any(|(local, _)| *local == param.local);
        if let Some(other) = view.params.iter().find(picks).filter(|_| known) {
            let message = format!("`{}` is not found by `{}`", view.name, other.name);
            self.report(
                Diagnostic::error("E0331", param.span, message)
                    .also(other.span, "this parameter has no attribute of its name")
                    .help("let the rows have it as an attribute or as a part of their key"),
            );
        }
        let read = operation.memory.iter().any(|used| used.of == Some(param.local) && used.read);
        if read {
            let message = format!("nothing is remembered yet of `{}`", param.name);
            self.report(Diagnostic::error("E0330", param.span, message).help(
                "a guard cannot ask what the caller remembers of a record that it does not \
                     know yet; it may be handed out",
            ));
        }
    }
}

/// Does a parameter of a step say `any of`?
pub(super) fn takes(items: &[tree::Item]) -> bool {
    items.iter().any(|item| match &item.kind {
        tree::ItemKind::Operation(written) => {
            let mut types = written.params.iter().map(|param| &param.ty.kind);
            types.any(|kind| matches!(kind, tree::TypeKind::AnyOf(..)))
        }
        _ => false,
    })
}

/// The first of those that continue each other.
fn root(design: &Design, mut actor: ActorId) -> ActorId {
    while let Some(base) = design.actors[actor.index()].continues {
        actor = base;
    }
    actor
}

fn is_taken(param: &Param) -> bool {
    param.generated.as_ref().is_some_and(|generated| generated.next().is_some())
}
