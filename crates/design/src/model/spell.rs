//! How a type is written.

use super::{BlobId, Design, EnumId, StructField, SubjectId, Type};

/// What types are called after.
pub trait Named {
    fn subject(&self, id: SubjectId) -> &str;
    fn blob(&self, id: BlobId) -> &str;
    fn constants(&self, id: EnumId) -> &[String];
}

impl Named for Design {
    fn subject(&self, id: SubjectId) -> &str {
        &self.subjects[id.index()].name
    }

    fn blob(&self, id: BlobId) -> &str {
        &self.blobs[id.index()].name
    }

    fn constants(&self, id: EnumId) -> &[String] {
        &self.enumerations[id.index()].constants
    }
}

/// The types that have a word of their own.
pub const PLAIN: [(&str, Type); 17] = [
    ("int", Type::Int),
    ("bool", Type::Bool),
    ("text", Type::Text),
    ("bytes", Type::Bytes),
    ("decimal", Type::Decimal),
    ("time", Type::Time),
    ("duration", Type::Duration),
    ("schedule", Type::Schedule),
    ("json", Type::Json),
    ("document", Type::Document),
    ("point", Type::Point),
    ("actor", Type::Actor),
    ("digest", Type::Hash),
    ("signature", Type::Signature),
    ("public_key", Type::PublicKey),
    ("proof", Type::Proof),
    ("secret", Type::Secret),
];

/// As a text would say it, without bounds.
pub fn spell(ty: &Type, names: &impl Named) -> String {
    match ty {
        Type::Enum(id) => names.constants(*id).join(" | "),
        Type::Ref(id) => names.subject(*id).to_owned(),
        Type::Digest(id) => names.blob(*id).to_owned(),
        Type::Money(currency) => format!("money({currency})"),
        Type::Optional(inner) => match **inner {
            Type::Enum(_) => format!("({})?", spell(inner, names)),
            _ => format!("{}?", spell(inner, names)),
        },
        Type::List { of, .. } => format!("list {}", spell(of, names)),
        Type::Set { of, .. } => format!("set {}", spell(of, names)),
        Type::Map { key, value, .. } => {
            format!("map {} {}", spell(key, names), spell(value, names))
        }
        Type::Struct(fields) => {
            let field =
                |field: &StructField| format!("{}: {}", field.name, spell(&field.ty, names));
            format!("{{ {} }}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        Type::Record(_) => "a record".into(),
        Type::Rows(_) => "rows of a view".into(),
        Type::Null => "null".into(),
        Type::Error => "?".into(),
        plain => PLAIN
            .iter()
            .find(|(_, ty)| ty == plain)
            .map_or_else(String::new, |(word, _)| (*word).to_string()),
    }
}
