//! Properties of an operation that follow from its route: access, path parameters, and the resulting errors.

use std::collections::BTreeMap;

use axum::http::Method;

use super::half::Half;
use super::shape::{Shape, id, text_of, whole};
use crate::access::RequiredAccess;
use crate::limits::layer::counts;
use crate::operation::{DescribedContent, DescribedError, DescribedOperation};
use crate::routes::{ServedRoute, refuses_query};
use domain::principal::Role;
use domain::printer::MAX_SLOTS;
use domain::refusal::kind_in_words;

/// Value of `x-roles` for callers without credentials.
pub const ANYBODY: &str = "anonymous";

/// Returns the values of `x-roles`, that is, the roles permitted to use the route.
pub fn roles(need: RequiredAccess) -> Vec<&'static str> {
    let all = [Role::Customer, Role::Operator, Role::Admin];
    let from = |least: Role| all.into_iter().filter(move |role| *role >= least).map(Role::word);
    match need {
        RequiredAccess::Open => std::iter::once(ANYBODY).chain(from(Role::Customer)).collect(),
        RequiredAccess::Role(least) => from(least).collect(),
        RequiredAccess::Session => from(Role::Operator).collect(),
        RequiredAccess::Setup => from(Role::Admin).collect(),
        RequiredAccess::Customer => vec![Role::Customer.word()],
    }
}

/// Returns whether the route is rate limited. Health checks, signed inbound webhooks and operations that must never be
/// delayed are not.
pub fn rate_limited(route: &ServedRoute) -> bool {
    counts(route.path) && route.method != Method::OPTIONS
}

/// Returns the path in the notation used in the document.
pub fn path(route: &ServedRoute) -> String {
    route.path.replace("{*", "{")
}

/// Returns the path parameters: name, shape, description.
pub fn path_parameters(route: &ServedRoute, kind: &str) -> Vec<(String, Shape, String)> {
    let names = route.path.split('{').skip(1).filter_map(|rest| rest.split('}').next());
    let parameter = |name: &str| match (name, name.strip_prefix('*')) {
        ("id", _) => (name.to_owned(), id(), format!("Identifier of the {}.", kind_in_words(kind))),
        (one, None) if one.ends_with("Id") => {
            (one.to_owned(), text_of(1..), format!("Identifier of the {}.", kind_in_words(kind)))
        }
        (_, Some(rest)) => (rest.to_owned(), text_of(1..), "Can be a path with slashes.".to_owned()),
        ("slot", _) => (name.to_owned(), whole(0..i64::from(MAX_SLOTS)), "Number of the slot, from 0.".to_owned()),
        ("reminder", _) => (name.to_owned(), id(), "Identifier of the reminder.".to_owned()),
        ("system", _) => (name.to_owned(), text_of(1..), "The other system: `parts` or `spools`.".to_owned()),
        _ => (name.to_owned(), text_of(1..), String::new()),
    };
    names.map(parameter).collect()
}

/// Returns whether the path contains an identifier such as `{id}` or `{orderId}`, so that a lookup may fail.
pub fn names_one(path: &str) -> bool {
    path.contains("/{id}") || path.contains("Id}")
}

/// Returns whether the operation supports an `Idempotency-Key`.
pub fn keyed(route: &ServedRoute, operation: &DescribedOperation) -> bool {
    route.method == Method::POST && (route.need != RequiredAccess::Open || operation.keyed) && !operation.unkeyed
}

/// Returns whether the operation supports `If-Match`, that is, whether it changes a resource that has a version.
pub fn conditional(route: &ServedRoute, versioned: bool) -> bool {
    route.method == Method::PATCH && versioned
}

/// Error code and the condition under which it is returned.
pub type Code = (String, String);

/// Returns the errors that an operation can cause, by status: first those that follow from its route and parameters,
/// then its own.
pub fn errors(
    route: &ServedRoute,
    operation: &DescribedOperation,
    kind: &str,
    versioned: bool,
) -> BTreeMap<u16, Vec<Code>> {
    let (mut all, half) = (BTreeMap::<u16, Vec<Code>>::new(), Half::of(route.path));
    let mut no = |(status, code, when): (u16, &str, &str)| {
        all.entry(half.status((status, code, when))).or_default().push((code.to_owned(), when.to_owned()));
    };
    let asks = operation.has_query();
    match &operation.body {
        Some(body) if body.media == "application/json" => BODY.into_iter().for_each(&mut no),
        Some(_) => FORM.into_iter().for_each(&mut no),
        None if asks || refuses_query(route.need, operation) => no(INVALID),
        None => {}
    }
    if asks {
        no(QUERY);
    }
    match route.need {
        RequiredAccess::Open => {}
        RequiredAccess::Customer => no(SIGN_IN),
        _ => no(UNAUTHORIZED),
    }
    match route.need {
        RequiredAccess::Role(Role::Operator | Role::Admin) | RequiredAccess::Setup => no(ROLE),
        RequiredAccess::Session => no(SESSION),
        RequiredAccess::Open | RequiredAccess::Customer | RequiredAccess::Role(Role::Customer) => {}
    }
    if !route.method.is_safe() {
        no(SITE);
    }
    if names_one(route.path) {
        for (code, when) in not_found(kind) {
            no((404, &code, &when));
        }
    }
    no(METHOD);
    if keyed(route, operation) {
        KEYED.into_iter().for_each(&mut no);
    }
    if conditional(route, versioned) {
        no(STALE);
    }
    if rate_limited(route) {
        no(LIMITED);
    }
    no(INTERNAL);
    UNAVAILABLE.into_iter().for_each(&mut no);
    for own in &operation.errors {
        no(*own);
    }
    all
}

/// Returns the 404 errors for a path with an identifier.
pub fn not_found(kind: &str) -> Vec<Code> {
    let words = format!("There is no such {}.", kind_in_words(kind));
    vec![(format!("{kind}_not_found"), words), ("not_found".to_owned(), "The identifier is malformed.".to_owned())]
}

const INVALID: DescribedError =
    (400, "validation_failed", "A field or parameter is missing, not supported or invalid; `errors` lists each error.");
const MALFORMED: DescribedError = (400, "malformed_json", "The body is not a JSON object.");
const MALFORMED_FORM: DescribedError = (400, "malformed_multipart", "The body is not a multipart form.");
const INCOMPLETE: DescribedError = (400, "incomplete_body", "The body is incomplete.");
const QUERY: DescribedError = (400, "malformed_query", "The query string is malformed.");
const KEY: DescribedError = (400, "invalid_idempotency_key", "The key is empty or too long.");
const SIGN_IN: DescribedError = (401, "unauthorized", "The session is missing or has ended.");
const UNAUTHORIZED: DescribedError =
    (401, "unauthorized", "The key or session is missing, invalid, expired or revoked.");
const ROLE: DescribedError = (403, "insufficient_role", "The role of the key or session is not sufficient.");
const SESSION: DescribedError = (403, "session_required", "A signed-in session is required, not an API key.");
const SITE: DescribedError = (403, "cross_site", "A browser sent the request from another site.");
const METHOD: DescribedError =
    (405, "method_not_allowed", "The path does not support this method; `Allow` lists the supported ones.");
const SILENT: DescribedError = (408, "timeout", "The body did not arrive in time.");
const KEY_IN_USE: DescribedError = (409, "idempotency_key_in_use", "A request with this key is still in progress.");
const STALE: DescribedError = (412, "stale_version", "The record has changed since the version in `If-Match`.");
const TOO_LARGE: DescribedError = (413, "too_large", "The body is too large.");
const MEDIA: DescribedError = (415, "unsupported_media_type", "The body has an unsupported media type.");
const KEY_REUSED: DescribedError = (422, "idempotency_key_reused", "The key was already used with a different body.");
const LIMITED: DescribedError = (429, "rate_limited", "Too many requests; retry after the time in `Retry-After`.");
const INTERNAL: DescribedError = (500, "internal", "Internal server error, without further details.");
const BODY: [DescribedError; 6] = [INVALID, MALFORMED, INCOMPLETE, SILENT, TOO_LARGE, MEDIA];
const FORM: [DescribedError; 6] = [INVALID, MALFORMED_FORM, INCOMPLETE, SILENT, TOO_LARGE, MEDIA];
const KEYED: [DescribedError; 3] = [KEY, KEY_IN_USE, KEY_REUSED];
/// Errors caused by a temporary outage; `Retry-After` is always set.
const UNAVAILABLE: [DescribedError; 9] = [
    (503, "unavailable", "The database does not respond."),
    (503, "disk_full", "The disk is full."),
    (503, "read_only", "The database or the file storage is not writable."),
    (503, "storage_unavailable", "The disk for files is failing."),
    (503, "overloaded", "The server is overloaded, or the client has too many concurrent requests."),
    (503, "parked", "The resource is out of service after repeated faults."),
    (503, "unknown_outcome", "The outcome is unknown; retry with the same `Idempotency-Key` to find out."),
    (503, "timeout", "The request timed out; it can still take effect."),
    (503, "shutting_down", "The server is shutting down."),
];

/// Responses shared by many operations, with their names in the document.
pub const SHARED: [(&str, &[DescribedError]); 21] = [
    ("SignInFirst", &[SIGN_IN]),
    ("Invalid", &[INVALID]),
    ("InvalidBody", &[INVALID, MALFORMED, INCOMPLETE]),
    ("InvalidKeyedBody", &[INVALID, MALFORMED, INCOMPLETE, KEY]),
    ("InvalidQuery", &[INVALID, QUERY]),
    ("Unauthorized", &[UNAUTHORIZED]),
    ("SessionRequired", &[SESSION]),
    ("SessionOfThisSite", &[SESSION, SITE]),
    ("InsufficientRole", &[ROLE]),
    ("CrossSite", &[SITE]),
    ("Forbidden", &[ROLE, SITE]),
    ("MethodNotAllowed", &[METHOD]),
    ("BodyTimeout", &[SILENT]),
    ("KeyInUse", &[KEY_IN_USE]),
    ("Stale", &[STALE]),
    ("TooLarge", &[TOO_LARGE]),
    ("UnsupportedMediaType", &[MEDIA]),
    ("KeyReused", &[KEY_REUSED]),
    ("RateLimited", &[LIMITED]),
    ("Internal", &[INTERNAL]),
    ("Unavailable", &UNAVAILABLE),
];

/// Returns whether the response is a single resource with a version (`ETag`).
pub fn versioned(operation: &DescribedOperation, has_version: impl Fn(&str) -> bool) -> bool {
    match &operation.answer.1 {
        DescribedContent::Named(name) => has_version(name),
        DescribedContent::Json(shape, _) => shape.has_member("version"),
        _ => false,
    }
}
