//! Views of a design, and what reads answer.

use design::model::{Design, Expr, ExprKind, Type, View, ViewForm};
use serde_json::{Map, Value, json};

use super::common::{WITHOUT_BODY, answers, reference};
use super::{records, schema, search};
use gateway::Service;

/// Under which the answer of a view stands among the schemas.
pub fn name(service: &str, view: &View) -> String {
    format!("{service}.views.{}", view.name)
}

/// What a read answers: views that it asks and entries of logs among it.
pub fn result(service: &str, design: &Design, expr: &Expr) -> Value {
    match &expr.kind {
        ExprKind::Record(fields) => {
            let properties: Map<String, Value> = fields
                .iter()
                .map(|(name, value)| (name.clone(), result(service, design, value)))
                .collect();
            let required: Vec<&String> = properties.keys().collect();
            json!({ "type": "object", "required": required, "properties": properties })
        }
        ExprKind::View { view, .. } => {
            reference("schemas", &name(service, &design.views[view.index()]))
        }
        ExprKind::LogSlice { .. } => {
            let mut entries = schema::answered(design, &expr.ty);
            if let Some(entries) = entries.as_object_mut() {
                entries.remove("maxItems");
            }
            let entry = &mut entries["items"];
            entry["properties"]["offset"] = json!({ "type": "integer" });
            if let Some(required) = entry["required"].as_array_mut() {
                required.push(json!("offset"));
            }
            entries
        }
        _ => schema::answered(design, &expr.ty),
    }
}

/// What a view answers.
pub fn answer(service: &str, design: &Design, view: &View) -> Value {
    let mut properties = json!({
        "revision": { "type": "string", "description": "the revision that it reflects" },
    });
    let mut required = vec!["revision"];
    match &view.form {
        ViewForm::List { .. }
        | ViewForm::Rank { .. }
        | ViewForm::Near { .. }
        | ViewForm::Search { .. } => {
            properties["rows"] = json!({ "type": "array", "items": row(service, design, view) });
            properties["next"] = json!({ "type": ["string", "null"],
                "description": "where the next page begins: the `after` to ask with; null: this is the last" });
            required.extend(["rows", "next"]);
            if !matches!(view.form, ViewForm::Near { .. }) {
                properties["total"] = json!({ "type": "integer",
                    "description": "all rows, where the caller sees every one" });
            }
            if matches!(view.form, ViewForm::Search { .. }) {
                search::answer(&mut properties);
            }
        }
        ViewForm::Count => {
            properties["count"] = json!({ "type": "integer" });
            required.push("count");
        }
        ViewForm::Sum { value } => {
            properties["sum"] = amount(&value.ty);
            required.push("sum");
        }
        ViewForm::Extreme { greatest, value } => {
            let name = if *greatest { "max" } else { "min" };
            properties[name] = schema::or_null(schema::answered(design, value.ty.required()));
            required.push(name);
        }
        ViewForm::Average { .. } => {
            properties["avg"] = schema::or_null(schema::answered(design, &Type::Decimal));
            required.push("avg");
        }
        ViewForm::Window { value, .. } => {
            let mut stretch = json!({
                "type": "object", "required": ["start", "count"],
                "properties": { "start": { "type": "string" }, "count": { "type": "integer" } },
            });
            if let Some(value) = value {
                stretch["properties"]["sum"] = amount(&value.ty);
                stretch["required"] = json!(["start", "count", "sum"]);
            }
            properties["stretches"] = json!({ "type": "array", "items": stretch });
            required.push("stretches");
        }
    }
    json!({ "type": "object", "required": required, "properties": properties })
}

/// A sum: a text where it is one of decimals or durations, or too large for a number.
fn amount(ty: &Type) -> Value {
    match ty.required() {
        Type::Decimal | Type::Money(_) => json!({ "type": "string" }),
        _ => json!({ "type": ["integer", "string"] }),
    }
}

fn row(service: &str, design: &Design, view: &View) -> Value {
    let mut row = json!({
        "type": "object", "required": ["key", "truth"],
        "properties": {
            "key": records::key(design, view.subject),
            "truth": reference("schemas", &records::truth_name(service, design, view.subject)),
        },
    });
    match view.form {
        ViewForm::Rank { .. } => {
            row["properties"]["rank"] = json!({ "type": "integer", "minimum": 1,
                "description": "where the caller sees every row" });
        }
        ViewForm::Near { .. } => {
            row["properties"]["distance_m"] = json!({
                "type": "number", "description": "metres along a great circle",
            });
            row["required"] = json!(["key", "truth", "distance_m"]);
        }
        ViewForm::Search { .. } => search::row(&mut row),
        _ => {}
    }
    if !view.with.is_empty() {
        let shown = view.with.iter().map(|column| {
            let schema = schema::answered(design, column.value.ty.required());
            (column.name.clone(), schema::or_null(schema))
        });
        row["properties"]["with"] = json!({
            "type": "object",
            "description": "attributes of records that the row refers to; null where there is \
                            none, left out where the caller may not see them",
            "properties": shown.collect::<Map<String, Value>>(),
        });
    }
    row
}

pub fn get(service: &Service, view: &View) -> Value {
    let design = service.design();
    let query = |name: &str, required: bool, schema: Value| json!({ "name": name, "in": "query", "required": required, "schema": schema });
    let mut parameters: Vec<Value> = view
        .params
        .iter()
        .map(|param| {
            let mut told = query(&param.name, true, schema::part(design, &param.ty));
            if param.ty == Type::Point {
                // `8.54,47.37`
                told["style"] = json!("form");
                told["explode"] = json!(false);
            }
            told
        })
        .collect();
    parameters.push(query("at_least", false, json!({ "type": "string" })));
    let limit = json!({ "type": "integer", "minimum": 1, "maximum": 1000 });
    match view.form {
        ViewForm::List { .. } | ViewForm::Rank { .. } | ViewForm::Near { .. } => {
            parameters.push(query("limit", false, limit));
            parameters.push(query("after", false, json!({ "type": "string" })));
            if matches!(view.form, ViewForm::Near { .. }) {
                let examples = json!({ "type": "string", "examples": ["500m", "2.5km"] });
                let mut within = query("within", false, examples);
                within["description"] =
                    json!("only rows that are not farther; the view's own limit holds as well");
                parameters.push(within);
            }
        }
        ViewForm::Search { .. } => search::parameters(design, view, &mut parameters),
        ViewForm::Window { .. } => parameters.push(query("limit", false, limit)),
        _ => {}
    }
    let summary = match &view.caller {
        None => format!("the view `{}`", view.name),
        Some(caller) => {
            let of = &design.actors[caller.actor.index()].name;
            format!("the view `{}`: rows of the caller, who is a `{of}`", view.name)
        }
    };
    let mut responses = answers(&WITHOUT_BODY);
    let answer = reference("schemas", &name(&service.name, view));
    responses.insert(
        "200".into(),
        json!({
            "description": "the view, and the revision it reflects",
            "content": { "application/json": { "schema": answer } },
        }),
    );
    json!({
        "tags": [service.name],
        "operationId": format!("{}_view_{}", service.name, view.name),
        "summary": summary,
        "parameters": parameters,
        "responses": responses,
    })
}

/// The same parameters, except where a page begins.
pub fn live(service: &Service, view: &View, whole: &Value) -> Value {
    let mut parameters: Vec<Value> = whole["parameters"].as_array().cloned().unwrap_or_default();
    parameters.retain(|param| param["name"] != "after");
    parameters.push(json!({
        "name": "Last-Event-ID", "in": "header", "schema": { "type": "string" },
        "description": "what was told last: nothing earlier is told",
    }));
    let mut responses = answers(&WITHOUT_BODY);
    responses.insert(
        "200".into(),
        json!({
            "description": "server-sent events without end: first `snapshot`, whose `data` is the view; \
                            then, of rows, `change` with the keys that are `gone` and the rows to `put` \
                            `at` their places, and of anything else another `snapshot`; `id` is the revision",
            "content": { "text/event-stream": {
                "schema": { "type": "string" },
                "x-event-data": { "snapshot": reference("schemas", &name(&service.name, view)) },
            } },
        }),
    );
    json!({
        "tags": [service.name],
        "operationId": format!("{}_live_{}", service.name, view.name),
        "summary": format!("{}, as it is and as it changes", whole["summary"].as_str().unwrap_or_default()),
        "parameters": parameters,
        "responses": responses,
    })
}
