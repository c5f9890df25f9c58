//! Promises that the published description makes to clients, line by line, compared with the previous ones: nothing
//! that a client may rely on disappears, and nothing optional becomes required. The promises cover operations, events
//! with their data, and schema names, which generated clients use as type names.
//!
//! `docs/openapi/promises.txt` contains the promises of the API, `billing-promises.txt` next to it those of the billing
//! API. `PRINTFLOOR_TEST_KEEP_PROMISES=1 cargo nextest run -E 'test(promises)'` adds new ones. A withdrawn promise is
//! visible in the diff of that file.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::support::contract::{BILLING, CONTRACT, Contract};

const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/openapi/promises.txt");
const KEPT_OF_BILLING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/openapi/billing-promises.txt");

/// Marks a required member of a request. It is the opposite of a promise: a new one breaks clients.
const NEEDS: &str = " needs ";

/// Maximum depth to which nested objects are followed; a recursive schema would otherwise never end.
const MAX_DEPTH: usize = 6;

struct Promises<'a> {
    document: &'a Value,
    /// Name of the operation or event whose promises are collected.
    operation: &'a str,
    lines: &'a mut BTreeSet<String>,
}

impl Promises<'_> {
    fn add(&mut self, words: &str) {
        self.lines.insert(format!("{} {words}", self.operation));
    }

    /// Returns the value that a `$ref` in the document refers to.
    fn resolve<'v>(&'v self, value: &'v Value) -> &'v Value {
        let place = value["$ref"].as_str().map(|place| place.trim_start_matches('#'));
        place.map_or(value, |place| self.document.pointer(place).unwrap_or_else(|| panic!("no {place}")))
    }

    /// Adds a body: its media type, the name of its schema, and its members.
    fn body(&mut self, verb: &str, media: &str, content: &Value) {
        self.add(&format!("{verb} {media}"));
        if let Some(place) = content["schema"]["$ref"].as_str() {
            let name = place.rsplit('/').next().unwrap_or_default();
            self.add(&format!("{verb} {media} as {name}"));
        }
        self.members(verb, "", &content["schema"], MAX_DEPTH);
    }

    /// Adds the members of a schema. `verb` is `takes`, `answers 201` or `sends`; required members of a request are
    /// also `needs`, those of a response or an event `always`.
    fn members(&mut self, verb: &str, path: &str, schema: &Value, depth: usize) {
        let schema = self.resolve(schema).clone();
        for one in schema["oneOf"].as_array().into_iter().flatten() {
            self.members(verb, path, one, depth);
        }
        for word in schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            self.add(&format!("{verb} {path}={word}"));
        }
        if depth == 0 {
            return;
        }
        if schema["items"].is_object() {
            self.members(verb, &format!("{path}[]"), &schema["items"], depth - 1);
        }
        if schema["additionalProperties"].is_object() {
            self.members(verb, &format!("{path}.*"), &schema["additionalProperties"], depth - 1);
        }
        let required: Vec<_> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, member) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}.{name}");
            match (verb, required.contains(&name.as_str())) {
                ("takes", true) => self.add(&format!("takes {path}\n{}{NEEDS}{path}", self.operation)),
                (_, true) => self.add(&format!("{verb} {path} always")),
                (_, false) => self.add(&format!("{verb} {path}")),
            }
            self.members(verb, &path, member, depth - 1);
        }
    }
}

fn promises(document: &Value) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let operation_id = operation["operationId"].as_str().unwrap();
            let mut of = Promises { document, operation: operation_id, lines: &mut lines };
            of.add(&format!("is {} {path}", method.to_uppercase()));
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let (name, place) = (parameter["name"].as_str().unwrap(), parameter["in"].as_str().unwrap());
                of.add(&format!("takes {place} {name}"));
                if parameter["required"] == true {
                    of.add(&format!("needs {place} {name}"));
                }
                of.members("takes", &format!("{place} {name}"), &parameter["schema"], 1);
            }
            for (media, content) in operation["requestBody"]["content"].as_object().into_iter().flatten() {
                of.body("takes", media, content);
            }
            if operation["requestBody"]["required"] == true {
                of.add("needs body");
            }
            for (status, answer) in operation["responses"].as_object().unwrap() {
                let answer = of.resolve(answer).clone();
                of.add(&format!("answers {status}"));
                let words = answer["description"].as_str().unwrap_or_default();
                for code in words.lines().filter_map(|line| line.strip_prefix("- `")?.split('`').next()) {
                    of.add(&format!("answers {status} {code}"));
                }
                for header in answer["headers"].as_object().into_iter().flatten().map(|(name, _)| name) {
                    of.add(&format!("answers {status} header {header}"));
                }
                if status.starts_with('2') {
                    for (media, content) in answer["content"].as_object().into_iter().flatten() {
                        of.body(&format!("answers {status}"), media, content);
                    }
                }
            }
        }
    }
    for (event, item) in document["webhooks"].as_object().into_iter().flatten() {
        let operation = &item["post"];
        let operation_id = operation["operationId"].as_str().unwrap();
        let mut of = Promises { document, operation: operation_id, lines: &mut lines };
        of.add(&format!("is event {event}"));
        for header in operation["parameters"].as_array().into_iter().flatten() {
            of.add(&format!("sends {} {}", header["in"].as_str().unwrap(), header["name"].as_str().unwrap()));
        }
        for (media, content) in operation["requestBody"]["content"].as_object().unwrap() {
            of.body("sends", media, content);
        }
    }
    for name in document["components"]["schemas"].as_object().unwrap().keys() {
        lines.insert(format!("schema {name}"));
    }
    lines.iter().flat_map(|line| line.split('\n').map(str::to_owned)).collect()
}

fn is_need(line: &str) -> bool {
    line.contains(NEEDS)
}

/// Lists the differences that break clients written for the previous promises.
fn broken(existing: &BTreeSet<String>, current: &BTreeSet<String>) -> Vec<String> {
    let operation = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
    let operations: BTreeSet<String> = existing.iter().map(|line| operation(line)).collect();
    let gone = existing.difference(current).filter(|line| !is_need(line)).map(|line| format!("gone: {line}"));
    let needed = current.difference(existing).filter(|line| is_need(line) && operations.contains(&operation(line)));
    gone.chain(needed.map(|line| format!("now required: {line}"))).collect()
}

#[test]
fn promises_to_clients_are_kept() {
    are_kept(&CONTRACT, KEPT);
}

#[test]
fn promises_to_clients_of_the_billing_api_are_kept() {
    are_kept(&BILLING, KEPT_OF_BILLING);
}

fn are_kept(contract: &Contract, file: &str) {
    let current = promises(&contract.document);
    let existing = std::fs::read_to_string(Path::new(file)).unwrap_or_default();
    let existing: BTreeSet<String> = existing.lines().map(str::to_owned).collect();
    if std::env::var("PRINTFLOOR_TEST_KEEP_PROMISES").is_ok_and(|word| word == "1") {
        std::fs::write(file, current.iter().flat_map(|line| [line, "\n"]).collect::<String>()).unwrap();
        return;
    }
    let broken = broken(&existing, &current);
    assert!(broken.is_empty(), "clients written for the description of before break:\n{}", broken.join("\n"));
    let new: Vec<_> = current.difference(&existing).collect();
    assert!(new.is_empty(), "new promises are not kept yet, see the head of this test's file: {new:#?}");
}

#[test]
fn a_promise_taken_back_is_noticed() {
    let current = promises(&CONTRACT.document);
    assert!(current.len() > 3000, "{}", current.len());
    let create = "/paths/~1api~1skus/post";
    let taken_back = |place: &str, change: fn(&mut Value)| {
        let mut document = CONTRACT.document.clone();
        change(document.pointer_mut(&format!("{create}{place}")).unwrap());
        broken(&current, &promises(&document))
    };
    assert_eq!(taken_back("", |_| ()), [""; 0]);
    let one = taken_back("/responses", |answers| drop(answers.as_object_mut().unwrap().remove("422")));
    assert!(one.contains(&"gone: createSku answers 422 idempotency_key_reused".to_owned()), "{one:?}");
    let name = taken_back("/operationId", |name| *name = "addSku".into());
    assert!(name.contains(&"gone: createSku is POST /api/skus".to_owned()), "{name:?}");
    let key = taken_back("/parameters/0", |parameter| parameter["required"] = true.into());
    assert_eq!(key, ["now required: createSku needs header Idempotency-Key"]);
}

#[test]
fn an_event_or_a_name_taken_back_is_noticed() {
    let current = promises(&CONTRACT.document);
    let without = |place: &str, member: &str| {
        let mut document = CONTRACT.document.clone();
        drop(document.pointer_mut(place).unwrap().as_object_mut().unwrap().remove(member).unwrap());
        broken(&current, &promises(&document))
    };
    let event = without("/webhooks", "order.created");
    assert!(event.contains(&"gone: onOrderCreated is event order.created".to_owned()), "{event:?}");
    let member = without("/components/schemas/OrderEventData/properties", "number");
    assert!(member.contains(&"gone: onOrderCreated sends .data.number always".to_owned()), "{member:?}");
    let mut document = CONTRACT.document.to_string();
    document = document.replace("/schemas/OrderEventData\"", "/schemas/OrderFacts\"");
    document = document.replace("\"OrderEventData\":", "\"OrderFacts\":");
    let renamed = broken(&current, &promises(&serde_json::from_str(&document).unwrap()));
    assert_eq!(renamed, ["gone: schema OrderEventData"]);
    let mut document = CONTRACT.document.clone();
    let body = "/paths/~1api~1skus/post/requestBody/content/application~1json/schema";
    let schema = document.pointer_mut(body).unwrap();
    *schema = CONTRACT.resolve(schema).clone();
    let unnamed = broken(&current, &promises(&document));
    assert!(matches!(&*unnamed, [one] if one.starts_with("gone: createSku takes application/json as ")), "{unnamed:?}");
}
