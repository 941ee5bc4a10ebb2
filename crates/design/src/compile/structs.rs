//! Records inside records: what `list { sku: text, qty: int 1..99 } max 8` holds.

use syntax::tree::{self, Name, TypeExpr};
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::check::Entries;
use super::frame::Frame;
use super::literal::fold;
use super::path::Found;
use crate::model::*;
use crate::suggest;

/// The most fields that a record in a list has.
const FIELDS_MAX: usize = 16;

impl Compiler {
    /// `{ sku: text, qty: int 1..99 }`
    pub(super) fn struct_type(
        &mut self,
        written: &[(Name, TypeExpr)],
        owner: &str,
        span: Span,
    ) -> Type {
        if written.is_empty() || written.len() > FIELDS_MAX {
            let message = format!("a record in a list has 1 to {FIELDS_MAX} fields");
            self.report(
                Diagnostic::error("E0350", span, message)
                    .help("for example `list { sku: text, qty: int } max 8`"),
            );
            return Type::Error;
        }
        let mut fields: Vec<StructField> = Vec::new();
        for (name, ty) in written {
            if fields.iter().any(|known| known.name == name.text) {
                let message = format!("the field `{}` is declared twice", name.text);
                self.report(
                    Diagnostic::error("E0202", name.span, message)
                        .help("leave one of them out, or give it another name"),
                );
                continue;
            }
            self.not_reserved(name);
            let (held, range) = self.ranged_type(ty, &format!("{owner}.{}", name.text));
            let held = self.field_type(held, ty);
            self.known.has_type(name.span, &held);
            fields.push(StructField { name: name.text.clone(), ty: held, range });
        }
        if fields.iter().any(|field| field.ty == Type::Error) {
            return Type::Error;
        }
        Type::Struct(fields)
    }

    /// A field is a single value that can be told apart from others of its type.
    fn field_type(&mut self, ty: Type, written: &TypeExpr) -> Type {
        let help = match ty.required() {
            Type::Error
            | Type::Int
            | Type::Bool
            | Type::Text
            | Type::Decimal
            | Type::Money(_)
            | Type::Enum(_)
            | Type::Actor
            | Type::Ref(_) => return ty,
            Type::Secret => {
                self.secret_out_of_place(written.span, "a collection of secrets");
                return Type::Error;
            }
            Type::List { .. } | Type::Set { .. } | Type::Map { .. } | Type::Struct(_) => {
                "records are nested once; make a child subject: \
                 `subject Line(order: Order, line: int) { … }`"
            }
            _ => {
                "a field is an `int`, a `bool`, a `text`, a `decimal`, an `actor`, a subject or `A | B`, \
                 each perhaps with `?`; anything else belongs in a child subject"
            }
        };
        let text = self.text(written.span);
        let message = format!("a record in a list has no field of type `{text}`");
        self.report(Diagnostic::error("E0350", written.span, message).help(help));
        Type::Error
    }

    /// `{ sku: sku, qty: 2 }` where one of the records of a list is wanted.
    pub(super) fn struct_value(
        &mut self,
        frame: &mut Frame,
        written: &[tree::FieldValue],
        wanted: &[StructField],
        span: Span,
    ) -> Expr {
        let ty = Type::Struct(wanted.to_vec());
        let names: Vec<String> = wanted.iter().map(|field| field.name.clone()).collect();
        let mut given: Vec<Option<Expr>> = vec![None; wanted.len()];
        let mut wrong = false;
        for field in written {
            let Some(at) = names.iter().position(|name| *name == field.name.text) else {
                let known = names.iter().map(String::as_str);
                let help = suggest::did_you_mean(&field.name.text, known)
                    .unwrap_or_else(|| format!("its fields are {}", suggest::list(&names)));
                let message = format!("the record has no field `{}`", field.name.text);
                self.report(Diagnostic::error("E0351", field.name.span, message).help(help));
                wrong = true;
                continue;
            };
            let value = self.struct_field_value(frame, field, &wanted[at]);
            wrong |= value.is_none();
            if given[at].is_some() {
                let message = format!("the field `{}` is given twice", field.name.text);
                self.report(
                    Diagnostic::error("E0202", field.name.span, message)
                        .help("leave one of them out"),
                );
                wrong = true;
            }
            given[at] = value;
        }
        if wrong {
            return Expr { kind: ExprKind::Error, ty: Type::Error, span };
        }
        let mut fields = Vec::new();
        for (field, value) in wanted.iter().zip(given) {
            let value = match value {
                Some(value) => value,
                None if field.ty.is_optional() => {
                    Expr { kind: ExprKind::Literal(Const::Null), ty: field.ty.clone(), span }
                }
                None => {
                    let message = format!("the record has no value for `{}`", field.name);
                    let help = format!("give it one: `{}: …`", field.name);
                    self.report(Diagnostic::error("E0351", span, message).help(help));
                    return Expr { kind: ExprKind::Error, ty: Type::Error, span };
                }
            };
            fields.push((field.name.clone(), value));
        }
        Expr { kind: ExprKind::Record(fields), ty, span }
    }

    fn struct_field_value(
        &mut self,
        frame: &mut Frame,
        written: &tree::FieldValue,
        wanted: &StructField,
    ) -> Option<Expr> {
        let value = self.field_value(frame, written, &wanted.ty)?;
        match fold(&value) {
            Some(constant) => self
                .within(&constant, wanted.ty.required(), wanted.range, value.span)
                .then_some(value),
            None => Some(value),
        }
    }

    /// One of the records of a list is no value of its own.
    pub(super) fn not_a_struct(&mut self, value: Expr) -> Expr {
        let Type::Struct(fields) = &value.ty else { return value };
        let names: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
        let message = "a record of a list does not stand by itself";
        let help = format!("name a field of it: {}", suggest::list(&names));
        self.report(Diagnostic::error("E0350", value.span, message).help(help));
        Expr { kind: ExprKind::Error, ty: Type::Error, span: value.span }
    }

    /// What callers give for a list of records: of each field the values that `check` says.
    pub(super) fn struct_domain(
        &mut self,
        (operation, param): (&str, &Param),
        entries: &mut Entries,
        looked: bool,
        check: Span,
    ) -> Values {
        let Type::List { of, max } = param.ty.required() else { return Values::Irrelevant };
        let Type::Struct(fields) = &**of else { return Values::Irrelevant };
        if let Some(entry) = entries.find(&[operation, &param.name]) {
            let (span, field) = (entry.span, &fields[0].name);
            self.wrong_value(
                span,
                &format!("a size for each field, as in `{}.{field}: 2`", param.name),
            );
        }
        let mut columns = Vec::new();
        for field in fields {
            let entry = entries.find_field([operation, &param.name, &field.name]);
            let name = format!("{}.{}", param.name, field.name);
            let of = (&field.ty, field.range);
            columns.push(self.domain_of(of, &name, param.span, entry, looked, check, None));
        }
        Values::ListOf(Box::new(Values::Fields(columns)), *max)
    }

    /// `line.qty`
    pub(super) fn struct_field(
        &mut self,
        base: Expr,
        fields: &[StructField],
        name: &Name,
        span: Span,
    ) -> Found {
        let Some(at) = fields.iter().position(|field| field.name == name.text) else {
            let names: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
            let help = suggest::did_you_mean(&name.text, names.iter().map(String::as_str))
                .unwrap_or_else(|| format!("its fields are {}", suggest::list(&names)));
            let message = format!("the record has no field `{}`", name.text);
            self.report(Diagnostic::error("E0204", name.span, message).help(help));
            return Found::Nothing;
        };
        let ty = fields[at].ty.clone();
        let kind = ExprKind::Field { base: Box::new(base), field: at as u32 };
        Found::Value(Expr { kind, ty, span })
    }

    /// `qty` in `sum(qty of lines)`
    pub(super) fn bare_struct_field(&mut self, base: Expr, name: &Name) -> Option<Found> {
        let Type::Struct(fields) = &base.ty else { return None };
        let at = fields.iter().position(|field| field.name == name.text)?;
        let ty = fields[at].ty.clone();
        let kind = ExprKind::Field { base: Box::new(base), field: at as u32 };
        Some(Found::Value(Expr { kind, ty, span: name.span }))
    }
}
