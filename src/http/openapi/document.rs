//! Assembles the document from routes, derived properties and descriptions.

use axum::http::Method;
use serde_json::{Value, json};
use utoipa::openapi::example::ExampleBuilder;
use utoipa::openapi::extensions::{Extensions, ExtensionsBuilder};
use utoipa::openapi::path::{OperationBuilder, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::{
    Components, ComponentsBuilder, Content as Media, ContentBuilder, HttpMethod, Info, License, OpenApi,
    OpenApiBuilder, PathItem, Paths, Ref, RefOr, Required, Response, ResponseBuilder, SecurityRequirement, Server,
    tag::TagBuilder,
};

use super::derive::{self, Code};
use super::half::Half;
use super::shape::{Shape, named, text_of};
use super::{catalogue, shared};
use crate::access::RequiredAccess;
use crate::operation::{
    DescribedBody, DescribedContent, DescribedError, DescribedOperation, DescribedResource, NamedSchema, get,
};
use crate::routes::ServedRoute;

/// Builds the document for the given routes, with `public_url` as the server's URL.
pub fn document(half: Half, resources: &[DescribedResource], served: &[ServedRoute], public_url: &str) -> OpenApi {
    let book = ComponentTable::new(half, resources);
    let mut paths = Paths::new();
    for route in served {
        let item = PathItem::new(method(&route.method), book.operation(route, resources));
        let path = derive::path(route);
        match paths.paths.get_mut(&path) {
            Some(existing) => existing.merge_operations(item),
            None => drop(paths.paths.insert(path, item)),
        }
    }
    let mut info = Info::new(half.title(), half.version());
    info.description = Some(half.about().to_owned());
    let mut license = License::new("MIT OR Apache-2.0");
    license.identifier = Some("MIT OR Apache-2.0".to_owned());
    info.license = Some(license);
    // Several files may describe operations of one tag; the first says what it is about.
    let mut tags = Vec::<&DescribedResource>::new();
    for resource in resources {
        if !tags.iter().any(|existing| existing.tag == resource.tag) {
            tags.push(resource);
        }
    }
    let tag =
        |resource: &DescribedResource| TagBuilder::new().name(resource.tag).description(Some(resource.about)).build();
    let components = book.components(&paths);
    let document = OpenApiBuilder::new()
        .info(info)
        .servers(Some([Server::new(public_url)]))
        .tags(Some(tags.into_iter().map(tag)))
        .components(Some(components))
        .paths(paths);
    let webhooks = (half == Half::Production).then(catalogue::webhooks);
    document.webhooks(webhooks).build()
}

fn method(method: &Method) -> HttpMethod {
    match *method {
        Method::POST => HttpMethod::Post,
        Method::PATCH => HttpMethod::Patch,
        Method::DELETE => HttpMethod::Delete,
        Method::OPTIONS => HttpMethod::Options,
        _ => HttpMethod::Get,
    }
}

/// Lookup table of the document's named components.
struct ComponentTable {
    half: Half,
    shapes: Vec<(&'static str, Shape, Value)>,
    /// Errors shared by several operations: name, status, codes.
    errors: Vec<(String, u16, Vec<Code>)>,
}

impl ComponentTable {
    fn new(half: Half, resources: &[DescribedResource]) -> Self {
        let shared = shared::shapes(half);
        let mut shapes = Vec::<(&'static str, Shape, Value)>::new();
        let events = if half == Half::Production { catalogue::schemas() } else { Vec::new() };
        let of_resources = resources.iter().flat_map(|resource| &resource.shapes);
        for NamedSchema { name, shape, example } in shared.iter().chain(of_resources).chain(&events) {
            // Several resources may refer to the same type.
            if !shapes.iter().any(|(existing, ..)| existing == name) {
                shapes.push((name, shape.clone(), example.clone()));
            }
        }
        Self { half, shapes, errors: shared_errors(half, resources) }
    }

    fn find(&self, name: &str) -> Option<&(&'static str, Shape, Value)> {
        self.shapes.iter().find(|(existing, ..)| *existing == name)
    }

    fn example(&self, name: &str) -> Value {
        self.find(name).map_or(Value::Null, |(_, _, example)| example.clone())
    }

    /// Returns the named components, with only the responses and headers referenced by the given paths.
    fn components(&self, paths: &Paths) -> Components {
        let mut components = ComponentsBuilder::new();
        for (name, shape, _) in &self.shapes {
            components = components.schema(*name, shape.clone());
        }
        for (name, scheme) in shared::security_schemes(self.half) {
            components = components.security_scheme(name, scheme);
        }
        let mut text = serde_json::to_string(paths).unwrap_or_default();
        let refers = |text: &str, kind: &str, name: &str| text.contains(&format!("\"#/components/{kind}/{name}\""));
        for (name, status, codes) in &self.errors {
            if refers(&text, "responses", name) {
                let error = self.error_itself(*status, codes);
                text += &serde_json::to_string(&error).unwrap_or_default();
                components = components.response(name, error);
            }
        }
        for (name, header) in shared::headers(self.half) {
            if refers(&text, "headers", name) {
                components = components.header(name, header);
            }
        }
        components.build()
    }

    fn operation(&self, route: &ServedRoute, resources: &[DescribedResource]) -> utoipa::openapi::path::Operation {
        let is = |described: &&DescribedOperation| described.method == route.method && described.path == route.path;
        let description = resources.iter().find_map(|resource| Some((resource, resource.operations.iter().find(is)?)));
        let bare = get(route.path, "", "Not described yet.");
        let (resource, described) =
            description.map_or((None, &bare), |(resource, described)| (Some(resource), described));
        let kind = described.kind.or(resource.map(|resource| resource.kind)).unwrap_or("resource");
        let has_version = |name: &str| self.find(name).is_some_and(|(_, shape, _)| shape.has_member("version"));
        let versioned = derive::versioned(described, has_version);

        let mut operation = OperationBuilder::new()
            .summary(Some(described.summary))
            .extensions(Some(ExtensionsBuilder::new().add("x-roles", derive::roles(route.need)).build()));
        if let Some(resource) = resource {
            operation = operation.tag(resource.tag).operation_id(Some(described.id.as_ref()));
        }
        if !described.about.is_empty() {
            operation = operation.description(Some(described.about));
        }
        operation = secured(operation, route.need, described.by_token);
        operation = parameters(operation, route, described, kind, versioned);
        if let Some(body) = &described.body {
            operation = operation.request_body(Some(request_body(body)));
        }
        if description.is_some() {
            let (status, content) = &described.answer;
            operation =
                operation.response(status.to_string(), self.success(route, described, *status, content, versioned));
        }
        for (status, codes) in derive::errors(route, described, kind, versioned) {
            operation = operation.response(status.to_string(), self.error(status, &codes));
        }
        for (status, when, shape, example) in &described.others {
            let content = json_content(shape.clone(), example.clone());
            let response = ResponseBuilder::new().description(*when).content("application/json", content);
            let response = with_headers_of(*status, response);
            operation = operation.response(status.to_string(), with_common_headers(response));
        }
        operation.build()
    }

    /// Returns the response for an error, as a reference if several operations share it.
    fn error(&self, status: u16, codes: &[Code]) -> RefOr<Response> {
        match self.errors.iter().find(|(_, own_status, same)| *own_status == status && same == codes) {
            Some((name, ..)) => RefOr::Ref(Ref::from_response_name(name)),
            None => RefOr::T(self.error_itself(status, codes)),
        }
    }

    /// Builds the response for an error: each of its codes with the condition under which it is returned, and an
    /// example.
    fn error_itself(&self, status: u16, codes: &[Code]) -> Response {
        let words: Vec<String> = codes.iter().map(|(code, when)| format!("- `{code}`: {when}")).collect();
        let example = |(code, when): &Code| {
            let value = json!({"success": false, "message": when, "code": code});
            (code.clone(), ExampleBuilder::new().value(Some(value)).build())
        };
        let shape = named(self.half.error_name());
        let content = ContentBuilder::new().schema(Some(shape)).examples_from_iter(codes.iter().map(example));
        let response =
            ResponseBuilder::new().description(words.join("\n")).content("application/json", content.build());
        with_common_headers(with_headers_of(status, response))
    }

    fn success(
        &self,
        route: &ServedRoute,
        described: &DescribedOperation,
        status: u16,
        content: &DescribedContent,
        versioned: bool,
    ) -> Response {
        let words = match (status, content) {
            (201, _) => "Created.",
            (_, DescribedContent::Nothing) => "Done.",
            (_, DescribedContent::NamedPage(_)) => "One page of the list.",
            _ => "Successful response.",
        };
        let mut response = ResponseBuilder::new().description(words);
        response = match content {
            DescribedContent::Nothing => response,
            DescribedContent::Named(name) | DescribedContent::NamedPage(name) => {
                response.content("application/json", json_content(named(name), self.example(name)))
            }
            DescribedContent::Json(shape, example) => {
                response.content("application/json", json_content(shape.clone(), example.clone()))
            }
            DescribedContent::Other(media, example) => {
                let shape = if example.is_some() { super::shape::text() } else { super::shape::bytes() };
                let example = example.map(Value::from);
                response.content(*media, ContentBuilder::new().schema(Some(shape)).example(example).build())
            }
            DescribedContent::Binary(media) => media.iter().fold(response, |response, media| {
                response.content(*media, ContentBuilder::new().schema(Some(super::shape::bytes())).build())
            }),
            DescribedContent::NamedOrText(name, media, example) => {
                let text =
                    ContentBuilder::new().schema(Some(super::shape::text())).example(Some(Value::from(*example)));
                response
                    .content("application/json", json_content(named(name), self.example(name)))
                    .content(*media, text.build())
            }
            DescribedContent::Texts(forms) => forms.iter().fold(response, |response, (media, example)| {
                let content = ContentBuilder::new().schema(Some(super::shape::text()));
                response.content(*media, content.example(Some(Value::from(*example))).build())
            }),
        };
        let mut add = |name: &str| {
            response = std::mem::take(&mut response).header_ref(name, header_ref(name));
        };
        if versioned {
            add("ETag");
        }
        if described.located {
            add("Location");
        }
        if derive::keyed(route, described) {
            add("Idempotency-Replayed");
        }
        if described.sets_cookie {
            add("Set-Cookie");
        }
        with_common_headers(response)
    }
}

fn parameters(
    mut operation: OperationBuilder,
    route: &ServedRoute,
    described: &DescribedOperation,
    kind: &str,
    versioned: bool,
) -> OperationBuilder {
    for (name, shape, about) in derive::path_parameters(route, kind) {
        operation = operation.parameter(parameter(&name, ParameterIn::Path, shape, &about));
    }
    for declared in &described.parameters {
        let place = if declared.in_query { ParameterIn::Query } else { ParameterIn::Header };
        operation = operation.parameter(parameter(&declared.name, place, declared.shape.clone(), declared.about));
    }
    if derive::keyed(route, described) {
        let about = "A retry with the same key and body within 24 hours returns the first response again.";
        let shape = text_of(1..=255);
        operation = operation.parameter(parameter("Idempotency-Key", ParameterIn::Header, shape, about));
    }
    if derive::conditional(route, versioned) {
        let about = "`ETag` of the version that the change is based on. The request fails if there is a newer version.";
        let shape = super::shape::text_like("^(\\*|(W/)?\".*\")$");
        operation = operation.parameter(parameter("If-Match", ParameterIn::Header, shape, about));
    }
    operation
}

fn secured(operation: OperationBuilder, need: RequiredAccess, by_token: bool) -> OperationBuilder {
    let by = |scheme: &str| SecurityRequirement::new(scheme, Vec::<String>::new());
    match need {
        RequiredAccess::Open if by_token => operation.securities(Some([by(shared::TOKEN)])),
        RequiredAccess::Open => operation.securities(Some([])),
        RequiredAccess::Role(_) => {
            operation.securities(Some([by(shared::KEY), by(shared::BEARER_KEY), by(shared::SESSION)]))
        }
        RequiredAccess::Setup => {
            let all = [shared::KEY, shared::BEARER_KEY, shared::SESSION, shared::SETUP];
            operation.securities(Some(all.map(by)))
        }
        RequiredAccess::Session => operation.securities(Some([by(shared::SESSION)])),
        RequiredAccess::Customer => operation.securities(Some([by(shared::CUSTOMER)])),
    }
}

fn parameter(name: &str, place: ParameterIn, shape: Shape, about: &str) -> utoipa::openapi::path::Parameter {
    let required = if matches!(place, ParameterIn::Path) { Required::True } else { Required::False };
    let about = Some(about).filter(|about| !about.is_empty());
    // An empty query parameter counts as an absent one: forms send what nobody chose.
    let query = matches!(place, ParameterIn::Query);
    let empty = query.then(|| Extensions::from_iter([("allowEmptyValue", true)]));
    let parameter = ParameterBuilder::new().name(name).parameter_in(place).required(required);
    parameter.description(about).schema(Some(shape)).extensions(empty).build()
}

fn request_body(body: &DescribedBody) -> utoipa::openapi::request_body::RequestBody {
    let content = ContentBuilder::new().schema(Some(body.shape.clone())).example(body.example.clone()).build();
    let required = if body.optional { Required::False } else { Required::True };
    RequestBodyBuilder::new().content(body.media, content).required(Some(required)).build()
}

fn json_content(shape: Shape, example: Value) -> Media {
    ContentBuilder::new().schema(Some(shape)).example(Some(example)).build()
}

fn header_ref(name: &str) -> Ref {
    Ref::new(format!("#/components/headers/{name}"))
}

/// Returns the errors in [`derive::SHARED`] and the 404 error for each kind of resource.
fn shared_errors(half: Half, resources: &[DescribedResource]) -> Vec<(String, u16, Vec<Code>)> {
    let codes = |errors: &[DescribedError]| {
        errors.iter().map(|(_, code, when)| ((*code).to_owned(), (*when).to_owned())).collect()
    };
    let shared = derive::SHARED.map(|(name, errors)| {
        (name.to_owned(), errors.first().map_or(500, |first| half.status(*first)), codes(errors))
    });
    let kinds = resources.iter().filter(|resource| {
        let own = |operation: &&DescribedOperation| derive::names_one(operation.path) && operation.kind.is_none();
        resource.operations.iter().any(|operation| own(&operation))
    });
    let missing = kinds.map(|resource| {
        let name: String = resource.kind.split('_').flat_map(capitalised).collect();
        (format!("{name}NotFound"), 404, derive::not_found(resource.kind))
    });
    shared.into_iter().chain(missing).collect()
}

fn capitalised(word: &str) -> impl Iterator<Item = char> {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters)
}

fn with_headers_of(status: u16, response: ResponseBuilder) -> ResponseBuilder {
    match status {
        405 => response.header_ref("Allow", header_ref("Allow")),
        429 | 503 | 507 => response.header_ref("Retry-After", header_ref("Retry-After")),
        _ => response,
    }
}

fn with_common_headers(response: ResponseBuilder) -> Response {
    let names = ["X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining"];
    names.into_iter().fold(response, |response, name| response.header_ref(name, header_ref(name))).build()
}
