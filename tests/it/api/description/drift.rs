//! Agreement of server and description about request bodies: bodies are generated from the example and schema of each
//! operation, corrupted in one or two places, and validated by both. The results must be the same.

use printfloor::http::operation::DescribedOperation;
use serde_json::{Map, Value, json};

use crate::support::contract::{BILLING, CONTRACT, Contract, faults_of};

/// Messages of rejections that a schema cannot express, each with the reason.
const INTENDED: [(&str, &str); 9] = [
    (" bytes, not ", "a schema counts characters, the server bytes"),
    ("must not be empty", "a schema counts characters, the server asks for one that is no blank"),
    (
        "at most three decimals",
        "`multipleOf: 0.001` is not exact in floating-point numbers: many validators refuse 0.3",
    ),
    (
        "single lines of at most",
        "a schema counts characters of a line, the server bytes; it also asks for one line, not blank",
    ),
    (" for this type", "the unit belongs to the type: a rule of two members"),
    ("must be at most 1024 bytes", "a schema counts characters; to hash a password takes time for each byte"),
    ("unless the carrier is pickup", "what must be there follows from another member"),
    ("unless the SKU is a kit", "what must be there follows from another member: a product with components is a kit"),
    ("must be a whole number", "1.0 is a whole number to a schema; the server asks for 1"),
];

/// Lists the operations whose bodies are validated exactly as described, each with the schema of its body.
fn operations() -> Vec<(DescribedOperation, &'static Value)> {
    [&*CONTRACT, &*BILLING].into_iter().flat_map(operations_of).collect()
}

fn operations_of(contract: &'static Contract) -> Vec<(DescribedOperation, &'static Value)> {
    let all = contract.resources().into_iter().flat_map(|resource| resource.operations);
    let read = all.filter(|operation| operation.read_body.is_some());
    let schema = |operation: DescribedOperation| {
        let route =
            contract.served.iter().find(|route| route.path == operation.path && route.method == operation.method);
        let body = &contract.operation(route.unwrap())["requestBody"]["content"]["application/json"];
        assert_eq!(body["example"], *operation.body.as_ref().unwrap().example.as_ref().unwrap(), "{}", operation.id);
        // Both documents name shapes; without names it does not matter which of them is asked.
        let schema: &'static Value = Box::leak(Box::new(inlined(contract, &body["schema"])));
        (operation, schema)
    };
    read.map(schema).collect()
}

/// Returns a schema with all references replaced by their targets.
fn inlined(contract: &Contract, schema: &Value) -> Value {
    match contract.resolve(schema) {
        Value::Object(members) => {
            members.iter().map(|(name, member)| (name.clone(), inlined(contract, member))).collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.iter().map(|item| inlined(contract, item)).collect(),
        other => other.clone(),
    }
}

/// Returns a schema with its reference resolved and without the null alternative.
fn resolved(schema: &'static Value) -> &'static Value {
    let schema = CONTRACT.resolve(schema);
    match schema["oneOf"].as_array() {
        Some(choices) => resolved(choices.iter().find(|choice| choice["type"] != "null").unwrap()),
        None => schema,
    }
}

fn is(schema: &Value, kind: &str) -> bool {
    schema["type"] == kind || schema["type"].as_array().is_some_and(|kinds| kinds.iter().any(|entry| entry == kind))
}

/// Generates a valid value for a schema; `None` if the schema has a pattern.
fn sample(schema: &'static Value) -> Option<Value> {
    let schema = resolved(schema);
    if let Some(word) = schema["enum"].as_array().and_then(|words| words.first()) {
        return Some(word.clone());
    }
    let value = match () {
        () if schema["format"] == "uuid" => json!("01890a5d-ac96-774b-bcce-b302099a8061"),
        () if schema["format"] == "date-time" => json!("2026-11-01T08:00:00Z"),
        () if schema["pattern"].is_string() => return None,
        () if is(schema, "string") => json!("a"),
        () if is(schema, "integer") || is(schema, "number") => json!(1),
        () if is(schema, "boolean") => json!(true),
        () if is(schema, "array") => json!([sample(&schema["items"])?]),
        () => {
            let members = schema["properties"].as_object().into_iter().flatten();
            members.filter_map(|(name, member)| Some((name.clone(), sample(member)?))).collect::<Map<_, _>>().into()
        }
    };
    Some(value)
}

/// Generates values around the limits of a schema, and values of every other type.
fn spoilt(schema: &'static Value, present: Option<&Value>) -> Vec<Value> {
    let schema = resolved(schema);
    let mut all = vec![json!(null), json!(true), json!("x"), json!(-1), json!(0), json!(1), json!(1.5), json!(1.0)];
    all.extend([json!(0.0005), json!([]), json!([1]), json!({}), json!({"x": 1}), json!(""), json!("  ")]);
    for most in [&schema["maxLength"], &json!(3)].into_iter().filter_map(Value::as_u64) {
        for length in [most - 1, most, most + 1] {
            all.extend(["a", "é"].map(|letter| json!(letter.repeat(length as usize))));
        }
    }
    for word in ["-a", "a-", "a b", "a-b-1", "USD", "usd", "usdd", "#10aF10", "10aF10", "usd\n", "lunar", "yesterday"] {
        all.push(json!(word));
    }
    for bound in ["minimum", "maximum", "exclusiveMinimum"].into_iter().filter_map(|name| schema[name].as_f64()) {
        all.extend([bound - 1.0, bound, bound + 1.0].map(|number| json!(number as i64)));
        all.extend([bound - 0.001, bound + 0.001].map(|number| json!((number * 1000.0).round() / 1000.0)));
    }
    all.extend(schema["enum"].as_array().into_iter().flatten().cloned());
    if is(schema, "array") {
        let item = sample(&schema["items"]).unwrap();
        let most = schema["maxItems"].as_u64().unwrap_or(3) as usize;
        all.extend([most - 1, most, most + 1].map(|length| json!(vec![item.clone(); length])));
        all.extend(spoilt(&schema["items"], None).into_iter().map(|value| json!([item, value])));
    }
    if let Some(whole) = present.cloned().or_else(|| sample(schema)).filter(Value::is_object) {
        all.extend(bodies(schema, &whole));
    }
    all
}

/// Generates bodies in which one member is corrupted in every possible way, removed, or accompanied by an unknown one.
fn bodies(schema: &'static Value, whole: &Value) -> Vec<Value> {
    let mut all = vec![whole.clone()];
    let mut changed = |change: &dyn Fn(&mut Map<String, Value>)| {
        let mut body = whole.as_object().unwrap().clone();
        change(&mut body);
        all.push(body.into());
    };
    changed(&|members| drop(members.insert("surprise".to_owned(), json!(1))));
    for (name, member) in resolved(schema)["properties"].as_object().into_iter().flatten() {
        changed(&|members| drop(members.remove(name)));
        for value in spoilt(member, whole.get(name)) {
            changed(&|members| drop(members.insert(name.clone(), value.clone())));
        }
    }
    all
}

/// Combines the members of two corrupted bodies at a time; the pairs are chosen by a random generator with a fixed
/// seed.
fn pairs(bodies: &[Value], count: usize) -> Vec<Value> {
    let mut random = fastrand::Rng::with_seed(7);
    let mut pair = || {
        let mut one = bodies[random.usize(..bodies.len())].as_object().unwrap().clone();
        for (name, value) in bodies[random.usize(..bodies.len())].as_object().unwrap() {
            if random.bool() {
                one.insert(name.clone(), value.clone());
            }
        }
        Value::Object(one)
    };
    (0..count).map(|_| pair()).collect()
}

#[test]
fn the_server_reads_what_the_description_says() {
    let (mut refusals, mut accepted) = (0, 0);
    for (operation, schema) in operations() {
        let example = operation.body.as_ref().unwrap().example.clone().unwrap();
        let mut full = sample(schema).unwrap();
        full.as_object_mut().unwrap().extend(example.as_object().unwrap().clone());
        let mut all = [bodies(schema, &example), bodies(schema, &full), vec![json!({})]].concat();
        all.extend(pairs(&all, 1000));
        let validator = CONTRACT.validator(schema);
        for body in all {
            let read = (operation.read_body.unwrap())(body.to_string().as_bytes());
            let is_described = validator.is_valid(&body);
            let intended = |error: &Value| {
                let message = error["message"].as_str().unwrap();
                INTENDED.iter().any(|(phrase, _)| message.contains(phrase))
            };
            match read {
                Ok(()) => {
                    let id = &operation.id;
                    assert!(is_described, "{id} accepts {body}, described: {:#?}", faults_of(&validator, &body));
                }
                Err(error) => {
                    let answer = error.body();
                    let all = answer["errors"].as_array().unwrap_or_else(|| panic!("{answer}")).iter().all(intended);
                    assert!(!is_described || all, "{} refuses {body}: {answer:#}", operation.id);
                    refusals += usize::from(!is_described);
                    continue;
                }
            }
            accepted += 1;
        }
    }
    assert!(refusals > 3000 && accepted > 500, "{refusals} refused, {accepted} accepted");
}

#[test]
fn a_member_that_is_there_twice_is_refused_everywhere() {
    for (operation, _) in operations() {
        let example = operation.body.as_ref().unwrap().example.clone().unwrap();
        for (name, value) in example.as_object().unwrap() {
            let text = example.to_string();
            let twice = format!("{},{}:{value}}}", text.strip_suffix('}').unwrap(), json!(name));
            let error = (operation.read_body.unwrap())(twice.as_bytes()).unwrap_err();
            assert_eq!(error.body()["errors"], json!([{"path": name, "message": "is present more than once"}]));
        }
    }
}

#[test]
fn a_change_has_no_defaults_and_requires_nothing() {
    let changes = operations().into_iter().filter(|(operation, _)| operation.method == "PATCH");
    for (operation, schema) in changes {
        let schema = resolved(schema);
        assert!(schema["required"].is_null(), "{}", operation.id);
        for (name, member) in schema["properties"].as_object().unwrap() {
            assert!(member["default"].is_null(), "{}: {name}", operation.id);
        }
    }
}
