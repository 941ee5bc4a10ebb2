//! The layout of a design in words. Two designs that are described alike store alike.

use design::model::{Design, OperationKind, Range, StateKind, StructField, Type, visit};

/// Everything that the stored encoding depends on, a line for each.
pub fn describe(design: &Design) -> String {
    let mut lines = vec!["layout 2".to_string()];
    let typed = |name: &str, ty: &Type| format!("{name}: {}", type_text(design, ty));
    let ranged = |name: &str, ty: &Type, range: Option<Range>| {
        typed(name, ty) + &range.map_or_else(String::new, |range| format!(" {}", range.text(ty)))
    };
    let sent_to = visit::message_targets(design);
    for subject in &design.subjects {
        let keys = subject.keys.iter().map(|key| ranged(&key.name, &key.ty, key.range));
        let keys: Vec<String> = keys.collect();
        lines.push(format!("subject {}({})", subject.name, keys.join(", ")));
        for attribute in &subject.attributes {
            let state = &subject.states[attribute.state.index()].name;
            let attribute = ranged(&attribute.name, &attribute.ty, attribute.range);
            lines.push(format!("  {state}.{attribute}"));
        }
        for state in &subject.states {
            if matches!(state.kind, StateKind::Log { .. }) {
                lines.push(format!("  {}: entries, each with its time", state.name));
            }
        }
        for _ in &subject.counters {
            lines.push("  a counter over children".to_string());
        }
    }
    for event in &design.events {
        let fields: Vec<String> = event.fields.iter().map(|(name, ty)| typed(name, ty)).collect();
        lines.push(format!("event {}({})", event.name, fields.join(", ")));
    }
    for (at, operation) in design.operations.iter().enumerate() {
        // what waits in the outbox lies in the ranges of its parameters
        let waits = sent_to[at]
            || operation.hears.is_some()
            || matches!(operation.kind, OperationKind::Effect(_));
        let kind = match operation.kind {
            OperationKind::Step { .. } => "step",
            OperationKind::Repair { .. } => "repair",
            OperationKind::Effect(_) => "effect",
            OperationKind::Read { .. } => "read",
        };
        let actor = &design.actors[operation.actor.index()].name;
        let params = operation.params.iter();
        let mut params: Vec<String> = params
            .map(|param| ranged(&param.name, &param.ty, param.range.filter(|_| waits)))
            .collect();
        for used in &operation.memory {
            let field = &design.actors[used.actor.index()].memory[used.field.index()];
            params.push(typed(&field.name, &field.ty));
        }
        if let OperationKind::Effect(effect) = &operation.kind {
            let keys = effect.key.iter().map(|key| typed("key", &key.ty));
            params.extend(keys);
            for answer in [&effect.on_ok, &effect.on_refused, &effect.on_unknown] {
                let bound = answer.param.map(|local| &operation.locals[local.index()].ty);
                params.extend(bound.map(|ty| typed("on", ty)));
            }
        }
        lines.push(format!("{kind} {actor}[{}({})]", operation.name, params.join(", ")));
    }
    lines.join("\n")
}

fn type_text(design: &Design, ty: &Type) -> String {
    match ty {
        Type::Enum(id) => design.enumerations[id.index()].constants.join(" | "),
        Type::Ref(id) => design.subjects[id.index()].name.clone(),
        Type::Digest(id) => design.blobs[id.index()].name.clone(),
        Type::Optional(inner) => format!("({})?", type_text(design, inner)),
        Type::Set { of, max } => format!("set {} up to {max}", type_text(design, of)),
        Type::List { of, max } => format!("list {} up to {max}", type_text(design, of)),
        Type::Map { key, value, max } => {
            format!("map {} {} up to {max}", type_text(design, key), type_text(design, value))
        }
        Type::Struct(fields) => {
            let field = |field: &StructField| {
                let range = field
                    .range
                    .map_or_else(String::new, |range| format!(" {}..{}", range.low, range.high));
                format!("{}: {}{range}", field.name, type_text(design, &field.ty))
            };
            format!("{{ {} }}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        other => format!("{other:?}").to_lowercase(),
    }
}
