//! The description of the API that programs read, made of the table of routes.

mod schemas;

use serde_json::{Map, Value, json};

use crate::routes::{Gives, Operation, Parameter};

/// The whole document.
pub(crate) fn document(operations: &[Operation]) -> Value {
    let mut paths = Map::new();
    for operation in operations {
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.method] = described(operation);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Hedgerow",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Hand work to coding agents, each in an isolated environment of its repository.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas::all(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    })
}

fn described(operation: &Operation) -> Value {
    let in_path = operation.path.contains("{id}").then(|| {
        let what = if operation.path.contains("conversations") {
            "The caller's own name for the conversation."
        } else if operation.path.contains("runs") {
            "The id of the run, or the beginning of it."
        } else {
            "Its id, the beginning of it, its work, branch or path; percent-encoded."
        };
        json!({"in": "path", "name": "id", "required": true, "schema": {"type": "string"}, "description": what})
    });
    let others = operation.parameters.iter().map(parameter);
    let mut described = json!({
        "summary": operation.summary,
        "operationId": format!("{} {}", operation.method, operation.path),
        "parameters": in_path.into_iter().chain(others).collect::<Vec<_>>(),
        "responses": {
            "default": {
                "description": "It could not be done.",
                "content": {"application/json": {"schema": reference("Error")}},
            },
        },
    });
    let (status, content) = answer(operation.gives);
    described["responses"][status.to_string()] = json!({"description": "Done.", "content": content});
    if let Some(name) = operation.takes {
        described["requestBody"] =
            json!({"required": true, "content": {"application/json": {"schema": reference(name)}}});
    }
    if !operation.is_open {
        described["security"] = json!([{"token": []}]);
    }
    described
}

fn parameter(parameter: &Parameter) -> Value {
    json!({
        "in": parameter.place,
        "name": parameter.name,
        "required": false,
        "schema": {"type": parameter.kind},
        "description": parameter.what,
    })
}

fn answer(gives: Gives) -> (u16, Value) {
    match gives {
        Gives::One(status, name) => (status, json!({"application/json": {"schema": reference(name)}})),
        Gives::Many(name) => {
            (200, json!({"application/json": {"schema": {"type": "array", "items": reference(name)}}}))
        }
        Gives::Text(kind) => (200, json!({kind: {"schema": {"type": "string"}}})),
        Gives::Document => (200, json!({"application/json": {"schema": {"type": "object"}}})),
    }
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}
