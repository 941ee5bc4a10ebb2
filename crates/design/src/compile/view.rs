//! Views.

use syntax::Diagnostic;
use syntax::tree::{self, Item, ItemKind};

use super::Compiler;
use super::frame::{Entry, Frame, Mode};
use super::path::error_expr;
use crate::model::visit::each;
use crate::model::*;
use crate::suggest;

impl Compiler {
    /// Names and parameters; reads may refer to any view.
    pub(super) fn view_heads(&mut self, items: &[Item]) {
        for item in items {
            let ItemKind::View(written) = &item.kind else {
                continue;
            };
            let earlier = self.names.views.get(&written.name.text);
            let earlier = earlier.map(|id| self.design.views[id.index()].span);
            if !self.free("view", &written.name, earlier) {
                continue;
            }
            let Some(subject) = self.subject_named(&written.subject) else {
                self.forgive(&written.name.text);
                continue;
            };
            let (mut params, locals) = self.params(&written.params);
            for param in &mut params {
                param.local = LocalId(param.local.0 + 1);
                if param.range.take().is_some() {
                    self.range_out_of_place(param.span);
                }
            }
            let row = Local { name: "row".into(), ty: Type::Ref(subject) };
            let mut locals: Vec<Local> = std::iter::once(row).chain(locals).collect();
            let caller = written.of.as_ref().map(|of| self.caller(of, &mut locals));
            let id = ViewId::of(self.design.views.len());
            self.names.views.insert(written.name.text.clone(), id);
            self.design.views.push(View {
                name: written.name.text.clone(),
                params,
                subject,
                filter: None,
                group: Vec::new(),
                form: ViewForm::Count,
                with: Vec::new(),
                caller,
                locals,
                span: written.name.span,
            });
        }
    }

    pub(super) fn views(&mut self, items: &[Item]) {
        for item in items {
            let ItemKind::View(written) = &item.kind else {
                continue;
            };
            let Some(&id) = self.names.views.get(&written.name.text) else {
                continue;
            };
            if self.design.views[id.index()].span == written.name.span {
                self.view(id, written);
            }
        }
    }

    fn view(&mut self, id: ViewId, written: &tree::ViewItem) {
        let (subject, params, locals, caller) = {
            let view = &self.design.views[id.index()];
            (view.subject, view.params.clone(), view.locals.clone(), view.caller.clone())
        };
        let mut frame = Frame::new(Mode::View, None);
        frame.locals = locals;
        frame.of_caller = caller.is_some();
        for param in &params {
            frame.scope.push(Entry::Local { name: param.name.clone(), id: param.local });
            frame.declared.push((param.local, param.span));
        }
        // attributes of the row come before parameters of the same name
        frame.scope.push(Entry::Row { id: LocalId(0), subject });
        let filter = written.filter.as_ref().map(|filter| self.condition(&mut frame, filter));
        let form = self.view_form(&mut frame, subject, &written.form);
        let mut group = self.group(&mut frame, subject, &params, (filter.as_ref(), &form));
        let with = self.columns(&mut frame, &written.with);
        filter.iter().for_each(|filter| self.only_the_rows_own(filter));
        let filter = match (&caller, &written.of) {
            (Some(caller), Some(of)) => self.of_caller(of, caller.me, filter, &mut group),
            _ => filter,
        };
        let view = &mut self.design.views[id.index()];
        view.filter = filter;
        view.form = form;
        view.group = group;
        view.with = with;
        view.locals = frame.locals;
        for value in view.clone().values() {
            self.only_the_rows_own(value);
            self.no_caller(value);
        }
    }

    /// A view changes when its row changes, and only then.
    fn only_the_rows_own(&mut self, value: &Expr) {
        let mut elsewhere = None;
        each(value, &mut |part| {
            let base = match &part.kind {
                ExprKind::Attr { base, .. }
                | ExprKind::Exists { base, .. }
                | ExprKind::LogEnd { base, .. }
                | ExprKind::LogStart { base, .. } => base,
                ExprKind::Quantifier { .. } | ExprKind::Aggregate { .. } => {
                    elsewhere.get_or_insert(part.span);
                    return;
                }
                _ => return,
            };
            if !matches!(base.kind, ExprKind::Local(LocalId(0))) {
                elsewhere.get_or_insert(part.span);
            }
        });
        if let Some(span) = elsewhere {
            self.report(
                Diagnostic::error("E0421", span, "a view looks at its own row only")
                    .label("this lies in another record")
                    .help(
                        "keep a copy in the row, written by the same step that changes it there; to \
                         show it beside the row, write `with`",
                    ),
            );
        }
    }

    fn view_form(
        &mut self,
        frame: &mut Frame,
        subject: SubjectId,
        form: &tree::ViewForm,
    ) -> ViewForm {
        match form {
            tree::ViewForm::Count => ViewForm::Count,
            tree::ViewForm::Sum { value } => ViewForm::Sum { value: self.number(frame, value) },
            tree::ViewForm::Extreme { greatest, value } => {
                ViewForm::Extreme { greatest: *greatest, value: self.number(frame, value) }
            }
            tree::ViewForm::Average { value } => self.average(frame, value),
            tree::ViewForm::List { order, limit } => ViewForm::List {
                order: order
                    .iter()
                    .map(|key| OrderKey {
                        value: self.sortable(frame, &key.value),
                        descending: key.descending,
                    })
                    .collect(),
                limit: limit.as_ref().and_then(|limit| self.number_setting(limit)),
            },
            tree::ViewForm::Rank { by, top } => ViewForm::Rank {
                by: OrderKey { value: self.number(frame, &by.value), descending: by.descending },
                top: top.as_ref().and_then(|top| self.number_setting(top)),
            },
            tree::ViewForm::Search { on } => ViewForm::Search {
                on: on
                    .iter()
                    .filter_map(|name| {
                        self.row_attribute(subject, name, &[Type::Text, Type::Document])
                    })
                    .collect(),
            },
            tree::ViewForm::Near { on, from, within_m, first } => {
                let on = self.row_attribute(subject, on, &[Type::Point]).unwrap_or(AttrId(0));
                let from = self.point_asked_from(frame, from);
                let first = first.as_ref().and_then(|first| self.number_setting(first));
                ViewForm::Near { on, from, within_m: *within_m, first }
            }
            tree::ViewForm::Window { value, by, every, keep } => {
                let by_value = self.expr(frame, by, None);
                if !matches!(by_value.ty.required(), Type::Time | Type::Int | Type::Error) {
                    let ty = self.type_name(&by_value.ty);
                    self.report(
                        Diagnostic::error(
                            "E0301",
                            by_value.span,
                            format!("a window runs over `time` or over event time as `int`, not `{ty}`"),
                        )
                        .help("event time is an `int` of milliseconds: only the engine's clock is `time`"),
                    );
                }
                ViewForm::Window {
                    value: value.as_ref().map(|value| self.number(frame, value)),
                    by: by_value,
                    every: self.duration_setting(every).unwrap_or(1),
                    keep: keep.as_ref().and_then(|keep| self.number_setting(keep)),
                }
            }
        }
    }

    fn number(&mut self, frame: &mut Frame, written: &tree::Expr) -> Expr {
        let value = self.expr(frame, written, None);
        if matches!(
            value.ty.required(),
            Type::Int | Type::Decimal | Type::Money(_) | Type::Duration | Type::Time | Type::Error
        ) {
            return value;
        }
        let ty = self.type_name(&value.ty);
        self.report(
            Diagnostic::error("E0303", value.span, format!("`{ty}` is not a number")).help(
                "sums, ranks, `max` and `min` are over `int`, `decimal`, `duration` or `time`",
            ),
        );
        error_expr(value.span)
    }

    fn sortable(&mut self, frame: &mut Frame, written: &tree::Expr) -> Expr {
        let value = self.expr(frame, written, None);
        let fits = matches!(
            value.ty.required(),
            Type::Int
                | Type::Decimal
                | Type::Money(_)
                | Type::Duration
                | Type::Time
                | Type::Text
                | Type::Bool
                | Type::Enum(_)
                | Type::Actor
                | Type::Error
        );
        if fits {
            return value;
        }
        let ty = self.type_name(&value.ty);
        self.report(
            Diagnostic::error("E0302", value.span, format!("a list cannot be ordered by `{ty}`"))
                .help("order by a number, a time, a text or an enumeration"),
        );
        error_expr(value.span)
    }

    fn row_attribute(
        &mut self,
        subject: SubjectId,
        name: &tree::Name,
        types: &[Type],
    ) -> Option<AttrId> {
        let found = self.names.attribute(subject, &name.text).first().copied();
        let owner = &self.design.subjects[subject.index()];
        let Some(attr) = found else {
            let words: Vec<String> = owner.attributes.iter().map(|a| a.name.clone()).collect();
            let mut problem = Diagnostic::error(
                "E0204",
                name.span,
                format!("`{}` has no attribute `{}`", owner.name, name.text),
            );
            problem = match suggest::did_you_mean(&name.text, words.iter().map(String::as_str)) {
                Some(hint) => problem.help(hint),
                None => problem.help(format!("its attributes are {}", suggest::list(&words))),
            };
            self.report_missing(&name.text, problem);
            return None;
        };
        self.known.refer(name, owner.attributes[attr.index()].span);
        let ty = owner.attributes[attr.index()].ty.required().clone();
        if ty != Type::Error && !types.contains(&ty) {
            let wanted: Vec<String> = types.iter().map(|ty| self.type_name(ty)).collect();
            let have = self.type_name(&ty);
            let wanted = suggest::list(&wanted).replace(" and ", " or ");
            self.report(
                Diagnostic::error("E0301", name.span, format!("expected {wanted}, found `{have}`"))
                    .help("`search` is on texts and documents, `near` on one point"),
            );
            return None;
        }
        Some(attr)
    }

    /// A parameter either has the name of something in the row, and picks the rows where it is
    /// equal, or is used in the condition.
    fn group(
        &mut self,
        frame: &mut Frame,
        subject: SubjectId,
        params: &[Param],
        (filter, form): (Option<&Expr>, &ViewForm),
    ) -> Vec<(LocalId, Expr)> {
        let mut group = Vec::new();
        for param in params {
            if form.is_asked(param.local) {
                continue;
            }
            let owner = &self.design.subjects[subject.index()];
            let in_row = !self.names.attribute(subject, &param.name).is_empty()
                || owner.keys.iter().any(|key| key.name == param.name);
            if in_row {
                let name = tree::Name { text: param.name.clone(), span: param.span };
                let path = tree::Expr { kind: tree::ExprKind::Name(name), span: param.span };
                let value = self.expr(frame, &path, None);
                if let Some(value) = self.demand(value, &param.ty) {
                    group.push((param.local, value));
                }
                continue;
            }
            let mut used = false;
            if let Some(filter) = filter {
                each(filter, &mut |part| {
                    used |= matches!(part.kind, ExprKind::Local(id) if id == param.local);
                });
            }
            if !used {
                let name = owner.name.clone();
                self.report(
                    Diagnostic::error(
                        "E0419",
                        param.span,
                        format!("`{}` picks no rows", param.name),
                    )
                    .help(format!(
                        "give it the name of an attribute of `{name}`, or use it in `where`"
                    )),
                );
            }
        }
        group
    }
}
