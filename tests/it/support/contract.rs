//! Checks every response that tests receive against the API description of its half: the status is documented for the
//! operation, and the body has the documented shape without further members. The whole test suite thus verifies that
//! the description is accurate.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};
use std::{fs, process};

use jsonschema::Validator;
use printfloor::config::Config;
use printfloor::http::openapi::half::Half;
use printfloor::http::operation::DescribedResource;
use printfloor::http::{billing, openapi, production, resources, routes::ServedRoute};
use printfloor::store::rows::samples::{remove_stale_files, test_run};
use reqwest::header::HeaderMap;
use serde_json::{Value, json};

/// Base URL in the description.
pub const ADDRESS: &str = "http://127.0.0.1:8787";

/// Prefix of the files that contain descriptions; the half and the run follow.
const FILE_PREFIX: &str = "description-";

/// Description of one half of the API, and the routes that the server serves.
pub struct Contract {
    /// Half of the API that this value describes.
    pub half: Half,
    /// Name of the error schema.
    error: &'static str,
    /// Routes that the server serves.
    pub served: Vec<ServedRoute>,
    /// OpenAPI document.
    pub document: Value,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
    /// Cache of the routes for each requested path, as indices into `served`.
    routes: Mutex<HashMap<String, Vec<usize>>>,
}

/// Contract of the shop's half in this build.
pub static CONTRACT: LazyLock<Contract> =
    LazyLock::new(|| Contract::new(Half::Production, "Error", production::routes(&Config::default()).served()));
/// The customers' half of this build.
pub static BILLING: LazyLock<Contract> =
    LazyLock::new(|| Contract::new(Half::Billing, "ErrorResponse", billing::routes().served()));

/// Forbids further members in every object that lists its members and does not allow more.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.values_mut().for_each(close);
            if members.get("properties").is_some_and(Value::is_object) && members.get("type").is_some() {
                members.entry("additionalProperties").or_insert(json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

/// Returns the description of one half. The first tests of a run derive it and write it to a file; the others, which
/// are separate processes, read the file in a fraction of that time.
fn document_of_run(half: Half, derive: impl FnOnce() -> Value) -> Value {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(format!("{FILE_PREFIX}{half:?}-{}", test_run()));
    if let Ok(text) = fs::read(&file) {
        return serde_json::from_slice(&text).expect("a description");
    }
    let document = derive();
    let unfinished = folder.join(format!("{FILE_PREFIX}{half:?}-of-process-{}", process::id()));
    fs::write(&unfinished, document.to_string()).unwrap();
    remove_stale_files(FILE_PREFIX, &unfinished);
    fs::rename(&unfinished, &file).unwrap();
    document
}

impl Contract {
    fn new(half: Half, error: &'static str, served: Vec<ServedRoute>) -> Self {
        let document = document_of_run(half, || {
            let description = openapi::document(half, &resources(half), &served, ADDRESS);
            serde_json::to_value(description).expect("a description")
        });
        let (validators, routes) = Default::default();
        Self { half, error, served, document, validators, routes }
    }

    /// Returns all resources that the description of this half contains.
    pub fn resources(&self) -> Vec<DescribedResource> {
        resources(self.half)
    }

    /// Returns the description of the half that a path belongs to.
    fn of(path: &str) -> &'static Self {
        match Half::of(path) {
            Half::Production => &CONTRACT,
            Half::Billing => &BILLING,
        }
    }

    /// Returns an operation of the description.
    pub fn operation(&self, route: &ServedRoute) -> &Value {
        let path = openapi::derive::path(route);
        &self.document["paths"][&path][route.method.as_str().to_lowercase()]
    }

    /// Resolves a `$ref` of the document.
    pub fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str() {
            Some(place) => self.document.pointer(place.trim_start_matches('#')).unwrap_or_else(|| panic!("no {place}")),
            None => value,
        }
    }

    /// Lists the errors in a value according to a schema.
    pub fn faults(&self, schema: &Value, value: &Value) -> Vec<String> {
        faults_of(&self.validator(schema), value)
    }

    /// Returns the validator for a schema. Callers that check many values against one schema should keep it, because
    /// looking it up again copies the schema and serialises it.
    pub fn validator(&self, schema: &Value) -> Arc<Validator> {
        let mut schema = schema.clone();
        close(&mut schema);
        let key = schema.to_string();
        let existing = self.validators.lock().unwrap().get(&key).cloned();
        existing.unwrap_or_else(|| {
            let components = self.components_of(&schema);
            schema["components"] = components;
            let validator = jsonschema::options().should_validate_formats(true).build(&schema);
            let validator = Arc::new(validator.unwrap_or_else(|error| panic!("not a schema ({error}): {key}")));
            self.validators.lock().unwrap().insert(key, validator.clone());
            validator
        })
    }

    /// Returns the components that a schema refers to, directly or indirectly, with every object closed, because
    /// responses must not contain what is not described. A validator with only these is built in a fraction of the
    /// time.
    fn components_of(&self, schema: &Value) -> Value {
        let (mut components, mut to_read) = (json!({}), vec![schema]);
        while let Some(value) = to_read.pop() {
            match value {
                Value::Object(members) => to_read.extend(members.values()),
                Value::Array(items) => to_read.extend(items),
                _ => {}
            }
            let Some(place) = value["$ref"].as_str().and_then(|place| place.strip_prefix("#/components/")) else {
                continue;
            };
            let (sort, name) = place.split_once('/').unwrap_or_else(|| panic!("no component: {place}"));
            if components[sort][name].is_null() {
                let component = &self.document["components"][sort][name];
                assert!(!component.is_null(), "no component {place}");
                let mut strict = component.clone();
                if sort == "schemas" {
                    close(&mut strict);
                }
                components[sort][name] = strict;
                to_read.push(component);
            }
        }
        components
    }

    /// Lists the routes that match a path; the one without parameters first, as in the router.
    fn routes(&self, path: &str) -> Vec<&ServedRoute> {
        let mut routes = self.routes.lock().unwrap();
        let places = routes.entry(path.to_owned()).or_insert_with(|| self.find_routes(path));
        places.iter().map(|place| &self.served[*place]).collect()
    }

    fn find_routes(&self, path: &str) -> Vec<usize> {
        let all: Vec<usize> = (0..self.served.len()).filter(|place| matches(&self.served[*place], path)).collect();
        let literal: Vec<usize> = all.iter().copied().filter(|place| self.served[*place].path == path).collect();
        if literal.is_empty() { all } else { literal }
    }

    fn conforms(&self, what: &str, schema: &Value, body: Option<&str>) {
        let Some(body) = body else { return };
        let value = bounded_json::read(body.as_bytes(), bounded_json::ANSWER);
        let value = value.unwrap_or_else(|error| panic!("{what}: no JSON ({error}): {body}"));
        let faults = self.faults(schema, &value);
        let list = faults.join("\n  ");
        assert!(faults.is_empty(), "{what}: the body is not of the described shape:\n  {list}\n{body}");
    }
}

/// Lists the errors that a validator finds in a value.
pub fn faults_of(validator: &Validator, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|fault| format!("{}: {fault}", fault.instance_path())).collect()
}

/// Returns whether a path matches a route.
fn matches(route: &ServedRoute, path: &str) -> bool {
    let (mut pattern, mut parts) = (route.path.split('/'), path.split('/'));
    loop {
        match (pattern.next(), parts.next()) {
            (None, None) => return true,
            (Some(name), Some(part)) if name.starts_with("{*") => return !part.is_empty(),
            (Some(name), Some(part)) if name == part || (name.starts_with('{') && !part.is_empty()) => {}
            _ => return false,
        }
    }
}

/// Panics unless the description allows this response. `body` is `None` if the body is not read.
pub fn check(method: &str, path: &str, status: u16, headers: &HeaderMap, body: Option<&str>) {
    if !["/api", "/slicer", "/webhooks", "/healthz", "/readyz", "/metrics"]
        .iter()
        .any(|prefix| path.starts_with(prefix))
    {
        return;
    }
    let what = format!("{method} {path} {status}");
    assert!(headers.contains_key("x-request-id"), "{what}: no X-Request-Id");
    let contract = Contract::of(path);
    let routes = contract.routes(path);
    let Some(route) = routes.iter().find(|route| route.method.as_str() == method) else {
        // A HEAD is answered as a GET, and browsers ask OPTIONS of every path of the billing API by themselves; what
        // else is no operation is refused in the one shape.
        let is_preflight = method == "OPTIONS" && path.starts_with("/api/v1/") && !routes.is_empty();
        if method != "HEAD" && !is_preflight {
            let refused = if routes.is_empty() { 404 } else { 405 };
            assert!([refused, 429, 503].contains(&status), "{what}: it is no operation");
            contract.conforms(&what, &json!({"$ref": format!("#/components/schemas/{}", contract.error)}), body);
        }
        return;
    };
    for name in ["x-ratelimit-limit", "x-ratelimit-remaining"] {
        let counted = openapi::derive::rate_limited(route);
        assert!(!counted || headers.contains_key(name), "{what}: no {name}");
    }
    let operation = contract.operation(route);
    let what = format!("{} ({what})", operation["operationId"].as_str().unwrap_or("not described"));
    let answer = &operation["responses"][status.to_string()];
    assert!(!answer.is_null(), "{what}: this status is not described; the body was {body:?}");
    let answer = contract.resolve(answer);
    for name in ["ETag", "Location", "Retry-After", "Allow"] {
        let is_described = answer["headers"].get(name).is_some();
        assert!(!is_described || headers.contains_key(name), "{what}: the header {name} is described and missing");
    }
    let Some(content) = answer["content"].as_object() else {
        assert!(body.is_none_or(str::is_empty), "{what}: a body where none is described: {body:?}");
        return;
    };
    let media = headers.get("content-type").map(|value| value.to_str().unwrap_or_default()).unwrap_or_default();
    let media = media.split(';').next().unwrap_or_default();
    let described = content.get(media).unwrap_or_else(|| panic!("{what}: {media:?} is not described"));
    if media == "application/json" {
        contract.conforms(&what, &described["schema"], body);
    }
}
