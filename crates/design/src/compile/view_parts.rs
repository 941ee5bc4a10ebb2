//! Parts of views: averages, attributes of other records beside the rows, and the caller's own rows.

use syntax::tree::{self, ExprKind as T};
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::frame::Frame;
use super::path::error_expr;
use crate::model::visit::each;
use crate::model::*;

/// What a read that answers in pages takes besides its own parameters: where the page begins, and how many rows it
/// has.
pub(super) const PAGE_PARAMS: [&str; 2] = ["after", "limit"];
/// Rows of one page.
const PAGE_ROWS: Range = Range { low: 1, high: 1_000 };

impl Compiler {
    /// `= Mine() paged`: two more parameters, which need not be given.
    pub(super) fn page_params(
        &mut self,
        span: Span,
        params: &mut Vec<Param>,
        locals: &mut Vec<Local>,
    ) {
        for name in PAGE_PARAMS {
            if let Some(taken) = params.iter().find(|param| param.name == name) {
                let taken = taken.span;
                let message = format!("a read in pages has a parameter `{name}` of its own");
                self.report(
                    Diagnostic::error("E0454", taken, message)
                        .also(span, "it comes with this")
                        .help("call this one differently"),
                );
            }
            let (of, range) = match name {
                "limit" => (Type::Int, Some(PAGE_ROWS)),
                _ => (Type::Text, None),
            };
            let (ty, local) = (Type::Optional(Box::new(of)), LocalId::of(locals.len()));
            locals.push(Local { name: name.into(), ty: ty.clone() });
            params.push(Param {
                name: name.into(),
                new: false,
                ty,
                range,
                default: None,
                generated: None,
                from_caller: false,
                local,
                span,
            });
        }
    }

    /// Rows in an order come in pages, and nothing else does. The page is told to the view behind its own arguments.
    pub(super) fn in_pages(&mut self, result: &mut Expr, page: [Expr; 2], span: Span) {
        if result.ty == Type::Error {
            return; // reported already
        }
        if let ExprKind::View { args, .. } = &mut result.kind {
            args.extend(page);
            return;
        }
        let message = "only a view comes in pages";
        self.report(
            Diagnostic::error("E0454", span, message).help("answer with a list: `= Mine() paged`"),
        );
    }

    /// Once views are known: what is read in pages has rows.
    pub(super) fn pages_have_rows(&mut self, items: &[tree::Item]) {
        for item in items {
            let tree::ItemKind::Operation(written) = &item.kind else { continue };
            let tree::OperationBody::Read { paged: Some(paged), .. } = &written.body else {
                continue;
            };
            let Some(id) = self.names.operations.get(&written.name.text) else { continue };
            let OperationKind::Read { result } = &self.design.operations[id.index()].kind else {
                continue;
            };
            let ExprKind::View { view, .. } = &result.kind else { continue };
            let view = &self.design.views[view.index()];
            if view.has_rows() {
                continue;
            }
            let (message, declared) =
                (format!("`{}` has no rows to page through", view.name), view.span);
            self.report(
                Diagnostic::error("E0454", *paged, message)
                    .also(declared, "it is no `list`, `rank` or `near`")
                    .help("leave `paged` out"),
            );
        }
    }

    /// `from here`: the parameter that is the point from which distances are taken.
    pub(super) fn point_asked_from(
        &mut self,
        frame: &Frame,
        written: &tree::Name,
    ) -> Option<LocalId> {
        let declared = frame.declared.iter().find(|(local, _)| {
            frame.locals.get(local.index()).is_some_and(|known| known.name == written.text)
        });
        let Some((local, span)) = declared.copied() else {
            let message = format!("`{}` is no parameter of the view", written.text);
            self.report(Diagnostic::error("E0456", written.span, message).help(format!(
                "whoever asks says from where: `view V({}: point) = …`",
                written.text
            )));
            return None;
        };
        self.known.refer(written, span);
        let ty = frame.locals[local.index()].ty.clone();
        if !matches!(ty, Type::Point | Type::Error) {
            let message = format!("expected `point`, found `{}`", self.type_name(&ty));
            self.report(
                Diagnostic::error("E0456", written.span, message)
                    .also(span, "declared here")
                    .help("a distance is from one point, which whoever asks always gives"),
            );
        }
        Some(local)
    }

    /// `price round half_even to 2`: the average of the prices, rounded once.
    pub(super) fn average(&mut self, frame: &mut Frame, written: &tree::Expr) -> ViewForm {
        let unrounded = Rounding { mode: RoundingMode::HalfEven, digits: 0 };
        let T::Round { of, mode, digits } = &written.kind else {
            if written.kind != T::Error {
                let text = self.text(written.span);
                let message = "an average says how it is rounded".to_string();
                self.report(
                    Diagnostic::error("E0322", written.span, message)
                        .help(format!("write `avg ({text}) round half_even to 2 of …`")),
                );
            }
            return ViewForm::Average { value: error_expr(written.span), rounding: unrounded };
        };
        let rounding = self.rounding(mode, digits).unwrap_or(unrounded);
        let mut value = self.expr(frame, of, None);
        if !matches!(value.ty.required(), Type::Int | Type::Decimal | Type::Money(_) | Type::Error)
        {
            let ty = self.type_name(&value.ty);
            self.report(
                Diagnostic::error("E0303", value.span, format!("there is no average of `{ty}`"))
                    .help("an average is of an `int` or of a `decimal`, and is a `decimal`"),
            );
            value = error_expr(value.span);
        }
        ViewForm::Average { value, rounding }
    }

    /// `with file.path, file.size`
    pub(super) fn columns(&mut self, frame: &mut Frame, written: &[tree::Expr]) -> Vec<Column> {
        let mut columns: Vec<Column> = Vec::new();
        for shown in written {
            let value = self.expr(frame, shown, None);
            if value.ty == Type::Error {
                continue; // reported already
            }
            let Some(name) = path_text(shown).filter(|_| self.is_of_a_referred(&value)) else {
                let text = self.text(shown.span);
                let message =
                    format!("`{text}` is no attribute of a record that the row refers to");
                self.report(
                    Diagnostic::error("E0451", shown.span, message)
                        .help("write a reference of the row and an attribute: `with file.path`"),
                );
                continue;
            };
            if columns.iter().any(|known| known.name == name) {
                let message = format!("`{name}` is shown twice");
                self.report(Diagnostic::error("E0451", shown.span, message).help("leave this out"));
                continue;
            }
            columns.push(Column { name, value });
        }
        columns
    }

    /// Truth of another record, reached from the row by references alone.
    fn is_of_a_referred(&self, value: &Expr) -> bool {
        let ExprKind::Attr { base, attr } = &value.kind else { return false };
        let Some(subject) = base.ty.subject() else { return false };
        let subject = &self.design.subjects[subject.index()];
        let state = &subject.states[subject.attributes[attr.index()].state.index()];
        matches!(state.kind, StateKind::Truth) && self.is_a_reference(base)
    }

    /// From the row, and not the row itself.
    fn is_a_reference(&self, value: &Expr) -> bool {
        match &value.kind {
            ExprKind::Attr { base, .. } | ExprKind::KeyPart { base, .. } => {
                matches!(base.kind, ExprKind::Local(LocalId(0))) || self.is_of_a_referred(value)
            }
            _ => false,
        }
    }

    /// `of user`: the principal has a slot of its own, which no name reaches.
    pub(super) fn caller(&mut self, of: &tree::Name, locals: &mut Vec<Local>) -> Caller {
        let actor = self.actor_named(of);
        let known = &self.design.actors[actor.index()];
        if known.is_world {
            self.report(
                Diagnostic::error("E0452", of.span, format!("nobody asks as `{}`", of.text))
                    .help("name an actor that calls"),
            );
        }
        let me = LocalId::of(locals.len());
        locals.push(Local { name: "me".into(), ty: Type::Actor });
        Caller { actor, me }
    }

    /// Each `attribute = me` of the condition picks rows, as a parameter would.
    pub(super) fn of_caller(
        &mut self,
        of: &tree::Name,
        me: LocalId,
        filter: Option<Expr>,
        group: &mut Vec<(LocalId, Expr)>,
    ) -> Option<Expr> {
        // a mistake in the condition is reported there
        let mut found = filter.as_ref().is_some_and(|filter| filter.ty == Type::Error);
        let mut rest = Vec::new();
        for part in filter.into_iter().flat_map(conjuncts) {
            match of_me(&part) {
                Some(value) => {
                    found = true;
                    group.push((me, value.clone()));
                }
                None => {
                    found |= self.no_caller(&part);
                    rest.push(part);
                }
            }
        }
        if !found {
            let message = format!("nothing says which rows are those of `{}`", of.text);
            self.report(
                Diagnostic::error("E0452", of.span, message)
                    .help("say it in the condition: `where owner = me`"),
            );
        }
        all_of(rest)
    }

    /// Rows are found by who owns them: anything else would be another view for each caller. True: it was reported.
    pub(super) fn no_caller(&mut self, value: &Expr) -> bool {
        let mut met = None;
        each(value, &mut |part| {
            if matches!(part.kind, ExprKind::Me) {
                met.get_or_insert(part.span);
            }
        });
        if let Some(span) = met {
            self.report(
                Diagnostic::error("E0452", span, "in a view `me` picks rows, and does no more")
                    .help("compare an attribute with it, joined by `and`: `where owner = me`"),
            );
        }
        met.is_some()
    }

    /// A view of the caller is asked by whoever it is of.
    pub(super) fn is_own_view(&mut self, frame: &Frame, view: ViewId, span: Span) -> bool {
        let known = &self.design.views[view.index()];
        let Some(of) = known.caller.as_ref().map(|caller| caller.actor) else { return true };
        let (name, declared) = (known.name.clone(), known.span);
        let own = |actor: ActorId| self.root_actor(actor) == self.root_actor(of);
        if frame.actor.is_some_and(own) {
            return true;
        }
        let of = self.design.actors[of.index()].name.clone();
        self.report(
            Diagnostic::error("E0453", span, format!("`{name}` has rows of each `{of}`"))
                .also(declared, "derived here, for whoever asks")
                .help(format!("let a read of `{of}` ask for it, or make a view with a parameter")),
        );
        false
    }
}

/// The operands of `and`, or the one condition.
fn conjuncts(filter: Expr) -> Vec<Expr> {
    match filter.kind {
        ExprKind::And(parts) => parts.into_iter().flat_map(conjuncts).collect(),
        _ => vec![filter],
    }
}

fn all_of(mut parts: Vec<Expr>) -> Option<Expr> {
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => {
            let span = parts[0].span.to(parts[parts.len() - 1].span);
            Some(Expr { kind: ExprKind::And(parts), ty: Type::Bool, span })
        }
    }
}

/// What is equal to `me`, if that is all that a condition says.
fn of_me(condition: &Expr) -> Option<&Expr> {
    let ExprKind::Compare { op: CompareOp::Equal, left, right } = &condition.kind else {
        return None;
    };
    match (&left.kind, &right.kind) {
        (ExprKind::Me, ExprKind::Me) => None,
        (ExprKind::Me, ExprKind::Attr { .. } | ExprKind::KeyPart { .. }) => Some(right),
        (ExprKind::Attr { .. } | ExprKind::KeyPart { .. }, ExprKind::Me) => Some(left),
        _ => None,
    }
}

/// `file.path`, as it is written.
fn path_text(written: &tree::Expr) -> Option<String> {
    match &written.kind {
        T::Name(name) => Some(name.text.clone()),
        T::Field { base, name } => Some(format!("{}.{}", path_text(base)?, name.text)),
        _ => None,
    }
}
