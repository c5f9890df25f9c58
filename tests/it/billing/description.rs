//! The description of the billing API: complete and accurate.

use std::collections::BTreeSet;

use printfloor::http::openapi;
use serde_json::{Value, json};

use crate::support::contract::BILLING;
use crate::support::{App, Db};

/// Schema names that the contract prescribes.
const NAMED: [&str; 16] = [
    "CustomerProfile",
    "UpdateProfileRequest",
    "OrderSummary",
    "OrderDetail",
    "OrderKind",
    "OrderStatus",
    "DraftOrderRequest",
    "CheckoutRequest",
    "CheckoutResponse",
    "Subscription",
    "SubscriptionDetail",
    "SubscriptionCheckoutRequest",
    "PortalRequest",
    "Pagination",
    "MagicLinkRequest",
    "SuccessResponse",
];

fn operations() -> Vec<(String, &'static str, &'static Value)> {
    let paths = BILLING.document["paths"].as_object().unwrap();
    let of = |(path, item): (&'static String, &'static Value)| {
        let operations = item.as_object().unwrap().iter();
        operations.map(move |(method, operation)| (method.to_uppercase(), path.as_str(), operation))
    };
    paths.iter().flat_map(of).collect()
}

#[test]
fn every_route_is_described_and_every_description_has_a_route() {
    let misfits = openapi::misfits(&BILLING.resources(), &BILLING.served);
    assert!(misfits.is_empty(), "{misfits:#?}");
}

#[tokio::test]
async fn the_server_shows_it_to_anybody() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_SERVER__PUBLIC_URL", "https://shop.example").start().await;
    let answer = app.nobody().get("/api/v1/openapi.json").await;
    assert_eq!(answer.header("cache-control"), Some("public, max-age=3600"));
    let document = answer.expect(200);
    assert_eq!((&document["openapi"], &document["info"]["version"]), (&json!("3.1.0"), &json!("1.0.0")));
    assert_eq!(document["servers"], json!([{"url": "https://shop.example"}]));
    assert_eq!(document["paths"], BILLING.document["paths"]);
}

#[test]
fn every_operation_is_documented_and_preflights_are_none() {
    let mut ids = BTreeSet::new();
    for (method, path, operation) in operations() {
        let what = format!("{method} {path}");
        let id = operation["operationId"].as_str().unwrap_or_else(|| panic!("{what} has no operationId"));
        assert!(ids.insert(id), "{what}: {id} is the name of two operations");
        assert!(id.chars().all(|c| c.is_ascii_alphanumeric()), "{what}: {id}");
        assert!(!operation["summary"].as_str().unwrap_or_default().is_empty(), "{what}");
        assert_eq!(operation["tags"].as_array().map(Vec::len), Some(1), "{what}");
        // Browsers ask by themselves; the contract lists the question at one path.
        assert_eq!(BILLING.document["paths"][path]["options"].is_object(), path == "/api/v1/me", "{path}");
        for (status, answer) in operation["responses"].as_object().unwrap() {
            let answer = BILLING.resolve(answer);
            for name in ["X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining"] {
                assert!(answer["headers"].get(name).is_some(), "{what} {status}: {name}");
            }
            let Some(content) = answer["content"].get("application/json") else { continue };
            if status.starts_with('2') && path != "/api/v1/openapi.json" {
                let schema = BILLING.resolve(&content["schema"]);
                assert!(schema["required"].as_array().unwrap().contains(&json!("success")), "{what}");
            }
        }
    }
}

#[test]
fn examples_are_what_they_are_examples_of() {
    let mut count = 0;
    let mut hold = |what: &str, content: &Value| {
        let one = content.get("example").into_iter();
        let many = content["examples"].as_object().into_iter().flatten().map(|(_, example)| &example["value"]);
        for example in one.chain(many) {
            let faults = BILLING.faults(&content["schema"], example);
            assert!(faults.is_empty(), "{what}: {faults:#?}\n{example}");
            count += 1;
        }
    };
    for (method, path, operation) in operations() {
        let what = format!("{method} {path}");
        for (media, content) in operation["requestBody"]["content"].as_object().into_iter().flatten() {
            assert!(media != "application/json" || content.get("example").is_some(), "{what}");
            hold(&what, content);
        }
        for answer in operation["responses"].as_object().unwrap().values() {
            for content in BILLING.resolve(answer)["content"].as_object().into_iter().flatten().map(|(_, one)| one) {
                hold(&what, content);
            }
        }
    }
    assert!(count > 100, "{count}");
}

#[test]
fn every_reference_leads_somewhere_and_every_component_is_used() {
    fn references<'a>(value: &'a Value, places: &mut BTreeSet<&'a str>) {
        match value {
            Value::Object(members) => {
                places.extend(members.get("$ref").and_then(Value::as_str));
                members.values().for_each(|value| references(value, places));
            }
            Value::Array(items) => items.iter().for_each(|value| references(value, places)),
            _ => {}
        }
    }
    let mut places = BTreeSet::new();
    references(&BILLING.document, &mut places);
    for place in &places {
        assert!(BILLING.document.pointer(place.trim_start_matches('#')).is_some(), "{place} leads nowhere");
    }
    for kind in ["schemas", "headers", "responses"] {
        for name in BILLING.document["components"][kind].as_object().unwrap().keys() {
            assert!(places.contains(format!("#/components/{kind}/{name}").as_str()), "nothing uses {name} of {kind}");
        }
    }
    let schemas = BILLING.document["components"]["schemas"].as_object().unwrap();
    for (name, schema) in schemas {
        jsonschema::meta::validate(schema).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    for name in NAMED {
        assert!(schemas.contains_key(name), "there is no {name}");
    }
}
