//! The description of the API: complete, true, readable, and the one that the command line prints.

mod drift;
mod promises;

use std::collections::BTreeSet;

use printfloor::http::openapi;
use printfloor::http::openapi::half::Half;
use serde_json::{Value, json};

use crate::support::contract::{self, ADDRESS, BILLING, CONTRACT};
use crate::support::{App, Db};

/// Lists the operations of the document: method, path, and the operation.
fn operations() -> Vec<(String, &'static str, &'static Value)> {
    let paths = CONTRACT.document["paths"].as_object().unwrap();
    let of = |(path, item): (&'static String, &'static Value)| {
        let operations = item.as_object().unwrap().iter();
        operations.map(move |(method, operation)| (method.to_uppercase(), path.as_str(), operation))
    };
    paths.iter().flat_map(of).collect()
}

#[test]
fn every_route_is_described_and_every_description_has_a_route() {
    let misfits = openapi::misfits(&CONTRACT.resources(), &CONTRACT.served);
    assert!(misfits.is_empty(), "see \"Add an endpoint\" in CONTRIBUTING.md: {misfits:#?}");
}

/// Checks that a response that is missing from the description fails the test that received it.
#[test]
fn the_tests_notice_what_is_not_described() {
    let notices = |method: &str, path: &str, status: u16, kind: &str, body: &Value| {
        let headers = [
            ("x-request-id", "1"),
            ("content-type", kind),
            ("etag", "\"1\""),
            ("x-ratelimit-limit", "9"),
            ("x-ratelimit-remaining", "9"),
        ];
        let headers =
            headers.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).into_iter().collect();
        let body = body.to_string();
        let outcome = std::panic::catch_unwind(|| contract::check(method, path, status, &headers, Some(&body)));
        outcome.is_err()
    };
    let (path, json) = ("/api/skus/01890000-0000-7000-8000-00000000dead", "application/json");
    let sku = CONTRACT.document["paths"]["/api/skus/{id}"]["get"]["responses"]["200"].clone();
    let sku = sku["content"][json]["example"].clone();
    assert!(!notices("GET", path, 200, json, &sku), "what is described");
    assert!(notices("GET", path, 200, "text/html", &sku), "another media type");
    assert!(notices("GET", path, 202, json, &sku), "another status");
    assert!(notices("GET", path, 404, json, &sku), "not the shape of errors");
    assert!(notices("PUT", path, 200, json, &sku), "no such operation");
    assert!(notices("GET", "/api/sku", 200, json, &sku), "no such path");
    for (member, value) in
        [("more", json!(1)), ("priceCents", json!(1.5)), ("machineType", json!("lathe")), ("id", json!("7"))]
    {
        let mut other = sku.clone();
        other[member] = value;
        assert!(notices("GET", path, 200, json, &other), "{member}");
    }
    let mut less = sku;
    less.as_object_mut().unwrap().remove("version");
    assert!(notices("GET", path, 200, json, &less), "a member is missing");
}

#[test]
fn every_operation_is_documented() {
    let mut ids = BTreeSet::new();
    for (method, path, operation) in operations() {
        let what = format!("{method} {path}");
        let id = operation["operationId"].as_str().unwrap_or_else(|| panic!("{what} has no operationId"));
        assert!(ids.insert(id), "{what}: {id} is the name of two operations");
        assert!(id.chars().all(|c| c.is_ascii_alphanumeric()), "{what}: {id}");
        assert!(!operation["summary"].as_str().unwrap_or_default().is_empty(), "{what} has no summary");
        assert_eq!(operation["tags"].as_array().map(Vec::len), Some(1), "{what}");
        let roles = operation["x-roles"].as_array().unwrap_or_else(|| panic!("{what} has no roles"));
        let open = roles.iter().any(|role| role == openapi::derive::ANYBODY);
        let by_key =
            operation["security"].as_array().unwrap().iter().any(|scheme| scheme.get("gatewayToken").is_none());
        assert_eq!(open, !by_key, "{what}: roles and security differ");
        let answers = operation["responses"].as_object().unwrap();
        assert!(answers.keys().any(|status| status.starts_with('2')), "{what}");
        assert!(answers.contains_key("500") && answers.contains_key("503") && answers.contains_key("405"), "{what}");
        assert!(open || answers.contains_key("401"), "{what}");
        for name in path.split('{').skip(1).filter_map(|rest| rest.split('}').next()) {
            let parameters = operation["parameters"].as_array().unwrap();
            let parameter = parameters.iter().find(|parameter| parameter["name"] == name && parameter["in"] == "path");
            assert_eq!(parameter.unwrap_or_else(|| panic!("{what}: {name}"))["required"], true, "{what}");
            assert!(answers.contains_key("404"), "{what}");
        }
    }
    assert!(ids.len() >= 90, "{}", ids.len());
}

/// Checks that every schema has a name: generated clients create a type for each name, and unnamed types cannot be
/// referred to.
#[test]
fn every_body_answer_and_choice_is_a_schema_with_a_name() {
    fn choices<'a>(value: &'a Value, enums: &mut Vec<&'a Value>) {
        enums.extend(value.get("enum").and_then(Value::as_array).filter(|words| words.len() > 1).map(|_| value));
        match value {
            Value::Object(members) => members.values().for_each(|member| choices(member, enums)),
            Value::Array(items) => items.iter().for_each(|item| choices(item, enums)),
            _ => {}
        }
    }
    let mut named = 0;
    for (method, path, operation) in operations() {
        let answers = operation["responses"].as_object().unwrap().values();
        for body in answers.chain([&operation["requestBody"]]).filter_map(|body| body["content"].as_object()) {
            for (media, content) in body.iter().filter(|(media, _)| media.contains("json")) {
                assert!(content["schema"]["$ref"].is_string(), "{method} {path} {media}: {content}");
                named += 1;
            }
        }
    }
    assert!(named >= 170, "{named}");
    let mut enums = Vec::new();
    choices(&CONTRACT.document["paths"], &mut enums);
    for schema in CONTRACT.document["components"]["schemas"].as_object().unwrap().values() {
        if schema.get("enum").is_none() {
            choices(schema, &mut enums);
        }
    }
    assert!(enums.is_empty(), "{enums:?}");
}

/// Checks that every example in the document is valid against its schema.
#[test]
fn examples_are_what_they_are_examples_of() {
    let mut examples = 0;
    let mut hold = |what: &str, content: &Value| {
        let one = content.get("example").into_iter();
        let many = content["examples"].as_object().into_iter().flatten().map(|(_, example)| &example["value"]);
        for example in one.chain(many) {
            let faults = CONTRACT.faults(&content["schema"], example);
            assert!(faults.is_empty(), "{what}: {faults:#?}\n{example}");
            examples += 1;
        }
    };
    for (method, path, operation) in operations() {
        let id = operation["operationId"].as_str().unwrap();
        if let Some(body) = operation["requestBody"]["content"].get("application/json") {
            assert!(body.get("example").is_some(), "{id}: its body has no example");
            hold(&format!("{id}, request"), body);
        }
        for (status, answer) in operation["responses"].as_object().unwrap() {
            let answer = CONTRACT.resolve(answer);
            for (_, content) in answer["content"].as_object().into_iter().flatten() {
                let binary = content["schema"]["format"] == "binary";
                assert!(
                    binary || content.get("example").or(content.get("examples")).is_some(),
                    "{method} {path} {status}"
                );
                hold(&format!("{id}, {status}"), content);
            }
        }
    }
    assert!(examples > 500, "{examples}");
}

#[test]
fn bodies_refuse_what_they_do_not_know() {
    for (method, path, operation) in operations() {
        let signed = path.contains("/webhooks/") && !path.starts_with("/api/webhooks/");
        let Some(body) = operation["requestBody"]["content"].as_object().filter(|_| !signed) else { continue };
        for content in body.values() {
            let schema = CONTRACT.resolve(&content["schema"]);
            let shapes = schema["oneOf"].as_array().map_or(vec![schema], |shapes| shapes.iter().collect());
            // A body that is one text, such as a table, has no members.
            for shape in shapes.into_iter().filter(|shape| shape["type"] != "string") {
                assert_eq!(CONTRACT.resolve(shape)["additionalProperties"], false, "{method} {path}");
            }
        }
    }
}

#[test]
fn the_schemas_are_schemas_and_every_reference_leads_somewhere() {
    fn references<'a>(value: &'a Value, targets: &mut BTreeSet<&'a str>) {
        match value {
            Value::Object(members) => {
                targets.extend(members.get("$ref").and_then(Value::as_str));
                members.values().for_each(|value| references(value, targets));
            }
            Value::Array(items) => items.iter().for_each(|value| references(value, targets)),
            _ => {}
        }
    }
    let mut targets = BTreeSet::new();
    references(&CONTRACT.document, &mut targets);
    for place in &targets {
        assert!(CONTRACT.document.pointer(place.trim_start_matches('#')).is_some(), "{place} leads nowhere");
    }
    for kind in ["schemas", "headers", "responses"] {
        for name in CONTRACT.document["components"][kind].as_object().unwrap().keys() {
            assert!(targets.contains(format!("#/components/{kind}/{name}").as_str()), "nothing uses {name} of {kind}");
        }
    }
    for (name, schema) in CONTRACT.document["components"]["schemas"].as_object().unwrap() {
        jsonschema::meta::validate(schema).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[tokio::test]
async fn the_server_shows_the_description_to_anybody() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_SERVER__PUBLIC_URL", "https://shop.example").start().await;
    let answer = app.nobody().get("/api/openapi.json").await;
    assert_eq!(answer.header("cache-control"), Some("public, max-age=3600"));
    let document = answer.expect(200);
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["servers"], json!([{"url": "https://shop.example"}]));
    assert_eq!(document["paths"], CONTRACT.document["paths"]);
    assert_eq!(document["components"], CONTRACT.document["components"]);
}

/// Collects constructs that exist only in OpenAPI 3.1, wherever they occur outside examples.
fn only_3_1(value: &Value, keywords: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter().filter(|(name, _)| *name != "example" && *name != "examples") {
                let is_schema_word = !member.is_object() || name == "const";
                if matches!(name.as_str(), "const" | "$defs" | "prefixItems" | "webhooks" | "identifier")
                    && is_schema_word
                    || name == "type" && (member.is_array() || member == "null")
                    || name.starts_with("exclusiveM") && !member.is_boolean()
                    || name == "$ref" && members.len() > 1
                {
                    keywords.push(format!("{name}: {member}"));
                }
                only_3_1(member, keywords);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| only_3_1(item, keywords)),
        _ => {}
    }
}

#[test]
fn the_rendition_for_3_0_has_nothing_of_3_1() {
    let document =
        openapi::downgraded(&openapi::json(Half::Production, &CONTRACT.resources(), &CONTRACT.served, ADDRESS))
            .unwrap();
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["openapi"], "3.0.3");
    assert!(document.get("webhooks").is_none());
    let mut keywords = Vec::new();
    only_3_1(&document["paths"], &mut keywords);
    only_3_1(&document["components"], &mut keywords);
    assert!(keywords.is_empty(), "{keywords:#?}");
    let text = document.to_string();
    for reference in text.split("\"$ref\":\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(document.pointer(reference).is_some(), "{reference} leads nowhere");
    }
    assert_eq!(document["paths"].as_object().unwrap().len(), CONTRACT.document["paths"].as_object().unwrap().len());
}

#[tokio::test]
async fn the_rendition_for_3_0_and_the_catalogue_of_events_are_for_anybody() {
    let app = App::new(Db::sqlite()).await;
    assert_eq!(app.nobody().get("/api/openapi-3.0.json").await.expect(200)["openapi"], "3.0.3");
    let page = app.nobody().get("/docs/events").await;
    assert_eq!(page.status, 200);
    assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
    for event in CONTRACT.document["webhooks"].as_object().unwrap().keys() {
        assert!(page.text.contains(&format!("id=\"{event}\"")), "{event}");
    }
}

/// Checks the order of the authentication schemes: the description's page offers them in this order, and the page at
/// `/` asks users for the key.
#[test]
fn an_api_key_is_the_first_way_to_say_who_one_is() {
    let schemes = CONTRACT.document["components"]["securitySchemes"].as_object().unwrap();
    assert_eq!(schemes.keys().next().unwrap(), "apiKey");
}

#[test]
fn what_endpoints_are_sent_is_described() {
    let events = CONTRACT.document["webhooks"].as_object().unwrap();
    assert_eq!(events.len(), printfloor::domain::event::OUTBOUND.len() + 1);
    for (name, item) in events {
        let content = &item["post"]["requestBody"]["content"]["application/json"];
        let faults = CONTRACT.faults(&content["schema"], &content["example"]);
        assert!(faults.is_empty(), "{name}: {faults:#?}");
    }
}

#[tokio::test]
async fn the_pages_that_show_it_need_nobody_else() {
    let app = App::new(Db::sqlite()).await;
    let nobody = app.nobody();
    let entry = nobody.get("/docs").await;
    assert_eq!((entry.status, entry.header("location")), (308, Some("/docs/")));
    let page = nobody.get("/docs/").await;
    assert_eq!(page.status, 200);
    assert!(page.header("content-type").unwrap().starts_with("text/html"));
    assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'none'; script-src 'self';"));
    let parts: Vec<&str> = page.text.split(['"', '\'']).filter(|part| part.starts_with("./")).collect();
    assert!(parts.len() >= 5, "{}", page.text);
    assert!(!page.text.contains("://"), "{}", page.text);
    for part in parts {
        let file = nobody.get(&format!("/docs/{}", part.trim_start_matches("./"))).await;
        assert_eq!(file.status, 200, "{part}");
        assert_eq!(file.header("x-content-type-options"), Some("nosniff"));
        if std::path::Path::new(part).extension().is_some_and(|kind| kind == "css") {
            assert!(!file.text.contains("@import") && !file.text.contains("url(http"), "{part}");
        }
    }
    let start = nobody.get("/docs/swagger-initializer.js").await;
    assert!(start.text.contains("/api/openapi.json"), "{}", start.text);
    assert_eq!(nobody.get("/docs/nothing.js").await.error(404), "not_found");
}

/// Fails with the first line that differs, because the documents are too long for an error message.
fn assert_same_lines(printed: &str, expected: &str) {
    for (number, (printed, expected)) in printed.lines().zip(expected.lines()).enumerate() {
        assert_eq!(printed, expected, "line {}", number + 1);
    }
    assert!(printed == expected, "one is longer than the other");
}

#[tokio::test]
async fn the_command_line_prints_it() {
    let place = crate::cli::process::Place::new();
    let [production, billing] = [&CONTRACT, &BILLING]
        .map(|contract| openapi::json(contract.half, &contract.resources(), &contract.served, ADDRESS));
    assert_same_lines(&place.done("openapi production"), &production);
    assert_same_lines(&place.done("openapi"), &production);
    assert_same_lines(&place.done("openapi billing"), &billing);
    let accounting = place.run("openapi accounting");
    assert_eq!((accounting.code, accounting.out.as_str()), (Some(2), ""));
    let offered = "possible values: production, billing";
    assert!(accounting.err.contains(offered), "only what exists is offered: {}", accounting.err);
    assert!(!place.path().join(".env").exists(), "it makes nothing");
}
