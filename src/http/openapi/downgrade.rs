//! OpenAPI 3.0.3 version of the document, for generators that do not support 3.1. It is derived from the 3.1 document
//! by a pure function, so that the two cannot diverge.
//!
//! Differences: 3.0 has no `webhooks`, no licence identifiers, no `null` type (`nullable` instead), no numeric
//! `exclusiveMinimum` and `exclusiveMaximum` (they are flags of `minimum` and `maximum`), no `const`, no lists of
//! `examples` in schemas, and no siblings of a `$ref`.

use serde_json::{Map, Value, json};

/// Converts the document to OpenAPI 3.0.3.
pub fn downgraded(mut document: Value) -> Value {
    let Some(members) = document.as_object_mut() else { return document };
    members.insert("openapi".to_owned(), json!("3.0.3"));
    members.remove("webhooks");
    members.remove("jsonSchemaDialect");
    if let Some(license) =
        members.get_mut("info").and_then(|info| info.get_mut("license")).and_then(Value::as_object_mut)
    {
        license.remove("identifier");
    }
    prune(members);
    walk(&mut document);
    document
}

/// Traverses the parts of the document that are not schemas, and converts each schema found.
fn walk(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match (name.as_str(), member) {
                    ("example" | "examples" | "default", _) => {}
                    ("schema", member) => schema(member),
                    ("schemas", Value::Object(schemas)) => schemas.values_mut().for_each(schema),
                    (_, member) => walk(member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(walk),
        _ => {}
    }
}

/// Converts a schema, starting with its subschemas.
fn schema(value: &mut Value) {
    let Some(members) = value.as_object_mut() else {
        // `true` is the schema of any value.
        *value = json!({});
        return;
    };
    for (name, member) in members.iter_mut() {
        match (name.as_str(), member) {
            ("properties", Value::Object(properties)) => properties.values_mut().for_each(schema),
            ("items" | "not", member) => schema(member),
            ("additionalProperties", member) if member.is_object() => schema(member),
            ("oneOf" | "anyOf" | "allOf", Value::Array(all)) => all.iter_mut().for_each(schema),
            _ => {}
        }
    }
    null_type(members);
    null_choice(members);
    exclusive(members, "exclusiveMinimum", "minimum");
    exclusive(members, "exclusiveMaximum", "maximum");
    if let Some(constant) = members.remove("const") {
        members.insert("enum".to_owned(), json!([constant]));
    }
    if let Some(first) = members.remove("examples").and_then(|all| all.as_array()?.first().cloned()) {
        members.insert("example".to_owned(), first);
    }
    members.remove("contentEncoding");
    members.remove("contentMediaType");
    if members.contains_key("$ref") && members.len() > 1 {
        let reference = members.remove("$ref").unwrap_or_default();
        members.insert("allOf".to_owned(), json!([{"$ref": reference}]));
    }
}

fn nullable(members: &mut Map<String, Value>) {
    members.insert("nullable".to_owned(), json!(true));
}

/// Converts `type: [string, null]` to `type: string, nullable: true`.
fn null_type(members: &mut Map<String, Value>) {
    let Some(Value::Array(types)) = members.get("type") else {
        if members.get("type") == Some(&json!("null")) {
            members.remove("type");
            members.insert("enum".to_owned(), json!([null]));
            nullable(members);
        }
        return;
    };
    let others: Vec<Value> = types.iter().filter(|one| **one != "null").cloned().collect();
    let had_null = others.len() < types.len();
    match <[Value; 1]>::try_from(others) {
        Ok([one]) => drop(members.insert("type".to_owned(), one)),
        Err(others) => {
            members.remove("type");
            members.insert("anyOf".to_owned(), others.into_iter().map(|one| json!({"type": one})).collect());
        }
    }
    if had_null {
        nullable(members);
    }
}

/// Converts `oneOf: [A, null]` to `allOf: [A], nullable: true`. The subschemas have already been converted: null is an
/// `enum` that contains only null.
fn null_choice(members: &mut Map<String, Value>) {
    for name in ["oneOf", "anyOf"] {
        let Some(Value::Array(choices)) = members.get(name) else { continue };
        let is_null = |one: &Value| one["enum"] == json!([null]);
        let others: Vec<Value> = choices.iter().filter(|one| !is_null(one)).cloned().collect();
        if others.len() == choices.len() {
            continue;
        }
        let name = if others.len() == 1 {
            members.remove(name);
            "allOf"
        } else {
            name
        };
        members.insert(name.to_owned(), Value::Array(others));
        nullable(members);
    }
}

/// Converts a numeric exclusive bound to a flag that accompanies the bound.
fn exclusive(members: &mut Map<String, Value>, name: &str, bound: &str) {
    if members.get(name).is_some_and(Value::is_number)
        && let Some(number) = members.remove(name)
    {
        members.insert(bound.to_owned(), number);
        members.insert(name.to_owned(), json!(true));
    }
}

/// Removes the schemas that are referenced only by `webhooks`.
fn prune(document: &mut Map<String, Value>) {
    loop {
        let mut used = Vec::new();
        document.values().for_each(|value| references(value, &mut used));
        let Some(schemas) = document.get_mut("components").and_then(|all| all.get_mut("schemas")?.as_object_mut())
        else {
            return;
        };
        let before = schemas.len();
        schemas.retain(|name, _| used.iter().any(|place| place.strip_prefix("#/components/schemas/") == Some(name)));
        if schemas.len() == before {
            return;
        }
    }
}

fn references(value: &Value, targets: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            targets.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|value| references(value, targets));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, targets)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(mut value: Value) -> Value {
        schema(&mut value);
        value
    }

    #[test]
    fn each_construct_of_3_1_has_its_form_in_3_0() {
        let text = changed(json!({"type": ["string", "null"], "maxLength": 3}));
        assert_eq!(text, json!({"type": "string", "maxLength": 3, "nullable": true}));
        let choice = changed(json!({"oneOf": [{"$ref": "#/a"}, {"type": "null"}]}));
        assert_eq!(choice, json!({"allOf": [{"$ref": "#/a"}], "nullable": true}));
        let number = changed(json!({"type": "number", "exclusiveMinimum": 0, "maximum": 5}));
        assert_eq!(number, json!({"type": "number", "exclusiveMinimum": true, "minimum": 0, "maximum": 5}));
        assert_eq!(changed(json!({"const": 1, "examples": [1, 2]})), json!({"enum": [1], "example": 1}));
        let described = changed(json!({"$ref": "#/a", "description": "words"}));
        assert_eq!(described, json!({"allOf": [{"$ref": "#/a"}], "description": "words"}));
        let parts = changed(json!({"properties": {"type": {"type": ["integer", "null"]}}, "items": {"const": 1}}));
        assert_eq!(parts["properties"]["type"], json!({"type": "integer", "nullable": true}));
    }

    #[test]
    fn what_only_webhooks_use_is_left_out() {
        let document = json!({
            "openapi": "3.1.0", "info": {"license": {"name": "MIT", "identifier": "MIT"}},
            "paths": {"/a": {"get": {"schema": {"$ref": "#/components/schemas/A"}}}},
            "webhooks": {"b": {"post": {"schema": {"$ref": "#/components/schemas/B"}}}},
            "components": {"schemas": {"A": {"type": "string"}, "B": {"$ref": "#/components/schemas/C"}, "C": {}}},
        });
        let actual = downgraded(document);
        assert_eq!(actual["components"]["schemas"], json!({"A": {"type": "string"}}));
        assert_eq!(actual["info"]["license"], json!({"name": "MIT"}));
    }
}
