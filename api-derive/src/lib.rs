//! `Request` and `Response`: how a struct of the HTTP API is read from JSON and described in OpenAPI, both made from
//! the one declaration of the struct.
//!
//! What is answered is described by the traits of the crate `api_schema`. The code that reads a request also uses
//! `crate::http::wire`, so `Request` is for the HTTP edge of the crate `printfloor` alone.
//! They know no check: what stands in `#[api(...)]` of a member without `=` is an expression that implements
//! `wire::Rule`, whose value both judges and describes.
//!
//! A member is named in JSON by its `#[serde(rename = "...")]` or `#[api(name = "...")]`, else by its Rust name in
//! camelCase. Its doc comment becomes its description in the OpenAPI document.

mod attributes;
mod members;
mod request;
mod response;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Reads a struct from the JSON object of a body, or from a query, and describes it.
///
/// On the struct:
/// - `example = value`: a `serde_json::Value` that is valid.
/// - `open`: members that are not known are ignored instead of refused.
/// - `name = "Name"`: its name in the document when it is not that of the struct.
/// - `change = Name`: also makes the struct of a PATCH. Every member may be left out (`Optional`), none has a default.
/// - `change_example = value`: the example of that.
/// - `partial = Name`: makes that struct without a way to read it, for `check` alone.
/// - `check = function`: `fn(&Name, &mut Faults)` with the name of `change` or `partial`. It is given what could be
///   read, so that faults of several members together are told with all the others.
/// - `check_new = function`: the same for this struct alone, not for the one of `change`.
/// - `fields = Type`: the struct of the domain with members of the same names. Makes `into_fields(self, ...) -> Type`,
///   which takes a value for each `Optional` member in their order, and for the change
///   `merged_into(self, Type) -> Type` and `has_fields()`.
/// - `shown = Name`: makes a struct of the same members for answers, to be flattened into a `Response`; with `fields`
///   also `From<Type>` for it.
///
/// On a member: rules, `default = value`, `name = "..."`, `flatten` (its members stand among those of this struct),
/// `separate` (neither in the struct of `fields` nor in that of `shown`).
#[proc_macro_derive(Request, attributes(api))]
pub fn request(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    request::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Describes a struct that is answered; `serde` writes it, in camelCase. It may borrow what it shows. A member with
/// `skip_serializing_if` may be absent, all others are always there.
///
/// On the struct: `name = "Name"` in the document when it is not that of the struct, `example = value`, and
/// `many = "skus"`: lists have their items in this member and are described as `<Name>Page`.
///
/// A member of type `Option` with `#[serde(skip_serializing_if = ...)]` may be absent, and is not null. Another struct
/// may hold this one with `#[serde(flatten)]`.
#[proc_macro_derive(Response, attributes(api))]
pub fn response(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    response::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
