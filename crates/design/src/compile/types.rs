//! Types as written to types as meant, and which fits which.

use syntax::tree::{ExprKind, Name, TypeExpr, TypeKind};
use syntax::{Diagnostic, Span};

use super::Compiler;
use crate::model::spell::{PLAIN, spell};
use crate::model::*;
use crate::suggest;

/// The largest collection that truth may hold.
const MAX_COLLECTION: u32 = 4096;

impl Compiler {
    /// `owner` is what a new enumeration is called in messages.
    pub(super) fn type_of(&mut self, written: &TypeExpr, owner: &str) -> Type {
        match &written.kind {
            TypeKind::Named(name) => self.named_type(name),
            TypeKind::Money(name) => self.money(name),
            TypeKind::Enumeration(constants) => self.enumeration(constants, owner, written.span),
            TypeKind::Ranged(of, low, high) => {
                self.range_out_of_place(Span::new(low.span.file, low.span.start, high.span.end));
                self.type_of(of, owner)
            }
            TypeKind::Optional(inner) => match self.type_of(inner, owner) {
                Type::Error => Type::Error,
                Type::Optional(already) => {
                    self.report(
                        Diagnostic::error("E0308", written.span, "`??` says no more than `?`")
                            .help("one `?` is enough"),
                    );
                    Type::Optional(already)
                }
                collection @ (Type::List { .. } | Type::Set { .. } | Type::Map { .. }) => {
                    self.report(
                        Diagnostic::error("E0308", written.span, "a collection cannot be null")
                            .help("an empty one says the same; leave the `?` out"),
                    );
                    collection
                }
                required => Type::Optional(Box::new(required)),
            },
            TypeKind::List(of, max) => {
                let of = Box::new(match &of.kind {
                    TypeKind::Record(fields) => self.struct_type(fields, owner, of.span),
                    _ => self.element_type(of, owner),
                });
                let max = self.bound(max.as_ref(), written.span);
                Type::List { of, max }
            }
            TypeKind::Set(of, max) => {
                let of = Box::new(self.element_type(of, owner));
                let max = self.bound(max.as_ref(), written.span);
                Type::Set { of, max }
            }
            TypeKind::Map(key, value, max) => {
                let key = Box::new(self.element_type(key, owner));
                let value = Box::new(self.element_type(value, owner));
                let max = self.bound(max.as_ref(), written.span);
                Type::Map { key, value, max }
            }
            TypeKind::Record(_) => {
                self.report(
                    Diagnostic::error("E0350", written.span, "only a list holds records")
                        .help("write `list { sku: text, qty: int } max 8`"),
                );
                Type::Error
            }
            TypeKind::AnyOf(..) => self.taken_out_of_place(written.span),
            TypeKind::Error => Type::Error,
        }
    }

    fn element_type(&mut self, written: &TypeExpr, owner: &str) -> Type {
        let ty = self.type_of(written, owner);
        if matches!(ty, Type::List { .. } | Type::Set { .. } | Type::Map { .. } | Type::Optional(_))
        {
            self.report(
                Diagnostic::error(
                    "E0308",
                    written.span,
                    format!("a collection holds single values, not `{}`", self.text(written.span)),
                )
                .help("make a child subject: `subject Part(whole: Whole, part: text) { … }`"),
            );
            return Type::Error;
        }
        if ty.is_secret() {
            self.secret_out_of_place(written.span, "a collection of secrets");
            return Type::Error;
        }
        ty
    }

    fn bound(&mut self, max: Option<&syntax::tree::Expr>, span: Span) -> u32 {
        let Some(max) = max else {
            let text = self.text(span);
            self.report(
                Diagnostic::error("E0309", span, "a collection has a bound")
                    .help(format!("say how many there may be: `{text} max 16`")),
            );
            return 1;
        };
        let value = match &max.kind {
            ExprKind::Int(digits) => digits.parse::<u32>().ok(),
            _ => None,
        };
        match value {
            Some(value) if (1..=MAX_COLLECTION).contains(&value) => value,
            _ => {
                self.report(
                    Diagnostic::error(
                        "E0309",
                        max.span,
                        format!("a bound is a number from 1 to {MAX_COLLECTION}"),
                    )
                    .help("for more, make each element a child subject"),
                );
                1
            }
        }
    }

    fn money(&mut self, name: &Name) -> Type {
        match Currency::named(&name.text) {
            Some(currency) => Type::Money(currency),
            // it could not be read
            None if name.text.is_empty() => Type::Error,
            None => {
                let message = format!("`{}` is no currency", name.text);
                self.report(
                    Diagnostic::error("E0308", name.span, message)
                        .help("a currency is three capital letters: `money(EUR)`"),
                );
                Type::Error
            }
        }
    }

    fn named_type(&mut self, name: &Name) -> Type {
        if let Some((_, ty)) = PLAIN.iter().find(|(word, _)| *word == name.text) {
            return ty.clone();
        }
        if let Some(subject) = self.names.subjects.get(&name.text) {
            self.known.refer(name, self.design.subjects[subject.index()].span);
            return Type::Ref(*subject);
        }
        if let Some(blob) = self.names.blobs.get(&name.text) {
            self.known.refer(name, self.design.blobs[blob.index()].span);
            return Type::Digest(*blob);
        }
        let candidates: Vec<String> = PLAIN
            .iter()
            .map(|(word, _)| (*word).to_string())
            .chain(self.names.subjects.keys().cloned())
            .chain(self.names.blobs.keys().cloned())
            .collect();
        let mut problem = Diagnostic::error("E0203", name.span, format!("no type `{}`", name.text));
        let alias = match name.text.as_str() {
            "string" | "str" | "String" => Some("text"),
            "integer" | "number" | "i64" | "u64" | "long" => Some("int"),
            "boolean" => Some("bool"),
            "timestamp" | "datetime" | "instant" => Some("time"),
            "float" | "double" => Some("decimal"),
            "money" => Some("money(EUR)"),
            "object" | "any" => Some("json"),
            "cron" | "crontab" | "calendar" => Some("schedule"),
            "password" | "pin" => Some("secret"),
            _ => None,
        };
        problem =
            match alias {
                Some(word) => problem.help(format!("here it is called `{word}`")),
                None => {
                    match suggest::did_you_mean(&name.text, candidates.iter().map(String::as_str)) {
                    Some(hint) => problem.help(hint),
                    None => problem.help(
                        "a type is `int`, `bool`, `text`, `bytes`, `decimal`, `money(EUR)`, `time`, `duration`, \
                     `schedule`, `json`, `document`, `point`, `actor`, `digest`, `signature`, `public_key`, \
                     `proof`, `secret`, a subject, a blob, or `A | B | C`",
                    ),
                }
                }
            };
        self.report_missing(&name.text, problem);
        Type::Error
    }

    fn enumeration(&mut self, constants: &[Name], owner: &str, span: Span) -> Type {
        let mut words: Vec<String> = Vec::new();
        for constant in constants {
            if words.contains(&constant.text) {
                self.report(
                    Diagnostic::error(
                        "E0202",
                        constant.span,
                        format!("the constant `{}` is listed twice", constant.text),
                    )
                    .help("leave the second one out"),
                );
                continue;
            }
            if !self.not_reserved(constant) {
                continue;
            }
            words.push(constant.text.clone());
        }
        if let Some(known) = self.enumerations.get(&words) {
            return Type::Enum(*known);
        }
        let id = EnumId::of(self.design.enumerations.len());
        self.enumerations.insert(words.clone(), id);
        let written = |word: &String| constants.iter().find(|constant| constant.text == *word);
        let spans = words.iter().filter_map(|word| Some(written(word)?.span));
        self.constants.push(spans.collect());
        self.design.enumerations.push(Enumeration {
            name: owner.to_string(),
            constants: words,
            span,
        });
        Type::Enum(id)
    }

    /// Can a value of type `have` stand where `want` is wanted? A `T?` may stand for a `T`: a
    /// null there is refused when the step runs.
    pub(super) fn fits(&self, have: &Type, want: &Type) -> bool {
        match (have, want) {
            (Type::Error, _) | (_, Type::Error) => true,
            (Type::Null, other) | (other, Type::Null) => {
                matches!(other, Type::Optional(_) | Type::Null)
            }
            (Type::Optional(have), want) => self.fits(have, want.required()),
            (have, Type::Optional(want)) => self.fits(have, want),
            (Type::Set { of: a, .. }, Type::Set { of: b, .. })
            | (Type::List { of: a, .. }, Type::List { of: b, .. }) => {
                **a == Type::Null || self.fits(a, b)
            }
            (Type::Map { key: a, value: b, .. }, Type::Map { key: c, value: d, .. }) => {
                self.fits(a, c) && self.fits(b, d)
            }
            // what a range allows is asked when the step runs
            (Type::Struct(have), Type::Struct(want)) => {
                have.len() == want.len()
                    && have.iter().zip(want).all(|(have, want)| {
                        have.name == want.name
                            && have.ty.is_optional() == want.ty.is_optional()
                            && self.fits(&have.ty, &want.ty)
                    })
            }
            (have, want) => have == want,
        }
    }

    /// How messages call a type.
    pub(super) fn type_name(&self, ty: &Type) -> String {
        spell(ty, &self.design)
    }
}
