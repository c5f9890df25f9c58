//! Derives `Request` and `Response`: parsing a struct of the HTTP API from JSON and describing it in OpenAPI, both
//! generated from its single declaration.
//!
//! Responses are described by the traits of the crate `api_schema`. The code that parses a request also uses
//! `http::wire`, so `Request` is for crates that depend on the HTTP layer (`http`). The macros contain no checks
//! themselves: an expression without `=` in a field's `#[api(...)]` implements `wire::Rule`, whose value both
//! validates the field and describes the check.
//!
//! The name of a field in JSON is given by `#[serde(rename = "...")]` or `#[api(name = "...")]`, and defaults to its
//! Rust name in camelCase. Its doc comment becomes its description in the OpenAPI document.

mod attributes;
mod members;
mod request;
mod response;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Parses a struct from a JSON body or a query string, and describes it.
///
/// On the struct:
/// - `example = value`: a valid `serde_json::Value`.
/// - `open`: unknown fields are ignored instead of rejected.
/// - `name = "Name"`: the name in the document if it differs from that of the struct.
/// - `change = Name`: also generates the struct for a PATCH. Every field may be absent (`Optional`), and none has a
///   default.
/// - `change_example = value`: the example of the PATCH struct.
/// - `partial = Name`: generates the same struct without a parser, for `check` alone.
/// - `check = function`: `fn(&Name, &mut Faults)` with the name of `change` or `partial`. The function receives the
///   members that could be parsed, so that problems across members are reported together with all other problems.
/// - `check_new = function`: the same for this struct alone, not for that of `change`.
/// - `fields = Type`: the domain struct with members of the same names. Generates `into_fields(self, ...) -> Type`,
///   which takes a value for each `Optional` member in their order, and for the change
///   `merged_into(self, Type) -> Type` and `has_fields()`.
/// - `shown = Name`: generates a struct with the same fields for responses, to be flattened into a `Response`; with
///   `fields`, also its `From<Type>`.
///
/// On a member: rules, `default = value`, `name = "..."`, `flatten` (its members are included among those of this
/// struct), `separate` (part of neither the struct of `fields` nor that of `shown`).
#[proc_macro_derive(Request, attributes(api))]
pub fn request(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    request::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Describes a struct that is sent as a response; `serde` serialises it, in camelCase. It may borrow its data. A field
/// with `skip_serializing_if` may be absent; all others are always present.
///
/// On the struct: `name = "Name"`, the name in the document if it differs from that of the struct; `example = value`;
/// and `many = "skus"`: lists contain their items in the given field and are described as `<Name>Page`.
///
/// A field of type `Option` with `#[serde(skip_serializing_if = ...)]` may be absent, and is not null. Another struct
/// may include this one with `#[serde(flatten)]`.
#[proc_macro_derive(Response, attributes(api))]
pub fn response(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    response::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
