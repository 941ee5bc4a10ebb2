//! Do two designs agree on the events that one hears of the other?

use syntax::Span;

use crate::model::{Design, Event, Hears, Operation, Type};
use crate::suggest;

/// A handler that does not fit the event that it is to be called by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misheard {
    /// the page that says more
    pub code: &'static str,
    pub message: String,
    pub help: String,
    /// in the design that listens
    pub span: Span,
    /// in the design that emits, if it does
    pub emitted: Option<Span>,
}

/// The handlers of a design for events of the design of this name.
pub fn handlers_of<'d>(
    listener: &'d Design,
    emitter: &'d str,
) -> impl Iterator<Item = (&'d Operation, &'d Hears)> {
    listener.operations.iter().filter_map(move |operation| {
        let hears = operation.hears.as_ref()?;
        (hears.design.as_deref() == Some(emitter)).then_some((operation, hears))
    })
}

/// What a design takes for granted of the events of another one, and what is not so.
pub fn misheard(listener: &Design, emitter: &Design) -> Vec<Misheard> {
    let mut found = Vec::new();
    for (handler, hears) in handlers_of(listener, &emitter.name) {
        let Some(event) = emitter.events.iter().find(|event| event.name == hears.event) else {
            found.push(nothing_emits(handler, hears, emitter));
            continue;
        };
        for param in &handler.params {
            let field = event.fields.iter().find(|(name, _)| *name == param.name);
            let Some((_, ty)) = field else {
                let fields: Vec<String> =
                    event.fields.iter().map(|(name, _)| name.clone()).collect();
                found.push(Misheard {
                    code: "E0902",
                    message: format!("`{}` has no field `{}`", hears.told(), param.name),
                    help: hint(&param.name, &fields, "its fields are"),
                    span: param.span,
                    emitted: Some(event.span),
                });
                continue;
            };
            if !agrees((emitter, ty), (listener, &param.ty)) {
                found.push(another_type(param, (ty, &param.ty), (event, hears), emitter, listener));
            }
        }
    }
    found
}

fn nothing_emits(handler: &Operation, hears: &Hears, emitter: &Design) -> Misheard {
    let events: Vec<String> = emitter.events.iter().map(|event| event.name.clone()).collect();
    Misheard {
        code: "E0901",
        message: format!("nothing in `{}` emits `{}`", emitter.name, hears.event),
        help: hint(&hears.event, &events, "its events are"),
        span: handler.head,
        emitted: None,
    }
}

fn another_type(
    param: &crate::model::Param,
    (is, says): (&Type, &Type),
    (event, hears): (&Event, &Hears),
    emitter: &Design,
    listener: &Design,
) -> Misheard {
    use crate::model::spell::spell;
    let told = match is.required() {
        Type::Ref(subject) => match &emitter.subjects[subject.index()].keys[..] {
            [key] => format!("{}, whose key is {}", spell(is, emitter), spell(&key.ty, emitter)),
            _ => spell(is, emitter),
        },
        _ => spell(is, emitter),
    };
    Misheard {
        code: "E0903",
        message: format!(
            "`{}` of `{}` is `{told}`, not `{}`",
            param.name,
            hears.told(),
            spell(says, listener)
        ),
        help: "take the type that is emitted; of a record, its key or a record of this design with that key"
            .into(),
        span: param.span,
        emitted: Some(event.span),
    }
}

fn hint(written: &str, known: &[String], they: &str) -> String {
    match suggest::did_you_mean(written, known.iter().map(String::as_str)) {
        Some(hint) => hint,
        None if known.is_empty() => "it has none".into(),
        None => format!("{they} {}", suggest::list(known)),
    }
}

/// Is every value of the one a value of the other, where a record is told by its key?
fn agrees((emitter, is): (&Design, &Type), (listener, says): (&Design, &Type)) -> bool {
    let keys = |design: &Design, ty: &Type| -> Vec<Type> {
        let subject = ty.subject().map(|subject| &design.subjects[subject.index()]);
        subject.into_iter().flat_map(|subject| &subject.keys).map(|key| key.ty.clone()).collect()
    };
    match (is.required(), says.required()) {
        (Type::Ref(_), Type::Ref(_)) => {
            let (theirs, own) = (keys(emitter, is), keys(listener, says));
            theirs.len() == own.len()
                && theirs.iter().zip(&own).all(|(a, b)| agrees((emitter, a), (listener, b)))
        }
        (Type::Ref(_), _) => match &keys(emitter, is)[..] {
            [key] => agrees((emitter, key), (listener, says)),
            _ => false,
        },
        (_, Type::Ref(_)) => match &keys(listener, says)[..] {
            [key] => agrees((emitter, is), (listener, key)),
            _ => false,
        },
        (Type::Enum(a), Type::Enum(b)) => {
            let known = &listener.enumerations[b.index()].constants;
            emitter.enumerations[a.index()].constants.iter().all(|word| known.contains(word))
        }
        (Type::List { of: a, .. }, Type::List { of: b, .. })
        | (Type::Set { of: a, .. }, Type::Set { of: b, .. }) => agrees((emitter, a), (listener, b)),
        (Type::Map { key: a, value: b, .. }, Type::Map { key: c, value: d, .. }) => {
            agrees((emitter, a), (listener, c)) && agrees((emitter, b), (listener, d))
        }
        (Type::Struct(a), Type::Struct(b)) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|(a, b)| {
                    a.name == b.name
                        && a.ty.is_optional() == b.ty.is_optional()
                        && agrees((emitter, &a.ty), (listener, &b.ty))
                })
        }
        (Type::Digest(_), Type::Digest(_)) => true,
        (a, b) => a == b,
    }
}
