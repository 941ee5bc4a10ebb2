//! Types in the words of the language.

use design::model::{Design, Range, StructField, Type};

#[derive(Clone, Copy)]
pub struct Types<'a> {
    pub design: &'a Design,
}

impl Types<'_> {
    /// `int 1..64`, `duration 1s..10m?`
    pub fn ranged(&self, ty: &Type, range: Option<Range>) -> String {
        let Some(range) = range else { return self.text(ty) };
        let mark = if ty.is_optional() { "?" } else { "" };
        format!("{} {}{mark}", self.text(ty.required()), range.text(ty))
    }

    pub fn text(&self, ty: &Type) -> String {
        match ty {
            Type::Int => "int".into(),
            Type::Bool => "bool".into(),
            Type::Text => "text".into(),
            Type::Bytes => "bytes".into(),
            Type::Decimal => "decimal".into(),
            Type::Money(currency) => format!("money({currency})"),
            Type::Time => "time".into(),
            Type::Duration => "duration".into(),
            Type::Schedule => "schedule".into(),
            Type::Json => "json".into(),
            Type::Document => "document".into(),
            Type::Point => "point".into(),
            Type::Actor => "actor".into(),
            Type::Hash => "digest".into(),
            Type::Signature => "signature".into(),
            Type::PublicKey => "public_key".into(),
            Type::Secret => "secret".into(),
            Type::Proof => "proof".into(),
            Type::Enum(id) => self.design.enumerations[id.index()].constants.join(" | "),
            Type::Ref(id) => self.design.subjects[id.index()].name.clone(),
            Type::Digest(id) => self.design.blobs[id.index()].name.clone(),
            Type::Optional(inner) => format!("{}?", self.text(inner)),
            Type::List { of, max } => format!("list {} max {max}", self.text(of)),
            Type::Set { of, max } => format!("set {} max {max}", self.text(of)),
            Type::Map { key, value, max } => {
                format!("map {} {} max {max}", self.text(key), self.text(value))
            }
            Type::Struct(fields) => {
                let field = |field: &StructField| {
                    format!("{}: {}", field.name, self.ranged(&field.ty, field.range))
                };
                format!("{{ {} }}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
            }
            Type::Record(fields) => {
                let fields: Vec<String> =
                    fields.iter().map(|(name, ty)| format!("{name}: {}", self.text(ty))).collect();
                format!("{{ {} }}", fields.join(", "))
            }
            Type::Rows(view) => format!("rows of {}", self.design.views[view.index()].name),
            Type::Null => "null".into(),
            Type::Error => "?".into(),
        }
    }
}
