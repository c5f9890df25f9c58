//! HTTP requests from clients, and webhooks.

use std::collections::BTreeMap;
use std::str::from_utf8;

use url::form_urlencoded;

use domain::camera_link;
use domain::id::Id;
use domain::invoice::read_pay_token;
use domain::order::Address;
use domain::payment_event;
use domain::signing::{verify_service, verify_webhook};
use domain::sku::{Component, SkuMaterial};
use domain::time::Timestamp;
use http::HeadScan;
use http::csrf::origin_of;
use http::next_path::{own_path, with_error};
use http::page::PageQuery;
use http::return_paths::CheckoutBody;
use http::wire::{
    EmptyField, Faults, FromJson, ValuePath, form_members, read_body, read_open_query, read_query, typed_number,
};
use words::Language;

/// Base URL of the server.
const BASE: &str = "https://shop.example";
/// Secret used to verify signatures.
const SECRET: &str = "0123456789abcdef0123456789abcdef";
/// Current time, in Unix seconds.
const NOW: i64 = 1_700_000_000;
/// Maximum age of signatures, in seconds.
const TOLERANCE: u64 = 300;

/// Parses JSON within the bounds for requests and for responses. A parsed value can be serialised and parsed again.
pub(crate) fn json(data: &[u8]) {
    let _ = bounded_json::document(data, bounded_json::REQUEST);
    if let Ok(value) = bounded_json::read(data, bounded_json::ANSWER) {
        assert!(bounded_json::read(value.to_string().as_bytes(), bounded_json::ANSWER).is_ok());
    }
}

/// Parses the body of a request, and the objects and lists that bodies contain.
pub(crate) fn request_body(data: &[u8]) {
    let _ = read_body::<CheckoutBody>(data);
    list_of::<Address>(data);
    list_of::<Component>(data);
    list_of::<SkuMaterial>(data);
}

/// Parses a list of values, each with its own rules.
fn list_of<T: FromJson>(data: &[u8]) {
    if let Ok(value) = bounded_json::read(data, bounded_json::REQUEST) {
        let _ = Vec::<T>::from_json(value, &ValuePath { path: "", in_query: false }, &mut Faults::default());
    }
}

/// Parses a query string, also as the fields of a form.
pub(crate) fn query(data: &[u8]) {
    let pairs: Vec<(String, String)> = form_urlencoded::parse(data).into_owned().collect();
    let _ = read_query::<PageQuery>(pairs.clone());
    let _ = read_open_query::<PageQuery>(pairs.clone());
    let fields: BTreeMap<String, String> = pairs.into_iter().collect();
    for empty in [EmptyField::Absent, EmptyField::Clear] {
        let _ = form_members::<CheckoutBody>(&fields, empty);
    }
}

/// Parses a text from a path, a header or a field.
pub(crate) fn request_text(data: &[u8]) {
    let Ok(text) = from_utf8(data) else { return };
    let _ = text.parse::<Id>();
    let _ = text.parse::<Timestamp>();
    let _ = Language::of_header(text);
    let _ = typed_number(text);
    let _ = origin_of(text);
    if let Some(path) = own_path(BASE, text) {
        assert!(path.starts_with('/') && !path.starts_with("//"), "{path:?} leads to another host");
        let _ = with_error(BASE, &path, "expired");
    }
}

/// Scans the bytes of a connection for malformed heads, in one piece and byte by byte.
pub(crate) fn http_head(data: &[u8]) {
    let (mut whole, mut bytewise) = (HeadScan::default(), HeadScan::default());
    whole.look(data);
    data.chunks(1).for_each(|byte| bytewise.look(byte));
    assert_eq!(whole.is_malformed(), bytewise.is_malformed());
}

/// Parses an event from the payment processor.
pub(crate) fn payment_event(data: &[u8]) {
    let _ = payment_event::parse(data);
}

/// Verifies signatures and tokens that were not created with the secret; none is valid.
pub(crate) fn signatures(data: &[u8]) {
    let Ok(text) = from_utf8(data) else { return };
    assert!(!verify_service(SECRET, data, text));
    assert!(!verify_webhook(SECRET, "msg_1", NOW, data, text));
    assert!(payment_event::verify(text, data, SECRET, NOW, TOLERANCE).is_err());
    assert!(read_pay_token(SECRET, text).is_none());
    assert!(!camera_link::is_good(SECRET, Id::ONLY, NOW, text, Timestamp(NOW)));
}
