//! Which designs a store holds, under which number, and how their truth is laid out.

use design::model::{Design, OperationKind, Type};
use store::{Decision, Store};

use crate::bytes::{Reader, put_bytes, put_number};
use crate::keys::{DesignNumber, Space, begin};
use crate::runtime::OpenError;
use crate::schema::Schema;

/// Belongs to no design.
const NOBODYS: DesignNumber = DesignNumber(u16::MAX);

/// Gives the design its number, the same whenever it is opened on this store.
pub fn register(design: Design, store: &dyn Store) -> Result<Schema, OpenError> {
    let Some(local) = store.local() else { return Err(OpenError::NotLocal) };
    let described = describe(&design);
    let mut names_key = Vec::new();
    begin(&mut names_key, NOBODYS, Space::Meta);
    let mut outcome: Result<DesignNumber, OpenError> = Err(OpenError::Damaged);
    let ticket = local.transact(&mut |transaction| {
        let names = match transaction.get(&names_key) {
            None => Some(Vec::new()),
            Some((_, bytes)) => read_names(bytes),
        };
        let Some(mut names) = names else {
            outcome = Err(OpenError::Damaged);
            return Decision::Abandon;
        };
        if let Some(at) = names.iter().position(|name| *name == design.name) {
            let number = DesignNumber(at as u16);
            let stored = transaction.get(&layout_key(number)).map(|(_, bytes)| bytes);
            outcome = match stored {
                Some(bytes) if bytes == described.as_bytes() => Ok(number),
                Some(bytes) => Err(difference(&String::from_utf8_lossy(bytes), &described)),
                None => Err(OpenError::Damaged),
            };
            return Decision::Abandon;
        }
        if names.len() >= usize::from(NOBODYS.0) {
            outcome = Err(OpenError::Design("the store holds no more designs".into()));
            return Decision::Abandon;
        }
        let number = DesignNumber(names.len() as u16);
        names.push(design.name.clone());
        let mut bytes = Vec::new();
        put_number(&mut bytes, names.len() as u64);
        for name in &names {
            put_bytes(&mut bytes, name.as_bytes());
        }
        transaction.put(&names_key, &bytes);
        transaction.put(&layout_key(number), described.as_bytes());
        outcome = Ok(number);
        Decision::Commit
    })?;
    ticket.wait()?;
    Schema::new(design, outcome?).map_err(OpenError::Design)
}

fn layout_key(number: DesignNumber) -> Vec<u8> {
    let mut key = Vec::new();
    begin(&mut key, number, Space::Meta);
    key.extend_from_slice(b"layout");
    key
}

fn read_names(bytes: &[u8]) -> Option<Vec<String>> {
    let mut reader = Reader::new(bytes);
    let count = reader.number().ok()?;
    let mut names = Vec::new();
    for _ in 0..count {
        names.push(String::from_utf8(reader.bytes().ok()?.to_vec()).ok()?);
    }
    Some(names)
}

/// Everything that the stored encoding depends on, a line for each.
fn describe(design: &Design) -> String {
    let mut lines = vec!["layout 1".to_string()];
    for subject in &design.subjects {
        let keys: Vec<String> = subject
            .keys
            .iter()
            .map(|key| format!("{}: {}", key.name, type_text(design, &key.ty)))
            .collect();
        lines.push(format!("subject {}({})", subject.name, keys.join(", ")));
        for attribute in &subject.attributes {
            let state = &subject.states[attribute.state.index()].name;
            let ty = type_text(design, &attribute.ty);
            lines.push(format!("  {state}.{}: {ty}", attribute.name));
        }
        for _ in &subject.counters {
            lines.push("  a counter over children".to_string());
        }
    }
    for event in &design.events {
        lines.push(format!("event {}", event.name));
    }
    for operation in &design.operations {
        let kind = match operation.kind {
            OperationKind::Step { .. } => "step",
            OperationKind::Repair { .. } => "repair",
            OperationKind::Effect(_) => "effect",
            OperationKind::Read { .. } => "read",
        };
        lines.push(format!("{kind} {}", operation.name));
    }
    lines.join("\n")
}

fn type_text(design: &Design, ty: &Type) -> String {
    match ty {
        Type::Enum(id) => design.enumerations[id.index()].constants.join(" | "),
        Type::Ref(id) => design.subjects[id.index()].name.clone(),
        Type::Digest(id) => design.blobs[id.index()].name.clone(),
        Type::Optional(inner) => format!("({})?", type_text(design, inner)),
        Type::Set { of, .. } => format!("set {}", type_text(design, of)),
        Type::List { of, .. } => format!("list {}", type_text(design, of)),
        Type::Map { key, value, .. } => {
            format!("map {} {}", type_text(design, key), type_text(design, value))
        }
        other => format!("{other:?}").to_lowercase(),
    }
}

/// The first line in which the two differ.
fn difference(stored: &str, now: &str) -> OpenError {
    let mut stored = stored.lines();
    let mut now = now.lines();
    loop {
        match (stored.next(), now.next()) {
            (Some(a), Some(b)) if a == b => {}
            (a, b) => {
                return OpenError::Changed {
                    stored: a.unwrap_or("nothing").trim().to_string(),
                    now: b.unwrap_or("nothing").trim().to_string(),
                };
            }
        }
    }
}
