//! Values in tests: literals, names, times that count from now, records by their keys.

use syntax::Diagnostic;
use syntax::tree::{self, BinaryOp};

use super::Compiler;
use super::frame::{Frame, Mode};
use super::literal::fold;
use super::test::Known;
use crate::model::*;
use crate::suggest;

impl Compiler {
    /// A value of this type.
    pub(super) fn test_value(
        &mut self,
        known: &mut Known,
        written: &tree::Expr,
        ty: &Type,
    ) -> Option<TestValue> {
        use tree::ExprKind as T;
        let wanted = ty.required();
        match (&written.kind, wanted) {
            (_, Type::Error) => None,
            (T::Name(name), _) if self.is_worded(wanted) => {
                Some(TestValue::Name(self.test_name(known, name, wanted, false)))
            }
            (T::Name(name), _)
                if known
                    .find(&name.text)
                    .is_some_and(|at| known.names[at as usize].ty == *wanted) =>
            {
                Some(TestValue::Name(self.test_name(known, name, wanted, false)))
            }
            (T::Text(text), Type::Json | Type::Point) => match serde_json::from_str(text) {
                Ok(value) => Some(TestValue::Json(value)),
                Err(error) => {
                    let message = format!("this text is no JSON: {error}");
                    let help = "for example `\"{\\\"n\\\": 1}\"`";
                    self.report(Diagnostic::error("E1103", written.span, message).help(help));
                    None
                }
            },
            (T::Text(text), Type::Digest(_)) => Some(TestValue::Content(text.clone())),
            (T::Text(text), _) if self.is_worded(wanted) || is_told_as_text(wanted) => {
                self.known.has_type(written.span, wanted);
                Some(TestValue::Const(Const::Text(text.clone())))
            }
            (T::Name(_) | T::Text(_), Type::Ref(_) | Type::Time) => self.test_no_value(written, ty),
            (T::Now, Type::Time) => Some(TestValue::Time(0)),
            (T::Binary { op, left, right }, Type::Time) if left.kind == T::Now => {
                let ms = self.duration_setting(right)?;
                match op {
                    BinaryOp::Add => Some(TestValue::Time(ms)),
                    BinaryOp::Subtract => Some(TestValue::Time(-ms)),
                    _ => self.test_no_value(written, ty),
                }
            }
            (T::Call { function, args }, Type::Ref(subject)) => {
                let named = self.names.subjects.get(&function.text).copied();
                if named != Some(*subject) {
                    return self.test_no_value(written, ty);
                }
                let held = &self.design.subjects[subject.index()];
                let (keys, span) = (held.keys.clone(), held.span);
                self.known.refer(function, span);
                if keys.len() != args.len() {
                    let names: Vec<String> = keys.iter().map(|key| key.name.clone()).collect();
                    let message = format!(
                        "the key of `{}` has {} parts, not {}",
                        function.text,
                        keys.len(),
                        args.len()
                    );
                    let help = format!("they are {}", suggest::list(&names));
                    self.report(Diagnostic::error("E1102", function.span, message).help(help));
                    return None;
                }
                let mut parts = Vec::new();
                for (key, arg) in keys.iter().zip(args) {
                    parts.push(self.test_value(known, arg, &key.ty)?);
                }
                Some(TestValue::Key(*subject, parts))
            }
            (T::List(items) | T::Set(items), Type::List { of, .. }) => {
                let of = (**of).clone();
                Some(TestValue::List(self.test_values(known, items, &of)?))
            }
            (T::List(items) | T::Set(items), Type::Set { of, .. }) => {
                let of = (**of).clone();
                Some(TestValue::Set(self.test_values(known, items, &of)?))
            }
            (T::Record(fields), Type::Struct(types)) => {
                let types: Vec<(String, Type)> =
                    types.iter().map(|field| (field.name.clone(), field.ty.clone())).collect();
                self.test_fields(known, fields, &types)
            }
            (T::Record(fields), Type::Record(types)) => {
                let types = types.clone();
                self.test_fields(known, fields, &types)
            }
            _ => self.test_constant(written, ty),
        }
    }

    fn test_values(
        &mut self,
        known: &mut Known,
        items: &[tree::Expr],
        of: &Type,
    ) -> Option<Vec<TestValue>> {
        items.iter().map(|item| self.test_value(known, item, of)).collect()
    }

    fn test_fields(
        &mut self,
        known: &mut Known,
        fields: &[tree::FieldValue],
        types: &[(String, Type)],
    ) -> Option<TestValue> {
        let mut found = Vec::new();
        for field in fields {
            let Some((name, ty)) = types.iter().find(|(name, _)| *name == field.name.text) else {
                let words: Vec<String> = types.iter().map(|(name, _)| name.clone()).collect();
                let message = format!("there is no field `{}`", field.name.text);
                let help =
                    match suggest::did_you_mean(&field.name.text, words.iter().map(String::as_str))
                    {
                        Some(hint) => hint,
                        None => format!("there are {}", suggest::list(&words)),
                    };
                self.report(Diagnostic::error("E1102", field.name.span, message).help(help));
                return None;
            };
            let value = self.test_field(known, field, ty)?;
            found.push((name.clone(), value));
        }
        Some(TestValue::Record(found))
    }

    /// `name: value`; a name alone stands for itself.
    fn test_field(
        &mut self,
        known: &mut Known,
        field: &tree::FieldValue,
        ty: &Type,
    ) -> Option<TestValue> {
        let own;
        let value = match &field.value {
            Some(value) => value,
            None => {
                let kind = tree::ExprKind::Name(field.name.clone());
                own = tree::Expr { kind, span: field.name.span };
                &own
            }
        };
        self.test_value(known, value, ty)
    }

    /// Whatever the compiler can tell without running anything.
    fn test_constant(&mut self, written: &tree::Expr, ty: &Type) -> Option<TestValue> {
        let mut frame = Frame::new(Mode::Constant, None);
        let value = self.expr(&mut frame, written, Some(ty));
        if value.ty == Type::Error {
            return None;
        }
        let value = self.demand(value, ty)?;
        match fold(&value) {
            Some(constant) => Some(TestValue::Const(constant)),
            None => self.test_no_value(written, ty),
        }
    }

    fn test_no_value(&mut self, written: &tree::Expr, ty: &Type) -> Option<TestValue> {
        let wanted = self.type_name(ty);
        let message = format!("expected a `{wanted}` that is known when the test is read");
        let help = match ty.required() {
            Type::Time => "write `now`, `now + 10m` or `now - 10m`".to_string(),
            Type::Ref(subject) => {
                let subject = &self.design.subjects[subject.index()];
                let keys: Vec<&str> = subject.keys.iter().map(|key| key.name.as_str()).collect();
                format!("write `{}({})`, with a value for each part", subject.name, keys.join(", "))
            }
            _ => "write a literal or a name".to_string(),
        };
        self.report(Diagnostic::error("E1103", written.span, message).help(help));
        None
    }

    /// Does a word say all there is to say? Of a text, a principal, and a record with a key of one such part.
    fn is_worded(&self, ty: &Type) -> bool {
        match ty {
            Type::Text | Type::Actor => true,
            Type::Ref(subject) => match &self.design.subjects[subject.index()].keys[..] {
                [key] => self.is_worded(key.ty.required()),
                _ => false,
            },
            _ => false,
        }
    }

    /// What a read answers.
    pub(super) fn test_given(
        &mut self,
        known: &mut Known,
        written: &tree::Expr,
        ty: &Type,
    ) -> Option<TestValue> {
        match ty {
            Type::Rows(view) => self.view_gives(known, *view, written),
            _ => self.test_value(known, written, ty),
        }
    }

    /// What a view shows: one value, or rows in their order.
    pub(super) fn view_gives(
        &mut self,
        known: &mut Known,
        view: ViewId,
        written: &tree::Expr,
    ) -> Option<TestValue> {
        let view = self.design.views[view.index()].clone();
        let optional = |ty: &Type| Type::Optional(Box::new(ty.required().clone()));
        let ty = match &view.form {
            ViewForm::Count => Type::Int,
            ViewForm::Sum { value } => value.ty.required().clone(),
            ViewForm::Extreme { value, .. } => optional(&value.ty),
            ViewForm::Average { .. } => optional(&Type::Decimal),
            ViewForm::List { .. } | ViewForm::Rank { .. } | ViewForm::Near { .. } => {
                return self.test_rows(known, &view, written);
            }
            ViewForm::Search { .. } | ViewForm::Window { .. } => {
                let message = format!("a test does not look at `{}`", view.name);
                self.report(
                    Diagnostic::error("E1105", written.span, message)
                        .also(view.span, "a search or a window")
                        .help("look at the truth that it is made of: `expect …`"),
                );
                return None;
            }
        };
        self.test_value(known, written, &ty)
    }

    fn test_rows(
        &mut self,
        known: &mut Known,
        view: &View,
        written: &tree::Expr,
    ) -> Option<TestValue> {
        let tree::ExprKind::List(items) = &written.kind else {
            let message = format!("`{}` shows rows", view.name);
            self.report(
                Diagnostic::error("E1103", written.span, message)
                    .also(view.span, "declared here")
                    .help("write them in their order: `[A1, A2]`; none is `[]`"),
            );
            return None;
        };
        let mut rows = Vec::new();
        for item in items {
            let tree::ExprKind::Record(fields) = &item.kind else {
                let ty = Type::Ref(view.subject);
                rows.push(TestRow::Key(self.test_value(known, item, &ty)?));
                continue;
            };
            let mut found = Vec::new();
            for field in fields {
                let (place, ty) = self.test_column(view.subject, &field.name)?;
                found.push((place, self.test_field(known, field, &ty)?));
            }
            rows.push(TestRow::Fields(found));
        }
        Some(TestValue::Rows(rows))
    }

    fn test_column(&mut self, subject: SubjectId, name: &tree::Name) -> Option<(TestField, Type)> {
        let held = &self.design.subjects[subject.index()];
        if let Some(at) = held.keys.iter().position(|key| key.name == name.text) {
            return Some((TestField::Key(at as u32), held.keys[at].ty.clone()));
        }
        match *self.names.attribute(subject, &name.text) {
            [attr] => {
                let ty = held.attributes[attr.index()].ty.clone();
                self.refer_to_attribute(name, subject, attr);
                Some((TestField::Attr(attr), ty))
            }
            [] => {
                self.unknown_member(subject, name);
                None
            }
            [..] => {
                let choices = [format!("{} of several states", name.text)];
                self.ambiguous(name.span, &name.text, &choices);
                None
            }
        }
    }
}

/// Opaque to the language; whoever calls writes a text.
fn is_told_as_text(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Bytes
            | Type::Document
            | Type::Hash
            | Type::Signature
            | Type::PublicKey
            | Type::Proof
            | Type::Secret
    )
}
